"""The page at `/`: what the emulator holds, and the last requests.

It needs no key, as a browser has none: it is for the person who started the emulator, on loopback.
It runs no script, loads nothing, and shows no body of a request. What it shows cannot break its
HTML: every text is escaped unless it is markup.
"""

import base64
import hashlib
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from functools import cache
from html import escape
from importlib.resources import files
from itertools import islice
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from reconciler.emulator import (
    alert_definition_endpoints,
    dashboard_endpoints,
    log_policy_endpoints,
    record_endpoints,
    saved_view_endpoints,
    slo_endpoints,
    wire,
)
from reconciler.emulator.database import API_ROOT, RequestRecord, Store

_ENDS = {"meta": ">", "line": "/>"}
"""The ends of elements that hold nothing."""


class Markup(str):
    """Text that is HTML already: what `tag` and `join` make, and our own style sheet."""

    __slots__ = ()


def tag(name: str, /, *children: object, **attributes: object) -> Markup:
    """Return an element; `class_` is the attribute `class`, and `_` in a name is `-`."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    end = _ENDS.get(name) or f">{join(children)}</{name}>"
    return Markup(f"<{name}{written}{end}")


def join(part: object) -> Markup:
    """Return a text escaped unless it is markup, or several of them joined.

    Control and bidirectional characters are shown, not obeyed.
    """
    match part:
        case Markup():
            return part
        case list() | tuple():
            return Markup("".join(map(join, part)))
        case _:
            shown = "".join(
                character if character.isprintable() else f"\\u{ord(character):04x}"
                for character in str(part)
            )
            return Markup(escape(shown))


_SHOWN = 50
_GOOD = range(200, 400)
_Columns = Mapping[str, Callable[[Any], object]]
"""The cell of a record, by the head of its column."""


def _soft(text: str, *, element: str = "span") -> Markup:
    return tag(element, text, class_="soft")


def _priority(alert: wire.JsonObject) -> str:
    return str(alert["alertDefProperties"]["priority"]).removeprefix("ALERT_DEF_PRIORITY_")[:2]


def _alert_state(alert: wire.JsonObject) -> Markup:
    if not alert["alertDefProperties"]["enabled"]:
        return _soft("off")
    if alert["isActive"]:
        return tag("span", "triggered", class_="mark bad")
    return tag("span", "quiet", class_="mark good")


def _state(word: str) -> Markup:
    tone = {"resolved": "good", "closed": "good", "acknowledged": "warn"}.get(word, "bad")
    return tag("span", word, class_=f"mark {tone}")


def _word(value: str, prefix: str) -> str:
    """Return `triggered` for `INCIDENT_STATUS_TRIGGERED`."""
    return value.removeprefix(prefix).replace("_", " ").lower()


def _moment(text: str | None) -> str:
    return text[:16].replace("T", " ") if text else "-"


_ALERTS: _Columns = {
    "": _priority,
    "Alert": lambda alert: alert["alertDefProperties"]["name"],
    "State": _alert_state,
    "Last triggered": lambda alert: _moment(alert.get("lastTriggeredTime")),
}
_SLOS: _Columns = {
    "SLO": lambda slo: slo["name"],
    "Target": lambda slo: f"{slo['targetThresholdPercentage']:g} %",
    "Over": lambda slo: _word(slo["sloTimeFrame"], "SLO_TIME_FRAME_"),
    "Revision": lambda slo: slo["revision"]["revision"],
}
_POLICIES: _Columns = {
    "#": lambda policy: policy["order"],
    "Policy": lambda policy: policy["name"],
    "Priority": lambda policy: _word(policy["priority"], "PRIORITY_TYPE_"),
    "Application": lambda policy: policy.get("applicationRule", {}).get("name", "any"),
    "": lambda policy: tag("span", "on", class_="good") if policy["enabled"] else _soft("off"),
}
_VIEWS: _Columns = {
    "Id": lambda view: view["id"],
    "View": lambda view: view["name"],
    "Query": lambda view: tag("code", view.get("searchQuery", {}).get("query", "")),
}
_INCIDENTS: _Columns = {
    "Incident": lambda incident: incident["name"],
    "Severity": lambda incident: _word(incident["severity"], "INCIDENT_SEVERITY_"),
    "Status": lambda incident: _state(_word(incident["status"], "INCIDENT_STATUS_")),
    "Since": lambda incident: _moment(incident.get("createdAt")),
}
_CASES: _Columns = {
    "Case": lambda case: case["readableId"],
    "Title": lambda case: case["title"],
    "": lambda case: _word(case["priority"], "CASE_PRIORITY_").upper(),
    "Status": lambda case: _state(_word(case["status"], "CASE_STATUS_")),
    "Since": lambda case: _moment(case["createTime"]),
}
_REQUESTS: _Columns = {
    "At": lambda noted: _soft(noted[0][11:19]),
    "": lambda noted: noted[1].method,
    "Path": lambda noted: tag("code", noted[1].path.removeprefix(API_ROOT)),
    "Status": lambda noted: tag(
        "span",
        noted[1].status or "dropped",
        class_="good" if noted[1].status in _GOOD else "bad",
    ),
}


def _table(columns: _Columns, records: Iterable[object], nothing: str) -> Markup:
    body = [tag("tr", [tag("td", cell(record)) for cell in columns.values()]) for record in records]
    if not body:
        return _soft(nothing, element="p")
    head = tag("thead", tag("tr", [tag("th", name, scope="col") for name in columns]))
    return tag("div", tag("table", head, tag("tbody", body)), class_="scroll")


_WIDTH, _HEIGHT, _FOOT, _LEFT = 960, 180, 20, 40
_SATURDAY = 5


def _usage_chart(days: list[wire.JsonObject]) -> Markup:
    """Draw one bar a day, weekends paler, between a line for zero and one for the highest value."""
    if not days:
        return _soft("No usage.", element="p")
    highest = max(day["totalUnits"]["value"] for day in days) or 1.0
    step = (_WIDTH - _LEFT) / len(days)
    floor = _HEIGHT - _FOOT
    return tag(
        "svg",
        tag(
            "g",
            tag("line", x1=_LEFT, x2=_WIDTH, y1=floor, y2=floor, class_="axis"),
            tag("line", x1=_LEFT, x2=_WIDTH, y1=10, y2=10, class_="axis"),
            tag("text", f"{highest:.0f}", x=_LEFT - 6, y=14, text_anchor="end"),
            tag("text", "0", x=_LEFT - 6, y=floor, text_anchor="end"),
        ),
        [_bar(_LEFT + place * step, day, highest, step) for place, day in enumerate(days)],
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        role="img",
        aria_label=f"Units a day over {len(days)} days, at most {highest:.0f}",
    )


def _bar(left: float, day: wire.JsonObject, highest: float, step: float) -> Markup:
    value = day["totalUnits"]["value"]
    height = value / highest * (_HEIGHT - _FOOT - 10)
    moment = date.fromisoformat(day["statsDate"][:10])
    label = tag("text", f"{moment:%d %b}", x=f"{left:.1f}", y=_HEIGHT - 5)
    bar = tag(
        "rect",
        tag("title", f"{moment:%a %d %B %Y}: {value:.1f} units"),
        x=f"{left + step * 0.12:.1f}",
        y=f"{_HEIGHT - _FOOT - height:.1f}",
        width=f"{step * 0.76:.1f}",
        height=f"{height:.1f}",
        rx=2,
        class_="bar weekend" if moment.weekday() >= _SATURDAY else "bar",
    )
    return tag("g", bar, label if moment.weekday() == 0 else "")


_COLUMNS = 12
_LARGEST = 24


def _dashboard_grid(record: wire.JsonObject) -> Markup:
    dashboard = record["dashboard"]
    slug = dashboard.get("slugName")
    sections = dashboard.get("layout", {}).get("sections", [])
    rows = [_row(row) for section in sections for row in section.get("rows", [])]
    return tag(
        "div",
        tag(
            "h3",
            dashboard["name"],
            " ",
            tag("code", "/" + slug, class_="soft") if slug else "",
            " ",
            tag("span", "locked", class_="mark warn") if record.get("isLocked") else "",
        ),
        tag("div", rows, class_="grid") if rows else _soft("No widgets.", element="p"),
    )


def _row(row: wire.JsonObject) -> Markup:
    widgets = row.get("widgets", [])
    height = _size(row.get("appearance", {}).get("height") or 6)
    tiles = []
    for widget in widgets:
        width = _size(widget.get("appearance", {}).get("width") or _COLUMNS // len(widgets))
        kind = next(iter(widget.get("definition") or {"empty": None}))
        title = tag("b", widget.get("title") or kind)
        tiles.append(tag("div", title, _soft(kind), class_=f"tile w{width} h{height}"))
    return tag("div", tiles, class_="row")


def _size(number: int) -> int:
    return max(1, min(_LARGEST, number))


_CHART_DAYS = 56
_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_TABLES: dict[str, tuple[str, str, type[wire.WireObject]]] = {
    "dashboards": ("dashboards", "slug", dashboard_endpoints.StoredDashboard),
    "alerts": ("alert_definitions", "rowid", alert_definition_endpoints.StoredAlertDefinition),
    "SLOs": ("slos", "rowid", slo_endpoints.SloDefinition),
    "policies": ("log_policies", "place", log_policy_endpoints.LogPolicy),
    "views": ("saved_views", "id", saved_view_endpoints.SavedView),
}
"""Table, column to sort by and model."""


async def page(request: Request) -> Response:
    """Answer with the page of the present records and requests."""
    state = request.app.state
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", "Emulator"),
        tag("style", _style()),
    )
    body = _body(state.store, state.record, state.clock().date())
    return HTMLResponse(
        "<!DOCTYPE html>\n" + tag("html", head, body, lang="en"),
        headers={**_HEADERS, "Content-Security-Policy": policy()},
    )


@cache
def _style() -> Markup:
    text = files("reconciler.emulator").joinpath("page.css").read_text(encoding="utf-8")
    return Markup(f"\n{text}")


@cache
def policy() -> str:
    """Return what the page may load: its style sheet, known by its hash."""
    known = base64.b64encode(hashlib.sha256(_style().encode()).digest()).decode()
    return (
        "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        f"style-src 'sha256-{known}'"
    )


def _body(store: Store, record: RequestRecord, today: date) -> Markup:
    held = {
        name: [wire.whole(model, record) for record in store.records(table, f"ORDER BY {column}")]
        for name, (table, column, model) in _TABLES.items()
    }
    active = {alert_id for (alert_id,) in store.rows("SELECT alert_id FROM active_alerts")}
    alerts = [{**alert, "isActive": alert["id"] in active} for alert in held["alerts"]]
    alerts.sort(key=lambda alert: (_priority(alert), alert["alertDefProperties"]["name"]))
    slos = sorted(held["SLOs"], key=lambda slo: str(slo["name"]))
    incidents = store.records("incidents", "ORDER BY rowid")
    incidents.sort(key=lambda incident: str(incident.get("createdAt")), reverse=True)
    # The open ones first.
    incidents.sort(key=lambda incident: "closedAt" in incident)
    cases = store.records("cases", "ORDER BY rowid")
    cases.sort(key=lambda case: str(case["createTime"]), reverse=True)
    requests = zip(reversed(record.times), reversed(record.requests), strict=True)
    grids = [_dashboard_grid(dashboard) for dashboard in held["dashboards"]]
    figures = {
        **{name: len(records) for name, records in held.items()},
        "alert events": len(store.rows("SELECT 1 FROM alert_events")),
        "open incidents": sum("closedAt" not in incident for incident in incidents),
        "cases": len(cases),
    }
    chart = _usage_chart(record_endpoints.last_days(store, today, _CHART_DAYS))
    return tag(
        "body",
        tag(
            "header",
            tag("h1", "Observability Management API, emulated"),
            _soft("What this emulator holds, and what it was asked last.", element="p"),
            tag(
                "div",
                [
                    tag("div", tag("b", figure), name, class_="figure")
                    for name, figure in figures.items()
                ],
                class_="figures",
            ),
        ),
        tag(
            "main",
            _section("Data usage, units a day", chart, is_wide=True),
            _section("Alerts", _table(_ALERTS, alerts, "No alert definitions.")),
            _section("Incidents", _table(_INCIDENTS, incidents[:_SHOWN], "No incidents.")),
            _section("Dashboards", grids or _soft("No dashboards.", element="p"), is_wide=True),
            _section("SLOs", _table(_SLOS, slos, "No SLOs.")),
            _section(
                "Log policies, in order", _table(_POLICIES, held["policies"], "No log policies.")
            ),
            _section("Cases", _table(_CASES, cases[:_SHOWN], "No cases.")),
            _section("Saved views", _table(_VIEWS, held["views"], "No saved views.")),
            _section(
                "Last requests",
                _table(_REQUESTS, islice(requests, _SHOWN), "Nothing was asked yet."),
                is_wide=True,
            ),
        ),
    )


def _section(title: str, content: object, *, is_wide: bool = False) -> Markup:
    return tag("section", tag("h2", title), content, class_="wide" if is_wide else None)
