"""Alert definitions: endpoint 1.

The service cannot create one through the API, so `plant` puts in what a person
would have clicked together.
"""

import json
from collections.abc import Iterable, Iterator
from uuid import uuid4

from pydantic_core import PydanticCustomError

from reconciler.emulator.alert_rules import complaint_about
from reconciler.emulator.bodies import body_of
from reconciler.emulator.endpoint import Call, Endpoint, Resource
from reconciler.emulator.errors import InvalidRequestError
from reconciler.emulator.faults import PartialBulk
from reconciler.emulator.models.alert_definition import (
    AlertDefId,
    AlertDefProperties,
    AlertDefToReplace,
    BulkReplaceReply,
    BulkReplaceRequest,
    StoredAlertDefinition,
)
from reconciler.emulator.models.wire import JsonObject, canonical_uuid
from reconciler.emulator.reading import UnreadableModelError, read, whole
from reconciler.emulator.rendering import as_text, canonical
from reconciler.emulator.store import Store

_TABLE = "alert_definitions (id TEXT PRIMARY KEY, slo_id TEXT, record TEXT NOT NULL)"


def plant(store: Store, alert_ids: Iterable[str], now: str) -> None:
    """Store a bare definition under each id that has none yet.

    Raises ValueError for what is not a uuid.
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
    for (record,) in store.rows(query, slo_id):
        yield whole(StoredAlertDefinition, json.loads(record))


def _replace(call: Call, request: BulkReplaceRequest) -> BulkReplaceReply:
    _check_ids_differ(request)
    # Every definition is read before the first is written: one that cannot be
    # taken in refuses the whole request.
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
    elif _is_as(stored, properties):
        reply.skipped_ids.append(alert_id)
    else:
        version = _version(alert_id, properties, stored["createdTime"], call.now)
        version.last_triggered_time = stored.get("lastTriggeredTime")
        _keep(call.store, version)
        reply.alert_defs.append(version)


def _is_as(stored: JsonObject, properties: AlertDefProperties) -> bool:
    before = read(AlertDefProperties, stored["alertDefProperties"])
    return canonical(properties) == canonical(before)


def _misreport(index: int, alert_id: str, partial: PartialBulk, reply: BulkReplaceReply) -> None:
    """Put an item into each list that a fault names it for."""
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
    row = store.row("SELECT record FROM alert_definitions WHERE id = ?", alert_id)
    return json.loads(row[0]) if row else None


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
