"""Import: write manifests from the service or from exports, and journal them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Annotated
from uuid import uuid4

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from reconciler.api.secret import Redaction
from reconciler.document import Json, covers, value_at
from reconciler.document import Path as Place
from reconciler.errors import ExitCode, InvalidInput, UsageError
from reconciler.features.import_.import_sources import (
    Gathered,
    ToImport,
    gather,
    how_to_get,
)
from reconciler.features.import_.match_declared import (
    Brief,
    KnownRefs,
    Matched,
    Mention,
    NamedImport,
    There,
    file_names,
    matched,
    not_imported,
    packed,
    with_references,
)
from reconciler.features.import_.records import IN_A_VARIABLE, Hiding, ImportRecord, Left
from reconciler.journal.entries import Entry, ImportedEntry, RunEntry
from reconciler.journal.history import Memory
from reconciler.journal.journal import Journal
from reconciler.journal.store import LockTimeout
from reconciler.kinds import BY_NAME
from reconciler.kinds.kind import Kind
from reconciler.model import API_VERSION, Manifest, Ref, RemoteId, Seen, Source
from reconciler.operations.open_project import Options, applied_commit, warn_of_new_journal
from reconciler.operations.open_session import Session, open_target, read_workspaces
from reconciler.operations.secret_sources import Allowed, secrets_named, secrets_of
from reconciler.project import Project, ProjectVariable, with_target
from reconciler.records.listings import ALERTS
from reconciler.redaction.redact import conceal
from reconciler.redaction.templates import holds_seal, named_values, resolve
from reconciler.report.complaints.document import complaints_summary
from reconciler.report.safe import safe
from reconciler.report.words import first_few, plural
from reconciler.runtime.advice import on_manifests
from reconciler.runtime.failpoints import Point, reached
from reconciler.runtime.progress import Deed
from reconciler.syntax.expressions import ExpressionKind, expression, is_allowed_in
from reconciler.syntax.files import SUFFIXES, display_name, find_files
from reconciler.syntax.parsed_text import DocumentText
from reconciler.syntax.read_text import read_text
from reconciler.workspace.compose import UnwritableError, composed_json, laid_out
from reconciler.workspace.envelope import Around, read_envelope
from reconciler.workspace.expression_scope import Scope, withheld_from
from reconciler.workspace.workspace import Workspace, wrong_in
from reconciler.workspace.write_files import (
    add_variables,
    folder_inside,
    folder_like,
    holds,
    led,
    names_in,
    passed_over,
    remove_left,
    settle,
    write_new,
)

NOT_SET = "M502"
MOST_NAMED = 10


def open_for_import(options: Options, exports: Sequence[Path]) -> tuple[Session, dict[str, str]]:
    """Return a session with the existing manifests, and the secrets that they name.

    The secrets are those of all environments. Errors in the manifests, and secrets that are not
    set, do not stop the import, as nothing is sent; errors are only reported. Raises what
    `open_target` raises.
    """
    session = open_target(options)
    # Exports often lie next to the manifests that they become.
    options = replace(options, paths=())
    withheld = withheld_from(os.environ)
    scopes = [
        Scope(
            name,
            environment.variables,
            secrets_of(
                session.project,
                name,
                environment,
                os.environ,
                Allowed.ALL if name == session.name else Allowed.NOTHING,
            ),
            salt=session.salt,
            withheld=withheld,
        )
        for name, environment in {
            **session.project.settings.environments,
            session.name: session.environment,
        }.items()
    ]
    workspaces = read_workspaces(options, session.project, scopes)
    workspace = workspaces[session.name]
    secrets: dict[str, str] = {}
    for read in workspaces.values():
        for manifest in read.manifests:
            secrets |= named_values(manifest.spec)
    wrong = [error for error in workspace.errors if error.code != NOT_SET]
    if wrong:
        # Manifests with errors may name further secrets.
        named = secrets_named(options, session.project, session.name, session.environment)
        secrets |= {name: value for name, value in named.items() if not withheld.why(name, value)}
    secrets = {name: value for name, value in secrets.items() if value}
    options.reporter.hide(Redaction(secrets.values()))
    doubted = _complained_of(workspace, exports, session.project.root)
    home = _home(session.project)
    # The first import creates the folder.
    to_be_made = home is not None and not home.exists() and display_name(home, session.project.root)
    reported = [
        complaint
        for complaint in wrong
        if complaint.file not in doubted and complaint.file != to_be_made
    ]
    if reported and not options.quiet:
        summary = complaints_summary(reported, len(workspace.manifests), workspace.files)
        options.reporter.say(
            f"of what is there already: {summary}; see `{on_manifests('validate')}`"
        )
    if doubted and not options.quiet:
        more = f" and {plural(len(doubted) - 1, 'more file')}" if len(doubted) > 1 else ""
        lie, them = ("lie", "them") if more else ("lies", "it")
        options.reporter.say(
            safe(
                f"{doubted[0]}{more} {lie} where manifests are read from, so `validate` complains "
                f"of {them}: move {them} out of the project, or leave {them} out with `exclude:` "
                "in reconciler.yaml"
            )
        )
    return replace(session, workspace=workspace), secrets


def _complained_of(workspace: Workspace, exports: Sequence[Path], root: Path) -> list[str]:
    """Return the names of exports that are also read as manifests, and then have errors."""
    complained = {complaint.file for complaint in workspace.complaints}
    complained -= {manifest.source.file for manifest in workspace.manifests}
    found = find_files(exports, root.resolve()).files if complained and exports else ()
    return [file.name for file in found if file.name in complained]


def folder_for(kind: Kind, project: Project, to: Path | None) -> Path:
    """Return the folder for manifests of a kind. Raises UsageError for an unusable folder."""
    root = project.root.resolve()
    if to is not None:
        return folder_inside(Path.cwd() / to, root)
    # Where the project file names folders, manifests are read only from those.
    home = _home(project)
    return folder_inside(folder_like((home or project.root) / kind.name), root)


def _home(project: Project) -> Path | None:
    """Return the first folder of `manifests:`, even if it does not exist yet; None for a file."""
    first = project.root / next(iter(project.settings.manifests), ".")
    is_folder = first.is_dir() or not (os.path.lexists(first) or first.suffix in SUFFIXES)
    return first if is_folder else None


def check_read(files: Sequence[Path], project: Project) -> None:
    """Raise UsageError where one of these files would not be read as a manifest."""
    root = project.root.resolve()
    paths = [project.root / manifest for manifest in project.settings.manifests]
    passed = passed_over(files, paths, root, project.settings.exclude)
    if passed is not None:
        raise UsageError(
            f"{display_name(passed, root)}: no manifest is looked for there, by `manifests:`, "
            "`exclude:` or .gitignore. Nothing was imported: choose another folder with --to"
        )


@with_config(ConfigDict(extra="forbid"))
class ManifestDocument(TypedDict):
    """A manifest that was written; `file` is relative to the project file."""

    ref: str
    file: str
    remoteId: str | int | None


@with_config(ConfigDict(extra="forbid"))
class SkippedDocument(TypedDict):
    """An input without a new manifest."""

    what: str
    why: str


@with_config(ConfigDict(extra="forbid"))
class ImportDocument(TypedDict):
    """Output of `import --format json`."""

    imported: list[ManifestDocument]
    skipped: Annotated[
        list[SkippedDocument], Field(description="Declared already, refused, or only mentioned.")
    ]


NOT_WATCHED = (
    "What the service fills in by itself is left out. What is not declared is not watched:\n"
    "an edit of it is no drift, and no apply changes it back."
)


@dataclass(frozen=True, slots=True)
class Draft:
    """The texts to write: the manifest, and its JSON file, if the content stays JSON.

    `document` is the content of the manifest, None where only reading the text can show it.
    """

    manifest: str
    export: str | None = None
    document: dict[str, Json] | None = None


def draft_of(
    record: ImportRecord,
    ref: Ref,
    mentions: Sequence[Mention],
    known: KnownRefs,
    environment: str,
    *,
    json_name: str = "",
) -> Draft | Left:
    """Return the texts of a record; with a `json_name`, its content stays JSON in that file.

    Its id is that in an `environment`, "" where the project has no other. A record that no file can
    hold is returned as Left with the reason.
    """
    spec, comments = with_references(record.spec, ref, mentions, known, record.expressions)
    comments = {**record.comments, **comments}
    export: str | None = None
    try:
        if json_name:
            bare = record.kind.spec.bare
            content = value_at(spec, (bare,))
            export = composed_json(content if isinstance(content, dict) else {})
            rest = {key: value for key, value in spec.items() if key != bare}
            spec, comments = {"file": json_name, **rest}, {}
        document: dict[str, Json] = {
            "apiVersion": API_VERSION,
            "kind": ref.kind,
            "metadata": _metadata(record, ref, environment),
            "spec": spec,
        }
        placed: dict[Place, str] = {("spec", *path): comment for path, comment in comments.items()}
        if record.is_minimal:
            placed["apiVersion",] = NOT_WATCHED
        if record.why_only:
            placed["metadata", "environments"] = record.why_only
        text = laid_out(document, placed)
    except UnwritableError as error:
        return Left(f"{record.called} ({record.where})", error.why, ExitCode.INVALID)
    # A text without escapes and comments reads back as it was.
    is_sure = export is None and not placed and text.isascii() and "\\" not in text
    return Draft(text, export, document if is_sure else None)


def _metadata(record: ImportRecord, ref: Ref, environment: str) -> dict[str, Json]:
    metadata: dict[str, Json] = {"name": ref.name}
    ids, only = dict(record.ids), record.only
    if record.remote_id is not None and not ids and environment:
        ids = {environment: record.remote_id}
    if ids:
        metadata["ids"] = {**ids}
        # Where it has no id it cannot be declared.
        only = only or (tuple(ids) if record.kind.id_form.required else ())
    elif record.remote_id is not None:
        metadata["id"] = record.remote_id
    if only:
        metadata["environments"] = list(only)
    return metadata


LEFT_BESIDE = "{what} removed that a run left which was killed: no manifest was among them"
OTHER_CONTENT = (
    "{twin.ref} has its title and other content, at {twin.source}, and it is unknown whether this "
    "is the same: give its id with --id, change its title, or take over by hand what differs"
)
TOGETHER = 100
"""Number of manifests that are written before the journal gets their entries."""


@dataclass(slots=True)
class ImportResult:
    """Imported and skipped resources of an import."""

    session: Session
    imported: list[NamedImport] = field(default_factory=list)
    skipped: list[Left] = field(default_factory=list)


def import_now(options: Options, wanted: ToImport, patience: LockTimeout) -> ImportResult:
    """Read the wanted resources, write new manifests, and journal the documents.

    Raises InvalidInput where another file is in the way; nothing is written then. Raises
    UsageError, and what opening a target, a journal and the service raise.
    """
    session, secrets = open_for_import(options, wanted.exports)
    # Without manifests nothing was applied from here, so no journal is lost.
    is_used = bool(session.workspace.manifests)
    journal = session.journal(needed=is_used)
    if wanted.to is not None:
        folder_inside(Path.cwd() / wanted.to, session.project.root.resolve())
    work = _Work(
        options=options,
        wanted=wanted,
        session=session,
        journal=journal,
        gathered=gather(options, session, wanted, journal.history),
        hiding=Hiding(secrets, lambda: journal.salt),
        result=ImportResult(session),
    )
    work.match()
    if wanted.dry_run:
        work.rehearse()
        return work.result
    work.clear()
    if work.matched.new or work.agreed:
        with journal.locked(str(uuid4()), patience):
            if is_used:
                warn_of_new_journal(journal, options.reporter, "import")
            work.write()
    return work.result


def _read_back(text: str) -> dict[str, Json] | None:
    """Return the document of a rendered manifest; None where reading it finds a flaw."""
    reading = read_text(text)
    if reading.flaws or len(reading.documents) != 1:
        return None
    read = reading.documents[0].value
    assert isinstance(read, dict)  # noqa: S101 - as every manifest that is drawn
    return read


@dataclass(kw_only=True)
class _Work:
    """One import; the text of each manifest is rendered once, when all names are known."""

    options: Options
    wanted: ToImport
    session: Session
    journal: Journal
    gathered: Gathered
    hiding: Hiding
    result: ImportResult
    matched: Matched = field(default_factory=Matched)
    agreed: list[tuple[Brief, Manifest]] = field(default_factory=list)
    left_behind: set[Path] = field(default_factory=set)
    texts: dict[Ref, list[tuple[Path, str]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.root = self.session.project.root.resolve()
        name, environment = self.session.name, self.session.environment
        self.environments = {**self.session.project.settings.environments, name: environment}
        self.scope = Scope(
            name,
            {**environment.variables, **self.gathered.variables.get(name, {})},
            self.hiding.values,
            salt=self.hiding.salt,
            withheld=withheld_from(os.environ),
        )

    @property
    def there(self) -> There:
        workspace = self.session.workspace
        return There(workspace.manifests, workspace.elsewhere, self.journal.history)

    def match(self) -> None:
        """Match resources with those that exist, and give each new resource a name and a file.

        Raises InvalidInput where another file has that name.
        """
        briefs = [brief for brief in self.gathered.briefs if not self._shows_secrets(brief)]
        while True:
            self.matched = matched(briefs, self.there)
            self._choose_files()
            known = self.matched.known
            new = self.options.waits.each(Deed.JUDGING, self.matched.new)
            drawn = ((candidate, self._draw(candidate, known)) for candidate in new)
            wrong = {candidate: why for candidate, why in drawn if why is not None}
            if not wrong:
                break
            # References to a refused resource become references to its id, and its name becomes
            # free.
            self.result.skipped.extend(wrong.values())
            refused = {candidate.brief for candidate in wrong}
            briefs = [brief for brief in briefs if brief not in refused]
        self.result.skipped.extend((*self.gathered.left, *self.matched.left))
        ids = self.there.ids()
        for resource, manifest in self.matched.declared:
            self.result.skipped.append(self._declared(resource, manifest, ids))
        self._check_files()
        for (kind, remote_id), ref in sorted(not_imported(self.matched).items(), key=str):
            self._note_found(kind, remote_id, f"{ref} refers to it")
        for alert, remark in self.gathered.mentioned.items():
            if (ALERTS, alert) not in self.matched.known.refs:
                self._note_found(ALERTS, alert, remark)

    def _shows_secrets(self, brief: Brief) -> bool:
        """Return whether a resource cannot be written without a secret in clear, and note why."""
        if not self.hiding.values:
            return False
        record = brief.whole
        why = self.hiding.why_not(record)
        for variables in self._new_variables_in([record]).values():
            if any(self.hiding.lies_in(str(variable)) for variable in variables.values()):
                why = IN_A_VARIABLE
        if why:
            called = self.hiding.without(brief.said)
            self.result.skipped.append(Left(called, why, ExitCode.INVALID))
        return bool(why)

    def _new_variables_in(
        self, records: Iterable[ImportRecord]
    ) -> dict[str, dict[str, ProjectVariable]]:
        texts = (text for record in records for text in record.expressions.values())
        whole = "\n".join(texts)
        return {
            name: {
                key: variable
                for key, variable in variables.items()
                if expression(ExpressionKind.VARIABLE, key) in whole
            }
            for name, variables in self.gathered.variables.items()
        }

    def _note_found(self, kind: str, remote_id: RemoteId, remark: str) -> None:
        how = partial(how_to_get, BY_NAME[kind], self.session.environment.api)
        why = f"found, not imported: {remark}; {how(str(remote_id))}"
        self.result.skipped.append(Left(f"{kind} {remote_id}", why, found=(kind, how("ID"))))

    def _declared(self, brief: Brief, manifest: Manifest, ids: Mapping[Ref, RemoteId]) -> Left:
        """Return the note that a manifest exists; agree to its journal entry if there is none."""
        spec = resolve(manifest.spec, ids)
        live = conceal(brief.spec, spec, brief.kind.shape)
        note = f"it is declared at {manifest.source} already"
        if not covers(live, spec, brief.kind.shape):
            if brief.thing is None and not brief.slugs:
                return Left(brief.said, OTHER_CONTENT.format(twin=manifest), ExitCode.INVALID)
            return Left(str(manifest.ref), f"{note}, and differs: see `{on_manifests('plan')}`")
        memory = self.journal.history.of(manifest.ref)
        is_news = memory.last is None and memory.pending is None
        if is_news and brief.is_remembered and not holds_seal(spec):
            self.agreed.append((brief, manifest))
        return Left(str(manifest.ref), note)

    def _choose_files(self) -> None:
        new = self.matched.new
        refs = [candidate.ref for candidate in new]
        stems = file_names(refs, together=self.wanted.to is not None)
        folders = self._folder_by_kind(candidate.brief for candidate in new)
        self.matched.new = [
            replace(candidate, file=folders[candidate.ref.kind] / f"{stems[candidate.ref]}.yaml")
            for candidate in new
        ]

    def _folder_by_kind(self, briefs: Iterable[Brief]) -> dict[str, Path]:
        kinds = {brief.kind.name: brief.kind for brief in briefs}
        project, to = self.session.project, self.wanted.to
        return {name: folder_for(kind, project, to) for name, kind in kinds.items()}

    def _check_files(self) -> None:
        """Record which files exist already with the text that would be written.

        Raises InvalidInput where a file has other content, and UsageError where no run would read
        the files.
        """
        new = self.matched.new
        check_read([candidate.file for candidate in new], self.session.project)
        folders = {candidate.file.parent for candidate in new}
        there = {folder: names_in(folder) for folder in folders}
        # The manifest comes before its JSON file.
        texts = dict(pair for candidate in new for pair in reversed(self.texts[candidate.ref]))
        taken = [file for file in texts if file.name.casefold() in there[file.parent]]
        # This happens after a stopped run.
        self.left_behind = {file for file in taken if holds(file, texts[file], self.root)}
        if others := [file for file in taken if file not in self.left_behind]:
            named = first_few([display_name(other, self.root) for other in others], MOST_NAMED)
            raise InvalidInput(
                f"{named}: there already, and import writes over no file. Nothing was "
                "imported: move it away, or choose another folder with --to"
            )

    def _draw(self, candidate: NamedImport, known: KnownRefs) -> Left | None:
        """Render a manifest and check it as runs read it; return why it cannot be written."""
        record, ref, file = self._record(candidate), candidate.ref, candidate.file
        is_one_of_many = with_target(self.session.project) - {self.session.name}
        keeps_json = self.wanted.keep_json and record.kind.from_export is not None
        drawn = draft_of(
            record,
            ref,
            candidate.brief.mentions,
            known,
            self.session.name if is_one_of_many else "",
            json_name=f"{file.stem}.json" if keeps_json else "",
        )
        if isinstance(drawn, Left):
            return drawn
        exports = [] if drawn.export is None else [(file.with_suffix(".json"), drawn.export)]
        texts = [*exports, (file, led(drawn.manifest, file, self.root))]
        if not self._is_plain(candidate, record, drawn):
            error = wrong_in(dict(texts), file, self.root, self.scope, self.environments)
            if error is not None:
                called = f"{record.called} ({record.where})"
                return Left(called, f"{error.message} [{error.code}]", ExitCode.INVALID)
        self.texts[ref] = texts
        return None

    def _record(self, candidate: NamedImport) -> ImportRecord:
        """Return the imported record, with seals in place of secrets.

        If a kind has only one object, and another environment declares its own, the record is
        limited to this environment.
        """
        record = self.hiding.record(candidate.brief.whole)
        elsewhere = self.session.workspace.elsewhere
        other = next((ref for ref in elsewhere if ref.kind == record.kind.name), None)
        if not record.kind.singleton or other is None or record.only:
            return record
        why = f"other environments have {other} instead"
        return replace(record, only=(self.session.name,), why_only=why)

    def _is_plain(self, candidate: NamedImport, record: ImportRecord, drawn: Draft) -> bool:
        """Return whether the text declares exactly the document that was checked already.

        Text with an expression, or with values that may be withheld, is always checked as it is
        read. This halves the time of an import of 400 dashboards.
        """
        text = drawn.manifest
        if drawn.export is not None or is_allowed_in(text) or self.scope.withheld.lies_in(text):
            return False
        read = drawn.document if drawn.document is not None else _read_back(text)
        if read is None:
            return False
        name = self.session.name
        known = {**self.environments, name: None}
        around = Around(environments=known, environment=name, today=self.scope.today)
        envelope = read_envelope(read, around)
        # Most specs come back as the same object, which needs no comparison.
        as_judged = (
            envelope.spec is record.spec or packed(envelope.spec) == candidate.brief.document
        )
        return as_judged and not envelope.findings and envelope.name == candidate.ref.name

    def clear(self) -> None:
        """Remove files that a killed run left in the folders of this import, and report them."""
        if count := remove_left(self._folder_by_kind(self.gathered.briefs).values()):
            self.options.reporter.say(LEFT_BESIDE.format(what=plural(count, "file")))

    def rehearse(self) -> None:
        for candidate in self.matched.new:
            self._note(candidate, [file for file, _ in self.texts[candidate.ref]])

    def _note(self, candidate: NamedImport, files: Sequence[Path]) -> None:
        self.result.imported.append(replace(candidate, written=tuple(sorted(files))))

    def write(self) -> None:
        """Write files first, then the journal entries that rely on them, `TOGETHER` at a time."""
        journal, run = self.journal, str(uuid4())
        begun = journal.run_entry(run, "import", applied_commit(self.session.project))
        journal.begin(begun)
        new = self.matched.new
        self._declare_variables()
        with self.options.waits.step(Deed.WRITING, total=len(new)) as step:
            for start in range(0, len(new), TOGETHER):
                some = new[start : start + TOGETHER]
                entries = self._write_manifests(some, begun)
                if entries:
                    journal.append(entries)
                step.done += len(some)
        ids = self.there.ids()
        known = [
            self._entry(resource, manifest.ref, begun, resolve(manifest.spec, ids))
            for resource, manifest in self.agreed
        ]
        if known:
            journal.append(known)

    def _declare_variables(self) -> None:
        found = self._new_variables_in(candidate.brief.record for candidate in self.matched.new)
        used = {name: more for name, more in found.items() if more}
        file = self.session.project.file
        if used and file is not None:
            add_variables(file, used)
            names = sorted({key for more in used.values() for key in more})
            self.options.reporter.say(
                safe(f"{file.name}: {plural(len(names), 'variable')} added: {', '.join(names)}")
            )

    def _write_manifests(self, some: Sequence[NamedImport], run: RunEntry) -> list[Entry]:
        texts: list[tuple[Path, str]] = []
        for candidate in some:
            # Files that a stopped run left exist already with the text that would be written.
            new = [pair for pair in self.texts[candidate.ref] if pair[0] not in self.left_behind]
            texts.extend(new)
            if new:
                self._note(candidate, [file for file, _ in new])
        reached(Point.FILE_BEGUN)
        write_new(texts, self.root)
        reached(Point.FILE_WRITTEN)
        settle({file.parent for file, _ in texts}, self.root)
        reached(Point.FILES_SYNCED)
        for candidate in some:
            if candidate.brief.record.untold or candidate.brief.record.keys:
                self._warn(candidate)
        return [
            self._entry(candidate.brief, candidate.ref, run)
            for candidate in some
            if candidate.brief.is_remembered
        ]

    def _entry(
        self, brief: Brief, ref: Ref, run: RunEntry, declared: dict[str, Json] | None = None
    ) -> Entry:
        """Return the journal entry of a resource, with the document as a plan will declare it.

        `declared` is the document of an existing manifest; a new one declares what was observed.
        """
        remote_id = brief.record.remote_id
        live = self.hiding.hidden(brief.spec)
        spec = live if declared is None else declared
        manifest = Manifest(ref, spec, Source("", 1), remote_id)
        return ImportedEntry(
            run=run.run,
            at=run.at,
            ref=ref,
            remote_id=remote_id,
            origin=brief.origin,
            declared=brief.kind.remote.complete(manifest, Seen(remote_id, live), Memory()),
            revision=brief.revision,
        )

    def _warn(self, candidate: NamedImport) -> None:
        """Report what the service did not return, and show literals that look like keys."""
        record, ref = self._record(candidate), candidate.ref
        name = display_name(candidate.file, self.root)
        [*_, (_, manifest)] = texts = [*self.texts[candidate.ref]]
        if record.untold and not self.options.quiet:
            fields = ", ".join(dict.fromkeys(label for _, label in record.untold))
            places = plural(len(record.untold), "place")
            self.options.reporter.say(
                safe(
                    f"{ref}: the service leaves out `{fields}`, at {places}: comments in {name} "
                    "say where to add it"
                )
            )
        if record.keys and len(texts) == 1:
            document = read_text(manifest, is_json=False).documents[0]
            text = DocumentText(name, document, prefix=("spec",), ref=str(ref))
            self.options.reporter.complain([text.complaint(key) for key in record.keys])
