"""Runs on several machines that share a journal."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from harness.doors import APPLY, Ran, begun, environment, in_this_process
from harness.golden import Golden
from harness.repositories import ISOLATED, git, repository
from harness.served import Served
from harness.stores import git_store, journal_on, lease
from harness.workspaces import workspace

from reconciler.journal.journal import Journal

LEASE = lease(host="far", actor="alice")


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """Give a checkout with a workspace whose journal is in a ref of the remote."""
    checkout = repository(tmp_path / "git")
    keep_in(checkout, "git:refs/reconciler/test")
    return checkout


def keep_in(folder: Path, place: str) -> None:
    """Write the manifests, and a project file that keeps the journal in a place."""
    workspace(folder)
    environment = f"{{journal: '{place}', guards: {{allow: [takes-over]}}}}"
    (folder / "reconciler.yaml").write_text(f"environments: {{default: {environment}}}")


def run(folder: Path, service: Served, *arguments: str, **more: str) -> Ran:
    """Run one command in a checkout, as that machine would."""
    return in_this_process(folder, service.base_url, *arguments, more={**ISOLATED, **more})


def journal(folder: Path, service: Served) -> Journal:
    """Read the journal of the remote's ref."""
    found = journal_on(git_store(folder), environment="default", target=service.base_url)
    found.load()
    return found


def started(
    folder: Path, service: Served, *arguments: str, is_cold: bool = False
) -> subprocess.Popen[str]:
    """Start one command and go on."""
    environ = environment(service.base_url, **ISOLATED)
    return begun(folder, arguments, environ, is_cold=is_cold)


def test_two_machines(machine: Path, service: Served, tmp_path: Path) -> None:
    """What one machine applied, another knows: it has nothing to do, and its ids are the same."""
    other = tmp_path / "other"
    git(tmp_path, "clone", "--quiet", str(machine.parent / "remote.git"), str(other))
    keep_in(other, "git:refs/reconciler/test")

    first = run(machine, service, *APPLY, "--yes", RECONCILER_ACTOR="alice")
    second = run(other, service, *APPLY, "--yes", "--format", "json")

    assert (first.code, second.code) == (0, 0), first.err + second.err
    assert json.loads(second.out)["outcomes"] == []
    told = json.loads(run(other, service, "journal", "history", "--format", "json").out)
    assert [(value["actor"], value["command"]) for value in told] == [("alice", "apply")]
    assert told[0]["commit"].startswith(git(machine, "rev-parse", "HEAD"))
    assert told[0]["outcomes"] == {"written": 5}


def test_locked_elsewhere(machine: Path, service: Served, golden: Golden) -> None:
    """While another machine holds the journal nothing is sent, exit 5, and the way out is named."""
    git_store(machine).lock(LEASE)

    ended = run(machine, service, *APPLY, "--yes")
    settled = run(machine, service, "journal", "settle", "SLO/checkout", "--never-happened")
    compacted = run(machine, service, "journal", "compact")
    wrong = run(machine, service, "journal", "unlock", "owner-2")
    unlocked = run(machine, service, "journal", "unlock", "owner-1")

    assert [one.code for one in (ended, wrong, unlocked)] == [5, 5, 0]
    assert [settled.code, compacted.code] == [8, 8]  # there is no journal yet
    golden(ended.err)
    assert re.search("`reconciler journal unlock [^`]* owner-1`", ended.err)
    assert "alice" in unlocked.err
    assert service.writes == []
    assert run(machine, service, *APPLY, "--yes").code == 0


def test_waiting_for_another_machine(machine: Path, service: Served, golden: Golden) -> None:
    """With --lock-timeout a run waits, says for whom, and goes on once the lock is free."""
    store = git_store(machine)
    store.lock(LEASE)
    with started(machine, service, *APPLY, "--yes", "--lock-timeout", "60s") as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        store.release(LEASE, "")
        _, words = process.communicate(timeout=60)

    assert "alice" in line
    # A slow start takes from the time that is left.
    golden(re.sub(r"at most \d+ s", "at most 60 s", line))
    assert process.returncode == 0, words


@pytest.mark.parametrize("duration", ["", "x", "-1", "5d", "25h", "1.5", "99999999"])
def test_wrong_duration(machine: Path, service: Served, duration: str) -> None:
    """What is no duration is a usage error, before anything is asked."""
    ended = run(machine, service, *APPLY, "--yes", "--lock-timeout", duration)

    assert ended.code == 64
    assert "duration" in ended.err


def test_paused_run(machine: Path, service: Served) -> None:
    """A run that was paused, and whose lock was taken, sends nothing after what is in flight."""
    around = service.switch.around
    paused: list[int] = []

    async def pausing(scope: Any, receive: Any, send: Any) -> None:
        if not paused and scope["method"] != "GET" and not scope["path"].endswith("/validate"):
            paused.append(process.pid)
            os.kill(process.pid, signal.SIGSTOP)
            store = git_store(machine)
            held = store.holder()
            assert held is not None
            store.unlock(held.owner)
            store.lock(replace(LEASE, owner="second"))
            os.kill(process.pid, signal.SIGCONT)
        await around(scope, receive, send)

    service.switch.around = pausing
    with started(machine, service, *APPLY, "--yes", is_cold=True) as process:
        _, words = process.communicate(timeout=60)

    assert process.returncode == 8, words  # 5 alone, had nothing been in flight
    assert len(service.writes) == 1
    assert "were saved in" in words
    saved = words.partition("were saved in ")[2].split()[0]
    assert '"entry": "written"' in Path(saved).read_text()
    Path(saved).unlink()
    assert [type(entry).__name__ for entry in journal(machine, service).entries] == [
        "RunEntry",
        "Started",
    ]


def test_bucket(tmp_path: Path, service: Served, s3: Mapping[str, str]) -> None:
    """A journal in a bucket serves two machines, and no credential is in any output."""
    machines = [tmp_path / "one", tmp_path / "two"]
    for folder in machines:
        folder.mkdir()
        keep_in(folder, "s3://journals/shared")

    ended = [run(folder, service, *APPLY, "--yes", **s3) for folder in machines]
    ended.append(run(machines[0], service, "journal", "verify", **s3))
    ended.append(run(machines[0], service, "journal", "compact", **s3))
    ended.append(run(machines[1], service, "plan", "--exit-code", **s3))

    assert [one.code for one in ended] == [0] * 5, [one.err for one in ended]
    assert "Nothing to do" in ended[1].out
    assert all("canary" not in one.out + one.err for one in ended)


@pytest.mark.parametrize("place", ["s3://journals/x", "gs://journals/x", "az://journals/x"])
def test_unreachable_bucket(tmp_path: Path, service: Served, place: str, unused_port: int) -> None:
    """A bucket that cannot be reached is error 8, and nothing is sent."""
    keep_in(tmp_path, place)
    nowhere = f"http://127.0.0.1:{unused_port}"

    ended = run(
        tmp_path,
        service,
        *(*APPLY, "--yes"),
        AWS_ENDPOINT_URL=nowhere,
        AWS_ALLOW_HTTP="true",
        AWS_ACCESS_KEY_ID="canary",
        AWS_SECRET_ACCESS_KEY="canary",  # noqa: S106 - looked for below
        AZURE_STORAGE_ACCOUNT_NAME="canary",
        AZURE_STORAGE_ACCOUNT_KEY="not base64",
        GOOGLE_SERVICE_ACCOUNT="/nowhere",
    )

    assert ended.code == 8, ended.err
    assert "Traceback" not in ended.err
    assert "canary" not in ended.err
    assert service.writes == []
