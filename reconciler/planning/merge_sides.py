"""The sides of one place of a resource, and how what is live is said in a manifest. Pure."""

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
from reconciler.expressions import OPEN, Expression, ExpressionKind, escaped, expression, parts_of
from reconciler.model import Adopted, Conflict, Side
from reconciler.redaction.templates import HIDDEN, RefHole, SecretHole, Template

_Side = TypeVar("_Side", bound="Json | Missing")


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeInputs:
    """One place of a resource, from all sides.

    `written` is what the manifest says there, expressions and all, `ours` the same filled in,
    and `shown` what is live, hidden wherever a secret belongs.
    """

    written: Json | Missing
    ours: Json | Missing
    base: Json | Missing
    live: Json | Missing
    shown: Json | Missing

    def at(self, key: str) -> MergeInputs:
        """Give the sides of a field."""
        return MergeInputs(
            written=_field(self.written, key),
            ours=_field(self.ours, key),
            base=_field(self.base, key),
            live=_field(self.live, key),
            shown=_field(self.shown, key),
        )


@dataclass(slots=True)
class Merged:
    """What a three-way merge of one resource came to; without an edit nothing is to be done."""

    edit: Edit | None = None
    adopted: list[Adopted] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)

    @property
    def open(self) -> list[Conflict]:
        """The conflicts that nobody resolved."""
        return [conflict for conflict in self.conflicts if conflict.side is None]


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeOptions:
    """How a merge goes: conflicts go to one `side`, or stay open.

    `values` are the texts that expressions stand for, and `refs` the expressions that stand for
    remote ids. What is `plain` is no manifest and holds no expressions. With `names`, the items of
    a list that changes have their identity written out. What is `unseen` the service does not tell.
    """

    side: Side | None = None
    values: Mapping[str, str] = field(default_factory=dict)
    refs: Mapping[str, str] = field(default_factory=dict)
    plain: bool = False
    names: bool = False
    unseen: tuple[Path, ...] = ()


DEFAULT: Final = MergeOptions()


def sides_of(sides: MergeInputs, nth: int | None, index: int | None) -> MergeInputs:
    """Give the sides of an item: the one declared as number `nth`, which is `index` live."""
    return MergeInputs(
        written=_nth(sides.written, nth),
        ours=_nth(sides.ours, nth),
        base=_nth(sides.base, nth),
        live=_nth(sides.live, index),
        shown=_nth(sides.shown, index),
    )


def written_out(value: Json) -> Json:
    """Give a value as a manifest says it: known secrets as expressions, and texts as texts."""
    if isinstance(value, dict):
        return {key: written_out(member) for key, member in value.items()}
    if isinstance(value, list):
        return [written_out(element) for element in value]
    if isinstance(value, Template):
        return "".join(map(_part, value.parts))
    return escaped(value) if isinstance(value, str) else value


def as_spelled(live: _Side, written: Json | Missing) -> _Side | int:
    """Give a whole number as an integer where a manifest says one: services answer 97 as 97.0."""
    is_integer = isinstance(written, int) and not isinstance(written, bool)
    return int(live) if is_integer and isinstance(live, float) and live.is_integer() else live


def _part(part: str | SecretHole | RefHole) -> str:
    match part:
        case SecretHole(name=name):
            return expression(ExpressionKind.SECRET, name)
        case RefHole(ref=ref):
            return expression(ExpressionKind.REFERENCE, str(ref))
        case str():
            return escaped(part)


def has_expressions(text: str) -> bool:
    """Tell whether a text of a manifest holds an expression."""
    return OPEN in text and any(isinstance(part, Expression) for part in parts_of(text))


def agrees(live: Json | Missing, declared: Json | Missing, shape: Shape) -> bool:
    """Tell whether live holds what is declared, whatever it adds by itself."""
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
    """Give the items of a list, none of anything else."""
    return document if isinstance(document, list) else []


def holds_hidden(value: Json | Missing) -> bool:
    """Tell whether anything of a live value is hidden."""
    if isinstance(value, dict):
        return any(map(holds_hidden, value.values()))
    if isinstance(value, list):
        return any(map(holds_hidden, value))
    return value == HIDDEN
