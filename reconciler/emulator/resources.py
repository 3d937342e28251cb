"""All resources of the emulator, and reads that only a profile adds.

The API document does not show these reads, and some deployments have them all the same. Only the
profile says which exist, and how their answers look: docs/emulator.md.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from reconciler.emulator.alert_definition_endpoints import ALERT_DEFINITIONS
from reconciler.emulator.alert_definition_models import AlertDefProperties, StoredAlertDefinition
from reconciler.emulator.alert_event_endpoints import ALERT_EVENTS
from reconciler.emulator.case_endpoints import CASES
from reconciler.emulator.dashboard_endpoints import DASHBOARDS
from reconciler.emulator.endpoint import Call, Endpoint, NoBody, Resource
from reconciler.emulator.http_errors import MissingObjectError
from reconciler.emulator.incident_endpoints import INCIDENTS
from reconciler.emulator.life import LIFE
from reconciler.emulator.log_policy_endpoints import LOG_POLICIES
from reconciler.emulator.profile import ExtraList, ExtraRead, Profile
from reconciler.emulator.rendering import Rendered, as_text, in_snake_case
from reconciler.emulator.saved_view_endpoints import SAVED_VIEWS, SavedView
from reconciler.emulator.slo_endpoints import SLOS
from reconciler.emulator.usage_endpoints import DATA_USAGE
from reconciler.emulator.wire_models import JsonObject, WireObject


class Listed(WireObject):
    """An answer of a list: its shape is the profile's."""


@dataclass(frozen=True)
class _Kept:
    """How records of a kind are stored. `wrapped` is the field with the content of a write."""

    called: str
    select: str
    title: str
    model: type[WireObject] = Listed
    content: type[WireObject] = Listed
    wrapped: str = ""


_KEPT = {
    "AlertDefinition": _Kept(
        "alert",
        "SELECT record FROM alert_definitions",
        "alertDefProperties.name",
        StoredAlertDefinition,
        AlertDefProperties,
        "alertDefProperties",
    ),
    "SLO": _Kept("slo", "SELECT record FROM slos", "name"),
    "Dashboard": _Kept("dashboard", "SELECT record FROM dashboards", "dashboard.name"),
    "SavedView": _Kept(
        "saved view", "SELECT record FROM saved_views", "name", SavedView, SavedView
    ),
}
_ID = {"Dashboard": "dashboard.id"}


def extra_endpoints(profile: Profile) -> Iterator[Endpoint[Any]]:
    """Yield the endpoints that a profile adds; their number is 0."""
    for kind, read in profile.reads.items():
        kept = _KEPT[kind]
        yield Endpoint(
            0,
            "GET",
            read.path,
            NoBody,
            kept.model,
            partial(_record, kept),
            named=(f"getExtra{kind}", f"Read a record of {kind} by its id"),
            schema=_record_schema(kept, read),
            shaped=partial(_shaped, kept, read, profile),
        )
    for listed, listing in profile.lists.items():
        yield Endpoint(
            0,
            "GET",
            listing.path,
            NoBody,
            Listed,
            partial(_all, listed, listing),
            named=(f"listExtra{listed}", f"List every {listed}"),
            schema=_list_schema(listing),
        )


def _record(kept: _Kept, call: Call, _: NoBody) -> Rendered:
    record_id = call.path["id"]
    row = call.store.row(f"{kept.select} WHERE id = ?", record_id)
    if row is None:
        raise MissingObjectError(kept.called, record_id)
    return Rendered(row[0])


def _all(kind: str, listing: ExtraList, call: Call, _: NoBody) -> Rendered:
    kept = _KEPT[kind]
    items = []
    for (text,) in call.store.rows(f"{kept.select} ORDER BY id"):
        record = json.loads(text)
        item: JsonObject = {}
        _put(item, listing.id, _value_at(record, _ID.get(kind, "id")))
        _put(item, listing.name, _value_at(record, kept.title))
        items.append(item)
    return as_text(_around(items, listing.items))


def _shaped(kept: _Kept, read: ExtraRead, profile: Profile, record: JsonObject) -> Any:
    """Return a stored record as the profile has it, with the written fields at their place."""
    content = record.get(kept.wrapped) if kept.wrapped else {**record, "id": None}
    rest = {key: value for key, value in record.items() if key not in (kept.wrapped, "id")}
    rest = rest if kept.wrapped else {}
    written = {key: value for key, value in (content or {}).items() if value is not None}
    if profile.read_names == "snake":
        written = in_snake_case(written, kept.content)
        rest = in_snake_case(rest, kept.model)
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


def _record_schema(kept: _Kept, read: ExtraRead) -> JsonObject:
    content: JsonObject = {"$ref": f"#/components/schemas/{kept.content.__name__}"}
    identified: JsonObject = {"type": "object", "required": ["id"], "properties": {"id": {}}}
    if not read.spec:
        return _objects_around({"allOf": [content, identified]}, read.record)
    both = [identified, _objects_around(content, read.spec)]
    return _objects_around({"allOf": both}, read.record)


def _list_schema(listing: ExtraList) -> JsonObject:
    item = {"allOf": [_objects_around({}, listing.id), _objects_around({}, listing.name)]}
    return _objects_around({"type": "array", "items": item}, listing.items)


def _objects_around(schema: JsonObject, place: str) -> JsonObject:
    for step in reversed(place.split(".") if place else []):
        schema = {"type": "object", "required": [step], "properties": {step: schema}}
    return schema


SEEDED = Resource(tables=("seeds (name TEXT PRIMARY KEY)",), endpoints=())
"""The seeds that were added."""

RESOURCES = (
    ALERT_DEFINITIONS,
    ALERT_EVENTS,
    DASHBOARDS,
    CASES,
    INCIDENTS,
    SLOS,
    LOG_POLICIES,
    DATA_USAGE,
    SAVED_VIEWS,
    LIFE,
    SEEDED,
)
