"""A dashboard as a grid, before and after: its widgets added, removed, moved, resized, edited.

Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from reconciler.document import ABSENT, Json, Missing, Shape, differences, same, value_at
from reconciler.kinds.field_traits import Part
from reconciler.kinds.kind import Grid
from reconciler.kinds.shape import Facts, facts_at, facts_within, shape_of
from reconciler.report.labels import name_of
from reconciler.report.safe import safe
from reconciler.report.words import as_json


class Mark(Enum):
    """The change of a widget; the value is its sign."""

    ADDED = "+"
    REMOVED = "-"
    MOVED = "↕"
    RESIZED = "↔"
    EDITED = "~"

    @property
    def word(self) -> str:
        """The mark's name in reports."""
        return self.name.lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A widget; its texts are safe. `share` is its part of the row's width, 0 to 1.

    For a moved widget, `elsewhere` is its other place: `from row 2, place 1`.
    """

    title: str
    chart: str
    query: str
    share: float
    marks: tuple[Mark, ...] = ()
    elsewhere: str = ""


@dataclass(frozen=True, slots=True)
class GridRow:
    """Widgets next to each other; `note` describes the change of the row itself, in safe words."""

    height: int
    cells: tuple[Cell, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class GridSection:
    """Rows under one heading, `""` where it has none; `note` as that of a row."""

    title: str
    rows: tuple[GridRow, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class DashboardSides:
    """A dashboard before and after; a dashboard that does not exist has no sections."""

    before: tuple[GridSection, ...]
    after: tuple[GridSection, ...]

    @property
    def changed(self) -> bool:
        """Return whether any widget, row or section is marked."""
        noted = any(
            section.note or any(row.note for row in section.rows)
            for section in (*self.before, *self.after)
        )
        return noted or bool(self.counts)

    @property
    def counts(self) -> dict[Mark, int]:
        """The number of widgets with each mark."""
        cells = [
            *(cell for cell in _cells(self.after)),
            *(cell for cell in _cells(self.before) if Mark.REMOVED in cell.marks),
        ]
        counts = {mark: sum(mark in cell.marks for cell in cells) for mark in Mark}
        return {mark: count for mark, count in counts.items() if count}


def _cells(sections: Sequence[GridSection]) -> Iterator[Cell]:
    for section in sections:
        for row in section.rows:
            yield from row.cells


def shown_by(widget: dict[str, Json]) -> tuple[str, Json | Missing]:
    """Return the chart type of a widget in words, and its definition."""
    definition = value_at(widget, ("definition",))
    if not isinstance(definition, dict):
        return "", ABSENT
    for chart, inside in definition.items():
        if inside is not None:
            words = "".join(f" {text.lower()}" if text.isupper() else text for text in chart)
            return safe(words), inside
    return "", ABSENT


_HOLDING = ("metrics", "logs", "spans")
_SAYING = ("value", "text", "query", "markdownText")


def query_of(inside: Json | Missing) -> str:
    """Return the first query of a widget, or its text; "" without any."""
    if isinstance(inside, list):
        return next(filter(None, map(query_of, inside)), "")
    if not isinstance(inside, dict):
        return ""
    for key in _SAYING:
        if isinstance(value := inside.get(key), str) and value:
            return value
    holding = (inside[key] for key in inside if key in _HOLDING or "query" in key.lower())
    return next(filter(None, map(query_of, holding)), "")


DEFAULT_HEIGHT = 19  # samples: the height that the web interface gives a row that was never resized
MOST_UNITS = 10_000
LONGEST_QUERY = 200


@dataclass(frozen=True, slots=True)
class _Part:
    """A section, row or widget at its place. `order` has the keys of its list."""

    document: dict[str, Json]
    name: str
    key: str
    parent: str
    place: int
    order: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Layout:
    """All parts of a dashboard by key, in order."""

    sections: Mapping[str, _Part]
    rows: Mapping[str, _Part]
    widgets: Mapping[str, _Part]

    def where(self, widget: _Part, counterpart: _Part, others: _Layout) -> str:
        """Return the place of a widget as safe text, only as far as it differs from another place.

        `counterpart` is the widget at the other place.
        """
        place = f"place {widget.place + 1}"
        if widget.parent == counterpart.parent:
            return place
        row = self.rows[widget.parent]
        section = self.sections[row.parent]
        name = section.name
        words = as_json(name) if name else str(section.place + 1)
        where = f"row {row.place + 1}, {place}"
        if row.parent == others.rows[counterpart.parent].parent:
            return where
        return safe(f"section {words}, {where}")


def grid_sides(
    picture: Grid, before: Json | Missing, after: Json | Missing, model: type[Part]
) -> DashboardSides:
    """Return both documents as grids, each widget marked with its change.

    A widget is found by its id wherever it moved, without an id by its place. `model` is the model
    of the whole document.
    """
    facts = facts_at(model, picture.sections)
    widget_shape = shape_of(model).along((*picture.sections, 0, "rows", 0, "widgets", 0))
    old, new = (_layout(value_at(side, picture.sections), facts) for side in (before, after))
    return DashboardSides(
        tuple(_sections(old, new, widget_shape, later=False)),
        tuple(_sections(new, old, widget_shape, later=True)),
    )


def _layout(value: Json | Missing, facts: Facts) -> _Layout:
    section_facts = facts_within(facts, 0)
    row_facts = facts_within(facts_within(section_facts, "rows"), 0)
    widget_facts = facts_within(facts_within(row_facts, "widgets"), 0)
    sections = _parts(value, "", section_facts)
    rows = [
        row
        for section in sections
        for row in _parts(section.document.get("rows"), section.key, row_facts)
    ]
    widgets = [
        part for row in rows for part in _parts(row.document.get("widgets"), row.key, widget_facts)
    ]
    return _Layout(*({part.key: part for part in parts} for parts in (sections, rows, widgets)))


def _parts(value: Json | Missing, parent: str, facts: Facts) -> list[_Part]:
    items = (
        [element for element in value if isinstance(element, dict)]
        if isinstance(value, list)
        else []
    )
    order = tuple(_key(item, f"{parent}/{place}") for place, item in enumerate(items))
    return [
        _Part(item, name_of(item, facts), key, parent, place, order)
        for place, (item, key) in enumerate(zip(items, order, strict=True))
    ]


def _key(item: dict[str, Json], place: str) -> str:
    known = value_at(item, ("id", "value"))
    return known if isinstance(known, str) and known else place


def _sections(
    mine: _Layout, theirs: _Layout, shape: Shape, *, later: bool
) -> Iterator[GridSection]:
    for section in mine.sections.values():
        rows = [row for row in mine.rows.values() if row.parent == section.key]
        note = _note(section, theirs.sections, later=later)
        other = theirs.sections.get(section.key)
        if other and other.name != section.name:
            note = "renamed" if not note else f"{note}, renamed"
        drawn = tuple(_row(row, mine, theirs, shape, later=later) for row in rows)
        yield GridSection(safe(section.name), drawn, note if theirs.sections else "")


def _row(row: _Part, mine: _Layout, theirs: _Layout, shape: Shape, *, later: bool) -> GridRow:
    note = _note(row, theirs.rows, later=later) if row.parent in theirs.sections else ""
    height, other = _height(row.document), theirs.rows.get(row.key)
    if other and _height(other.document) != height:
        turn = (_height(other.document), height) if later else (height, _height(other.document))
        note = ", ".join(filter(None, (note, f"height {turn[0]} → {turn[1]}")))
    widgets = [widget for widget in mine.widgets.values() if widget.parent == row.key]
    shares = _shares([widget.document for widget in widgets])
    cells = tuple(
        _cell(widget, share, (mine, theirs), shape, later=later)
        for widget, share in zip(widgets, shares, strict=True)
    )
    return GridRow(height, cells, note)


def _note(part: _Part, others: Mapping[str, _Part], *, later: bool) -> str:
    other = others.get(part.key)
    if other is None:
        return (Mark.ADDED if later else Mark.REMOVED).word
    if not _moved(part, other, later=later):
        return ""
    return f"moved {'from' if later else 'to'} place {other.place + 1}"


def _moved(part: _Part, other: _Part, *, later: bool) -> bool:
    """Return whether a part moved.

    As in the list of fields, the fewest parts of a list count as moved.
    """
    if part.parent != other.parent:
        return True
    if part.order == other.order:
        return False
    before, after = (other.order, part.order) if later else (part.order, other.order)
    return part.key in _movers(before, after)


@lru_cache(maxsize=4096)
def _movers(before: tuple[str, ...], after: tuple[str, ...]) -> frozenset[str]:
    old, new = ([_keyed(key) for key in order] for order in (before, after))
    found = differences(old, new, Shape(identity=("key",)))
    return frozenset(
        str(difference.path[-1]) for difference in found if difference.operation == "move"
    )


def _keyed(key: str) -> Json:
    return {"key": key}


def _height(row: dict[str, Json]) -> int:
    return _units(value_at(row, ("appearance", "height"))) or DEFAULT_HEIGHT


def _shares(widgets: Sequence[dict[str, Json]]) -> list[float]:
    """Return each widget's share of a row; a width of 0 counts as the average of the others."""
    known = [_width(widget) for widget in widgets]
    declared = [width for width in known if width]
    usual = sum(declared) / len(declared) if declared else 1
    filled = [width or usual for width in known]
    return [width / sum(filled) for width in filled]


def _cell(
    widget: _Part, share: float, sides: tuple[_Layout, _Layout], shape: Shape, *, later: bool
) -> Cell:
    mine, theirs = sides
    chart, definition = shown_by(widget.document)
    other = theirs.widgets.get(widget.key)
    marks: tuple[Mark, ...] = ()
    elsewhere = ""
    if other is not None:
        marks = tuple(_marks(widget, other, shape, later=later))
        if Mark.MOVED in marks:
            turn = "from" if later else "to"
            elsewhere = f"{turn} {theirs.where(other, widget, mine)}"
    elif theirs.sections:
        marks = (Mark.ADDED if later else Mark.REMOVED,)
    return Cell(
        title=safe(widget.name),
        chart=chart,
        query=safe(" ".join(query_of(definition).split()), LONGEST_QUERY),
        share=share,
        marks=marks,
        elsewhere=elsewhere,
    )


def _marks(widget: _Part, other: _Part, shape: Shape, *, later: bool) -> Iterator[Mark]:
    if _moved(widget, other, later=later):
        yield Mark.MOVED
    if _width(widget.document) != _width(other.document):
        yield Mark.RESIZED
    if not same(_content(widget.document), _content(other.document), shape):
        yield Mark.EDITED


def _width(widget: dict[str, Json]) -> int:
    """Return the width in the service's units; 0 where the service chooses it."""
    return _units(value_at(widget, ("appearance", "width")))


def _units(size: Json | Missing) -> int:
    """Return a size in the service's units; 0 for none, and limited to a size that can be drawn."""
    if not isinstance(size, int) or isinstance(size, bool):
        return 0
    return min(max(size, 0), MOST_UNITS)


def _content(widget: dict[str, Json]) -> dict[str, Json]:
    appearance = widget.get("appearance")
    content = {key: value for key, value in widget.items() if key != "appearance"}
    if isinstance(appearance, dict):
        content.update((key, value) for key, value in appearance.items() if key != "width")
    return content
