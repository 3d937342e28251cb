"""What the platform's own records say of a plan: evidence for a reviewer, which decides nothing.

Source: docs/evidence.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from reconciler.document import Json, Missing, Path
from reconciler.model.manifest import Ref
from reconciler.model.policy_impact import PolicyImpact

SignalKind: TypeAlias = Literal["events", "incidents", "cases"]
"""What the service is asked for a track record; open incidents come with the incidents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackRecord:
    """What one alert did in the last `days` times 24 hours.

    A figure is None where the service did not tell it. `events` counts triggers, and among them
    the `unclear` ones, whose type does not say whether they are. `open_incidents` are open now,
    whenever they began. `by_name` are incidents, cases and events that tell no id and are
    counted as they bear its name. `untied` are events and cases that tell a version alone, which
    may be one of this alert from before those that are known. `daily` are the triggers of each 24
    hours, the oldest first.
    `last_acknowledged` is a time in UTC, "" for none. `complete` says that
    nothing was cut off, refused or left out, so that the figures are no lower bounds.
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
class Watchers:
    """Which alerts watch what a plan changes: those that are declared, and ids of others."""

    refs: tuple[Ref, ...] = ()
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldBeside:
    """A field that is not live as the base branch declares it, both as they may be shown."""

    path: Path
    base: Json | Missing
    live: Json | Missing


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseDifference:
    """A resource of which a plan against live and one against the base branch say something else.

    `base` and `live` are the words of their actions.
    """

    ref: Ref
    base: str
    live: str
    fields: tuple[FieldBeside, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseDrift:
    """How far live is from what the base branch declares, by two plans of one change.

    `against` is the base branch's commit, and `why` says why it could not be told, "" where it
    could.
    """

    against: str
    strayed: tuple[BaseDifference, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """All that was asked for beside a plan, None or empty where it was not.

    It moves by itself, so no digest holds it, and no write rests on it. `owners` are those of
    each manifest by the code owners of the base branch, none of what is nobody's; they are
    notified where `mentions_owners` says so.
    """

    owners: Mapping[Ref, tuple[str, ...]] = field(default_factory=dict)
    mentions_owners: bool = False
    policies: PolicyImpact | None = None
    """What becomes of the samples of logs."""

    track_records: Mapping[Ref, TrackRecord] = field(default_factory=dict)
    """Of each alert that the plan touches, where that was asked for."""

    watchers: Mapping[Ref, Watchers] = field(default_factory=dict)
    """Of each SLO that the plan changes, those that are known to watch it."""

    alerts: Mapping[str, Ref] = field(default_factory=dict)
    """The alerts that are known, by their ids in lower case."""

    base: BaseDrift | None = None
    """How far live is from what the base branch declares."""


def watchers_named(ids: Iterable[str], alerts: Mapping[str, Ref]) -> Watchers:
    """Give the alerts of these ids by name, as far as they are known, and the ids of the others."""
    lowered = dict.fromkeys(id_.lower() for id_ in ids)
    refs = sorted({alerts[text] for text in lowered if text in alerts})
    return Watchers(refs=tuple(refs), others=tuple(text for text in lowered if text not in alerts))


NO_SIGNALS = Signals()
