"""Runs of a PATH that is a part of the project: what is read of the rest, and what it may stop."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest
from harness.doors import Ran, typed
from harness.golden import Golden
from harness.repositories import begin
from harness.workspaces import SLO, VIEW, Workspace, project_at

from reconciler.project import Project
from reconciler.workspace.expression_scope import Scope
from reconciler.workspace.revision import branching_point, declared_at

LINKED = VIEW.replace("errors", "linked").replace("name: Errors", "name: See ${ref:SLO/checkout}")
BROKEN = VIEW.replace("seconds: 900", "secondz: 900")


@pytest.fixture
def made(tmp_path: Path) -> Workspace:
    """Give an SLO, and in a folder of its own a view that refers to it."""
    workspace = project_at(tmp_path, slo=SLO)
    workspace.write("views/linked.yaml", LINKED)
    return workspace


def run_on(made: Workspace, path: str, command: str, *arguments: str) -> Ran:
    """Run a command on one path of the project."""
    return typed(*command.split(), str(made.root / path), *arguments)


def actions(made: Workspace, path: str, *arguments: str) -> Any:
    """Give the action of each change in the plan of one path."""
    ran = run_on(made, path, "plan", "--format", "json", *arguments)
    assert ran.code == 0, ran.err
    return {change["ref"]: change["action"] for change in ran.json["changes"]}


@pytest.mark.promise("S41")
@pytest.mark.parametrize("path", ["views", "views/linked.yaml"])
def test_what_a_path_refers_to_is_read(made: Workspace, path: str) -> None:
    """What the manifests of a path refer to is read in all of the project, and not planned."""
    assert run_on(made, path, "validate").code == 0
    assert actions(made, path) == {"SavedView/linked": "blocked"}
    assert made.apply("--select", "kind=SLO").code == 0

    assert actions(made, path) == {"SavedView/linked": "create"}
    ran = run_on(made, path, "apply", "--yes", "--format", "json")

    assert ran.code == 0, ran.err
    assert [outcome["ref"] for outcome in ran.json["outcomes"]] == ["SavedView/linked"]
    assert actions(made, path) == {"SavedView/linked": "keep"}


@pytest.mark.promise("S41")
def test_errors_beside_a_path(made: Workspace, golden: Golden) -> None:
    """Errors of other files are counted, and stop no run of a path; its own errors do."""
    made.write("other.yaml", BROKEN)
    made.write("broken.yaml", "kind: [\n")
    twins = "".join(f"---\n{SLO.replace('name: checkout', 'name: twin')}" for _ in range(2))
    made.write("twins.yaml", twins)

    ran = run_on(made, "views", "validate")

    assert ran.code == 0, ran.out + ran.err
    golden(ran.err)
    advised = ran.err.split("`")[1]
    assert typed(*shlex.split(advised)[1:]).code == 4
    assert run_on(made, "views", "plan").code == 0
    made.write("views/wrong.yaml", BROKEN)
    assert run_on(made, "views", "plan").code == 4
    assert typed("validate", str(made.root / "views"), str(made.root / "none.yaml")).code == 4


@pytest.mark.promise("S41")
def test_what_no_file_declares(made: Workspace, tmp_path: Path) -> None:
    """A reference is lost where no file of the project has its target, or PATH is no part of it."""
    (made.root / "slo.yaml").unlink()
    assert "M503" in run_on(made, "views", "validate").out

    other = project_at(tmp_path / "other", "manifests: [slo.yaml]\n", slo=SLO, linked=LINKED)
    assert "M503" in run_on(other, "linked.yaml", "validate").out


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (SLO.replace("name: Checkout", 'name: "Checkout'), ":5"),
        (SLO.replace("kind: SLO", "kind: SLOO"), ":2"),
        (SLO.encode("utf-16"), ""),
    ],
)
def test_a_target_in_a_broken_file(made: Workspace, text: str | bytes, line: str) -> None:
    """A reference to what a broken file may declare has the error of that file, and its place."""
    (made.root / "slo.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
    found = typed("validate", "--format", "json", str(made.root / "slo.yaml")).json["complaints"]

    ran = run_on(made, "views", "validate", "--format", "json")

    (lost,) = ran.json["complaints"]
    assert (lost["code"], lost["file"]) == ("M503", "views/linked.yaml")
    assert found[0]["message"] in lost["message"]
    assert f" slo.yaml{line} " in lost["suggestion"]


def test_a_target_declared_twice(made: Workspace) -> None:
    """A reference to what two other files declare is no missing one: the second is the error."""
    made.write("twin.yaml", SLO)

    ran = run_on(made, "views", "validate", "--format", "json")

    assert [(found["code"], found["file"]) for found in ran.json["complaints"]] == [
        ("M401", "twin.yaml")
    ]


@pytest.mark.promise("S41")
def test_a_selection_in_a_path(made: Workspace) -> None:
    """A selection in a path counts what it leaves out of the path alone, with a cache too."""
    made.write("views/other.yaml", VIEW)
    arguments = ["--format", "json", "--select", "SavedView/linked"]
    for _ in range(2):
        ran = run_on(made, "views", "plan", *arguments)
        assert ran.json["selection"]["leftOut"] == 1, ran.err
        assert [change["ref"] for change in ran.json["changes"]] == ["SavedView/linked"]


@pytest.mark.promise("S41")
def test_a_path_of_the_base(made: Workspace, tmp_path: Path) -> None:
    """What a path of the base branch refers to makes the base no broken one."""
    begin(made.root)
    project, folder = Project(made.root), tmp_path / "base"
    folder.mkdir()
    paths = [made.root / "views"]
    found = declared_at(branching_point(made.root, "HEAD"), folder, project, Scope("local"), paths)

    assert found.wrong == ()
    assert [str(manifest.ref) for manifest in found.workspace.manifests] == ["SavedView/linked"]


@pytest.mark.promise("S41")
def test_secrets_beside_a_path(made: Workspace) -> None:
    """A secret of the files beside a path need not be set."""
    made.write("secret.yaml", VIEW.replace("name: Errors", "name: a ${secret:NOT_SET}"))

    assert actions(made, "views") == {"SavedView/linked": "blocked"}
