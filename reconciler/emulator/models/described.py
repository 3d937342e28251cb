"""Describing what is read later: a value of any content whose schema is that of a model."""

from collections.abc import Callable
from dataclasses import dataclass

from pydantic_core import CoreSchema

from reconciler.emulator.models.wire import JsonObject, WireObject


@dataclass(frozen=True)
class DescribedAs:
    """Stands in `Annotated`: the field takes what its type takes, and is published as a model."""

    model: type[WireObject]

    def __get_pydantic_json_schema__(
        self, _: CoreSchema, handler: Callable[[CoreSchema], JsonObject]
    ) -> JsonObject:
        """Give the schema of the model."""
        return handler(self.model.__pydantic_core_schema__)
