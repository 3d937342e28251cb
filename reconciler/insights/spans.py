"""Which hours are held against which: the span since a run, and those before it. Pure.

Source: docs/evidence.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from reconciler.records.record import Span

DAY: Final = timedelta(days=1)
DAYS: Final = 7
LONGEST: Final = DAYS * DAY
"""What is later than so long after a run is not counted: it is held against a week."""

SHORTEST: Final = timedelta(minutes=5)
"""What is shorter tells nothing, as events and clocks are not that exact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spans:
    """The span `after` a run, and the spans of the same length before it.

    `right_before` ends with the run, and `base` are the same hours of days before, the newest
    first; the last of them is a week before.
    """

    after: Span
    right_before: Span
    base: tuple[Span, ...]

    def known_since(self, written: datetime | None) -> tuple[Span, ...]:
        """Give the spans that are of the definition which the run replaced.

        That was written at `written`, None for longer ago than is known. Where the same hours
        of no day before are, it is the span right before.
        """
        whole = [span for span in self.base if written is None or written <= span.since]
        if not whole and (written is None or written <= self.right_before.since):
            return (self.right_before,)
        return tuple(whole)

    @property
    def all(self) -> Iterable[Span]:
        """All of them."""
        return (self.after, self.right_before, *self.base)


def spans_of(run: datetime, until: datetime) -> Spans | None:
    """Give the spans for what happened from a run up to a moment; None where that is too short.

    Each day before counts once: for a span of up to a day there are seven others, for a
    longer one as many as do not overlap, and always the one a week before.
    """
    length = min(until - run, LONGEST)
    if length < SHORTEST:
        return None
    step = math.ceil(length / DAY)
    days = [days for days in range(step, DAYS + 1, step) if DAYS - days >= step or days == DAYS]
    if DAYS not in days:
        days.append(DAYS)
    return Spans(
        after=Span(run, run + length),
        right_before=Span(run - length, run),
        base=tuple(Span(run - day * DAY, run - day * DAY + length) for day in days),
    )


def joined(spans: Iterable[Span]) -> list[Span]:
    """Join spans that touch or overlap; the newest come first."""
    found: list[Span] = []
    for span in sorted(spans, key=lambda one: one.since):
        if found and span.since <= found[-1].until:
            last = found.pop()
            found.append(Span(last.since, max(last.until, span.until)))
        else:
            found.append(span)
    return found[::-1]
