"""In what two documents differ, field by field."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import takewhile
from typing import Literal, TypeAlias

from reconciler.document.shape import ANY, Shape, by_identity
from reconciler.document.values import (
    ABSENT,
    Json,
    Missing,
    Path,
    canonical_text,
    identical,
    same_value,
)

Operation: TypeAlias = Literal["add", "remove", "change", "move"]


@dataclass(frozen=True, slots=True)
class Difference:
    """One field that a write would change.

    `path` names items of keyed lists by their identity and others by index, as
    they stand after the write; what is removed, as it stood before. For a
    move, `before` and `after` are positions counted from 0.
    """

    path: Path
    before: Json | Missing
    after: Json | Missing
    operation: Operation = "change"


def same(before: Json | Missing, after: Json | Missing, shape: Shape = ANY) -> bool:
    """Tell whether two documents are one to the service."""
    return next(differences(before, after, shape), None) is None


def differences(
    before: Json | Missing, after: Json | Missing, shape: Shape = ANY, path: Path = ()
) -> Iterator[Difference]:
    """Yield the fields in which `after` differs from `before`, in the order of `after`.

    What is the same object, or equal, is never walked.
    """
    if before is after:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        if not identical(before, after):
            yield from _object_differences(before, after, shape, path)
    elif isinstance(before, list) and isinstance(after, list):
        if not identical(before, after):
            yield from _list_differences(before, after, shape, path)
    elif not same_value(before, after, numeric_text=shape.numeric_text):
        yield Difference(path, before, after, _operation(before, after))


def _operation(before: Json | Missing, after: Json | Missing) -> Operation:
    if before is ABSENT:
        return "add"
    return "remove" if after is ABSENT else "change"


def _object_differences(
    before: dict[str, Json], after: dict[str, Json], shape: Shape, path: Path
) -> Iterator[Difference]:
    for key, value in after.items():
        yield from differences(before.get(key, ABSENT), value, shape.at(key), (*path, key))
    for key, value in before.items():
        if key not in after:
            yield from differences(value, ABSENT, shape.at(key), (*path, key))


def _list_differences(
    before: list[Json], after: list[Json], shape: Shape, path: Path
) -> Iterator[Difference]:
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
) -> Iterator[Difference]:
    was = {key: index for index, key in enumerate(before)}
    moved = _moved([was[key] for key in after if key in was])
    for index, (key, value) in enumerate(after.items()):
        if key not in was:
            yield Difference((*path, key), ABSENT, value, "add")
            continue
        if was[key] in moved:
            yield Difference((*path, key), was[key], index, "move")
        yield from differences(before[key], value, shape, (*path, key))
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
) -> Iterator[Difference]:
    partners = _partners(before, after, shape)
    for index, value in enumerate(after):
        if index in partners:
            yield from differences(before[partners[index]], value, shape, (*path, index))
        else:
            yield Difference((*path, index), ABSENT, value, "add")
    for index in sorted(set(range(len(before))) - set(partners.values())):
        yield Difference((*path, index), before[index], ABSENT, "remove")


def _partners(before: list[Json], after: list[Json], shape: Shape) -> dict[int, int]:
    """Give for each index after the write the index before it, where there is one.

    Items without identity that are the same at both ends belong together. Those
    between are found again by their text, and what changed between two that
    were found stands for what stood there before.
    """
    head = _common(zip(before, after, strict=False), shape)
    shorter = min(len(before), len(after)) - head
    tail = _common(zip(before[::-1][:shorter], after[::-1][:shorter], strict=True), shape)
    partners = {index: index for index in range(head)}
    partners.update((len(after) - 1 - index, len(before) - 1 - index) for index in range(tail))
    old = list(map(canonical_text, before[head : len(before) - tail]))
    new = list(map(canonical_text, after[head : len(after) - tail]))
    for tag, first, last, new_first, new_last in SequenceMatcher(None, old, new).get_opcodes():
        if tag in ("equal", "replace"):
            found = range(head + new_first, head + new_last), range(head + first, head + last)
            partners.update(zip(*found, strict=False))
    return partners


def _common(pairs: Iterable[tuple[Json, Json]], shape: Shape) -> int:
    return sum(1 for _ in takewhile(lambda pair: same(*pair, shape), pairs))
