"""The fields of a model, and what follows for documents: merging, spelling, places."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from operator import is_
from typing import Annotated, Any, NamedTuple, TypeVar, Union, get_args, get_origin

from reconciler.document import ANY, Json, Path, Shape, exactly
from reconciler.kinds import field_traits as traits

Marker = TypeVar("Marker")


@dataclass(frozen=True, slots=True)
class Facts:
    """The known facts of one place: its markers, and the part, items or values inside.

    `plain` means that there is nothing to check beyond what pydantic checks.
    """

    part: type[traits.Part] | None = None
    items: Facts | None = None
    values: Facts | None = None
    read_only: traits.ReadOnly | None = None
    listed: traits.KnownValues | None = None
    bound: traits.AtMost | None = None
    form: traits.Formed | None = None
    refers: traits.Refers | None = None
    keyed: traits.Keyed | None = None
    unit: traits.Unit | None = None
    needed: traits.Needed | None = None
    observed: bool = False
    unordered: bool = False
    int64: bool = False
    is_text: bool = False
    plain: bool = True


NOTHING = Facts()


@cache
def facts_of(model: type[traits.Part]) -> Mapping[str, Facts]:
    """Return the facts of each field of a model, by the field's name on the wire."""
    fields = {
        info.alias or name: _facts(info.annotation, tuple(info.metadata))
        for name, info in model.model_fields.items()
    }
    for name, read_only in model.read_only.items():
        fields[name] = Facts(read_only=read_only, plain=False)
    if model.documented:
        return fields
    return {name: replace(facts, observed=True) for name, facts in fields.items()}


def content_of(model: type[traits.Part]) -> Mapping[str, Facts]:
    """Return the fields of the content of `model.bare`; without `bare`, those of the model."""
    fields = facts_of(model)
    content = fields[model.bare].part if model.bare else None
    return fields if content is None else facts_of(content)


@cache
def needed_in(model: type[traits.Part]) -> tuple[str, ...]:
    """Return the fields of a model that services are known to require, except those `in_kind`."""
    return tuple(
        name
        for name, facts in facts_of(model).items()
        if facts.needed is not None and not facts.needed.in_kind
    )


def facts_at(model: type[traits.Part], path: Path) -> Facts:
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
    origin, arguments = get_origin(annotation), get_args(annotation)
    is_map = origin is dict and arguments[1] is not Any
    items = _facts(arguments[0], ()) if origin is list else None
    values = _facts(arguments[1], ()) if is_map else None
    is_part = isinstance(annotation, type) and issubclass(annotation, traits.Part)
    part = annotation if is_part else None
    found = Facts(
        part=part,
        items=items,
        values=values,
        listed=_marker(markers, traits.KnownValues),
        bound=_marker(markers, traits.AtMost),
        form=_marker(markers, traits.Formed),
        keyed=_marker(markers, traits.Keyed),
        refers=_marker(markers, traits.Refers),
        unit=_marker(markers, traits.Unit),
        needed=_marker(markers, traits.Needed),
        observed=_marker(markers, traits.Observed) is not None,
        unordered=_marker(markers, traits.Unordered) is not None,
        int64=_marker(markers, traits.Int64) is not None,
        is_text=annotation is str,
    )
    checked = (part, found.listed, found.bound, found.form, found.keyed)
    inner = items or values
    return replace(found, plain=not any(checked) and (inner is None or inner.plain))


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
def shape_of(model: type[traits.Part]) -> Shape:
    """Return the shape of a model, its nested models included. Models must not recurse."""
    return Shape(
        fields={name: _shape(facts) for name, facts in facts_of(model).items()},
        alternatives=model.alternatives,
    )


@cache
def exact_shape_of(model: type[traits.Part]) -> Shape:
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


def references_in(document: Json, model: type[traits.Part]) -> Iterator[tuple[Path, str, Json]]:
    """Yield each place that may have the id of another resource: path, its kind, value."""
    yield from _references(document, Facts(part=model), ())


def _references(document: Json, facts: Facts, path: Path) -> Iterator[tuple[Path, str, Json]]:
    for member in members_of(document, facts):
        place = (*path, member.step)
        if member.facts.refers is not None:
            yield place, member.facts.refers.kind, member.value
        else:
            yield from _references(member.value, member.facts, place)


class InnerPlace(NamedTuple):
    """A field, item or value inside a place; `name` is the right name of a misspelt field."""

    step: str | int
    name: str | int
    facts: Facts
    value: Json


def members_of(document: Json, facts: Facts) -> Iterator[InnerPlace]:
    """Yield what is inside a place, with `NOTHING` for unknown fields."""
    if isinstance(document, dict) and facts.part is not None:
        fields = facts_of(facts.part)
        names = names_of(document, fields)
        for key, value in document.items():
            name = names.get(key, key)
            yield InnerPlace(key, name, fields.get(name, NOTHING), value)
    elif isinstance(document, dict) and facts.values is not None:
        for key, value in document.items():
            yield InnerPlace(key, key, facts.values, value)
    elif isinstance(document, list) and facts.items is not None:
        for index, item in enumerate(document):
            yield InnerPlace(index, index, facts.items, item)


_CONTAINERS = (dict, list)

Fields = Mapping[str, Facts]
Rewrite = Callable[[dict[str, Json], type[traits.Part]], dict[str, Json]]


def camel_case_known_fields(document: dict[str, Json], model: type[traits.Part]) -> dict[str, Json]:
    """Return a document with known fields in the API's spelling, `dataTable` for `data_table`.

    Keys of maps and the content of opaque parts are data and stay (docs/commands.md).
    """
    return _rewritten(document, model, _in_camel_case)


def without_read_only(document: dict[str, Json], model: type[traits.Part]) -> dict[str, Json]:
    """Return a document without the fields that a manifest must not declare."""
    return _rewritten(document, model, _writable)


def _writable(document: dict[str, Json], part: type[traits.Part]) -> dict[str, Json]:
    hidden = part.read_only
    if hidden.keys().isdisjoint(document):
        return document
    return {name: value for name, value in document.items() if name not in hidden}


def in_usual_order(document: dict[str, Json], model: type[traits.Part]) -> dict[str, Json]:
    """Return a document with known fields in the order of the model, others after them."""
    return _rewritten(document, model, _usually_ordered)


def _usually_ordered(document: dict[str, Json], part: type[traits.Part]) -> dict[str, Json]:
    known = {name: document[name] for name in facts_of(part) if name in document}
    return {**known, **document}


def only_writable(document: Json, model: type[traits.Part], ours: Sequence[Json]) -> Json:
    """Return the part of a stored document that services accept in a write.

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


def _rewritten(
    document: dict[str, Json], part: type[traits.Part], rewrite: Rewrite
) -> dict[str, Json]:
    """Return a document with its objects rewritten; the same document if nothing is changed."""
    fields = facts_of(part)
    written = rewrite(document, part)
    # Plain values have no inside: a call for each would cost time in a large plan.
    changed = {
        key: made
        for key, value in written.items()
        if isinstance(value, _CONTAINERS)
        and (made := _rewritten_inside(value, fields.get(key, NOTHING), rewrite)) is not value
    }
    return {**written, **changed} if changed else written


def _rewritten_inside(document: Json, facts: Facts, rewrite: Rewrite) -> Json:
    if isinstance(document, dict) and facts.part is not None:
        return _rewritten(document, facts.part, rewrite)
    if isinstance(document, dict) and facts.values is not None:
        inside = facts.values
        return {key: _rewritten_inside(value, inside, rewrite) for key, value in document.items()}
    if isinstance(document, list) and facts.items is not None:
        items = [_rewritten_inside(item, facts.items, rewrite) for item in document]
        return document if all(map(is_, items, document)) else items
    return document


def names_of(document: dict[str, Json], fields: Fields) -> dict[str, str]:
    """Return the right names of the fields that a document spells differently, by its spelling.

    A field that the document also has under its right name is left out; of two spellings of a
    field, the second.
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


def _in_camel_case(document: dict[str, Json], part: type[traits.Part]) -> dict[str, Json]:
    names = names_of(document, facts_of(part))
    return {names.get(key, key): value for key, value in document.items()} if names else document
