"""The command line as a process of its own: in a pipe, and on a terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

COMMAND = (sys.executable, "-m", "reconciler")


@dataclass(frozen=True)
class Shown:
    """What a process printed: on its terminal, and on a stdout that was a pipe instead."""

    code: int
    terminal: str
    out: str = ""


def environment(**more: str) -> dict[str, str]:
    """Give the environment of this process without what would change colour or target."""
    left_out = {"NO_COLOR", "FORCE_COLOR", "COLUMNS", "RECONCILER_BASE_URL"}
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
    return {**kept, "TERM": "xterm", **more}


def start(
    arguments: Sequence[str], folder: Path, more: Mapping[str, str] | None = None
) -> subprocess.Popen[bytes]:
    """Start a command in a pipe."""
    return subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=folder,
        env=environment(**(more or {})),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def on_terminal(
    arguments: Sequence[str],
    folder: Path,
    *,
    width: int = 80,
    typed: str = "",
    piped: bool = False,
    more: Mapping[str, str] | None = None,
) -> Shown:
    """Run a command on a terminal of so many columns; `piped` leads stdout elsewhere.

    Both are read at once: a command that fills one would wait there for ever.
    """
    outer, inner = pty.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    with (
        subprocess.Popen(
            [*COMMAND, *arguments],
            cwd=folder,
            env=environment(**(more or {})),
            stdin=inner,
            stdout=subprocess.PIPE if piped else inner,
            stderr=inner,
        ) as process,
        ThreadPoolExecutor(1) as beside,
    ):
        os.close(inner)
        os.write(outer, typed.encode())
        printed = None if process.stdout is None else beside.submit(process.stdout.read)
        shown = read_to_end(outer)
        out = b"" if printed is None else printed.result()
        code = process.wait(60)
    os.close(outer)
    return Shown(code, shown.decode().replace("\r\n", "\n"), out.decode())


def read_until(descriptor: int, words: bytes) -> bytes:
    """Read what a terminal shows until these words are among it."""
    shown = b""
    while words not in shown:
        shown += os.read(descriptor, 65_536)
    return shown


def read_to_end(descriptor: int) -> bytes:
    """Read what a terminal shows until its other end is closed."""
    shown = b""
    while chunk := _chunk(descriptor):
        shown += chunk
    return shown


def _chunk(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65_536)
    except OSError:
        # The system's way to say that the other end of a terminal is closed.
        return b""
