"""Rewrites of exported documents, by what a model knows of their fields. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from reconciler.document import Json
from reconciler.kinds.facts import NOTHING, Facts, facts_of
from reconciler.kinds.fields import Part

_CONTAINERS = (dict, list)

Fields = Mapping[str, Facts]
Rewrite = Callable[[dict[str, Json], Fields], dict[str, Json]]


def camel_case_known_fields(document: Json, model: type[Part]) -> Json:
    """Give a document whose known fields have the API's spelling, `dataTable` for `data_table`.

    Keys of maps and all that stands in opaque parts are data and stay (api-facts.md, 6.4).
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
