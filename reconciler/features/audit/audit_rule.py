"""Audit rules: checks of declarations against what happened. Pure.

Source: docs/audit.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum
from typing import NamedTuple, TypeAlias

from reconciler.document import Json, Path
from reconciler.kinds.spec_finding import Neighbours, SpecFinding
from reconciler.model import Manifest
from reconciler.syntax.diagnostic import Complaint, Suppressed


class Rest(Enum):
    """Sources of a check besides the manifests, by their names in reports."""

    EVENTS = "alert events"
    SPAN = "alert events of the whole span"
    NAMES = "alert events that name their alert"
    INCIDENTS = "open incidents"
    LOGS = "policies that logs meet"
    AGE = "since when it is declared so"


@dataclass(frozen=True, slots=True)
class AlertHistory:
    """The history of one alert in the span, oldest first.

    `fired` has each trigger. `lasted` has the durations of those with a reported end. `open_since`
    has the starts of its open incidents. `unclear` events do not say what they are.
    """

    fired: tuple[datetime, ...] = ()
    lasted: tuple[timedelta, ...] = ()
    open_since: tuple[datetime, ...] = ()
    unclear: int = 0


NOTHING_HAPPENED = AlertHistory()


class Since(NamedTuple):
    """The time from which something is known to be so; the source is `journal` or `git`."""

    at: datetime
    by: str


def _nobody_knows(_: Manifest, __: Path = ()) -> Since | None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEvidence:
    """Reports of the service about a span that ends `at` a moment.

    `days` were requested and `covered` were returned. `of` has the history of each alert, by its
    id. `logs` counts kinds of logs, and `met` those that match a policy, by its name; `live` are
    the policies in force. `declared` returns since when a manifest exists, `since` since when a
    value in its `spec` has not changed. `lacks` says why a source is missing.
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
        """Return the history of the alert of a manifest."""
        return self.of.get(str(manifest.remote_id).lower(), NOTHING_HAPPENED)


class Trace(NamedTuple):
    """One place that a check is about, and its figures."""

    manifest: Manifest
    found: SpecFinding
    figures: Mapping[str, Json]


Trail: TypeAlias = Callable[[Neighbours, AuditEvidence], Iterator[Trace]]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRule:
    """One check, and its sources; the page of its code says why it exists."""

    code: str
    rests_on: tuple[Rest, ...]
    find: Trail


@dataclass(frozen=True, slots=True)
class Audited:
    """A finding at its place, its figures, and its sources."""

    complaint: Complaint
    figures: Mapping[str, Json]
    rests_on: tuple[Rest, ...]


@dataclass(frozen=True, slots=True)
class Unjudged:
    """Checks that could not be made, by codes, and why."""

    codes: tuple[str, ...]
    rest: Rest
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """The result of an audit. `since` and `until` are the ends of the span.

    `events` counts the events that were examined, and `requests` the requests.
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
