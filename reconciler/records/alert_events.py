"""Alert events, and the alert behind each. Source: docs/endpoints.md, 2."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from pydantic import Field

from reconciler.model import Ref
from reconciler.records.record import (
    Allowance,
    Labels,
    PageShape,
    Record,
    Span,
    Text,
    follow,
    paged,
    range_filter,
)

if TYPE_CHECKING:
    from reconciler.api.client import Api

ALERTS: Final = "AlertDefinition"
"""The kind of the resources that events are about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownAlert:
    """An alert to look for: its id, its names, and its versions in the span.

    `all_versions` means that no other version can be in the span: the journal has one that existed
    when the span began. `known_since` is when the first known version was made, None where there is
    none.
    """

    ref: Ref
    remote_id: str
    names: frozenset[str]
    versions: frozenset[str]
    all_versions: bool
    known_since: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finder:
    """Finder of the alert of a record: by its id, by its version, and last by its name.

    A name of several alerts identifies none.
    """

    ids: Mapping[str, Ref]
    versions: Mapping[str, Ref]
    names: Mapping[str, Ref]
    all_versions: bool

    @classmethod
    def of(cls, alerts: Sequence[KnownAlert]) -> Finder:
        """Make a finder for these alerts."""
        bearers = Counter(name for alert in alerts for name in alert.names)
        return cls(
            ids={alert.remote_id: alert.ref for alert in alerts if alert.remote_id},
            versions={version: alert.ref for alert in alerts for version in alert.versions},
            names={
                name: alert.ref for alert in alerts for name in alert.names if bearers[name] == 1
            },
            all_versions=all(alert.all_versions for alert in alerts),
        )

    def alert_of(self, event: AlertEvent) -> tuple[Ref | None, bool]:
        """Return the alert, None where it is none of these, and whether only its name says so."""
        if event.alert_id:
            return self.ids.get(event.alert_id), False
        if event.alert_version_id:
            return self.versions.get(event.alert_version_id), False
        return self.names.get(event.alert_name), True

    def may_be_ours(self, event: AlertEvent) -> bool:
        """Return whether an event without a known alert may be of one of these alerts."""
        if event.alert_id:
            return False
        return not self.all_versions if event.alert_version_id else not event.alert_name


ALERT_EVENTS = "/alerts/events/v3/alert-events"


_TRIGGERS = frozenset(("trigger", "triggered", "fire", "fired", "firing"))
_ENDS = frozenset(("resolve", "resolved", "closed", "ended"))
_NO_TRIGGERS = _ENDS | frozenset(("acknowledged", "suppressed", "snoozed", "muted"))
_ALERT_IDS = ("alertId", "alert_id", "alertDefId", "alert_def_id")
_VERSION_IDS = ("alertVersionId", "alert_version_id")
_NAMES = ("alertName", "alert_name", "name")


class AlertEvent(Record):
    """One event; `cxEventTimestamp` is in epoch seconds."""

    company_id: int | None = None
    cx_event_key: Text = ""
    cx_event_labels: Labels = Field(default_factory=dict)
    cx_event_payload: Any = None
    cx_event_payload_type: Text = ""
    cx_event_timestamp: Text = ""
    cx_event_type: Text = ""
    cx_event_dedup_key: Text = ""
    cx_event_metadata: Any = None

    @property
    def is_trigger(self) -> bool | None:
        """Return whether an alert fired; None where the event does not say.

        Source: docs/assumptions.md.
        """
        for words in self._describe():
            if words & _NO_TRIGGERS:
                return False
            if words & _TRIGGERS:
                return True
        return None

    @property
    def turn(self) -> str:
        """The turn of its alert: `triggered` or `resolved`; "" where the event says neither."""
        if self.is_trigger:
            return "triggered"
        return "resolved" if any(words & _ENDS for words in self._describe()) else ""

    def _describe(self) -> Iterator[frozenset[str]]:
        """Yield the words of its type, and those of the payload's status."""
        payload = self.cx_event_payload
        status = payload.get("status") if isinstance(payload, dict) else ""
        for text in (self.cx_event_type, status):
            if isinstance(text, str):
                yield frozenset(re.split(r"[^a-z]+", text.lower()))

    @property
    def alert_id(self) -> str:
        """The id of its alert in lower case, from any field that has it; "" where none has."""
        return next(self.alert_ids, "").lower()

    @property
    def alert_ids(self) -> Iterator[str]:
        """Every id of an alert in the event, as it is written there."""
        return self._all_reported(_ALERT_IDS)

    @property
    def alert_version_id(self) -> str:
        """The version of its alert, in lower case, "" where the event has none."""
        return self._reported(_VERSION_IDS).lower()

    @property
    def alert_name(self) -> str:
        """The name of its alert, "" where the event has none."""
        return self._reported(_NAMES)

    def _reported(self, names: Sequence[str]) -> str:
        return next(self._all_reported(names), "")

    def _all_reported(self, names: Sequence[str]) -> Iterator[str]:
        places = (self.cx_event_metadata, self.cx_event_payload, self.cx_event_labels)
        for fields in places:
            for name in names:
                value = fields.get(name) if isinstance(fields, dict) else None
                if isinstance(value, str) and value:
                    yield value


VERSIONS_AT_ONCE: Final = 100
"""Version ids in one request: they are in its address."""


def in_batches(versions: Sequence[str]) -> list[tuple[str, ...]]:
    """Return version ids in batches of as many as one request takes."""
    starts = range(0, len(versions), VERSIONS_AT_ONCE)
    return [tuple(versions[start : start + VERSIONS_AT_ONCE]) for start in starts]


@dataclass(frozen=True, slots=True)
class EventFilter:
    """The events that are wanted; an event must have every label."""

    alert_version_ids: tuple[str, ...] = ()
    span: Span | None = None
    labels: Mapping[str, str] = field(default_factory=dict)

    def holds(self, event: AlertEvent) -> bool:
        """Return whether an event matches.

        A service may ignore a filter that it does not know.
        """
        labels = event.cx_event_labels
        return (self.span is None or self.span.holds(event.cx_event_timestamp)) and all(
            labels.get(key) == value for key, value in self.labels.items()
        )


def list_alert_events(
    api: Api, wanted: EventFilter, limit: int | Allowance | None = None, *, whole: bool = False
) -> AsyncIterator[AlertEvent]:
    """Return events page by page, newest first as far as the service sorts.

    Raises what `Api.read` raises, and with `whole` UnreadableReply for a listing that is cut.
    """
    spell, label_filter = api.assumptions.parameter, api.assumptions.label_filter
    fixed = [
        *spell("alertVersionIds", list(wanted.alert_version_ids)),
        *spell("timestampRange", range_filter(wanted.span, api.assumptions)),
        *spell("eventLabels", label_filter(wanted.labels)),
    ]
    fetch = paged(api, partial(api.read, ALERT_EVENTS), fixed)
    return follow(fetch, PageShape("events", AlertEvent), limit, wanted.holds, whole=whole)
