"""Fate of applied changes: reverted, hot-fixed, noisier, and the time until repair.

Pure. Source: docs/evidence.md.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from reconciler.document import Json, value_at
from reconciler.journal.entries import Entry
from reconciler.journal.runs import RunSummary, runs_of
from reconciler.journal.writes import NoiseFinding, Write, Writes, declared_in, verdicts_of
from reconciler.model import Ref
from reconciler.records.record import moment, stamp


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Changes, each a write of one resource, and what happened to them within a day.

    A change is `reverted` if a later write declares what was declared before it, and `hot_fixed` if
    a later write declares something else again; it may be `noisier` as well. `troubled` counts
    changes with any of these. `young` counts changes less than a day old, so that more may come.
    `repaired` counts the changes after which a write declared something else; `median` and `p90`
    are the seconds until then, None if there are none.
    """

    changes: int
    resources: int
    reverted: int
    hot_fixed: int
    noisier: int
    troubled: int
    young: int
    repaired: int
    median: float | None
    p90: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """Statistics of a journal over a period; `since` is "" for all of it.

    `put_back` counts writes that were undone in their own run, as samples had another result.
    `compacted` counts the changes of runs in the period without known resources. Both are in no
    other count. The team "" is an unknown team, and a week is named by its Monday.
    """

    since: str
    until: str
    applies: int
    rollbacks: int
    put_back: int
    compacted: int
    whole: Counts
    teams: Mapping[str, Counts]
    weeks: Mapping[str, Counts]


DAY: Final = timedelta(days=1)
WEEK: Final = timedelta(weeks=1)
NOISIER: Final = "noisier"
TEAM: Final = "team"
_TEAM_LABELS: Final = (("entityLabels", TEAM), ("labels", TEAM))


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeOutcome:
    """The outcome of one change; `repaired` is the time until something else was declared."""

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
    all_runs = [run for run in runs_of(entries) if _is_since(moment(run.at), since)]
    wrote = [run for run in all_runs if run.count("written")]
    known = verdicts_of(entries)
    fates = [outcome for outcome in _fates(writes, known, now) if _is_since(outcome.at, since)]
    team_of = {ref: teams.get(ref) or _remembered_team(of) for ref, of in writes.items()}
    applies = [run for run in wrote if run.command != "rollback"]
    return Stats(
        since="" if since is None else stamp(since),
        until=stamp(now),
        applies=len(applies),
        rollbacks=len(wrote) - len(applies),
        put_back=sum(run.count("put-back") for run in all_runs),
        compacted=sum(run.folded.get("written", 0) for run in wrote),
        whole=_counts(fates),
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
        for at, write in enumerate(counting):
            begun = moment(write.at)
            # Writes that compacting left have no run with which they could be counted.
            if begun is not None and write.run:
                found = verdicts.get((write.run, ref), ())
                later = [write for write in counting[at + 1 :] if not write.seen]
                yield _fate(ref, begun, counting[: at + 1], later, found, now)


def _fate(  # noqa: PLR0917 - the change, what was before and after it, and now
    ref: Ref,
    begun: datetime,
    until: Sequence[Write],
    later: Sequence[Write],
    found: Iterable[NoiseFinding],
    now: datetime,
) -> ChangeOutcome:
    own = until[-1]
    noisier = any(
        finding.verdict == NOISIER and _within_a_day(moment(finding.until), begun)
        for finding in found
    )
    other = next((write for write in later if write.declared != own.declared), None)
    after = moment(other.at) if other is not None else None
    soon = other is not None and _within_a_day(after, begun)
    reverted = soon and any(
        other is not None and write.declared is not None and write.declared == other.declared
        for write in until[:-1]
    )
    troubled = soon or noisier
    return ChangeOutcome(
        ref=ref,
        at=begun,
        reverted=reverted,
        hot_fixed=soon and not reverted,
        noisier=noisier,
        young=now - begun < DAY,
        repaired=after - begun if troubled and after is not None else None,
    )


def _within_a_day(at: datetime | None, begun: datetime) -> bool:
    return at is not None and at - begun <= DAY


def _remembered_team(writes: Sequence[Write]) -> str:
    """Return the team in the labels of the last document, "" where there is none."""
    declared: Json = next((write.declared for write in reversed(writes) if write.declared), None)
    teams = (value_at(declared, path) for path in _TEAM_LABELS)
    return next((team for team in teams if isinstance(team, str)), "")


def _counts(fates: Sequence[ChangeOutcome]) -> Counts:
    repairs = sorted(fate.repaired.total_seconds() for fate in fates if fate.repaired is not None)
    return Counts(
        changes=len(fates),
        resources=len({fate.ref for fate in fates}),
        reverted=sum(fate.reverted for fate in fates),
        hot_fixed=sum(fate.hot_fixed for fate in fates),
        noisier=sum(fate.noisier for fate in fates),
        troubled=sum(fate.troubled for fate in fates),
        young=sum(fate.young and not fate.troubled for fate in fates),
        repaired=len(repairs),
        median=_rank(repairs, 0.5),
        p90=_rank(repairs, 0.9),
    )


def _rank(ordered: Sequence[float], share: float) -> float | None:
    """Return the smallest value that at least this share of all does not exceed; None if empty."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else None


def _grouped(
    fates: Sequence[ChangeOutcome], key: Callable[[ChangeOutcome], str]
) -> dict[str, Counts]:
    groups: defaultdict[str, list[ChangeOutcome]] = defaultdict(list)
    for fate in fates:
        groups[key(fate)].append(fate)
    return {name: _counts(groups[name]) for name in sorted(groups)}


def _weeks(fates: Sequence[ChangeOutcome], applies: Sequence[RunSummary]) -> dict[str, Counts]:
    """Return the counts of every week between the first and the last, by its Monday in UTC."""
    times = [fate.at for fate in fates]
    times += [at for run in applies if (at := moment(run.at)) is not None]
    if not times:
        return {}
    found = _grouped(fates, lambda fate: _monday(fate.at).date().isoformat())
    weeks: dict[str, Counts] = {}
    week, last = _monday(min(times)), _monday(max(times))
    while week <= last:
        name = week.date().isoformat()
        weeks[name] = found.get(name) or _counts(())
        week += WEEK
    return weeks


def _monday(at: datetime) -> datetime:
    day = at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return day - timedelta(days=day.weekday())
