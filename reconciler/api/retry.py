"""What follows when a request fails: a table of rules, the waits, and what a run may spend.

Source: docs/network.md.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import Enum
from http import HTTPStatus
from typing import Literal

from reconciler.document import Json

LIMITED_STATUS = 429
LOST_STATUSES = frozenset((408, 499, 500, *range(502, 1000)))
"""What says nothing of a write. Proxies have numbers of their own, as 524 for a timeout: of all
from 500 on, 501 alone is sure that nothing was done."""

_BARRED_STATUSES = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)


class Request(Enum):
    """How often a request may happen, and who can tell whether it did."""

    READ = "read"
    """A GET, or a POST that only asks (7, 8, 14, 18, 19)."""
    REPLACE = "replace"
    """A PUT: done twice it is done once."""
    FINDABLE = "findable write"
    """Not to be done twice, but a listing or a look by name tells whether it was done."""
    BLIND = "blind create"
    """Not to be done twice, and nothing tells whether it was done."""


class Phase(Enum):
    """How far an attempt came. A limited one was heard, and surely not carried out."""

    NOT_SENT = "no byte was sent"
    LIMITED = "429"
    LOST = "lost after a byte was sent, or an answer that says nothing"
    BARRED = "401, 403"
    MISLED = "3xx, 501, no such route"
    REFUSED = "any other 4xx"
    ANSWERED = "an answer that says something"


class NextStep(Enum):
    """What is done next."""

    RETRY = "retry"
    RESOLVE = "look it up, then decide"
    LEAVE = "unsettled, never again"
    STOP = "stop the run"
    REFUSE = "refused"
    TAKE = "take the answer"


_SAME_FOR_ALL = {
    Phase.NOT_SENT: NextStep.RETRY,
    Phase.LIMITED: NextStep.RETRY,
    Phase.BARRED: NextStep.STOP,
    Phase.MISLED: NextStep.STOP,
    Phase.REFUSED: NextStep.REFUSE,
    Phase.ANSWERED: NextStep.TAKE,
}
RULES: dict[Request, dict[Phase, NextStep]] = {
    Request.READ: {**_SAME_FOR_ALL, Phase.LOST: NextStep.RETRY},
    Request.REPLACE: {**_SAME_FOR_ALL, Phase.LOST: NextStep.RETRY},
    Request.FINDABLE: {**_SAME_FOR_ALL, Phase.LOST: NextStep.RESOLVE},
    Request.BLIND: {**_SAME_FOR_ALL, Phase.LOST: NextStep.LEAVE},
}


def phase_of_status(status: int) -> Phase:
    """Tell how far an attempt came whose answer has this status."""
    if status == LIMITED_STATUS:
        return Phase.LIMITED
    if status in LOST_STATUSES:
        return Phase.LOST
    if status in _BARRED_STATUSES:
        return Phase.BARRED
    if status == HTTPStatus.NOT_IMPLEMENTED or status // 100 == HTTPStatus.MULTIPLE_CHOICES // 100:
        return Phase.MISLED
    return Phase.ANSWERED if status // 100 == HTTPStatus.OK // 100 else Phase.REFUSED


MOST_ATTEMPTS = 5
BASE_SECONDS = 0.05
LIMITED_BASE_SECONDS = 1.0
LONGEST_RETRY_AFTER_SECONDS = 60.0


def retry_after_seconds(header: str | None, now: datetime) -> float | None:
    """Seconds that `Retry-After` asks for; None where it says nothing usable.

    Seconds or an HTTP date; garbage, negative and past values count as absent
    (docs/network.md). Given twice, by the service and a proxy before it, the longest counts:
    that suits both.
    """
    if header is None:
        return None
    # A date has a comma of its own; its weekday is then one more part that says nothing.
    asked = [_seconds_of(part.strip(), now) for part in header.split(",")]
    return max((number for number in asked if number is not None), default=None)


def _seconds_of(text: str, now: datetime) -> float | None:
    if re.fullmatch(r"[0-9]+", text):
        # More digits than any time has are as long as these are.
        return float(text.lstrip("0")[:20] or 0) or None
    seconds = seconds_between(text, now)
    return seconds if seconds is not None and seconds > 0 and math.isfinite(seconds) else None


def seconds_between(text: str, now: datetime) -> float | None:
    """Give how far after now an HTTP date is, None for what is none."""
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - now).total_seconds()


@dataclass(frozen=True, slots=True)
class RetryDelay:
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
) -> RetryDelay | GiveUp:
    """Decide what follows failed attempt number `attempt` (from 1).

    Backoff has full jitter; the longer of it and `Retry-After` counts.
    """
    if retry_after is not None and retry_after > LONGEST_RETRY_AFTER_SECONDS:
        return GiveUp(f"the service asks to wait {retry_after:,.0f} seconds")
    if attempt >= MOST_ATTEMPTS:
        return GiveUp(f"{attempt} attempts failed")
    base = LIMITED_BASE_SECONDS if limited else BASE_SECONDS
    return RetryDelay(max(random() * base * 2 ** (attempt - 1), retry_after or 0.0))


BUCKET_TOKENS = 500
RETRY_COST = 14
LIMITED_RETRY_COST = 5
LONGEST_WAIT_SECONDS = 600.0


class RetryBudget:
    """A token bucket and a time for waiting, both for the whole process.

    The bucket keeps an outage from being hammered: N requests cost at most N + 35.
    The time keeps a service that always asks for a minute from taking the day.
    """

    def __init__(self, tokens: int = BUCKET_TOKENS, seconds: float = LONGEST_WAIT_SECONDS) -> None:
        self._tokens = tokens
        self._most = tokens
        self._seconds = seconds
        self._waiting_until = float("-inf")

    def take(self, cost: int) -> bool:
        """Pay for one retry; False where the bucket is too empty."""
        if self._tokens < cost:
            return False
        self._tokens -= cost
        return True

    def succeed(self, spent: int) -> None:
        """Give back what a request that succeeded in the end had cost, or one token."""
        self._tokens = min(self._most, self._tokens + (spent or 1))

    def wait(self, seconds: float, now: float) -> bool:
        """Begin a wait at `now`, by a clock that never goes back; False where it is too long.

        What many requests wait at the same time counts once.
        """
        until = now + seconds
        more = until - max(now, self._waiting_until)
        if more > self._seconds:
            return False
        if more > 0:
            self._seconds -= more
            self._waiting_until = until
        return True


Method = Literal["GET", "POST", "PUT"]
Parameters = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Call:
    """What is asked, where, and how often it may happen. `path` is below `{api_root}`.

    `known` is the digest of an answer that need not be parsed, "" for none, and `etag` is
    what the service called it, by which it can say that it is the same without sending it.
    """

    request: Request
    method: Method
    url: str
    path: str
    params: Parameters = ()
    body: Json = None
    known: str = ""
    etag: str = ""

    def __str__(self) -> str:
        return f"{self.method} {self.url}"

    def after(self, phase: Phase) -> NextStep:
        """Say what follows an attempt that came this far."""
        return RULES[self.request][phase]

    @property
    def may_be_repeated(self) -> bool:
        """Whether it is sent again though it may have happened."""
        return self.after(Phase.LOST) is NextStep.RETRY
