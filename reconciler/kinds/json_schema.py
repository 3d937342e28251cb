"""JSON Schemas of manifests, for editors: they complete and explain, and refuse little.

Unknown fields and unlisted values are valid, as in `lint`; limits that are only observed are left
out, since a schema cannot warn.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

from pydantic.json_schema import JsonSchemaValue
from pydantic_core import core_schema

from reconciler.kinds.field_traits import MANIFEST, MANIFEST_KEYS, METADATA, EnvelopeField
from reconciler.kinds.kind import IdForm, Kind
from reconciler.model import API_VERSION
from reconciler.model.assumptions import DescribedSchema
from reconciler.syntax.expressions import EDITOR_PATTERN

Schema: TypeAlias = dict[str, Any]

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
MADE_NAME_PATTERN: Final = rf"^(?:[a-z0-9]|{EDITOR_PATTERN})(?:[a-z0-9._-]|{EDITOR_PATTERN})*$"
DEFINITIONS: Final = "#/$defs/"
FOR_EACH: Final[Schema] = {
    "description": "One resource is made of each item. `${each:KEY}` gives a value of the item.",
    "anyOf": [
        {"type": "array", "items": {"type": "object", "minProperties": 1}},
        {
            "type": "object",
            "required": ["var"],
            "properties": {"var": {"type": "string"}},
            "additionalProperties": False,
        },
        {"type": "string", "pattern": EDITOR_PATTERN},
    ],
}
EXPRESSION: Final[Schema] = {"type": "string", "pattern": EDITOR_PATTERN}


def schema_of(kind: Kind) -> Schema:
    """Return the schema of a whole manifest of a kind."""
    inner = kind.spec.model_json_schema(schema_generator=_EditorSchema)
    definitions = inner.pop("$defs", {})
    definitions[kind.spec.__name__] = inner
    for definition in definitions.values():
        fields = definition.get("properties", {})
        if fields:
            definition["properties"] = {key: _filled_in(value) for key, value in fields.items()}
    properties: Schema = {
        "apiVersion": {"const": API_VERSION},
        "kind": {"const": kind.name},
        "metadata": _metadata(kind.id_form),
        "spec": _or_expression({"$ref": DEFINITIONS + kind.spec.__name__}),
        "forEach": FOR_EACH,
        "overrides": {"type": "object", "additionalProperties": _or_expression({"type": "object"})},
    }
    added = {key: MANIFEST_KEYS.load(key) for key in MANIFEST_KEYS}
    properties |= {key: row.schema for key, row in added.items() if kind.name in row.kinds}
    return {
        "$schema": DIALECT,
        "title": kind.name,
        "description": inner["description"],
        "type": "object",
        "required": ["apiVersion", "kind", "metadata", "spec"],
        "additionalProperties": False,
        "properties": _with_descriptions(properties, MANIFEST),
        "$defs": dict(sorted(definitions.items())),
    }


def workspace_schema(manifests: Iterable[Schema]) -> Schema:
    """Return one schema for a manifest of any kind, from the schemas of the kinds."""
    by_kind = {schema["title"]: schema for schema in manifests}
    return {
        "$schema": DIALECT,
        "title": "Manifest",
        "description": "One resource of a reconciler workspace.",
        "type": "object",
        "required": ["apiVersion", "kind", "metadata", "spec"],
        "properties": _with_descriptions(
            {"apiVersion": {"const": API_VERSION}, "kind": {"enum": list(by_kind)}}, MANIFEST
        ),
        "allOf": [
            {
                "if": {"properties": {"kind": {"const": kind}}, "required": ["kind"]},
                "then": {"$ref": DEFINITIONS + kind},
            }
            for kind in by_kind
        ],
        "$defs": {
            kind: _moved(
                {key: value for key, value in schema.items() if key != "$schema"},
                f"{DEFINITIONS}{kind}/$defs/",
            )
            for kind, schema in by_kind.items()
        },
    }


def _moved(schema: Any, inside: str) -> Any:
    """Return a schema for use inside another, where its definitions are at another place."""
    if isinstance(schema, list):
        return [_moved(item, inside) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: value.replace(DEFINITIONS, inside, 1)
        if key == "$ref" and isinstance(value, str)
        else _moved(value, inside)
        for key, value in schema.items()
    }


_REASON: Final[Schema] = {
    "type": "string",
    "minLength": 1,
    "description": "Why this may be so here.",
}
_EXEMPTION: Final[Schema] = {
    "type": "object",
    "required": ["reason"],
    "additionalProperties": False,
    "properties": {
        "reason": _REASON,
        "until": {
            "type": "string",
            "format": "date",
            "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
            "description": "The last day of the exemption.",
        },
    },
}


def _metadata(id_form: IdForm) -> Schema:
    properties: Schema = {
        "name": {"type": "string", "pattern": MADE_NAME_PATTERN},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "environments": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
        "protect": {"type": "boolean"},
        "exempt": {
            "type": "object",
            "additionalProperties": {"anyOf": [_REASON, _EXEMPTION]},
            "propertyNames": {"pattern": "^([ML][0-9]{3}|R/.+)$"},
        },
    }
    metadata: Schema = {
        "type": "object",
        "required": ["name"],
        "additionalProperties": False,
    }
    if id_form.schema:
        properties["id"] = _or_expression({**id_form.schema})
        properties["ids"] = {"type": "object", "additionalProperties": properties["id"]}
        metadata["not"] = {"required": ["id", "ids"]}
    if id_form.required:
        metadata["anyOf"] = [{"required": ["id"]}, {"required": ["ids"]}]
    return {**metadata, "properties": _with_descriptions(properties, METADATA)}


def _with_descriptions(properties: Schema, fields: Mapping[str, EnvelopeField]) -> Schema:
    return {
        name: {"description": fields[name].said, **schema} for name, schema in properties.items()
    }


class _EditorSchema(DescribedSchema):
    """Pydantic's generator, without noise, and with expressions allowed for bound values."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - pydantic's hook
        """Leave out titles: they only repeat the names."""
        return False

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        """Leave out defaults: a field that is left out is not null."""
        return self.generate_inner(schema["schema"])

    def generate_inner(self, schema: Any) -> JsonSchemaValue:
        """Allow an expression for a boolean, a number and text with a pattern."""
        plain = super().generate_inner(schema)
        is_bound = plain.get("type") in ("boolean", "integer", "number") or "pattern" in plain
        return _or_expression(plain) if is_bound else plain


def _filled_in(schema: Any) -> Schema:
    """Return the schema of a place that an expression may fill as a whole, list or object too."""
    made = _filled_inside(schema)
    if "anyOf" in made:
        options = [_filled_inside(value) for value in made["anyOf"]]
        missing = any(map(_is_structured, options)) and EXPRESSION not in options
        return {**made, "anyOf": [*options, *([EXPRESSION] if missing else [])]}
    if not _is_structured(made):
        return made
    annotations: Schema = {key: made.pop(key) for key in ("description", "examples") if key in made}
    return {**annotations, "anyOf": [made, EXPRESSION]}


def _filled_inside(schema: Any) -> Schema:
    return {
        key: _filled_in(value) if key in _INNER and isinstance(value, dict) else value
        for key, value in schema.items()
    }


def _is_structured(schema: Schema) -> bool:
    return "$ref" in schema or schema.get("type") in ("array", "object")


_INNER: Final = ("items", "additionalProperties")


def _or_expression(plain: JsonSchemaValue) -> JsonSchemaValue:
    return {"anyOf": [plain, EXPRESSION]}
