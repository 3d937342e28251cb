"""Reports of alert noise since a run: for a terminal, as JSON, and as a comment. Pure."""

from __future__ import annotations

import re
from collections import Counter
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from reconciler.features.watch.alert_noise import (
    Counted,
    NoiseWatch,
    UnknownCause,
    Verdict,
    WatchedAlert,
)
from reconciler.report.markdown import COMMENT_BYTES, code
from reconciler.report.safe import json_text, safe
from reconciler.report.table import INDENT, Heading, Style, table, wrapped
from reconciler.report.words import plural

MOST_ROWS = 50
LONGEST_NAME = 120
LONGEST_WHY = 300
_ORDER: tuple[Verdict, ...] = ("noisier", "unknown", "quieter", "same")


@with_config(ConfigDict(extra="forbid"))
class CountedDocument(TypedDict):
    """Number of triggers in a number of hours."""

    events: int
    hours: float
    perHour: float


@with_config(ConfigDict(extra="forbid"))
class WatchedAlertDocument(TypedDict):
    """An alert that the run wrote; null means unknown."""

    ref: str
    before: Annotated[
        int | None, Field(description="Triggers in the same span right before the run.")
    ]
    weekBefore: Annotated[
        int | None, Field(description="Triggers in the same hours a week before.")
    ]
    after: Annotated[int | None, Field(description="Triggers since the run.")]
    perHour: Annotated[float | None, Field(description="Triggers an hour since the run.")]
    base: Annotated[
        CountedDocument | None,
        Field(description="What `after` is compared with: the same hours of days before."),
    ]
    spans: Annotated[int, Field(description="Of how many spans before `base` is.")]
    verdict: Verdict
    p: Annotated[
        float | None,
        Field(
            description="How likely chance alone makes such a difference, corrected for the "
            "number of alerts."
        ),
    ]
    until: Annotated[str, Field(description="Where the span since the run ends for this alert.")]
    cause: Annotated[
        UnknownCause | None, Field(description="Why it is unknown; null where it is not.")
    ]
    note: str


@with_config(ConfigDict(extra="forbid"))
class WatchedSpanDocument(TypedDict):
    """A span of time."""

    since: str
    until: str


@with_config(ConfigDict(extra="forbid"))
class WatchedDocument(TypedDict):
    """Output of `watch --format json`."""

    formatVersion: Literal[1]
    environment: str
    target: str
    run: str
    command: str
    span: WatchedSpanDocument
    level: Annotated[
        float,
        Field(description="How often quieter, and noisier, may be said by chance, of all alerts."),
    ]
    complete: Annotated[
        bool, Field(description="Whether all events could be read; else nothing is said of alerts.")
    ]
    unread: Annotated[str | None, Field(description="Why the events could not be read.")]
    summary: Annotated[dict[str, int], Field(description="How many alerts got which verdict.")]
    alerts: list[WatchedAlertDocument]


def watched_json(found: NoiseWatch, environment: str, target: str) -> str:
    """Return the JSON of schemas/watched.schema.json, ending in a line break."""
    counts = _counts(found)
    document: WatchedDocument = {
        "formatVersion": 1,
        "environment": environment,
        "target": target,
        "run": found.run,
        "command": found.command,
        "span": {"since": found.since, "until": found.until},
        "level": found.level,
        "complete": found.complete,
        "unread": found.unread or None,
        "summary": {verdict: counts[verdict] for verdict in _ORDER},
        "alerts": [_alert(alert) for alert in found.alerts],
    }
    return json_text(document)


def _alert(alert: WatchedAlert) -> WatchedAlertDocument:
    return {
        "ref": str(alert.ref),
        "before": None if alert.before is None else alert.before.events,
        "weekBefore": None if alert.week_before is None else alert.week_before.events,
        "after": None if alert.after is None else alert.after.events,
        "perHour": None if alert.after is None else round(alert.after.per_hour, 4),
        "base": None if alert.base is None else _counted(alert.base),
        "spans": alert.spans,
        "verdict": alert.verdict,
        "p": alert.p,
        "until": alert.until,
        "cause": alert.cause or None,
        "note": describe_cause(alert),
    }


def _counted(counted: Counted) -> CountedDocument:
    hours, rate = round(counted.hours, 4), round(counted.per_hour, 4)
    return {"events": counted.events, "hours": hours, "perHour": rate}


def _counts(found: NoiseWatch) -> Counter[Verdict]:
    return Counter(alert.verdict for alert in found.alerts)


_CAUSES: dict[UnknownCause | Literal[""], str] = {
    "": "",
    "too-soon": "too little time has passed since the run, or another run wrote it right after",
    "no-id": "the journal does not know its id",
    "written-before": "another run wrote it at {at}, so that nothing before the run is of one "
    "definition for as long",
    "unread": "its events could not be read",
    "cut": "there are more events than one look asks for",
    "untold": "some events name no alert, or no time",
    "clock": "the clock of the service and that of this machine differ",
}


def describe_cause(alert: WatchedAlert) -> str:
    """Return why an alert has no verdict, "" where it has one."""
    return _CAUSES[alert.cause].format(at=alert.written)


def describe_summary(found: NoiseWatch) -> str:
    """Return in one line how many alerts got which verdict."""
    if not found.alerts:
        return "the run changed no alerts"
    counts = _counts(found)
    parts = [f"{counts[verdict]:,} {verdict}" for verdict in _ORDER if counts[verdict]]
    return f"{plural(len(found.alerts), 'alert')}: {', '.join(parts)}"


def describe_level(found: NoiseWatch) -> str:
    """Return how sure the verdicts are."""
    return (
        f"quieter and noisier are each said by chance alone in at most {found.level:.0%} of looks, "
        "where events come independently of each other"
    )


def watched_text(found: NoiseWatch, style: Style) -> str:
    """Return the report for a terminal, ending in a line break."""
    run = f"run {found.run} ({found.command}) of {found.since}, up to {found.until}"
    lines = list(wrapped(f"{run}: {describe_summary(found)}", style, margin=""))
    figures = ("before", "base/h", "after/h", "after", "p")
    headings = [Heading("verdict", whole=True), Heading("alert")]
    headings += [Heading(title, whole=True, right=True) for title in figures]
    rows = [_row(alert) for alert in _sorted(found)]
    shown = table(headings, rows, style) if rows else ""
    notes = [f"{alert.ref}: {describe_cause(alert)}" for alert in _sorted(found) if alert.cause]
    if found.unread:
        notes = [f"the events could not be read: {found.unread}"]
    if any(alert.p is not None for alert in found.alerts):
        notes.append(describe_level(found))
    below = [line for note in notes for line in wrapped(note, style, margin=INDENT)]
    return "\n".join(lines) + "\n" + shown + "".join(f"{line}\n" for line in below)


def _sorted(found: NoiseWatch) -> list[WatchedAlert]:
    return sorted(found.alerts, key=lambda alert: (_ORDER.index(alert.verdict), alert.ref))


def _row(alert: WatchedAlert) -> list[str]:
    return [
        alert.verdict,
        str(alert.ref),
        "" if alert.before is None else f"{alert.before.events:,}",
        "" if alert.base is None else f"{alert.base.per_hour:,.2f}",
        "" if alert.after is None else f"{alert.after.per_hour:,.2f}",
        "" if alert.after is None else f"{alert.after.events:,}",
        "" if alert.p is None else f"{alert.p:.2g}",
    ]


def watched_markdown(found: NoiseWatch, environment: str) -> str:
    """Return the report for a comment or a summary, ending in a line break."""
    since = f"`{safe(found.since)}` to `{safe(found.until)}`"
    lines = [_title(environment), ""]
    lines += [f"{describe_summary(found)} ({since}, run {code(found.run, LONGEST_NAME)})."]
    rows = _sorted(found)
    if rows:
        lines += ["", "| verdict | alert | before, an hour | since, an hour | events | p |"]
        lines += ["| --- | --- | ---: | ---: | ---: | ---: |"]
        lines += [_markdown_row(row) for row in rows[:MOST_ROWS]]
        if len(rows) > MOST_ROWS:
            lines += ["", f"And {plural(len(rows) - MOST_ROWS, 'alert')} more."]
    notes = [f"- {code(str(row.ref), LONGEST_NAME)}: {safe(describe_cause(row))}" for row in rows]
    shown = [line for line, row in zip(notes, rows, strict=True) if row.cause]
    if found.unread:
        shown = [f"- the events could not be read: {code(found.unread, LONGEST_WHY)}"]
    if any(row.p is not None for row in rows):
        shown.append(f"- {describe_level(found)}")
    return "\n".join([*lines, *([""] if shown else []), *shown[: MOST_ROWS + 1]]) + "\n"


def _markdown_row(alert: WatchedAlert) -> str:
    verdict = f"**{alert.verdict}**" if alert.verdict == "noisier" else alert.verdict
    _, _, _, base, rate, events, p = _row(alert)
    name = code(str(alert.ref), LONGEST_NAME)
    return f"| {verdict} | {name} | {base} | {rate} | {events} | {p} |"


BEGINS = "<!-- reconciler-watch -->"
ENDS = "<!-- end of reconciler-watch -->"
_SECTION = re.compile(f"\n?{BEGINS}.*?{ENDS}\n?", re.DOTALL)


def with_watch(body: str, found: NoiseWatch, environment: str, back: str = "") -> str:
    """Return a comment with the report at its end; it replaces the report of an earlier look.

    `back` describes how to roll back. Where the table does not fit, only the counts are shown.
    """
    kept = _SECTION.sub("", body).rstrip("\n")
    advice = f"\n{back}\n" if back else ""
    section = f"{BEGINS}\n{watched_markdown(found, environment)}{advice}{ENDS}\n"
    whole = f"{kept}\n\n{section}"
    if len(whole.encode()) <= COMMENT_BYTES:
        return whole
    short = f"{_title(environment)}\n\n{describe_summary(found)}.\n"
    return f"{kept}\n\n{BEGINS}\n{short}{advice}{ENDS}\n"


def _title(environment: str) -> str:
    return f"### Noise since the apply to {code(environment, LONGEST_NAME)}"
