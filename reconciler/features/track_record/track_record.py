"""Track records of the alerts that a plan touches. Values only.

Source: docs/evidence.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from reconciler.model import Ref


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackRecord:
    """The record of one alert over the last `days` times 24 hours.

    A figure is None if the service did not report it. `events` counts triggers, including the
    `unclear` events: their type does not say whether they are triggers. `open_incidents` are open
    now, whenever they began. `by_name` counts incidents, cases and events without an id that were
    matched by the alert's name. `untied` counts events and cases that have only a version, which
    may be an older, unknown version of this alert. `daily` are the triggers of each 24 hours, the
    oldest first. `last_acknowledged` is a time in UTC, "" for none. `complete` says that nothing
    was cut off, refused or left out; otherwise the figures are lower bounds.
    """

    days: int
    events: int | None
    incidents: int | None
    open_incidents: int | None
    cases: int | None
    complete: bool
    unclear: int = 0
    by_name: int = 0
    untied: int = 0
    cases_by_priority: Mapping[str, int] = field(default_factory=dict)
    last_acknowledged: str = ""
    daily: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class TrackRecords:
    """The track record of each alert that a plan touches. It changes by itself."""

    formats: ClassVar[str] = "reconciler.features.track_record.track_record_section:FORMATS"
    by_ref: Mapping[Ref, TrackRecord]
