"""A watch over the whole suite: no test's key or secret is in an output or a journal.

Tests name what must not be told `canary-key-…`, `canary-token-…` or
`canary-secret-…`. What they read of a command, in this process or another, and
what a run left under `.reconciler` or as a journal, is searched.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness import doors

CANARY = re.compile(r"canary-(?:key|token|secret)-[0-9a-f]{4,}")
# How a CI runner is told what to hide; nobody sees such a line.
MASK = re.compile(r"(?m)^::add-mask::.*$")


class Watch:
    """Where a canary was found."""

    def __init__(self) -> None:
        self.places: list[str] = []

    def look(self, place: str, text: str | bytes | None) -> None:
        """Search one text."""
        if isinstance(text, bytes):
            text = text.decode("utf-8", "replace")
        if text and CANARY.search(MASK.sub("", text)):
            self.places.append(place)

    def look_into(self, folder: Path) -> None:
        """Search what runs leave behind in a folder."""
        for file in folder.rglob("*"):
            ours = ".reconciler" in file.parts or "journal" in file.name
            # The emulator keeps what was sent to it, secrets too.
            if ours and file.is_file() and ".db" not in file.name:
                self.look(str(file.relative_to(folder)), file.read_bytes())


@pytest.fixture(autouse=True)
def no_canary_is_told(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """Fail a test in which a canary was told, and say where."""
    folder = request.getfixturevalue("tmp_path") if "tmp_path" in request.fixturenames else None
    watch = Watch()
    _watch_processes(watch, monkeypatch)
    _watch_this_process(watch, monkeypatch)
    yield
    if folder is not None:
        watch.look_into(folder)
    if watch.places:
        pytest.fail(f"a canary was told: {', '.join(watch.places)}")


def _watch_processes(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    communicate = subprocess.Popen.communicate

    def watched(process: subprocess.Popen[Any], *arguments: Any, **named: Any) -> Any:
        out, err = communicate(process, *arguments, **named)
        watch.look("stdout of a process", out)
        watch.look("stderr of a process", err)
        return out, err

    monkeypatch.setattr(subprocess.Popen, "communicate", watched)


def _watch_this_process(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    read = pytest.CaptureFixture.readouterr

    def watched(capture: pytest.CaptureFixture[str]) -> Any:
        captured = read(capture)
        watch.look("stdout", captured.out)
        watch.look("stderr", captured.err)
        return captured

    monkeypatch.setattr(pytest.CaptureFixture, "readouterr", watched)
    monkeypatch.setattr(doors, "searched", [watch.look])
