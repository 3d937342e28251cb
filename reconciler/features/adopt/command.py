"""`reconciler adopt`: write live edits into the manifests, and update what the journal knows."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Final, TypeAlias, assert_never
from uuid import uuid4

import click

from reconciler import model
from reconciler.applying.one_write import not_given, rewritten_entry
from reconciler.cli import options
from reconciler.cli.console import data, stdout_style
from reconciler.document import (
    ABSENT,
    Difference,
    Json,
    Missing,
    Shape,
    by_identity,
    covers,
    differences,
    digest,
    followed,
    merge,
    same,
)
from reconciler.document import Path as Place
from reconciler.errors import UsageError
from reconciler.features.adopt.adoption import (
    Adoption,
    AdoptionRun,
    AdoptionState,
    NewBase,
    Side,
)
from reconciler.features.adopt.adoption_formats import adopted_json, adopted_markdown, adopted_text
from reconciler.features.adopt.merge_fields import MergeInputs, MergeOptions, joined, merged
from reconciler.journal.entries import Entry, LastWrite, Started, WrittenEntry
from reconciler.journal.history import History, Memory
from reconciler.journal.journal import Journal
from reconciler.journal.store import LockTimeout
from reconciler.kinds import BY_NAME
from reconciler.kinds.kind import Kind
from reconciler.kinds.shape import in_usual_order
from reconciler.model import Manifest, Ref
from reconciler.operations.added_by_features import ProposedEdits
from reconciler.operations.open_project import (
    Options,
    applied_commit,
    manifest_paths,
    warn_of_new_journal,
)
from reconciler.operations.open_session import Session, begin_session, open_api, read_workspaces
from reconciler.planning.consequences import unexpected
from reconciler.planning.decide import (
    Knowledge,
    OlderSeals,
    OlderSecrets,
    PlanTarget,
    decide,
    without_own_secrets,
)
from reconciler.planning.find_drift import is_covered
from reconciler.planning.make_plan import identify
from reconciler.planning.observe import observe_all
from reconciler.project import Embedded
from reconciler.project.settings import DriftIgnore
from reconciler.redaction.redact import veiled
from reconciler.report.table import Style
from reconciler.runtime.advice import declared_id
from reconciler.runtime.failpoints import Point, reached
from reconciler.syntax.expressions import ExpressionKind, expression
from reconciler.syntax.suggestions import nearest
from reconciler.workspace.expression_scope import lacking, spelled
from reconciler.workspace.manifest_edits import Edited, Original, Originals, write_edits
from reconciler.workspace.workspace import Workspace, sources_of
from reconciler.workspace.write_files import remove_left, replace_text


def without_expected(
    live: Json, declared: Json, shape: Shape, rules: Sequence[DriftIgnore]
) -> tuple[Json, int]:
    """Return live with each expected difference set as declared, and their number."""
    if not rules:
        return live, 0

    def is_expected(difference: Difference) -> bool:
        return any(is_covered(rule, difference) for rule in rules)

    wanted = merge(ABSENT, declared, live, shape)
    count = sum(map(is_expected, differences(live, wanted, shape)))
    held = _held(live, wanted, shape, (), is_expected) if count else live
    return live if held is ABSENT else held, count


IsHeld: TypeAlias = Callable[[Difference], bool]
"""Returns whether a place keeps the wanted value, given a difference of its live and wanted values.
"""


def _held(
    live: Json | Missing, wanted: Json | Missing, shape: Shape, path: Place, is_held: IsHeld
) -> Json | Missing:
    """Return a part of live in which each place that `is_held` keeps the value of `wanted`."""
    if is_held(Difference(path, live, wanted)):
        return wanted
    if isinstance(live, dict) and isinstance(wanted, dict):
        fields = {
            key: _held(
                live.get(key, ABSENT), wanted.get(key, ABSENT), shape.at(key), (*path, key), is_held
            )
            for key in {**live, **wanted}
        }
        return {key: field for key, field in fields.items() if field is not ABSENT}
    if isinstance(live, list) and isinstance(wanted, list):
        return _held_items(live, wanted, shape, path, is_held)
    return live


def _held_items(
    live: list[Json], wanted: list[Json], shape: Shape, path: Place, is_held: IsHeld
) -> Json:
    """Do the same for a list: by the names of its items, or by position where lengths are equal."""
    theirs, mine = by_identity(live, shape), by_identity(wanted, shape)
    pairs: list[tuple[str | int, Json | Missing, Json | Missing]]
    if theirs is not None and mine is not None:
        names = joined([*theirs], [*mine])
        pairs = [(name, theirs.get(name, ABSENT), mine.get(name, ABSENT)) for name in names]
        if all(is_held(Difference((*path, name), item, other)) for name, item, other in pairs):
            return wanted
    elif len(live) == len(wanted):
        pairs = [(nth, live[nth], wanted[nth]) for nth in range(len(live))]
    else:
        return live
    held = [_held(item, other, shape.item, (*path, step), is_held) for step, item, other in pairs]
    return [item for item in held if item is not ABSENT]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """The inputs that all adoptions of a run share.

    `rules` are the options of each merge. `reasons` has, by resource, the reasons why its object is
    not certain, or not in the journal yet. Differences that rules of `ignore` cover are not
    adopted.
    """

    place: PlanTarget
    history: History
    rules: MergeOptions
    ids: Mapping[model.Ref, model.RemoteId]
    observations: Mapping[model.Ref, model.Observation]
    reasons: Mapping[model.Ref, tuple[model.Reason, ...]]
    ignore: Sequence[DriftIgnore]

    def about(self, ref: model.Ref) -> list[DriftIgnore]:
        """Return the rules of expected drift that are about a resource."""
        return [rule for rule in self.ignore if rule.is_about(ref.kind, ref.name)]

    def change_of(self, manifest: model.Manifest, memory: Memory) -> model.Change:
        """Return what a plan would do with a manifest, by what is remembered of it."""
        seen, seed = self.observations[manifest.ref], self.history.seed
        return decide(manifest, Knowledge(seen, memory, self.ids, self.place, seed))

    def change_after(self, manifest: model.Manifest, new: NewBase) -> model.Change:
        """Return what the next plan would do, once the new base is in the journal."""
        last = LastWrite(
            remote_id=new.remote_id,
            at="",
            declared=new.declared,
            rewritten=(),
            revision=new.revision,
        )
        memory = replace(self.history.of(manifest.ref), last=last, pending=None, earlier=())
        change = self.change_of(manifest, memory)
        left = {difference.path for difference in new.leftover}
        about = self.about(manifest.ref)
        seen = change.observation
        found = tuple(
            difference
            for difference in change.differences
            if difference.path not in left
            and not (isinstance(seen, model.Seen) and seen.cannot_tell(difference.path))
            and not any(is_covered(rule, difference) for rule in about)
        )
        if change.action is model.Action.UPDATE and not found:
            return replace(change, action=model.Action.KEEP, differences=())
        return replace(change, differences=found)


def adoption(manifest: model.Manifest, written: Json, scene: Scene) -> Adoption:
    """Merge the live edits of one resource into its manifest.

    `written` is its `spec` before expressions are filled in.
    """
    made = partial(Adoption, ref=manifest.ref, source=manifest.source)
    memory = scene.history.of(manifest.ref)
    match scene.observations[manifest.ref]:
        case model.Seen() if reasons := scene.reasons.get(manifest.ref):
            return made(state="blocked", reasons=reasons)
        case model.Seen() if memory.pending is not None:
            why = "the answer to a write of it was lost: apply first"
            return made(state="blocked", why=why)
        case model.Seen():
            return _merged(manifest, written, scene, memory)
        case model.Absent(why=why):
            return made(state="gone", why=why)
        case model.Unread(why=why, exit_code=code):
            return made(state="unread", why=why, exit_code=code)
        case model.Remembered() | model.Unknown():
            kind = BY_NAME[manifest.ref.kind]
            known = kind.declared_id(manifest) or memory.remote_id
            way = f" If it is there, write `{declared_id()}` into its `metadata`."
            return made(state="unseen", why=kind.limits if known else f"{kind.limits}{way}")
        case unknown:
            assert_never(unknown)


def _merged(manifest: model.Manifest, written: Json, scene: Scene, memory: Memory) -> Adoption:
    """Merge a resource that was seen, unless a plan could not change it."""
    made = partial(Adoption, ref=manifest.ref, source=manifest.source)
    kind, change = BY_NAME[manifest.ref.kind], scene.change_of(manifest, memory)
    # A field that every write needs may be missing here: nothing is sent, now or by the next plan.
    if change.action is model.Action.BLOCKED and not isinstance(
        change.reasons[0], model.NeededUnseen
    ):
        return made(state="blocked", reasons=change.reasons)
    seen = change.observation
    assert isinstance(seen, model.Seen)  # noqa: S101 - asked before
    base: Json | Missing = memory.last.declared if memory.last is not None else ABSENT
    ours = change.declared
    if memory.last is not None:
        # A field without a declared name keeps its applied value, not what is live at its place
        # now.
        before = replace(seen, document=memory.last.declared)
        ours = kind.remote.complete(change.manifest or manifest, before, memory)
    settled = base is not ABSENT and same(base, ours, kind.exact_shape)
    if settled and covers(seen.document, ours, kind.shape):
        # Most resources are unchanged, and comparing all their fields would be slow.
        return made(state="same", last=seen.edit)
    edited, service_made = _as_expected(kind, seen, base, memory, scene.place.salt)
    about = scene.about(manifest.ref)
    edited, ignored = without_expected(edited, ours if base is ABSENT else base, kind.shape, about)
    may_hold = tuple(filter(None, (*memory.candidates, ours)))
    older = OlderSecrets(scene.place.older(manifest.ref, memory.remote_id), ours, scene.place.salt)
    hidden = older.hidden(veiled(edited, may_hold, kind.shape))
    live = in_usual_order(edited, kind.spec) if isinstance(edited, dict) else edited
    sides = MergeInputs(written=written, ours=ours, base=base, live=live, shown=hidden)
    found = merged(sides, kind.shape, replace(scene.rules, unseen=seen.unseen))
    new = _new_base(sides, change, seen, memory, service_made)
    last = memory.last
    is_news = found.edit is not None or last is None or last.declared != new.declared
    state: AdoptionState = "conflict" if found.open else "adopted" if is_news else "same"
    return made(
        state=state,
        edit=None if found.open else found.edit,
        adopted=tuple(found.adopted),
        conflicts=tuple(found.conflicts),
        base=None if found.open else new,
        last=seen.edit,
        unseen=seen.unseen,
        settled=settled,
        live=hidden,
        applied=base if base is ABSENT else veiled(base, may_hold, kind.shape),
        change=change,
        ignored=ignored,
    )


def put(document: Json, path: Place, value: Json | Missing, shape: Shape) -> Json:
    """Return a document with another value at a path of names.

    The document is returned unchanged where the path does not exist.
    """
    if not path:
        return document if value is ABSENT else value
    step, rest = path[0], path[1:]
    if isinstance(document, dict) and isinstance(step, str):
        return _put_in_object(document, step, rest, value, shape)
    if isinstance(document, list):
        named = by_identity(document, shape)
        names = [*named] if named is not None else [*range(len(document))]
        if step not in names or (not rest and value is ABSENT):
            return document
        nth = names.index(step)
        return [*document[:nth], put(document[nth], rest, value, shape.item), *document[nth + 1 :]]
    return document


def _put_in_object(
    document: dict[str, Json], step: str, rest: Place, value: Json | Missing, shape: Shape
) -> Json:
    if not rest and value is ABSENT:
        return {key: value for key, value in document.items() if key != step}
    if rest and step not in document:
        return document
    return {**document, step: put(document.get(step), rest, value, shape.at(step))}


def _as_expected(
    kind: Kind, seen: model.Seen, base: Json | Missing, memory: Memory, salt: str
) -> tuple[Json, frozenset[Place]]:
    """Return live with only the edits of people, and the places that the service itself changed.

    No edits are: values that the service rewrote after the last write, fields that it does not
    return, and our own secrets with another value.
    """
    live = seen.document
    if base is ABSENT:
        return live, frozenset()
    wanted = merge(ABSENT, base, live, kind.shape)
    found = list(differences(live, wanted, kind.shape))
    unmade = list(unexpected(found, memory, kind.shape))
    visible = (difference for difference in unmade if not seen.cannot_tell(difference.path))
    edits = {edit.path for edit in without_own_secrets(visible, salt)}
    document: Json = live
    for difference in found:
        if difference.path not in edits and difference.operation != "move":
            document = put(document, difference.path, difference.after, kind.shape)
    made = {difference.path for difference in found} - {difference.path for difference in unmade}
    return document, frozenset(made)


def _new_base(
    sides: MergeInputs,
    change: model.Change,
    seen: model.Seen,
    memory: Memory,
    made: frozenset[Place],
) -> NewBase:
    """Return the base of the next merge: what was declared, with all live edits."""
    kind = BY_NAME[change.ref.kind]
    base = sides.ours if sides.base is ABSENT else sides.base
    own = replace(sides, written=base, ours=base, base=base)
    found = merged(own, kind.shape, MergeOptions(side=Side.THEIRS, plain=True))
    assert isinstance(base, dict)  # noqa: S101 - a spec is one
    declared = base if found.edit is None else followed(base, found.edit, base)
    assert isinstance(declared, dict)  # noqa: S101 - an edit of an object gives one
    live = seen.document
    left = differences(live, merge(ABSENT, declared, live, kind.shape), kind.shape)
    return NewBase(
        declared=declared,
        remote_id=change.remote_id,
        # A field that another writer changed stays unread, so the revision of our last write stays.
        revision=memory.last.revision if seen.overwritten and memory.last else seen.revision,
        seen=digest(live),
        protect=memory.protected,
        leftover=tuple(difference for difference in left if difference.path in made),
    )


def what_is_left(after: model.Change, before: Adoption) -> tuple[Difference, ...]:
    """Return what the next plan would change of a resource that had no pending change in git.

    Changes of git that are not applied yet are left out: the merge does not decide about them.
    """
    if not before.settled or before.conflicts:
        return ()
    return after.differences if after.action is not model.Action.KEEP else ()


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
            path = file.script.path
            replace_text(path, file.name, run.roots, before=file.before, after=file.after)
            reached(Point.FILE_REPLACED)
        entries = [*_entries(made, name, journal.now())]
        warn_of_new_journal(journal, options.reporter, "adopt", begins=bool(entries))
        if entries:
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
        session = self.session
        manifests = session.workspace.manifests
        chosen = set(self.wanted.refs)
        named = [manifest for manifest in manifests if self.wanted.every or manifest.ref in chosen]
        self._find_texts(named)
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
            files=tuple(self.files),
            only_shown=self.wanted.only_shown,
            named=not self.wanted.every,
            selected=session.selected,
        )

    @property
    def folders(self) -> set[Path]:
        return {
            script.path.resolve().parent
            for original in self.originals.values()
            for script in (original.script, original.export)
            if script is not None
        }

    def _find_texts(self, named: Sequence[Manifest]) -> None:
        project = self.session.project
        self.roots = sources_of(manifest_paths(self.options, project), project.root).roots
        read = self.session.workspace.read
        originals = Originals(project.root, self.roots, read, self.session.name)
        found = ((manifest.ref, originals.of(manifest)) for manifest in named)
        self.originals = {ref: original for ref, original in found if original is not None}

    async def _look(self, wanted: Sequence[Manifest]) -> Scene:
        """Return what is observed of the resources to adopt, and of those they refer to.

        Raises what `Api.read` raises.
        """
        session, history = self.session, self.journal.history
        manifests = (*session.workspace.manifests, *session.others)
        examined = {ref for manifest in wanted for ref in (manifest.ref, *manifest.references)}
        named = [manifest for manifest in manifests if manifest.ref in examined]
        async with open_api(session) as api:
            observed = await observe_all(api, named, identify(manifests, history).history)
        known = identify(manifests, history, observed)
        ids = {
            ref: seen.remote_id
            for ref, seen in observed.items()
            if not isinstance(seen, model.Absent) and seen.remote_id is not None
        }
        variables = {
            expression(ExpressionKind.VARIABLE, key): spelled(variable)
            for key, variable in session.environment.variables.items()
            if not isinstance(variable, dict | list)
        }
        references = {
            expression(ExpressionKind.REFERENCE, str(ref)): str(id_) for ref, id_ in ids.items()
        }
        return Scene(
            place=PlanTarget(
                session.name,
                session.target.name,
                embedded=isinstance(session.target, Embedded),
                salt=session.salt(),
                older=OlderSeals(lambda: self.journal.entries),
            ),
            history=known.history,
            rules=MergeOptions(
                side=self.wanted.side,
                values={**variables, **references},
                refs={id_text: reference for reference, id_text in references.items()},
            ),
            ids=ids,
            observations=observed,
            reasons=known.reasons,
            ignore=session.project.settings.drift_ignore,
        )

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
            self.why |= refused
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


FORMATS: Final[Mapping[str, Callable[[AdoptionRun, Style], str]]] = {
    "text": adopted_text,
    "json": lambda made, _: adopted_json(made),
    "markdown": lambda made, _: adopted_markdown(made),
}


@click.command
@click.argument("refs", nargs=-1, metavar="[REF]...")
@options.adopting
@options.selecting
@options.formats(*FORMATS)
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
    text = FORMATS[form](made, stdout_style(verbose=options.verbose))
    return data(text, ending=made.exit_code)
