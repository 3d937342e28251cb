"""The page at `/`: what the emulator holds, and the last requests.

It needs no key, as a browser has none: it is for the person who started the emulator, on loopback.
It runs no script, loads nothing, and shows no body of a request. What it shows cannot break its
HTML: every text is escaped unless it is markup.
"""

import base64
import hashlib
from collections.abc import Iterable, Sequence
from datetime import date
from functools import cache
from html import escape
from importlib.resources import files
from itertools import islice

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from reconciler.emulator.alert_definition_models import StoredAlertDefinition
from reconciler.emulator.dashboard_models import StoredDashboard
from reconciler.emulator.database import Store
from reconciler.emulator.endpoint import API_ROOT
from reconciler.emulator.log_policy_endpoints import LogPolicy
from reconciler.emulator.reading import whole
from reconciler.emulator.request_log import RequestRecord
from reconciler.emulator.saved_view_endpoints import SavedView
from reconciler.emulator.slo_endpoints import SloDefinition
from reconciler.emulator.usage_endpoints import last_days
from reconciler.emulator.wire_models import JsonObject, WireObject

_EMPTY = frozenset({"meta", "link", "br", "rect", "line"})


class Markup(str):
    """Text that is HTML already; only `tag` and the two functions below make it."""

    __slots__ = ()


def tag(name: str, /, *children: object, **attributes: object) -> Markup:
    """Return an element; `class_` is the attribute `class`, and `_` in a name is `-`."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _EMPTY and not children:
        return Markup(
            f"<{name}{written}>" if name in ("meta", "link", "br") else f"<{name}{written}/>"
        )
    return Markup(f"<{name}{written}>{join(children)}</{name}>")


def join(parts: object) -> Markup:
    """Return the parts joined, each escaped unless it is markup."""
    items = parts if isinstance(parts, (list, tuple)) else [parts]
    return Markup(
        "".join(markup if isinstance(markup, Markup) else _text(markup) for markup in items)
    )


def trusted(text: str) -> Markup:
    """Return our own text as markup: a style sheet. Never for anything that was sent."""
    return Markup(text)


def _text(value: object) -> str:
    """Return an escaped text; control and bidirectional characters are shown, not obeyed."""
    if isinstance(value, (list, tuple)):
        return join(value)
    shown = "".join(
        character if character.isprintable() else f"\\u{ord(character):04x}"
        for character in str(value)
    )
    return escape(shown)


_SHOWN = 50
_GOOD = range(200, 400)


def _table(heads: Sequence[str], rows: Iterable[Sequence[object]], nothing: str) -> Markup:
    """Draw a table, or the text `nothing` without rows."""
    body = [tag("tr", [tag("td", cell) for cell in row]) for row in rows]
    if not body:
        return tag("p", nothing, class_="soft")
    head = tag("thead", tag("tr", [tag("th", name, scope="col") for name in heads]))
    return tag("div", tag("table", head, tag("tbody", body)), class_="scroll")


def _alert_table(records: list[JsonObject], store: Store) -> Markup:
    """List the alert definitions by priority; triggered alerts are marked."""
    active = {alert_id for (alert_id,) in store.rows("SELECT alert_id FROM active_alerts")}
    ordered = sorted(
        records, key=lambda record: (_priority(record), record["alertDefProperties"]["name"])
    )
    rows = (
        (
            _priority(value),
            value["alertDefProperties"]["name"],
            _alert_state(value, active),
            _moment(value.get("lastTriggeredTime")),
        )
        for value in ordered
    )
    return _table(("", "Alert", "State", "Last triggered"), rows, "No alert definitions.")


def _priority(record: JsonObject) -> str:
    whole: str = record["alertDefProperties"]["priority"]
    return whole.removeprefix("ALERT_DEF_PRIORITY_")[:2]


def _alert_state(record: JsonObject, active: set[str]) -> Markup:
    if not record["alertDefProperties"]["enabled"]:
        return tag("span", "off", class_="soft")
    if record["id"] in active:
        return tag("span", "triggered", class_="mark bad")
    return tag("span", "quiet", class_="mark good")


def _slo_table(records: list[JsonObject]) -> Markup:
    """List the SLOs by name."""
    rows = (
        (
            record["name"],
            f"{record['targetThresholdPercentage']:g} %",
            _word(record["sloTimeFrame"], "SLO_TIME_FRAME_"),
            record["revision"]["revision"],
        )
        for record in sorted(records, key=lambda slo: str(slo["name"]))
    )
    return _table(("SLO", "Target", "Over", "Revision"), rows, "No SLOs.")


def _policy_table(records: list[JsonObject]) -> Markup:
    """List the log policies in the order in which they take effect."""
    rows = (
        (
            record["order"],
            record["name"],
            _word(record["priority"], "PRIORITY_TYPE_"),
            record.get("applicationRule", {}).get("name", "any"),
            tag("span", "on", class_="good")
            if record["enabled"]
            else tag("span", "off", class_="soft"),
        )
        for record in records
    )
    return _table(("#", "Policy", "Priority", "Application", ""), rows, "No log policies.")


def _view_table(records: list[JsonObject]) -> Markup:
    """List the saved views by id."""
    rows = (
        (record["id"], record["name"], tag("code", record.get("searchQuery", {}).get("query", "")))
        for record in records
    )
    return _table(("Id", "View", "Query"), rows, "No saved views.")


def _incident_table(records: list[JsonObject]) -> Markup:
    """List the incidents, the open ones first, then the newest."""
    newest = sorted(records, key=lambda incident: str(incident.get("createdAt")), reverse=True)
    ordered = sorted(newest, key=lambda incident: "closedAt" in incident)
    rows = (
        (
            value["name"],
            _word(value["severity"], "INCIDENT_SEVERITY_"),
            _state(_word(value["status"], "INCIDENT_STATUS_")),
            _moment(value.get("createdAt")),
        )
        for value in islice(ordered, _SHOWN)
    )
    return _table(("Incident", "Severity", "Status", "Since"), rows, "No incidents.")


def _case_table(records: list[JsonObject]) -> Markup:
    """List the cases, the newest first."""
    rows = (
        (
            record["readableId"],
            record["title"],
            _word(record["priority"], "CASE_PRIORITY_").upper(),
            _state(_word(record["status"], "CASE_STATUS_")),
            _moment(record["createTime"]),
        )
        for record in islice(
            sorted(records, key=lambda case: case["createTime"], reverse=True), _SHOWN
        )
    )
    return _table(("Case", "Title", "", "Status", "Since"), rows, "No cases.")


def _request_table(record: RequestRecord) -> Markup:
    """List the last requests, the newest first."""
    both = zip(reversed(record.times), reversed(record.requests), strict=True)
    rows = (
        (
            tag("span", moment[11:19], class_="soft"),
            asked.method,
            tag("code", asked.path.removeprefix(API_ROOT)),
            tag(
                "span",
                asked.status or "dropped",
                class_="good" if asked.status in _GOOD else "bad",
            ),
        )
        for moment, asked in islice(both, _SHOWN)
    )
    return _table(("At", "", "Path", "Status"), rows, "Nothing was asked yet.")


def _state(word: str) -> Markup:
    tone = {"resolved": "good", "closed": "good", "acknowledged": "warn"}.get(word, "bad")
    return tag("span", word, class_=f"mark {tone}")


def _word(value: str, prefix: str) -> str:
    """Return `triggered` for `INCIDENT_STATUS_TRIGGERED`."""
    return value.removeprefix(prefix).replace("_", " ").lower()


def _moment(text: str | None) -> str:
    return text[:16].replace("T", " ") if text else "-"


_WIDTH, _HEIGHT, _FOOT, _LEFT = 960, 180, 20, 40
_SATURDAY = 5


def usage_chart(days: list[JsonObject]) -> Markup:
    """Draw one bar a day, weekends paler."""
    if not days:
        return tag("p", "No usage.", class_="soft")
    highest = max(day["totalUnits"]["value"] for day in days) or 1.0
    step = (_WIDTH - _LEFT) / len(days)
    return tag(
        "svg",
        _scale(highest),
        [_bar(place, day, highest, step) for place, day in enumerate(days)],
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        role="img",
        aria_label=f"Units a day over {len(days)} days, at most {highest:.0f}",
    )


def _scale(highest: float) -> Markup:
    """Draw a line for zero and a line for the highest value."""
    floor = _HEIGHT - _FOOT
    return tag(
        "g",
        tag("line", x1=_LEFT, x2=_WIDTH, y1=floor, y2=floor, class_="axis"),
        tag("line", x1=_LEFT, x2=_WIDTH, y1=10, y2=10, class_="axis"),
        tag("text", f"{highest:.0f}", x=_LEFT - 6, y=14, text_anchor="end"),
        tag("text", "0", x=_LEFT - 6, y=floor, text_anchor="end"),
    )


def _bar(place: int, day: JsonObject, highest: float, step: float) -> Markup:
    value = day["totalUnits"]["value"]
    height = value / highest * (_HEIGHT - _FOOT - 10)
    moment = date.fromisoformat(day["statsDate"][:10])
    left = _LEFT + place * step
    is_weekend = moment.weekday() >= _SATURDAY
    label = tag("text", f"{moment:%d %b}", x=f"{left:.1f}", y=_HEIGHT - 5)
    bar = tag(
        "rect",
        tag("title", f"{moment:%a %d %B %Y}: {value:.1f} units"),
        x=f"{left + step * 0.12:.1f}",
        y=f"{_HEIGHT - _FOOT - height:.1f}",
        width=f"{step * 0.76:.1f}",
        height=f"{height:.1f}",
        rx=2,
        class_="bar weekend" if is_weekend else "bar",
    )
    return tag("g", bar, label if moment.weekday() == 0 else "")


_COLUMNS = 12
_LARGEST = 24


def dashboard_grid(record: JsonObject) -> Markup:
    """Draw one dashboard."""
    dashboard = record["dashboard"]
    sections = dashboard.get("layout", {}).get("sections", [])
    rows = [_row(row) for section in sections for row in section.get("rows", [])]
    return tag(
        "div",
        tag("h3", dashboard["name"], " ", _slug(dashboard), " ", _lock(record)),
        tag("div", rows, class_="grid") if rows else tag("p", "No widgets.", class_="soft"),
    )


def _slug(dashboard: JsonObject) -> Markup:
    slug = dashboard.get("slugName")
    return tag("code", "/" + slug, class_="soft") if slug else Markup()


def _lock(record: JsonObject) -> Markup:
    if not record.get("isLocked"):
        return Markup()
    return tag("span", "locked", class_="mark warn")


def _row(row: JsonObject) -> Markup:
    widgets = row.get("widgets", [])
    height = _size(row.get("appearance", {}).get("height") or 6)
    share = _COLUMNS // (len(widgets) or 1)
    return tag("div", [_tile(widget, height, share) for widget in widgets], class_="row")


def _tile(widget: JsonObject, height: int, share: int) -> Markup:
    width = _size(widget.get("appearance", {}).get("width") or share)
    kind = next(iter(widget.get("definition") or {"empty": None}))
    title = widget.get("title") or kind
    return tag(
        "div", tag("b", title), tag("span", kind, class_="soft"), class_=f"tile w{width} h{height}"
    )


def _size(number: int) -> int:
    return max(1, min(_LARGEST, number))


_CHART_DAYS = 56
_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_TABLES: dict[str, tuple[str, str, type[WireObject]]] = {
    "dashboards": ("dashboards", "slug", StoredDashboard),
    "alerts": ("alert_definitions", "rowid", StoredAlertDefinition),
    "slos": ("slos", "rowid", SloDefinition),
    "policies": ("log_policies", "place", LogPolicy),
    "views": ("saved_views", "id", SavedView),
}
"""Table, column to sort by and model."""


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
        name: [whole(model, record) for record in store.records(table, f"ORDER BY {column}")]
        for name, (table, column, model) in _TABLES.items()
    }
    incidents, cases = store.records("incidents"), store.records("cases")
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
    days = last_days(store, today, _CHART_DAYS)
    grids = [dashboard_grid(dashboard) for dashboard in held["dashboards"]]
    return tag(
        "body",
        _header(figures),
        tag(
            "main",
            _section("Data usage, units a day", usage_chart(days), is_wide=True),
            _section("Alerts", _alert_table(held["alerts"], store)),
            _section("Incidents", _incident_table(incidents)),
            _section(
                "Dashboards", join(grids) or tag("p", "No dashboards.", class_="soft"), is_wide=True
            ),
            _section("SLOs", _slo_table(held["slos"])),
            _section("Log policies, in order", _policy_table(held["policies"])),
            _section("Cases", _case_table(cases)),
            _section("Saved views", _view_table(held["views"])),
            _section("Last requests", _request_table(record), is_wide=True),
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
