"""A model of a query as flat parameters: `filter.status`, `pagination.pageSize`.

Maps have no place among the parameters of OpenAPI in this spelling, so they are
named in the description of the operation only.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from reconciler.emulator.models.wire import JsonObject, WireObject


@dataclass(frozen=True)
class _Leaf:
    name: str
    schema: JsonObject
    is_required: bool


def query_parameters(model: type[WireObject]) -> list[JsonObject]:
    """Give each parameter that is not a map."""
    return [
        {
            "name": leaf.name,
            "in": "query",
            **({"required": True} if leaf.is_required else {}),
            "schema": leaf.schema,
        }
        for leaf in _leaves(model)
        if not _is_map(leaf.schema)
    ]


def maps_of(model: type[WireObject]) -> list[str]:
    """Give the names of the parameters that are maps."""
    return [leaf.name for leaf in _leaves(model) if _is_map(leaf.schema)]


def _is_map(schema: JsonObject) -> bool:
    return schema.get("type") == "object"


def _leaves(model: type[WireObject]) -> Iterator[_Leaf]:
    schema = model.model_json_schema(by_alias=True)
    yield from _within(schema, schema.get("$defs", {}), "", is_required=True)


def _within(
    schema: JsonObject, parts: JsonObject, path: str, *, is_required: bool
) -> Iterator[_Leaf]:
    for name, content in schema["properties"].items():
        inner = _resolved(content, parts)
        needed = is_required and name in schema.get("required", [])
        if "properties" in inner:
            yield from _within(inner, parts, f"{path}{name}.", is_required=needed)
        elif "properties" in (item := _resolved(inner.get("items", {}), parts)):
            for leaf in _within(item, parts, f"{path}{name}.", is_required=False):
                yield _Leaf(leaf.name, {"type": "array", "items": leaf.schema}, is_required=False)
        else:
            yield _Leaf(path + name, _untitled(inner), needed)


def _resolved(schema: JsonObject, parts: JsonObject) -> JsonObject:
    """Follow a reference, and take the one form of a field that may be absent."""
    forms = [form for form in schema.get("anyOf", []) if form.get("type") != "null"]
    if forms:
        return _resolved(forms[0], parts)
    if "$ref" in schema:
        found: JsonObject = parts[schema["$ref"].rpartition("/")[2]]
        return found
    return schema


def _untitled(schema: JsonObject) -> JsonObject:
    return {key: value for key, value in schema.items() if key != "title"}
