"""Identity: which object of the service each manifest is about, before any decision. Pure.

Memory follows the object, not the name. A manifest with another name for the same id, slug or list
is the same resource: the journal's memory and protection go with it. Two manifests that are about
one object would overwrite each other again and again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from reconciler.document import Json, canonical_text, value_at
from reconciler.journal.history import History, Memory, renamed_memory
from reconciler.kinds import BY_NAME
from reconciler.kinds.kind import Kind
from reconciler.model import (
    Absent,
    AnotherObject,
    Manifest,
    Observation,
    Reason,
    Ref,
    RemoteId,
    RenamedFrom,
    SameObject,
)

LiveObject: TypeAlias = tuple[str, RemoteId | None]
"""An object of the service: its kind and its id; the id of a singleton list is None."""

ALIKE = 0.5
"""From this share of equal fields on, two documents may be one resource under two names."""


@dataclass(frozen=True, slots=True)
class Identities:
    """The object of each manifest.

    `history` holds the memories under the names that are declared now. `reasons` say that a
    manifest was renamed, is about another object now, or shares its object.
    """

    history: History
    reasons: Mapping[Ref, tuple[Reason, ...]] = field(default_factory=dict)

    def shared(self, ref: Ref) -> SameObject | None:
        """Return the manifests that share an object with this one; None where there is none."""
        found = (reason for reason in self.reasons.get(ref, ()) if isinstance(reason, SameObject))
        return next(found, None)


def identify(
    manifests: Sequence[Manifest],
    history: History,
    observed: Mapping[Ref, Observation] | None = None,
) -> Identities:
    """Return which object each manifest is about: by its own id, by look-up, or by the journal.

    `observed` is what look-ups found, where they were made already.
    """
    objects = {
        manifest.ref: _meant(manifest, history, (observed or {}).get(manifest.ref))
        for manifest in manifests
    }
    claims: dict[LiveObject, list[Ref]] = {}
    for ref, pair in objects.items():
        if pair is not None:
            claims.setdefault(pair, []).append(ref)
    memories: dict[Ref, Memory] = {}
    reasons: dict[Ref, tuple[Reason, ...]] = {}
    owners = _owners(history)
    taken: set[Ref] = set()
    for ref, pair in objects.items():
        own = history.of(ref)
        mine = _object(ref.kind, own)
        rivals = (
            tuple(sorted(rival for rival in claims.get(pair, ()) if rival != ref)) if pair else ()
        )
        if rivals and pair is not None:
            reasons[ref] = (SameObject(rivals, pair[1]),)
            memories[ref] = own
        elif pair is None or mine == pair:
            memories[ref] = own
        else:
            was = next((ref for ref in owners.get(pair, ()) if objects.get(ref) != pair), None)
            memories[ref], reasons[ref] = _followed(ref, own, mine, was, history)
            taken.update(() if was is None else (was,))
    left = {
        ref: memory
        for ref, memory in history.memories.items()
        if ref not in objects and ref not in taken
    }
    for ref, found in reasons.items():
        if ref not in taken and any(isinstance(reason, AnotherObject) for reason in found):
            # The object that the name was about until now still exists, and may be protected.
            left[aside(ref, history)] = history.of(ref)
    known = replace(history, memories={**left, **memories})
    return Identities(known, reasons)


def aside(ref: Ref, history: History) -> Ref:
    """Return the name that keeps a manifest's former object; no manifest can have that name."""
    return Ref(ref.kind, f"{ref.name}~{history.of(ref).remote_id}")


def _followed(
    ref: Ref, own: Memory, mine: LiveObject | None, was: Ref | None, history: History
) -> tuple[Memory, tuple[Reason, ...]]:
    """Return the memory of the object that a manifest is about now, and the reasons."""
    other = AnotherObject(own.remote_id) if mine and own.remote_id is not None else None
    before: tuple[Reason, ...] = (other,) if other is not None else ()
    if was is not None:
        return renamed_memory(history.of(was), ref, own.attempts), (RenamedFrom(was), *before)
    if mine is not None:
        return Memory(attempts=own.attempts, formerly=own.remote_id), before
    # A write in doubt under this name may be about this very object.
    return own, before


def _meant(manifest: Manifest, history: History, seen: Observation | None) -> LiveObject | None:
    """Return the object that a manifest is about, None where it is unknown."""
    kind = BY_NAME[manifest.ref.kind]
    if kind.singleton:
        return kind.name, None
    found = None if seen is None or isinstance(seen, Absent) else seen.remote_id
    own = history.of(manifest.ref)
    known = _declared_id(kind, manifest) if found is None else found
    if known is None or known == own.instead_of:
        known = own.remote_id
    return None if known is None else (kind.name, kind.normal_id(known))


def _declared_id(kind: Kind, manifest: Manifest) -> RemoteId | None:
    unopened = manifest.unopened
    return kind.declared_id(manifest) if unopened is None else unopened.declared_id


def _object(kind: str, memory: Memory) -> LiveObject | None:
    """Return the object that a memory is about, None where there is none."""
    if BY_NAME[kind].singleton:
        return None if memory.is_blank else (kind, None)
    known = memory.remote_id
    return None if known is None else (kind, BY_NAME[kind].normal_id(known))


def _owners(history: History) -> dict[LiveObject, list[Ref]]:
    """Map each object to the names under which the journal remembers it, the newest first."""
    owners: dict[LiveObject, list[Ref]] = {}
    for ref, memory in history.memories.items():
        live_object = _object(ref.kind, memory) if ref.kind in BY_NAME else None
        if live_object is not None:
            owners.setdefault(live_object, []).insert(0, ref)
    return owners


def orphans_in(history: History, manifests: Sequence[Manifest]) -> list[tuple[Ref, Memory]]:
    """Return the resources that were written once and are no longer declared under any name."""
    declared = {manifest.ref for manifest in manifests}
    about = {_object(ref.kind, history.of(ref)) for ref in declared} - {None}
    return [
        (ref, memory)
        for ref, memory in sorted(history.memories.items())
        if memory.exists
        and ref not in declared
        and (ref.kind not in BY_NAME or _object(ref.kind, memory) not in about)
    ]


def displaced_in(history: History, manifests: Sequence[Manifest]) -> list[tuple[Ref, Memory]]:
    """Return the resources written under names that declare something quite different now.

    Names that were exchanged in a circle look like edits, each by itself.
    """
    found = []
    for manifest in manifests:
        memory = history.of(manifest.ref)
        kind = BY_NAME[manifest.ref.kind]
        if memory.last is None or kind.singleton or kind.declared_id(manifest) is not None:
            continue
        if not much_like(manifest.ref.kind, manifest.spec, [(manifest.ref, memory)]):
            found.append((manifest.ref, memory))
    return found


def much_like(
    kind: str, declared: dict[str, Json], orphans: Sequence[tuple[Ref, Memory]]
) -> tuple[Ref, ...]:
    """Return the orphans that may be the declared resource: same title, or similar content."""
    title = value_at(declared, BY_NAME[kind].title)
    leaves = Counter(_leaves(declared))
    found = []
    for ref, memory in orphans:
        before = memory.last.declared if memory.last is not None else None
        if ref.kind != kind or before is None:
            continue
        entitled = isinstance(title, str) and value_at(before, BY_NAME[kind].title) == title
        if entitled or _likeness(leaves, Counter(_leaves(before))) >= ALIKE:
            found.append(ref)
    return tuple(found)


def _likeness(one: Counter[str], other: Counter[str]) -> float:
    most = max(one.total(), other.total())
    return (one & other).total() / most if most else 1.0


def _leaves(document: Json, place: str = "") -> Iterator[str]:
    """Yield each leaf of a document with its path; list items have no index in it."""
    if isinstance(document, dict) and document:
        for key, value in document.items():
            yield from _leaves(value, f"{place}.{key}")
    elif isinstance(document, list) and document:
        for item in document:
            yield from _leaves(item, f"{place}[]")
    else:
        yield f"{place}={canonical_text(document)}"
