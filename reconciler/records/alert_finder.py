"""The alert of an event, an incident or a case: found by ids first, and by name last."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from reconciler.model import Ref

if TYPE_CHECKING:
    from reconciler.records.alert_events import AlertEvent


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
