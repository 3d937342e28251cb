"""Runs of the real command line that are sent signals at a point of theirs.

Started as a program, it reads jobs from stdin, forks a process for each, which
spares the loading, and prints what became of them.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Job:
    """One command line in a folder, and the signals it is sent at a point, counted from 1.

    It is started with the signal `ignored`; 0 is none.
    """

    folder: str
    arguments: list[str]
    signals: list[int]
    point: int = 0
    ignored: int = 0


@dataclass(frozen=True)
class Came:
    """What became of a job; `points` counts those that were reached."""

    code: int
    out: str
    err: str
    points: int


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


def _child(job: Job) -> None:
    from reconciler.commands.root import run  # noqa: PLC0415 - loaded before the fork
    from reconciler.points import Point, watch  # noqa: PLC0415 - loaded before the fork

    os.chdir(job.folder)
    # What starts the tests may ignore it, and a program keeps that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # The run that loaded all left its handlers.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    if job.ignored:
        signal.signal(job.ignored, signal.SIG_IGN)
    for stream, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), stream)
    reached = 0

    def passing(_: Point) -> None:
        nonlocal reached
        reached += 1
        if reached == job.point:
            for number in job.signals:
                os.kill(os.getpid(), number)

    watch(passing)
    code = run(job.arguments)
    sys.stdout.flush()
    sys.stderr.flush()
    Path("points").write_text(str(reached), encoding="utf-8")
    os._exit(code)


def _run(job: Job) -> Came:
    pid = os.fork()
    if pid == 0:
        try:
            _child(job)
        finally:
            os._exit(99)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    folder = Path(job.folder)
    points = folder / "points"
    out, err = ((folder / name).read_text(encoding="utf-8") for name in ("out", "err"))
    return Came(code, out, err, int(points.read_text("utf-8")) if points.exists() else 0)


def _warm(folder: Path) -> None:
    """Apply once in this process, so that each fork finds all loaded and built."""
    from reconciler.commands.root import run  # noqa: PLC0415 - heavy, and for the program only

    with tempfile.TemporaryDirectory() as place:
        copy = shutil.copytree(folder, Path(place) / "copy")
        words = io.StringIO()
        with contextlib.redirect_stdout(words), contextlib.redirect_stderr(words):
            run(["apply", "--new-journal", "--yes", str(copy)])


def _main() -> None:
    jobs = [Job(**job) for job in json.load(sys.stdin)]
    _warm(Path(jobs[0].folder))
    sys.stdout.write(json.dumps([asdict(_run(job)) for job in jobs]))


if __name__ == "__main__":
    _main()
