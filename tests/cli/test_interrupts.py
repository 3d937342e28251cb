"""Signals at every moment of a run that has a name, in real processes."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import termios
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pytest
from harness.doors import APPLY, begun, cold_command, command, read_to_end, read_until
from harness.forked import Came, Launch, run_all
from harness.stores import journal_at
from harness.workspaces import PROJECT, WORKSPACE

from reconciler.applying.run import INTERRUPTED
from reconciler.cli import root
from reconciler.journal.history import History
from reconciler.journal.journal import Journal

MOMENTS = int(os.environ.get("SIGNAL_MOMENTS", "2"))
"""How many of the points of a run are tried; 0 for all."""

RESOURCES = 5


def project(folder: Path) -> Path:
    """Write a workspace with an emulator of its own."""
    folder.mkdir()
    (folder / "reconciler.yaml").write_text(PROJECT, encoding="utf-8")
    (folder / "all.yaml").write_text(WORKSPACE, encoding="utf-8")
    return folder


def chosen(points: int) -> list[int]:
    """Give the points to try, spread over all."""
    if not MOMENTS or points <= MOMENTS:
        return list(range(1, points + 1))
    return sorted({1 + number * (points - 1) // (MOMENTS - 1) for number in range(MOMENTS)})


@dataclass(frozen=True)
class Interrupted:
    """A run that was sent signals at a moment, and where it ran."""

    folder: Path
    signals: tuple[int, ...]
    came: Came


def interrupted(
    root: Path, commands: Sequence[list[str]], *signals: tuple[int, ...], applied: bool = False
) -> list[Interrupted]:
    """Run each command once for each moment and each row of signals, on copies of one folder."""
    first, counted = project(root / "first"), project(root / "counted")
    apply = [Launch(str(first), [*APPLY, "--yes"])] if applied else []
    place = first if applied else counted
    whole = run_all([*apply, *(Launch(str(place), command) for command in commands)])
    assert {came.code for came in whole} == {0}
    jobs = []
    for words, came in zip(commands, whole[len(apply) :], strict=True):
        for point, row in product(chosen(came.points), signals):
            folder = root / f"{words[0]}-{point}-{row[0]}"
            shutil.copytree(first, folder)
            jobs.append(Launch(str(folder), words, row, point))
    return [
        Interrupted(Path(job.folder), tuple(job.signals), came)
        for job, came in zip(jobs, run_all(jobs), strict=True)
    ]


def journal_of(folder: Path) -> Journal:
    """Read the journal of a folder; it can always be read (I5)."""
    file = folder / ".reconciler" / "local.journal.jsonl"
    journal = journal_at(file)
    journal.load()
    return journal


def history(folder: Path) -> History:
    """Give what the journal of a folder adds up to."""
    return journal_of(folder).history


def outcomes_of(came: Came) -> dict[str, str]:
    """Give the outcomes that were printed; none where nothing was applied."""
    found = json.loads(came.out)["outcomes"] if came.out else []
    return {value["ref"]: value["outcome"] for value in found}


@pytest.mark.promise("P43")
def test_one_signal(tmp_path: Path) -> None:
    """At any moment one signal ends an apply in good order: nothing in doubt, all of it told.

    A terminal that is closed may hang up twice, and that counts as once.
    """
    apply = [*APPLY, "--yes", "--format", "json"]
    hung_up = (signal.SIGHUP, signal.SIGHUP)
    runs = interrupted(tmp_path, [apply], (signal.SIGINT,), (signal.SIGTERM,), hung_up)

    for run in runs:
        came, outcomes, known = run.came, outcomes_of(run.came), history(run.folder)
        assert came.code == 128 + run.signals[0], came.err
        assert "Traceback" not in came.err + came.out
        assert len(outcomes) == RESOURCES or "nothing was applied" in came.err
        assert set(outcomes.values()) <= {"written", "skipped"}
        for ref, memory in known.memories.items():
            assert memory.pending is None
            assert outcomes[str(ref)] == "written"
        assert list(outcomes.values()).count("written") == len(known.memories)
    again = run_all([Launch(str(run.folder), [*APPLY, "--yes"]) for run in runs[-4:]])
    assert {came.code for came in again} == {0}


def test_two_signals(tmp_path: Path) -> None:
    """At any moment two signals end an apply at once, and what was in flight is open and named."""
    twice = (signal.SIGINT, signal.SIGINT)

    for run in interrupted(tmp_path, [[*APPLY, "--yes"]], twice):
        came, known = run.came, history(run.folder)
        assert came.code == 130, came.err
        assert "Traceback" not in came.err + came.out
        for ref in known.unsettled():
            # A dashboard is looked up by the next run; the others only a person can settle.
            settled = f"reconciler journal settle {ref} --id ID" in came.out
            assert settled or ref.kind == "Dashboard"
        for ref, memory in known.memories.items():
            assert memory.pending is None or f"{ref}: " in came.err
        untouched = RESOURCES - len(known.memories)
        assert (f"Not done ({INTERRUPTED}): " in came.out) == bool(untouched and known.memories)


LATE = """\
import atexit, os, sys
from reconciler.__main__ import main
atexit.register(lambda: os.kill(os.getpid(), {number}))
sys.argv[1:] = {arguments}
main()
"""


@pytest.mark.promise("P43")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_late_signals(tmp_path: Path, number: signal.Signals) -> None:
    """A signal to a run that has ended changes neither its code nor its words nor its journal."""
    folder = project(tmp_path / "work")
    ended = {}
    for name, arguments in (("apply", ["apply", "--yes"]), ("refused", ["apply", "--plan", "no"])):
        program = LATE.format(number=int(number), arguments=arguments)
        ended[name] = subprocess.run(
            [sys.executable, "-c", program],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    assert {name: one.returncode for name, one in ended.items()} == {"apply": 0, "refused": 4}
    for one in ended.values():
        assert "Traceback" not in one.stderr
    assert len(history(folder).memories) == RESOURCES


def test_a_signal_while_the_end_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A signal that comes while a run says how it ended is its exit code, and no traceback."""

    def interrupted_again(_: Sequence[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(root, "_run", interrupted_again)

    assert root.run(["plan"]) == 130


EARLY = """
import os, signal
from reconciler.operations import apply_plan
from reconciler.__main__ import main

interrupts = apply_plan.interrupts

def late(tell):
    os.kill(os.getpid(), signal.SIGINT)
    return interrupts(tell)

apply_plan.interrupts = late
main()
"""


def test_a_signal_before_it_is_listened_for(tmp_path: Path) -> None:
    """A signal that comes right before an apply takes signals itself ends it with its code."""
    folder = project(tmp_path / "work")
    ended = subprocess.run(
        [sys.executable, "-c", EARLY, "apply", "--yes"],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert ended.returncode == 130, ended.stderr
    assert "Traceback" not in ended.stderr
    assert history(folder).memories == {}


@pytest.mark.promise("P43")
def test_reading(tmp_path: Path) -> None:
    """A signal ends what only reads at once, without a traceback and without a word of data."""
    rows = ((signal.SIGTERM,), (signal.SIGHUP,))
    for run in interrupted(tmp_path, [["plan"], ["drift"]], *rows, applied=True):
        assert run.came.code == 128 + run.signals[0], run.came.err
        assert "Traceback" not in run.came.err
        assert run.came.out == ""


@pytest.mark.promise("P43")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_waiting_for_the_lock(tmp_path: Path, number: signal.Signals) -> None:
    """A signal ends the wait for a lock that another run holds."""
    folder = project(tmp_path / "work")
    (folder / ".reconciler").mkdir(mode=0o700)
    with (
        journal_of(folder).locked(),
        begun(folder, (*APPLY, "--yes", "--lock-timeout", "10m")) as process,
    ):
        assert process.stderr is not None
        waiting = process.stderr.readline()
        process.send_signal(number)
        _, err = process.communicate(timeout=60)

    assert "waiting" in waiting
    assert process.returncode == 128 + number
    assert "Traceback" not in err


@pytest.mark.promise("P43")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_question(tmp_path: Path, number: signal.Signals) -> None:
    """A signal at the question applies nothing, and says so."""
    folder = project(tmp_path / "work")
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        command("apply"), cwd=folder, stdin=theirs, stdout=subprocess.DEVNULL, stderr=theirs
    ) as process:
        os.close(theirs)
        shown = read_until(ours, b"Only `yes` is taken")
        process.send_signal(number)
        shown += read_to_end(ours)
        code = process.wait(timeout=60)
    os.close(ours)

    assert code == 128 + number
    assert b"nothing was applied" in shown
    assert b"Traceback" not in shown
    assert not (folder / ".reconciler" / "local.journal.jsonl").exists()


def own_terminal(theirs: int) -> None:
    """Make a terminal the one that a new process would lose."""
    os.setsid()
    fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)


@pytest.mark.promise("P43")
def test_closed_terminal(tmp_path: Path) -> None:
    """Closing the terminal at the question applies nothing, and is no yes."""
    folder = project(tmp_path / "work")
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        cold_command("apply"),
        cwd=folder,
        stdin=theirs,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        preexec_fn=lambda: own_terminal(theirs),  # noqa: PLW1509 - no threads run here
    ) as process:
        os.close(theirs)
        read_until(ours, b"Only `yes` is taken")
        os.close(ours)
        code = process.wait(timeout=60)

    assert code == 129
    assert not (folder / ".reconciler" / "local.journal.jsonl").exists()


@pytest.mark.promise("P43")
@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM, signal.SIGINT])
def test_ignored_signals(tmp_path: Path, number: signal.Signals) -> None:
    """A signal that a run was told to ignore, as `nohup` does, stops nothing."""
    job = Launch(str(project(tmp_path / "work")), ["apply", "--yes"], (number,), 1, ignored=number)
    (came,) = run_all([job])

    assert came.code == 0, came.err
    assert came.points > 1
    assert len(history(Path(job.folder)).memories) == RESOURCES
