"""Incidents: endpoints 8 to 10.

Where the API document is silent: the newest comes first; closing one that is
closed changes nothing and leaves it out of the answer, which lists the updated
ones; an id nobody has refuses the whole close.
"""

import json

from reconciler.emulator.endpoint import Call, Endpoint, Resource
from reconciler.emulator.errors import MissingObjectError
from reconciler.emulator.faults import PartialBulk
from reconciler.emulator.incident_life import INCIDENT_TABLES, close, incident_in
from reconciler.emulator.models.incident import (
    Incident,
    IncidentCloseReply,
    IncidentEventListReply,
    IncidentListReply,
)
from reconciler.emulator.models.incident_query import (
    CloseQuery,
    IncidentEventFilter,
    IncidentEventQuery,
    IncidentFilter,
    IncidentQuery,
)
from reconciler.emulator.models.query import any_of
from reconciler.emulator.models.wire import JsonObject
from reconciler.emulator.paging import Criterion, Listing, criterion
from reconciler.emulator.rendering import Rendered, as_text
from reconciler.emulator.store import Store

_PATH = "/incidents/incidents/v1"
_FIELDS = (
    "createdAt",
    "closedAt",
    "lastStateUpdateTime",
    "name",
    "severity",
    "state",
    "status",
)
_EVENT_FIELDS = ("cxEventTimestamp", "cxEventKey")


def _list(call: Call, asked: IncidentQuery) -> Rendered:
    found = [incident for incident in incidents_in(call.store) if _passes(incident, asked.filter)]
    orders = [
        criterion(order.field_name, order.direction, known=_FIELDS, default="createdAt")
        for order in asked.order_bys
    ]
    listing = Listing(found, tuple(orders) or (Criterion("createdAt"),), "id", asked)
    page = listing.page(asked.pagination.page_size, asked.pagination.page_token)
    return as_text({"incidents": page.records, "pagination": page.info})


def incidents_in(store: Store) -> list[JsonObject]:
    """Give all incidents as they are stored."""
    return [json.loads(record) for (record,) in store.rows("SELECT record FROM incidents")]


def _passes(incident: JsonObject, wanted: IncidentFilter) -> bool:
    labels = incident["contextualLabels"]
    return (
        any_of(wanted.application_name, labels.get("applicationName"))
        and any_of(wanted.subsystem_name, labels.get("subsystemName"))
        and any_of(wanted.severity, incident["severity"])
        and any_of(wanted.state, incident["state"])
        and any_of(wanted.status, incident["status"])
        and wanted.is_muted in (None, incident["isMuted"])
        and _has_assignee(incident, wanted.assignee)
        and _has_text(incident, wanted.search_query)
        and _has_labels(labels, wanted.contextual_labels)
        and _has_labels(incident["displayLabels"], wanted.display_labels)
        and all(
            {"key": meta_label.key, "value": meta_label.value} in incident["metaLabels"]
            for meta_label in wanted.meta_labels
        )
        and wanted.created_at_range.holds(incident["createdAt"])
    )


def _has_assignee(incident: JsonObject, wanted: list[str]) -> bool:
    holders = {
        assignment.get("assignedTo", {}).get("userId") for assignment in incident["assignments"]
    }
    return not wanted or not holders.isdisjoint(wanted)


def _has_text(incident: JsonObject, text: str) -> bool:
    return any(text.casefold() in incident[field].casefold() for field in ("name", "description"))


def _has_labels(labels: JsonObject, wanted: dict[str, list[str]]) -> bool:
    return all(labels.get(key) in values for key, values in wanted.items())


def _list_events(call: Call, asked: IncidentEventQuery) -> Rendered:
    order = asked.order_by
    listing = Listing(
        _events(call.store, asked.filter),
        (criterion(order.field, order.direction, known=_EVENT_FIELDS, default=_EVENT_FIELDS[0]),),
        "cxEventKey",
        asked,
    )
    page = listing.page(asked.pagination.page_size, asked.pagination.page_token)
    return as_text({"items": page.records, "pagination": page.info})


def _events(store: Store, wanted: IncidentEventFilter) -> list[JsonObject]:
    rows = store.rows(
        """SELECT incident_events.record, incidents.record
           FROM incident_events JOIN incidents ON incidents.id = incident_events.incident_id"""
    )
    return [
        event
        for event, incident in ((json.loads(value), json.loads(other)) for value, other in rows)
        if _event_passes(event, incident, wanted)
    ]


def _event_passes(event: JsonObject, incident: JsonObject, wanted: IncidentEventFilter) -> bool:
    behind = event["incidentEventExtendedMetadata"]
    labels = {pair["key"]: pair["value"] for pair in behind["alertLabels"]}
    return (
        wanted.name.casefold() in behind["alertName"].casefold()
        and any_of(wanted.severity, behind["incidentSeverity"])
        and any_of(wanted.status, behind["incidentStatus"])
        and wanted.is_muted in (None, behind["isMuted"])
        and _has_labels(labels, wanted.labels)
        and _has_labels(incident["contextualLabels"], wanted.contextual_labels)
        and _has_labels(incident["displayLabels"], wanted.display_labels)
        and wanted.timestamp.holds(event["cxEventTimestamp"])
    )


def _close(call: Call, asked: CloseQuery) -> IncidentCloseReply:
    named = [_named(call.store, one) for one in dict.fromkeys(asked.incident_ids)]
    partial = call.partial or PartialBulk()
    closed = {
        index: close(call.store, incident, now=call.now, user_id=call.author.id)
        for index, incident in enumerate(named)
        if incident.closed_at is None and partial.carries_out(index)
    }
    return IncidentCloseReply(
        incidents=[incident for index, incident in closed.items() if partial.shows(index)]
    )


def _named(store: Store, incident_id: str) -> Incident:
    incident = incident_in(store, incident_id)
    if incident is None:
        raise MissingObjectError("incident", incident_id)
    return incident


INCIDENTS = Resource(
    tables=INCIDENT_TABLES,
    endpoints=(
        Endpoint(
            8,
            "POST",
            _PATH,
            IncidentQuery,
            IncidentListReply,
            _list,
            in_query=True,
            only_reads=True,
        ),
        Endpoint(
            9,
            "GET",
            _PATH + "/events",
            IncidentEventQuery,
            IncidentEventListReply,
            _list_events,
            in_query=True,
        ),
        Endpoint(
            10, "POST", _PATH + "/close", CloseQuery, IncidentCloseReply, _close, in_query=True
        ),
    ),
)
