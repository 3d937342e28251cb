"""Incidents and what happened to them. Further values: docs/assumptions.md."""

from typing import Annotated, ClassVar

from pydantic import Field

from reconciler.emulator.models.case import KeyValue
from reconciler.emulator.models.enumerations import (
    IncidentAlertType,
    IncidentEventType,
    IncidentSeverity,
    IncidentState,
    IncidentStatus,
    OriginatorType,
)
from reconciler.emulator.models.query import PageInfo
from reconciler.emulator.models.wire import Empty, Labels, Timestamp, WireObject


class User(WireObject):
    """A person by id."""

    user_id: str = ""


class Assignment(WireObject):
    """Who gave the incident to whom."""

    assigned_by: User | None = None
    assigned_to: User | None = None


class IncidentEvent(WireObject):
    """One step in the life of an incident; `close` is there for the last one."""

    id: str
    incident_event_type: IncidentEventType = "INCIDENT_EVENT_TYPE_UNSPECIFIED"
    originator_type: OriginatorType = "ORIGINATOR_TYPE_UNSPECIFIED"
    administrative_event: User | None = None
    close: Empty | None = None


class Incident(WireObject):
    """Something that went wrong; it is open while it has no `closedAt`."""

    required_in_answers: ClassVar[frozenset[str]] = frozenset({"id"})

    id: str
    name: str = ""
    description: str = ""
    created_at: Timestamp | None = None
    closed_at: Timestamp | None = None
    duration: str = ""
    severity: IncidentSeverity = "INCIDENT_SEVERITY_UNSPECIFIED"
    state: IncidentState = "INCIDENT_STATE_UNSPECIFIED"
    status: IncidentStatus = "INCIDENT_STATUS_UNSPECIFIED"
    is_muted: bool = False
    last_state_update_key: str = ""
    last_state_update_time: Timestamp | None = None
    contextual_labels: Labels = Field(default_factory=dict)
    display_labels: Labels = Field(default_factory=dict)
    meta_labels: list[KeyValue] = Field(default_factory=list)
    assignments: list[Assignment] = Field(default_factory=list)
    events: list[IncidentEvent] = Field(default_factory=list)


class IncidentEventMetadata(WireObject):
    """The alert behind an event, and the incident as it was then."""

    alert_group_by_fields: list[str] = Field(default_factory=list)
    alert_id: str = ""
    alert_labels: list[KeyValue] = Field(default_factory=list)
    alert_name: str = ""
    alert_type: IncidentAlertType = "INCIDENT_EVENT_ALERT_TYPE_STANDARD_OR_UNSPECIFIED"
    incident_permutation: Annotated[Empty, Field(default_factory=Empty)]
    incident_severity: IncidentSeverity = "INCIDENT_SEVERITY_UNSPECIFIED"
    incident_state: IncidentState = "INCIDENT_STATE_UNSPECIFIED"
    incident_status: IncidentStatus = "INCIDENT_STATUS_UNSPECIFIED"
    is_muted: bool = False


class ExtendedIncidentEvent(WireObject):
    """An incident event as the listing shows it."""

    cx_event_key: str
    cx_event_timestamp: Timestamp
    incident_event: IncidentEvent
    incident_event_extended_metadata: IncidentEventMetadata


class IncidentListReply(WireObject):
    """Reply of endpoint 8."""

    required_in_answers: ClassVar[frozenset[str]] = frozenset({"incidents", "pagination"})

    incidents: list[Incident]
    pagination: PageInfo


class IncidentEventListReply(WireObject):
    """Reply of endpoint 9."""

    required_in_answers: ClassVar[frozenset[str]] = frozenset({"items"})

    items: list[ExtendedIncidentEvent]
    pagination: PageInfo | None = None


class IncidentCloseReply(WireObject):
    """Reply of endpoint 10: the incidents it closed."""

    incidents: list[Incident] = Field(default_factory=list)
