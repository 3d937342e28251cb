"""Models of what people write: strict validation, and descriptions of fields."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

from pydantic import BaseModel, ConfigDict
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

STRICT: Final = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)
"""No unknown fields, and no values of another type.

A model is built on its first use: models inside others are never built.
"""


class FileSection(BaseModel):
    """A setting that names a file of the project, which holds no manifests."""

    model_config = STRICT

    file: str


PUBLISHED: Final = MappingProxyType(
    {
        "ExampleDocument": "SampleDocument",
        "ExplainedFieldDocument": "FieldDocument",
        "MetricQuery": "Query",
        "PolicyRule": "Rule",
        "ValueSelection": "Selection",
        "ViewFilter": "Filter",
        "WatchedSpanDocument": "SpanDocument",
        "WidgetAction": "Action",
    }
)
"""The names of classes in published schemas, where the code has other names."""


@cache
def descriptions_of(model: type[BaseModel]) -> Mapping[str, str]:
    """Return the description of each field of a model, by the field's name on the wire.

    `Field(description=...)` comes before the docstring. "" if there is no description.
    """
    below: dict[str, str] = {}
    for parent in reversed(model.__mro__):
        if parent is not BaseModel and issubclass(parent, BaseModel):
            below |= _texts_in(parent.__module__).get(parent.__qualname__, {})
    return MappingProxyType(
        {
            info.alias or name: info.description or below.get(name, "")
            for name, info in model.model_fields.items()
        }
    )


@cache
def _texts_in(module: str) -> Mapping[str, Mapping[str, str]]:
    """Return the field docstrings of each class of a module. Raises OSError without source."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {node.name: _texts_of(node) for node in tree.body if isinstance(node, ast.ClassDef)}


def _texts_of(node: ast.ClassDef) -> dict[str, str]:
    texts = {}
    for field, below in zip(node.body, node.body[1:], strict=False):
        match field, below:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                texts[name] = " ".join(text.split())
            case _:
                pass
    return texts


class PublishedSchema(GenerateJsonSchema):
    """Pydantic's generator, with the names of classes in published schemas."""

    def normalize_name(self, name: str) -> str:
        """Return the name of a definition."""
        return PUBLISHED.get(name, super().normalize_name(name))

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        """Return the schema of a model."""
        return _titled(super().model_schema(schema))

    def typed_dict_schema(self, schema: core_schema.TypedDictSchema) -> JsonSchemaValue:
        """Return the schema of a typed dictionary."""
        return _titled(super().typed_dict_schema(schema))


def _titled(written: JsonSchemaValue) -> JsonSchemaValue:
    title: str = written["title"]
    return {**written, "title": PUBLISHED.get(title, title)}


class DescribedSchema(PublishedSchema):
    """Pydantic's generator, with the description of each field."""

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        """Return the schema of a model, with the descriptions of its fields."""
        written = super().model_schema(schema)
        model: type[BaseModel] = schema["cls"]
        descriptions = descriptions_of(model)
        for name, inside in written.get("properties", {}).items():
            if descriptions.get(name):
                inside.setdefault("description", descriptions[name])
        return written
