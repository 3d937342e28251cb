"""The command line in forks of a process that has loaded it, which spares a second a start.

Started as a program, it forks a keeper for each connection; the keeper forks the run, waits for
it, and stops it where the client is gone. A run has its own folder, streams, signals, umask and
environment, and the session and the limits of this process: what is about those, or about the
start itself, is a matter for `cold_command`.
"""

from __future__ import annotations

import array
import atexit
import json
import os
import runpy
import select
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import chdir, redirect_stderr, redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any, TextIO

CLIENT = Path(__file__).with_name("warm_client.py")
DESCRIPTORS = 4


def warm_command(*arguments: str) -> list[str]:
    """Return the command line of a process whose run is a fork of the warm process.

    Where the system cannot wait for a process and a connection at once, it is a start of its own.
    """
    if not hasattr(os, "pidfd_open"):
        return [sys.executable, "-m", "reconciler", *arguments]
    return [sys.executable, "-I", "-S", str(CLIENT), _address(), "", *arguments]


def warm_program(file: str, *arguments: str) -> list[str]:
    """Return the command line of a program in Python that runs in a fork of the warm process."""
    if not hasattr(os, "pidfd_open"):
        return [sys.executable, file, *arguments]
    return [sys.executable, "-I", "-S", str(CLIENT), _address(), file, *arguments]


@cache
def warm_folder() -> Path:
    """Return a folder for PATH with a `reconciler` whose runs are forks of the warm process."""
    file = Path(_address()).with_name("reconciler")
    file.write_text(f'#!/bin/sh\nexec {shlex.join(warm_command())} "$@"\n', encoding="utf-8")
    file.chmod(0o755)
    return file.parent


@cache
def _address() -> str:
    folder = tempfile.mkdtemp(prefix="warm")
    address = f"{folder}/socket"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen(32)
    # The end of this process closes its stdin, which ends it.
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    process = subprocess.Popen(
        [sys.executable, __file__, str(listener.fileno())],
        stdin=subprocess.PIPE,
        pass_fds=[listener.fileno()],
        env=environment,
    )
    listener.close()
    assert process.stdin is not None
    atexit.register(_close, process, folder)
    return address


def _close(process: subprocess.Popen[bytes], folder: str) -> None:
    assert process.stdin is not None
    process.stdin.close()
    process.wait(60)
    shutil.rmtree(folder)


def _serve(listener: socket.socket) -> None:
    _load()
    while True:
        readable, _, _ = select.select([listener.fileno(), 0], [], [])
        if 0 in readable:
            return
        connection, _ = listener.accept()
        if os.fork() == 0:
            # The keeper is no child that anything waits for.
            if os.fork() == 0:
                listener.close()
                _keep(connection)
            os._exit(0)
        os.wait()
        connection.close()


def _keep(connection: socket.socket) -> None:
    """Run what a client asks for, and tell it the process and its exit code."""
    launch, descriptors = _received(connection)
    process = os.fork()
    if process == 0:
        connection.close()
        _run(launch, descriptors)
    for descriptor in descriptors:
        os.close(descriptor)
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    connection.sendall(b"%d\n" % process)
    ended = os.pidfd_open(process)
    readable, _, _ = select.select([ended, connection.fileno()], [], [])
    if ended not in readable:
        os.kill(process, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    if ended in readable:
        connection.sendall(b"%d\n" % code)
    os._exit(0)


def _received(connection: socket.socket) -> tuple[dict[str, Any], list[int]]:
    descriptors = array.array("i")
    size, ancillary, _, _ = connection.recvmsg(8, socket.CMSG_LEN(DESCRIPTORS * 4))
    for _, _, passed in ancillary:
        descriptors.frombytes(passed)
    with connection.makefile("rb") as file:
        launch: dict[str, Any] = json.loads(file.read(int.from_bytes(size, "big")))
    return launch, list(descriptors)


def _run(launch: dict[str, Any], descriptors: list[int]) -> None:
    """Become the run: its folder, environment, streams and signals. Ends this process."""
    place, *streams = descriptors
    os.fchdir(place)
    os.close(place)
    os.umask(launch["umask"])
    os.environ.clear()
    os.environ.update(launch["environment"])
    for number, taken in zip(launch["streams"], streams, strict=True):
        os.dup2(taken, number)
        os.close(taken)
    take_signals(launch["ignored"])
    take_streams(launch["streams"])
    code: object = 0
    try:
        _start(launch["program"], launch["arguments"])
    except SystemExit as leaving:
        code = leaving.code
        if isinstance(code, str):
            sys.stderr.write(f"{code}\n")
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    os._exit(code if isinstance(code, int) else 0 if code is None else 1)


def _start(program: str, arguments: list[str]) -> None:
    from reconciler.__main__ import main  # noqa: PLC0415 - loaded before the fork

    sys.argv = [program or "reconciler", *arguments]
    if program:
        sys.path.insert(0, str(Path(program).parent))
        runpy.run_path(program, run_name="__main__")
    else:
        main()


def take_signals(ignored: list[int]) -> None:
    """Handle signals as an interpreter does when it starts."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGWINCH):
        signal.signal(number, signal.SIG_IGN if number in ignored else signal.SIG_DFL)
    if signal.SIGINT not in ignored:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def take_streams(passed: list[int]) -> None:
    """Open the streams as an interpreter does when it starts; what is closed is None."""
    for number in {0, 1, 2} - set(passed):
        os.close(number)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        stream = _stream(number, passed)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def _stream(number: int, passed: list[int]) -> TextIO | None:
    """Open a stream as an interpreter does when it starts."""
    if number not in passed:
        return None
    if number == 0:
        return open(number, encoding="utf-8", closefd=False)
    is_stderr = number == 2
    return open(
        number,
        "w",
        buffering=1 if is_stderr or os.isatty(number) else -1,
        encoding="utf-8",
        errors="backslashreplace" if is_stderr else "strict",
        newline="\n",
        closefd=False,
    )


def _load() -> None:
    """Load what commands use: run a few of them here, in a folder of their own."""
    from harness.workspaces import PROJECT, WORKSPACE  # noqa: PLC0415 - for the program only
    from reconciler.cli.root import run  # noqa: PLC0415 - for the program only

    words = StringIO()
    with (
        tempfile.TemporaryDirectory() as place,
        chdir(place),
        redirect_stdout(words),
        redirect_stderr(words),
    ):
        Path("reconciler.yaml").write_text(PROJECT, encoding="utf-8")
        Path("all.yaml").write_text(WORKSPACE, encoding="utf-8")
        run(["apply", "--new-journal", "--yes"])
        run(["plan"])
        run(["events", "list"])


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
