"""What a check of hygiene is: something declared that speaks against what happened. Pure.

Source: docs/evidence.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum
from typing import NamedTuple, TypeAlias

from reconciler.document import Json, Path
from reconciler.kinds.lint_rule import LintFinding, Neighbours
from reconciler.model import Manifest
from reconciler.syntax.diagnostic import Complaint, Suppressed


class Rest(Enum):
    """What a check rests on beside the manifests, as people call it."""

    EVENTS = "alert events"
    SPAN = "alert events of the whole span"
    NAMES = "alert events that name their alert"
    INCIDENTS = "open incidents"
    LOGS = "policies that logs meet"
    AGE = "since when it is declared so"


@dataclass(frozen=True, slots=True)
class AlertHistory:
    """What became of one alert in the span, oldest first.

    `fired` is each trigger, `lasted` how long those took whose end is told, and `open_since`
    when each incident of it began that is open. `unclear` events do not say what they are.
    """

    fired: tuple[datetime, ...] = ()
    lasted: tuple[timedelta, ...] = ()
    open_since: tuple[datetime, ...] = ()
    unclear: int = 0


NOTHING_HAPPENED = AlertHistory()


class Since(NamedTuple):
    """Since when something is so at least, and what tells: `journal` or `git`."""

    at: datetime
    by: str


def _nobody_knows(_: Manifest, __: Path = ()) -> Since | None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEvidence:
    """What the service told of a span that ends `at` a moment.

    `days` were asked for and `covered` are those that it tells of. `of` is by the ids of alerts.
    `met` counts the kinds of logs that meet a policy of a name, of `logs` in all; `live` are the
    policies in force. `declared` tells since when there is a manifest, `since` since when a value
    in its `spec` is what it is. `lacks` says why a part cannot be told.
    """

    at: datetime
    days: int
    covered: int = 0
    of: Mapping[str, AlertHistory] = field(default_factory=dict)
    met: Mapping[str, int] = field(default_factory=dict)
    live: frozenset[str] = frozenset()
    logs: int = 0
    declared: Callable[[Manifest], Since | None] = _nobody_knows
    since: Callable[[Manifest, Path], Since | None] = _nobody_knows
    lacks: Mapping[Rest, str] = field(default_factory=dict)

    def about(self, manifest: Manifest) -> AlertHistory:
        """Give what happened to the alert of a manifest."""
        return self.of.get(str(manifest.remote_id).lower(), NOTHING_HAPPENED)

    def tells(self, rests_on: Sequence[Rest]) -> bool:
        """Tell whether all that a check rests on is known."""
        return not any(rest in self.lacks for rest in rests_on)


class Trace(NamedTuple):
    """One place that a check is about, and the figures behind it."""

    manifest: Manifest
    found: LintFinding
    figures: Mapping[str, Json]


Trail: TypeAlias = Callable[[Neighbours, AuditEvidence], Iterator[Trace]]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRule:
    """One check, and what it rests on; the page of its code says why it is made."""

    code: str
    rests_on: tuple[Rest, ...]
    find: Trail


@dataclass(frozen=True, slots=True)
class Audited:
    """A finding at its place, the figures behind it, and what they rest on."""

    complaint: Complaint
    figures: Mapping[str, Json]
    rests_on: tuple[Rest, ...]


@dataclass(frozen=True, slots=True)
class Unjudged:
    """What could not be judged, by codes, and why."""

    codes: tuple[str, ...]
    rest: Rest
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """What an audit came to. `since` and `until` are the ends of the span that was asked for.

    `events` were looked at, and `requests` were made.
    """

    since: datetime
    until: datetime
    days: int
    covered: int
    events: int = 0
    requests: int = 0
    resources: int = 0
    found: tuple[Audited, ...] = ()
    unjudged: tuple[Unjudged, ...] = ()
    suppressed: tuple[Suppressed, ...] = ()

    @property
    def complaints(self) -> list[Complaint]:
        """The findings as complaints."""
        return [audited.complaint for audited in self.found]
