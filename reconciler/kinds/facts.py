"""What a model says of each field, read once from its annotations and markers."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from reconciler.document import Path
from reconciler.kinds.fields import (
    AtMost,
    Formed,
    Int64,
    Keyed,
    Known,
    Observed,
    Part,
    ReadOnly,
    Unit,
    Unordered,
)

Marker = TypeVar("Marker")


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of one place: its markers, and the part, items or values inside.

    `plain` tells that there is nothing to look at beyond what pydantic checks.
    """

    part: type[Part] | None = None
    items: Facts | None = None
    values: Facts | None = None
    read_only: ReadOnly | None = None
    listed: Known | None = None
    bound: AtMost | None = None
    form: Formed | None = None
    keyed: Keyed | None = None
    unit: Unit | None = None
    observed: bool = False
    unordered: bool = False
    int64: bool = False
    is_text: bool = False
    plain: bool = True


NOTHING = Facts()


@cache
def facts_of(model: type[Part]) -> Mapping[str, Facts]:
    """Give the facts of each field of a model, by the field's name on the wire."""
    fields = {
        info.alias or name: _facts(info.annotation, tuple(info.metadata))
        for name, info in model.model_fields.items()
    }
    if model.documented:
        return fields
    return {name: replace(facts, observed=True) for name, facts in fields.items()}


def facts_at(model: type[Part], path: Path) -> Facts:
    """Give the facts of a place of a document; `NOTHING` where it is not known.

    Items of lists may be named by index or by identity.
    """
    facts = Facts(part=model)
    for step in path:
        facts = facts_within(facts, step)
    return facts


def facts_within(facts: Facts, step: str | int) -> Facts:
    """Give the facts of a field, an item or a value of a place."""
    if facts.part is not None:
        return facts_of(facts.part).get(str(step), NOTHING)
    return facts.items or facts.values or NOTHING


def _facts(annotation: Any, markers: tuple[object, ...]) -> Facts:
    annotation, inner_markers = _unwrap(annotation)
    markers += inner_markers
    part, items, values = _inside(annotation)
    read_only, listed = _marker(markers, ReadOnly), _marker(markers, Known)
    bound, form, keyed = _marker(markers, AtMost), _marker(markers, Formed), _marker(markers, Keyed)
    inner = items or values
    checked = (part, read_only, listed, bound, form, keyed)
    return Facts(
        part=part,
        items=items,
        values=values,
        read_only=read_only,
        listed=listed,
        bound=bound,
        form=form,
        keyed=keyed,
        unit=_marker(markers, Unit),
        observed=_marker(markers, Observed) is not None,
        unordered=_marker(markers, Unordered) is not None,
        int64=_marker(markers, Int64) is not None,
        is_text=annotation is str,
        plain=not any(checked) and (inner is None or inner.plain),
    )


def _inside(annotation: Any) -> tuple[type[Part] | None, Facts | None, Facts | None]:
    arguments = get_args(annotation)
    if get_origin(annotation) is list:
        return None, _facts(arguments[0], ()), None
    if get_origin(annotation) is dict and arguments[1] is not Any:
        return None, None, _facts(arguments[1], ())
    if isinstance(annotation, type) and issubclass(annotation, Part):
        return annotation, None, None
    return None, None, None


def _marker(markers: tuple[object, ...], kind: type[Marker]) -> Marker | None:
    return next((marker for marker in markers if isinstance(marker, kind)), None)


def _unwrap(annotation: Any) -> tuple[Any, tuple[object, ...]]:
    """Take `Annotated` and `| None` off an annotation; give what is left and the markers."""
    if get_origin(annotation) is Annotated:
        inner, *outer = get_args(annotation)
        bare, markers = _unwrap(inner)
        return bare, (*outer, *markers)
    if get_origin(annotation) in (Union, types.UnionType):
        branches = [branch for branch in get_args(annotation) if branch is not type(None)]
        if len(branches) == 1:
            return _unwrap(branches[0])
    return annotation, ()
