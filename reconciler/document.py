"""Merge, differences and digests of JSON documents. Pure.

The service renders zero values nobody sent and may drop declared ones, so
wherever a declared document meets a live one, `""`, `0`, `false`, `[]`, `null`
and `*UNSPECIFIED` equal absent; an empty object does not (api-facts.md, 6.2-3).
Numbers are equal by value, booleans are never numbers.
"""

from __future__ import annotations

import hashlib
import json
import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import Final, Literal, TypeAlias, TypeGuard

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"
Path: TypeAlias = tuple[str | int, ...]


class Missing(Enum):
    """The one value that says a document has nothing at a path."""

    ABSENT = "absent"


ABSENT: Final = Missing.ABSENT


@dataclass(frozen=True, slots=True)
class Shape:
    """What is known of one place of a document, and so how it is compared.

    `identity` is the path inside a list item that names it; `alternatives` are
    groups of fields of which an object has one at most.
    """

    fields: Mapping[str, Shape] = field(default_factory=lambda: MappingProxyType({}))
    items: Shape | None = None
    values: Shape | None = None
    identity: tuple[str, ...] = ()
    alternatives: tuple[frozenset[str], ...] = ()
    unordered: bool = False
    numeric_text: bool = False

    def at(self, key: str) -> Shape:
        """Give the shape of the value under `key`; `ANY` where nothing is known."""
        return self.fields.get(key) or self.values or ANY

    @property
    def item(self) -> Shape:
        """The shape of a list's items; `ANY` where nothing is known."""
        return self.items or ANY

    @property
    def known(self) -> bool:
        """Whether the inner fields are known at all."""
        return bool(self.fields or self.items or self.values)


ANY: Final = Shape()

Operation: TypeAlias = Literal["add", "remove", "change", "move"]


@dataclass(frozen=True, slots=True)
class Difference:
    """One field that a write would change.

    `path` names items of keyed lists by their identity and others by index.
    For a move, `before` and `after` are positions counted from 0.
    """

    path: Path
    before: Json | Missing
    after: Json | Missing
    operation: Operation = "change"


def is_zero(value: Json | Missing) -> bool:
    """Tell whether a service may render or drop `value` at will (api-facts.md, 6.3)."""
    if isinstance(value, str):
        return value == "" or (value.endswith("UNSPECIFIED") and value.isupper())
    return value is ABSENT or value is None or value == [] or (_is_number(value) and value == 0)


def same(before: Json | Missing, after: Json | Missing, shape: Shape = ANY) -> bool:
    """Tell whether two documents are one to the service."""
    return next(_walk(before, after, shape, ()), None) is None


def identical(one: Json, other: Json) -> bool:
    """Tell at C speed that two documents are equal; False may still mean `same`.

    Python takes True for 1, so equal containers are compared by their text too.
    """
    if one != other:
        return False
    if isinstance(one, dict | list):
        return _text(one) == _text(other)
    return isinstance(one, bool) == isinstance(other, bool)


def merge(base: Json | Missing, declared: Json, live: Json | Missing, shape: Shape = ANY) -> Json:
    """Give the whole document to send: what is declared over what is live.

    What was declared before (`base`) and no longer is goes; what was never
    declared stays as it is live. Lists belong to the declaration: their members
    and their order are the declared ones, and a member keeps the live fields
    that were never declared.
    """
    if isinstance(declared, dict) and isinstance(live, dict):
        return _merge_object(base if isinstance(base, dict) else {}, declared, live, shape)
    if isinstance(declared, list) and isinstance(live, list) and not shape.unordered:
        return _merge_list(base if isinstance(base, list) else [], declared, live, shape)
    return declared


def _merge_object(
    base: dict[str, Json], declared: dict[str, Json], live: dict[str, Json], shape: Shape
) -> dict[str, Json]:
    if not shape.known and declared and live and declared.keys().isdisjoint(live):
        # Unknown objects that share no key are two choices, `{all}` and `{list}`, not one object.
        return declared
    ousted = {
        key
        for group in shape.alternatives
        if not group.isdisjoint(declared)
        for key in group - declared.keys()
    }
    merged: dict[str, Json] = {
        key: merge(base.get(key, ABSENT), value, live[key], shape.at(key)) if key in live else value
        for key, value in declared.items()
    }
    kept = live.keys() - declared.keys() - base.keys() - ousted
    merged.update((key, value) for key, value in live.items() if key in kept)
    return merged


def _merge_list(
    base: list[Json], declared: list[Json], live: list[Json], shape: Shape
) -> list[Json]:
    item = shape.item
    mine, theirs = by_identity(declared, shape), by_identity(live, shape)
    if mine is not None and theirs is not None:
        before = by_identity(base, shape) or {}
        return [
            merge(before.get(key, ABSENT), value, theirs.get(key, ABSENT), item)
            for key, value in mine.items()
        ]
    partners = dict(_aligned(declared, live, item))
    return [
        merge(
            base[index] if index < len(base) == len(declared) else ABSENT,
            value,
            live[partners[index]] if index in partners else ABSENT,
            item,
        )
        for index, value in enumerate(declared)
    ]


def overlay(below: Json | Missing, above: Json | Missing) -> Json | Missing:
    """Give a base for `merge` that holds every field either document holds."""
    if above is ABSENT:
        return below
    if isinstance(below, dict) and isinstance(above, dict):
        joined: dict[str, Json] = dict(below)
        for key, value in above.items():
            inner = overlay(below.get(key, ABSENT), value)
            joined[key] = value if inner is ABSENT else inner
        return joined
    return above


def by_identity(items: Sequence[Json], shape: Shape) -> dict[str, Json] | None:
    """Index list items by their identity; None where an item has none or two share one."""
    if not shape.identity:
        return None
    indexed: dict[str, Json] = {}
    for item in items:
        key = value_at(item, shape.identity)
        if not isinstance(key, str) or key == "" or key in indexed:
            return None
        indexed[key] = item
    return indexed


def value_at(document: Json | Missing, path: Sequence[str | int]) -> Json | Missing:
    """Give the value at a path of keys and indices, `ABSENT` where there is none."""
    for step in path:
        if isinstance(document, dict) and isinstance(step, str):
            document = document.get(step, ABSENT)
        elif isinstance(document, list) and isinstance(step, int) and step < len(document):
            document = document[step]
        else:
            return ABSENT
    return document


def _aligned(left: list[Json], right: list[Json], shape: Shape) -> Iterator[tuple[int, int]]:
    """Pair items of two lists that have no identity: all of them where the lengths agree.

    Else the common head and tail, which pairs rightly around one insertion or removal.
    """
    if len(left) == len(right):
        yield from zip(range(len(left)), range(len(right)), strict=True)
        return
    shorter = min(len(left), len(right))
    head = 0
    while head < shorter and covers(right[head], left[head], shape):
        yield head, head
        head += 1
    tail = 1
    while tail <= shorter - head and covers(right[-tail], left[-tail], shape):
        yield len(left) - tail, len(right) - tail
        tail += 1


def covers(live: Json | Missing, declared: Json, shape: Shape = ANY) -> bool:
    """Tell whether `live` holds all that is declared, whatever it adds by itself."""
    return same(live, merge(ABSENT, declared, live, shape), shape)


def differences(
    before: Json | Missing, after: Json | Missing, shape: Shape = ANY, path: Path = ()
) -> Iterator[Difference]:
    """Yield the fields in which `after` differs from `before`, in the order of `after`.

    Equality comes first; a part of unknown shape that did change is handed to
    deepdiff, which finds the inserted item in a list that has no identities.
    """
    for difference in _walk(before, after, shape, path):
        if isinstance(difference, _Changed):
            yield from _unknown_differences(difference)
        else:
            yield difference


@dataclass(frozen=True, slots=True)
class _Changed:
    """A container of unknown shape that changed somewhere inside."""

    path: Path
    before: Json
    after: Json


def _walk(
    before: Json | Missing, after: Json | Missing, shape: Shape, path: Path
) -> Iterator[Difference | _Changed]:
    if isinstance(before, dict) and isinstance(after, dict):
        if identical(before, after):
            return
        inner = _object_differences(before, after, shape, path)
    elif isinstance(before, list) and isinstance(after, list):
        if identical(before, after):
            return
        inner = _list_differences(before, after, shape, path)
    elif _same_value(before, after, shape):
        return
    else:
        yield Difference(path, before, after, _operation(before, after))
        return
    if shape.known or shape.identity or shape.unordered:
        yield from inner
    elif next(inner, None) is not None:
        yield _Changed(path, before, after)


def _operation(before: Json | Missing, after: Json | Missing) -> Operation:
    if before is ABSENT:
        return "add"
    return "remove" if after is ABSENT else "change"


def _same_value(before: Json | Missing, after: Json | Missing, shape: Shape) -> bool:
    if is_zero(before) and is_zero(after):
        kinds = _zero_kind(before), _zero_kind(after)
        return None in kinds or kinds[0] is kinds[1]
    if shape.numeric_text:
        return _as_number(before) == _as_number(after)
    if _is_number(before) and _is_number(after):
        return before == after and isinstance(before, bool) == isinstance(after, bool)
    if isinstance(before, str) and isinstance(after, str):
        return before == after
    return type(before) is type(after) and before == after


def _zero_kind(value: Json | Missing) -> type | None:
    """Tell zeros of two kinds apart: `""` and 0 differ, though each equals absent."""
    if value is ABSENT or value is None:
        return None
    return float if isinstance(value, int) and not isinstance(value, bool) else type(value)


def _as_number(value: Json | Missing) -> Json | Missing:
    if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,19}", value):
        return int(value)
    return value


def _is_number(value: Json | Missing) -> TypeGuard[int | float]:
    return isinstance(value, int | float)


def _object_differences(
    before: dict[str, Json], after: dict[str, Json], shape: Shape, path: Path
) -> Iterator[Difference | _Changed]:
    for key, value in after.items():
        yield from _walk(before.get(key, ABSENT), value, shape.at(key), (*path, key))
    for key, value in before.items():
        if key not in after:
            yield from _walk(value, ABSENT, shape.at(key), (*path, key))


def _list_differences(
    before: list[Json], after: list[Json], shape: Shape, path: Path
) -> Iterator[Difference | _Changed]:
    if shape.unordered:
        if _members(before) != _members(after):
            yield Difference(path, before, after)
        return
    old, new = by_identity(before, shape), by_identity(after, shape)
    if old is not None and new is not None:
        yield from _keyed_differences(old, new, shape.item, path)
    elif any(isinstance(item, dict | list) for item in (*before, *after)):
        yield from _indexed_differences(before, after, shape.item, path)
    elif len(before) != len(after) or not all(
        same(one, other, shape.item) for one, other in zip(before, after, strict=True)
    ):
        yield Difference(path, before, after)


def _members(items: list[Json]) -> list[str]:
    return sorted(map(canonical_text, items))


def _keyed_differences(
    before: dict[str, Json], after: dict[str, Json], shape: Shape, path: Path
) -> Iterator[Difference | _Changed]:
    was = {key: index for index, key in enumerate(before)}
    moved = _moved([was[key] for key in after if key in was])
    for index, (key, value) in enumerate(after.items()):
        if key not in was:
            yield Difference((*path, key), ABSENT, value, "add")
            continue
        if was[key] in moved:
            yield Difference((*path, key), was[key], index, "move")
        yield from _walk(before[key], value, shape, (*path, key))
    for key, value in before.items():
        if key not in after:
            yield Difference((*path, key), value, ABSENT, "remove")


def _moved(positions: list[int]) -> set[int]:
    """Give the fewest positions whose items must move, the rest being in order already.

    These are all but a longest increasing subsequence, found in n log n.
    """
    tails: list[int] = []
    tail_positions: list[int] = []
    previous: list[int] = []
    for index, position in enumerate(positions):
        place = bisect_left(tail_positions, position)
        previous.append(tails[place - 1] if place else -1)
        tails[place : place + 1] = [index]
        tail_positions[place : place + 1] = [position]
    stay: set[int] = set()
    index = tails[-1] if tails else -1
    while index >= 0:
        stay.add(positions[index])
        index = previous[index]
    return set(positions) - stay


def _indexed_differences(
    before: list[Json], after: list[Json], shape: Shape, path: Path
) -> Iterator[Difference | _Changed]:
    partners = {new: old for old, new in _aligned(before, after, shape)}
    for index, value in enumerate(after):
        old = before[partners[index]] if index in partners else ABSENT
        yield from _walk(old, value, shape, (*path, index))
    for index in sorted(set(range(len(before))) - set(partners.values())):
        yield Difference((*path, index), before[index], ABSENT, "remove")


def _unknown_differences(part: _Changed) -> Iterator[Difference]:
    from deepdiff import DeepDiff  # noqa: PLC0415 - heavy, and needed by few plans

    tree = DeepDiff(part.before, part.after, view="tree", threshold_to_diff_deeper=0)
    found: list[Difference] = []
    for levels in tree.values():
        for level in levels:
            before = ABSENT if _is_deepdiff_missing(level.t1) else level.t1
            after = ABSENT if _is_deepdiff_missing(level.t2) else level.t2
            if not same(before, after):
                path = (*part.path, *level.path(output_format="list"))
                found.append(Difference(path, before, after, _operation(before, after)))
    yield from sorted(found, key=lambda difference: list(map(str, difference.path)))


def _is_deepdiff_missing(value: object) -> bool:
    return type(value).__name__ == "NotPresent"


def canonical_text(document: Json) -> str:
    """Give the one text of a document: keys sorted, numbers by value, no spaces."""
    text = _text(document)
    return _text(_canonical(document)) if _INTEGRAL_FLOAT.search(text) else text


def digest(document: Json) -> str:
    """Give `sha256:…` of the canonical text."""
    return "sha256:" + hashlib.sha256(canonical_text(document).encode()).hexdigest()


_INTEGRAL_FLOAT = re.compile(r"\d(?:\.0|e)")
_ENCODER = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, check_circular=False
)


def _text(document: Json) -> str:
    return _ENCODER.encode(document)


def _canonical(document: Json) -> Json:
    if isinstance(document, dict):
        return {key: _canonical(value) for key, value in document.items()}
    if isinstance(document, list):
        return [_canonical(item) for item in document]
    if isinstance(document, float) and document.is_integer():
        return int(document)
    return document
