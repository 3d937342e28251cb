"""Runs of the real command line whose stdout or stderr is closed, full, or read by nobody.

Started as a program, it reads jobs from stdin, forks a process for each, which spares the
loading, and prints what became of them.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import asdict, dataclass
from io import StringIO
from pathlib import Path
from typing import Literal, TextIO, TypeAlias

Sink: TypeAlias = Literal["kept", "closed", "full", "unread"]


@dataclass(frozen=True)
class Job:
    """One command line in a folder, and what its streams are."""

    folder: str
    arguments: list[str]
    out: Sink = "kept"
    err: Sink = "kept"


@dataclass(frozen=True)
class Came:
    """What became of a job. What was printed where nothing is kept is ""."""

    code: int
    out: str
    err: str


def run_all(jobs: Sequence[Job]) -> list[Came]:
    """Run jobs one after the other, each in a process of its own."""
    ended = subprocess.run(
        [sys.executable, __file__],
        input=json.dumps([asdict(job) for job in jobs]),
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )
    return [Came(**came) for came in json.loads(ended.stdout)]


def _lead(number: int, sink: Sink, kept: str) -> None:
    """Lead a descriptor somewhere; a closed one leads nowhere until all others are there."""
    match sink:
        case "kept":
            os.dup2(os.open(kept, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
        case "full":
            os.dup2(os.open("/dev/full", os.O_WRONLY), number)
        case "unread":
            ours, theirs = os.pipe()
            os.dup2(theirs, number)
            os.close(ours)
            os.close(theirs)
        case "closed":
            pass


def _stream(number: int, sink: Sink) -> TextIO | None:
    """Give the stream that an interpreter begins with."""
    if sink == "closed":
        os.close(number)
        return None
    return open(number, "w", encoding="utf-8", closefd=False)


def _begin(job: Job) -> None:
    """Give this process the streams of a job, as the interpreter would."""
    _lead(1, job.out, "out.kept")
    _lead(2, job.err, "err.kept")
    sys.__stdout__ = sys.stdout = _stream(1, job.out)  # type: ignore[assignment,misc]  # as it is
    sys.__stderr__ = sys.stderr = _stream(2, job.err)  # type: ignore[assignment,misc]  # as it is


def _child(job: Job) -> None:
    from reconciler.__main__ import main  # noqa: PLC0415 - loaded before the fork

    os.chdir(job.folder)
    os.environ.pop("RECONCILER_BASE_URL", None)
    _begin(job)
    sys.argv = ["reconciler", *job.arguments]
    code: object = 0
    try:
        main()
    except SystemExit as leaving:
        code = leaving.code
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 1)


def _run(job: Job) -> Came:
    kept = [Path(job.folder) / name for name in ("out.kept", "err.kept")]
    for file in kept:
        file.unlink(missing_ok=True)
    pid = os.fork()
    if pid == 0:
        try:
            _child(job)
        finally:
            os._exit(99)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    out, err = (file.read_text("utf-8") if file.exists() else "" for file in kept)
    return Came(code, out, err)


def _warm(folder: Path) -> None:
    """Plan once in this process, so that each fork finds all loaded and built."""
    from reconciler.commands.root import run  # noqa: PLC0415 - heavy, and for the program only

    with tempfile.TemporaryDirectory() as place:
        copy = shutil.copytree(folder, Path(place) / "copy")
        words = StringIO()
        with redirect_stdout(words), redirect_stderr(words):
            run(["plan", str(copy)])
            run(["events", "list", "--project", str(copy / "reconciler.yaml")])


def _main() -> None:
    jobs = [Job(**job) for job in json.load(sys.stdin)]
    _warm(Path(jobs[0].folder))
    sys.stdout.write(json.dumps([asdict(_run(job)) for job in jobs]))


if __name__ == "__main__":
    _main()
