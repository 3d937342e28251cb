"""The incident and the case that follow from a triggered alert."""

import json
from collections import Counter
from dataclasses import dataclass
from datetime import datetime

from reconciler.emulator.cases import keep_case
from reconciler.emulator.chance import draw, drawn_id
from reconciler.emulator.clock import timestamp
from reconciler.emulator.incident_life import (
    AlertBehind,
    acknowledge,
    close,
    incident_in,
    open_incident,
)
from reconciler.emulator.models.case import (
    AlertIndicator,
    Assignee,
    Case,
    KeyValue,
    PriorityDetails,
    ResolutionDetails,
)
from reconciler.emulator.models.incident import Assignment, Incident, User
from reconciler.emulator.models.wire import JsonObject
from reconciler.emulator.reading import read
from reconciler.emulator.store import Store

PEOPLE = tuple(drawn_id("person", name) for name in ("mira", "jonas", "aylin", "tomasz"))
_SEVERITIES = {"P1": "CRITICAL", "P2": "ERROR", "P3": "WARNING"}
_WITH_CASE = ("P1", "P2")
_NOTICED_PER_MINUTE = 0.08
_LEFT_OPEN = 0.1  # share of incidents that wait for a person after the alert resolved


@dataclass(frozen=True)
class Trouble:
    """One trigger of one alert, from its beginning to its end."""

    alert: JsonObject
    priority: str
    since: datetime
    labels: dict[str, str]
    happened: Counter[str]

    def begin(self, store: Store) -> None:
        """Open the incident and the case that the priority calls for."""
        if self.priority in _SEVERITIES:
            open_incident(store, self._incident(), self._behind(), now=timestamp(self.since))
            self.happened["incidents"] += 1
        if self.priority in _WITH_CASE:
            keep_case(store, self._case(store))
            self.happened["cases"] += 1

    def be_noticed(self, store: Store, minute: datetime) -> None:
        """Let somebody take it, sooner or later."""
        if draw("noticed", self._id, minute) >= _NOTICED_PER_MINUTE:
            return
        now = timestamp(minute)
        incident = incident_in(store, self._id)
        if incident and incident.status == "INCIDENT_STATUS_TRIGGERED":
            incident.assignments.append(Assignment(assigned_to=User(user_id=self._person)))
            acknowledge(store, incident, user_id=self._person, now=now)
        case = self._stored_case(store)
        if case and case.status == "CASE_STATUS_OPEN":
            case.status = "CASE_STATUS_ACKNOWLEDGED"
            case.state = "CASE_STATE_ACTIVE"
            case.assignee = Assignee(user_id=self._person)
            case.acknowledge_time = case.update_time = now
            keep_case(store, case)

    def end(self, store: Store, minute: datetime) -> None:
        """Close what the alert opened, unless it is left for a person to close."""
        now = timestamp(minute)
        is_left_open = draw("left open", self._id) < _LEFT_OPEN
        incident = incident_in(store, self._id)
        if incident and incident.closed_at is None and not is_left_open:
            close(store, incident, now=now)
            self.happened["closed"] += 1
        case = self._stored_case(store)
        if case:
            for indicator in case.alert_indicators:
                indicator.state = "ALERT_INDICATOR_STATE_RESOLVED"
                indicator.resolve_time = now
            case.update_time = now
            if not is_left_open:
                case.state, case.status = "CASE_STATE_RESOLVED", "CASE_STATUS_CLOSED"
                case.resolution_details = ResolutionDetails(
                    resolve_time=now, resolved_by="CASE_RESOLVER_SYSTEM"
                )
            keep_case(store, case)

    @property
    def _id(self) -> str:
        return drawn_id("incident", self.alert["id"], self.since)

    @property
    def _person(self) -> str:
        return PEOPLE[int(len(PEOPLE) * draw("person", self._id))]

    @property
    def _name(self) -> str:
        return str(self.alert["alertDefProperties"]["name"])

    def _behind(self) -> AlertBehind:
        properties = self.alert["alertDefProperties"]
        return AlertBehind(
            self.alert["id"],
            properties["name"],
            properties["entityLabels"],
            tuple(properties["groupByKeys"]),
        )

    def _incident(self) -> Incident:
        properties = self.alert["alertDefProperties"]
        return Incident(
            id=self._id,
            name=self._name,
            description=properties["description"],
            severity=f"INCIDENT_SEVERITY_{_SEVERITIES[self.priority]}",
            is_muted=properties["phantomMode"],
            contextual_labels={
                "applicationName": self.labels["application"],
                "subsystemName": self.labels["subsystem"],
                "region": self.labels["region"],
            },
            display_labels={"Region": self.labels["region"]},
            meta_labels=[
                KeyValue(key=key, value=text) for key, text in properties["entityLabels"].items()
            ],
        )

    def _case(self, store: Store) -> Case:
        row = store.row("SELECT count(*) FROM cases")
        number = 1001 + (row[0] if row else 0)
        properties = self.alert["alertDefProperties"]
        now = timestamp(self.since)
        priority = f"CASE_PRIORITY_{self.priority}"
        is_security = properties["entityLabels"].get("team") == "security"
        return Case(
            id=drawn_id("case", self._id),
            readable_id=f"CASE-{number}",
            title=f"{self._name} in {self.labels['region']}",
            description=properties["description"],
            category=f"CASE_CATEGORY_{'SECURITY' if is_security else 'AVAILABILITY'}",
            priority=priority,
            priority_details=PriorityDetails(system=priority),
            state="CASE_STATE_CREATED",
            status="CASE_STATUS_OPEN",
            create_time=now,
            update_time=now,
            groupings=[KeyValue(key="region", value=self.labels["region"])],
            labels=[
                KeyValue(key=key, value=text) for key, text in properties["entityLabels"].items()
            ],
            alert_indicators=[
                AlertIndicator(
                    alert_id=self.alert["id"],
                    alert_version_id=self.alert["alertVersionId"],
                    groupings=[KeyValue(key="region", value=self.labels["region"])],
                    priority=f"ALERT_PRIORITY_{self.priority}",
                    state="ALERT_INDICATOR_STATE_TRIGGERED",
                    trigger_time=now,
                )
            ],
        )

    def _stored_case(self, store: Store) -> Case | None:
        row = store.row("SELECT record FROM cases WHERE id = ?", drawn_id("case", self._id))
        return read(Case, json.loads(row[0])) if row else None
