"""Consequences of a failed request: a table of rules, the waits, and the budget of a run.

Source: docs/network.md.
"""

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
"""Statuses that say nothing about a write.

Proxies have statuses of their own, such as 524 for a timeout. From 500 on, only 501 proves that
nothing was done.
"""

_BARRED_STATUSES = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)


class Request(Enum):
    """Kinds of requests: whether they may be repeated, and whether their result can be found."""

    READ = "read"
    """A GET, or a POST that only reads (7, 8, 14, 18, 19)."""
    REPLACE = "replace"
    """A PUT: repeating it has no further effect."""
    FINDABLE = "findable write"
    """A write that must not be repeated; a list or a read by name shows if it was carried out."""
    BLIND = "blind create"
    """A write that must not be repeated, and nothing shows whether it was carried out."""


class Phase(Enum):
    """How far an attempt came. A limited attempt was received, and certainly not carried out."""

    NOT_SENT = "no byte was sent"
    LIMITED = "429"
    LOST = "lost after a byte was sent, or an answer that says nothing"
    BARRED = "401, 403"
    MISLED = "3xx, 501, no such route"
    REFUSED = "any other 4xx"
    ANSWERED = "an answer that says something"


class NextStep(Enum):
    """The next step after an attempt."""

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
    """Return how far an attempt came, by the status of its answer."""
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
    """Return the seconds that `Retry-After` asks for; None where it has no usable value.

    The value is seconds or an HTTP date; unreadable, negative and past values count as absent
    (docs/network.md). If a service and a proxy each sent one, the longest is used: it suits both.
    """
    if header is None:
        return None
    # A date contains a comma. Its weekday is then a part without a usable value.
    waits = [_seconds_of(part.strip(), now) for part in header.split(",")]
    return max((number for number in waits if number is not None), default=None)


def _seconds_of(text: str, now: datetime) -> float | None:
    if re.fullmatch(r"[0-9]+", text):
        # More digits than any duration has can be cut.
        return float(text.lstrip("0")[:20] or 0) or None
    seconds = seconds_between(text, now)
    return seconds if seconds is not None and seconds > 0 and math.isfinite(seconds) else None


def seconds_between(text: str, now: datetime) -> float | None:
    """Return by how many seconds an HTTP date is after `now`, None for no date."""
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - now).total_seconds()


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
) -> float | GiveUp:
    """Return the seconds to wait after failed attempt number `attempt` (from 1).

    The wait is the longer of `Retry-After` and a backoff with full jitter.
    """
    if retry_after is not None and retry_after > LONGEST_RETRY_AFTER_SECONDS:
        return GiveUp(f"the service asks to wait {retry_after:,.0f} seconds")
    if attempt >= MOST_ATTEMPTS:
        return GiveUp(f"{attempt} attempts failed")
    base = LIMITED_BASE_SECONDS if limited else BASE_SECONDS
    return max(random() * base * 2.0 ** (attempt - 1), retry_after or 0.0)


BUCKET_TOKENS = 500
RETRY_COST = 14
LIMITED_RETRY_COST = 5
LONGEST_WAIT_SECONDS = 600.0


class RetryBudget:
    """A token bucket and a limit for waiting, both for the whole process.

    The bucket limits requests during an outage: N requests cost at most N + 35. The time limit
    keeps a service that always asks for a minute from delaying a run for hours.
    """

    def __init__(self, tokens: int = BUCKET_TOKENS, seconds: float = LONGEST_WAIT_SECONDS) -> None:
        self._tokens = tokens
        self._most = tokens
        self._seconds = seconds
        self._waiting_until = float("-inf")

    def pay(self, seconds: float, cost: int, now: float) -> float | GiveUp:
        """Pay for a wait and the retry after it; return the wait, unless either is too much."""
        if not self.wait(seconds, now):
            return GiveUp("this run has waited ten minutes for the service in all")
        if not self.take(cost):
            return GiveUp("too many requests of this run failed to try this one again")
        return seconds

    def take(self, cost: int) -> bool:
        """Pay for one retry; return False where the bucket has too few tokens."""
        if self._tokens < cost:
            return False
        self._tokens -= cost
        return True

    def succeed(self, spent: int) -> None:
        """Refund the cost of a request that succeeded in the end, or add one token."""
        self._tokens = min(self._most, self._tokens + (spent or 1))

    def wait(self, seconds: float, now: float) -> bool:
        """Begin a wait at `now`, by a clock that never goes back; return False if it is too long.

        Waits of several requests at the same time are charged once.
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
    """A request: its kind, address and content. `path` is below `{api_root}`.

    `known` is the digest of an answer that need not be parsed, "" for none. `etag` is the service's
    ETag of that answer; with it the service can confirm the answer without sending it.
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
        """Return what follows an attempt that came this far."""
        return RULES[self.request][phase]

    @property
    def may_be_repeated(self) -> bool:
        """Return whether it is sent again although it may have been carried out."""
        return self.after(Phase.LOST) is NextStep.RETRY
