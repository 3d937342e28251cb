"""A process that hands its streams to a fork of the warm process, and ends as the fork does.

Imports little: it is started for each command line.
"""

import array
import json
import os
import signal
import socket
import sys

READ_AT_START = ("PYTHONIOENCODING", "PYTHONPATH", "PYTHONUTF8", "LC_ALL", "LC_CTYPE", "TZ")
"""Variables that an interpreter reads when it starts: a run with one gets a start of its own."""
FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGWINCH)


class Fork:
    """The process of the run; signals that come before it is known are kept for it."""

    def __init__(self) -> None:
        self.process = 0
        self.early: list[int] = []

    def take(self, number: int, _: object) -> None:
        """Pass a signal on."""
        if self.process:
            os.kill(self.process, number)
        else:
            self.early.append(number)

    def known(self, process: int) -> None:
        """Pass on the signals that came early."""
        self.process = process
        for number in self.early:
            os.kill(process, number)


def main() -> None:
    """Run one command line; end as it ended."""
    address, program, *arguments = sys.argv[1:]
    if not program and any(name in os.environ for name in READ_AT_START):
        cold = [sys.executable, "-m", "reconciler", *arguments]
        os.execv(sys.executable, cold)  # noqa: S606 - there is nothing for a shell
    # First of all: what is opened later would take the number of a closed stream.
    streams = [number for number in range(3) if _is_open(number)]
    ignored = [int(one) for one in FORWARDED if signal.getsignal(one) is signal.SIG_IGN]
    fork = Fork()
    for number in set(FORWARDED) - set(ignored):
        signal.signal(number, fork.take)
    launch = {
        "program": program,
        "arguments": arguments,
        "environment": dict(os.environ),
        "streams": streams,
        "ignored": ignored,
        "umask": _umask(),
    }
    code = _code_of(address, json.dumps(launch).encode(), streams, fork)
    if code < 0:
        if -code not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


def _code_of(address: str, launch: bytes, streams: list[int], fork: Fork) -> int:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address)
        passed = array.array("i", [os.open(".", os.O_RDONLY), *streams])
        rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, passed)
        connection.sendmsg([len(launch).to_bytes(8, "big")], [rights])
        connection.sendall(launch)
        answers = connection.makefile()
        fork.known(int(answers.readline()))
        # Only the run holds them from now on: what it closes is closed.
        for number in streams:
            os.close(number)
        return int(answers.readline())


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


if __name__ == "__main__":
    main()
