"""`validate` in all environments at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from harness.golden import Golden
from harness.workspaces import Workspace, project_at

PROJECT = """\
defaultEnvironment: local
environments:
  local: {emulator: {data: x.db}, variables: {team: payments, minutes: 5, owner: a}}
  staging: {baseUrl: 'https://staging.example.com', variables: {team: payments, minutes: soon}}
  production: {baseUrl: 'https://example.com', variables: {team: payments, minutes: 7}}
"""
VIEW = """\
apiVersion: reconciler/v1
kind: SavedView
metadata: {name: %s%s}
spec:
  name: %s
  timeSelection:
    quickSelection:
      seconds: %s
"""

pytestmark = pytest.mark.promise("P40")


@pytest.fixture
def project(tmp_path: Path) -> Workspace:
    return project_at(tmp_path, PROJECT)


def view(name: str = "errors", more: str = "", title: str = "Errors", seconds: str = "900") -> str:
    return VIEW % (name, more, title, seconds)


def told(project: Workspace, *arguments: str) -> list[dict[str, Any]]:
    """Give what is complained of, without -e unless it is among the arguments."""
    complaints: list[dict[str, Any]] = project.run("validate", "--format", "json", *arguments).json[
        "complaints"
    ]
    return complaints


def test_what_holds_everywhere_is_said_once(project: Workspace) -> None:
    """A complaint of all environments is one, and names none."""
    project.write("view.yaml", view(title="${var:team}") + "  nmae: 1\n")

    (complaint,) = told(project)

    assert (complaint["code"], complaint["environments"]) == ("M303", [])
    assert complaint["message"] == "unknown field `nmae`"


def test_what_holds_in_one_names_it(project: Workspace) -> None:
    """A complaint of one environment names it, and is not made where -e asks for another."""
    project.write("view.yaml", view(seconds="${var:minutes}"))

    (complaint,) = told(project)

    assert (complaint["code"], complaint["environments"]) == ("M301", ["staging"])
    assert complaint["message"].endswith(" (in staging)")
    assert told(project, "-e", "production") == []
    assert told(project, "-e", "staging")[0]["environments"] == []


def test_what_is_said_of_several(project: Workspace, golden: Golden) -> None:
    """A variable that some environments lack is one complaint that names them all."""
    project.write("view.yaml", view(title="of ${var:owner} and ${var:nobody}"))

    some, every = told(project)

    assert (some["code"], some["environments"]) == ("M501", ["staging", "production"])
    assert every["environments"] == ["local", "staging", "production"]
    golden(every["message"])


def test_manifests_of_some_environments(project: Workspace, golden: Golden) -> None:
    """A manifest is judged where it belongs, and counts once."""
    project.write("a.yaml", view("a", ", environments: [production]", "${ref:SavedView/b}"))
    project.write("b.yaml", view("b", ", environments: [staging]"))
    project.write("c.yaml", view("c"))

    ran = project.run("validate")

    assert "(in production)" in ran.out
    golden(ran.err)


def test_twins_in_different_environments(project: Workspace) -> None:
    """Two manifests of one name are twins only where both are declared."""
    project.write("a.yaml", view("a", ", environments: [production]"))
    project.write("b.yaml", view("a", ", environments: [staging]"))

    assert told(project) == []


def test_a_plan_is_of_one_environment(project: Workspace) -> None:
    """What is wrong elsewhere does not stop a plan here."""
    project.write("view.yaml", view(seconds="${var:minutes}"))

    assert project.run("validate").code == 4
    assert project.run("plan").code == 0


def test_in_ci(project: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """`ci validate` looks at all environments too, and at one where it is told which."""
    project.write("view.yaml", view(seconds="${var:minutes}"))
    monkeypatch.chdir(project.root)

    every = Workspace(Path("validate")).run("ci")
    monkeypatch.setenv("INPUT_ENVIRONMENT", "production")
    one = Workspace(Path("validate")).run("ci")

    assert (every.code, one.code) == (4, 0)


@pytest.mark.parametrize("form", ["text", "jsonl", "sarif", "junit"])
def test_every_format_names_the_environment(project: Workspace, form: str) -> None:
    """Each format says in which environments a complaint holds."""
    project.write("view.yaml", view(seconds="${var:minutes}"))

    assert "(in staging)" in project.run("validate", "--format", form).out


def test_many_environments(project: Workspace, golden: Golden) -> None:
    """Of many environments five are named and the rest is counted; JSON has them all."""
    names = [f"e{number}" for number in range(9)]
    lines = [f"  {name}: {{variables: {{n: soon}}}}\n" for name in names]
    lines.insert(0, "environments:\n  good: {variables: {n: 1}}\n")
    project.write("reconciler.yaml", "".join(lines))
    project.write("view.yaml", view(seconds="${var:n}"))

    (complaint,) = told(project)

    golden(complaint["message"])
    assert complaint["environments"] == names
