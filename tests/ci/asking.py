"""A client whose requests respx routes to the fake forge, and two that take turns."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import httpx
import respx
from harness.forge import REPOSITORY, TOKEN, FakeForge

from reconciler.ci.forge import Client, Repository

URL = "https://forge.example.com"


def routed(forge: FakeForge, before: Callable[[], None] = lambda: None) -> httpx.MockTransport:
    """Give what asks the fake at once. `before` is called ahead of each request."""

    def answer(request: httpx.Request) -> httpx.Response:
        before()
        token = request.headers["authorization"].removeprefix("Bearer ")
        body = json.loads(request.content or b"null")
        status, headers, document = forge.answer(request.method, str(request.url), token, body)
        return httpx.Response(status, headers=headers, json=document)

    router = respx.MockRouter()
    router.route(url__startswith=URL).mock(side_effect=answer)
    return httpx.MockTransport(router.handler)


@contextmanager
def asking(
    forge: FakeForge,
    token: str = TOKEN,
    waited: list[float] | None = None,
    before: Callable[[], None] = lambda: None,
) -> Iterator[Repository]:
    """Open the fake's repository; nobody waits, and `waited` notes how long it would have been."""
    noted = waited if waited is not None else []
    transport = routed(forge, before)
    with Client(URL, f"{URL}/graphql", token, transport, noted.append) as client:
        yield Repository(client, REPOSITORY)


@dataclass
class Turns:
    """Two runs whose requests come in a given order: who is next at each step, 0 or 1.

    A run that has ended is passed over, and what the order leaves open the runs
    do one after the other.
    """

    order: Sequence[int]
    _condition: threading.Condition = field(default_factory=threading.Condition)
    _waiting: set[int] = field(default_factory=set)
    _done: set[int] = field(default_factory=set)
    _turn: int = -1
    _failures: list[BaseException] = field(default_factory=list)

    def play(self, *runs: Callable[[Callable[[], None]], None]) -> None:
        """Let the runs go, and raise what one of them raised."""
        threads = [
            threading.Thread(target=self._run, args=(number, run))
            for number, run in enumerate(runs)
        ]
        for thread in threads:
            thread.start()
        for number in (*self.order, *(number for number in range(len(runs)) for _ in range(100))):
            with self._condition:
                self._condition.wait_for(lambda: len(self._waiting | self._done) == len(runs))
                if len(self._done) == len(runs):
                    break
                if number in self._done:
                    continue
                self._waiting.discard(number)
                self._turn = number
                self._condition.notify_all()
        for thread in threads:
            thread.join()
        if self._failures:
            raise self._failures[0]

    def _run(self, number: int, run: Callable[[Callable[[], None]], None]) -> None:
        try:
            run(lambda: self._wait(number))
        except BaseException as error:  # noqa: BLE001 - raised where the runs were started
            self._failures.append(error)
        with self._condition:
            self._done.add(number)
            self._condition.notify_all()

    def _wait(self, number: int) -> None:
        with self._condition:
            self._waiting.add(number)
            self._condition.notify_all()
            self._condition.wait_for(lambda: self._turn == number)
            self._turn = -1
