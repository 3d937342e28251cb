"""What a look at the noise of alerts since a run found: values only. Source: docs/evidence.md."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from reconciler.model.manifest import Ref

Verdict: TypeAlias = Literal["quieter", "same", "noisier", "unknown"]

UnknownCause: TypeAlias = Literal[
    "too-soon", "no-id", "written-before", "unread", "cut", "untold", "clock"
]
"""Why nothing can be said of an alert: no time has passed since the run, or not enough of the
span before is of one definition; the events could not be read, or not all of them; some of them
tell of no alert, or not when they were; or the clocks of the service and of here differ."""


@dataclass(frozen=True, slots=True)
class Counted:
    """Triggers in so many hours, which may be of several spans together."""

    events: int
    hours: float

    @property
    def per_hour(self) -> float:
        """The rate."""
        return self.events / self.hours if self.hours else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedAlert:
    """One alert that a run wrote.

    `after` are the triggers since the run, up to `until`; `before` those of the same span right
    before it, and `week_before` those of the same hours a week before. `base` is what `after` was
    held against, of `spans` spans. `p` is how likely chance alone makes such a difference,
    corrected for the number of alerts. A figure is None where it is not known. `cause` says why
    nothing can be said, "" where something can; `written` is when another run wrote it, "" for
    no such time.
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
    """What was found of all alerts of a run, whose time is `since`.

    `level` is how often each of the verdicts quieter and noisier may be said by chance alone, of
    all alerts together. `unread` is why the events could not be read, "" where they could, and
    `complete` says that nothing of them was cut off or refused. `commit` is what was applied.
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
