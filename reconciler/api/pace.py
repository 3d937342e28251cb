"""How many requests are open at once: as many as the service takes, never more than the limit.

Source: docs/network.md.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field

from reconciler.api.retry import Method, Phase
from reconciler.assumptions import REQUESTS_AT_ONCE

SLOW_SECONDS = 1.0
"""An answer that takes less hurts nobody, however fast others of it were."""

SLOWER = 2.0
"""By what a round of answers is slower than the fastest one when the service has too much."""

_AFTER_SLOWNESS = 0.75
_AFTER_REFUSAL = 0.5


@dataclass(slots=True)
class _Round:
    """The answers to one method since the pace was last judged by it, and its fastest round."""

    fastest: float = float("inf")
    seconds: float = 0.0
    answers: int = 0


@dataclass(slots=True)
class Pace:
    """A gate that learns how wide it may be.

    A round is as many answers as requests may be open. After one that was not slow one more
    may be open, after a slow one a quarter less; after a 429, or an answer that is lost or says
    nothing, half of them, once for all that were open by then. `closed` lets none through.
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
        """Begin as wide as everybody, or as the limit."""
        self._width = float(min(REQUESTS_AT_ONCE, self.most))

    @property
    def width(self) -> int:
        """How many requests may be open now."""
        return int(self._width)

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[int]:
        """Wait for a place among the open requests, first come, first served, and hold it.

        Gives the number of the request.
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
        """Let none begin meanwhile, as the service said that it has had too many."""
        self._closing += 1
        try:
            yield
        finally:
            self._closing -= 1
            self._admit()

    def learn(self, number: int, method: Method, phase: Phase, seconds: float) -> None:
        """Judge one attempt by how far it came and how long that took."""
        if phase in (Phase.LIMITED, Phase.LOST):
            # What was sent before the pace was last narrowed was sent at the old one.
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
                # The place was given in the moment in which nobody wanted it any more.
                self._open -= 1
                self._admit()
            raise

    def _admit(self) -> None:
        """Give free places to those who wait; a place counts as taken from here on."""
        while self._waiting and self._has_room:
            place = self._waiting.popleft()
            if not place.done():
                self._open += 1
                place.set_result(None)
