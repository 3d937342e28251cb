from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from harness.stores import journal_at
from journals import read, started, written

from reconciler.errors import Locked
from reconciler.journal.entries import Started, WrittenEntry
from reconciler.journal.store import LockTimeout
from reconciler.model import Ref


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / ".reconciler" / "local.journal.jsonl"


HOLD = """
import sys, time
from datetime import UTC, datetime
from pathlib import Path
from reconciler.journal.file_store import FileStore
from reconciler.journal.journal import Journal
journal = Journal(
    store=FileStore(Path(sys.argv[1])),
    environment="local",
    target="emulator",
    clock=lambda: datetime.now(UTC),
)
with journal.locked():
    print("locked", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def holder(file: Path) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(file)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "locked\n"
        yield process
        process.kill()


def test_locked(file: Path, holder: subprocess.Popen[str]) -> None:
    """A second run is refused, and told which process holds the lock and since when."""
    with (
        pytest.raises(Locked, match=f"process {holder.pid} on .* since 20") as raised,
        journal_at(file).locked(),
    ):
        pytest.fail("two runs hold one lock")
    assert raised.value.exit_code == 5


def test_dead_holder(file: Path, holder: subprocess.Popen[str]) -> None:
    """The lock dies with its process, even when it is killed."""
    holder.send_signal(signal.SIGKILL)
    holder.wait()

    with journal_at(file).locked():
        pass


def test_reading_while_locked(file: Path, holder: subprocess.Popen[str]) -> None:
    """Reading needs no lock."""
    assert holder.poll() is None
    assert read(file).entries == []


ROUNDS = int(os.environ.get("RECONCILER_RACES", "3"))


def _race(file: Path, name: str, begin: Any, losses: Any) -> None:
    """Try once to write a run's two entries, holding the lock until all others have lost."""
    journal = journal_at(file)
    begin.wait()
    try:
        with journal.locked():
            journal.append([started(Ref("SLO", name))])
            for _ in range(begin.parties - 1):
                assert losses.acquire(timeout=60)
            journal.append([written(Ref("SLO", name), name)])
    except Locked:
        losses.release()


@pytest.mark.parametrize("racers", [2, 5, 16])
def test_race(file: Path, racers: int) -> None:
    """Of runs that start at once one wins each time, and no other writes a line."""
    context = multiprocessing.get_context("fork")
    for number in range(ROUNDS):
        begin, losses = context.Barrier(racers, timeout=60), context.Semaphore(0)
        names = [f"round-{number}-racer-{racer}" for racer in range(racers)]
        running = [
            context.Process(target=_race, args=(file, name, begin, losses), daemon=True)
            for name in names
        ]
        for one in running:
            one.start()
        for one in running:
            one.join()

        entries = read(file).entries[2 * number :]
        assert [type(entry) for entry in entries] == [Started, WrittenEntry]
        assert len({getattr(entry, "ref", None) for entry in entries}) == 1


def _append_often(file: Path, name: str, count: int) -> None:
    for _ in range(count):
        journal = journal_at(file)
        with journal.locked(patience=LockTimeout(60)):
            journal.append([started(Ref("SLO", name))])


def test_turns(file: Path) -> None:
    """Runs that wait for each other lose no entry and break no sum."""
    context = multiprocessing.get_context("fork")
    racers = [
        context.Process(target=_append_often, args=(file, f"racer-{number}", 3), daemon=True)
        for number in range(3)
    ]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join()

    names = [entry.ref.name for entry in read(file).entries if isinstance(entry, Started)]
    assert sorted(names) == sorted(f"racer-{n}" for n in range(3) for _ in range(3))
