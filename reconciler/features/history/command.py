"""`reconciler journal stats`: how many applied changes were reverted, hot-fixed or noisier.

And how long repairs took. Source: docs/journal.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby, starmap
from typing import Annotated, Final, Literal

import click
from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from reconciler.cli import options
from reconciler.cli.console import data, stdout_style, words
from reconciler.cli.journal_commands import opened_journal
from reconciler.document import Json, value_at
from reconciler.errors import ReconcilerError
from reconciler.journal.entries import Entry
from reconciler.journal.history import RunSummary, runs_of
from reconciler.journal.journal import Journal
from reconciler.journal.writes import NoiseFinding, Write, Writes, declared_in, verdicts_of
from reconciler.model import Ref
from reconciler.operations.open_project import Options, made_now, now, open_project, today
from reconciler.operations.open_session import read_workspace
from reconciler.project import choose_environment
from reconciler.records.record import moment, read_moment, stamp
from reconciler.report.html.page import (
    NOTHING,
    Markup,
    ReportOccasion,
    element,
    figure,
    group,
    of_class,
    page,
    page_head,
    picture,
    shape,
)
from reconciler.report.html.page import table as html_table
from reconciler.report.html.page import words as drawn_text
from reconciler.report.html.report_pages import counted, notes
from reconciler.report.safe import json_text, safe
from reconciler.report.table import Heading, Style, table, wrapped
from reconciler.report.words import plural
from reconciler.workspace.expression_scope import Scope


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """Statistics of a journal over a period; `since` is "" for all of it.

    `put_back` counts writes that were undone in their own run, because samples had another result.
    `compacted` counts changes of resources that compacting dropped. Neither is in another count.
    The team "" is an unknown team, and a week is named by its Monday.
    """

    since: str
    until: str
    applies: int
    rollbacks: int
    put_back: int
    compacted: int
    whole: CountsDocument
    teams: Mapping[str, CountsDocument]
    weeks: Mapping[str, CountsDocument]


DAY: Final = timedelta(days=1)
WEEK: Final = timedelta(weeks=1)
TEAM: Final = "team"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeOutcome:
    """The outcome of one change, a write of one resource, within a day.

    It is `reverted` if a later write declares what was declared before it, and `hot_fixed` if a
    later write declares something else again; it may be `noisier` as well. A `young` change is less
    than a day old, so that more may come. `repaired` is the time until something else was declared.
    """

    ref: Ref
    at: datetime
    reverted: bool = False
    hot_fixed: bool = False
    noisier: bool = False
    young: bool = False
    repaired: timedelta | None = None

    @property
    def troubled(self) -> bool:
        """Return whether the change was reverted, hot-fixed, or made an alert noisier."""
        return self.reverted or self.hot_fixed or self.noisier


def stats_of(
    entries: Sequence[Entry],
    teams: Mapping[Ref, str],
    now: datetime,
    since: datetime | None = None,
) -> Stats:
    """Count what was applied since a moment; None counts all that the journal knows.

    `teams` are those of the present manifests. A resource that is no longer declared has the team
    that the journal remembers.
    """
    writes = declared_in(entries)
    all_runs = [run for run in runs_of(entries) if _is_since(moment(run.entry.at), since)]
    wrote = [run for run in all_runs if run.count("written")]
    known = verdicts_of(entries)
    fates = [outcome for outcome in _fates(writes, known, now) if _is_since(outcome.at, since)]
    team_of = {ref: teams.get(ref) or _remembered_team(of) for ref, of in writes.items()}
    applies = [run for run in wrote if run.entry.command.split()[:1] != ["rollback"]]
    return Stats(
        since="" if since is None else stamp(since),
        until=stamp(now),
        applies=len(applies),
        rollbacks=len(wrote) - len(applies),
        put_back=sum(run.count("put-back") for run in all_runs),
        compacted=sum(run.entry.outcomes.get("written", 0) for run in wrote),
        whole=_counts_of(fates),
        teams=_grouped(fates, lambda outcome: team_of[outcome.ref]),
        weeks=_weeks(fates, applies),
    )


def _is_since(at: datetime | None, since: datetime | None) -> bool:
    return since is None or (at is not None and at >= since)


def _fates(
    writes: Writes, verdicts: Mapping[tuple[str, Ref], Sequence[NoiseFinding]], now: datetime
) -> Iterator[ChangeOutcome]:
    for ref, every in sorted(writes.items()):
        counting = [write for write in every if (write.changed or write.seen) and not write.undone]
        for place, own in enumerate(counting):
            begun = moment(own.at)
            # Writes that compacting kept name no run, so they cannot be counted.
            if begun is None or not own.run:
                continue
            later = (write for write in counting[place + 1 :] if not write.seen)
            other = next((write for write in later if write.declared != own.declared), None)
            after = None if other is None else moment(other.at)
            soon = _within_a_day(after, begun)
            known = [write.declared for write in counting[:place] if write.declared is not None]
            reverted = soon and other is not None and other.declared in known
            noisier = any(
                finding.verdict == "noisier" and _within_a_day(moment(finding.until), begun)
                for finding in verdicts.get((own.run, ref), ())
            )
            yield ChangeOutcome(
                ref=ref,
                at=begun,
                reverted=reverted,
                hot_fixed=soon and not reverted,
                noisier=noisier,
                young=now - begun < DAY,
                repaired=after - begun if (soon or noisier) and after is not None else None,
            )


def _within_a_day(at: datetime | None, begun: datetime) -> bool:
    return at is not None and at - begun <= DAY


def _remembered_team(writes: Sequence[Write]) -> str:
    """Return the team in the labels of the last document, "" where there is none."""
    declared: Json = next((write.declared for write in reversed(writes) if write.declared), None)
    teams = (value_at(declared, path) for path in (("entityLabels", TEAM), ("labels", TEAM)))
    return next((team for team in teams if isinstance(team, str)), "")


def _counts_of(fates: Sequence[ChangeOutcome]) -> CountsDocument:
    repairs = sorted(fate.repaired.total_seconds() for fate in fates if fate.repaired is not None)
    return {
        "changes": len(fates),
        "resources": len({fate.ref for fate in fates}),
        "reverted": sum(fate.reverted for fate in fates),
        "hotFixed": sum(fate.hot_fixed for fate in fates),
        "noisier": sum(fate.noisier for fate in fates),
        "troubled": sum(fate.troubled for fate in fates),
        "young": sum(fate.young and not fate.troubled for fate in fates),
        "repaired": len(repairs),
        "medianSeconds": _rank(repairs, 0.5),
        "p90Seconds": _rank(repairs, 0.9),
    }


def _rank(ordered: Sequence[float], share: float) -> float | None:
    """Return the smallest value that at least this share of all does not exceed; None if empty."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else None


def _grouped(
    fates: Sequence[ChangeOutcome], key: Callable[[ChangeOutcome], str]
) -> dict[str, CountsDocument]:
    return {name: _counts_of([*group]) for name, group in groupby(sorted(fates, key=key), key)}


def _weeks(
    fates: Sequence[ChangeOutcome], applies: Sequence[RunSummary]
) -> dict[str, CountsDocument]:
    """Return the counts of every week between the first and the last, by its Monday in UTC."""
    times = [fate.at for fate in fates]
    times += [at for run in applies if (at := moment(run.entry.at)) is not None]
    if not times:
        return {}
    found = _grouped(fates, lambda fate: _monday(fate.at).date().isoformat())
    weeks: dict[str, CountsDocument] = {}
    week, last = _monday(min(times)), _monday(max(times))
    while week <= last:
        name = week.date().isoformat()
        weeks[name] = found.get(name) or _counts_of(())
        week += WEEK
    return weeks


def _monday(at: datetime) -> datetime:
    day = at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return day - timedelta(days=day.weekday())


UNKNOWN = "unknown"
_MINUTE, _HOUR, _DAY = 60, 3600, 86400


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
        "whole": stats.whole,
        "teams": [{"team": name or None, **team} for name, team in stats.teams.items()],
        "weeks": [{"week": name, **week} for name, week in stats.weeks.items()],
    }
    return json_text(document)


def stats_lines(stats: Stats) -> list[str]:
    """Return the statistics as sentences."""
    whole = stats.whole
    since = f"since {stats.since}" if stats.since else "in all that the journal knows"
    rollbacks = f" and {plural(stats.rollbacks, 'rollback')}" if stats.rollbacks else ""
    share = f", {whole['troubled'] / whole['changes']:.0%}" if whole["changes"] else ""
    did = (
        f"{plural(stats.applies, 'apply', 'applies')}{rollbacks} {since}: "
        f"{plural(whole['changes'], 'change')} of {plural(whole['resources'], 'resource')}"
    )
    became = (
        f"within a day {whole['reverted']:,} reverted, {whole['hotFixed']:,} hot-fixed, "
        f"{whole['noisier']:,} noisier: {whole['troubled']:,} of {whole['changes']:,}{share}"
    )
    lines = [did, became]
    if whole["repaired"]:
        lines.append(
            f"time to the repair: median {duration(whole['medianSeconds'])}, 90 % within "
            f"{duration(whole['p90Seconds'])} ({plural(whole['repaired'], 'repair')})"
        )
    if whole["young"]:
        lines.append(f"{plural(whole['young'], 'change')} not a day old: more may come of them")
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
    names = ("changes", "reverted", "hot-fixed", "noisier", "median", "p90")
    figures = [Heading(name, whole=True, right=True) for name in names]
    for title, rows in (("team", named), ("week of", stats.weeks)):
        if rows:
            parts.append(table([Heading(title), *figures], [*starmap(_row, rows.items())], style))
    return "\n".join(parts)


def _row(name: str, counts: CountsDocument) -> list[str]:
    figures = counts["changes"], counts["reverted"], counts["hotFixed"], counts["noisier"]
    times = counts["medianSeconds"], counts["p90Seconds"]
    return [name, *(f"{figure:,}" for figure in figures), *map(duration, times)]


WIDTH: Final = 440
HEIGHT: Final = 130.0
FOOT: Final = 20.0
HEAD: Final = 16.0
MOST_WEEKS: Final = 53
WIDEST_BAR: Final = 40.0
LABELS: Final = 6
_COLUMNS = ("changes", "reverted", "hot-fixed", "noisier", "median repair", "p90 repair")


def stats_html(
    stats: Stats, environment: str, target: str, made: ReportOccasion | None = None
) -> str:
    """Return the page, ending in a line break."""
    title = f"What became of changes: {environment}"
    whole = stats.whole
    shown = (
        (stats.applies, "applied"),
        (stats.rollbacks, "rolled back"),
        (whole["changes"], "changes"),
        (whole["reverted"], "reverted"),
        (whole["hotFixed"], "hot-fixed"),
        (whole["noisier"], "noisier"),
    )
    counts = of_class("ul", "counts", *starmap(counted, shown))
    named = {name or UNKNOWN: team for name, team in stats.teams.items()}
    return page(
        title,
        "To the weeks",
        page_head(title, target, made, counts, notes(stats_lines(stats))),
        element("div", _bars(stats.weeks), id="weeks", tabindex="-1"),
        _table("By team", "team", named),
        _table("By week", "week of", stats.weeks),
        foot=element(
            "footer",
            of_class(
                "p",
                "legend",
                "reverted: what was declared before was declared again within a day; hot-fixed: "
                "something else was; noisier: `watch --remember` found that alerts fire more",
            ),
        ),
        to="weeks",
    )


def _bars(weeks: Mapping[str, CountsDocument]) -> Markup:
    """Return a bar for each week, with the troubled part at its foot in a pattern of its own."""
    drawn = dict(list(weeks.items())[-MOST_WEEKS:])
    most = max((counts["changes"] for counts in drawn.values()), default=0)
    if not most:
        return NOTHING
    step = WIDTH / len(drawn)
    every = -(-len(drawn) // LABELS)
    shapes: list[Markup] = [drawn_text(f"{most:,}", "s quiet", 0, HEAD - 5)]
    for number, (week, counts) in enumerate(drawn.items()):
        shapes.append(_bar(week, counts, number * step, step, HEIGHT / most))
        if number % every == 0:
            shapes.append(drawn_text(week[5:], "s quiet", number * step, HEAD + HEIGHT + FOOT - 5))
    floor = HEAD + HEIGHT
    shapes.append(shape("line", "floor", x1=0, y1=floor, x2=WIDTH, y2=floor))
    label = f"Changes by week, up to {most:,}, and those that did not stay"
    drawing = picture(label, WIDTH, HEAD + HEIGHT + FOOT, *shapes)
    more = len(weeks) - len(drawn)
    left_out = of_class("p", "quiet", f"{plural(more, 'earlier week')} not drawn") if more else ""
    side = of_class("div", "side", drawing, left_out or NOTHING)
    legend = of_class(
        "p",
        "legend",
        of_class("span", "key-week", "changes that stayed"),
        " ",
        of_class("span", "key-bad", "reverted, hot-fixed or noisier within a day (framed)"),
    )
    return figure("Changes by week", side, legend)


def _bar(week: str, counts: CountsDocument, left: float, step: float, scale: float) -> Markup:
    width = min(step * 0.8, WIDEST_BAR)
    height, bad = counts["changes"] * scale, counts["troubled"] * scale
    floor = HEAD + HEIGHT
    changes = plural(counts["changes"], "change")
    title = f"week of {week}: {changes}, {counts['troubled']:,} did not stay"
    parts = [shape("rect", "bar", x=left, y=floor - height, width=width, height=height)]
    if bad:
        parts.append(shape("rect", "bar bad", x=left, y=floor - bad, width=width, height=bad))
    return group(title, *parts)


def _table(title: str, first: str, rows: Mapping[str, CountsDocument]) -> Markup:
    if not rows:
        return NOTHING
    body = (
        element("tr", element("th", name, scope="row"), *(element("td", cell) for cell in cells))
        for name, *cells in starmap(_row, rows.items())
    )
    figures = html_table("figures", (first, *_COLUMNS), element("tbody", *body))
    return element("section", element("h2", title), figures)


def _since(_: click.Context, __: click.Parameter, text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        return read_moment(text.strip(), "hdw", now())
    except (ValueError, OverflowError):
        message = f"`{text}` is neither a duration, as 90d or 12w, nor an ISO 8601 date"
        raise click.BadParameter(message) from None


FORMATS: Mapping[str, Callable[[Stats, Journal, Options], str]] = {
    "text": lambda found, _, options: stats_text(found, stdout_style(verbose=options.verbose)),
    "json": lambda found, journal, _: stats_json(found, journal.environment),
    "html": lambda found, journal, options: stats_html(
        found, journal.environment, journal.target, made_now(open_project(options))
    ),
}


@click.command
@options.remembering
@options.formats(*FORMATS)
@click.option(
    "--since",
    metavar="DURATION|DATE",
    callback=_since,
    help="Count only runs since then: a duration as 90d or 12w, or an ISO 8601 "
    "date; by default all runs.",
)
def stats(*, options: Options, form: str, since: datetime | None) -> int:
    """Count what was applied, and how much of it was reverted, hot-fixed or noisier within a day.

    Changes are grouped by the label `team` of the present manifests, else by the team that the
    journal remembers. A change counts as noisier if `watch --remember` has found that.
    """
    journal = opened_journal(options)
    found = stats_of(journal.entries, _teams(options), now(), since)
    return data(FORMATS[form](found, journal, options))


def _teams(options: Options) -> Mapping[Ref, str]:
    """Return the teams of the manifests; none, with a message, if they cannot be read."""
    try:
        project = open_project(options)
        name, environment = choose_environment(project, options.environment)
        scope = Scope(name, environment.variables, today=today())
        manifests = read_workspace(options, project, scope).manifests
    except ReconcilerError as error:
        words(f"teams are those that the journal remembers: {safe(str(error).splitlines()[0])}")
        return {}
    return {
        manifest.ref: manifest.labels[TEAM] for manifest in manifests if TEAM in manifest.labels
    }
