"""No test waits for ever: it fails at the line where it waits, and the processes it began end."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest

LONGEST = 240
"""Seconds for a test, and as much for its set-up: many times what the slowest needs."""
BETWEEN = 15
"""Seconds that what is cleaned up after it may wait at one place."""

_begun: list[subprocess.Popen[Any]] = []


class WaitedTooLongError(BaseException):
    """A test waited for longer than it may; as no Exception it is caught by nothing tested."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let long runs take their time."""
    parser.addoption(
        "--longest",
        metavar="SECONDS",
        type=int,
        default=LONGEST,
        help="fail a test that takes longer, 0 for none",
    )


def pytest_configure() -> None:
    """Note each process that a test begins."""
    begin = subprocess.Popen.__init__

    def noting(process: subprocess.Popen[Any], *given: Any, **named: Any) -> None:
        begin(process, *given, **named)
        _begun.append(process)

    subprocess.Popen.__init__ = noting  # type: ignore[assignment,method-assign]  # from now on


@contextmanager
def impatient(seconds: int, what: str) -> Iterator[None]:
    """Raise WaitedTooLongError in this thread, at what it waits for, once so long has passed."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        left = [process for process in _begun if process.poll() is None]
        for process in left:
            process.kill()
        words = ", ".join(str(process.args) for process in left)
        ended = f"; processes that were ended: {words}" if words else ""
        raise WaitedTooLongError(
            f"{what}: nothing came in {seconds} s of what is waited for{ended}"
        )

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds, BETWEEN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _bounded(item: pytest.Item, what: str) -> Generator[None]:
    seconds = item.config.getoption("--longest")
    if not seconds:
        return (yield)
    with impatient(seconds, f"{what} of {item.nodeid}"):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    """Bound the set-up of a test."""
    _begun.clear()
    return (yield from _bounded(item, "the set-up"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Bound a test."""
    return (yield from _bounded(item, "the call"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None]:
    """Bound what comes after a test."""
    return (yield from _bounded(item, "the teardown"))
