"""The page at `/`: what the emulator holds, and what it was asked last.

It needs no key, as a browser has none: it is for the person who started the
emulator, on loopback. It runs no script, loads nothing, and shows no body of a
request.
"""

import base64
import hashlib
from datetime import date, timedelta
from functools import cache
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from reconciler.emulator import page_tables
from reconciler.emulator.cases import cases_in
from reconciler.emulator.data_usage import daily_units
from reconciler.emulator.incidents import incidents_in
from reconciler.emulator.markup import Markup, join, tag, trusted
from reconciler.emulator.models.alert_definition import StoredAlertDefinition
from reconciler.emulator.models.dashboard import StoredDashboard
from reconciler.emulator.models.log_policy import LogPolicy
from reconciler.emulator.models.saved_view import SavedView
from reconciler.emulator.models.slo import SloDefinition
from reconciler.emulator.models.wire import WireObject
from reconciler.emulator.page_dashboard import dashboard_grid
from reconciler.emulator.page_tables import records_in
from reconciler.emulator.page_usage import usage_chart
from reconciler.emulator.reading import whole
from reconciler.emulator.request_log import RequestRecord
from reconciler.emulator.store import Store

_CHART_DAYS = 56
_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_QUERIES: dict[str, tuple[str, type[WireObject]]] = {
    "dashboards": ("SELECT record FROM dashboards ORDER BY slug", StoredDashboard),
    "alerts": ("SELECT record FROM alert_definitions", StoredAlertDefinition),
    "slos": ("SELECT record FROM slos", SloDefinition),
    "policies": ("SELECT record FROM log_policies ORDER BY place", LogPolicy),
    "views": ("SELECT record FROM saved_views ORDER BY id", SavedView),
}


async def page(request: Request) -> Response:
    """Answer with the page as things are now."""
    state = request.app.state
    today = state.clock().date()
    return HTMLResponse(
        written_page(state.store, state.record, today),
        headers={**_HEADERS, "Content-Security-Policy": policy()},
    )


@cache
def style() -> str:
    """Return the only style sheet of the page."""
    text = files("reconciler.emulator").joinpath("page.css").read_text(encoding="utf-8")
    return f"\n{text}"


@cache
def policy() -> str:
    """Return what the page may load: its style sheet, known by its hash."""
    known = base64.b64encode(hashlib.sha256(style().encode()).digest()).decode()
    return (
        "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        f"style-src 'sha256-{known}'"
    )


def written_page(store: Store, record: RequestRecord, today: date) -> str:
    """Write the whole page."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", "Emulator"),
        tag("style", trusted(style())),
    )
    return "<!DOCTYPE html>\n" + tag("html", head, _body(store, record, today), lang="en")


def _body(store: Store, record: RequestRecord, today: date) -> Markup:
    held = {
        name: [whole(model, record) for record in records_in(store, query)]
        for name, (query, model) in _QUERIES.items()
    }
    incidents, cases = incidents_in(store), cases_in(store)
    row = store.row("SELECT count(*) FROM alert_events")
    figures = {
        "dashboards": len(held["dashboards"]),
        "alerts": len(held["alerts"]),
        "SLOs": len(held["slos"]),
        "policies": len(held["policies"]),
        "views": len(held["views"]),
        "alert events": row[0] if row else 0,
        "open incidents": sum("closedAt" not in incident for incident in incidents),
        "cases": len(cases),
    }
    days = daily_units(store, today - timedelta(days=_CHART_DAYS - 1), today)
    grids = [dashboard_grid(dashboard) for dashboard in held["dashboards"]]
    return tag(
        "body",
        _header(figures),
        tag(
            "main",
            _section("Data usage, units a day", usage_chart(days), is_wide=True),
            _section("Alerts", page_tables.alerts(held["alerts"], store)),
            _section("Incidents", page_tables.incidents(incidents)),
            _section("Dashboards", join(grids) or _nothing("No dashboards."), is_wide=True),
            _section("SLOs", page_tables.slos(held["slos"])),
            _section("Log policies, in order", page_tables.policies(held["policies"])),
            _section("Cases", page_tables.cases(cases)),
            _section("Saved views", page_tables.views(held["views"])),
            _section("Last requests", page_tables.requests(record), is_wide=True),
        ),
    )


def _header(figures: dict[str, int]) -> Markup:
    return tag(
        "header",
        tag("h1", "Observability Management API, emulated"),
        tag("p", "What this emulator holds, and what it was asked last.", class_="soft"),
        tag(
            "div",
            [
                tag("div", tag("b", number), name, class_="figure")
                for name, number in figures.items()
            ],
            class_="figures",
        ),
    )


def _section(title: str, content: Markup, *, is_wide: bool = False) -> Markup:
    return tag("section", tag("h2", title), content, class_="wide" if is_wide else None)


def _nothing(text: str) -> Markup:
    return tag("p", text, class_="soft")
