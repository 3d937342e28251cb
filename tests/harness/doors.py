"""The doors of the command line: in this process, as a process, and on a terminal."""

from __future__ import annotations

import fcntl
import io
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import click

from harness.warm import warm_command
from reconciler.cli.root import cli, run
from reconciler.runtime.cache import VARIABLE

KEY = "canary-key-8d1f77"
APPLY = ("apply", "--new-journal")
"""An apply to a service that nothing was applied to before; later it is an apply like any other."""

searched: list[Callable[[str, str], None]] = []
"""What looks at all that comes out of a door: where it was, and the text."""


@dataclass(frozen=True)
class Ran:
    """What one command line did."""

    code: int
    out: str
    err: str

    def __post_init__(self) -> None:
        """Let the watches look at it."""
        for look in searched:
            look("stdout", self.out)
            look("stderr", self.err)

    @property
    def json(self) -> Any:
        """What it printed, as JSON."""
        return json.loads(self.out)


def typed(*arguments: str) -> Ran:
    """Run a command line in this process, as it would be typed here."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="") for _ in range(2))
    with redirect_stdout(out), redirect_stderr(err):
        code = run(arguments)
    told = []
    for stream in (out, err):
        stream.flush()
        content = stream.buffer
        assert isinstance(content, io.BytesIO)
        told.append(content.getvalue().decode("utf-8"))
    return Ran(code, *told)


def typed_at(folder: Path, environ: Mapping[str, str], *arguments: str) -> Ran:
    """Run a command line as it would be typed in a folder, in an environment of its own."""
    with chdir(folder), mock.patch.dict(os.environ, environ, clear=True):
        return typed(*arguments)


def environment(base_url: str, **more: str) -> dict[str, str]:
    """Give the environment of a process: the target, the key, and nothing of this machine's."""
    names = ("PATH", "HOME", "LANG", VARIABLE)
    kept = {name: value for name, value in os.environ.items() if name in names}
    return {**kept, "RECONCILER_BASE_URL": base_url, "RECONCILER_API_KEY": KEY, **more}


def in_this_process(
    folder: Path, base_url: str, *arguments: str, more: Mapping[str, str] | None = None
) -> Ran:
    """Run one command on a folder's project, in an environment of its own."""
    environ = environment(base_url, **(more or {}))
    with mock.patch.dict(os.environ, environ, clear=True):
        return typed(*arguments, "--project", str(folder / "reconciler.yaml"))


def command(*arguments: str) -> list[str]:
    """Return the command line of a process, which is a fork of one that has loaded all."""
    return warm_command(*arguments)


def cold_command(*arguments: str) -> list[str]:
    """Return the command line of a process that loads what it uses, as a user's does."""
    return [sys.executable, "-m", "reconciler", *arguments]


def begun(
    folder: Path,
    arguments: Sequence[str],
    environ: Mapping[str, str] | None = None,
    *,
    is_cold: bool = False,
) -> subprocess.Popen[str]:
    """Start a process in a folder and go on; it has no stdin.

    Only a cold process is what its id says: a warm one is asked for by another process.
    """
    return subprocess.Popen(
        (cold_command if is_cold else command)(*arguments),
        cwd=folder,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def in_a_process(
    folder: Path, base_url: str, *arguments: str, more: Mapping[str, str] | None = None
) -> Ran:
    """Run one command in a folder, as a process of its own."""
    with begun(folder, arguments, environment(base_url, **(more or {}))) as process:
        out, err = process.communicate(timeout=60)
    return Ran(process.returncode, out, err)


@dataclass(frozen=True)
class Shown:
    """What a process printed: on its terminal, and on a stdout that was a pipe instead."""

    code: int
    terminal: str
    out: str = ""


def of_a_terminal(**more: str) -> dict[str, str]:
    """Give the environment of this process without what would change colour or target."""
    left_out = {"NO_COLOR", "FORCE_COLOR", "COLUMNS", "RECONCILER_BASE_URL"}
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
    return {**kept, "TERM": "xterm", **more}


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
            command(*arguments),
            cwd=folder,
            env=of_a_terminal(**(more or {})),
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


def lines_with_formats(command: click.Command = cli, words: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield `journal show --format json` and the like, for each format of each command."""
    if isinstance(command, click.Group):
        within = click.Context(command)
        for name in command.list_commands(within):
            inner = command.get_command(within, name)
            assert inner is not None
            yield from lines_with_formats(inner, (*words, name))
    for option in command.params:
        if option.name == "form" and isinstance(option.type, click.Choice):
            for choice in option.type.choices:
                yield f"{' '.join(words)} --format {choice}"


def without_place(text: str) -> str:
    """Leave out of advised commands the options that lead them to the same place."""
    return re.sub(r" (?:-e|--project|--path) [^\s`]+", "", text)
