"""A disk that is really full, or really read-only, under the journal.

It is a file system in memory of one megabyte, so these tests need to mount one.
"""

from __future__ import annotations

import contextlib
import errno
import json
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest import mock

import pytest
from harness.doors import Ran, typed
from harness.repositories import repository
from harness.workspaces import VIEW, Workspace

from reconciler.runtime import failpoints
from reconciler.runtime.failpoints import Point

SECRET = "canary-secret-5c2e"  # noqa: S105 - a canary, to be looked for
PAGE = 4096
PROJECT = """\
manifests: [.]
environments:
  local:
    emulator: {data: data/local.db}
    journal: disk/journal.jsonl
"""


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """Mount one megabyte where the journal will be."""
    folder = tmp_path / "project" / "disk"
    folder.mkdir(parents=True)
    mounted = mount("-t", "tmpfs", "-o", "size=1m,mode=0700", "none", str(folder))
    if mounted:
        pytest.skip(f"a file system cannot be mounted here: {mounted}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)  # noqa: S607 - of the PATH


def mount(*arguments: str) -> str:
    """Mount as told; say why that is not possible here, "" where it was."""
    if shutil.which("mount") is None:
        return "there is no command for it"
    ran = subprocess.run(
        ["mount", *arguments],  # noqa: S607 - of the PATH
        capture_output=True,
        check=False,
        text=True,
    )
    return ran.stderr.strip() or "refused" if ran.returncode else ""


@pytest.fixture
def workspace(disk: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """Give a project whose journal is on that disk, and which declares one saved view."""
    for name in ("RECONCILER_BASE_URL", "RECONCILER_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("RECONCILER_ACTOR", "someone")
    monkeypatch.setenv("TOKEN", SECRET)
    made = Workspace(disk.parent)
    made.write("reconciler.yaml", PROJECT)
    declare(made, "")
    return made


def declare(workspace: Workspace, words: str) -> None:
    """Declare the view; of its query the words are no secret."""
    view = {
        "name": "Errors",
        "timeSelection": {"quickSelection": {"seconds": 900}},
        "searchQuery": {"query": "level:error ${secret:TOKEN}" + words},
    }
    envelope = {"apiVersion": "reconciler/v1", "kind": "SavedView"}
    whole = {**envelope, "metadata": {"name": "errors"}, "spec": view}
    workspace.write("view.yaml", json.dumps(whole))


def fill(disk: Path) -> None:
    """Leave not one page of a disk free."""
    with contextlib.suppress(OSError), (disk / "filler").open("wb", buffering=0) as stream:
        while True:
            stream.write(b"x" * PAGE)


def make_room(disk: Path) -> None:
    """Take away what filled a disk."""
    (disk / "filler").unlink()


@contextlib.contextmanager
def once_at(place: Point, deed: Callable[[], None]) -> Iterator[None]:
    """Let something happen the first time that a run is at a point."""
    passed: list[Point] = []

    def watcher(point: Point) -> None:
        if point is place and not passed:
            passed.append(point)
            deed()

    with mock.patch.object(failpoints, "_watchers", [watcher]):
        yield


def views(workspace: Workspace) -> list[int]:
    """Give the ids of the views that the service holds."""
    data = workspace.root / "data" / "local.db"
    with contextlib.closing(sqlite3.connect(data)) as connection:
        return [found for (found,) in connection.execute("SELECT id FROM saved_views")]


def fill_page(workspace: Workspace, disk: Path) -> None:
    """Declare so many words that what follows a `started` entry needs a page of its own.

    A page that is begun still takes lines when the disk is full.
    """
    sizes: list[int] = []
    journal = disk / "journal.jsonl"
    with once_at(Point.BEFORE_WRITTEN, lambda: sizes.append(journal.stat().st_size)):
        assert workspace.apply().code == 0
    shutil.rmtree(workspace.root / "data")
    for file in disk.iterdir():
        file.unlink()
    declare(workspace, "w" * (-sizes[0] % PAGE))


def applied_on_full_disk(workspace: Workspace, disk: Path) -> Ran:
    """Apply on a disk that is full by the time the view was created."""
    fill_page(workspace, disk)
    with once_at(Point.BEFORE_WRITTEN, lambda: fill(disk)):
        return workspace.apply()


def test_full_before_the_write(workspace: Workspace, disk: Path) -> None:
    """Where a disk is full before the write, nothing is sent; once there is room it is written."""
    with once_at(Point.BEFORE_STARTED, lambda: fill(disk)):
        ran = workspace.apply()

    assert ran.code == 8
    assert "No space left" in ran.err
    assert views(workspace) == []
    make_room(disk)
    assert workspace.apply().code == 0
    assert len(views(workspace)) == 1


def test_full_from_the_beginning(workspace: Workspace, disk: Path) -> None:
    """Where not even the lock can be signed, nothing is asked and nothing sent."""
    fill(disk)
    ran = workspace.apply()

    assert ran.code == 8
    assert "No space left" in ran.err
    make_room(disk)
    assert workspace.apply().code == 0
    assert len(views(workspace)) == 1


def test_full_after_the_write(
    workspace: Workspace, disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a full disk cannot take is saved elsewhere, and a person settles with what it says."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    ran = applied_on_full_disk(workspace, disk)

    assert ran.code == 8
    (rescue,) = tmp_path.glob("reconciler-journal-*.jsonl")
    assert str(rescue) in ran.err
    (entry,) = map(json.loads, rescue.read_text("utf-8").splitlines())
    assert (entry["entry"], entry["ref"]) == ("written", "SavedView/errors")
    assert views(workspace) == [entry["remoteId"]]
    assert SECRET not in rescue.read_text("utf-8") + ran.out + ran.err
    make_room(disk)
    assert workspace.apply().code == 7
    project = str(workspace.root / "reconciler.yaml")
    said = ["SavedView/errors", "--id", str(entry["remoteId"])]
    assert typed("journal", "settle", *said, "--project", project).code == 0
    assert workspace.apply().code == 0
    assert views(workspace) == [entry["remoteId"]]
    assert {change["action"] for change in workspace.plan()["changes"]} == {"keep"}


def test_full_everywhere(workspace: Workspace, disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the temporary folder is full too, the error itself holds the entry, and no secret."""
    monkeypatch.setattr(tempfile, "tempdir", str(disk))
    ran = applied_on_full_disk(workspace, disk)

    assert ran.code == 8
    (made,) = views(workspace)
    assert f'"remoteId": {made}' in ran.err
    assert list(disk.glob("reconciler-journal-*")) == []
    assert SECRET not in ran.out + ran.err
    make_room(disk)
    assert workspace.apply().code == 7
    assert views(workspace) == [made]


def test_read_only(workspace: Workspace, disk: Path) -> None:
    """On a read-only disk nothing is sent and a plan is still made; writable again, all goes on."""
    assert workspace.apply().code == 0
    (made,) = views(workspace)
    declare(workspace, " more")
    assert mount("-o", "remount,ro", str(disk)) == ""
    ran = workspace.apply()
    planned = workspace.run("plan", "--exit-code")

    assert (ran.code, planned.code) == (8, 2)
    assert "Read-only file system" in ran.err
    assert mount("-o", "remount,rw", str(disk)) == ""
    assert {change["action"] for change in workspace.plan()["changes"]} == {"update"}
    assert workspace.apply().code == 0
    assert views(workspace) == [made]


@pytest.fixture
def in_git(tmp_path: Path) -> Workspace:
    """Give a project whose journal is a ref of its repository's remote."""
    made = Workspace(repository(tmp_path / "shared"))
    made.settle(PROJECT.replace("disk/journal.jsonl", "git:refs/reconciler/local"))
    made.write("view.yaml", VIEW)
    return made


@pytest.mark.promise("S50")
@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/tmp']"),
    ],
)
def test_no_room_beside_a_journal_in_git(
    in_git: Workspace, monkeypatch: pytest.MonkeyPatch, error: OSError
) -> None:
    """Where git has no room to work, the journal cannot be read: exit 8, as under a file."""
    monkeypatch.setattr(tempfile, "mkdtemp", mock.Mock(side_effect=error))

    for command in ("plan", "journal verify"):
        options = ["--path"] if command.startswith("journal") else []
        ran = typed(*command.split(), *options, str(in_git.root))
        assert (ran.code, str(error.strerror) in ran.err) == (8, True), (command, ran.err)
    assert in_git.apply().code == 8


@pytest.mark.promise("S50")
def test_full_under_git(in_git: Workspace, disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that is really full under the work of git ends a run with 8, before any request."""
    monkeypatch.setattr(tempfile, "tempdir", str(disk))
    fill(disk)
    ran = in_git.apply()

    assert ran.code == 8, ran.err
    assert "No space left" in ran.err
    make_room(disk)
    assert in_git.apply().code == 0
