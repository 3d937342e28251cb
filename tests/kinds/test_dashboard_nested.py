"""What stands inside a dashboard: ids that nobody declared, and fields that nobody knows."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from harness.routes import BY_SLUG, DASHBOARDS
from harness.sites import Site, assert_settled, dashboard, manifest

from reconciler.document import Json
from reconciler.model import Manifest

OWN_ID = "abcdefghij_klmnop-123"
CHECKOUT = dashboard()
DESCRIBED = dashboard(description="How orders go")


def record(site: Site, slug: str = "checkout") -> Any:
    """Give the stored record of a slug."""
    return site.outside("GET", f"{BY_SLUG}/{slug}")


LAYOUT_ID = "11111111-1111-4111-8111-111111111111"


def test_nested_ids(site: Site) -> None:
    """Nested ids that nobody declared are derived, kept from then on, and no difference."""
    site.apply(CHECKOUT)
    first = record(site)["dashboard"]["layout"]
    section = first["sections"][0]
    assert section["id"]["value"]
    assert section["rows"][0]["widgets"][0]["id"]["value"]

    site.apply(DESCRIBED)

    assert record(site)["dashboard"]["layout"] == first


def test_same_ids_anywhere(tmp_path: Path) -> None:
    """Derived ids are the same on every machine, so two plans agree."""
    plans = [Site(tmp_path / name).plan(CHECKOUT) for name in ("one", "two")]

    assert plans[0].digest == plans[1].digest


def test_ids_of_the_web_interface(site: Site) -> None:
    """Ids that the web interface gave are kept: what has them is found by its content and place."""
    site.apply(CHECKOUT)
    stored = record(site)["dashboard"]
    stored["layout"]["sections"][0]["id"]["value"] = LAYOUT_ID
    stored["layout"]["sections"][0]["rows"][0]["widgets"][0]["id"]["value"] = LAYOUT_ID
    site.outside("PUT", DASHBOARDS, {"dashboard": stored, "requestId": "x"})

    assert site.change(CHECKOUT).action.word == "keep"
    site.apply(DESCRIBED)
    kept = record(site)["dashboard"]["layout"]["sections"][0]
    assert kept["id"]["value"] == kept["rows"][0]["widgets"][0]["id"]["value"] == LAYOUT_ID


def with_widgets(*titles: str) -> Manifest:
    """Give a dashboard with one row of widgets, without ids."""
    widgets: list[Json] = [
        {"title": title, "definition": {"markdown": {"markdownText": title}}} for title in titles
    ]
    layout: Json = {"sections": [{"rows": [{"appearance": {"height": 19}, "widgets": widgets}]}]}
    return manifest("Dashboard/checkout", {"dashboard": {"name": "Checkout", "layout": layout}})


def widget_ids(site: Site) -> dict[str, str]:
    """Map the titles of the live widgets to their ids."""
    row = record(site)["dashboard"]["layout"]["sections"][0]["rows"][0]
    return {widget["title"]: widget["id"]["value"] for widget in row["widgets"]}


@pytest.mark.parametrize(
    "titles", [("c", "a", "b"), ("b", "a"), ("new", "a", "b", "c"), ("a", "c")]
)
def test_widgets_moved(site: Site, titles: tuple[str, ...]) -> None:
    """However widgets are moved, added or removed, each keeps its id, and no two share one."""
    site.apply(with_widgets("a", "b", "c"))
    before = widget_ids(site)

    site.apply(with_widgets(*titles))

    after = widget_ids(site)
    assert list(after) == list(titles)
    assert all(after[title] == before[title] for title in titles if title in before)
    assert len(set(after.values())) == len(titles)
    assert_settled(site, with_widgets(*titles))


def test_unknown_live_fields(site: Site) -> None:
    """What the live dashboard has beside the declaration survives the replace."""
    site.apply(CHECKOUT)
    stored = copy.deepcopy(record(site)["dashboard"])
    stored["seriesVisibility"] = {"a": [1, 2]}
    stored["layout"]["sections"][0]["layoutColumns"] = 3
    site.outside("PUT", DASHBOARDS, {"dashboard": stored, "requestId": "x"})

    assert site.change(CHECKOUT).action.word == "keep"
    site.apply(DESCRIBED)

    after = record(site)["dashboard"]
    assert after["seriesVisibility"] == {"a": [1, 2]}
    assert after["layout"]["sections"][0]["layoutColumns"] == 3
