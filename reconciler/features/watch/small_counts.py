"""Exact test whether two small counts differ by more than chance, without approximation. Pure.

Independent events are Poisson counts. Of two such counts together, the share in one span is
binomial, by the lengths of the spans alone, whatever the rate is (Przyborowski and Wilenski, 1940).
Source: docs/evidence.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tails:
    """The probabilities that chance alone gives as many, or as few, events after as there were."""

    as_many: float
    as_few: float


def tails(after: int, after_hours: float, before: int, before_hours: float) -> Tails:
    """Compare the count of one span with that of another; both are above zero hours.

    Where the rates are equal, each of the two is at most a level with at most that probability.
    """
    total = after + before
    share = after_hours / (after_hours + before_hours)
    return Tails(_at_least(after, total, share), _at_least(before, total, 1 - share))


def _at_least(count: int, total: int, share: float) -> float:
    """Return the probability of `count` or more of `total`, each with this share.

    The sum goes from the largest term outwards, so that small tails are as exact as large tails.
    """
    if count <= 0:
        return 1.0
    if count > total * share:
        return _upper(count, total, share)
    return max(0.0, 1.0 - _upper(total - count + 1, total, 1 - share))


def _upper(count: int, total: int, share: float) -> float:
    """Return the sum of the terms from `count` on, which is at or above the mean, so they fall."""
    if count > total:
        return 0.0
    term = _term(count, total, share)
    odds = share / (1 - share)
    terms: list[float] = []
    for number in range(count, total + 1):
        terms.append(term)
        if number == total or term < terms[0] * _NOTHING:
            break
        term *= odds * (total - number) / (number + 1)
    return min(1.0, math.fsum(terms))


_NOTHING = 1e-20


def _term(count: int, total: int, share: float) -> float:
    ways = math.lgamma(total + 1) - math.lgamma(count + 1) - math.lgamma(total - count + 1)
    rest = (total - count) * math.log1p(-share)
    return math.exp(ways + count * math.log(share) + rest)


def corrected(ps: Sequence[float]) -> list[float]:
    """Correct probabilities for their number, by Holm, in their order.

    The probability that chance alone brings any of them to a level or below is then at most that
    level, however they depend on each other.
    """
    order = sorted(range(len(ps)), key=lambda at: ps[at])
    found = [1.0] * len(ps)
    largest = 0.0
    for rank, at in enumerate(order):
        largest = max(largest, min(1.0, (len(ps) - rank) * ps[at]))
        found[at] = largest
    return found
