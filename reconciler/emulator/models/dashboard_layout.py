"""Sections, rows and widgets."""

from typing import Annotated, ClassVar, Self

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from reconciler.emulator.models.wire import (
    Empty,
    Identifier,
    Int32,
    JsonObject,
    Timestamp,
    WireObject,
    bounds,
    exactly_one,
    only_one,
)

QUERY_LIMIT = 10_000  # docs/assumptions.md: characters of a metric query


def _queries_in(definition: object) -> list[object]:
    """Find every `promqlQuery.value`, however deep, as definitions are opaque."""
    found: list[object] = []
    waiting = [definition]
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            waiting.extend(part)
        elif isinstance(part, dict):
            waiting.extend(part.values())
            query = part.get("promqlQuery")
            found.append(query.get("value") if isinstance(query, dict) else query)
    return found


def _short_queries(definition: JsonObject) -> JsonObject:
    for query in _queries_in(definition):
        if isinstance(query, str) and len(query) > QUERY_LIMIT:
            raise PydanticCustomError("metric_query", "promqlQuery is longer than 10000 characters")
    return definition


Opaque = Annotated[JsonObject, AfterValidator(_short_queries)]


class WidgetDefinition(WireObject):
    """Exactly one kind of widget; what is inside it the API document does not show."""

    markdown: Opaque | None = None
    gauge: Opaque | None = None
    bar_chart: Opaque | None = None
    horizontal_bar_chart: Opaque | None = None
    pie_chart: Opaque | None = None
    line_chart: Opaque | None = None
    data_table: Opaque | None = None
    hexagon: Opaque | None = None
    dynamic: Opaque | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        exactly_one(self, *type(self).model_fields)
        return self


class WidgetAppearance(WireObject):
    """Zero means the width the row gives."""

    width: Annotated[Int32, bounds(0)] = 0


class Widget(WireObject):
    """One picture; its times are the service's."""

    read_only: ClassVar[frozenset[str]] = frozenset({"createdAt", "updatedAt"})
    needed: ClassVar[tuple[str, ...]] = ("id",)

    id: Identifier | None = None
    title: str = ""
    description: str = ""
    appearance: WidgetAppearance | None = None
    definition: WidgetDefinition | None = None
    created_at: Timestamp | None = None
    updated_at: Timestamp | None = None


class RowAppearance(WireObject):
    """How high the row is."""

    height: Annotated[Int32, bounds(1)] | None = None


class Row(WireObject):
    """Widgets side by side."""

    needed: ClassVar[tuple[str, ...]] = ("id",)

    id: Identifier | None = None
    appearance: RowAppearance | None = None
    widgets: Annotated[list[Widget], Field(max_length=1000)] = Field(default_factory=list)


class SectionOptions(WireObject):
    """A section of its own name, or an internal one."""

    internal: Empty | None = None
    custom: JsonObject | None = None

    @model_validator(mode="after")
    def _one_option(self) -> Self:
        only_one(self, "internal", "custom")
        return self


class Section(WireObject):
    """Rows under one heading."""

    needed: ClassVar[tuple[str, ...]] = ("id",)

    id: Identifier | None = None
    options: SectionOptions | None = None
    rows: Annotated[list[Row], Field(max_length=1000)] = Field(default_factory=list)


class Layout(WireObject):
    """The sections, in order."""

    sections: Annotated[list[Section], Field(max_length=1000)] = Field(default_factory=list)

    def widgets(self) -> list[Widget]:
        """Give all widgets, in reading order."""
        return [
            widget for section in self.sections for row in section.rows for widget in row.widgets
        ]
