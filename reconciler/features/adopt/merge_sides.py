"""The sides of one place of a resource, and how live values are written in a manifest. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, TypeVar

from reconciler.document import (
    ABSENT,
    Edit,
    Json,
    Missing,
    Path,
    Shape,
    covers,
    is_zero,
)
from reconciler.features.adopt.adoption import Adopted, Conflict, Side
from reconciler.redaction.templates import HIDDEN
from reconciler.syntax.expressions import (
    OPEN,
    Expression,
    parts_of,
)

_Side = TypeVar("_Side", bound="Json | Missing")


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeInputs:
    """One place of a resource, from all sides.

    `written` is what the manifest has there, with expressions. `ours` is the same with expressions
    filled in. `shown` is live, hidden wherever a secret belongs.
    """

    written: Json | Missing
    ours: Json | Missing
    base: Json | Missing
    live: Json | Missing
    shown: Json | Missing

    def at(self, key: str) -> MergeInputs:
        """Return the sides of a field."""
        return MergeInputs(
            written=_field(self.written, key),
            ours=_field(self.ours, key),
            base=_field(self.base, key),
            live=_field(self.live, key),
            shown=_field(self.shown, key),
        )


@dataclass(slots=True)
class Merged:
    """The result of the three-way merge of one resource; without an edit nothing is to be done."""

    edit: Edit | None = None
    adopted: list[Adopted] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)

    @property
    def open(self) -> list[Conflict]:
        """The conflicts that are not resolved."""
        return [conflict for conflict in self.conflicts if conflict.side is None]


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeOptions:
    """The options of a merge: conflicts are resolved for one `side`, or stay open.

    `values` are the texts of expressions, and `refs` the expressions of remote ids. A `plain` merge
    is not about a manifest, and its texts hold no expressions. With `names`, the items of a changed
    list have their identity written out. `unseen` are the fields that the service does not return.
    """

    side: Side | None = None
    values: Mapping[str, str] = field(default_factory=dict)
    refs: Mapping[str, str] = field(default_factory=dict)
    plain: bool = False
    names: bool = False
    unseen: tuple[Path, ...] = ()


DEFAULT: Final = MergeOptions()


def sides_of(sides: MergeInputs, nth: int | None, index: int | None) -> MergeInputs:
    """Return the sides of a list item: number `nth` as declared, number `index` live."""
    return MergeInputs(
        written=_nth(sides.written, nth),
        ours=_nth(sides.ours, nth),
        base=_nth(sides.base, nth),
        live=_nth(sides.live, index),
        shown=_nth(sides.shown, index),
    )


def as_spelled(live: _Side, written: Json | Missing) -> _Side | int:
    """Return a whole number as an integer where the manifest has one.

    Services answer 97 as 97.0.
    """
    is_integer = isinstance(written, int) and not isinstance(written, bool)
    return int(live) if is_integer and isinstance(live, float) and live.is_integer() else live


def has_expressions(text: str) -> bool:
    """Return whether a text of a manifest has an expression."""
    return OPEN in text and any(isinstance(part, Expression) for part in parts_of(text))


def agrees(live: Json | Missing, declared: Json | Missing, shape: Shape) -> bool:
    """Return whether live has what is declared, whatever it adds itself."""
    if declared is ABSENT:
        return is_zero(live, shape.enumeration)
    if live is ABSENT:
        return shape.are_one(live, declared)
    return covers(live, declared, shape)


def _field(document: Json | Missing, key: str) -> Json | Missing:
    return document.get(key, ABSENT) if isinstance(document, dict) else ABSENT


def _nth(document: Json | Missing, nth: int | None) -> Json | Missing:
    if nth is None or not isinstance(document, list) or nth >= len(document):
        return ABSENT
    return document[nth]


def items_of(document: Json | Missing) -> list[Json]:
    """Return the items of a list; none of any other value."""
    return document if isinstance(document, list) else []


def holds_hidden(value: Json | Missing) -> bool:
    """Return whether any part of a live value is hidden."""
    if isinstance(value, dict):
        return any(map(holds_hidden, value.values()))
    if isinstance(value, list):
        return any(map(holds_hidden, value))
    return value == HIDDEN
