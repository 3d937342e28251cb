"""Dashboards, rankings and objectives before and after."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from random_plans import VALUES
from sample_plans import policies, policy, policy_change, updated

from reconciler.document import ABSENT, Json
from reconciler.kinds import BY_NAME
from reconciler.kinds.kind import Grid
from reconciler.model import Action, Change
from reconciler.report.drawings import (
    AimSides,
    Cell,
    DashboardSides,
    Mark,
    RankingSides,
    describe_budget,
    drawing_of,
    grid_sides,
    picture_lines,
    query_of,
)
from reconciler.report.safe import columns

SPEC = BY_NAME["Dashboard"].spec
SECTIONS = Grid(("dashboard", "layout", "sections"))


def widget(name: str, title: str = "", width: int = 0, query: str = "up") -> Json:
    """Give a gauge."""
    return {
        "id": {"value": name},
        "title": title or name,
        "appearance": {"width": width},
        "definition": {"gauge": {"query": {"metrics": {"promqlQuery": {"value": query}}}}},
    }


def board(*rows: list[Json], heights: tuple[int, ...] = ()) -> dict[str, Json]:
    """Give a dashboard of one section; rows keep their ids by number."""
    made: list[Json] = [
        {
            "id": {"value": f"row-{number}"},
            "widgets": widgets,
            "appearance": {"height": heights[number] if heights else 19},
        }
        for number, widgets in enumerate(rows)
    ]
    section: Json = {
        "id": {"value": "s"},
        "options": {"custom": {"name": "Orders"}},
        "rows": made,
    }
    return {"dashboard": {"name": "One", "layout": {"sections": [section]}}}


def cells(sides: DashboardSides, *, later: bool = True) -> dict[str, Cell]:
    """Give the widgets of one side by their titles."""
    sections = sides.after if later else sides.before
    return {cell.title: cell for section in sections for row in section.rows for cell in row.cells}


def compared(before: dict[str, Json], after: dict[str, Json]) -> DashboardSides:
    """Draw two dashboards."""
    return grid_sides(SECTIONS, before, after, SPEC)


@pytest.mark.parametrize(
    ("before", "after", "marks"),
    [
        ([[widget("a")]], [[widget("a"), widget("b")]], {"b": (Mark.ADDED,)}),
        ([[widget("a"), widget("b")]], [[widget("b"), widget("a")]], {"b": (Mark.MOVED,)}),
        ([[widget("a")], []], [[], [widget("a")]], {"a": (Mark.MOVED,)}),
        ([[widget("a")]], [[widget("a", width=5)]], {"a": (Mark.RESIZED,)}),
        ([[widget("a")]], [[widget("a", query="down")]], {"a": (Mark.EDITED,)}),
        (
            [[widget("a"), widget("b")]],
            [[widget("b", width=3, query="x"), widget("a")]],
            {"b": (Mark.MOVED, Mark.RESIZED, Mark.EDITED)},
        ),
        ([[widget("a"), widget("b")]], [[widget("a"), widget("b")]], {}),
    ],
)
def test_each_widget_is_marked_with_what_becomes_of_it(
    before: list[list[Json]], after: list[list[Json]], marks: dict[str, tuple[Mark, ...]]
) -> None:
    """A widget is found again by its id, and marked as added, moved, resized or edited."""
    found = cells(compared(board(*before), board(*after)))

    assert {title: cell.marks for title, cell in found.items() if cell.marks} == marks


def test_a_removed_widget_stays_in_the_picture_before() -> None:
    """What goes is marked where it stood, and counted."""
    sides = compared(board([widget("a"), widget("b")]), board([widget("a")]))

    assert cells(sides, later=False)["b"].marks == (Mark.REMOVED,)
    assert sides.counts == {Mark.REMOVED: 1}


def test_a_moved_widget_says_from_where() -> None:
    """After, a moved widget says where it stood; before, where it goes."""
    sides = compared(board([widget("a")], [widget("b")]), board([], [widget("b"), widget("a")]))

    assert cells(sides)["a"].elsewhere == "from row 1, place 1"
    assert cells(sides, later=False)["a"].elsewhere == "to row 2, place 2"


def test_a_width_of_zero_is_an_average_one() -> None:
    """The widths of a row add up to all of it, and 0 is as wide as the others on average."""
    found = cells(
        compared(board(), board([widget("a", width=6), widget("b", width=2), widget("c")]))
    )

    assert [found[name].share for name in "abc"] == [0.5, 2 / 12, 4 / 12]


def test_a_row_says_its_new_height() -> None:
    """A row whose height changes says so on both sides."""
    sides = compared(board([widget("a")], heights=(10,)), board([widget("a")], heights=(30,)))

    assert [side[0].rows[0].note for side in (sides.before, sides.after)] == ["height 10 → 30"] * 2
    assert sides.changed


def test_a_new_dashboard_has_no_marks() -> None:
    """Where there was none, nothing is marked as added: all of it is."""
    sides = grid_sides(SECTIONS, ABSENT, board([widget("a")]), SPEC)

    assert (sides.before, cells(sides)["a"].marks) == ((), ())


@given(before=VALUES, after=VALUES)
def test_any_document_can_be_drawn(before: Json, after: Json) -> None:
    """Whatever the service or a manifest holds, drawing it fails at nothing."""
    layouts: list[Json] = [
        {"dashboard": {"layout": {"sections": [side, {"rows": [{"widgets": [side]}, side]}]}}}
        for side in (before, after)
    ]

    sides = grid_sides(SECTIONS, layouts[0], layouts[1], SPEC)

    assert len(sides.after) >= 1
    assert query_of(before) is not None


def test_the_first_query_is_shown() -> None:
    """The query of a widget is found in each form that it has, and its text where it has none."""
    metrics: Json = {"query": {"metrics": {"promqlQuery": {"value": "up"}}}}
    forms: list[Json] = [
        metrics,
        {"queryDefinitions": [metrics]},
        {"query": {"logs": {"filters": [], "luceneQuery": {"value": "up"}}}},
        {"query": {"queryLanguage": {"queryLanguageQuery": {"text": "up"}}}},
        {"markdownText": "up"},
    ]

    assert [query_of(form) for form in forms] == ["up"] * 5


def test_the_compact_grid() -> None:
    """In text, what changes is drawn row by row, and what stays is counted."""
    before = board([widget("a")], [widget("b"), widget("c")])
    after = board([widget("a")], [widget("c"), widget("b"), widget("d", "Errors")])

    lines = picture_lines(compared(before, after), 44)

    assert lines == [
        'section "Orders"',
        "  1 more row, the same",
        "   2 [↕ c        ][b          ][+ Errors   ]",
        "+ 1 added  ↕ 1 moved",
    ]


@pytest.mark.parametrize("title", ["日本語のタイトルがここに長く続く", "x" * 200, ""])
def test_cells_keep_their_width(title: str) -> None:
    """However wide its letters are, a title keeps to its cell."""
    before = board([widget("a")])
    lines = picture_lines(compared(before, board([widget("a"), widget("b", title)])), 60)

    assert columns(lines[1]) <= 60


def test_only_edits_need_no_grid() -> None:
    """Where nothing comes, goes, moves or grows, the list of fields says it as well."""
    before, after = board([widget("a")]), board([widget("a", query="down")])

    assert picture_lines(compared(before, after)) == []
    assert picture_lines(None) == []


def test_the_order_of_policies() -> None:
    """Each policy says its old place, what is removed where it was, and a calm run is one line."""
    drawing = drawing_of(policy_change())

    assert isinstance(drawing, RankingSides)
    assert picture_lines(drawing) == [
        "  1 ↕ Errors  from place 3",
        "  2 + Health checks  added",
        "  3   Audit",
        "  4 ~ Noise  edited",
        "  - Search  removed, was at place 4",
    ]


def test_a_long_calm_run_is_folded() -> None:
    """Policies that stay as they are, in their order, take one line."""
    calm = [policy(f"P{number}", "LOW") for number in range(5)]
    change = updated("LogPolicySet", "one", policies(*calm), policies(*calm, policy("New", "HIGH")))

    assert picture_lines(drawing_of(change)) == [
        "  1-5 the same, in the same order",
        "  6 + New  added",
    ]


def objective(before: Json, after: Json, days: int = 28) -> Change:
    """Give the update of an SLO's target."""
    window = f"SLO_TIME_FRAME_{days}_DAYS"
    return updated(
        "SLO",
        "one",
        {"targetThresholdPercentage": before, "sloTimeFrame": window},
        {"targetThresholdPercentage": after, "sloTimeFrame": window},
    )


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (99.5, "0.5 %, 1 in 200, 3 h 21 min of 28 days"),
        (99.9, "0.1 %, 1 in 1,000, 40 min 19 s of 28 days"),
        (99.99999, "0.00001 %, 1 in 10,000,000, 0 s of 28 days"),
        (100, "nothing may fail"),
        ("much", "unknown"),
    ],
)
def test_what_may_fail(target: Json, words: str) -> None:
    """A target is said as what may fail: a share, one in so many, and a time."""
    drawing = drawing_of(objective(90, target))

    assert isinstance(drawing, AimSides)
    assert describe_budget(drawing.after) == words


def test_a_scale_of_nines() -> None:
    """Each nine is one step; 100 % is the end of the scale and not beyond it."""
    nines = []
    for target in (0, 90, 99, 99.9, 100):
        drawing = drawing_of(objective(50, target))
        assert isinstance(drawing, AimSides)
        nines.append(drawing.after.nines)

    assert nines == pytest.approx([0, 1, 2, 3, 5])


def test_nothing_is_drawn_of_what_is_not_written() -> None:
    """A blocked change sends nothing, so it has no picture, nor has a kind without one."""
    blocked = replace(objective(90, 99), action=Action.BLOCKED)
    view = updated("SavedView", "one", {"name": "A"}, {"name": "B"})

    assert [drawing_of(blocked), drawing_of(view)] == [None, None]
