from __future__ import annotations

from datetime import UTC, datetime
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.api.retry import (
    LONGEST_RETRY_AFTER_SECONDS,
    LONGEST_WAIT_SECONDS,
    MOST_ATTEMPTS,
    GiveUp,
    RetryBudget,
    next_step,
    retry_after_seconds,
)

NOW = datetime(2025, 1, 31, 9, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("", None),
        ("0", None),
        ("1", 1.0),
        (" 7 ", 7.0),
        ("59", 59.0),
        ("1000000000", 1e9),
        ("1e9", None),
        ("-1", None),
        ("1.5", None),
        ("2, 3", 3.0),
        ("3,2", 3.0),
        ("0, 2", 2.0),
        ("2, soon", 2.0),
        ("2, -5", 2.0),
        (",", None),
        ("5, Fri, 31 Jan 2025 09:00:30 GMT", 30.0),
        ("Fri, 31 Jan 2025 09:00:30 GMT, 40", 40.0),
        ("Fri, 31 Jan 2025 09:00:10 GMT, Fri, 31 Jan 2025 09:00:20 GMT", 20.0),
        ("soon", None),
        ("9" * 5000, 1e20),
        ("0" * 30 + "7", 7.0),
        ("000", None),
        ("Fri, 31 Jan 2025 09:00:30 GMT", 30.0),
        ("Fri, 31 Jan 2025 08:59:30 GMT", None),
        ("Fri, 31 Jan 2025 09:00:00 GMT", None),
        ("31 Jan 2025 09:00:30", 30.0),
        ("Friday, 31-Jan-25 09:00:30 GMT", 30.0),
        ("Fri Jan 31 09:00:30 2025", 30.0),
        ("Fri, 31 Jan 99999 09:00:00 GMT", None),
        ("Fri, 31 Jan 2025 09:00:30 +99999", None),
        ("٣", None),
    ],
)
def test_retry_after(header: str | None, seconds: float | None) -> None:
    """The longest wait asked for counts; garbage, negative and past values count as absent."""
    assert retry_after_seconds(header, NOW) == seconds


@given(st.text(max_size=40) | st.datetimes(timezones=st.just(UTC)).map(format_datetime))
def test_any_retry_after(header: str) -> None:
    """No header is ever an error, nor a wait into the past."""
    seconds = retry_after_seconds(header, NOW)

    assert seconds is None or seconds > 0


@given(
    st.integers(1, 10),
    st.booleans(),
    st.none() | st.floats(0.001, 1e9),
    st.floats(0, 1),
)
def test_every_step(attempt: int, limited: bool, retry_after: float | None, chance: float) -> None:
    """No wait is longer than a minute or shorter than asked for; none follows the fifth attempt."""
    step = next_step(attempt, limited=limited, retry_after=retry_after, random=lambda: chance)

    if isinstance(step, float):
        assert (retry_after or 0) <= step <= LONGEST_RETRY_AFTER_SECONDS
        assert attempt < MOST_ATTEMPTS
    else:
        assert isinstance(step, GiveUp)


@pytest.mark.parametrize(
    ("limited", "ceilings"), [(False, [0.05, 0.1, 0.2, 0.4]), (True, [1, 2, 4, 8])]
)
def test_backoff(limited: bool, ceilings: list[float]) -> None:
    """The ceiling of the jitter doubles with each attempt, and is higher after a 429."""
    steps = [
        next_step(n, limited=limited, retry_after=None, random=lambda: 1.0) for n in range(1, 5)
    ]

    assert steps == ceilings


@given(st.lists(st.booleans(), max_size=300))
def test_budget(outcomes: list[bool]) -> None:
    """A run of failures buys at most 35 retries, and successes never fill more than the bucket."""
    budget = RetryBudget()
    for succeeded in outcomes:
        if succeeded:
            budget.succeed(0)

    assert sum(budget.take(14) for _ in range(100)) == 35


def test_waits_side_by_side() -> None:
    """Requests that wait at the same time use up the time of one, and later ones their own."""
    budget = RetryBudget(seconds=100)

    assert [budget.wait(60, now=0.0) for _ in range(50)] == [True] * 50
    assert budget.wait(50, now=30.0)
    assert not budget.wait(21, now=200.0)
    assert budget.wait(20, now=200.0)


@given(st.lists(st.tuples(st.floats(0, 60), st.floats(0, 60)), max_size=200))
def test_time_for_waiting(waits: list[tuple[float, float]]) -> None:
    """Whoever waits when, the waits of a run cover no more than ten minutes."""
    budget, now, covered = RetryBudget(), 0.0, 0.0
    until = float("-inf")
    for pause, seconds in waits:
        now += pause
        if budget.wait(seconds, now):
            covered += max(0.0, now + seconds - max(now, until))
            until = max(until, now + seconds)

    assert covered <= LONGEST_WAIT_SECONDS + 1e-6
