"""Whether alerts are noisier: what is held against what, and when nothing is said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated_alerts import CALM, DAY, DOUBLED, RUN, alert, event, share

from reconciler.features.watch.alert_noise import (
    LONGEST,
    SHORTEST,
    NoiseWatch,
    ReportedEvents,
    WatchedAlert,
    joined,
    judged,
    spans_of,
    watched_json,
    watched_markdown,
    watched_text,
)
from reconciler.model import Ref
from reconciler.report.table import Style

BEFORE = 2 / 24
"""In days: within the span right before the run."""


def fired(counts: Mapping[float, int], hours: float = 3, number: int = 0) -> ReportedEvents:
    """Let an alert fire so often in the span so many days before the run, 0 for after it."""
    of = alert(number, hours)
    return ReportedEvents(
        events=tuple(
            event(of, RUN - days * DAY + timedelta(minutes=5, seconds=number))
            for days, count in counts.items()
            for number in range(count)
        )
    )


def verdict(counts: Mapping[float, int], hours: float = 3) -> WatchedAlert:
    """Judge one alert."""
    (found,) = judged([alert(0, hours)], fired(counts, hours))
    return found


WEEK: tuple[float, ...] = tuple(range(1, 8))


@pytest.mark.parametrize(
    ("after", "each", "said"),
    [(60, 30, "noisier"), (30, 30, "same"), (8, 30, "quieter"), (0, 0, "same"), (1, 0, "same")],
)
def test_verdicts(after: int, each: int, said: str) -> None:
    """Beyond chance is told from chance, either way."""
    found = verdict({0: after, BEFORE: each} | dict.fromkeys(WEEK, each))

    assert found.verdict == said
    assert found.base is not None
    assert (found.base.events, found.base.hours, found.spans) == (7 * each, 21, 7)


def test_a_burst_before() -> None:
    """What one day of the week before had as much of is not said to be noisier."""
    calm = dict.fromkeys(WEEK, 5)

    assert verdict({0: 30, **calm}).verdict == "noisier"
    assert verdict({0: 30, **calm, 4: 30}).verdict in ("same", "noisier")
    assert verdict({0: 30, **calm, 4: 31}).verdict == "same"


def test_before_the_run() -> None:
    """What began right before the run is not said to come from it, either way."""
    assert verdict({0: 30, BEFORE: 40} | dict.fromkeys(WEEK, 5)).verdict == "same"
    assert verdict({0: 5, BEFORE: 4} | dict.fromkeys(WEEK, 30)).verdict == "same"


@given(st.integers(0, 40), st.lists(st.integers(0, 40), min_size=7, max_size=7))
@settings(max_examples=50)
def test_one_verdict(after: int, days: list[int]) -> None:
    """Noisier is only said where it fired more than before, and quieter where it fired less."""
    found = verdict({0: after} | dict(zip(WEEK, days, strict=True)))

    mean = sum(days) / 7
    assert found.verdict != "noisier" or after > mean
    assert found.verdict != "quieter" or after < mean
    assert found.p is not None
    assert (found.p <= 0.01) >= (found.verdict in ("noisier", "quieter"))


@pytest.mark.parametrize("told", [ReportedEvents(cut=True), ReportedEvents(unread="403")])
def test_incomplete(told: ReportedEvents) -> None:
    """Where events were cut off or refused, nothing is said of any alert."""
    found = list(judged([alert(0, 3), alert(1, 3)], told))

    assert {one.verdict for one in found} == {"unknown"}
    assert all(one.p is None and one.after is None for one in found)


def test_untold() -> None:
    """An event that tells of no alert leaves all unknown; one of another alert does not."""
    ours, other = alert(0, 3), alert(9, 3)
    nameless = event(ours, RUN).model_copy(update={"cx_event_metadata": {}})

    (unknown,) = judged([ours], ReportedEvents(events=(nameless,)))
    (known,) = judged([ours], ReportedEvents(events=(event(other, RUN),)))

    assert (unknown.verdict, unknown.cause) == ("unknown", "untold")
    assert known.verdict == "same"


def test_written_before() -> None:
    """Only what is of the replaced definition counts; with none of it, nothing is said."""
    days = dict.fromkeys(WEEK, 5)
    told = fired({0: 40, **days})
    (recent,) = judged([alert(0, 3, written=RUN - timedelta(days=2, hours=1))], told)
    (close,) = judged([alert(0, 3, written=RUN - timedelta(hours=4))], told)
    (closer,) = judged([alert(0, 3, written=RUN - timedelta(hours=2))], told)

    assert (recent.verdict, recent.spans) == ("noisier", 2)
    assert (close.verdict, close.spans) == ("noisier", 1)
    assert (closer.verdict, closer.cause) == ("unknown", "written-before")


def test_the_same_event_twice() -> None:
    """An event that comes on two pages counts once."""
    ours = alert(0, 3)
    twice = (event(ours, RUN, "a"), event(ours, RUN, "a"), event(ours, RUN, "b"))

    (found,) = judged([ours], ReportedEvents(events=twice))

    assert found.after is not None
    assert found.after.events == 2


@given(st.timedeltas(SHORTEST, timedelta(days=9)))
def test_spans(passed: timedelta) -> None:
    """Spans before are as long as that after, end before the run, and do not overlap."""
    spans = spans_of(RUN, RUN + passed)

    assert spans is not None
    length = min(passed, LONGEST)
    assert {span.until - span.since for span in spans.all} == {length}
    assert spans.base[-1].since == RUN - 7 * DAY
    assert all(span.until <= RUN for span in (spans.right_before, *spans.base))
    assert all(older.until <= newer.since for newer, older in pairwise(spans.base))
    assert len(spans.base) == (7 if length <= DAY else len(spans.base))
    parts = joined(spans.all)
    assert all(older.until < newer.since for newer, older in pairwise(parts))


def test_clocks() -> None:
    """Where the service told another time of the write than the journal, nothing is said."""
    (found,) = judged([replace(alert(0, 3), clocks_differ=True)], fired({0: 50}))

    assert (found.verdict, found.cause) == ("unknown", "clock")


def test_too_soon() -> None:
    """Of a run a moment ago nothing is said."""
    (found,) = judged([alert(0, 0.05)], ReportedEvents())

    assert (found.verdict, found.cause) == ("unknown", "too-soon")


def test_false_alarms() -> None:
    """On simulated alerts of one rate, or one that follows the day, noisier is hardly ever said.

    At one per cent of 100 runs, more than 5 have a probability below one in a thousand.
    """
    for one in (CALM[1], CALM[2]):
        assert share(one, "noisier", 100, seed=11) <= 5 / 100


def test_doubling() -> None:
    """A doubling of 10 events an hour is found within three hours in 95 %.

    The true share is 0.969: of 60 runs fewer than 53 find it less than once in a thousand.
    """
    assert share(DOUBLED, "noisier", 60, seed=5) >= 53 / 60


def test_hostile_names() -> None:
    """No name of an alert, and no word of the service, leaves its place in any form."""
    enemy = "\x1b[31m<script>alert(1)</script>|`@team\n::stop-commands::x"
    found = NoiseWatch(
        run="r",
        command="apply",
        since="2026-03-11T09:30:00Z",
        until="2026-03-11T12:30:00Z",
        level=0.01,
        alerts=(WatchedAlert(ref=Ref("AlertDefinition", enemy), until="", cause="unread"),),
        unread=enemy,
        complete=False,
    )

    texts = [
        watched_text(found, Style()),
        watched_markdown(found, enemy),
        watched_json(found, enemy, enemy),
    ]
    for text in texts:
        assert "\x1b" not in text
        assert "\n::stop" not in text
    rows = [line for line in texts[1].splitlines() if line.startswith("| unknown")]
    assert len(rows) == 1
    assert rows[0].replace("\\|", "").count("|") == 7
