"""Evidence for the reviewer of a plan from the platform's own records. It decides nothing.

Source: docs/evidence.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from reconciler.document import Json, Missing, Path
from reconciler.features.policy_samples.policy_impact import PolicyImpact
from reconciler.model.manifest import Ref

SignalKind: TypeAlias = Literal["events", "incidents", "cases"]
"""Records that a track record reads; open incidents come with the incidents."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldBeside:
    """A field with another live value than the base branch declares; both as they may be shown."""

    path: Path
    base: Json | Missing
    live: Json | Missing


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseDifference:
    """A resource with different actions in a plan against live and one against the base branch.

    `base` and `live` are the names of their actions.
    """

    ref: Ref
    base: str
    live: str
    fields: tuple[FieldBeside, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseDrift:
    """The differences between live and the base branch, from two plans of one change.

    `against` is the base branch's commit; `why` is why the differences are unknown, "" if they are
    known.
    """

    against: str
    strayed: tuple[BaseDifference, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """All evidence that was collected for a plan; None or empty if it was not.

    It changes by itself, so no digest contains it, and no write depends on it. `owners` are the
    owners of each manifest by the CODEOWNERS file of the base branch; a manifest without an owner
    is not in it. They are notified if `mentions_owners` is set.
    """

    owners: Mapping[Ref, tuple[str, ...]] = field(default_factory=dict)
    mentions_owners: bool = False
    policies: PolicyImpact | None = None
    """The effect on the samples of logs."""

    track_records: Mapping[Ref, TrackRecord] = field(default_factory=dict)
    """The track record of each alert that the plan touches, if it was requested."""

    base: BaseDrift | None = None
    """The differences between live and the base branch."""


NO_SIGNALS = Signals()
