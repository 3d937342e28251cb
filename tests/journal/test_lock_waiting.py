"""Waiting for a lock, and what is kept of one."""

from __future__ import annotations

import pytest
from harness.golden import Golden
from hypothesis import given
from hypothesis import strategies as st

from reconciler.errors import Locked
from reconciler.journal.store import (
    Lease,
    LockRecord,
    LockTimeout,
    parse_record,
    record_text,
    taken_in_time,
)


class Clock:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        """Move on."""
        self.slept.append(seconds)
        self.now += seconds

    def patience(self, seconds: float) -> LockTimeout:
        """Give patience by this clock."""
        return LockTimeout(seconds, lambda: self.now, self.sleep)


def take(clock: Clock, patience: float, free_at: float) -> list[str]:
    """Take a lock that is free from a moment on; give what was told."""
    told: list[str] = []

    def attempt() -> None:
        if clock.now < free_at:
            raise Locked("held by alice")

    taken_in_time(attempt, clock.patience(patience), told.append)
    return told


def test_free_lock() -> None:
    """A free lock is taken at once, without a word."""
    clock = Clock()

    assert take(clock, 60, 0) == []
    assert clock.slept == []


def test_no_patience() -> None:
    """Without patience a held lock is refused at once."""
    clock = Clock()

    with pytest.raises(Locked):
        take(clock, 0, 1)
    assert clock.slept == []


def test_waiting() -> None:
    """The holder is told once, and the lock is taken soon after it is free."""
    clock = Clock()

    assert take(clock, 60, 7) == ["held by alice; waiting for at most 60 s"]
    assert 7 <= clock.now < 12


def test_patience_ends() -> None:
    """Nobody waits longer than asked for."""
    clock = Clock()

    with pytest.raises(Locked, match="alice"):
        take(clock, 30, 1000)
    assert clock.now == 30


texts = st.text(max_size=20)
leases = st.builds(
    Lease,
    owner=texts,
    host=texts,
    pid=st.integers(),
    since=texts,
    expires=texts,
    actor=texts,
    run=texts,
)


@given(st.none() | leases, texts)
def test_record(lease: Lease | None, ended: str) -> None:
    """A lock's record is read back the same."""
    record = LockRecord(lease, ended)

    assert parse_record(record_text(record)) == record


@given(st.binary(max_size=60))
def test_any_record(content: bytes) -> None:
    """Any content of a lock is read as some record."""
    assert isinstance(parse_record(content), LockRecord)


def test_record_of_the_version_before(golden: Golden) -> None:
    """A lock that the version before wrote still names its holder."""
    found = parse_record(b'{"pid": 7, "host": "h", "since": "2025-01-31T09:00:00Z"}')

    assert found.lease is not None
    golden(found.lease.words)
