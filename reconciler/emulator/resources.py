"""All resources of the emulator, reads that only a profile adds, and the records of the demo.

The API document does not show these reads, and some deployments have them all the same. Only the
profile says which exist, and how their answers look: docs/emulator.md.

The demo is a shop with checkout, payments and search, with its history. Each entry of REQUESTS is
the number of an endpoint and a body for it.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from reconciler.emulator.alert_definition_endpoints import (
    ALERT_DEFINITIONS,
    ALERT_RECORDS,
    AlertDefProperties,
    StoredAlertDefinition,
    plant,
)
from reconciler.emulator.bodies import Rendered, as_text, in_snake_case, read
from reconciler.emulator.dashboard_endpoints import DASHBOARD_RECORDS, DASHBOARDS
from reconciler.emulator.database import Store
from reconciler.emulator.endpoint import Author, Call, Endpoint, NoBody, Records, Resource
from reconciler.emulator.faults import PartialBulk
from reconciler.emulator.life import LIFE, fill_usage, let_pass
from reconciler.emulator.log_policy_endpoints import LOG_POLICIES
from reconciler.emulator.profile import ExtraList, ExtraRead, Profile
from reconciler.emulator.record_endpoints import INCIDENTS, PLATFORM_RECORDS
from reconciler.emulator.saved_view_endpoints import SAVED_VIEW_RECORDS, SAVED_VIEWS, SavedView
from reconciler.emulator.slo_endpoints import SLO_RECORDS, SLOS
from reconciler.emulator.wire_models import JsonObject, WireObject, timestamp


class Listed(WireObject):
    """An answer of a list: its shape is the profile's."""


STORED = {
    "AlertDefinition": ALERT_RECORDS,
    "SLO": SLO_RECORDS,
    "Dashboard": DASHBOARD_RECORDS,
    "SavedView": SAVED_VIEW_RECORDS,
}
_MODELS: dict[str, tuple[type[WireObject], type[WireObject], str]] = {
    "AlertDefinition": (StoredAlertDefinition, AlertDefProperties, "alertDefProperties"),
    "SavedView": (SavedView, SavedView, ""),
}
"""The model of a record, the model of a sent write, and the field of the record with it."""


def extra_endpoints(profile: Profile) -> Iterator[Endpoint[Any]]:
    """Yield the endpoints that a profile adds; their number is 0."""
    for kind, extra in profile.reads.items():
        yield Endpoint(
            0,
            "GET",
            extra.path,
            NoBody,
            _MODELS[kind][0],
            partial(_record, STORED[kind]),
            named=(f"getExtra{kind}", f"Read a record of {kind} by its id"),
            schema=_record_schema(_MODELS[kind][1], extra),
            shaped=partial(_shaped, kind, extra, profile),
        )
    for listed, listing in profile.lists.items():
        item = {"allOf": [_objects_around({}, listing.id), _objects_around({}, listing.name)]}
        yield Endpoint(
            0,
            "GET",
            listing.path,
            NoBody,
            Listed,
            partial(_all, STORED[listed], listing),
            named=(f"listExtra{listed}", f"List every {listed}"),
            schema=_objects_around({"type": "array", "items": item}, listing.items),
        )


def _record(records: Records, call: Call, _: NoBody) -> Rendered:
    return as_text(records.read(call.store, call.path["id"]))


def _all(records: Records, listing: ExtraList, call: Call, _: NoBody) -> Rendered:
    items = []
    for record in call.store.records(records.table):
        item: JsonObject = {}
        _put(item, listing.id, _value_at(record, records.id))
        _put(item, listing.name, _value_at(record, records.name))
        items.append(item)
    return as_text(_around(items, listing.items))


def _shaped(kind: str, read: ExtraRead, profile: Profile, record: JsonObject) -> Any:
    """Return a stored record as the profile has it, with the written fields at their place."""
    model, content_model, wrapped = _MODELS[kind]
    content = record.get(wrapped) or {} if wrapped else {**record, "id": None}
    written = {key: value for key, value in content.items() if value is not None}
    rest = {key: value for key, value in record.items() if wrapped and key not in (wrapped, "id")}
    if profile.read_names == "snake":
        written = in_snake_case(written, content_model)
        rest = in_snake_case(rest, model)
    shaped: JsonObject = {**rest, "id": record["id"]}
    if read.spec:
        _put(shaped, read.spec, written)
    else:
        shaped = {**written, **shaped}
    return _around(shaped, read.record)


def _around(value: Any, place: str) -> Any:
    """Return an answer that has only a value, at a place."""
    for step in reversed(place.split(".") if place else []):
        value = {step: value}
    return value


def _put(holder: JsonObject, place: str, value: Any) -> None:
    *steps, last = place.split(".")
    for step in steps:
        holder = holder.setdefault(step, {})
    holder[last] = value


def _value_at(record: Any, place: str) -> Any:
    for step in place.split("."):
        record = record.get(step) if isinstance(record, dict) else None
    return record


def _record_schema(content_model: type[WireObject], read: ExtraRead) -> JsonObject:
    content: JsonObject = {"$ref": f"#/components/schemas/{content_model.__name__}"}
    identified: JsonObject = {"type": "object", "required": ["id"], "properties": {"id": {}}}
    both = [content, identified]
    if read.spec:
        both = [identified, _objects_around(content, read.spec)]
    return _objects_around({"allOf": both}, read.record)


def _objects_around(schema: JsonObject, place: str) -> JsonObject:
    for step in reversed(place.split(".") if place else []):
        schema = {"type": "object", "required": [step], "properties": {step: schema}}
    return schema


SEEDED = Resource("seeds (name TEXT PRIMARY KEY)")
"""The seeds that were added."""

RESOURCES = (
    ALERT_DEFINITIONS,
    PLATFORM_RECORDS,
    DASHBOARDS,
    INCIDENTS,
    SLOS,
    LOG_POLICIES,
    SAVED_VIEWS,
    LIFE,
    SEEDED,
)


_SLO_CHECKOUT = "5b1e6a52-6a0c-4f0e-9a55-0d5a3f6f1a01"
_SLO_PAYMENTS = "5b1e6a52-6a0c-4f0e-9a55-0d5a3f6f1a02"
_SLO_SEARCH = "5b1e6a52-6a0c-4f0e-9a55-0d5a3f6f1a03"


_TEAMS = {"accounts": "security", "checkout": "shop", "legacy": "shop"}
"""The team of an application; another application has a team of its own name."""


def _alert(name: str, priority: str, place: str, **rest: Any) -> JsonObject:
    application, _, subsystem = place.partition("/")
    ending = "P5_OR_UNSPECIFIED" if priority == "P5" else priority
    team = _TEAMS.get(application, application)
    return {
        "name": name,
        "enabled": True,
        "priority": f"ALERT_DEF_PRIORITY_{ending}",
        "entityLabels": {"team": team, "application": application, "subsystem": subsystem},
        **rest,
    }


def _logs(query: str, more_than: int) -> JsonObject:
    threshold = {
        "conditionType": "LOGS_THRESHOLD_CONDITION_TYPE_MORE_THAN_OR_UNSPECIFIED",
        "threshold": more_than,
        "timeWindow": {"logsTimeWindowSpecificValue": "LOGS_TIME_WINDOW_VALUE_MINUTES_10"},
    }
    return {
        "type": "ALERT_DEF_TYPE_LOGS_THRESHOLD",
        "logsThreshold": {
            "logsFilter": {"simpleFilter": {"luceneQuery": query}},
            "rules": [{"condition": threshold}],
        },
    }


def _metric(promql: str, more_than: float) -> JsonObject:
    threshold = {
        "conditionType": "METRIC_THRESHOLD_CONDITION_TYPE_MORE_THAN_OR_UNSPECIFIED",
        "threshold": more_than,
        "forOverPct": 50,
        "ofTheLast": {"metricTimeWindowSpecificValue": "METRIC_TIME_WINDOW_VALUE_MINUTES_10"},
    }
    return {
        "type": "ALERT_DEF_TYPE_METRIC_THRESHOLD",
        "metricThreshold": {
            "metricFilter": {"promql": promql},
            "rules": [{"condition": threshold}],
        },
    }


def _budget(slo_id: str) -> JsonObject:
    return {
        "type": "ALERT_DEF_TYPE_SLO_THRESHOLD",
        "sloThreshold": {
            "sloDefinition": {"sloId": slo_id},
            "errorBudget": {"rules": [{"condition": {"threshold": 25}}]},
        },
    }


_DEFINITIONS = (
    _alert(
        "Checkout fails for customers",
        "P1",
        "checkout/order-api",
        description="More than 2 % of orders end in an error.",
        groupByKeys=["region"],
        **_metric("sum(rate(orders_failed[5m])) / sum(rate(orders[5m]))", 0.02),
    ),
    _alert(
        "Checkout is slow",
        "P2",
        "checkout/order-api",
        description="The slowest hundredth of orders takes over two seconds.",
        **_metric("histogram_quantile(0.99, order_seconds_bucket)", 2),
    ),
    _alert("Cart errors", "P4", "checkout/cart", **_logs("level:error AND cart", 50)),
    _alert("Checkout error budget runs out", "P2", "checkout/order-api", **_budget(_SLO_CHECKOUT)),
    _alert(
        "Card payments declined",
        "P1",
        "payments/card-gateway",
        description="The bank declines far more cards than usual.",
        **_metric("sum(rate(card_declined[5m])) / sum(rate(card_payments[5m]))", 0.15),
    ),
    _alert(
        "Payment provider time-outs",
        "P3",
        "payments/card-gateway",
        **_logs('"provider timed out"', 20),
    ),
    _alert("Refund queue grows", "P3", "payments/refunds", **_metric("refund_queue_length", 500)),
    _alert(
        "Payments error budget runs out", "P2", "payments/card-gateway", **_budget(_SLO_PAYMENTS)
    ),
    _alert(
        "Search is slow",
        "P3",
        "search/query-api",
        **_metric("histogram_quantile(0.95, search_seconds_bucket)", 0.8),
    ),
    _alert("Search finds nothing", "P4", "search/query-api", **_logs("hits:0", 1000)),
    _alert("Search index is old", "P4", "search/indexer", **_metric("index_age_seconds", 900)),
    _alert(
        "Many failed logins",
        "P2",
        "accounts/login",
        description="An attacker may be trying passwords.",
        groupByKeys=["country"],
        **_logs('"login failed"', 300),
    ),
    _alert("Pods restart", "P5", "platform/kubernetes", **_metric("pod_restarts", 3)),
    _alert(
        "Disk fills up (being tuned)",
        "P5",
        "platform/nodes",
        phantomMode=True,
        **_metric("disk_used_ratio", 0.85),
    ),
    _alert("Old shop front", "P3", "legacy/web", **_logs("legacy", 5)) | {"enabled": False},
)
ALERTS = tuple(
    f"a1e47000-0000-4000-8000-{number:012}" for number in range(1, len(_DEFINITIONS) + 1)
)


def _slo(slo_id: str, name: str, target: float, good: str, total: str) -> JsonObject:
    return {
        "id": slo_id,
        "name": name,
        "targetThresholdPercentage": target,
        "sloTimeFrame": "SLO_TIME_FRAME_28_DAYS",
        "requestBasedMetricSli": {"goodEvents": {"query": good}, "totalEvents": {"query": total}},
        "labels": {"company": "shop"},
    }


def _widget(number: int, title: str, width: int, definition: JsonObject) -> JsonObject:
    return {
        "id": {"value": f"00000000-0000-4000-8000-{number:012}"},
        "title": title,
        "appearance": {"width": width},
        "definition": definition,
    }


def _row(number: int, height: int, *widgets: JsonObject) -> JsonObject:
    row_id = {"value": f"00000000-0000-4000-8000-{number:012}"}
    return {"id": row_id, "appearance": {"height": height}, "widgets": list(widgets)}


def _dashboard(dashboard_id: str, name: str, slug: str, *rows: JsonObject) -> JsonObject:
    section = {"id": {"value": f"00000000-0000-4000-8000-{99:012}"}, "rows": list(rows)}
    return {
        "requestId": f"demo-{slug}",
        "dashboard": {
            "id": dashboard_id,
            "name": name,
            "slugName": slug,
            "relativeTimeFrame": "3600s",
            "layout": {"sections": [section]},
        },
    }


def _line(query: str) -> JsonObject:
    return {"lineChart": {"queryDefinitions": [{"query": {"metrics": {"promqlQuery": query}}}]}}


def _gauge(query: str) -> JsonObject:
    return {"gauge": {"query": {"metrics": {"promqlQuery": query}}, "min": 0, "max": 100}}


_CHECKOUT_BOARD = _dashboard(
    "checkout-overview-001",
    "Checkout",
    "checkout",
    _row(
        1,
        9,
        _widget(2, "Orders a minute", 8, _line("sum(rate(orders[1m]))")),
        _widget(3, "Error budget", 4, _gauge("slo_budget_left")),
    ),
    _row(
        4,
        12,
        _widget(5, "Slowest hundredth", 6, _line("order_seconds:p99")),
        _widget(6, "Failures by reason", 6, {"pieChart": {"query": {}}}),
    ),
    _row(7, 6, _widget(8, "Runbook", 12, {"markdown": {"markdownText": "# When orders fail"}})),
)
_SEARCH_BOARD = _dashboard(
    "search-and-index-0001",
    "Search and index",
    "search",
    _row(
        1,
        8,
        _widget(2, "Searches", 4, _line("sum(rate(searches[1m]))")),
        _widget(3, "Nothing found", 4, _line("sum(rate(searches_empty[1m]))")),
        _widget(4, "Index age", 4, _gauge("index_age_seconds")),
    ),
    _row(5, 14, _widget(6, "Slow queries", 12, {"dataTable": {"query": {}}})),
)


def _policy(name: str, priority: str, application: str, *severities: str) -> JsonObject:
    rule = {"name": application, "ruleTypeId": "RULE_TYPE_ID_IS"}
    return {
        "logRules": {"severities": [f"SEVERITY_{severity}" for severity in severities]},
        "policy": {
            "name": name,
            "description": "",
            "priority": f"PRIORITY_TYPE_{priority}",
            **({"applicationRule": rule} if application else {}),
        },
    }


_POLICIES = {
    "policies": [
        _policy("Payments are kept", "HIGH", "payments", "INFO", "WARNING", "ERROR", "CRITICAL"),
        _policy("Health checks are blocked", "BLOCK", "kube-probe", "DEBUG", "VERBOSE", "INFO"),
        _policy("Errors are watched", "HIGH", "", "ERROR", "CRITICAL"),
        _policy("Debug is cheap", "LOW", "", "DEBUG", "VERBOSE"),
        _policy("All else", "MEDIUM", "", "INFO", "WARNING"),
    ]
}

REQUESTS: tuple[tuple[int, JsonObject], ...] = (
    (11, _slo(_SLO_CHECKOUT, "Orders succeed", 99.9, "sum(orders_ok)", "sum(orders)")),
    (11, _slo(_SLO_PAYMENTS, "Payments succeed", 99.95, "sum(payments_ok)", "sum(payments)")),
    (11, _slo(_SLO_SEARCH, "Searches answer fast", 99.0, "sum(fast)", "sum(searches)")),
    (
        1,
        {
            "alertDefsToReplace": [
                {"id": alert_id, "alertDefProperties": definition}
                for alert_id, definition in zip(ALERTS, _DEFINITIONS, strict=True)
            ]
        },
    ),
    (3, _CHECKOUT_BOARD),
    (3, _SEARCH_BOARD),
    (17, _POLICIES),
    (
        20,
        {
            "name": "Failed orders",
            "timeSelection": {"quickSelection": {"seconds": 3600}},
            "searchQuery": {"query": "order AND level:error"},
            "viewType": "VIEW_TYPE_LOGS",
        },
    ),
    (
        20,
        {
            "name": "Declined cards today",
            "timeSelection": {"quickSelection": {"seconds": 86400, "caption": "Today"}},
            "searchQuery": {"query": "declined"},
            "filters": {"filters": [{"name": "subsystem", "selectedValues": {"refunds": False}}]},
            "viewType": "VIEW_TYPE_LOGS",
        },
    ),
)


SEEDS = ("demo",)


def fill(store: Store, seed: str, now: datetime) -> None:
    """Add a seed, unless it was added before; the same moment makes the same company.

    Raises ValueError for an unknown seed.
    """
    if seed not in SEEDS:
        raise ValueError(f"seed {seed!r}: not one of {', '.join(SEEDS)}")
    with store.writing():
        if store.row("SELECT 1 FROM seeds WHERE name = ?", seed):
            return
        store.write("INSERT INTO seeds VALUES (?)", seed)
        begin = now - timedelta(days=28)
        plant(store, ALERTS, timestamp(begin - timedelta(days=90)))
        call = Call(
            store=store,
            now=timestamp(begin),
            author=Author("mira@shop.example"),
            path={},
            # Ids are always the same.
            profile=Profile(client_slo_ids=True),
            partial=PartialBulk(),
        )
        endpoints = {
            endpoint.number: endpoint for resource in RESOURCES for endpoint in resource.endpoints
        }
        for number, body in REQUESTS:
            endpoint = endpoints[number]
            endpoint.answer(call, read(endpoint.request, body))
        fill_usage(store, (now - timedelta(days=400)).astimezone(UTC).date(), now)
        let_pass(store, begin, now)
