"""When to try again, and how long to wait before that. Source: failure-cases.md, part 3."""

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


def retry_after_seconds(header: str | None, now: datetime) -> float | None:
    """Seconds that `Retry-After` asks for; None where it says nothing usable.

    Seconds or an HTTP date; garbage, negative and past values count as absent
    (R7). Given twice, by the service and a proxy before it, the longest counts:
    that suits both.
    """
    if header is None:
        return None
    # A date has a comma of its own; its weekday is then one more part that says nothing.
    asked = [_seconds_of(part.strip(), now) for part in header.split(",")]
    return max((one for one in asked if one is not None), default=None)


def _seconds_of(text: str, now: datetime) -> float | None:
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
    return Wait(max(random() * ceiling, retry_after or 0.0))
