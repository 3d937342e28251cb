from __future__ import annotations

import multiprocessing
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from journals import journal_at, read, started

from reconciler.errors import Locked
from reconciler.resource import Ref


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / ".reconciler" / "local.journal.jsonl"


HOLD = """
import sys, time
from datetime import UTC, datetime
from pathlib import Path
from reconciler.journal.file_store import FileJournal
journal = FileJournal(Path(sys.argv[1]), "local", "emulator", lambda: datetime.now(UTC))
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


def _append_often(file: Path, name: str, count: int) -> None:
    done = 0
    while done < count:
        journal = journal_at(file)
        try:
            with journal.locked():
                journal.append([started(Ref("SLO", name))])
        except Locked:
            continue
        done += 1


def test_race(file: Path) -> None:
    """Runs that race for the lock lose no entry and break no sum."""
    context = multiprocessing.get_context("fork")
    racers = [
        context.Process(target=_append_often, args=(file, f"racer-{number}", 20))
        for number in range(3)
    ]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join()

    names = [entry.ref.name for entry in read(file).entries if not hasattr(entry, "reason")]
    assert sorted(names) == sorted(f"racer-{n}" for n in range(3) for _ in range(20))
