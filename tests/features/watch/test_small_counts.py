"""Exact tests of small counts, held against the plain enumeration of all that can be."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import comb, exp, lgamma, log

from hypothesis import given
from hypothesis import strategies as st

from reconciler.features.watch.alert_noise import corrected, tails

COUNTS = st.integers(0, 60)
HOURS = st.integers(1, 200)


def enumerated(low: int, high: int, total: int, share: Fraction) -> Fraction:
    """Give the exact probability of a binomial count from `low` to `high`."""
    terms = (
        comb(total, number) * share**number * (1 - share) ** (total - number)
        for number in range(low, high + 1)
    )
    return sum(terms, Fraction(0))


@given(COUNTS, HOURS, COUNTS, HOURS)
def test_enumeration(after: int, after_hours: int, before: int, before_hours: int) -> None:
    """Both tails are those of the enumeration in fractions, to twelve digits."""
    found = tails(after, after_hours, before, before_hours)

    share, total = Fraction(after_hours, after_hours + before_hours), after + before
    for told, exact in (
        (found.as_many, enumerated(after, total, total, share)),
        (found.as_few, enumerated(0, after, total, share)),
    ):
        assert abs(Fraction(told) - exact) <= exact / 10**11


@given(COUNTS, HOURS, COUNTS, HOURS)
def test_symmetry(after: int, after_hours: int, before: int, before_hours: int) -> None:
    """What is as many seen from one side is as few seen from the other."""
    here = tails(after, after_hours, before, before_hours)
    there = tails(before, before_hours, after, after_hours)

    assert abs(here.as_many - there.as_few) < 1e-12
    assert abs(here.as_few - there.as_many) < 1e-12


@given(st.integers(0, 40), HOURS, COUNTS, HOURS)
def test_monotone(after: int, after_hours: int, before: int, before_hours: int) -> None:
    """One event more after the run never makes noise less likely to be found."""
    few = tails(after, after_hours, before, before_hours)
    more = tails(after + 1, after_hours, before, before_hours)

    assert more.as_many <= few.as_many + 1e-12


@given(st.lists(st.floats(0, 1), max_size=30))
def test_correction(ps: list[float]) -> None:
    """Corrected probabilities are between those given and as many times as much, in their order."""
    found = corrected(ps)

    assert all(p <= number <= min(1.0, len(ps) * p) for p, number in zip(ps, found, strict=True))
    ordered = sorted(zip(ps, found, strict=True))
    assert all(low[1] <= high[1] for low, high in pairwise(ordered))


def poisson(mean: float, count: int) -> float:
    """Give the probability of a Poisson count."""
    return exp(-mean + count * log(mean) - lgamma(count + 1))


def said_noisier(mean_after: float, mean_before: float, hours: float, base_hours: float) -> float:
    """Give, without any chance, how often the test of one alert says noisier at one per cent."""
    reach = int(7 * mean_before**0.5)
    said = 0.0
    critical = 0
    for before in range(max(0, int(mean_before) - reach), int(mean_before) + reach + 1):
        while tails(critical, hours, before, base_hours).as_many > 0.01:
            critical += 1
        below = sum(poisson(mean_after, number) for number in range(critical))
        said += poisson(mean_before, before) * (1 - below)
    return said


def test_level_and_power() -> None:
    """With the hours of seven days as the base, one per cent holds, and a doubling is found."""
    assert said_noisier(30, 210, 3, 21) <= 0.01
    assert said_noisier(60, 210, 3, 21) >= 0.965
    assert said_noisier(60, 30, 3, 3) < 0.8
