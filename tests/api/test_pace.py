"""How many requests are open at once, whatever the service does."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import httpx
import pytest
from harness.routes import DASHBOARDS
from harness.wire import FakeTime, asked
from hypothesis import given
from hypothesis import strategies as st

from reconciler.api.client import Api
from reconciler.api.retry import Method, Phase
from reconciler.api.wire import SLOW_SECONDS, Pace

Behaviour = Callable[[int], Awaitable[httpx.Response]]
FINE = {"dashboard": {"id": "a"}}


async def through(pace: Pace, method: Method, phase: Phase, seconds: float, count: int) -> None:
    """Let so many attempts end the same way, one after the other."""
    for _ in range(count):
        async with pace.slot() as number:
            pace.learn(number, method, phase, seconds)


def test_a_burst_halves_it_once() -> None:
    """All that were open when the service had too many count as one refusal, the next as another.

    It is never closed for good.
    """

    async def burst(pace: Pace) -> list[int]:
        widths = []
        for _ in range(6):
            slots = [pace.slot() for _ in range(pace.width)]
            numbers = [await slot.__aenter__() for slot in slots]
            for number in numbers:
                pace.learn(number, "GET", Phase.LIMITED, 0.0)
            for slot in slots:
                await slot.__aexit__(None, None, None)
            widths.append(pace.width)
        return widths

    assert asyncio.run(burst(Pace(16))) == [8, 4, 2, 1, 1, 1]


@pytest.mark.parametrize("phase", [Phase.LIMITED, Phase.LOST])
def test_it_comes_back(phase: Phase) -> None:
    """Round by round of good answers one more may be open, up to the limit and not above it."""

    async def learn(pace: Pace) -> list[int]:
        await through(pace, "GET", phase, 0.1, 1)
        widths = [pace.width]
        for _ in range(6):
            await through(pace, "GET", Phase.ANSWERED, 0.1, pace.width)
            widths.append(pace.width)
        return widths

    assert asyncio.run(learn(Pace(8))) == [4, 5, 6, 7, 8, 8, 8]


def test_slow_answers_narrow_it() -> None:
    """A round that takes twice what the fastest took, and hurts, leaves a quarter less open."""

    async def learn(*rounds: float) -> int:
        pace = Pace(16)
        for seconds in rounds:
            await through(pace, "GET", Phase.ANSWERED, seconds, 16)
        return pace.width

    assert asyncio.run(learn(0.6, SLOW_SECONDS + 0.3)) == 12
    assert asyncio.run(learn(0.6, SLOW_SECONDS + 0.1)) == 16
    assert asyncio.run(learn(0.01, SLOW_SECONDS - 0.1)) == 16


def test_writes_are_not_measured_by_reads() -> None:
    """A write takes longer than a read, and is no sign of a service that has too much."""

    async def learn(pace: Pace) -> int:
        await through(pace, "GET", Phase.ANSWERED, 0.01, 16)
        await through(pace, "POST", Phase.ANSWERED, 5.0, 16)
        return pace.width

    assert asyncio.run(learn(Pace(16))) == 16


def test_no_connection_says_nothing_of_the_pace() -> None:
    """What never reached the service is no sign of one that has too much."""

    async def learn(pace: Pace) -> int:
        await through(pace, "GET", Phase.NOT_SENT, 9.0, 40)
        return pace.width

    assert asyncio.run(learn(Pace(16))) == 16


@dataclass
class Watched:
    """Whoever goes through a pace, and how many there were at once."""

    pace: Pace
    open: int = 0
    done: int = 0
    broken: list[str] = field(default_factory=list)

    async def go(self, phase: Phase, seconds: float, turns: int) -> None:
        """Hold a place for some turns of the loop, and tell what came of it."""
        async with self.pace.slot() as number:
            self.open += 1
            if self.open > self.pace.most:
                self.broken.append(f"{self.open} at once")
            try:
                for _ in range(turns):
                    await asyncio.sleep(0)
                self.pace.learn(number, "GET", phase, seconds)
            finally:
                self.open -= 1
        self.done += 1


GOING = st.tuples(
    st.sampled_from([Phase.ANSWERED, Phase.LIMITED, Phase.LOST, Phase.NOT_SENT]),
    st.sampled_from([0.1, 3.0]),
    st.integers(0, 3),
    st.one_of(st.none(), st.integers(0, 6)),
)


@given(st.integers(1, 5), st.lists(GOING, max_size=25))
def test_nobody_is_forgotten(most: int, going: list[tuple[Phase, float, int, int | None]]) -> None:
    """Whatever comes of the requests, and whoever leaves, all others get their turn.

    Never are there more at once than the limit.
    """

    async def run() -> Watched:
        watched = Watched(Pace(most))
        tasks = []
        for phase, seconds, turns, leaves in going:
            task = asyncio.ensure_future(watched.go(phase, seconds, turns))
            tasks.append(task)
            if leaves is not None:
                for _ in range(leaves):
                    await asyncio.sleep(0)
                task.cancel()
        async with asyncio.timeout(10):
            await asyncio.gather(*tasks, return_exceptions=True)
        left = sum(task.cancelled() for task in tasks)
        assert watched.done + left == len(tasks)
        # Every place is free again.
        assert 1 <= watched.pace.width <= most
        async with asyncio.timeout(10):
            slots = [watched.pace.slot() for _ in range(watched.pace.width)]
            for slot in slots:
                await slot.__aenter__()
        return watched

    assert asyncio.run(run()).broken == []


def test_a_place_that_came_too_late() -> None:
    """Who is given a place in the moment in which it leaves passes it on."""

    async def run() -> bool:
        pace = Pace(1)
        first, third = pace.slot(), pace.slot()
        await first.__aenter__()
        second = asyncio.ensure_future(Watched(pace).go(Phase.ANSWERED, 0.1, 0))
        await asyncio.sleep(0)
        await first.__aexit__(None, None, None)
        second.cancel()
        await asyncio.wait([second])
        async with asyncio.timeout(5):
            await third.__aenter__()
        return second.cancelled()

    assert asyncio.run(run())


@dataclass
class Service(httpx.AsyncBaseTransport):
    """A service that notes who is open, and answers as it is told."""

    behave: Behaviour
    open: int = 0
    most: int = 0
    came: int = 0

    async def handle_async_request(self, _: httpx.Request) -> httpx.Response:
        """Answer one request."""
        self.open += 1
        self.came += 1
        self.most = max(self.most, self.open)
        try:
            return await self.behave(self.came)
        finally:
            self.open -= 1


async def many(api: Api, count: int) -> None:
    """Ask for so many dashboards at once."""
    await asyncio.gather(*(api.read(f"{DASHBOARDS}/{number}") for number in range(count)))


@pytest.mark.parametrize("most", [1, 3, 16])
def test_never_above_the_limit(most: int) -> None:
    """As many requests are open as the project file allows, and no more however fast it goes."""

    async def answer(_: int) -> httpx.Response:
        await asyncio.sleep(0)
        return httpx.Response(200, json=FINE)

    service = Service(answer)
    asked(service, lambda api: many(api, 200), requestsAtOnce=most)

    assert service.most == most


def test_a_high_limit_is_reached_step_by_step() -> None:
    """With a limit above the usual number that one is open first, and more while it goes well."""

    async def answer(_: int) -> httpx.Response:
        await asyncio.sleep(0.0001)
        return httpx.Response(200, json=FINE)

    service = Service(answer)
    asked(service, lambda api: many(api, 400), requestsAtOnce=24)

    assert 16 < service.most <= 24


def test_none_begins_while_one_waits_to_be_allowed() -> None:
    """After a 429 all hold back until it has been waited for."""
    asleep, begun = 0, []

    class Dozing(FakeTime):
        """A clock whose sleep lasts for many turns of the loop."""

        async def sleep(self, seconds: float) -> None:
            """Let time pass, and others go on meanwhile."""
            nonlocal asleep
            asleep += 1
            for _ in range(50):
                await asyncio.sleep(0)
            await FakeTime.sleep(self, seconds)
            asleep -= 1

    async def answer(number: int) -> httpx.Response:
        begun.append(asleep)
        await asyncio.sleep(0)
        if number == 5:
            return httpx.Response(429, headers={"Retry-After": "7"})
        return httpx.Response(200, json=FINE)

    service, time = Service(answer), Dozing()
    asked(service, lambda api: many(api, 60), time=time)

    assert time.slept == [7.0]
    assert service.came == 61
    # Four had their turn already when the fifth was refused.
    assert sum(begun) <= 4
