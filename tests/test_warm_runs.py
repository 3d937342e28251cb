"""A run in a fork of the warm process shows what a process of its own would show."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest
from harness.doors import cold_command, command
from harness.warm import warm_program


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_killed(tmp_path: Path, number: int) -> None:
    """A run that is killed looks killed."""
    file = tmp_path / "killed.py"
    file.write_text(f"import os\nos.kill(os.getpid(), {int(number)})\n", encoding="utf-8")

    assert subprocess.run(warm_program(str(file)), check=False).returncode == -number


@pytest.mark.parametrize("words", [["validate"], ["no-such"], ["--version"], ["plan", "--help"]])
def test_as_a_cold_one(tmp_path: Path, words: list[str]) -> None:
    """Streams and exit code of a command are those of a start of its own."""
    ran = [
        subprocess.run([*line, *words], cwd=tmp_path, capture_output=True, check=False)
        for line in (command(), cold_command())
    ]

    assert len({(ended.returncode, ended.stdout, ended.stderr) for ended in ran}) == 1


def test_umask_and_environment(tmp_path: Path) -> None:
    """A run has the umask and the variables of the one who starts it."""
    file = tmp_path / "asked.py"
    file.write_text("import os\nprint(os.umask(0), os.environ['MARK'])\n", encoding="utf-8")
    environ = {**os.environ, "MARK": "here"}

    ended = subprocess.run(
        warm_program(str(file)),
        env=environ,
        preexec_fn=lambda: os.umask(0o077),
        capture_output=True,
        text=True,
        check=True,
    )

    assert ended.stdout == f"{0o077} here\n"
