"""Statistics of applied changes: for a terminal and as JSON. Pure."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from reconciler.features.history.change_stats import Counts, Stats
from reconciler.report.safe import json_text
from reconciler.report.table import Heading, Style, table, wrapped
from reconciler.report.words import plural

UNKNOWN = "unknown"
_MINUTE, _HOUR, _DAY = 60, 3600, 86400


@with_config(ConfigDict(extra="forbid"))
class CountsDocument(TypedDict):
    """Counts of changes, and what happened to them within a day."""

    changes: Annotated[int, Field(description="Writes, of one resource each.")]
    resources: int
    reverted: Annotated[int, Field(description="What was declared before was declared again.")]
    hotFixed: Annotated[int, Field(description="Something else was declared again.")]
    noisier: Annotated[int, Field(description="`watch --remember` found them noisier.")]
    troubled: Annotated[int, Field(description="Those with any of the three.")]
    young: Annotated[int, Field(description="Less than a day old, and nothing found yet.")]
    repaired: int
    medianSeconds: Annotated[float | None, Field(description="Until the repair.")]
    p90Seconds: Annotated[float | None, Field(description="Until the repair.")]


class TeamDocument(CountsDocument):
    """The counts of a team; null where the team is unknown."""

    team: str | None


class WeekDocument(CountsDocument):
    """The counts of a week, by its Monday."""

    week: str


@with_config(ConfigDict(extra="forbid"))
class StatsDocument(TypedDict):
    """Output of `journal stats --format json`."""

    formatVersion: Literal[1]
    environment: str
    since: str | None
    until: str
    applies: Annotated[int, Field(description="Runs that wrote something, rollbacks aside.")]
    rollbacks: int
    putBack: Annotated[
        int,
        Field(
            description="Lists of log policies put back in the run that wrote them, as samples "
            "came out otherwise; in no other figure."
        ),
    ]
    compacted: Annotated[
        int,
        Field(description="Changes of compacted runs. Only their number is known."),
    ]
    whole: CountsDocument
    teams: list[TeamDocument]
    weeks: list[WeekDocument]


def stats_json(stats: Stats, environment: str) -> str:
    """Return the JSON of schemas/journal-stats.schema.json, ending in a line break."""
    document: StatsDocument = {
        "formatVersion": 1,
        "environment": environment,
        "since": stats.since or None,
        "until": stats.until,
        "applies": stats.applies,
        "rollbacks": stats.rollbacks,
        "putBack": stats.put_back,
        "compacted": stats.compacted,
        "whole": _counts(stats.whole),
        "teams": [{"team": name or None, **_counts(team)} for name, team in stats.teams.items()],
        "weeks": [{"week": name, **_counts(week)} for name, week in stats.weeks.items()],
    }
    return json_text(document)


def _counts(counts: Counts) -> CountsDocument:
    return {
        "changes": counts.changes,
        "resources": counts.resources,
        "reverted": counts.reverted,
        "hotFixed": counts.hot_fixed,
        "noisier": counts.noisier,
        "troubled": counts.troubled,
        "young": counts.young,
        "repaired": counts.repaired,
        "medianSeconds": counts.median,
        "p90Seconds": counts.p90,
    }


def stats_lines(stats: Stats) -> list[str]:
    """Return the statistics as sentences."""
    whole = stats.whole
    since = f"since {stats.since}" if stats.since else "in all that the journal knows"
    rollbacks = f" and {plural(stats.rollbacks, 'rollback')}" if stats.rollbacks else ""
    did = (
        f"{plural(stats.applies, 'apply', 'applies')}{rollbacks} {since}: "
        f"{plural(whole.changes, 'change')} of {plural(whole.resources, 'resource')}"
    )
    became = (
        f"within a day {whole.reverted:,} reverted, {whole.hot_fixed:,} hot-fixed, "
        f"{whole.noisier:,} noisier: {whole.troubled:,} of {whole.changes:,}{_share(whole)}"
    )
    lines = [did, became]
    if whole.repaired:
        lines.append(
            f"time to the repair: median {duration(whole.median)}, 90 % within "
            f"{duration(whole.p90)} ({plural(whole.repaired, 'repair')})"
        )
    if whole.young:
        lines.append(f"{plural(whole.young, 'change')} not a day old: more may come of them")
    if stats.put_back:
        lines.append(
            f"{plural(stats.put_back, 'list')} of log policies put back at once, as samples came "
            "out otherwise: no change"
        )
    if stats.compacted:
        lines.append(
            f"{plural(stats.compacted, 'change')} more of runs that were compacted: what became "
            "of them is not known"
        )
    return lines


def _share(counts: Counts) -> str:
    return f", {counts.troubled / counts.changes:.0%}" if counts.changes else ""


def duration(seconds: float | None) -> str:
    """Return a duration in the largest unit that fits, "" for none."""
    if seconds is None:
        return ""
    for unit, name in ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "min")):
        if seconds >= unit:
            return f"{seconds / unit:,.1f} {name}"
    return f"{seconds:,.0f} s"


def stats_text(stats: Stats, style: Style) -> str:
    """Return the statistics for a terminal, ending in a line break: total, by team, by week."""
    parts = [
        "".join(
            f"{line}\n"
            for sentence in stats_lines(stats)
            for line in wrapped(sentence, style, margin="")
        )
    ]
    named = {name or UNKNOWN: team for name, team in stats.teams.items()}
    for title, rows in (("team", named), ("week of", stats.weeks)):
        if rows:
            parts.append(table(_headings(title), [_row(*row) for row in rows.items()], style))
    return "\n".join(parts)


def _headings(title: str) -> list[Heading]:
    names = ("changes", "reverted", "hot-fixed", "noisier", "median", "p90")
    return [Heading(title), *(Heading(name, whole=True, right=True) for name in names)]


def _row(name: str, total: Counts) -> list[str]:
    counts = [total.changes, total.reverted, total.hot_fixed, total.noisier]
    return [name, *(f"{count:,}" for count in counts), duration(total.median), duration(total.p90)]
