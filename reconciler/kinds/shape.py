"""From a pydantic model to what `document` needs to merge and compare."""

from __future__ import annotations

from functools import cache

from reconciler.document import ANY, Shape, exactly
from reconciler.kinds.facts import Facts, facts_of
from reconciler.kinds.fields import Part


@cache
def shape_of(model: type[Part]) -> Shape:
    """Give the shape of a model, its nested models included. Models must not recurse."""
    return Shape(
        fields={name: _shape(facts) for name, facts in facts_of(model).items()},
        alternatives=model.alternatives,
    )


@cache
def exact_shape_of(model: type[Part]) -> Shape:
    """Give the shape by which what we declared is compared with what we declared before."""
    return exactly(shape_of(model))


def _shape(facts: Facts) -> Shape:
    if facts.part is not None:
        return shape_of(facts.part)
    if facts.items is not None:
        identity = facts.keyed.identity if facts.keyed else ()
        return Shape(items=_shape(facts.items), identity=identity, unordered=facts.unordered)
    if facts.values is not None:
        return Shape(values=_shape(facts.values))
    if facts.listed is not None:
        return Shape(enumeration=facts.listed.prefix)
    return Shape(numeric_text=True) if facts.int64 else ANY
