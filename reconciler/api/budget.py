"""What all retries of a run may cost together. Source: failure-cases.md, part 3."""

from __future__ import annotations

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
