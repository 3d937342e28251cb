"""When to try again, how long to wait, and when to stop. Source: failure-cases.md, part 3."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

MOST_ATTEMPTS = 5
BASE_SECONDS = 0.05
LIMITED_BASE_SECONDS = 1.0
LONGEST_BACKOFF_SECONDS = 20.0
LONGEST_RETRY_AFTER_SECONDS = 60.0
LONGEST_WAIT_SECONDS = 600.0

BUCKET_TOKENS = 500
RETRY_COST = 14
LIMITED_RETRY_COST = 5

LIMITED = 429
LOST_STATUSES = frozenset((408, 499, 500, 502, 503, 504, 520))


class RetryBudget:
    """A token bucket for the whole process, so that an outage is not hammered."""

    def __init__(self, tokens: int = BUCKET_TOKENS) -> None:
        self._tokens = tokens
        self._most = tokens

    def take(self, cost: int) -> bool:
        """Pay for one retry; False where the bucket is too empty."""
        if self._tokens < cost:
            return False
        self._tokens -= cost
        return True

    def succeed(self, spent: int) -> None:
        """Give back what a request that succeeded in the end had cost, or one token."""
        self._tokens = min(self._most, self._tokens + (spent or 1))


def retry_after_seconds(header: str | None, now: datetime) -> float | None:
    """Seconds that `Retry-After` asks for; None where it says nothing usable.

    Seconds or an HTTP date; garbage, negative and past values count as absent (R7).
    """
    if header is None:
        return None
    text = header.strip()
    if re.fullmatch(r"[0-9]{1,12}", text):
        return float(text) or None
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    seconds = (moment - now).total_seconds()
    return seconds if seconds > 0 and math.isfinite(seconds) else None


@dataclass(frozen=True, slots=True)
class Wait:
    """How long to wait before the next attempt, in seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class GiveUp:
    """Why there is no next attempt."""

    why: str


def next_step(
    attempt: int,
    *,
    limited: bool,
    retry_after: float | None,
    waited: float,
    random: Callable[[], float],
) -> Wait | GiveUp:
    """Decide what follows failed attempt number `attempt` (from 1).

    Backoff has full jitter; the longer of it and `Retry-After` counts.
    """
    if retry_after is not None and retry_after > LONGEST_RETRY_AFTER_SECONDS:
        return GiveUp(f"the service asks to wait {retry_after:,.0f} seconds")
    if attempt >= MOST_ATTEMPTS:
        return GiveUp(f"{attempt} attempts failed")
    base = LIMITED_BASE_SECONDS if limited else BASE_SECONDS
    ceiling = min(LONGEST_BACKOFF_SECONDS, base * 2 ** (attempt - 1))
    seconds = max(random() * ceiling, retry_after or 0.0)
    if waited + seconds > LONGEST_WAIT_SECONDS:
        return GiveUp(f"waited {waited:,.0f} seconds already")
    return Wait(seconds)
