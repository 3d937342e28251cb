"""What became of changes, held against a count of its own over random histories."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from statistics import median_low

from harness.golden import Golden
from hypothesis import given
from hypothesis import strategies as st

from reconciler.features.history.command import (
    stats_html,
    stats_json,
    stats_lines,
    stats_of,
    stats_text,
)
from reconciler.journal.entries import (
    Entry,
    ImportedEntry,
    Renamed,
    RunEntry,
    Started,
    WatchedEntry,
    WrittenEntry,
)
from reconciler.journal.history import compacted
from reconciler.journal.line_fields import SeenVerdict
from reconciler.model import Ref
from reconciler.report.table import Style

BEGUN = datetime(2026, 3, 2, 8, tzinfo=UTC)
REFS = tuple(Ref("SLO", name) for name in "abc")


@dataclass(frozen=True)
class Change:
    """A run that writes one resource, so many minutes after the one before."""

    ref: Ref
    target: int
    after: int
    noisier: bool = False
    adopted: bool = False


CHANGES = st.builds(
    Change,
    st.sampled_from(REFS),
    st.integers(0, 2),
    st.integers(1, 2000),
    st.booleans(),
    st.sampled_from((False, False, False, True)),
)


def timed(changes: list[Change]) -> list[tuple[datetime, Change]]:
    """Give when each change is."""
    minutes = itertools.accumulate(change.after for change in changes)
    return [
        (BEGUN + timedelta(minutes=at), change) for at, change in zip(minutes, changes, strict=True)
    ]


def entries_of(changes: list[Change]) -> list[Entry]:
    """Write the journal of these changes."""
    found: list[Entry] = []
    for number, (moment, one) in enumerate(timed(changes)):
        run, at = f"run-{number}", moment.isoformat()
        found.append(RunEntry(at=at, run=run, actor="a", commit="", digest="", command="apply"))
        found.append(
            Started(
                run=run,
                at=at,
                ref=one.ref,
                operation="replace",
                remote_id="x",
                request_id="",
                seen="",
                declared={"target": one.target, "labels": {"team": "a|b\x1b[31m"}},
            )
        )
        found.append(WrittenEntry(run=run, at=at, ref=one.ref, remote_id="x", adopted=one.adopted))
        if one.noisier:
            verdict = SeenVerdict(ref=one.ref, verdict="noisier")
            found.append(WatchedEntry(at=at, run=run, until=at, found=(verdict,)))
    return found


@given(st.lists(CHANGES, max_size=25))
def test_counts(changes: list[Change]) -> None:
    """Every figure is that of an independent count, change by change."""
    now = BEGUN + timedelta(days=60)
    stats = stats_of(entries_of(changes), {}, now)

    reverted = hot_fixed = noisier = 0
    repairs = []
    sent = [(at, one) for at, one in timed(changes) if not one.adopted]
    for place, (at, one) in enumerate(sent):
        mine = [(when, other) for when, other in sent[place + 1 :] if other.ref == one.ref]
        before = {other.target for _, other in sent[:place] if other.ref == one.ref}
        others = [(when, other) for when, other in mine if other.target != one.target]
        soon = bool(others) and others[0][0] - at <= timedelta(days=1)
        reverted += soon and others[0][1].target in before
        hot_fixed += soon and others[0][1].target not in before
        noisier += one.noisier
        if others and (soon or one.noisier):
            repairs.append((others[0][0] - at).total_seconds())

    whole = stats.whole
    assert (whole["changes"], whole["reverted"], whole["hotFixed"]) == (
        len(sent),
        reverted,
        hot_fixed,
    )
    assert (whole["noisier"], whole["repaired"]) == (noisier, len(repairs))
    assert whole["medianSeconds"] == (median_low(repairs) if repairs else None)
    assert sum(week["changes"] for week in stats.weeks.values()) == len(sent)
    assert sum(team["changes"] for team in stats.teams.values()) == len(sent)


@given(st.lists(CHANGES, min_size=1, max_size=12))
def test_a_rename_changes_nothing(changes: list[Change]) -> None:
    """A resource that is renamed at the end keeps its fate."""
    entries, now = entries_of(changes), BEGUN + timedelta(days=60)
    later = Renamed(at=now.isoformat(), ref=Ref("SLO", "z"), was=REFS[0])

    assert stats_of([*entries, later], {}, now).whole == stats_of(entries, {}, now).whole


@given(st.lists(CHANGES, max_size=12))
def test_compacted(changes: list[Change]) -> None:
    """What compacting dropped is counted as not known, and in no other figure."""
    entries, now = entries_of(changes), BEGUN + timedelta(days=60)
    short = stats_of(compacted(entries, now.isoformat()), {}, now)

    written = sum(not change.adopted for change in changes)
    assert (short.compacted, short.whole["changes"]) == (written, 0)
    assert short.applies == written


def test_since_and_young() -> None:
    """Only what is of the time counts, and what is not a day old is said to be young."""
    entries = entries_of([Change(REFS[0], 0, 10), Change(REFS[1], 1, 5000)])
    now = BEGUN + timedelta(minutes=5020)

    assert stats_of(entries, {}, now).whole["changes"] == 2
    late = stats_of(entries, {REFS[1]: "shop"}, now, now - timedelta(days=1))
    assert (late.whole["changes"], late.whole["young"], late.applies) == (1, 1, 1)
    assert list(late.teams) == ["shop"]


def test_what_was_imported_comes_back() -> None:
    """A change that is put back to what was imported before it is reverted, compacted or not."""
    changes = [Change(REFS[0], 0, 10), Change(REFS[0], 1, 10), Change(REFS[0], 0, 10)]
    _, first, _, *rest = entries_of(changes)
    assert isinstance(first, Started)
    seen = ImportedEntry(
        run="i", at=first.at, ref=first.ref, remote_id="x", origin="live", declared=first.declared
    )
    later = BEGUN + timedelta(days=9)
    for entries in ([seen, *rest], [*compacted([seen], first.at), *rest]):
        found = stats_of(entries, {}, later).whole
        assert (found["changes"], found["reverted"], found["hotFixed"]) == (2, 1, 0)


def test_hostile_names() -> None:
    """A team's name leaves its place in no form."""
    changes = [Change(REFS[0], number % 2, 300) for number in range(6)]
    enemy = "<b>\x1b[31m\n::x"
    stats = stats_of(entries_of(changes), {REFS[0]: enemy}, BEGUN + timedelta(days=60))

    for text in (
        stats_text(stats, Style()),
        stats_json(stats, enemy),
        stats_html(replace(stats, compacted=3), enemy, enemy),
    ):
        assert "\x1b" not in text
        assert "<b>" not in text or not text.startswith("<")
        assert "\n::x" not in text


def test_the_sentences(golden: Golden) -> None:
    """Sentences say what became of the changes, and what is in no figure."""
    first, second, third = REFS
    changes = [
        Change(first, 0, 300),
        Change(second, 1, 300, noisier=True),
        Change(first, 1, 300),
        Change(first, 0, 90),
        Change(third, 0, 20_000),
    ]
    stats = stats_of(entries_of(changes), {}, BEGUN + timedelta(days=15))

    shown = replace(stats, since="2026-02-01T00:00:00Z", put_back=1, compacted=4, rollbacks=1)
    golden("\n".join(stats_lines(shown)))


@given(st.lists(CHANGES, min_size=1, max_size=12))
def test_the_tables(changes: list[Change]) -> None:
    """The text has a row of figures for each team and each week, under the same headings."""
    stats = stats_of(entries_of(changes), dict.fromkeys(REFS, "shop"), BEGUN + timedelta(days=60))

    known = {name: rows for name, rows in (("TEAM", stats.teams), ("WEEK OF", stats.weeks)) if rows}
    tables = stats_text(stats, Style()).split("\n\n")[1:]
    for (name, rows), text in zip(known.items(), tables, strict=True):
        heading, *lines = text.strip().splitlines()
        assert heading.removeprefix(name).split()[:2] == ["CHANGES", "REVERTED"]
        shown = {row: (counts["changes"], counts["reverted"]) for row, counts in rows.items()}
        assert {line.split()[0]: tuple(map(int, line.split()[1:3])) for line in lines} == shown


@given(st.lists(CHANGES, max_size=12))
def test_the_document(changes: list[Change]) -> None:
    """The JSON has the same figures: of all, of each team and of each week."""
    stats = stats_of(entries_of(changes), {}, BEGUN + timedelta(days=60))

    document = json.loads(stats_json(stats, "production"))
    assert (document["applies"], document["whole"]) == (stats.applies, stats.whole)
    for name, rows in (("team", stats.teams), ("week", stats.weeks)):
        assert {row.pop(name): row for row in document[f"{name}s"]} == rows


def test_a_rollback_is_no_apply() -> None:
    """A run that a rollback wrote, under the name of the run it rolled back, counts as such."""
    entries = entries_of([Change(REFS[0], 0, 10), Change(REFS[0], 1, 10)])
    last = next(entry for entry in reversed(entries) if isinstance(entry, RunEntry))
    rolled = [
        replace(entry, command="rollback run-0") if entry is last else entry for entry in entries
    ]

    stats = stats_of(rolled, {}, BEGUN + timedelta(days=60))
    assert (stats.applies, stats.rollbacks) == (1, 1)
