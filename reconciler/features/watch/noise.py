"""Values of a check of alert noise since a run. Source: docs/evidence.md."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from reconciler.model.manifest import Ref

Verdict: TypeAlias = Literal["quieter", "same", "noisier", "unknown"]

UnknownCause: TypeAlias = Literal[
    "too-soon", "no-id", "written-before", "unread", "cut", "untold", "clock"
]
"""Why an alert has no verdict.

No time has passed since the run, or too little of the span before has the same definition. Or
events could not be read, or not all of them; some have no alert or no time. Or the clocks of the
service and of this machine differ.
"""


@dataclass(frozen=True, slots=True)
class Counted:
    """Triggers in a number of hours, which may be the sum of several spans."""

    events: int
    hours: float

    @property
    def per_hour(self) -> float:
        """Triggers per hour."""
        return self.events / self.hours if self.hours else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedAlert:
    """One alert that a run wrote.

    `after` are the triggers since the run, up to `until`; `before` those of the span of the same
    length right before it, and `week_before` those of the same hours a week earlier. `base` is what
    `after` was compared with, over `spans` spans. `p` is the probability that chance alone makes
    such a difference, corrected for the number of alerts. A figure is None if it is not known.
    `cause` is why there is no verdict, "" if there is one. `written` is when another run wrote the
    alert, "" for never.
    """

    ref: Ref
    until: str
    verdict: Verdict = "unknown"
    cause: UnknownCause | Literal[""] = ""
    after: Counted | None = None
    before: Counted | None = None
    week_before: Counted | None = None
    base: Counted | None = None
    spans: int = 0
    p: float | None = None
    written: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseWatch:
    """The results for all alerts of a run; `since` is the time of the run.

    `level` is how often chance alone may give each of the verdicts quieter and noisier, over all
    alerts together. `unread` is why the events could not be read, "" if they could. `complete` says
    that no events were cut off or refused. `commit` is the commit that was applied.
    """

    run: str
    command: str
    since: str
    until: str
    level: float
    alerts: tuple[WatchedAlert, ...]
    complete: bool = True
    unread: str = ""
    commit: str = ""

    @property
    def noisier(self) -> tuple[WatchedAlert, ...]:
        """The alerts that became noisier."""
        return tuple(alert for alert in self.alerts if alert.verdict == "noisier")
