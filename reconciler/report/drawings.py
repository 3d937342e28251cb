"""Pictures of what a write does to a dashboard, a list of policies or an SLO, as text. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from itertools import groupby
from math import log10
from typing import TypeAlias, assert_never, cast

from reconciler.document import (
    ABSENT,
    Json,
    Missing,
    Shape,
    differences,
    same,
    stored_name,
    value_at,
)
from reconciler.kinds import BY_NAME
from reconciler.kinds.field_traits import Part, Unit
from reconciler.kinds.kind import Grid, Objective, Ranking
from reconciler.kinds.shape import NOTHING, Facts, facts_at, facts_within, shape_of
from reconciler.kinds.times import days_in, failing_time
from reconciler.model import Change
from reconciler.model.quoting import and_more
from reconciler.report.counts import live_document
from reconciler.report.labels import name_of, number_of, spoken_value
from reconciler.report.safe import columns, safe
from reconciler.report.table import padded
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
        drawn = tuple(_grid_row(row, mine, theirs, shape, later=later) for row in rows)
        yield GridSection(safe(section.name), drawn, note if theirs.sections else "")


def _grid_row(row: _Part, mine: _Layout, theirs: _Layout, shape: Shape, *, later: bool) -> GridRow:
    note = _note(row, theirs.rows, later=later) if row.parent in theirs.sections else ""
    height, other = _height(row.document), theirs.rows.get(row.key)
    if other and _height(other.document) != height:
        turn = (_height(other.document), height) if later else (height, _height(other.document))
        note = ", ".join(filter(None, (note, f"height {turn[0]} → {turn[1]}")))
    widgets = [widget for widget in mine.widgets.values() if widget.parent == row.key]
    shares = _shares([widget.document for widget in widgets])
    cells = tuple(
        _grid_cell(widget, share, (mine, theirs), shape, later=later)
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

    As in the list of fields, as few parts of a list as possible count as moved.
    """
    if part.parent != other.parent:
        return True
    if part.order == other.order:
        return False
    before, after = (other.order, part.order) if later else (part.order, other.order)
    return part.key in _movers(before, after)


@lru_cache(maxsize=4096)
def _movers(before: tuple[str, ...], after: tuple[str, ...]) -> frozenset[str]:
    old, new = ([cast("Json", {"key": key}) for key in order] for order in (before, after))
    found = differences(old, new, Shape(identity=("key",)))
    return frozenset(
        str(difference.path[-1]) for difference in found if difference.operation == "move"
    )


def _height(row: dict[str, Json]) -> int:
    return _units(value_at(row, ("appearance", "height"))) or DEFAULT_HEIGHT


def _shares(widgets: Sequence[dict[str, Json]]) -> list[float]:
    """Return each widget's share of a row; a width of 0 counts as the average of the others."""
    known = [_width(widget) for widget in widgets]
    declared = [width for width in known if width]
    usual = sum(declared) / len(declared) if declared else 1
    filled = [width or usual for width in known]
    return [width / sum(filled) for width in filled]


def _grid_cell(
    widget: _Part, share: float, sides: tuple[_Layout, _Layout], shape: Shape, *, later: bool
) -> Cell:
    mine, theirs = sides
    chart, definition = shown_by(widget.document)
    other = theirs.widgets.get(widget.key)
    marks: tuple[Mark, ...] = ()
    elsewhere = ""
    if other is not None:
        marks = tuple(_grid_marks(widget, other, shape, later=later))
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


def _grid_marks(widget: _Part, other: _Part, shape: Shape, *, later: bool) -> Iterator[Mark]:
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


WHOLE = 100.0
FINEST = 0.001


@dataclass(frozen=True, slots=True)
class Aim:
    """One side of an objective: target in per cent, window in words and, if known, in days."""

    target: float | None
    window: str
    days: int | None

    @property
    def budget(self) -> float | None:
        """The share that may fail, in per cent, rounded."""
        return None if self.target is None else round(WHOLE - self.target, 9)

    @property
    def nines(self) -> float | None:
        """The target on a scale of nines: 90 % is 1, 99.9 % is 3, 5 at most."""
        if self.budget is None:
            return None
        return -log10(min(max(self.budget, FINEST), WHOLE) / WHOLE)


@dataclass(frozen=True, slots=True)
class AimSides:
    """An objective before, where there was one, and after."""

    before: Aim | None
    after: Aim

    @property
    def changed(self) -> bool:
        """Return whether target or window differ."""
        return self.before is not None and self.before != self.after


def aim_sides(
    picture: Objective, before: Json | Missing, after: Json | Missing, model: type[Part]
) -> AimSides:
    """Return target and window of both documents."""
    was = _aim(picture, before, model) if isinstance(before, dict) and before else None
    return AimSides(was, _aim(picture, after, model))


def _aim(picture: Objective, document: Json | Missing, model: type[Part]) -> Aim:
    target = value_at(document, picture.target)
    window = value_at(document, picture.window)
    days = days_in(window)
    words = (
        spoken_value(window, facts_at(model, picture.window)) if days is None else f"{days} days"
    )
    number = None if isinstance(target, str) else number_of(target)
    if number is not None and not 0 <= number <= WHOLE:
        # The target is not a percentage, so it is not drawn; its field shows the value.
        number = None
    return Aim(number, words, days)


def describe_target(aim: Aim) -> str:
    """Return a target in words: `99.5 %`."""
    return "unknown" if aim.target is None else Unit.PERCENT.of(aim.target)


def describe_budget(aim: Aim) -> str:
    """Return the share that may fail in words: `0.5 %, 1 in 200, 3 h 21 min of 28 days`."""
    if aim.budget is None:
        return "unknown"
    if aim.budget <= 0:
        return "nothing may fail"
    words = [Unit.PERCENT.of(aim.budget), f"1 in {round(WHOLE / aim.budget):,}"]
    if aim.days is not None:
        words.append(failing_time(WHOLE - aim.budget, aim.days))
    return ", ".join(words)


@dataclass(frozen=True, slots=True)
class Ranked:
    """An item at its place, from 1.

    `other` is its place in the other list (before or after), None where it is not in that list.
    """

    place: int
    name: str
    says: str
    marks: tuple[Mark, ...] = ()
    other: int | None = None


@dataclass(frozen=True, slots=True)
class RankingSides:
    """The list before and after; texts are safe."""

    before: tuple[Ranked, ...]
    after: tuple[Ranked, ...]


def ranking_sides(
    picture: Ranking, before: Json | Missing, after: Json | Missing, model: type[Part], shape: Shape
) -> RankingSides:
    """Return two lists, compared by the names of their items; as few as possible count as moved."""
    for step in picture.items:
        shape = shape.at(step)
    old, new = (_named(picture, value_at(side, picture.items)) for side in (before, after))
    marks = _drawing_marks(old, new, picture, shape)
    was, now = ({name: place for place, name in enumerate(side, 1)} for side in (old, new))

    def drawn(side: Mapping[str, Json], places: Mapping[str, int]) -> Iterator[Ranked]:
        for place, (name, item) in enumerate(side.items(), 1):
            found = tuple(marks.get(name, ())) if old and new else ()
            says = " · ".join(filter(None, _saying(picture, item, model)))
            yield Ranked(place, safe(name), says, found, places.get(name))

    return RankingSides(tuple(drawn(old, now)), tuple(drawn(new, was)))


def _named(picture: Ranking, items: Json | Missing) -> dict[str, Json]:
    found = {}
    for place, item in enumerate(items if isinstance(items, list) else (), 1):
        named = value_at(item, picture.name)
        name = stored_name(named) if isinstance(named, str) else ""
        found[name if isinstance(named, str) and name not in found else f"{place}"] = item
    return found


def _drawing_marks(
    old: Mapping[str, Json], new: Mapping[str, Json], picture: Ranking, shape: Shape
) -> dict[str, list[Mark]]:
    marks: dict[str, list[Mark]] = {}
    keyed = Shape(items=shape.item, identity=picture.name)
    for difference in differences([*old.values()], [*new.values()], keyed):
        name = str(difference.path[0]) if difference.path else ""
        whole = len(difference.path) == 1
        mark = Mark.EDITED
        if whole and difference.operation == "move":
            mark = Mark.MOVED
        elif whole and difference.before is ABSENT:
            mark = Mark.ADDED
        elif whole and difference.after is ABSENT:
            mark = Mark.REMOVED
        if mark not in marks.setdefault(name, []):
            marks[name].append(mark)
    return marks


def _saying(picture: Ranking, item: Json, model: type[Part]) -> Iterator[str]:
    for path in picture.says:
        found, facts = value_at(item, path), facts_at(model, (*picture.items, 0, *path))
        if isinstance(found, bool):
            yield safe(path[-1]) if found else ""
        elif isinstance(found, list):
            members = facts.items or NOTHING
            yield ", ".join(spoken_value(member, members) for member in found)
        elif found is not ABSENT and found is not None:
            yield spoken_value(found, facts)


Drawing: TypeAlias = DashboardSides | RankingSides | AimSides


def drawing_of(change: Change) -> Drawing | None:
    """Return the drawing of a planned write; None where its kind has no picture."""
    kind = BY_NAME.get(change.ref.kind)
    if kind is None or kind.picture is None or not change.action.writes:
        return None
    before, after = live_document(change), change.body
    match kind.picture:
        case Grid() as grid:
            return grid_sides(grid, before, after, kind.spec)
        case Ranking() as ranking:
            return ranking_sides(ranking, before, after, kind.spec, kind.shape)
        case Objective() as objective:
            return aim_sides(objective, before, after, kind.spec)
        case _:
            assert_never(kind.picture)


WIDTH = 96
NARROWEST_CELL = 12
FEWEST_IN_CELL = 5
MOST_LINES = 40
FEWEST_FOLDED = 3


def picture_lines(drawing: Drawing | None, room: int = WIDTH) -> list[str]:
    """Return the picture in safe lines of `room` columns; none where the fields show as much.

    A grid is drawn where it is new or its layout changes, a ranking where items are added,
    removed or moved, an objective where it is new or its target or window changes.
    """
    match drawing:
        case None:
            return []
        case DashboardSides():
            lines = list(_grid(drawing, room))
        case RankingSides():
            lines = list(_ranking(drawing))
        case AimSides():
            lines = list(_objective(drawing, room))
        case _:
            assert_never(drawing)
    return [*lines[:MOST_LINES], *filter(None, [and_more(len(lines) - MOST_LINES, "line")])]


def _grid(sides: DashboardSides, room: int) -> Iterator[str]:
    marks = sides.counts
    if sides.before and (not sides.changed or set(marks) == {Mark.EDITED}):
        return
    for index, section in enumerate(sides.after, 1):
        note = f"  ({section.note})" if section.note else ""
        name = as_json(section.title) if section.title else str(index)
        rows = list(_rows(section, room, whole=not sides.before))
        yield f"section {name}{note}{'' if rows else ': the same'}"
        yield from rows
    for section in sides.before:
        for number, row in enumerate(section.rows, 1):
            if gone := [cell for cell in row.cells if Mark.REMOVED in cell.marks]:
                named = ", ".join(as_json(cell.title) for cell in gone)
                where = f" in section {as_json(section.title)}" if section.title else ""
                yield f"- removed from row {number}{where}: {named}"
    if marks:
        yield "  ".join(f"{mark.value} {count} {mark.word}" for mark, count in marks.items())


def _rows(section: GridSection, room: int, *, whole: bool) -> Iterator[str]:
    touched = [
        whole or bool(row.note) or any(cell.marks for cell in row.cells) for row in section.rows
    ]
    numbered = zip(section.rows, touched, range(1, len(section.rows) + 1), strict=True)
    if not any(touched):
        return
    for shown, run in groupby(numbered, key=lambda numbered_row: numbered_row[1]):
        rows = list(run)
        if shown:
            yield from (_drawing_row(row, number, room) for row, _, number in rows)
        else:
            yield f"  {len(rows)} more row{'s' if len(rows) > 1 else ''}, the same"


def _drawing_row(row: GridRow, number: int, room: int) -> str:
    note = f"  {row.note}" if row.note else ""
    inside = room - len(f"  {number:>2} ") - columns(note)
    average = inside // max(1, len(row.cells))
    narrowest = max(FEWEST_IN_CELL, min(NARROWEST_CELL, average))
    cells = "".join(_drawing_cell(cell, inside, narrowest) for cell in row.cells)
    return f"  {number:>2} {cells or '[]'}{note}"


def _drawing_cell(cell: Cell, room: int, narrowest: int) -> str:
    inside = max(narrowest, int(cell.share * room)) - 2
    signs = "".join(mark.value for mark in cell.marks)
    return "[" + padded(f"{signs} {cell.title or cell.chart}".lstrip(), inside) + "]"


def _ranking(sides: RankingSides) -> Iterator[str]:
    gone = [ranked for ranked in sides.before if Mark.REMOVED in ranked.marks]
    if not gone and not any({Mark.ADDED, Mark.MOVED} & {*ranked.marks} for ranked in sides.after):
        return
    for marked, run in groupby(sides.after, key=lambda ranked: bool(ranked.marks)):
        items = list(run)
        if marked or len(items) < FEWEST_FOLDED:
            yield from map(_ranked, items)
        else:
            yield f"{items[0].place:>3}-{items[-1].place} the same, in the same order"
    yield from (f"  - {ranked.name}  removed, was at place {ranked.place}" for ranked in gone)


def _ranked(ranked: Ranked) -> str:
    words = [
        f"from place {ranked.other}" if mark is Mark.MOVED else mark.word for mark in ranked.marks
    ]
    signs = "".join(mark.value for mark in ranked.marks)
    marks = f"  {', '.join(words)}" if words else ""
    return f"{ranked.place:>3} {signs or ' '} {ranked.name}{marks}"


def _objective(sides: AimSides, room: int) -> Iterator[str]:
    if sides.before is not None and sides.changed:
        before, after = (
            f"may fail: {describe_budget(sides.before)}",
            f"→ {describe_budget(sides.after)}",
        )
        whole = f"{before} {after}"
        yield from (whole,) if columns(whole) <= room else (before, f"  {after}")
    if sides.before is None and sides.after.budget is not None:
        yield f"may fail: {describe_budget(sides.after)}"
