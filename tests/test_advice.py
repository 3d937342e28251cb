"""Every command line that is advised acts on the environment, and in the project, of the advice."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness.doors import on_terminal, typed
from test_house import python_files, syntax

ROOT = Path(__file__).parent.parent
PROJECT = """\
manifests: [.]
defaultEnvironment: production
environments:
  production: {emulator: {data: .reconciler/p.db}, journal: .reconciler/p.jsonl}
  staging: {emulator: {data: .reconciler/s.db}, journal: .reconciler/s.jsonl}
"""
SLO = """\
apiVersion: reconciler/v1
kind: SLO
metadata: {name: NAME}
spec:
  name: Checkout
  description: OURS
  targetThresholdPercentage: 99.9
  sloTimeFrame: SLO_TIME_FRAME_7_DAYS
  requestBasedMetricSli:
    goodEvents: {query: 'sum(rate(good[5m]))'}
    totalEvents: {query: 'sum(rate(total[5m]))'}
"""
ADVISED = re.compile(r"`(reconciler [^`]*)`")
OF_AN_ENVIRONMENT = re.compile(r"reconciler (journal|apply|plan|drift|policies)\b")
# What another tool calls a command is answered before an environment is known, and a suite of
# test results is called as the command.
NO_ADVICE = {"cli/other_tools.py", "cli/overview.py"}
NO_COMMAND_LINE = {"reconciler apply"}


def said(file: Path) -> Iterator[tuple[int, str]]:
    """Yield the texts of a module that no docstring, help or description is."""
    tree = syntax(file)
    unsaid: list[ast.AST] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            unsaid.append(node.value)
        elif isinstance(node, ast.Call):
            unsaid += [word.value for word in node.keywords if word.arg in ("help", "description")]
    silent = {id(one) for node in unsaid for one in ast.walk(node)}
    for one in ast.walk(tree):
        if isinstance(one, ast.Constant) and isinstance(one.value, str) and id(one) not in silent:
            yield one.lineno, one.value


@pytest.mark.promise("P49")
def test_no_message_spells_a_command_itself() -> None:
    """No text of the code spells a command that acts on an environment: `advice` gives it."""
    spelled = [
        f"{file.relative_to(ROOT)}:{line} {text}"
        for file in python_files("reconciler")
        if str(file.relative_to(ROOT / "reconciler")) not in NO_ADVICE
        for line, text in said(file)
        if OF_AN_ENVIRONMENT.search(text) and text not in NO_COMMAND_LINE
    ]

    assert spelled == []


@pytest.fixture(params=["inside", "outside", "by the project file"])
def place(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> list[str]:
    """Give the arguments that lead to a project from where the command runs."""
    project, elsewhere = tmp_path / "the project", tmp_path / "elsewhere"
    for folder in (project, elsewhere):
        folder.mkdir()
    (project / "reconciler.yaml").write_text(PROJECT)
    monkeypatch.chdir(project if request.param == "inside" else elsewhere)
    return {
        "inside": [],
        "outside": ["../the project"],
        "by the project file": ["--project", "../the project/reconciler.yaml"],
    }[request.param]


def journals(folder: Path) -> set[str]:
    """Name the environments that have a journal."""
    return {path.name for path in (folder / "the project" / ".reconciler").glob("*.jsonl")}


@pytest.mark.promise("P49")
def test_advised_names(tmp_path: Path, place: list[str]) -> None:
    """What is advised where a create looks like a rename renames in the environment planned for."""
    manifest = tmp_path / "the project" / "slo.yaml"
    for environment in ("production", "staging"):
        manifest.write_text(SLO.replace("NAME", "old"))
        done = typed("apply", "--yes", "-e", environment, *place)
        assert done.code == 0, done.err
    production = (tmp_path / "the project" / ".reconciler" / "p.jsonl").read_bytes()
    manifest.write_text(SLO.replace("NAME", "new").replace("OURS", "mine"))
    shown = typed("plan", "--format", "json", "-e", "staging", *place).json

    advised = [
        shlex.split(line)[1:]
        for objection in shown["guards"]
        for way in objection["waysOut"]
        for line in ADVISED.findall(way)
    ]
    assert [line[1] for line in advised] == ["rename", "forget"]
    assert [typed(*line).code for line in advised[:1]] == [0]

    after = typed("plan", "--format", "json", "-e", "staging", *place).json
    assert [(change["ref"], change["action"]) for change in after["changes"]] == [
        ("SLO/new", "update")
    ]
    assert (tmp_path / "the project" / ".reconciler" / "p.jsonl").read_bytes() == production


@pytest.mark.promise("P49")
def test_advised_after_a_no(tmp_path: Path, place: list[str]) -> None:
    """The command that applies a declined plan applies that, in the environment it was made for."""
    (tmp_path / "the project" / "slo.yaml").write_text(SLO.replace("NAME", "old"))
    shown = on_terminal(["apply", "-e", "staging", *place], Path.cwd(), typed="no\n", piped=True)
    found = ADVISED.search(" ".join(shown.terminal.split()))
    assert found is not None, shown.terminal

    done = typed(*shlex.split(found[1])[1:])

    assert (done.code, journals(tmp_path)) == (0, {"s.jsonl"})
