"""The fields of a model, and what follows for documents: merging, spelling, places."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from operator import eq, is_
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from reconciler.document import ANY, Json, Path, Shape, exactly
from reconciler.kinds.field_traits import (
    AtMost,
    Formed,
    Int64,
    Keyed,
    KnownValues,
    Observed,
    Part,
    ReadOnly,
    Refers,
    Unit,
    Unordered,
)

Marker = TypeVar("Marker")


@dataclass(frozen=True, slots=True)
class Facts:
    """The known facts of one place: its markers, and the part, items or values inside.

    `plain` means that there is nothing to check beyond what pydantic checks.
    """

    part: type[Part] | None = None
    items: Facts | None = None
    values: Facts | None = None
    read_only: ReadOnly | None = None
    listed: KnownValues | None = None
    bound: AtMost | None = None
    form: Formed | None = None
    refers: Refers | None = None
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
    """Return the facts of each field of a model, by the field's name on the wire."""
    fields = {
        info.alias or name: _facts(info.annotation, tuple(info.metadata))
        for name, info in model.model_fields.items()
    }
    if model.documented:
        return fields
    return {name: replace(facts, observed=True) for name, facts in fields.items()}


def facts_at(model: type[Part], path: Path) -> Facts:
    """Return the facts of a place of a document; `NOTHING` if it is not known.

    Items of lists may be named by index or by identity.
    """
    facts = Facts(part=model)
    for step in path:
        facts = facts_within(facts, step)
    return facts


def facts_within(facts: Facts, step: str | int) -> Facts:
    """Return the facts of a field, an item or a value of a place."""
    if facts.part is not None:
        return facts_of(facts.part).get(str(step), NOTHING)
    return facts.items or facts.values or NOTHING


def _facts(annotation: Any, markers: tuple[object, ...]) -> Facts:
    annotation, inner_markers = _unwrap(annotation)
    markers += inner_markers
    part, items, values = _inside(annotation)
    read_only, listed = _marker(markers, ReadOnly), _marker(markers, KnownValues)
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
        refers=_marker(markers, Refers),
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
    """Remove `Annotated` and `| None` from an annotation; return the rest and the markers."""
    if get_origin(annotation) is Annotated:
        inner, *outer = get_args(annotation)
        bare, markers = _unwrap(inner)
        return bare, (*outer, *markers)
    if get_origin(annotation) in (Union, types.UnionType):
        branches = [branch for branch in get_args(annotation) if branch is not type(None)]
        if len(branches) == 1:
            return _unwrap(branches[0])
    return annotation, ()


@cache
def shape_of(model: type[Part]) -> Shape:
    """Return the shape of a model, its nested models included. Models must not recurse."""
    return Shape(
        fields={name: _shape(facts) for name, facts in facts_of(model).items()},
        alternatives=model.alternatives,
    )


@cache
def exact_shape_of(model: type[Part]) -> Shape:
    """Return the shape for comparing a declaration with an earlier declaration."""
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


EACH = "*"


def places(document: Json, *steps: str, path: Path = ()) -> Iterator[tuple[Path, Json]]:
    """Yield path and value of every place that `steps` lead to; `EACH` is any item of a list.

    A step that is absent, or does not fit the value, leads nowhere.
    """
    found = [(path, document)]
    # Step by step for all places at once: a call for each place costs time in large dashboards.
    for step in steps:
        if step == EACH:
            lists = [(here, value) for here, value in found if isinstance(value, list)]
            found = [
                ((*here, nth), element)
                for here, value in lists
                for nth, element in enumerate(value)
            ]
        else:
            found = [
                ((*here, step), value[step])
                for here, value in found
                if isinstance(value, dict) and step in value
            ]
    return iter(found)


def references_in(document: Json, model: type[Part]) -> Iterator[tuple[Path, str, Json]]:
    """Yield each place that may have the id of another resource: path, its kind, value."""
    yield from _references(document, Facts(part=model), ())


def _references(document: Json, facts: Facts, path: Path) -> Iterator[tuple[Path, str, Json]]:
    if isinstance(document, dict) and facts.part is not None:
        fields = facts_of(facts.part)
        for key, value in document.items():
            inside = fields.get(key, NOTHING)
            if inside.refers is not None:
                yield (*path, key), inside.refers.kind, value
            elif isinstance(value, _CONTAINERS):
                yield from _references(value, inside, (*path, key))
    elif isinstance(document, list) and facts.items is not None:
        for index, item in enumerate(document):
            yield from _references(item, facts.items, (*path, index))


_CONTAINERS = (dict, list)

Fields = Mapping[str, Facts]
Rewrite = Callable[[dict[str, Json], type[Part]], dict[str, Json]]


def camel_case_known_fields(document: Json, model: type[Part]) -> Json:
    """Return a document with known fields in the API's spelling, `dataTable` for `data_table`.

    Keys of maps and the content of opaque parts are data and stay (docs/commands.md).
    """
    return _rewritten(document, Facts(part=model), _in_camel_case)


def without_read_only(document: Json, model: type[Part]) -> Json:
    """Return a document without the fields that a manifest must not declare."""
    return _writable(document, Facts(part=model))


def in_usual_order(document: Json, model: type[Part]) -> Json:
    """Return a document with known fields in the order of the model, others after them."""
    return _rewritten(document, Facts(part=model), _usually_ordered)


def _usually_ordered(document: dict[str, Json], part: type[Part]) -> dict[str, Json]:
    known = [name for name in facts_of(part) if name in document]
    if all(map(eq, known, document)):
        return document
    return {**{name: document[name] for name in known}, **document}


def only_writable(document: Json, model: type[Part], ours: Sequence[Json]) -> Json:
    """Return the part of a stored document that a write may have, if services refuse the rest.

    These are the fields that a manifest may declare by the model, and those that one of `ours`
    declares; `ours` are documents that we write, or wrote.
    """
    return _writable_part(document, Facts(part=model), ours)


def _writable_part(document: Json, facts: Facts, ours: Sequence[Json]) -> Json:
    if isinstance(document, list):
        inside = [item for element in ours if isinstance(element, list) for item in element]
        return [_writable_part(item, facts.items or NOTHING, inside) for item in document]
    if not isinstance(document, dict) or facts.part is None:
        return document
    fields = facts_of(facts.part)
    declared = [value for value in ours if isinstance(value, dict)]
    return {
        key: _writable_part(
            value, fields.get(key, NOTHING), [value[key] for value in declared if key in value]
        )
        for key, value in document.items()
        if (key in fields and fields[key].read_only is None)
        or any(key in value for value in declared)
    }


def _rewritten(document: Json, facts: Facts, rewrite: Rewrite) -> Json:
    if isinstance(document, dict) and facts.part is not None:
        fields = facts_of(facts.part)
        written = rewrite(document, facts.part)
        # Plain values have no inside: a call for each would cost time in a large plan.
        changed = {
            key: made
            for key, value in written.items()
            if isinstance(value, _CONTAINERS)
            and (made := _rewritten(value, fields.get(key, NOTHING), rewrite)) is not value
        }
        return {**written, **changed} if changed else written
    if isinstance(document, dict) and facts.values is not None:
        return {key: _rewritten(value, facts.values, rewrite) for key, value in document.items()}
    if isinstance(document, list) and facts.items is not None:
        items = [_rewritten(item, facts.items, rewrite) for item in document]
        return document if all(map(is_, items, document)) else items
    return document


def names_of(document: dict[str, Json], fields: Fields) -> dict[str, str]:
    """Return the names of the fields that a document spells otherwise, by its spelling.

    A field that is also there under its own name, or twice, is left out.
    """
    if not any("_" in key for key in document):
        return {}
    spellings = {name.casefold(): name for name in fields}
    names: dict[str, str] = {}
    taken = set(document)
    for key in document:
        name = spellings.get(key.replace("_", "").casefold(), key) if "_" in key else key
        if name not in taken:
            names[key] = name
            taken.add(name)
    return names


def _in_camel_case(document: dict[str, Json], part: type[Part]) -> dict[str, Json]:
    names = names_of(document, facts_of(part))
    return {names.get(key, key): value for key, value in document.items()} if names else document


@cache
def _hidden_in(model: type[Part]) -> tuple[frozenset[str], Mapping[str, Facts]]:
    """Return the read-only fields of a part, and the fields that may have some further inside."""
    fields = facts_of(model)
    own = frozenset(name for name, facts in fields.items() if facts.read_only is not None)
    return own, {
        name: facts
        for name, facts in fields.items()
        if name not in own and any(map(_has_read_only, _parts_inside(facts)))
    }


def _parts_inside(facts: Facts) -> Iterator[type[Part]]:
    """Yield the parts of a place: its own, or those of its items or values."""
    for place in (facts, facts.items, facts.values):
        if place is not None and place.part is not None:
            yield place.part
        elif place is not None and place is not facts:
            yield from _parts_inside(place)


@cache
def _has_read_only(model: type[Part]) -> bool:
    """Return whether a part or anything inside has a field that only the service sets."""
    seen: set[type[Part]] = set()
    waiting = [model]
    while waiting:
        part = waiting.pop()
        if part in seen:
            continue
        seen.add(part)
        fields = facts_of(part).values()
        if any(field.read_only is not None for field in fields):
            return True
        waiting.extend(inner for field in fields for inner in _parts_inside(field))
    return False


def _writable(document: Json, facts: Facts) -> Json:
    """Return a document without read-only fields; the same document if there are none."""
    if isinstance(document, dict) and facts.part is not None:
        own, inside = _hidden_in(facts.part)
        found = {key: _writable(document[key], inside[key]) for key in inside if key in document}
        if own.isdisjoint(document) and all(found[key] is document[key] for key in found):
            return document
        left = {key: value for key, value in document.items() if key not in own}
        return {key: found.get(key, value) for key, value in left.items()}
    if isinstance(document, dict) and facts.values is not None:
        return {key: _writable(value, facts.values) for key, value in document.items()}
    if isinstance(document, list) and facts.items is not None:
        items = [_writable(item, facts.items) for item in document]
        changed = any(value is not item for value, item in zip(items, document, strict=True))
        return items if changed else document
    return document
