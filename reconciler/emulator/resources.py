"""All resources of the emulator, reads that only a profile adds, and the records of the demo.

The API document does not show these reads, and some deployments have them all the same. Only the
profile says which exist, and how their answers look: docs/emulator.md.

The demo is a shop with checkout, payments and search, with its history. demo.json has its requests.
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from importlib.resources import files
from typing import Any

from reconciler.emulator import (
    alert_definition_endpoints,
    dashboard_endpoints,
    life,
    log_policy_endpoints,
    record_endpoints,
    saved_view_endpoints,
    slo_endpoints,
    wire,
)
from reconciler.emulator.database import Store
from reconciler.emulator.endpoint import Author, Call, Endpoint, NoBody, Records, Resource
from reconciler.emulator.faults import PartialBulk
from reconciler.emulator.profile import ExtraList, ExtraRead, Profile


class Listed(wire.WireObject):
    """The answer of a list that a profile adds; the profile says its shape."""


STORED = {
    "AlertDefinition": alert_definition_endpoints.ALERT_RECORDS,
    "SLO": slo_endpoints.SLO_RECORDS,
    "Dashboard": dashboard_endpoints.DASHBOARD_RECORDS,
    "SavedView": saved_view_endpoints.SAVED_VIEW_RECORDS,
}
_MODELS: dict[str, tuple[type[wire.WireObject], type[wire.WireObject], str]] = {
    "AlertDefinition": (
        alert_definition_endpoints.StoredAlertDefinition,
        alert_definition_endpoints.AlertDefProperties,
        "alertDefProperties",
    ),
    "SavedView": (saved_view_endpoints.SavedView, saved_view_endpoints.SavedView, ""),
}
"""The model of a record, the model of a sent write, and the field of the record that has it."""


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


def _record(records: Records, call: Call, _: NoBody) -> wire.JsonObject:
    return records.read(call.store, call.path["id"])


def _all(records: Records, listing: ExtraList, call: Call, _: NoBody) -> Any:
    items = []
    for record in call.store.records(records.table):
        item: wire.JsonObject = {}
        _put(item, listing.id, _value_at(record, records.id))
        _put(item, listing.name, _value_at(record, records.name))
        items.append(item)
    return _around(items, listing.items)


def _shaped(kind: str, read: ExtraRead, profile: Profile, record: wire.JsonObject) -> Any:
    """Return a stored record as the profile has it, with the written fields at their place."""
    model, content_model, wrapped = _MODELS[kind]
    content = record.get(wrapped) or {} if wrapped else {**record, "id": None}
    written = {key: value for key, value in content.items() if value is not None}
    rest = {key: value for key, value in record.items() if wrapped and key not in (wrapped, "id")}
    if profile.read_names == "snake":
        written = wire.in_snake_case(written, content_model)
        rest = wire.in_snake_case(rest, model)
    shaped: wire.JsonObject = {**rest, "id": record["id"]}
    if read.spec:
        _put(shaped, read.spec, written)
    else:
        shaped = {**written, **shaped}
    return _around(shaped, read.record)


def _around(value: Any, place: str) -> Any:
    """Return an answer with nothing but a value, inside the objects that `place` names."""
    for step in reversed(place.split(".") if place else []):
        value = {step: value}
    return value


def _put(holder: wire.JsonObject, place: str, value: Any) -> None:
    *steps, last = place.split(".")
    for step in steps:
        holder = holder.setdefault(step, {})
    holder[last] = value


def _value_at(record: Any, place: str) -> Any:
    for step in place.split("."):
        record = record.get(step) if isinstance(record, dict) else None
    return record


def _record_schema(content_model: type[wire.WireObject], read: ExtraRead) -> wire.JsonObject:
    content: wire.JsonObject = {"$ref": f"#/components/schemas/{content_model.__name__}"}
    identified: wire.JsonObject = {"type": "object", "required": ["id"], "properties": {"id": {}}}
    both = [content, identified]
    if read.spec:
        both = [identified, _objects_around(content, read.spec)]
    return _objects_around({"allOf": both}, read.record)


def _objects_around(schema: wire.JsonObject, place: str) -> wire.JsonObject:
    for step in reversed(place.split(".") if place else []):
        schema = {"type": "object", "required": [step], "properties": {step: schema}}
    return schema


SEEDED = Resource("seeds (name TEXT PRIMARY KEY)")
"""The seeds that were added."""

RESOURCES = (
    alert_definition_endpoints.ALERT_DEFINITIONS,
    record_endpoints.PLATFORM_RECORDS,
    dashboard_endpoints.DASHBOARDS,
    record_endpoints.INCIDENTS,
    slo_endpoints.SLOS,
    log_policy_endpoints.LOG_POLICIES,
    saved_view_endpoints.SAVED_VIEWS,
    life.LIFE,
    SEEDED,
)


REQUESTS: tuple[tuple[int, wire.JsonObject], ...] = tuple(
    (request["endpoint"], request["body"])
    for request in json.loads(files("reconciler.emulator").joinpath("demo.json").read_bytes())
)
ALERTS = tuple(
    item["id"] for number, body in REQUESTS if number == 1 for item in body["alertDefsToReplace"]
)


SEEDS = ("demo",)


def fill(store: Store, seed: str, now: datetime) -> None:
    """Add the records of a seed, once; with the same `now` they are the same records.

    Raises ValueError for an unknown seed.
    """
    if seed not in SEEDS:
        raise ValueError(f"seed {seed!r}: not one of {', '.join(SEEDS)}")
    with store.writing():
        if store.row("SELECT 1 FROM seeds WHERE name = ?", seed):
            return
        store.write("INSERT INTO seeds VALUES (?)", seed)
        begin = now - timedelta(days=28)
        alert_definition_endpoints.plant(store, ALERTS, wire.timestamp(begin - timedelta(days=90)))
        call = Call(
            store=store,
            now=wire.timestamp(begin),
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
            endpoint.answer(call, wire.read(endpoint.request, body))
        life.fill_usage(store, (now - timedelta(days=400)).astimezone(UTC).date(), now)
        life.let_pass(store, begin, now)
