"""What follows from a model for documents: merging, the spelling of exports, places."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

from reconciler.document import ANY, Json, Path, Shape, exactly
from reconciler.kinds.facts import NOTHING, Facts, facts_of
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


EACH = "*"


def places(document: Json, *steps: str, path: Path = ()) -> Iterator[tuple[Path, Json]]:
    """Yield path and value of every place that `steps` lead to; `EACH` is any item of a list.

    Whatever is absent, or is not what a step needs, leads nowhere.
    """
    if not steps:
        yield path, document
    elif steps[0] == EACH:
        if isinstance(document, list):
            for index, item in enumerate(document):
                yield from places(item, *steps[1:], path=(*path, index))
    elif isinstance(document, dict) and steps[0] in document:
        yield from places(document[steps[0]], *steps[1:], path=(*path, steps[0]))


_CONTAINERS = (dict, list)

Fields = Mapping[str, Facts]
Rewrite = Callable[[dict[str, Json], Fields], dict[str, Json]]


def camel_case_known_fields(document: Json, model: type[Part]) -> Json:
    """Give a document whose known fields have the API's spelling, `dataTable` for `data_table`.

    Keys of maps and all that stands in opaque parts are data and stay (docs/commands.md).
    """
    return _rewritten(document, Facts(part=model), _in_camel_case)


def without_read_only(document: Json, model: type[Part]) -> Json:
    """Give a document without the fields that a manifest must not declare."""
    return _rewritten(document, Facts(part=model), _writable)


def only_writable(document: Json, model: type[Part], ours: Sequence[Json]) -> Json:
    """Give what of a stored document a write may hold, for services that refuse all else.

    That is what the model lets a manifest declare, and what one of `ours` declares
    beside it: those are the documents that we write, or wrote.
    """
    return _writable_part(document, Facts(part=model), ours)


def _writable_part(document: Json, facts: Facts, ours: Sequence[Json]) -> Json:
    if isinstance(document, list):
        inside = [item for one in ours if isinstance(one, list) for item in one]
        return [_writable_part(item, facts.items or NOTHING, inside) for item in document]
    if not isinstance(document, dict) or facts.part is None:
        return document
    fields = facts_of(facts.part)
    declared = [one for one in ours if isinstance(one, dict)]
    return {
        key: _writable_part(
            value, fields.get(key, NOTHING), [one[key] for one in declared if key in one]
        )
        for key, value in document.items()
        if (key in fields and fields[key].read_only is None) or any(key in one for one in declared)
    }


def _rewritten(document: Json, facts: Facts, rewrite: Rewrite) -> Json:
    if isinstance(document, dict) and facts.part is not None:
        fields = facts_of(facts.part)
        # Plain values have no inside: a call for each would be felt in a large plan.
        return {
            key: _rewritten(value, fields.get(key, NOTHING), rewrite)
            if isinstance(value, _CONTAINERS)
            else value
            for key, value in rewrite(document, fields).items()
        }
    if isinstance(document, dict) and facts.values is not None:
        return {key: _rewritten(value, facts.values, rewrite) for key, value in document.items()}
    if isinstance(document, list) and facts.items is not None:
        return [_rewritten(item, facts.items, rewrite) for item in document]
    return document


def names_of(document: dict[str, Json], fields: Fields) -> dict[str, str]:
    """Give the names of the fields that a document spells otherwise, by what it writes.

    One that stands there under its own name too, or twice, is not among them.
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


def _in_camel_case(document: dict[str, Json], fields: Fields) -> dict[str, Json]:
    names = names_of(document, fields)
    return {names.get(key, key): value for key, value in document.items()} if names else document


def _writable(document: dict[str, Json], fields: Fields) -> dict[str, Json]:
    return {
        key: value for key, value in document.items() if fields.get(key, NOTHING).read_only is None
    }
