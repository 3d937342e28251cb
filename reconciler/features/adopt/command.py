"""`reconciler adopt`: write live edits into the manifests, and update what the journal knows."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from pathlib import Path
from typing import Final
from uuid import uuid4

import click

from reconciler.applying.one_write import not_given, rewritten_entry
from reconciler.cli import options
from reconciler.cli.console import data, stdout_style
from reconciler.errors import UsageError
from reconciler.features.adopt.adoption import (
    Adoption,
    AdoptionRun,
    AdoptionState,
    EditedText,
    Side,
)
from reconciler.features.adopt.adoption_formats import adopted_json, adopted_markdown, adopted_text
from reconciler.features.adopt.live_edits import Scene, adoption, look, what_is_left
from reconciler.features.adopt.merge_fields import MergeOptions
from reconciler.journal.entries import Entry, Started, WrittenEntry
from reconciler.journal.journal import Journal
from reconciler.journal.store import LockTimeout
from reconciler.model import Manifest, Ref
from reconciler.operations.added_by_features import ProposedEdits
from reconciler.operations.open_project import (
    Options,
    applied_commit,
    manifest_paths,
    warn_of_new_journal,
)
from reconciler.operations.open_session import Session, begin_session, open_api, read_workspaces
from reconciler.planning.decide import OlderSeals
from reconciler.planning.make_plan import PlanTarget
from reconciler.project import Embedded
from reconciler.runtime.failpoints import Point, reached
from reconciler.syntax.expressions import ExpressionKind, expression
from reconciler.syntax.suggestions import nearest
from reconciler.workspace.expression_scope import lacking, spelled
from reconciler.workspace.manifest_edits import Edited, Original, Originals, write_edits
from reconciler.workspace.workspace import Workspace, sources_of
from reconciler.workspace.write_files import remove_left, replace_text

LEFT_BESIDE = "files that a killed run left were removed: no manifest was among them"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToAdopt:
    """Resources to adopt, or `every` resource, and the `side` that wins conflicts."""

    refs: tuple[Ref, ...] = ()
    every: bool = False
    side: Side | None = None
    only_shown: bool = False


def wanted_refs(session: Session, names: Sequence[str]) -> tuple[Ref, ...]:
    """Return the refs of the named manifests.

    Raises UsageError for an unknown or unselected name.
    """
    known = {str(manifest.ref): manifest.ref for manifest in session.workspace.manifests}
    left_out = {str(manifest.ref) for manifest in session.workspace.left_out}
    for name in names:
        if name in left_out:
            raise UsageError(f"{name} is not selected")
        if name not in known:
            near = nearest(name, known)
            hint = f"; did you mean {near}?" if near else ""
            raise UsageError(f"no manifest declares {name}{hint}")
    return tuple(dict.fromkeys(known[name] for name in names))


def adopt_edits(
    session: Session, options: Options, wanted: ToAdopt, patience: LockTimeout | None = None
) -> AdoptionRun:
    """Write live edits into the manifests, under the journal's lock, or only show them.

    Files are written before the journal entries. If a run dies in between, the next run completes
    its work. Raises Locked, JournalError where the journal is gone, and what planning raises.
    """
    journal, name = session.journal(needed=True), str(uuid4())
    if wanted.only_shown:
        return _Run(session, options, wanted, journal).made()
    with journal.locked(name, patience):
        run = _Run(session, options, wanted, journal)
        made = run.made()
        if remove_left(run.folders):
            options.reporter.say(LEFT_BESIDE)
        for file in run.files:
            script = file.script
            replace_text(script.path, script.name, run.roots, before=script.text, after=file.after)
            reached(Point.FILE_REPLACED)
        entries = [*_entries(made, name, journal.now())]
        if entries:
            warn_of_new_journal(journal, options.reporter, "adopt")
            journal.begin(journal.run_entry(name, "adopt", applied_commit(session.project)))
            journal.append(entries)
    return made


def _entries(made: AdoptionRun, run: str, at: str) -> Iterator[Entry]:
    """Yield the journal entries of an adoption: nothing was sent, and live equals the manifest."""
    for adopted in made.adoptions:
        base, change = adopted.base, adopted.change
        if adopted.state != "adopted" or base is None or change is None:
            continue
        yield Started(
            run=run,
            at=at,
            ref=adopted.ref,
            operation="replace",
            declared=base.declared,
            request_id=change.request_id,
            remote_id=base.remote_id,
            seen=base.seen,
            protect=base.protect,
        )
        yield WrittenEntry(
            run=run,
            at=at,
            ref=adopted.ref,
            remote_id=base.remote_id,
            adopted=True,
            revision=base.revision,
            instead_of=not_given(change, base.remote_id),
        )
        if base.leftover:
            yield rewritten_entry(run, at, adopted.ref, base.leftover)


@dataclass(slots=True)
class _Run:
    """One adoption, up to the new texts of the files."""

    session: Session
    options: Options
    wanted: ToAdopt
    journal: Journal
    originals: dict[Ref, Original] = field(default_factory=dict)
    why: dict[Ref, str] = field(default_factory=dict)
    roots: tuple[Path, ...] = ()
    files: list[Edited] = field(default_factory=list)

    def made(self) -> AdoptionRun:
        """Merge the wanted resources, and compute the new texts of their files."""
        session = self.session
        manifests = session.workspace.manifests
        chosen = set(self.wanted.refs)
        named = [manifest for manifest in manifests if self.wanted.every or manifest.ref in chosen]
        self._find(named)
        scene = asyncio.run(self._look(named))
        adoptions = {
            manifest.ref: self._adoption(manifest, scene)
            for manifest in sorted(named, key=attrgetter("ref"))
        }
        self.files = self._files(adoptions, scene)
        for ref, names in self._elsewhere().items():
            adoptions[ref] = replace(adoptions[ref], elsewhere=names)
        for ref, why in self.why.items():
            adoptions[ref] = _refused(adoptions[ref], why)
        return AdoptionRun(
            environment=session.name,
            target=session.target.name,
            adoptions=tuple(adoptions.values()),
            files=tuple(
                EditedText(
                    name=file.script.name,
                    before=file.script.text,
                    after=file.after,
                    refs=file.refs,
                    forks=file.forks,
                )
                for file in self.files
            ),
            only_shown=self.wanted.only_shown,
            named=not self.wanted.every,
            selected=session.selected,
        )

    @property
    def folders(self) -> set[Path]:
        """Return the folders of the files that are adopted into."""
        return {
            script.path.resolve().parent
            for original in self.originals.values()
            for script in (original.script, original.export)
            if script is not None
        }

    def _find(self, named: Sequence[Manifest]) -> None:
        """Find the original text of each manifest."""
        project = self.session.project
        self.roots = sources_of(manifest_paths(self.options, project), project.root).roots
        read = self.session.workspace.read
        originals = Originals(project.root, self.roots, read, self.session.name)
        found = ((manifest.ref, originals.of(manifest)) for manifest in named)
        self.originals = {ref: original for ref, original in found if original is not None}

    async def _look(self, named: Sequence[Manifest]) -> Scene:
        session = self.session
        values = {
            expression(ExpressionKind.VARIABLE, key): spelled(variable)
            for key, variable in session.environment.variables.items()
            if not isinstance(variable, dict | list)
        }
        unread = Scene(
            place=PlanTarget(
                session.name,
                session.target.name,
                embedded=isinstance(session.target, Embedded),
                salt=session.salt(),
            ),
            history=self.journal.history,
            rules=MergeOptions(side=self.wanted.side, values=values),
            ignore=session.project.settings.drift_ignore,
            older=OlderSeals(lambda: self.journal.entries),
        )
        every = (*session.workspace.manifests, *session.others)
        async with open_api(session) as api:
            return await look(api, every, [manifest.ref for manifest in named], unread)

    def _adoption(self, manifest: Manifest, scene: Scene) -> Adoption:
        original = self.originals.get(manifest.ref)
        why = "" if original is not None else "its manifest was changed while this ran"
        if names := lacking(manifest.spec):
            # Without the variable, the live value cannot be compared with what git declares.
            why = f"it needs {', '.join(names)}: set that environment variable"
        if why or original is None:
            return Adoption(ref=manifest.ref, source=manifest.source, state="refused", why=why)
        try:
            found = adoption(manifest, original.spec, scene)
        except RecursionError:
            why = "what is live is nested too deep"
            return Adoption(ref=manifest.ref, source=manifest.source, state="refused", why=why)
        if manifest.source.item is None or found.edit is None or found.state != "adopted":
            return found
        return _refused(
            found,
            f"it is made by the `forEach` at {manifest.source}: edit the item, or what all are "
            "made of, by hand",
        )

    def _files(self, adoptions: dict[Ref, Adoption], scene: Scene) -> list[Edited]:
        """Return the edited files. Edits are refused until no file is wrong."""
        manifests = {manifest.ref: manifest for manifest in self.session.workspace.manifests}
        tried: set[Ref] = set()
        while True:
            edits = {
                ref: (self.originals[ref], adopted.edit)
                for ref, adopted in adoptions.items()
                if adopted.state == "adopted" and adopted.edit is not None and ref not in self.why
            }
            files, refused = write_edits(edits)
            self.why |= {unadopted.ref: unadopted.why for unadopted in refused}
            wrong, unsettled = self._judged(files, adoptions, scene)
            if not wrong and not unsettled:
                return files
            again = unsettled - tried
            naming = replace(scene, rules=replace(scene.rules, names=True))
            tried |= again
            for ref in again:
                # An item without a name was found by its position, which no longer finds it: name
                # the items.
                adoptions[ref] = self._adoption(manifests[ref], naming)
            self.why |= wrong | dict.fromkeys(
                unsettled - again, "the next plan would still change it: edit it by hand"
            )

    def _judged(
        self, files: Sequence[Edited], adoptions: Mapping[Ref, Adoption], scene: Scene
    ) -> tuple[dict[Ref, str], set[Ref]]:
        """Return the resources that the files would declare wrongly, each with the reason.

        The second result are resources that the next plan would still change. The new texts are
        read as any run reads files, instead of the present texts.
        """
        if not files:
            return {}, set()
        session = self.session
        instead = {file.script.path.resolve(): file.after for file in files}
        scope = replace(session.scope(self.options), may_lack=True)
        after = read_workspaces(self.options, session.project, [scope], instead)[session.name]
        edited = sorted({ref for file in files for ref in file.refs})
        refused = _complained_of(after, files)
        if refused:
            return refused, set()
        workspace = session.workspace
        now = {manifest.ref: manifest for manifest in (*after.manifests, *after.left_out)}
        for manifest in (*workspace.manifests, *workspace.left_out):
            ref = manifest.ref
            if ref not in edited and (ref not in now or now[ref].spec != manifest.spec):
                reason = f"it would change {ref} too: edit it by hand"
                return dict.fromkeys(edited, reason), set()
        unsettled: set[Ref] = set()
        for ref in edited:
            adopted = adoptions[ref]
            if adopted.base is None or ref not in now:
                refused[ref] = "its manifest would be another one: edit it by hand"
            elif what_is_left(scene.change_after(now[ref], adopted.base), adopted):
                unsettled.add(ref)
        return refused, unsettled

    def _elsewhere(self) -> Mapping[Ref, tuple[str, ...]]:
        """Return, by resource, the other environments in which the edits change the declaration."""
        project = self.session.project
        here = replace(self.session.scope(self.options), secrets=None, ruled=False)
        scopes = [
            replace(here, environment=name, variables=environment.variables)
            for name, environment in project.settings.environments.items()
            if name != self.session.name
        ]
        edited = {ref for file in self.files for ref in file.refs}
        if not scopes or not edited:
            return {}
        instead = {file.script.path.resolve(): file.after for file in self.files}
        before = read_workspaces(self.options, project, scopes)
        after = read_workspaces(self.options, project, scopes, instead)
        changed = [(name, _changed(before[name], after[name])) for name in before]
        found = {ref: tuple(name for name, refs in changed if ref in refs) for ref in edited}
        return {ref: names for ref, names in found.items() if names}


def _changed(before: Workspace, after: Workspace) -> set[Ref]:
    """Return the resources that `after` declares with another spec than `before`."""
    was = {manifest.ref: manifest.spec for manifest in before.manifests}
    return {manifest.ref for manifest in after.manifests if was.get(manifest.ref) != manifest.spec}


def _complained_of(after: Workspace, files: Sequence[Edited]) -> dict[Ref, str]:
    """Return the resources with an error in their file; all of them, if another file is wrong."""
    wrong: dict[Ref, str] = {}
    for complaint in after.errors:
        blamed = [file for file in files if file.script.name == complaint.file] or files
        message = f"{complaint.file}:{complaint.line}: {complaint.message} [{complaint.code}]"
        wrong |= {ref: message for edited in blamed for ref in edited.refs}
    return wrong


def _refused(adopted: Adoption, why: str) -> Adoption:
    return replace(adopted, state="refused", why=why, edit=None, base=None)


DECIDED: Final[tuple[AdoptionState, ...]] = ("adopted", "same", "unseen", "gone")
"""States that show whether there is something to adopt; any other state leaves that open."""


def proposal(session: Session, options: Options, drift_page: str) -> ProposedEdits:
    """Return all live edits as edits of manifests; neither files nor the journal are written."""
    made = adopt_edits(session, options, ToAdopt(every=True, only_shown=True))
    return ProposedEdits(
        title=f"Adopt live edits of {made.environment}",
        body=adopted_markdown(made, drift_page=drift_page),
        files=made.files,
        undecided=any(adoption.state not in DECIDED for adoption in made.adoptions),
    )


@click.command
@click.argument("refs", nargs=-1, metavar="[REF]...")
@options.adopting
@options.selecting
@options.formats("text", "json", "markdown")
@click.option("--all", "every", is_flag=True, help="Adopt every resource that was edited live.")
@click.option("--dry-run", is_flag=True, help="Show what would be edited, and edit nothing.")
@click.option(
    "--ours", is_flag=True, help="Where both git and live changed a field, keep the value of git."
)
@click.option(
    "--theirs",
    is_flag=True,
    help="Where both git and live changed a field, take the value of live.",
)
@options.lock_timeout
def adopt(  # noqa: PLR0913 - one parameter a flag
    *,
    refs: tuple[str, ...],
    options: Options,
    form: str,
    every: bool,
    dry_run: bool,
    ours: bool,
    theirs: bool,
    patience: LockTimeout,
) -> int:
    """Write what was edited live into the manifests, each REF a Kind/name.

    Only the lines that change are written: comments, order, quotes and
    expressions stay. Where git changed the same field since the last apply, no
    manifest of that resource is touched, and the command ends with 3.
    """
    every = every or (bool(options.selection) and not refs)
    if bool(refs) == every:
        raise UsageError("name what to adopt, as Kind/name, or give --all")
    if ours and theirs:
        raise UsageError("--ours and --theirs exclude each other")
    side = Side.OURS if ours else Side.THEIRS if theirs else None
    session = begin_session(options, may_lack=True)
    wanted = ToAdopt(refs=wanted_refs(session, refs), every=every, side=side, only_shown=dry_run)
    made = adopt_edits(session, options, wanted, patience)
    match form:
        case "json":
            text = adopted_json(made)
        case "markdown":
            text = adopted_markdown(made)
        case _:
            text = adopted_text(made, stdout_style(verbose=options.verbose))
    return data(text, ending=made.exit_code)
