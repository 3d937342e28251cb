"""Track records in the reports of a plan, on the page with a strip of days. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from reconciler.features.track_record.track_record import TrackRecord, TrackRecords
from reconciler.features.track_record.track_record_formats import (
    describe_track_record,
    track_record_lines,
    track_record_markdown,
    track_record_members,
)
from reconciler.model import Change
from reconciler.report.html.page import (
    NOTHING,
    Markup,
    element,
    figure,
    of_class,
    picture,
    shape,
)
from reconciler.report.sections import SectionFormats
from reconciler.report.words import plural

STEP, GAP_SHARE, HEIGHT = 24.0, 0.2, 56.0
WIDEST = 440.0
LEAST = 3.0


def _card(records: TrackRecords, change: Change) -> Markup:
    """Return the record of an alert for the card of its change; nothing without one."""
    record = records.by_ref.get(change.ref)
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
        element("span", f"{plural(record.days, 'day')} ago"),
        element("span", f"at most {most:,} in 24 hours"),
        element("span", "now"),
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


FORMATS: Final[SectionFormats[TrackRecords]] = SectionFormats(
    change_members=track_record_members,
    change_lines=track_record_lines,
    changes_markdown=track_record_markdown,
    change_html=_card,
)
