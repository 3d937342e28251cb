"""`plan --watch`: a plan after each save, until a signal ends it."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
from pathlib import Path

import pytest
from harness.doors import command, of_a_terminal, read_to_end, read_until, typed
from harness.workspaces import SLO, VIEW, project_at

from reconciler.cli.plan import stamps, watched


@pytest.mark.parametrize("change", ["save", "make", "remove", "elsewhere", "nested", "replace"])
def test_changes_are_seen(tmp_path: Path, change: str) -> None:
    """A file that is saved, made, replaced or removed is a change, and so is the project file."""
    project, file, folder = tmp_path / "reconciler.yaml", tmp_path / "m/a.yaml", tmp_path / "m"
    folder.mkdir()
    file.write_text("a")
    watched_places = [folder, project]
    before = stamps(watched_places)
    assert stamps(watched_places) == before

    match change:
        case "save":
            file.write_text("other")
        case "make":
            (folder / "b.yaml").touch()
        case "remove":
            file.unlink()
        case "elsewhere":
            project.touch()
        case "nested":
            (folder / "deep").mkdir()
            (folder / "deep/c.json").touch()
        case _:
            (tmp_path / "new").write_text("b")
            (tmp_path / "new").replace(file)
    assert stamps(watched_places) != before


def test_other_files_are_no_change(tmp_path: Path) -> None:
    """What an editor or a run keeps beside the manifests is no save of theirs."""
    (tmp_path / "a.yaml").touch()
    before = stamps([tmp_path])
    (tmp_path / ".a.yaml.swp").touch()
    (tmp_path / ".reconciler").mkdir()
    (tmp_path / ".reconciler/x.json").touch()
    (tmp_path / "notes.txt").touch()

    assert stamps([tmp_path]) == before


def test_nothing_is_done_without_a_change(tmp_path: Path) -> None:
    """Work is done once at first, and then once after each change and not before."""
    file = tmp_path / "a.yaml"
    file.touch()
    pauses: list[float] = []
    done: list[int] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 3:
            file.write_text("saved")

    runs = watched(lambda: [tmp_path], lambda: done.append(len(pauses)), pause)
    assert (next(runs), done) == (1, [0])
    assert (next(runs), done) == (1, [0, 3])


@pytest.mark.parametrize("more", [("--format", "json"), ("--out", "x"), ("--exit-code",), ()])
def test_only_for_a_person(tmp_path: Path, more: tuple[str, ...]) -> None:
    """Where nobody reads along, or for anything but reading, it is a usage error."""
    assert typed("plan", str(tmp_path), "--watch", *more).code == 64


def test_on_a_terminal(tmp_path: Path) -> None:
    """A save plans again, a broken file is complained of and survived, and Ctrl-C ends it."""
    project_at(tmp_path, slo=SLO)
    outer, inner = pty.openpty()
    with subprocess.Popen(
        command("plan", "--watch"),
        cwd=tmp_path,
        env=of_a_terminal(),
        stdin=inner,
        stdout=inner,
        stderr=inner,
        start_new_session=True,
    ) as process:
        os.close(inner)
        assert b"1 to create" in read_until(outer, b"watching 2 files")
        (tmp_path / "slo.yaml").write_text("kind: [", encoding="utf-8")
        assert b"M101" in read_until(outer, b"watching 2 files")
        (tmp_path / "reconciler.yaml").write_text("nonsense: 1\n", encoding="utf-8")
        assert b"P101" in read_until(outer, b"watching 2 files")
        project_at(tmp_path, slo=SLO, view=VIEW)
        while b"2 to create" not in read_until(outer, b"watching"):
            pass
        process.send_signal(signal.SIGINT)
        read_to_end(outer)
    os.close(outer)
    assert process.returncode == 130
