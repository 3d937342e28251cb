"""Alert definitions: endpoint 1.

The service cannot create one through the API, so `plant` adds what a person would have clicked
together. Bounds of single fields are in the model. The rules here look at the type of an alert, or
inside its part. Source: docs/assumptions.md.
"""

import re
from collections.abc import Iterable, Iterator
from uuid import uuid4

from reconciler.emulator.alert_definition_models import (
    AlertDefId,
    AlertDefProperties,
    AlertDefToReplace,
    BulkReplaceReply,
    BulkReplaceRequest,
    StoredAlertDefinition,
)
from reconciler.emulator.database import Store
from reconciler.emulator.endpoint import Call, Records, Resource
from reconciler.emulator.http_errors import InvalidRequestError
from reconciler.emulator.reading import UnreadableModelError, body_of, read, whole
from reconciler.emulator.rendering import as_json, as_text, canonical
from reconciler.emulator.wire_models import JsonObject, canonical_uuid

_WITH_ONE_RULE = (
    "logsAnomaly",
    "logsNewValue",
    "logsUniqueCount",
    "metricAnomaly",
    "tracingThreshold",
)
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


def type_of(part: str) -> str:
    """Return the alert type that goes with a part: `metricThreshold` has `..._METRIC_THRESHOLD`."""
    words = re.sub(r"(?=[A-Z])", "_", part).upper()
    ending = "_OR_UNSPECIFIED" if part == "logsImmediate" else ""
    return f"ALERT_DEF_TYPE_{words}{ending}"


def _is_allowed(properties: AlertDefProperties) -> bool:
    """Return whether a definition keeps the rules.

    A definition without any part is accepted: the API document does not show the parts, so it
    cannot require any.
    """
    sent = as_json(properties)
    return all(
        properties.type == type_of(part) and _is_bounded(part, sent[part])
        for part in _PARTS
        if part in sent
    )


def _is_bounded(part: str, content: JsonObject) -> bool:
    delay = content.get("evaluationDelayMs")
    if isinstance(delay, str):
        delay = int(delay) if delay.isdecimal() else 0
    metric = content.get("metricFilter")
    query = metric.get("promql") if isinstance(metric, dict) else None
    return (
        _is_count(content.get("rules"), 1 if part in _WITH_ONE_RULE else 5)
        and _is_count(content.get("stages"), 30)
        and not (isinstance(delay, int) and delay > _LONGEST_DELAY_MS)
        and not (isinstance(query, str) and len(query) > _LONGEST_PROMQL)
    )


def _is_count(items: object, most: int) -> bool:
    """Return whether a list, if present, has 1 to `most` items."""
    return items is None or (isinstance(items, list) and 1 <= len(items) <= most)


ALERT_DEFINITIONS = Resource(
    "alert_definitions (id TEXT PRIMARY KEY, slo_id TEXT, record TEXT NOT NULL)"
)
ALERT_RECORDS = Records("alert", "alert_definitions", "alertDefProperties.name")


def plant(store: Store, alert_ids: Iterable[str], now: str) -> None:
    """Store a bare definition under each id that has none yet.

    Raises ValueError for an id that is not a uuid.
    """
    bare = read(AlertDefProperties, {"name": "New alert", "enabled": True, "logsImmediate": {}})
    for text in alert_ids:
        try:
            alert_id = canonical_uuid(text)
        except ValueError:
            raise ValueError(f"alert id {text!r}: not a uuid") from None
        if store.find("alert_definitions", alert_id) is None:
            _keep(store, _version(alert_id, bare, now, now))


def watching(store: Store, slo_id: str) -> Iterator[JsonObject]:
    """Yield the stored definitions that watch an SLO, whole, by id."""
    for record in store.records("alert_definitions", "WHERE slo_id = ? ORDER BY id", slo_id):
        yield whole(StoredAlertDefinition, record)


@ALERT_DEFINITIONS.answers(
    1, "PUT", "/alerts/alerts-general/v3/bulk", BulkReplaceRequest, BulkReplaceReply
)
def _replace(call: Call, request: BulkReplaceRequest) -> BulkReplaceReply:
    items = request.alert_defs_to_replace
    for index, item in enumerate(items):
        if any(item.id == earlier.id for earlier in items[:index]):
            raise InvalidRequestError(f"alertDefsToReplace[{index}].id: {item.id} is there twice")
    # Every definition is read before the first is written: a definition that cannot be
    # parsed refuses the whole request.
    proposals = [(item.id, _proposed(call, index, item)) for index, item in enumerate(items)]
    reply, partial = BulkReplaceReply(), call.partial
    for index, (alert_id, properties) in enumerate(proposals):
        if partial.carries_out(index):
            shown = reply if index not in partial.missing else BulkReplaceReply()
            _replace_one(call, alert_id, properties, shown)
        # A fault may name an item for several lists.
        if index in partial.failed:
            reply.failed_to_replace_alert_defs.append(AlertDefId(id=alert_id))
        if index in partial.not_found:
            reply.not_found_ids.append(alert_id)
        if index in partial.skipped:
            reply.skipped_ids.append(alert_id)
    reply.skipped_ids += partial.unsent
    return reply


def _replace_one(
    call: Call, alert_id: str, properties: AlertDefProperties | None, reply: BulkReplaceReply
) -> None:
    stored = call.store.find("alert_definitions", alert_id)
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


def _proposed(call: Call, index: int, item: AlertDefToReplace) -> AlertDefProperties | None:
    """Read the properties; None when they break a rule, as only this item fails then."""
    place = ("alertDefsToReplace", index, "alertDefProperties")
    try:
        properties = body_of(AlertDefProperties, item.alert_def_properties, call.profile, *place)
    except UnreadableModelError as problem:
        if problem.malformed:
            raise
        return None
    return properties if _is_allowed(properties) else None


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


def _keep(store: Store, version: StoredAlertDefinition) -> None:
    watched = version.alert_def_properties.slo_threshold
    slo_id = canonical_uuid(watched.slo_definition.slo_id) if watched else None
    store.keep("alert_definitions", version.id, slo_id, as_text(version))
