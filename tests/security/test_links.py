"""A link in a change leads nowhere that the change could not be read or written itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from harness.doors import typed
from harness.golden import Golden
from harness.repositories import git
from harness.workspaces import PROJECT, Workspace

CANARY = "canary-of-a-file-9b1c"
SECRET = f"[core]\n  token = {CANARY}\n"
VIEW = """\
apiVersion: reconciler/v1
kind: SavedView
metadata: {name: errors}
spec:
  name: Errors
  searchQuery: {query: x}
  timeSelection: {quickSelection: {caption: x, seconds: 900}}
  filters: {filters: []}
"""
COMMANDS = ("validate", "plan", "apply", "drift")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Give a project in a repository, and beside it a file that is none of its business."""
    (tmp_path / "secret").write_text(SECRET, encoding="utf-8")
    made = Workspace(tmp_path / "work")
    made.write("reconciler.yaml", PROJECT)
    git(made.root, "init", "--quiet")
    (made.root / ".git" / "config").write_text(SECRET, encoding="utf-8")
    return made


def ran(workspace: Workspace, command: str, *arguments: str) -> tuple[int, str]:
    """Run a command; give its exit code and all that it told."""
    arguments = (*arguments, *(["--yes"] if command == "apply" else []))
    ended = workspace.run(command, *arguments)
    return ended.code, ended.out + ended.err


@pytest.mark.promise("P5")
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("named", [False, True], ids=["found", "named"])
def test_a_linked_project_file(workspace: Workspace, command: str, named: bool) -> None:
    """A linked project file is complained of at its place, and nothing of its target is told."""
    project = workspace.root / "reconciler.yaml"
    project.unlink()
    project.symlink_to(workspace.root.parent / "secret")
    code, told = ran(workspace, command, *(["--project", str(project)] if named else []))

    assert code == 4
    assert "error[M112]" in told
    assert "--> reconciler.yaml" in told
    assert CANARY not in told
    assert "[core]" not in told


@pytest.mark.promise("P5")
@pytest.mark.parametrize("target", ["nowhere", "reconciler.yaml", ".", "/dev/stdin", "in.yaml"])
def test_other_linked_project_files(workspace: Workspace, target: str) -> None:
    """Wherever a link leads, it is not followed and no other project file takes its place."""
    (workspace.root.parent / "reconciler.yaml").write_text("environments: {outer: {}}\n")
    workspace.write("in.yaml", PROJECT)
    (workspace.root / "reconciler.yaml").unlink()
    (workspace.root / "reconciler.yaml").symlink_to(target)
    code, told = ran(workspace, "validate")

    assert (code, "this file is a link" in told) == (4, True)


@pytest.mark.promise("P5")
def test_a_linked_project_file_in_a_job(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job tells nothing of the target either: neither in its log nor in summary and SARIF."""
    project = workspace.root / "reconciler.yaml"
    project.unlink()
    project.symlink_to(workspace.root.parent / "secret")
    summary, sarif = workspace.root.parent / "summary", workspace.root.parent / "x.sarif"
    monkeypatch.chdir(workspace.root)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    monkeypatch.setenv("INPUT_SARIF_FILE", str(sarif))
    ran = typed("ci", "validate")
    told = ran.out + summary.read_text("utf-8") + sarif.read_text("utf-8")

    assert (ran.code, "this file is a link" in told) == (4, True)
    assert CANARY not in told
    assert "[core]" not in told


@pytest.mark.promise("S31")
@pytest.mark.parametrize("where", ["in a repository", "in a workspace", "in no repository"])
@pytest.mark.parametrize("given", ["project", "path"])
@pytest.mark.parametrize("command", ["validate", "plan", "apply", "drift", "matrix"])
def test_a_linked_folder_in_a_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, given: str, where: str
) -> None:
    """A job reads nothing through a folder that is a link, be that the folder of a repository."""
    elsewhere, root = tmp_path / "elsewhere", tmp_path / "work"
    (elsewhere / ".git").mkdir(parents=True)
    root.mkdir()
    (elsewhere / "reconciler.yaml").write_text(SECRET, encoding="utf-8")
    (root / "shop").symlink_to(elsewhere)
    if where == "in a repository":
        git(root, "init", "--quiet")
    elif where == "in a workspace":
        monkeypatch.setenv("GITHUB_WORKSPACE", str(root))
    named = {"project": "shop/reconciler.yaml", "path": "shop"}
    monkeypatch.setenv(f"INPUT_{given.upper()}", named[given])
    monkeypatch.chdir(root)
    ran = typed("ci", command, *(["--shards", "1"] if command == "matrix" else []))
    told = ran.out + ran.err

    assert (ran.code, "shop is a link" in told) == (4, True)
    assert CANARY not in told
    assert "[core]" not in told


@pytest.mark.promise("P5")
def test_the_folder_is_the_links_own(workspace: Workspace) -> None:
    """Manifests are looked for where the project file stands, whatever way leads there."""
    (workspace.root.parent / "way").symlink_to(workspace.root)
    workspace.write("bad.yaml", "kind: Nothing\n")
    _, told = ran(
        workspace, "validate", "--project", f"{workspace.root.parent}/way/reconciler.yaml"
    )

    assert "--> bad.yaml:1:" in told


@pytest.mark.promise("P5")
@pytest.mark.parametrize("way", ["manifest", "export"])
@pytest.mark.parametrize("target", [".git/config", "../secret"])
def test_what_git_keeps(workspace: Workspace, way: str, target: str, golden: Golden) -> None:
    """Neither a linked manifest nor an export tells what git keeps, a job's token among it."""
    if way == "manifest":
        (workspace.root / "a.yaml").symlink_to(target)
    else:
        workspace.write(
            "a.yaml",
            "apiVersion: reconciler/v1\nkind: Dashboard\nmetadata: {name: a}\n"
            f"spec: {{file: {json.dumps(target)}}}\n",
        )
    code, told = ran(workspace, "validate")

    assert code == 4
    golden(told)
    assert CANARY not in told
    assert "[core]" not in told


OUTSIDE = {
    "above": "../outside/x",
    "far above": "a/../../outside/x",
    "by a folder": "led/x",
    "by a file": "link",
}


@pytest.mark.promise("P6", "P3")
@pytest.mark.parametrize("command", ["plan", "apply", "drift"])
@pytest.mark.parametrize("setting", ["journal", "data"])
@pytest.mark.parametrize("path", OUTSIDE.values(), ids=OUTSIDE)
def test_paths_that_lead_out(workspace: Workspace, command: str, setting: str, path: str) -> None:
    """A relative path that leads out of the project, by a link or not, writes nothing there."""
    outside = workspace.root.parent / "outside"
    outside.mkdir()
    (workspace.root / "led").symlink_to(outside)
    (workspace.root / "link").symlink_to(outside / "x")
    inside = {"journal": ".reconciler/local.jsonl", "data": ".reconciler/local.db", setting: path}
    workspace.write(
        "reconciler.yaml",
        "environments:\n  local:\n"
        f"    emulator: {{data: {inside['data']}}}\n    journal: {inside['journal']}\n",
    )
    workspace.write("a.yaml", VIEW)
    code, told = ran(workspace, command)

    assert code == 4, told
    assert list(outside.iterdir()) == []
    if path.startswith((".", "a")):
        assert f"`{setting}` " in told
        assert f"--> reconciler.yaml:{3 if setting == 'data' else 4}:" in told
    else:
        assert f"`{path}` " in told


@pytest.mark.promise("P6")
def test_paths_that_a_person_typed(workspace: Workspace) -> None:
    """An absolute path is where a person wants it, inside the project or not."""
    outside = workspace.root.parent / "outside"
    workspace.write(
        "reconciler.yaml",
        "environments:\n  local:\n"
        f"    emulator: {{data: {outside}/x.db}}\n    journal: {outside}/x.jsonl\n",
    )
    workspace.write("a.yaml", VIEW)

    assert ran(workspace, "apply")[0] == 0
    assert {file.name for file in outside.iterdir()} >= {"x.db", "x.jsonl"}


@pytest.mark.parametrize("setting", ["journal", "data"])
def test_steps_in_an_absolute_path(workspace: Workspace, setting: str) -> None:
    """An absolute path says by itself where it leads."""
    value = {"journal": "journal: /srv/../x", "data": "emulator: {data: /srv/../x}"}[setting]
    workspace.write("reconciler.yaml", f"environments:\n  local:\n    {value}\n")
    code, told = ran(workspace, "validate")

    assert (code, f"`{setting}` must not hold `..`" in told) == (4, True)
