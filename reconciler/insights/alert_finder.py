"""Which alert of ours an event, an incident or a case is of: by ids first, and last by its name."""

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
    """An alert that is asked about: its id, what it is called, and its versions of the span.

    `all_versions` says that those are all that the span can have seen: the journal has one
    that was there when it began. `known_since` is when the first one that is known was made, None
    where none is.
    """

    ref: Ref
    remote_id: str
    names: frozenset[str]
    versions: frozenset[str]
    all_versions: bool
    known_since: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finder:
    """Finds the alert that something is of: by its id, by its version, and last by its name.

    A name that several bear tells none of them.
    """

    ids: Mapping[str, Ref]
    versions: Mapping[str, Ref]
    names: Mapping[str, Ref]
    all_versions: bool

    @classmethod
    def of(cls, alerts: Sequence[KnownAlert]) -> Finder:
        """Make one for these alerts."""
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
        """Give the alert, None where it is none of these, and whether its name alone tells so."""
        if event.alert_id:
            return self.ids.get(event.alert_id), False
        if event.alert_version_id:
            return self.versions.get(event.alert_version_id), False
        return self.names.get(event.alert_name), True

    def may_be_ours(self, event: AlertEvent) -> bool:
        """Tell whether an event of no alert that is known here may be of one of them."""
        if event.alert_id:
            return False
        return not self.all_versions if event.alert_version_id else not event.alert_name
