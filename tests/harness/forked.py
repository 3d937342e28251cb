"""Many command lines with one start: signals at points of a run, and lost streams.

Started as a program, it reads launches from stdin, forks a process for each, and prints
what became of them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from harness.warm import take_signals, take_streams, warm_program

Sink: TypeAlias = Literal["kept", "closed", "full", "unread"]
OUT, ERR, POINTS = "out.kept", "err.kept", "points.kept"


@dataclass(frozen=True)
class Launch:
    """One command line in a folder, what its streams are, and the signals that it is sent.

    They come at a point, counted from 1. It is started with the signal `ignored`; 0 is none.
    """

    folder: str
    arguments: list[str]
    signals: tuple[int, ...] = ()
    point: int = 0
    ignored: int = 0
    out: Sink = "kept"
    err: Sink = "kept"


@dataclass(frozen=True)
class Came:
    """What became of a launch; `points` counts those that were reached.

    What was printed where nothing is kept is "".
    """

    code: int
    out: str
    err: str
    points: int


def run_all(launches: Sequence[Launch]) -> list[Came]:
    """Run command lines one after the other, each in a process of its own."""
    ended = subprocess.run(
        warm_program(__file__),
        input=json.dumps([asdict(launche) for launche in launches]),
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )
    return [Came(**came) for came in json.loads(ended.stdout)]


def _lead(number: int, sink: Sink, kept: str) -> None:
    """Lead a descriptor to its sink. `closed` comes last, else another would get its number."""
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


def _begin(launch: Launch) -> None:
    """Take the streams and signals of a launch, as an interpreter does when it starts."""
    take_signals([launch.ignored] if launch.ignored else [])
    _lead(1, launch.out, OUT)
    _lead(2, launch.err, ERR)
    sinks = ((1, launch.out), (2, launch.err))
    take_streams([0, *(number for number, sink in sinks if sink != "closed")])


def _child(one: Launch) -> None:
    from reconciler.__main__ import main  # noqa: PLC0415 - loaded before the fork
    from reconciler.runtime.failpoints import Point, watch  # noqa: PLC0415 - loaded before the fork

    os.chdir(one.folder)
    os.environ.pop("RECONCILER_BASE_URL", None)
    _begin(one)
    reached = 0

    def passing(_: Point) -> None:
        nonlocal reached
        reached += 1
        if reached == one.point:
            for number in one.signals:
                os.kill(os.getpid(), number)

    watch(passing)
    sys.argv = ["reconciler", *one.arguments]
    code: object = 0
    try:
        main()
    except SystemExit as leaving:
        code = leaving.code or 0
    sys.stdout.flush()
    sys.stderr.flush()
    Path(POINTS).write_text(str(reached), encoding="utf-8")
    os._exit(code if isinstance(code, int) else 1)


def _run(one: Launch) -> Came:
    kept = [Path(one.folder) / name for name in (OUT, ERR, POINTS)]
    for file in kept:
        file.unlink(missing_ok=True)
    pid = os.fork()
    if pid == 0:
        try:
            _child(one)
        finally:
            os._exit(99)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    out, err, points = (file.read_text("utf-8") if file.exists() else "" for file in kept)
    return Came(code, out, err, int(points or 0))


def _main() -> None:
    launches = [Launch(**value) for value in json.load(sys.stdin)]
    sys.stdout.write(json.dumps([asdict(_run(launche)) for launche in launches]))


if __name__ == "__main__":
    _main()
