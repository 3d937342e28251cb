"""Signals of the platform about a change: a strip of days, and its watchers. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from reconciler.features.track_record.track_record_formats import describe_track_record
from reconciler.model import Change, Plan, TrackRecord
from reconciler.report.html.element import (
    NOTHING,
    Markup,
    element,
    figure,
    joined,
    of_class,
    picture,
    shape,
)
from reconciler.report.watcher_formats import names_of
from reconciler.report.words import plural

STEP, GAP_SHARE, HEIGHT = 24.0, 0.2, 56.0
WIDEST = 440.0
LEAST = 3.0
MOST_NAMED = 50


def signals_of(plan: Plan, change: Change) -> Markup:
    """Return all signals for the card of a change; nothing where there are none."""
    return joined((_track_record(plan, change), _watchers(plan, change)))


def _track_record(plan: Plan, change: Change) -> Markup:
    record = plan.signals.track_records.get(change.ref)
    if record is None:
        return NOTHING
    summary = describe_track_record(change, record)
    summary = summary[0].upper() + summary[1:]
    return figure(summary, _strip(record)) if record.daily else of_class("p", "track", summary)


def _strip(record: TrackRecord) -> Markup:
    """Return a bar for each 24 hours. The labels below are text, so that they stay readable."""
    most = max(record.daily)
    width = min(WIDEST, STEP * len(record.daily))
    label = f"Fired in each 24 hours, the oldest first: {', '.join(map(str, record.daily))}"
    drawn = picture(label, width, HEIGHT, *_bars(record, width, most), classes="strip")
    ends = (
        element("span", None, f"{plural(record.days, 'day')} ago"),
        element("span", None, f"at most {most:,} in 24 hours"),
        element("span", None, "now"),
    )
    return of_class("div", "track", drawn, of_class("p", "ends", *ends))


def _bars(record: TrackRecord, width: float, most: int) -> Iterator[Markup]:
    step = width / len(record.daily)
    for number, count in enumerate(record.daily):
        height = max(LEAST, HEIGHT * count / most) if count else 1
        yield shape(
            "rect",
            "fired" if count else "silent",
            x=number * step + step * GAP_SHARE / 2,
            y=HEIGHT - height,
            width=step * (1 - GAP_SHARE),
            height=height,
        )


def _watchers(plan: Plan, change: Change) -> Markup:
    watchers = plan.watchers.get(change.ref)
    if watchers is None:
        return NOTHING
    names = names_of(watchers)
    items = [element("li", None, element("code", None, name)) for name in names[:MOST_NAMED]]
    if len(names) > MOST_NAMED:
        items.append(element("li", None, f"and {len(names) - MOST_NAMED:,} more"))
    head = element("p", None, f"Watched by {plural(len(names), 'alert')}:")
    return of_class("div", "watched", head, element("ul", None, *items))
