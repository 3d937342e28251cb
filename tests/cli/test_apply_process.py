"""`apply` as a process: signals, questions, consent, and what a review is worth."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from harness.doors import (
    APPLY,
    KEY,
    begun,
    command,
    environment,
    in_a_process,
    in_this_process,
    read_to_end,
    read_until,
)
from harness.served import Served
from harness.workspaces import journal, wait_for, workspace


@contextmanager
def on_its_way(
    folder: Path, service: Served, *, is_cold: bool = False
) -> Iterator[subprocess.Popen[str]]:
    """Start an apply, and wait until the create of its dashboard is on its way."""
    slow = {"method": "POST", "path": "/v1/dashboards/*", "fault": {"delay": 1.5}}
    service.switch.misbehave(slow)
    words = (*APPLY, "--yes", "--format", "json")
    with begun(folder, words, environment(service.base_url), is_cold=is_cold) as process:
        wait_for(folder, '"ref":"Dashboard/checkout"', process)
        yield process
        process.kill()


@pytest.fixture
def in_flight(folder: Path, service: Served) -> Iterator[subprocess.Popen[str]]:
    with on_its_way(folder, service) as process:
        yield process


@pytest.fixture
def cold_in_flight(folder: Path, service: Served) -> Iterator[subprocess.Popen[str]]:
    with on_its_way(folder, service, is_cold=True) as process:
        yield process


@pytest.mark.promise("P43")
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_one_signal(
    folder: Path,
    service: Served,
    in_flight: subprocess.Popen[str],
    number: signal.Signals,
    code: int,
) -> None:
    """One signal: the request in flight is finished and journaled, and nothing sent after it."""
    in_flight.send_signal(number)
    out, err = in_flight.communicate(timeout=30)

    assert in_flight.returncode == code, err
    outcomes = {outcome["ref"]: outcome["outcome"] for outcome in json.loads(out)["outcomes"]}
    assert outcomes == {
        "AlertDefinition/errors": "written",
        "Dashboard/checkout": "written",
        "LogPolicySet/all": "skipped",
        "SLO/checkout": "skipped",
        "SavedView/errors": "skipped",
    }
    assert len(service.writes) == 2
    known = journal(folder, service.base_url).history
    assert all(memory.pending is None for memory in known.memories.values())


def test_two_signals(folder: Path, service: Served, in_flight: subprocess.Popen[str]) -> None:
    """The second signal leaves at once; the item in flight is open in the journal."""
    assert in_flight.stderr is not None
    in_flight.send_signal(signal.SIGINT)
    for line in in_flight.stderr:
        if "again to leave now" in line:
            break
    in_flight.send_signal(signal.SIGINT)
    in_flight.communicate(timeout=30)

    assert in_flight.returncode == 130
    entries = journal(folder, service.base_url).entries
    assert [str(getattr(entry, "ref", "")) for entry in entries][-1] == "Dashboard/checkout"
    service.switch.behave()
    assert in_this_process(folder, service.base_url, *APPLY, "--yes").code == 0
    assert service.rows("SELECT count(*) FROM dashboards") == [(1,)]


def test_nobody_to_ask(folder: Path, service: Served) -> None:
    """Without a terminal and without consent it is a usage error that names the ways out."""
    ended = in_a_process(folder, service.base_url, "apply")

    assert ended.code == 64
    assert all(flag in ended.err for flag in ("--yes", "--expect", "--plan"))
    assert service.switch.app.state.requests == type(service.switch.app.state.requests)()
    assert not (folder / ".reconciler").exists()


def answered(folder: Path, service: Served, answer: bytes) -> tuple[int, str]:
    """Apply on a terminal and answer its question; give the code and what it asked."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        command(*APPLY),
        cwd=folder,
        env=environment(service.base_url),
        stdin=theirs,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        shown = read_until(ours, b"Only `yes` is taken")
        os.write(ours, answer)
        shown += read_to_end(ours)
        code = process.wait(timeout=30)
    os.close(ours)
    return code, shown.decode()


@pytest.mark.parametrize("answer", [b"y\n", b"\n", b"YES\n", b"\x04"])
def test_any_other_answer(folder: Path, service: Served, answer: bytes) -> None:
    """On a terminal anything but `yes` applies nothing, and that is no failure."""
    code, shown = answered(folder, service, answer)

    assert code == 0
    assert "Dashboard" in shown
    assert service.writes == []


def test_yes(folder: Path, service: Served) -> None:
    """On a terminal the plan is shown, and `yes` applies it."""
    code, shown = answered(folder, service, b"yes\n")

    assert code == 0
    assert shown.index("checkout") < shown.index("Only `yes` is taken")
    assert len(service.writes) == 5


SEALED_BOARD = """\
apiVersion: reconciler/v1
kind: Dashboard
metadata: {name: secret}
spec: {dashboard: {name: S, description: "token ${secret:TOKEN}!", layout: {sections: []}}}
"""


def test_canary(folder: Path, service: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """A secret reaches the service and no other place, in good times and in bad."""
    workspace(folder, SEALED_BOARD)
    canary = "canary-secret-5c2e"
    shown = ""
    monkeypatch.setenv("TOKEN", canary)
    refusing = {
        "method": "POST",
        "times": 1,
        "fault": {"status": 400, "body": json.dumps({"message": f"bad token {canary}!"})},
    }
    service.switch.misbehave(refusing)
    steps = [
        [*APPLY, "--yes"],
        ["plan", "-v", "--out", str(folder / "plan.json")],
        ["plan", "--format", "json"],
        [*APPLY, "--yes", "--format", "json"],
        ["drift", "--format", "json"],
        ["plan"],
        ["journal", "show"],
        ["journal", "show", "--format", "json"],
    ]
    codes: list[int] = []
    for step in steps:
        # One in a process of its own: its streams are no other than those of the rest.
        door = in_this_process if codes else in_a_process
        ended = door(folder, service.base_url, *step, more={"TOKEN": canary})
        codes.append(ended.code)
        shown += ended.out + ended.err
    kept = "".join(file.read_text() for file in folder.rglob("*") if file.is_file())

    assert codes == [3, 0, 0, 0, 0, 0, 0, 0]
    assert canary not in shown + kept
    assert KEY not in shown + kept
    assert "bad token ***!" in shown
    ((record,),) = service.rows("SELECT record FROM dashboards")
    assert f"token {canary}!" in record


def test_locked(folder: Path, service: Served, cold_in_flight: subprocess.Popen[str]) -> None:
    """A second apply is refused while the first runs, and sends nothing."""
    # It stands still meanwhile, so that it cannot be over before the second has begun.
    cold_in_flight.send_signal(signal.SIGSTOP)

    ended = in_a_process(folder, service.base_url, *APPLY, "--yes")

    cold_in_flight.send_signal(signal.SIGCONT)
    assert ended.code == 5
    assert f"process {cold_in_flight.pid} on" in ended.err
    assert cold_in_flight.wait(timeout=30) == 0
    assert len(service.writes) == 5


def test_unreadable_journal(folder: Path, service: Served) -> None:
    """A journal that cannot be trusted ends every run before the first request: exit 8."""
    in_this_process(folder, service.base_url, *APPLY, "--yes")
    file = folder / ".reconciler" / "journal.jsonl"
    file.write_text(file.read_text().replace("first", "forged", 1))
    asked = len(service.switch.app.state.requests)

    codes = [
        in_this_process(folder, service.base_url, *words).code
        for words in (["plan"], [*APPLY, "--yes"], ["drift"], ["journal", "verify"])
    ]

    assert codes == [8, 8, 8, 8]
    assert len(service.switch.app.state.requests) == asked


def test_full_disk(folder: Path, service: Served) -> None:
    """Where the journal cannot be written, nothing is sent: exit 8."""
    (folder / ".reconciler").mkdir(mode=0o700)
    limited = "import resource,sys; resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200)); "
    program = limited + "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
    program += "from reconciler.cli.root import run; sys.exit(run(sys.argv[1:]))"

    ended = subprocess.run(
        [sys.executable, "-c", program, *APPLY, "--yes"],
        cwd=folder,
        env=environment(service.base_url),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )

    assert ended.returncode == 8, ended.stderr
    assert "cannot be written" in ended.stderr
    assert service.writes == []


@pytest.mark.promise("P43")
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_signal_while_planning(
    folder: Path, service: Served, number: signal.Signals, code: int
) -> None:
    """A signal before anything is written ends the run at once, without a traceback."""
    service.switch.misbehave({"method": "GET", "fault": {"delay": 5.0}})
    with begun(folder, ("plan",), environment(service.base_url)) as process:
        while not service.switch.asked:
            assert process.poll() is None
            threading.Event().wait(0.01)
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
    service.switch.behave()

    assert process.returncode == code
    assert "Traceback" not in err
    assert out == ""
