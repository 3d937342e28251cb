"""Dashboards drawn with letters, so that a law about what moves where is one line.

`a b / c | d` are two sections: one with a row of the widgets `a` and `b` and a
row of `c`, and one with a row of `d`. `a:Sales` is the widget whose content is
`a` and whose title is `Sales`; its title is its letter where none is given.
`a=ID` has an id.
"""

from __future__ import annotations

from typing import Any

from harness.routes import BY_SLUG, DASHBOARDS
from harness.sites import Site, manifest

from reconciler.document import Json
from reconciler.model import Manifest


def board(drawn: str, **fields: Json) -> Manifest:
    """Give a dashboard, no item of which has an id unless it is drawn."""
    body: dict[str, Json] = {"name": "Checkout", "layout": {"sections": sections(drawn)}, **fields}
    return manifest("Dashboard/checkout", {"dashboard": body})


def sections(drawn: str) -> list[Json]:
    """Give the sections of a drawing."""
    return [
        {"rows": [{"widgets": [widget(part) for part in row.split()]} for row in part.split("/")]}
        for part in drawn.split("|")
    ]


def declared_sections(declared: Manifest) -> Any:
    """Give the sections of a manifest."""
    body: Any = declared.spec["dashboard"]
    return body["layout"]["sections"]


def widget(drawn: str) -> dict[str, Json]:
    """Give a widget, as wide as all others, whose query is its letter."""
    named, _, own_id = drawn.partition("=")
    content, colon, title = named.partition(":")
    drawn_widget: dict[str, Json] = {
        "title": title if colon else content,
        "appearance": {"width": 6},
        "definition": {"lineChart": {"legend": True, "query": f"sum({content})"}},
    }
    return {"id": {"value": own_id}, **drawn_widget} if own_id else drawn_widget


def live(site: Site) -> Any:
    """Give the live dashboard."""
    return site.outside("GET", f"{BY_SLUG}/checkout")["dashboard"]


def put(site: Site, dashboard: Any) -> None:
    """Save a dashboard as the web interface does."""
    site.outside("PUT", DASHBOARDS, {"dashboard": dashboard, "requestId": "by-hand"})


def rows_of(dashboard: Any) -> list[Any]:
    """Give all rows in reading order."""
    return [row for part in dashboard["layout"]["sections"] for row in part["rows"]]


def widgets_of(dashboard: Any) -> list[Any]:
    """Give all widgets in reading order."""
    return [value for row in rows_of(dashboard) for value in row["widgets"]]


def content_of(drawn_widget: Any) -> str:
    """Give the letter of a widget."""
    return str(drawn_widget["definition"]["lineChart"]["query"])[4:-1]


def ids_of(dashboard: Any) -> dict[str, list[str]]:
    """Map the letter of each content to the ids of its widgets, in reading order."""
    found: dict[str, list[str]] = {}
    for value in widgets_of(dashboard):
        found.setdefault(content_of(value), []).append(value["id"]["value"])
    return found
