"""Import: write manifests from the service or from exports, and journal them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from typing import Annotated
from uuid import uuid4

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from reconciler.document import Json, covers
from reconciler.errors import ExitCode
from reconciler.features.import_.buffer import Buffer
from reconciler.features.import_.hide_secrets import IN_A_VARIABLE, Hiding
from reconciler.features.import_.import_sources import (
    Drawings,
    Gathered,
    ImportSources,
    gather,
    how_to_get,
)
from reconciler.features.import_.import_target import (
    check_read,
    folder_for,
    open_for_import,
    refuse_taken,
)
from reconciler.features.import_.match_declared import (
    Brief,
    Matched,
    NamedImport,
    There,
    matched,
    not_imported,
)
from reconciler.features.import_.names import file_names
from reconciler.features.import_.records import Left
from reconciler.journal.entries import Entry, ImportedEntry, RunEntry
from reconciler.journal.history import Memory
from reconciler.journal.journal import Journal
from reconciler.journal.store import LockTimeout
from reconciler.model import Manifest, Ref, RemoteId, Seen, Source
from reconciler.operations.open_project import Options, applied_commit
from reconciler.operations.open_session import Session
from reconciler.records.mentions import ALERTS
from reconciler.redaction.redact import conceal
from reconciler.redaction.templates import holds_seal, resolve
from reconciler.report.safe import safe
from reconciler.report.words import plural
from reconciler.runtime.advice import on_manifests
from reconciler.runtime.failpoints import Point, reached
from reconciler.runtime.progress import Deed
from reconciler.syntax.display_names import display_name
from reconciler.syntax.expressions import ExpressionKind, expression
from reconciler.syntax.parsed_text import DocumentText
from reconciler.syntax.read_text import read_text
from reconciler.syntax.write_files import remove_left
from reconciler.workspace.new_files import add_variables, folder_inside, names_in, settle, write_new


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


LEFT_BESIDE = "{what} removed that a run left which was killed: no manifest was among them"
OTHER_CONTENT = (
    "{twin.ref} has its title and other content, at {twin.source}, and it is unknown whether this "
    "is the same: give its id with --id, change its title, or take over by hand what differs"
)
TOGETHER = 100
"""Number of manifests that are written before the journal gets their entries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToImport:
    """Resources to import, and how to write them."""

    what: ImportSources
    to: Path | None = None
    keep_json: bool = False
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class ImportedResource:
    """A resource that has a manifest now; `files` are the files that were written for it.

    `can_be_read` says whether the service can be asked for the resource.
    """

    ref: Ref
    file: str
    remote_id: RemoteId | None
    files: tuple[Path, ...]
    can_be_read: bool


@dataclass(slots=True)
class ImportResult:
    """Imported and skipped resources of an import."""

    imported: list[ImportedResource] = field(default_factory=list)
    skipped: list[Left] = field(default_factory=list)

    @property
    def exit_codes(self) -> set[int]:
        """Return the exit codes of resources that could not be imported."""
        return {left.exit_code for left in self.skipped} - {0}


def import_now(options: Options, wanted: ToImport, patience: LockTimeout) -> ImportResult:
    """Read the wanted resources, write new manifests, and journal the documents.

    Raises InvalidInput where another file is in the way; nothing is written then. Raises
    UsageError, and what opening a target, a journal and the service raise.
    """
    session, secrets = open_for_import(options, wanted.what.exports)
    journal = session.journal()
    if wanted.to is not None:
        folder_inside(Path.cwd() / wanted.to, session.project.root.resolve())
    with TemporaryFile() as stream:
        spool = Buffer(stream, session.environment.api)
        gathered = gather(options, session, wanted.what, journal.history, spool)
        hiding = Hiding(secrets, lambda: journal.salt)
        work = _Work(
            options=options,
            wanted=wanted,
            session=session,
            journal=journal,
            spool=spool,
            gathered=gathered,
            hiding=hiding,
        )
        work.match()
        if wanted.dry_run:
            work.rehearse()
        else:
            work.clear()
        if work.has_work and not wanted.dry_run:
            with journal.locked(str(uuid4()), patience):
                work.write()
    return work.result


@dataclass(slots=True, kw_only=True)
class _Work:
    options: Options
    wanted: ToImport
    session: Session
    journal: Journal
    spool: Buffer
    gathered: Gathered
    hiding: Hiding
    result: ImportResult = field(default_factory=ImportResult)
    matched: Matched = field(default_factory=Matched)
    files: dict[Ref, Path] = field(default_factory=dict)
    agreed: list[tuple[Brief, Manifest]] = field(default_factory=list)
    left_behind: set[Path] = field(default_factory=set)
    drawings: Drawings = field(init=False)

    @property
    def root(self) -> Path:
        """Return the folder of the project, without links."""
        return self.session.project.root.resolve()

    @property
    def has_work(self) -> bool:
        """Return whether anything is to be written or journaled."""
        return bool(self.matched.new or self.agreed)

    @property
    def there(self) -> There:
        """Return the declared resources, and the content of the journal."""
        workspace = self.session.workspace
        return There(workspace.manifests, workspace.elsewhere, self.journal.history)

    def match(self) -> None:
        """Match resources with those that exist, and give each new resource a name and a file.

        Raises InvalidInput where another file has that name.
        """
        briefs = [brief for brief in self.gathered.briefs if not self._shows_secrets(brief)]
        while True:
            self.matched = matched(briefs, self.there)
            self._name_files()
            new = self.options.waits.each(Deed.JUDGING, self.matched.new)
            wrong = {candidate: why for candidate in new if (why := self.drawings.draw(candidate))}
            if not wrong:
                break
            # References to a refused resource become references to its id, and its name becomes
            # free.
            self.result.skipped.extend(wrong.values())
            refused = {candidate.brief for candidate in wrong}
            briefs = [brief for brief in briefs if brief not in refused]
        self.result.skipped.extend((*self.gathered.left, *self.matched.left))
        for resource, manifest in self.matched.declared:
            self.result.skipped.append(self._declared(resource, manifest))
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
        record = self.spool.record(brief)
        text = "\n".join(record.expressions.values())
        why = self.hiding.why_not(record)
        for variables in self.gathered.variables.values():
            for key, variable in variables.items():
                if expression(ExpressionKind.VARIABLE, key) in text and self.hiding.lies_in(
                    str(variable)
                ):
                    why = IN_A_VARIABLE
        if why:
            called = self.hiding.without(brief.said)
            self.result.skipped.append(Left(called, why, ExitCode.INVALID))
        return bool(why)

    def _note_found(self, kind: str, remote_id: RemoteId, remark: str) -> None:
        how = how_to_get(kind, remote_id, self.session.environment.api)
        why = f"found, not imported: {remark}; {how}"
        self.result.skipped.append(Left(f"{kind} {remote_id}", why))

    def _declared(self, brief: Brief, manifest: Manifest) -> Left:
        """Return the note that a manifest exists; agree to its journal entry if there is none."""
        spec = self._filled(manifest)
        live = conceal(self.spool.spec(brief), spec, brief.kind.shape)
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

    def _filled(self, manifest: Manifest) -> dict[str, Json]:
        """Return a manifest's document with the known ids filled in."""
        spec = resolve(manifest.spec, self.there.ids())
        assert isinstance(spec, dict)  # noqa: S101 - filling references keeps the form
        return spec

    def _name_files(self) -> None:
        new = self.matched.new
        stems = file_names(
            [candidate.ref for candidate in new], together=self.wanted.to is not None
        )
        folders = {candidate.brief.kind.name: candidate.brief.kind for candidate in new}
        places = {
            name: folder_for(kind, self.session.project, self.wanted.to)
            for name, kind in folders.items()
        }
        self.files = {
            candidate.ref: places[candidate.ref.kind] / f"{stems[candidate.ref]}.yaml"
            for candidate in new
        }
        variables, keep_json = self.gathered.variables, self.wanted.keep_json
        self.drawings = Drawings(
            session=self.session,
            spool=self.spool,
            hiding=self.hiding,
            matched=self.matched,
            files=self.files,
            more=variables,
            keep_json=keep_json,
        )

    def _check_files(self) -> None:
        """Record which files exist already with the text that would be written.

        Raises InvalidInput where a file has other content, and UsageError where no run would read
        the files.
        """
        new = self.matched.new
        check_read([*self.files.values()], self.session.project)
        there = {
            folder: names_in(folder) for folder in {file.parent for file in self.files.values()}
        }
        drawings = self.drawings
        owners = {file: candidate for candidate in new for file in drawings.files_of(candidate)}
        taken = [file for file in owners if file.name.casefold() in there[file.parent]]
        self.left_behind = {file for file in taken if drawings.is_ours(file, owners[file])}
        refuse_taken([file for file in taken if file not in self.left_behind], self.root)

    def clear(self) -> None:
        """Remove files that a killed run left in the folders of this import, and report them."""
        kinds = {brief.kind.name: brief.kind for brief in self.gathered.briefs}
        folders = [
            folder_for(kind, self.session.project, self.wanted.to) for kind in kinds.values()
        ]
        if count := remove_left(folders):
            self.options.reporter.say(LEFT_BESIDE.format(what=plural(count, "file")))

    def rehearse(self) -> None:
        """Record what would be written."""
        for candidate in self.matched.new:
            self._note(candidate, self.drawings.files_of(candidate))

    def _note(self, candidate: NamedImport, files: Sequence[Path]) -> None:
        shown = display_name(self.files[candidate.ref], self.root)
        remote_id = candidate.brief.record.remote_id
        readable = candidate.brief.can_be_read
        taken = ImportedResource(candidate.ref, shown, remote_id, tuple(sorted(files)), readable)
        self.result.imported.append(taken)

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
                entries = self._written(some, begun)
                if entries:
                    journal.append(entries)
                step.done += len(some)
        known = [
            self._entry(resource, manifest.ref, self._filled(manifest), self._seen(resource), begun)
            for resource, manifest in self.agreed
        ]
        if known:
            journal.append(known)

    def _declare_variables(self) -> None:
        """Write the variables of new manifests into the project file, before the manifests."""
        new = self.matched.new
        text = "\n".join(
            source for candidate in new for source in candidate.brief.record.expressions.values()
        )
        used = {
            name: {
                key: variable
                for key, variable in more.items()
                if expression(ExpressionKind.VARIABLE, key) in text
            }
            for name, more in self.gathered.variables.items()
        }
        used = {name: more for name, more in used.items() if more}
        file = self.session.project.file
        if used and file is not None:
            add_variables(file, used)
            names = sorted({key for more in used.values() for key in more})
            self.options.reporter.say(
                safe(f"{file.name}: {plural(len(names), 'variable')} added: {', '.join(names)}")
            )

    def _written(self, some: Sequence[NamedImport], run: RunEntry) -> list[Entry]:
        """Write some manifests, and return their journal entries."""
        texts: list[tuple[Path, str]] = []
        for candidate in some:
            # Files that a stopped run left exist already with the text that would be written.
            own = self.drawings.texts(candidate)
            new = [pair for pair in own if pair[0] not in self.left_behind]
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
        remembered = [candidate for candidate in some if candidate.brief.is_remembered]
        seen = [self._seen(candidate.brief) for candidate in remembered]
        return [
            self._entry(candidate.brief, candidate.ref, spec, spec, run)
            for candidate, spec in zip(remembered, seen, strict=True)
        ]

    def _seen(self, brief: Brief) -> dict[str, Json]:
        """Return the observed document, with seals in place of secrets."""
        return self.hiding.hidden(self.spool.spec(brief))

    def _entry(
        self, brief: Brief, ref: Ref, spec: dict[str, Json], live: dict[str, Json], run: RunEntry
    ) -> Entry:
        """Return the journal entry of a resource, with the document as a plan will declare it."""
        remote_id = brief.record.remote_id
        manifest = Manifest(ref, spec, Source("", 1), remote_id)
        seen = Seen(remote_id, live)
        return ImportedEntry(
            run=run.run,
            at=run.at,
            ref=ref,
            remote_id=remote_id,
            origin=brief.origin,
            declared=brief.kind.remote.complete(manifest, seen, Memory()),
            revision=brief.revision,
        )

    def _warn(self, candidate: NamedImport) -> None:
        """Report what the service did not return, and show literals that look like keys."""
        record, ref = self.drawings.record(candidate), candidate.ref
        name = display_name(self.files[ref], self.root)
        [*_, (_, manifest)] = texts = [*self.drawings.texts(candidate)]
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
            found = [text.complaint(key) for key in record.keys]
            self.options.reporter.complain(found, verbose=self.options.verbose)
