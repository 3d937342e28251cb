"""A setting that nobody knows is told beside those that are known in its place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args, get_origin

import pytest
from pydantic import BaseModel

from reconciler.project import ProjectFile, project_findings

# An object whose keys are names of a team's own: one stands here for all.
NAMED = {"environments": "local", "kinds": "SLO"}


def models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the models that a field may hold, whatever is around them."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from models_in(inner)


def origins_in(annotation: Any) -> set[Any]:
    """Give the generic types around what a field holds."""
    inner = set().union(*map(origins_in, get_args(annotation)))
    return inner | {get_origin(annotation)}


def places(
    model: type[BaseModel] = ProjectFile, path: tuple[str | int, ...] = ()
) -> Iterator[tuple[tuple[str | int, ...], type[BaseModel]]]:
    """Yield where a mapping of settings can stand, and its model."""
    # Where anything may be called as it likes, nothing is unknown.
    if model.model_config.get("extra") != "allow":
        yield path, model
    for name, info in model.model_fields.items():
        key = info.alias or name
        around = origins_in(info.annotation)
        for inner in models_in(info.annotation):
            below: tuple[str | int, ...] = (NAMED[key],) if key in NAMED else ()
            if {list, tuple} & around:
                below = (0,)
            elif dict in around and key not in NAMED:
                below = ("NAME",)
            yield from places(inner, (*path, key, *below))


def written(path: tuple[str | int, ...]) -> Any:
    """Give a document with one unknown setting at a place."""
    found: Any = {"nobodyKnows": 1}
    for step in reversed(path):
        found = [found] if isinstance(step, int) else {step: found}
    return found


@pytest.mark.parametrize(("path", "model"), list(places()), ids=str)
def test_known_are_those_of_the_place(path: tuple[str | int, ...], model: type[BaseModel]) -> None:
    """What is known is told of the very mapping in which the unknown setting stands."""
    told = [
        finding.message
        for finding in project_findings(written(path))
        if "nobodyKnows" in finding.message
    ]
    names = ", ".join(info.alias or name for name, info in model.model_fields.items())

    assert told == [f"unknown setting `nobodyKnows` (known: {names})"]
