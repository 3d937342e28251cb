"""What was edited live, resource by resource, as edits of what the manifests declare."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from reconciler.api.client import Api
from reconciler.concealing import veiled
from reconciler.document import (
    ABSENT,
    Difference,
    Edit,
    Json,
    Missing,
    Path,
    Shape,
    by_identity,
    differences,
    digest,
    followed,
    merge,
    same,
)
from reconciler.expressions import Word, expression
from reconciler.journal.history import History, LastWrite, Memory
from reconciler.kinds import BY_NAME
from reconciler.kinds.kind import Kind
from reconciler.planning.consequences import unexpected
from reconciler.planning.deciding import Knowledge, decide, without_own_secrets
from reconciler.planning.identity import identify
from reconciler.planning.merging import Adopted, Conflict, Merged, Rules, Side, Sides, merged
from reconciler.planning.plan import Place, observe_all
from reconciler.resource import (
    NOBODY,
    Absent,
    Action,
    Change,
    Manifest,
    Observation,
    Reason,
    Ref,
    RemoteId,
    Seen,
    Source,
    Unread,
)
from reconciler.resource import (
    Edit as LastEdit,
)

State: TypeAlias = Literal[
    "adopted", "same", "conflict", "refused", "gone", "unseen", "unread", "blocked"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """What the journal is to know of a resource from here on: what is live of what was declared.

    `leftover` is what the service itself made of it.
    """

    declared: dict[str, Json]
    remote_id: RemoteId | None
    revision: str = ""
    seen: str = ""
    protect: bool = False
    leftover: tuple[Difference, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Adoption:
    """What adopting one resource comes to.

    `edit` is one of `spec`, and `moved` what the journal takes up. `last` says who edited live
    last, `why` what stands in the way, and `reason` the same where a plan says so too.
    """

    ref: Ref
    source: Source
    state: State
    edit: Edit | None = None
    adopted: tuple[Adopted, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    moved: Moved | None = None
    last: LastEdit = NOBODY
    why: str = ""
    reasons: tuple[Reason, ...] = ()
    exit_code: int = 0
    is_clean: bool = False
    change: Change | None = field(default=None, repr=False)

    @property
    def writes(self) -> bool:
        """Whether a manifest is to be edited."""
        return self.state == "adopted" and self.edit is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What all adoptions of a run share.

    `values` are the texts of variables by their expressions.
    """

    place: Place
    history: History
    ids: Mapping[Ref, RemoteId]
    observations: Mapping[Ref, Observation]
    values: Mapping[str, str]
    side: Side | None = None
    names: bool = False

    @property
    def rules(self) -> Rules:
        """How conflicts are resolved and what expressions say."""
        references = {
            expression(Word.REFERENCE, str(ref)): str(one) for ref, one in self.ids.items()
        }
        return Rules(
            side=self.side,
            values={**self.values, **references},
            refs={one: said for said, one in references.items()},
            names=self.names,
        )

    def change_of(self, manifest: Manifest) -> Change:
        """Decide what a plan would do with a manifest."""
        memory = self.history.of(manifest.ref)
        return decide(manifest, self._knowledge(manifest.ref, memory))

    def _knowledge(self, ref: Ref, memory: Memory) -> Knowledge:
        seen = self.observations[ref]
        place = self.place
        return Knowledge(seen, memory, self.ids, str(place), place.salt, self.history.seed)

    def change_after(self, manifest: Manifest, moved: Moved) -> Change:
        """Decide what the next plan would do with a manifest, once the journal is kept."""
        last = LastWrite(moved.remote_id, moved.declared, "", revision=moved.revision)
        memory = replace(self.history.of(manifest.ref), last=last, pending=None, earlier=())
        change = decide(manifest, self._knowledge(manifest.ref, memory))
        left = {one.path for one in moved.leftover}
        found = tuple(one for one in change.differences if one.path not in left)
        if change.action is Action.UPDATE and not found:
            return replace(change, action=Action.KEEP, differences=())
        return replace(change, differences=found)


async def look(
    api: Api,
    manifests: Sequence[Manifest],
    wanted: Iterable[Ref],
    history: History,
    place: Place,
    *,
    values: Mapping[str, str],
    side: Side | None,
) -> Scene:
    """Observe what is to be adopted, and what that refers to. Raises what `Api.read` raises."""
    known = identify(manifests, history)
    asked = set(wanted)
    asked |= {ref for one in manifests if one.ref in asked for ref in one.references}
    named = [one for one in manifests if one.ref in asked]
    found = await observe_all(api, named, known.history)
    observed = {one.ref: seen for one, seen in zip(named, found, strict=True)}
    history = identify(manifests, history, observed).history
    ids = {
        ref: seen.remote_id
        for ref, seen in observed.items()
        if not isinstance(seen, Absent) and seen.remote_id is not None
    }
    return Scene(
        place=place, history=history, ids=ids, observations=observed, values=values, side=side
    )


def adoption(manifest: Manifest, written: Json, scene: Scene) -> Adoption:
    """Merge what is live of one resource into what its manifest says.

    `written` is its `spec` before expressions are filled in.
    """
    ref, source = manifest.ref, manifest.source
    seen = scene.observations[ref]
    memory = scene.history.of(ref)
    match seen:
        case Seen():
            change = scene.change_of(manifest)
        case Absent(why=why):
            return Adoption(ref=ref, source=source, state="gone", why=why)
        case Unread(why=why, exit_code=code):
            return Adoption(ref=ref, source=source, state="unread", why=why, exit_code=code)
        case _:
            return Adoption(ref=ref, source=source, state="unseen", why=BY_NAME[ref.kind].limits)
    if memory.pending is not None:
        why = "the answer to a write of it was lost: apply first"
        return Adoption(ref=ref, source=source, state="blocked", why=why)
    if change.action is Action.BLOCKED:
        return Adoption(ref=ref, source=source, state="blocked", reasons=change.reasons)
    return _merged(manifest, written, scene, change, memory)


def _merged(
    manifest: Manifest, written: Json, scene: Scene, change: Change, memory: Memory
) -> Adoption:
    kind = BY_NAME[manifest.ref.kind]
    seen = change.observation
    assert isinstance(seen, Seen)  # noqa: S101 - asked before
    base: Json | Missing = memory.last.declared if memory.last is not None else ABSENT
    told, made = _as_expected(kind, seen, base, memory, scene.place.salt)
    hidden = veiled(told, tuple(filter(None, (*memory.candidates, change.declared))), kind.shape)
    sides = Sides(written=written, ours=change.declared, base=base, live=told, shown=hidden)
    found = merged(sides, kind.shape, scene.rules)
    moved = _moved(kind, sides, change, memory, made)
    is_clean = base is not ABSENT and same(base, change.declared, kind.exact_shape)
    state: State = (
        "conflict" if found.open else "adopted" if _does(found, moved, memory) else "same"
    )
    return Adoption(
        ref=manifest.ref,
        source=manifest.source,
        state=state,
        edit=None if found.open else found.edit,
        adopted=tuple(found.adopted),
        conflicts=tuple(found.conflicts),
        moved=None if found.open else moved,
        last=seen.edit,
        is_clean=is_clean,
        change=change,
    )


def _does(found: Merged, moved: Moved, memory: Memory) -> bool:
    """Tell whether there is something to write down, be it in the journal alone."""
    last = memory.last
    return found.edit is not None or last is None or last.declared != moved.declared


def _as_expected(
    kind: Kind, seen: Seen, base: Json | Missing, memory: Memory, salt: str
) -> tuple[Json, frozenset[Path]]:
    """Give what is live without what is no edit, and the places that the service itself changed.

    No edit is what it made of the last write, what nobody can tell, and a secret that is still
    ours under another value.
    """
    live = seen.document
    if base is ABSENT:
        return live, frozenset()
    wanted = merge(ABSENT, base, live, kind.shape)
    found = list(differences(live, wanted, kind.shape))
    unmade = list(unexpected(found, memory, kind.shape))
    told = (one for one in unmade if not seen.cannot_tell(one.path))
    edits = without_own_secrets(told, salt)
    paths = {one.path for one in edits}
    document: Json = live
    for one in found:
        if one.path not in paths and one.operation != "move":
            document = _put(document, one.path, one.after, kind.shape)
    return document, frozenset(one.path for one in found) - {one.path for one in unmade}


def _put(document: Json, path: Path, value: Json | Missing, shape: Shape) -> Json:
    """Give a document with another value at a path that names items; itself where nothing is."""
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
        after = _put(document[nth], rest, value, shape.item)
        return [*document[:nth], after, *document[nth + 1 :]]
    return document


def _put_in_object(
    document: dict[str, Json], step: str, rest: Path, value: Json | Missing, shape: Shape
) -> Json:
    if not rest and value is ABSENT:
        return {key: one for key, one in document.items() if key != step}
    if rest and step not in document:
        return document
    inner = _put(document.get(step), rest, value, shape.at(step))
    return {**document, step: inner}


def _moved(
    kind: Kind, sides: Sides, change: Change, memory: Memory, made: frozenset[Path]
) -> Moved:
    """Give the base of the next merge: what was declared, with all that was edited live."""
    base = sides.ours if sides.base is ABSENT else sides.base
    own = replace(sides, written=base, ours=base, base=base)
    found = merged(own, kind.shape, Rules(side=Side.THEIRS, plain=True))
    assert isinstance(base, dict)  # noqa: S101 - a spec is one
    declared = base if found.edit is None else followed(base, found.edit, base)
    assert isinstance(declared, dict)  # noqa: S101 - an edit of an object gives one
    seen = change.observation
    assert isinstance(seen, Seen)  # noqa: S101 - asked before
    live = seen.document
    wanted = merge(ABSENT, declared, live, kind.shape)
    left = differences(live, wanted, kind.shape)
    return Moved(
        declared=declared,
        remote_id=change.remote_id,
        revision=seen.revision,
        seen=digest(live),
        protect=memory.protected,
        leftover=tuple(one for one in left if one.path in made),
    )


def what_is_left(after: Change, before: Adoption) -> tuple[Difference, ...]:
    """Give what the next plan would change of a resource that was as applied before it was edited.

    What git changed itself, and is not applied yet, is for no merge to decide.
    """
    if not before.is_clean or before.conflicts:
        return ()
    return after.differences if after.action is not Action.KEEP else ()
