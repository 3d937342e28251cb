"""The order of the fields of a manifest, each with the comments above it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class Order:
    """The fields that come `first`, in this order, where all that are `needed` are there."""

    first: Sequence[str] = ()
    needed: Sequence[str] = ()

    def of(self, names: Sequence[str]) -> list[str] | None:
        """Return fields in this order, or None if they already have it or are not complete."""
        leading = [name for name in self.first if name in names]
        if list(names[: len(leading)]) == leading or not set(self.needed).issubset(names):
            return None
        return [*leading, *(name for name in names if name not in leading)]


def order_fields(
    lines: list[str], fields: Sequence[tuple[str, int]], kept: int, order: Order
) -> None:
    """Sort the fields of the last document of these lines.

    `fields` are names and the lines at which they begin. Lines before `kept` are no comments.
    """
    ordered = order.of([name for name, _ in fields])
    if ordered is None:
        return
    places = [place for _, place in fields]
    starts = [places[0]]
    starts += [
        _above(lines, place, max(before + 1, min(kept, place)))
        for before, place in pairwise(places)
    ]
    end = _above(lines, len(lines), max(places[-1] + 1, kept))
    chunks = {
        name: lines[start:stop]
        for (name, _), start, stop in zip(fields, starts, [*starts[1:], end], strict=True)
    }
    made = [line for name in ordered for line in chunks[name]]
    blanks = next(nth for nth, line in enumerate(made) if line)
    lines[starts[0] : end] = made[blanks:]


def _above(lines: Sequence[str], place: int, stop: int) -> int:
    """Return the start of the comments and empty lines directly above a line."""
    while place > stop and lines[place - 1][:1] in ("", "#"):
        place -= 1
    return place
