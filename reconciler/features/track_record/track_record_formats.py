"""The track record of an alert that a plan changes: JSON, a sentence, lines of a comment. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Final, NotRequired, TypeAlias

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from reconciler.features.track_record.track_records import TrackRecord, TrackRecords
from reconciler.kinds import BY_NAME
from reconciler.model import Change
from reconciler.report.counts import WORST_FIRST
from reconciler.report.html.page import NOTHING, Markup, element, figure, of_class, picture, shape
from reconciler.report.markdown import LONGEST_NAME, code, listed_items
from reconciler.report.sections import SectionFormats
from reconciler.report.table import Colour, Style, wrapped
from reconciler.report.words import plural


@with_config(ConfigDict(extra="ignore"))
class TrackRecordDocument(TypedDict):
    """The record of an alert before the plan: docs/track-record.md. null means unknown."""

    days: int
    events: Annotated[int | None, Field(description="How often it fired.")]
    incidents: int | None
    openIncidents: Annotated[int | None, Field(description="Open now, whenever they began.")]
    cases: int | None
    complete: Annotated[
        bool,
        Field(description="false where something was cut off or refused: figures are the least."),
    ]
    unclearEvents: Annotated[
        int, Field(description="Of the events, those of a type that does not say if it fired.")
    ]
    byName: Annotated[
        int, Field(description="What has no id, and is counted as it has the alert's name.")
    ]
    untied: NotRequired[
        Annotated[
            int,
            Field(
                default=0,
                description="Events and cases that may be of the alert: they name only a version, "
                "and not all versions of the alert are known. Left out where there are none.",
            ),
        ]
    ]
    casesByPriority: dict[str, int]
    lastAcknowledged: str | None
    daily: Annotated[
        list[int], Field(description="Events of each 24 hours up to the plan, the oldest first.")
    ]


TrackRecordMember: TypeAlias = Annotated[
    TrackRecordDocument,
    Field(description="Of an alert that the plan touches, where that was asked for."),
]


def track_record_document(record: TrackRecord) -> TrackRecordDocument:
    """Return the JSON form."""
    document: TrackRecordDocument = {
        "days": record.days,
        "events": record.events,
        "incidents": record.incidents,
        "openIncidents": record.open_incidents,
        "cases": record.cases,
        "complete": record.complete,
        "unclearEvents": record.unclear,
        "byName": record.by_name,
        "casesByPriority": dict(record.cases_by_priority),
        "lastAcknowledged": record.last_acknowledged or None,
        "daily": list(record.daily),
    }
    if record.untied:
        document["untied"] = record.untied
    return document


def describe_record(record: TrackRecord) -> str:
    """Return the record as the beginning of a sentence, without foreign text."""
    parts = [_fired(record), _incidents(record), _cases(record)]
    sentence = f"{', '.join(parts)} in {plural(record.days, 'day')}"
    if record.last_acknowledged:
        sentence += f", last acknowledged {record.last_acknowledged[:10]}"
    return sentence + "".join(f" ({caveat})" for caveat in _caveats(record))


def _fired(record: TrackRecord) -> str:
    if record.events is None:
        return "how often it fired is not known"
    least = "" if record.complete else "at least "
    match record.events:
        case 0:
            return "never fired" if record.complete else "not seen to fire"
        case 1:
            return f"fired {least}once"
        case count:
            return f"fired {least}{count:,} times"


def _incidents(record: TrackRecord) -> str:
    counted = "incidents not known"
    if record.incidents is not None:
        counted = plural(record.incidents, "incident") if record.incidents else "no incident"
    return f"{counted}, {record.open_incidents:,} open now" if record.open_incidents else counted


def _cases(record: TrackRecord) -> str:
    if record.cases is None:
        return "cases not known"
    kinds: Mapping[str, int] = record.cases_by_priority
    return ", ".join(plural(count, f"{kind} case") for kind, count in kinds.items()) or "no case"


def _caveats(record: TrackRecord) -> Iterator[str]:
    if record.untied:
        records = plural(record.untied, "record")
        tell = "names" if record.untied == 1 else "name"
        yield f"not all its versions are known, and {records} {tell} only an unknown one"
    elif not record.complete:
        yield "not all was returned"
    if record.unclear:
        yield f"{record.unclear:,} of a type that may not be a trigger"
    if record.by_name:
        yield f"{record.by_name:,} counted by its name alone"


def describe_track_record(change: Change, record: TrackRecord) -> str:
    """Return what an alert did, and what the change takes away from it."""
    taken = [weakening.said for weakening in BY_NAME[change.ref.kind].weakens(change)]
    after = f"; with this change {', and '.join(taken)}" if taken else ""
    return f"{describe_record(record)}{after}"


def track_record_members(records: TrackRecords, change: Change) -> Mapping[str, object]:
    """Return the members of the JSON of a change; none where no record was read."""
    record = records.by_ref.get(change.ref)
    return {} if record is None else {"trackRecord": track_record_document(record)}


def track_record_lines(records: TrackRecords, change: Change, style: Style) -> Iterator[str]:
    """Yield the lines below an alert of a plan; none where no record was read."""
    record = records.by_ref.get(change.ref)
    if record is not None:
        yield from wrapped(describe_track_record(change, record), style, Colour.CYAN)


def track_record_markdown(records: TrackRecords, changes: Sequence[Change]) -> Iterator[str]:
    """Yield a list for a comment, the alerts that fired most often first."""
    known = records.by_ref
    found = [(change, known[change.ref]) for change in changes if change.ref in known]
    found.sort(key=lambda pair: (-(pair[1].events or 0), WORST_FIRST.index(pair[0].action)))
    items = [
        f"{code(str(change.ref), LONGEST_NAME)}: {describe_track_record(change, record)}"
        for change, record in found
    ]
    yield from listed_items("What these alerts did", items)


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
