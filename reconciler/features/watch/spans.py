"""Spans to compare: the hours since a run, and the hours before it. Pure.

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
"""Events later than this after a run are not counted: the span is compared with a week."""

SHORTEST: Final = timedelta(minutes=5)
"""A shorter span says nothing, as events and clocks are not that exact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spans:
    """The span `after` a run, and the spans of the same length before it.

    `right_before` ends with the run. `base` are the same hours of earlier days, the newest first;
    the last is a week before.
    """

    after: Span
    right_before: Span
    base: tuple[Span, ...]

    def known_since(self, written: datetime | None) -> tuple[Span, ...]:
        """Return the spans of the definition that the run replaced.

        That definition was written at `written`; None means longer ago than is known. If no earlier
        day has the same hours of it, the span right before the run is used.
        """
        whole = [span for span in self.base if written is None or written <= span.since]
        if not whole and (written is None or written <= self.right_before.since):
            return (self.right_before,)
        return tuple(whole)

    @property
    def all(self) -> Iterable[Span]:
        """All spans."""
        return (self.after, self.right_before, *self.base)


def spans_of(run: datetime, until: datetime) -> Spans | None:
    """Return the spans to compare from a run up to a moment; None where the time is too short.

    Each earlier day counts once: a span of up to a day has seven others; a longer span has as many
    as do not overlap, and always the span a week before.
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
    for span in sorted(spans, key=lambda span: span.since):
        if found and span.since <= found[-1].until:
            last = found.pop()
            found.append(Span(last.since, max(last.until, span.until)))
        else:
            found.append(span)
    return found[::-1]
