"""Limit of concurrent requests: as many as the service can handle, never more than the maximum.

Source: docs/network.md.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field

from reconciler.api.retry import Method, Phase
from reconciler.model.assumptions import REQUESTS_AT_ONCE

SLOW_SECONDS = 1.0
"""Answers faster than this are never slow, even if others were much faster."""

SLOWER = 2.0
"""A round of answers that is slower than the fastest round by this factor shows an overload."""

_AFTER_SLOWNESS = 0.75
_AFTER_REFUSAL = 0.5


@dataclass(slots=True)
class _Round:
    """The answers to one method since its last evaluation, and its fastest round."""

    fastest: float = float("inf")
    seconds: float = 0.0
    answers: int = 0


@dataclass(slots=True)
class Pace:
    """A gate that learns how many requests may be open.

    A round is as many answers as requests may be open. After a round that was not slow, one more
    may be open; after a slow round, a quarter less. After a 429, or an answer that is lost or says
    nothing, half as many; this counts once for all requests that were open by then. `closed` lets
    no request through.
    """

    most: int = REQUESTS_AT_ONCE
    _width: float = field(init=False)
    _open: int = 0
    _number: int = 0
    _narrowed_at: int = 0
    _closing: int = 0
    _waiting: deque[asyncio.Future[None]] = field(default_factory=deque)
    _rounds: dict[Method, _Round] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Begin with the default width, or the maximum if it is less."""
        self._width = float(min(REQUESTS_AT_ONCE, self.most))

    @property
    def width(self) -> int:
        """Return how many requests may be open now."""
        return int(self._width)

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[int]:
        """Wait for a place among the open requests, first come, first served, and hold it.

        Yields the number of the request.
        """
        if not self._has_room or self._waiting:
            await self._turn()
        else:
            self._open += 1
        self._number += 1
        number = self._number
        try:
            yield number
        finally:
            self._open -= 1
            self._admit()

    @contextmanager
    def closed(self) -> Iterator[None]:
        """Hold back new requests meanwhile, as the service reported too many."""
        self._closing += 1
        try:
            yield
        finally:
            self._closing -= 1
            self._admit()

    def learn(self, number: int, method: Method, phase: Phase, seconds: float) -> None:
        """Learn from one attempt, by how far it came and how long that took."""
        if phase in (Phase.LIMITED, Phase.LOST):
            # Requests from before the last narrowing were sent at the old width.
            if number > self._narrowed_at:
                self._narrow(_AFTER_REFUSAL)
            return
        if phase is Phase.NOT_SENT:
            return
        found = self._rounds.setdefault(method, _Round())
        found.seconds += seconds
        found.answers += 1
        if found.answers >= self.width:
            self._judge(found)

    def _judge(self, found: _Round) -> None:
        mean = found.seconds / found.answers
        if mean > SLOW_SECONDS and mean > SLOWER * found.fastest:
            self._narrow(_AFTER_SLOWNESS)
        else:
            self._width = min(self._width + 1, float(self.most))
            self._admit()
        found.fastest = min(found.fastest, mean)
        found.seconds, found.answers = 0.0, 0

    def _narrow(self, part: float) -> None:
        self._width = max(self._width * part, 1.0)
        self._narrowed_at = self._number

    @property
    def _has_room(self) -> bool:
        return not self._closing and self._open < self.width

    async def _turn(self) -> None:
        place = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                # The place was assigned at the moment when the waiting task was cancelled.
                self._open -= 1
                self._admit()
            raise

    def _admit(self) -> None:
        """Assign free places to waiting tasks; a place counts as taken from then on."""
        while self._waiting and self._has_room:
            place = self._waiting.popleft()
            if not place.done():
                self._open += 1
                place.set_result(None)
