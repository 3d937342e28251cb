"""A pipe in place of a file, a working folder that is gone, no room: plain errors, never a wait."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from harness.doors import typed
from harness.workspaces import VIEW, project_at

from reconciler.cli.overview import COMMANDS
from reconciler.cli.root import cli
from reconciler.runtime.regular_files import NOT_REGULAR

PROJECT = "environments:\n  local:\n    emulator: {data: .reconciler/local.db}\n"
MORE = {
    "apply": ["--yes"],
    "rollback": ["last", "--dry-run"],
    "emulator serve": ["--port", "0"],
    "policies test": ["--severity", "error"],
    "policies add": ["--yes"],
    "explain": ["M303"],
    "import": ["policies"],
    "journal settle": ["SavedView/errors", "--never-happened"],
}
PIPE = "pipe.yaml"
PLAIN = (0, 4, 8, 64)


def with_files() -> Iterator[tuple[str, str]]:
    """Yield each command, and each of its options and arguments that names a file."""
    waiting: list[tuple[str, click.Command]] = []
    context = click.Context(cli)
    for name in COMMANDS:
        command = cli.get_command(context, name)
        assert command is not None
        waiting.append((name, command))
    while waiting:
        name, command = waiting.pop()
        if isinstance(command, click.Group):
            for word in command.list_commands(context):
                inner = command.get_command(context, word)
                assert inner is not None
                waiting.append((f"{name} {word}", inner))
            continue
        for param in command.params:
            if isinstance(param.type, click.Path):
                yield name, param.opts[0] if isinstance(param, click.Option) else ""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project with a view, and a pipe that nothing writes to."""
    made = project_at(tmp_path, PROJECT, view=VIEW)
    os.mkfifo(tmp_path / PIPE)
    monkeypatch.chdir(made.root)
    return tmp_path


@pytest.mark.promise("S32")
@pytest.mark.parametrize(("command", "option"), sorted(set(with_files())))
def test_a_pipe_in_place_of_a_file(folder: Path, command: str, option: str) -> None:
    """A pipe that is named where a command wants a file is an error, and is not waited for."""
    del folder
    flag = [option] if option else []
    ran = typed(*command.split(), *flag, PIPE, *MORE.get(command, []))

    assert ran.code in PLAIN
    assert "internal error" not in ran.err
    if option == "--project" and command in ("plan", "validate", "drift"):
        assert NOT_REGULAR in ran.err
    # Without a terminal nothing is approved, wherever it would go.
    names_it = option in ("--plan", "--out", "--from") and command != "approve"
    if command == "emulator serve" or names_it:
        assert ran.code != 0
        assert PIPE in ran.err


@pytest.mark.promise("S32")
@pytest.mark.parametrize("expression", ["${file:pipe.yaml}", "${file:/dev/zero}"])
def test_a_pipe_in_a_manifest(folder: Path, expression: str) -> None:
    """A pipe or a device that a manifest names is a complaint about the manifest."""
    text = VIEW.replace("name: Errors", f"name: '{expression}'")
    (folder / "view.yaml").write_text(text, encoding="utf-8")
    ran = typed("validate", "view.yaml")

    assert (ran.code, "internal error" in ran.err) == (4, False)


@pytest.mark.promise("S32")
@pytest.mark.parametrize("command", ["validate", "plan", "apply --yes", "ci validate", "init"])
def test_a_working_folder_that_is_gone(tmp_path: Path, command: str) -> None:
    """In a folder that was removed every command is a usage error that names the folder."""
    before = Path.cwd()
    (tmp_path / "gone").mkdir()
    try:
        os.chdir(tmp_path / "gone")
        (tmp_path / "gone").rmdir()
        ran = typed(*command.split())
    finally:
        os.chdir(before)

    assert ran.code == 64
    assert "the working folder" in ran.err


@pytest.mark.promise("S32")
@pytest.mark.parametrize("lack", ["no folder", "no space"])
def test_no_room_for_temporary_files(
    folder: Path, monkeypatch: pytest.MonkeyPatch, lack: str
) -> None:
    """Without room for temporary files a run is exit 4 with the remedy, and no bug."""
    (folder / PIPE).unlink()
    if lack == "no folder":
        monkeypatch.setattr(tempfile, "tempdir", None)
        monkeypatch.setattr(tempfile, "_candidate_tempdir_list", lambda: ["/proc"])
    else:

        def full(*_: object, **__: object) -> str:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/tmp/x")  # noqa: S108 - a name

        monkeypatch.setattr(tempfile, "mkdtemp", full)
    ran = typed("ci", "plan")
    told = ran.out + ran.err

    assert (ran.code, "set TMPDIR" in told) == (4, True)
    assert "internal error" not in told
