"""The real command line, run in a fork of a parent that has imported everything.

The parent has no event loop and no thread when it forks, so that a child is what a
fresh process would be, some hundred milliseconds older.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import select
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from worlds import KEY, SECRET, TOKEN

from reconciler.__main__ import main
from reconciler.api.secret import Redaction
from reconciler.cli.root import run
from reconciler.kinds import KINDS
from reconciler.redaction.templates import seal
from reconciler.runtime.cache import VARIABLE

KEPT = ("PATH", "HOME", "LANG", "PYTHONPATH", VARIABLE)
PATIENCE = 300
"""Seconds for a command; most take half of one."""

Meddle = Callable[[], None]
"""Runs in the child before the command line does."""


@dataclass(frozen=True)
class Ended:
    """How a command ended; `code` is negative where a signal killed it."""

    arguments: tuple[str, ...]
    code: int
    out: str
    err: str

    @property
    def killed(self) -> bool:
        """Whether it was not let come to its end."""
        return self.code == -signal.SIGKILL


def environment(base_url: str) -> dict[str, str]:
    """Give what a command sees: the target, the key, a secret, and nothing of this machine's."""
    kept = {name: value for name, value in os.environ.items() if name in KEPT}
    own = {
        "RECONCILER_BASE_URL": base_url,
        "RECONCILER_API_KEY": KEY,
        "RECONCILER_ACTOR": "campaign",
        TOKEN: SECRET,
    }
    return {**kept, **own}


@dataclass(frozen=True)
class Child:
    """A command that runs."""

    process: int
    arguments: tuple[str, ...]
    folder: Path

    def end(self) -> Ended:
        """Wait for it, and give how it ended. Raises TimeoutError where it does not end."""
        watched = os.pidfd_open(self.process)
        came, _, _ = select.select([watched], [], [], PATIENCE)
        os.close(watched)
        if not came:
            os.kill(self.process, signal.SIGKILL)
        _, status = os.waitpid(self.process, 0)
        if not came:
            raise TimeoutError(f"reconciler {' '.join(self.arguments)} ran for {PATIENCE} s")
        out, err = (self._text(name) for name in ("out", "err"))
        return Ended(self.arguments, os.waitstatus_to_exitcode(status), out, err)

    def _text(self, name: str) -> str:
        file = self.folder / f".{self.process}.{name}"
        text = file.read_text("utf-8", "backslashreplace") if file.exists() else ""
        file.unlink(missing_ok=True)
        return text


def start(
    folder: Path, around: Mapping[str, str], arguments: Sequence[str], meddle: Meddle | None = None
) -> Child:
    """Start one command line in a folder."""
    process = os.fork()
    if process:
        return Child(process, tuple(arguments), folder)
    code = 99
    try:
        _become(folder, around, arguments)
        if meddle is not None:
            meddle()
        main()
        code = 0
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else 1
    finally:
        # Whatever comes, a child must not go on as its parent.
        try:
            _flush()
        finally:
            os._exit(code)


def _become(folder: Path, around: Mapping[str, str], arguments: Sequence[str]) -> None:
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(around)
    sys.argv = ["reconciler", *arguments]
    for stream, name in ((sys.stdout, "out"), (sys.stderr, "err")):
        file = folder / f".{os.getpid()}.{name}"
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(descriptor, stream.fileno())
        os.close(descriptor)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            # As a process whose reader has gone.
            continue


def command(
    folder: Path, around: Mapping[str, str], *arguments: str, meddle: Meddle | None = None
) -> Ended:
    """Run one command line to its end."""
    return start(folder, around, arguments, meddle).end()


def warm(folder: Path, around: Mapping[str, str]) -> None:
    """Import all that an apply imports, and work out once what follows from the models.

    A child applies and tells what it had imported by then: in this process an
    apply would leave a loop behind.
    """
    names = folder / "modules.json"

    def tell_modules() -> None:
        run(["apply", "--new-journal", "--yes", "--allow-destroy", "--override-guard", "campaign"])
        names.write_text(json.dumps(sorted(sys.modules)), encoding="utf-8")

    command(folder, around, "plan", meddle=tell_modules)
    for name in json.loads(names.read_text(encoding="utf-8")):
        if name != "__main__" and not name.startswith("_"):
            importlib.import_module(name)
    for kind in KINDS:
        kind.shape  # noqa: B018 - worked out once, and kept
    seal(SECRET, TOKEN, f"default\0{around['RECONCILER_BASE_URL']}")
    Redaction((KEY, SECRET))  # its patterns are compiled once
    validate_here(folder, around)
    gc.collect()
    gc.freeze()


def validate_here(folder: Path, around: Mapping[str, str]) -> None:
    """Validate here: that runs no event loop, and reads every model."""
    before = dict(os.environ)
    os.environ.update(around)
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        run(["validate", "--quiet", str(folder)])
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        os.environ.clear()
        os.environ.update(before)
