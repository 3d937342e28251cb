"""What is waited for, in one line."""

from __future__ import annotations

from contextlib import ExitStack
from itertools import takewhile

import pytest
from harness.golden import Golden
from hypothesis import given
from hypothesis import strategies as st

from reconciler.report.safe import columns, safe
from reconciler.report.wait_lines import timing_lines, waiting_line
from reconciler.runtime.progress import (
    Answering,
    AskedAgain,
    Deed,
    Keeping,
    Locking,
    Noted,
    Now,
    Progress,
    Wait,
    Waits,
)

HELD = "journal.jsonl is locked by process 7 on ci since 2025-01-31T09:00:00Z"
BOARD = Answering("GET", "/v1/dashboards/dashboards/0kVvz1PJ")

texts = st.text(max_size=60)
waits = st.one_of(
    st.builds(Answering, st.sampled_from(["GET", "PUT"]), texts),
    st.builds(
        AskedAgain,
        st.just("GET"),
        texts,
        st.floats(0, 1e4),
        st.none() | st.just(503),
        texts,
    ),
    st.builds(Locking, texts),
    st.builds(Keeping, texts),
)
steps = st.builds(
    Progress,
    st.sampled_from(Deed),
    st.just(0.0),
    st.sampled_from(["", "AlertDefinition", "event"]),
    st.none() | st.integers(0, 10**6),
    st.integers(0, 10**6),
)


def as_it_is(text: str) -> str:
    return text


def line(*noted: Noted | Progress, at: float = 12.0, width: int | None = None) -> str:
    steps = tuple(progress for progress in noted if isinstance(progress, Progress))
    waiting = tuple(one for one in noted if isinstance(one, Noted))
    return waiting_line(Now(at, steps, waiting), as_it_is, width)


@pytest.mark.promise("P48")
@pytest.mark.parametrize(
    ("wait", "said"),
    [
        (Answering("PUT", "/v1/slo/slos"), "waiting for PUT /v1/slo/slos to answer, 12 s"),
        (AskedAgain("GET", "/x", 16, 503, "busy"), "GET /x is asked again in 4 s (503)"),
        (AskedAgain("GET", "/x", 16, None, "cut off"), "GET /x is asked again in 4 s (cut off)"),
        (Locking(HELD), f"waiting for the journal's lock, 12 s ({HELD})"),
        (Keeping("git:refs/x"), "waiting for the journal git:refs/x, 12 s"),
    ],
)
def test_each_wait_is_named(wait: Wait, said: str) -> None:
    """Whatever is waited for is named, and how long."""
    assert line(Noted(wait, 0)) == said


@pytest.mark.promise("P48")
@pytest.mark.parametrize(
    ("step", "said"),
    [
        (Progress(Deed.LOADING, 0, "", total=2_000, done=412), "reading manifests: 412 of 2,000"),
        (
            Progress(Deed.READING, 0, "Dashboard", total=2_000, done=412),
            "reading dashboards: 412 of 2,000",
        ),
        (Progress(Deed.READING, 0, "AlertDefinition", 9), "reading alert definitions: 0 of 9"),
        (Progress(Deed.READING, 0, "SLO", 9), "reading SLOs: 0 of 9"),
        (Progress(Deed.WRITING, 0, "", total=40, done=12), "writing: 12 of 40"),
        (Progress(Deed.LISTING, 0, "event", total=None, done=1_200), "listing events: 1,200"),
    ],
)
def test_each_step_is_counted(step: Progress, said: str) -> None:
    """A step says how far it is; what is sent meanwhile is named once it takes a second."""
    assert line(step, Noted(BOARD, 11.5)) == said
    assert (
        line(step, Noted(BOARD, 11.0))
        == f"{said}; waiting for {BOARD.method} {BOARD.path} to answer, 1 s"
    )


@pytest.mark.promise("P48")
def test_the_first_that_is_not_over(golden: Golden) -> None:
    """Of several steps the first that is not over is told, and of several waits the oldest."""
    over, open_one = (
        Progress(Deed.READING, 0, "SLO", total=2, done=2),
        Progress(Deed.READING, 0, "Dashboard", total=3, done=1),
    )
    others = [Noted(Answering("GET", f"/{number}"), number) for number in range(1, 4)]

    said = line(over, open_one, *others, at=9)

    golden(said)
    assert line() == ""


@pytest.mark.promise("P48")
@given(st.lists(steps, max_size=3), st.lists(waits, max_size=20), st.integers(39, 199))
def test_it_fits(some: list[Progress], others: list[Wait], width: int) -> None:
    """Whatever is noted, the line fits the terminal, and is one line without control characters."""
    now = Now(1e4, tuple(some), tuple(Noted(other, 0) for other in others))

    shown = waiting_line(now, as_it_is, width)

    assert columns(shown) <= width
    assert safe(shown) == shown
    whole = waiting_line(now, as_it_is)
    assert safe(whole) == whole
    assert bool(shown) == bool(whole)


@pytest.mark.promise("P48")
@pytest.mark.parametrize("width", [39, 59, 79, 199])
def test_a_narrow_terminal(width: int) -> None:
    """However narrow the terminal is, it is told that an answer is waited for, and how long."""
    step = Progress(Deed.READING, 0, "Dashboard", total=2_000, done=412)

    said = line(step, Noted(BOARD, 0), width=width)

    assert "waiting for GET /" in said
    assert said.endswith("to answer, 12 s")


@pytest.mark.promise("P48")
@given(st.integers(39, 199), st.integers(0, 80))
def test_half_a_secret(width: int, before: int) -> None:
    """A secret is hidden before a line is cut, so that no half of one is left."""
    hidden = "kQ7vX2mPz9Lw4Tj8"
    path = f"/{'x' * before}/{hidden}"

    shown = waiting_line(
        Now(12, (), (Noted(Answering("GET", path), 0),)),
        lambda text: text.replace(hidden, "***"),
        width,
    )

    assert hidden[:3] not in shown


@given(st.lists(st.tuples(waits | steps, st.floats(0, 9)), max_size=8))
def test_where_the_time_went(noted: list[tuple[Wait | Progress, float]]) -> None:
    """What ended is added up by what it was, and each sort has one line, whatever it is about."""
    clock = [0.0]
    kept = Waits(clock=lambda: clock[0])
    for one, seconds in noted:
        with kept.step(one.deed, one.things) if isinstance(one, Progress) else kept.on(one):
            clock[0] += seconds

    first, *lines = timing_lines(kept, 0.5, clock[0], 1.5)

    assert sum(spent.seconds for spent in kept.spent.values()) == pytest.approx(clock[0])
    assert sum(spent.times for spent in kept.spent.values()) == len(noted)
    assert hundredths(first.split()[1]) == pytest.approx((0.5 + clock[0]) * 100, abs=1)
    assert all(line == safe(line) for line in lines)


def test_what_was_done_is_counted() -> None:
    """A step says how much was done of it, and waits how often and how long each was."""
    clock = [0.0]
    kept = Waits(clock=lambda: clock[0])
    for seconds in (1.0, 3.0):
        with kept.step(Deed.READING, "Dashboard", 5) as step, kept.on(BOARD):
            step.done += 2
            clock[0] += seconds

    assert [*timing_lines(kept, 0.5, 4.25, 0.2)] == [
        "took 4.75 s; 0.20 s of the processor",
        "      0.50 s  starting",
        "      4.00 s  reading live: 4",
        "      0.25 s  the rest",
        "of that, side by side or inside one another",
        "      4.00 s  waiting for answers, side by side: 2, 2,000 ms each",
        "      4.00 s  reading dashboards: 4",
    ]


Notes = list[tuple[Wait | Progress, float, bool]]


@pytest.mark.promise("S46")
@given(st.lists(st.tuples(waits | steps, st.floats(0, 9), st.booleans()), max_size=8))
def test_rows_add_up_to_the_whole(noted: Notes) -> None:
    """The printed rows add up to the whole, whatever runs side by side, and none is negative."""
    clock = [5.0]
    kept = Waits(clock=lambda: clock[0])
    with ExitStack() as open_notes:
        for one, seconds, ends in noted:
            entered = kept.step(one.deed, one.things) if isinstance(one, Progress) else kept.on(one)
            if ends:
                with entered:
                    clock[0] += seconds
            else:
                open_notes.enter_context(entered)
            clock[0] += seconds / 3

    first, *lines = timing_lines(kept, 0.5, clock[0] - 5.0, 1.5)

    rows = [*takewhile(lambda line: not line.startswith("of that"), lines)]
    figures = [hundredths(row.split()[0]) for row in rows]
    assert sum(figures) == hundredths(first.split()[1])
    assert min(figures) >= 0
    assert len({row.split(" s ", 1)[1] for row in rows}) == len(rows)
    assert rows[-1].endswith("the rest")


def hundredths(figure: str) -> int:
    """Return a printed number of seconds as a number of hundredths."""
    return round(float(figure.replace(",", "")) * 100)
