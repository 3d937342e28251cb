"""Sections, rows and widgets of a dashboard."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Final

from pydantic import Field

from reconciler.kinds.fields import (
    AtMost,
    Choosing,
    Empty,
    Flag,
    IdValue,
    Int32,
    Keyed,
    Observed,
    ObservedPart,
    Opaque,
    Part,
    ReadOnly,
    Text,
)

BY_ID: Final = Keyed(("id", "value"))
LIST: Final = AtMost(1000)


class WidgetDefinition(ObservedPart):
    """What a widget shows: exactly one of these, whose inner shape is not documented."""

    alternatives: ClassVar[tuple[frozenset[str], ...]] = (
        frozenset(
            (
                "markdown",
                "gauge",
                "barChart",
                "horizontalBarChart",
                "pieChart",
                "lineChart",
                "dataTable",
                "hexagon",
                "dynamic",
            )
        ),
    )
    choosing: ClassVar[Choosing] = Choosing.REQUIRED

    markdown: Opaque | None = None
    gauge: Opaque | None = None
    bar_chart: Opaque | None = None
    horizontal_bar_chart: Opaque | None = None
    pie_chart: Opaque | None = None
    line_chart: Opaque | None = None
    data_table: Opaque | None = None
    hexagon: Opaque | None = None
    dynamic: Opaque | None = None


class WidgetAppearance(Part):
    """How wide a widget is; 0 lets the service choose."""

    width: Int32 | None = None


class Widget(Part):
    """One widget."""

    needed: ClassVar[tuple[str, ...]] = ("definition",)

    id: IdValue | None = None
    title: Text = None
    description: Text = None
    appearance: WidgetAppearance | None = None
    definition: WidgetDefinition | None = None
    created_at: Annotated[Any, ReadOnly()] = None
    updated_at: Annotated[Any, ReadOnly()] = None


class RowAppearance(Part):
    """How high a row is."""

    height: Annotated[Int32 | None, AtMost(low=1)] = None


class Row(Part):
    """Widgets side by side."""

    id: IdValue | None = None
    appearance: RowAppearance | None = None
    widgets: Annotated[list[Widget] | None, BY_ID, LIST] = None


class SectionColor(ObservedPart):
    """The colour of a section."""

    complete: ClassVar[bool] = False

    predefined: Text = None


class CustomSection(ObservedPart):
    """A section with a heading."""

    name: Text = None
    description: Text = None
    collapsed: Flag = None
    color: SectionColor | None = None
    repetitive_var: Annotated[
        Any, Field(description="The variable for each of whose values the section is repeated.")
    ] = None


class SectionOptions(Part):
    """Whether a section has a heading."""

    alternatives: ClassVar[tuple[frozenset[str], ...]] = (frozenset(("internal", "custom")),)

    internal: Empty | None = None
    custom: Annotated[CustomSection | None, Observed()] = None


class Section(Part):
    """Rows under one heading."""

    id: IdValue | None = None
    options: SectionOptions | None = None
    rows: Annotated[list[Row] | None, BY_ID, LIST] = None


class Layout(Part):
    """What stands where."""

    sections: Annotated[list[Section] | None, BY_ID, LIST] = None
