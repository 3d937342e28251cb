"""Live edits of each resource, as edits of the manifests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import assert_never

from reconciler import model
from reconciler.api.client import Api
from reconciler.document import (
    ABSENT,
    Difference,
    Json,
    Missing,
    Path,
    Shape,
    by_identity,
    covers,
    differences,
    digest,
    followed,
    merge,
    same,
)
from reconciler.features.adopt.adoption import Adoption, AdoptionState, NewBase, Side
from reconciler.features.adopt.merge_fields import MergeInputs, MergeOptions, joined, merged
from reconciler.journal.entries import LastWrite
from reconciler.journal.history import History, Memory
from reconciler.kinds import BY_NAME
from reconciler.kinds.kind import Kind
from reconciler.kinds.shape import in_usual_order
from reconciler.planning.consequences import unexpected
from reconciler.planning.decide import (
    Knowledge,
    Older,
    OlderSecrets,
    decide,
    no_seals,
    without_own_secrets,
)
from reconciler.planning.find_drift import covers_ends, is_covered
from reconciler.planning.make_plan import PlanTarget, identify
from reconciler.planning.observe import observe_all
from reconciler.project.settings import DriftIgnore
from reconciler.redaction.redact import veiled
from reconciler.runtime.advice import declared_id
from reconciler.syntax.expressions import ExpressionKind, expression


def without_expected(
    live: Json, declared: Json, shape: Shape, rules: Sequence[DriftIgnore]
) -> tuple[Json, int]:
    """Return live with each expected difference set as declared, and their number."""
    if not rules:
        return live, 0
    wanted = merge(ABSENT, declared, live, shape)
    found = differences(live, wanted, shape)
    count = sum(any(is_covered(rule, difference) for rule in rules) for difference in found)
    if not count:
        return live, 0
    held = _held(live, wanted, shape, (), rules)
    return live if held is ABSENT else held, count


def _held(
    live: Json | Missing,
    wanted: Json | Missing,
    shape: Shape,
    path: Path,
    rules: Sequence[DriftIgnore],
) -> Json | Missing:
    """Return a part of live in which each place that a rule covers is as in `wanted`."""
    whole = live if wanted is ABSENT else wanted
    alone = live is ABSENT or wanted is ABSENT
    if any(rule.covers(path) or (alone and covers_ends(rule, whole, path)) for rule in rules):
        return wanted
    if isinstance(live, dict) and isinstance(wanted, dict):
        fields = {
            key: _held(
                live.get(key, ABSENT), wanted.get(key, ABSENT), shape.at(key), (*path, key), rules
            )
            for key in {**live, **wanted}
        }
        return {key: field for key, field in fields.items() if field is not ABSENT}
    if isinstance(live, list) and isinstance(wanted, list):
        return _held_items(live, wanted, shape, path, rules)
    return live


def _held_items(
    live: list[Json], wanted: list[Json], shape: Shape, path: Path, rules: Sequence[DriftIgnore]
) -> Json:
    """Do the same for a list: by the names of its items, or by position where lengths are equal."""
    theirs, mine = by_identity(live, shape), by_identity(wanted, shape)
    if theirs is None or mine is None:
        if len(live) != len(wanted):
            return live
        held = [
            _held(element, other, shape.item, (*path, nth), rules)
            for nth, (element, other) in enumerate(zip(live, wanted, strict=True))
        ]
    else:
        names = joined([*theirs], [*mine])
        if all(any(rule.covers((*path, name)) for rule in rules) for name in names):
            return wanted
        pairs = ((name, theirs.get(name, ABSENT), mine.get(name, ABSENT)) for name in names)
        held = [
            _held(element, other, shape.item, (*path, name), rules)
            for name, element, other in pairs
        ]
    return [item for item in held if item is not ABSENT]


def put(document: Json, path: Path, value: Json | Missing, shape: Shape) -> Json:
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
    document: dict[str, Json], step: str, rest: Path, value: Json | Missing, shape: Shape
) -> Json:
    if not rest and value is ABSENT:
        return {key: value for key, value in document.items() if key != step}
    if rest and step not in document:
        return document
    return {**document, step: put(document.get(step), rest, value, shape.at(step))}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """The inputs that all adoptions of a run share.

    `rules` are the options of each merge. `told` are the reasons why it is not certain, or not in
    the journal yet, which object a manifest is about. What rules of `ignore` cover is left alone.
    `older` returns the seals of secrets that a resource ever held.
    """

    place: PlanTarget
    history: History
    rules: MergeOptions
    ids: Mapping[model.Ref, model.RemoteId] = field(default_factory=dict)
    observations: Mapping[model.Ref, model.Observation] = field(default_factory=dict)
    told: Mapping[model.Ref, tuple[model.Reason, ...]] = field(default_factory=dict)
    ignore: Sequence[DriftIgnore] = ()
    older: Older = no_seals

    def about(self, ref: model.Ref) -> list[DriftIgnore]:
        """Return the rules of expected drift that are about a resource."""
        return [rule for rule in self.ignore if rule.is_about(ref.kind, ref.name)]

    def change_of(self, manifest: model.Manifest) -> model.Change:
        """Return what a plan would do with a manifest."""
        return decide(manifest, self._knowledge(manifest.ref, self.history.of(manifest.ref)))

    def _knowledge(self, ref: model.Ref, memory: Memory) -> Knowledge:
        seen = self.observations[ref]
        place = self.place
        return Knowledge(
            seen, memory, self.ids, place=str(place), salt=place.salt, seed=self.history.seed
        )

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
        change = decide(manifest, self._knowledge(manifest.ref, memory))
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


async def look(
    api: Api, manifests: Sequence[model.Manifest], wanted: Iterable[model.Ref], scene: Scene
) -> Scene:
    """Return a scene with what is observed of the resources to adopt and those they refer to.

    Raises what `Api.read` raises.
    """
    known = identify(manifests, scene.history)
    examined = set(wanted)
    examined |= {
        ref for manifest in manifests if manifest.ref in examined for ref in manifest.references
    }
    named = [manifest for manifest in manifests if manifest.ref in examined]
    found = await observe_all(api, named, known.history)
    observed = {manifest.ref: seen for manifest, seen in zip(named, found, strict=True)}
    known = identify(manifests, scene.history, observed)
    ids = {
        ref: seen.remote_id
        for ref, seen in observed.items()
        if not isinstance(seen, model.Absent) and seen.remote_id is not None
    }
    references = {
        expression(ExpressionKind.REFERENCE, str(ref)): str(id_) for ref, id_ in ids.items()
    }
    rules = replace(
        scene.rules,
        values={**scene.rules.values, **references},
        refs={reference: id_text for id_text, reference in references.items()},
    )
    return replace(
        scene,
        history=known.history,
        rules=rules,
        ids=ids,
        observations=observed,
        told=known.reasons,
    )


def adoption(manifest: model.Manifest, written: Json, scene: Scene) -> Adoption:
    """Merge the live edits of one resource into its manifest.

    `written` is its `spec` before expressions are filled in.
    """
    made = partial(Adoption, ref=manifest.ref, source=manifest.source)
    seen = scene.observations[manifest.ref]
    match seen:
        case model.Seen():
            return _adoption(manifest, written, scene)
        case model.Absent(why=why):
            return made(state="gone", why=why)
        case model.Unread(why=why, exit_code=code):
            return made(state="unread", why=why, exit_code=code)
        case model.Remembered() | model.Unknown():
            kind = BY_NAME[manifest.ref.kind]
            known = kind.declared_id(manifest) or scene.history.of(manifest.ref).remote_id
            way = f" If it is there, write `{declared_id()}` into its `metadata`."
            return made(state="unseen", why=kind.limits if known else f"{kind.limits}{way}")
        case _:
            assert_never(seen)


def _adoption(manifest: model.Manifest, written: Json, scene: Scene) -> Adoption:
    """Merge a resource that was seen, unless its identity or state blocks it."""
    blocked = partial(Adoption, ref=manifest.ref, source=manifest.source, state="blocked")
    if reasons := scene.told.get(manifest.ref):
        return blocked(reasons=reasons)
    memory = scene.history.of(manifest.ref)
    if memory.pending is not None:
        return blocked(why="the answer to a write of it was lost: apply first")
    change = scene.change_of(manifest)
    # A field that every write needs may be missing here: nothing is sent, now or by the next plan.
    if change.action is model.Action.BLOCKED and not isinstance(
        change.reasons[0], model.NeededUnseen
    ):
        return blocked(reasons=change.reasons)
    return _merged(manifest, written, scene, change, memory)


def _merged(
    manifest: model.Manifest, written: Json, scene: Scene, change: model.Change, memory: Memory
) -> Adoption:
    kind = BY_NAME[manifest.ref.kind]
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
        return Adoption(ref=manifest.ref, source=manifest.source, state="same", last=seen.edit)
    edited, made = _as_expected(kind, seen, base, memory, scene.place.salt)
    about = scene.about(manifest.ref)
    edited, ignored = without_expected(edited, ours if base is ABSENT else base, kind.shape, about)
    may_hold = tuple(filter(None, (*memory.candidates, ours)))
    older = OlderSecrets(scene.older(manifest.ref, memory.remote_id), ours, scene.place.salt)
    hidden = older.hidden(veiled(edited, may_hold, kind.shape))
    live = in_usual_order(edited, kind.spec) if isinstance(edited, dict) else edited
    sides = MergeInputs(written=written, ours=ours, base=base, live=live, shown=hidden)
    found = merged(sides, kind.shape, replace(scene.rules, unseen=seen.unseen))
    new = _new_base(kind, sides, change, memory, made)
    last = memory.last
    is_news = found.edit is not None or last is None or last.declared != new.declared
    state: AdoptionState = "conflict" if found.open else "adopted" if is_news else "same"
    return Adoption(
        ref=manifest.ref,
        source=manifest.source,
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


def _as_expected(
    kind: Kind, seen: model.Seen, base: Json | Missing, memory: Memory, salt: str
) -> tuple[Json, frozenset[Path]]:
    """Return live with only its edits, and the places that the service itself changed.

    These are no edits: values that the service rewrote after the last write, fields that it does
    not return, and our own secrets with another value.
    """
    live = seen.document
    if base is ABSENT:
        return live, frozenset()
    found = list(differences(live, merge(ABSENT, base, live, kind.shape), kind.shape))
    unmade = list(unexpected(found, memory, kind.shape))
    visible = (difference for difference in unmade if not seen.cannot_tell(difference.path))
    edits = without_own_secrets(visible, salt)
    paths = {edit.path for edit in edits}
    document: Json = live
    for difference in found:
        if difference.path not in paths and difference.operation != "move":
            document = put(document, difference.path, difference.after, kind.shape)
    return document, frozenset(difference.path for difference in found) - {
        difference.path for difference in unmade
    }


def _new_base(
    kind: Kind, sides: MergeInputs, change: model.Change, memory: Memory, made: frozenset[Path]
) -> NewBase:
    """Return the base of the next merge: what was declared, with all live edits."""
    base = sides.ours if sides.base is ABSENT else sides.base
    own = replace(sides, written=base, ours=base, base=base)
    found = merged(own, kind.shape, MergeOptions(side=Side.THEIRS, plain=True))
    assert isinstance(base, dict)  # noqa: S101 - a spec is one
    declared = base if found.edit is None else followed(base, found.edit, base)
    assert isinstance(declared, dict)  # noqa: S101 - an edit of an object gives one
    seen = change.observation
    assert isinstance(seen, model.Seen)  # noqa: S101 - asked before
    live = seen.document
    left = differences(live, merge(ABSENT, declared, live, kind.shape), kind.shape)
    return NewBase(
        declared=declared,
        remote_id=change.remote_id,
        # A field that another overwrote stays unread: the revision stays that of our last write.
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
