"""Alert definitions: endpoint 1.

The service cannot create one through the API, so `plant` adds what a person would have clicked
together. Bounds of single fields are in the model. The rules here look at the type of an alert, or
inside its part. Source: docs/assumptions.md.
"""

import re
from collections.abc import Iterable, Iterator
from uuid import uuid4

from pydantic_core import PydanticCustomError

from reconciler.emulator.alert_definition_models import (
    AlertDefId,
    AlertDefProperties,
    AlertDefToReplace,
    BulkReplaceReply,
    BulkReplaceRequest,
    StoredAlertDefinition,
)
from reconciler.emulator.database import Store
from reconciler.emulator.endpoint import Call, Endpoint, Resource
from reconciler.emulator.fault_rules import PartialBulk
from reconciler.emulator.http_errors import InvalidRequestError
from reconciler.emulator.reading import UnreadableModelError, body_of, read, whole
from reconciler.emulator.rendering import as_json, as_text, canonical
from reconciler.emulator.wire_models import JsonObject, canonical_uuid

_RULES_AT_MOST = {
    "logsAnomaly": 1,
    "logsNewValue": 1,
    "logsUniqueCount": 1,
    "metricAnomaly": 1,
    "tracingThreshold": 1,
}
_PARTS = (
    "logsImmediate",
    "logsThreshold",
    "logsAnomaly",
    "logsRatioThreshold",
    "logsNewValue",
    "logsUniqueCount",
    "logsTimeRelativeThreshold",
    "metricThreshold",
    "metricAnomaly",
    "tracingImmediate",
    "tracingThreshold",
    "flow",
    "sloThreshold",
)
_LONGEST_PROMQL = 65_535
_LONGEST_DELAY_MS = 10_800_000
_MOST_RULES = 5
_MOST_STAGES = 30


def type_of(part: str) -> str:
    """Return the alert type that goes with a part: `metricThreshold` has `..._METRIC_THRESHOLD`."""
    words = re.sub(r"(?=[A-Z])", "_", part).upper()
    ending = "_OR_UNSPECIFIED" if part == "logsImmediate" else ""
    return f"ALERT_DEF_TYPE_{words}{ending}"


def complaint_about(properties: AlertDefProperties) -> str | None:
    """Return the error of a definition, or None.

    A definition without any part is accepted: the API document does not show the parts, so it
    cannot require any.
    """
    sent = as_json(properties)
    parts = [part for part in _PARTS if part in sent]
    for part in parts:
        if properties.type != type_of(part):
            return f"{part} does not go with {properties.type}"
    complaints = (_complaint_about_part(part, sent[part]) for part in parts)
    return next(filter(None, complaints), None)


def _complaint_about_part(part: str, content: JsonObject) -> str | None:
    most_rules = _RULES_AT_MOST.get(part, _MOST_RULES)
    if not _is_count(content.get("rules"), most_rules):
        return f"{part}.rules: 1 to {most_rules}"
    if not _is_count(content.get("stages"), _MOST_STAGES):
        return f"{part}.stages: 1 to {_MOST_STAGES}"
    if _milliseconds(content.get("evaluationDelayMs")) > _LONGEST_DELAY_MS:
        return f"{part}.evaluationDelayMs: at most {_LONGEST_DELAY_MS}"
    if len(_promql(content)) > _LONGEST_PROMQL:
        return f"{part}.metricFilter.promql: at most {_LONGEST_PROMQL} characters"
    return None


def _is_count(items: object, most: int) -> bool:
    """Return whether a list, if present, has 1 to `most` items."""
    return items is None or (isinstance(items, list) and 1 <= len(items) <= most)


def _milliseconds(delay: object) -> int:
    match delay:
        case int():
            return delay
        case str() if delay.isdecimal():
            return int(delay)
        case _:
            return 0


def _promql(content: JsonObject) -> str:
    match content:
        case {"metricFilter": {"promql": str(query)}}:
            return query
        case _:
            return ""


_TABLE = "alert_definitions (id TEXT PRIMARY KEY, slo_id TEXT, record TEXT NOT NULL)"


def plant(store: Store, alert_ids: Iterable[str], now: str) -> None:
    """Store a bare definition under each id that has none yet.

    Raises ValueError for an id that is not a uuid.
    """
    bare = read(AlertDefProperties, {"name": "New alert", "enabled": True, "logsImmediate": {}})
    for alert_id in map(_planted_id, alert_ids):
        if _stored(store, alert_id) is None:
            _keep(store, _version(alert_id, bare, now, now))


def _planted_id(text: str) -> str:
    try:
        return canonical_uuid(text)
    except PydanticCustomError:
        raise ValueError(f"alert id {text!r}: not a uuid") from None


def watching(store: Store, slo_id: str) -> Iterator[JsonObject]:
    """Yield the stored definitions that watch an SLO, whole, by id."""
    query = "SELECT record FROM alert_definitions WHERE slo_id = ? ORDER BY id"
    for record in store.records(query, slo_id):
        yield whole(StoredAlertDefinition, record)


def _replace(call: Call, request: BulkReplaceRequest) -> BulkReplaceReply:
    _check_ids_differ(request)
    # Every definition is read before the first is written: a definition that cannot be
    # parsed refuses the whole request.
    proposals = [
        (item.id, _proposed(call, index, item))
        for index, item in enumerate(request.alert_defs_to_replace)
    ]
    reply = BulkReplaceReply()
    partial = call.partial or PartialBulk()
    for index, (alert_id, properties) in enumerate(proposals):
        if partial.carries_out(index):
            shown = reply if partial.shows(index) else BulkReplaceReply()
            _replace_one(call, alert_id, properties, shown)
        _misreport(index, alert_id, partial, reply)
    reply.skipped_ids += partial.unsent
    return reply


def _replace_one(
    call: Call, alert_id: str, properties: AlertDefProperties | None, reply: BulkReplaceReply
) -> None:
    stored = _stored(call.store, alert_id)
    if stored is None:
        reply.not_found_ids.append(alert_id)
    elif properties is None:
        reply.failed_to_replace_alert_defs.append(AlertDefId(id=alert_id))
    elif canonical(properties) == canonical(read(AlertDefProperties, stored["alertDefProperties"])):
        reply.skipped_ids.append(alert_id)
    else:
        version = _version(alert_id, properties, stored["createdTime"], call.now)
        version.last_triggered_time = stored.get("lastTriggeredTime")
        _keep(call.store, version)
        reply.alert_defs.append(version)


def _misreport(index: int, alert_id: str, partial: PartialBulk, reply: BulkReplaceReply) -> None:
    """Add an item to each list of the answer that a fault names it for."""
    if index in partial.failed:
        reply.failed_to_replace_alert_defs.append(AlertDefId(id=alert_id))
    if index in partial.not_found:
        reply.not_found_ids.append(alert_id)
    if index in partial.skipped:
        reply.skipped_ids.append(alert_id)


def _check_ids_differ(request: BulkReplaceRequest) -> None:
    seen: set[str] = set()
    for index, item in enumerate(request.alert_defs_to_replace):
        if item.id in seen:
            raise InvalidRequestError(f"alertDefsToReplace[{index}].id: {item.id} is there twice")
        seen.add(item.id)


def _proposed(call: Call, index: int, item: AlertDefToReplace) -> AlertDefProperties | None:
    """Read the properties; None when they break a rule, as only this item fails then."""
    place = ("alertDefsToReplace", index, "alertDefProperties")
    try:
        properties = body_of(AlertDefProperties, item.alert_def_properties, call.profile, *place)
    except UnreadableModelError as problem:
        if problem.malformed:
            raise
        return None
    return None if complaint_about(properties) else properties


def _version(
    alert_id: str, properties: AlertDefProperties, created: str, now: str
) -> StoredAlertDefinition:
    return StoredAlertDefinition(
        id=alert_id,
        alert_version_id=str(uuid4()),
        alert_def_properties=properties,
        created_time=created,
        updated_time=now,
    )


def _stored(store: Store, alert_id: str) -> JsonObject | None:
    return store.record("SELECT record FROM alert_definitions WHERE id = ?", alert_id)


def _keep(store: Store, version: StoredAlertDefinition) -> None:
    watched = version.alert_def_properties.slo_threshold
    store.write(
        "INSERT OR REPLACE INTO alert_definitions VALUES (?, ?, ?)",
        version.id,
        canonical_uuid(watched.slo_definition.slo_id) if watched else None,
        as_text(version),
    )


ALERT_DEFINITIONS = Resource(
    tables=(_TABLE,),
    endpoints=(
        Endpoint(
            1,
            "PUT",
            "/alerts/alerts-general/v3/bulk",
            BulkReplaceRequest,
            BulkReplaceReply,
            _replace,
        ),
    ),
)
