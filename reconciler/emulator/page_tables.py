"""The lists of the page: alerts, SLOs, policies, views, incidents, cases, requests."""

import json
from collections.abc import Iterable, Sequence
from itertools import islice

from reconciler.emulator.endpoint import API_ROOT
from reconciler.emulator.markup import Markup, tag
from reconciler.emulator.models.wire import JsonObject
from reconciler.emulator.request_log import RequestRecord
from reconciler.emulator.store import Store

_SHOWN = 50
_GOOD, _LOST = range(200, 400), 0


def table(heads: Sequence[str], rows: Iterable[Sequence[object]], nothing: str) -> Markup:
    """Draw a table, or say that there is nothing."""
    body = [tag("tr", [tag("td", cell) for cell in row]) for row in rows]
    if not body:
        return tag("p", nothing, class_="soft")
    head = tag("thead", tag("tr", [tag("th", name, scope="col") for name in heads]))
    return tag("div", tag("table", head, tag("tbody", body)), class_="scroll")


def alerts(records: list[JsonObject], store: Store) -> Markup:
    """List the alert definitions by priority; those that are on fire are marked."""
    active = {alert_id for (alert_id,) in store.rows("SELECT alert_id FROM active_alerts")}
    ordered = sorted(records, key=lambda one: (_priority(one), one["alertDefProperties"]["name"]))
    rows = (
        (
            _priority(value),
            value["alertDefProperties"]["name"],
            _alert_state(value, active),
            _moment(value.get("lastTriggeredTime")),
        )
        for value in ordered
    )
    return table(("", "Alert", "State", "Last triggered"), rows, "No alert definitions.")


def _priority(record: JsonObject) -> str:
    whole: str = record["alertDefProperties"]["priority"]
    return whole.removeprefix("ALERT_DEF_PRIORITY_")[:2]


def _alert_state(record: JsonObject, active: set[str]) -> Markup:
    if not record["alertDefProperties"]["enabled"]:
        return tag("span", "off", class_="soft")
    if record["id"] in active:
        return tag("span", "triggered", class_="mark bad")
    return tag("span", "quiet", class_="mark good")


def slos(records: list[JsonObject]) -> Markup:
    """List the SLOs by name."""
    rows = (
        (
            record["name"],
            f"{record['targetThresholdPercentage']:g} %",
            _word(record["sloTimeFrame"], "SLO_TIME_FRAME_"),
            record["revision"]["revision"],
        )
        for record in sorted(records, key=lambda one: str(one["name"]))
    )
    return table(("SLO", "Target", "Over", "Revision"), rows, "No SLOs.")


def policies(records: list[JsonObject]) -> Markup:
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
    return table(("#", "Policy", "Priority", "Application", ""), rows, "No log policies.")


def views(records: list[JsonObject]) -> Markup:
    """List the saved views by id."""
    rows = (
        (record["id"], record["name"], tag("code", record.get("searchQuery", {}).get("query", "")))
        for record in records
    )
    return table(("Id", "View", "Query"), rows, "No saved views.")


def incidents(records: list[JsonObject]) -> Markup:
    """List the incidents, the open ones first, then the newest."""
    newest = sorted(records, key=lambda one: str(one.get("createdAt")), reverse=True)
    ordered = sorted(newest, key=lambda one: "closedAt" in one)
    rows = (
        (
            value["name"],
            _word(value["severity"], "INCIDENT_SEVERITY_"),
            _state(_word(value["status"], "INCIDENT_STATUS_")),
            _moment(value.get("createdAt")),
        )
        for value in islice(ordered, _SHOWN)
    )
    return table(("Incident", "Severity", "Status", "Since"), rows, "No incidents.")


def cases(records: list[JsonObject]) -> Markup:
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
            sorted(records, key=lambda one: one["createTime"], reverse=True), _SHOWN
        )
    )
    return table(("Case", "Title", "", "Status", "Since"), rows, "No cases.")


def requests(record: RequestRecord) -> Markup:
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
                class_="good" if _is_good(asked.status) else "bad",
            ),
        )
        for moment, asked in islice(both, _SHOWN)
    )
    return table(("At", "", "Path", "Status"), rows, "Nothing was asked yet.")


def _is_good(status: int) -> bool:
    return status in _GOOD


def _state(word: str) -> Markup:
    tone = {"resolved": "good", "closed": "good", "acknowledged": "warn"}.get(word, "bad")
    return tag("span", word, class_=f"mark {tone}")


def _word(value: str, prefix: str) -> str:
    """Turn `INCIDENT_STATUS_TRIGGERED` into `triggered`."""
    return value.removeprefix(prefix).replace("_", " ").lower()


def _moment(text: str | None) -> str:
    return text[:16].replace("T", " ") if text else "-"


def records_in(store: Store, query: str) -> list[JsonObject]:
    """Give the records of a query with one column."""
    return [json.loads(record) for (record,) in store.rows(query)]
