"""Runs command lines of one tree for compare_commits.py, with time and chance pinned.

    PYTHONPATH=TREE python -P compare_runner.py         # tasks on stdin, an answer a line
    PYTHONPATH=TREE python -P compare_runner.py TASK    # one task, loading only what it uses

Each task runs as `python -m reconciler` does, in a fork of this process, which has loaded all
modules of the tree's package. Its requests are noted where they leave the HTTP client.
"""

from __future__ import annotations

import ctypes
import datetime as dt
import gc
import importlib
import json
import mmap
import os
import pkgutil
import random
import runpy
import signal
import struct
import sys
import time
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Any

PACKAGE = "reconciler"
# Imported within functions, so that loading the package does not load them.
HEAVY = ("httpx", "httpx_aiohttp", "uvicorn", "starlette.applications", "ruamel.yaml")
KILLED = 137

_clock = mmap.mmap(-1, 8)
"""The time of all forks; one that serves in the background goes along with it."""
_chance = random.Random()  # noqa: S311 - pinned on purpose


def _now() -> float:
    return float(struct.unpack("d", _clock[:])[0])


def _set_clock(seconds: float) -> None:
    _clock[:] = struct.pack("d", seconds)


def pin() -> None:
    """Replace the sources of time and of random bytes; elapsed time stays real."""
    time.time = _now
    time.time_ns = lambda: int(_now()) * 10**9
    # `datetime` is written in C and imported by name, so only its own table can be changed.
    members = gc.get_referents(dt.datetime.__dict__)[0]
    members["now"] = classmethod(lambda cls, tz=None: cls.fromtimestamp(_now(), tz))
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(dt.datetime))
    os.urandom = random._urandom = _chance.randbytes  # type: ignore[attr-defined]  # noqa: SLF001 - what `secrets` uses
    # It asks the system for random bytes by itself.
    uuid.uuid4 = lambda: uuid.UUID(bytes=os.urandom(16), version=4)


def note_requests(file: Path, deadly: int) -> None:
    """Write each request into a file as it is sent; die when number `deadly` was answered."""
    import httpx  # noqa: PLC0415 - heavy, and a cold task may not use it

    answers = 0

    def note(request: httpx.Request) -> None:
        headers = "".join(f"\n{name}: {value}" for name, value in sorted(request.headers.items()))
        body = request.content.decode("utf-8", "backslashreplace")
        with file.open("a", encoding="utf-8") as log:
            log.write(f"{request.method} {request.url}{headers}\n{body}\n\n")

    def answered() -> None:
        nonlocal answers
        answers += 1
        if answers == deadly:
            os._exit(KILLED)

    send, send_async = httpx.Client._send_single_request, httpx.AsyncClient._send_single_request  # noqa: SLF001 - the last door, where the key is in place

    def noted(self: Any, request: httpx.Request) -> httpx.Response:
        note(request)
        response = send(self, request)
        answered()
        return response

    async def noted_async(self: Any, request: httpx.Request) -> httpx.Response:
        note(request)
        response = await send_async(self, request)
        answered()
        return response

    httpx.Client._send_single_request = noted  # type: ignore[method-assign]  # noqa: SLF001 - as above
    httpx.AsyncClient._send_single_request = noted_async  # type: ignore[method-assign]  # noqa: SLF001 - as above


def load() -> None:
    """Load the package whole, so that a fork has little to load."""
    package = importlib.import_module(PACKAGE)
    names = [found.name for found in pkgutil.walk_packages(package.__path__, f"{PACKAGE}.")]
    for name in (*HEAVY, *names):
        # An extra may not be installed, and what runs apart by its path is no module.
        if not name.endswith("__main__"):
            with suppress(ImportError):
                importlib.import_module(name)
    gc.freeze()


def run(task: dict[str, Any]) -> None:
    """Become the process of a task; ends this process."""
    # What the runner itself was started with is not for the task.
    os.chdir(task["folder"])
    os.environ.clear()
    os.environ.update(task["environ"])
    kept = Path(task["kept"])
    (kept / "stdin").write_text(task["input"], encoding="utf-8")
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        flags = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        os.dup2(os.open(kept / name, flags, 0o600), number)
        mode = "r" if number == 0 else "w"
        errors = "backslashreplace" if name == "stderr" else "strict"
        setattr(sys, name, open(number, mode, encoding="utf-8", errors=errors, closefd=False))  # noqa: SIM115 - open to the end
    signal.signal(signal.SIGINT, signal.default_int_handler)
    _chance.seed(task["seed"])
    random.seed(task["seed"])
    if not task["cold"]:
        note_requests(kept / "requests", task["deadly"])
    sys.argv = [PACKAGE, *task["arguments"]]
    code: object = 0
    try:
        runpy.run_module(PACKAGE, run_name="__main__", alter_sys=True)
    except SystemExit as leaving:
        code = leaving.code or 0
    except BaseException:  # noqa: BLE001 - printed and compared
        sys.excepthook(*sys.exc_info())
        code = 1
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code if isinstance(code, int) else 1)


def _serve() -> None:
    load()
    for line in sys.stdin:
        task = json.loads(line)
        _set_clock(task["now"])
        answer = task.get("stop", 0)
        if answer:
            os.kill(answer, signal.SIGTERM)
        elif (answer := os.fork()) == 0:
            try:
                run(task)
            finally:
                os._exit(99)
        if not task.get("goes_on"):
            answer = os.waitstatus_to_exitcode(os.waitpid(answer, 0)[1])
        print(answer, flush=True)


if __name__ == "__main__":
    pin()
    if len(sys.argv) > 1:
        alone = json.loads(sys.argv[1])
        _set_clock(alone["now"])
        run(alone)
    _serve()
