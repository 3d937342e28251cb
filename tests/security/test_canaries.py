"""The watch over the whole suite is awake."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from harness.canaries import Watch
from harness.doors import KEY


def test_told_canary(tmp_path: Path) -> None:
    """A canary in a text or in what a run left is found; a mask for the CI runner is none."""
    watch = Watch()
    (tmp_path / ".reconciler").mkdir()
    (tmp_path / ".reconciler" / "x").write_text(f"a {KEY} b")
    (tmp_path / "input").write_text(KEY)

    watch.look("stdout", f"error: {KEY}")
    watch.look("stderr", b"nothing")
    watch.look("log", f"::add-mask::{KEY}\n")
    watch.look_into(tmp_path)
    (tmp_path / ".reconciler" / "x").unlink()

    assert watch.places == ["stdout", str(Path(".reconciler", "x"))]


def test_whole_suite_is_watched(capsys: pytest.CaptureFixture[str]) -> None:
    """Reading the output of a command goes past the watch, in this process and another."""
    ended = subprocess.run([sys.executable, "-c", "print(1)"], capture_output=True, check=True)

    assert ended.stdout == b"1\n"
    assert "watched" in subprocess.Popen.communicate.__qualname__
    assert "watched" in type(capsys).readouterr.__qualname__
