"""Where something stands, in the words of a reader."""

from __future__ import annotations

import pytest
from hypothesis import given
from random_plans import PATHS, VALUES

from reconciler.document import ABSENT, Json, Path
from reconciler.kinds import BY_NAME
from reconciler.report.safe import safe
from reconciler.report.spoken import Place, singular, spoken_place

UNSAID = BY_NAME["Dashboard"].unsaid
LAYOUT = ("dashboard", "layout", "sections")


def widget(name: str, title: str) -> Json:
    """Give a widget with two queries."""
    queries: Json = [{"query": {"metrics": {"promqlQuery": {"value": "up"}}}}, {"name": "All"}]
    chart: Json = {"lineChart": {"queryDefinitions": queries}}
    return {"id": {"value": name}, "title": title, "definition": chart}


def section(name: str, *rows: Json) -> Json:
    """Give a section with a heading."""
    return {"id": {"value": name}, "options": {"custom": {"name": name}}, "rows": [*rows]}


def row(name: str, *widgets: Json) -> Json:
    """Give a row, which has no name that people know."""
    return {"id": {"value": name}, "widgets": [*widgets]}


BOARD: Json = {
    "dashboard": {
        "layout": {
            "sections": [
                section("Checkout", row("r1", widget("w1", "Latency"), widget("w2", ""))),
                section(
                    "Twice",
                    row("r2", widget("w3", "Same"), widget("w4", "Same")),
                    row("r3", widget("w5", "Same")),
                ),
            ]
        }
    },
    "rules": [{"threshold": 1}, {"threshold": 2}],
    "group": {"webhooks": [{"minutes": 1}]},
}
LATENCY = (*LAYOUT, "Checkout", "rows", "r1", "widgets", "w1")
QUERY = ("definition", "lineChart", "queryDefinitions")


@pytest.mark.parametrize(
    ("path", "subject", "field"),
    [
        ((*LATENCY, "title"), 'widget "Latency" in section "Checkout"', "title"),
        (LATENCY, 'widget "Latency" in section "Checkout"', ""),
        (
            (*LATENCY, *QUERY, 0, "query", "metrics", "promqlQuery", "value"),
            'query definition 1 of widget "Latency" in section "Checkout"',
            "query",
        ),
        (
            (*LATENCY, *QUERY, 1, "name"),
            'query definition "All" in widget "Latency" in section "Checkout"',
            "name",
        ),
        (
            (*LAYOUT, "Checkout", "rows", "r1", "widgets", "w2", "title"),
            'widget 2 of row 1 of section "Checkout"',
            "title",
        ),
        (
            (*LAYOUT, "Checkout", "rows", "r1", "appearance", "height"),
            'row 1 of section "Checkout"',
            "height",
        ),
        (
            (*LAYOUT, "Twice", "rows", "r2", "widgets", "w4"),
            'widget 2 "Same" in row 1 of section "Twice"',
            "",
        ),
        (
            (*LAYOUT, "Twice", "rows", "r3", "widgets", "w5"),
            'widget "Same" in row 2 of section "Twice"',
            "",
        ),
        ((*LAYOUT, "gone"), 'section "gone"', ""),
        (("rules", 1, "threshold"), "rule 2", "threshold"),
        (("group", "webhooks", 0, "minutes"), "webhook 1 of group", "minutes"),
        (("dashboard", "name"), "", "name"),
        (("dashboard",), "", "dashboard"),
        ((), "", ""),
    ],
)
def test_places_are_said_as_people_say_them(path: Path, subject: str, field: str) -> None:
    """A part is called by its name inside its named surroundings, and else counted from 1."""
    assert spoken_place(path, BOARD, unsaid=UNSAID) == Place(subject, field)


def test_two_widgets_are_never_called_the_same() -> None:
    """Widgets of one title are told apart by their places, in one row or in two."""
    paths = [
        (*LAYOUT, "Twice", "rows", "r2", "widgets", "w3"),
        (*LAYOUT, "Twice", "rows", "r2", "widgets", "w4"),
        (*LAYOUT, "Twice", "rows", "r3", "widgets", "w5"),
    ]

    assert len({spoken_place(path, BOARD, unsaid=UNSAID) for path in paths}) == 3


@given(path=PATHS, document=VALUES)
def test_any_path_is_said_safely(path: Path, document: Json) -> None:
    """Whatever a path and a document hold, the words are safe text on one line."""
    subject, field = spoken_place(path, document, ABSENT)

    assert (safe(subject), safe(field)) == (subject, field)


@pytest.mark.parametrize(
    ("key", "noun"),
    [
        ("queryDefinitions", "query definition"),
        ("policies", "policy"),
        ("variablesV2", "variable"),
        ("rows", "row"),
        ("", ""),
    ],
)
def test_one_of_many(key: str, noun: str) -> None:
    """One item of a list is called by the singular of the list's name."""
    assert singular(key) == noun
