"""`guards:` in the project file, and the page that explains it."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from harness.doors import typed
from harness.golden import Golden
from harness.workspaces import Workspace, edit, examples_at

from reconciler.project import Guards
from reconciler.workspace.project_file import load_project

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "guards.md"


def complaints(folder: Path, guards: str) -> list[str]:
    """Give what is said of a project file with these guards."""
    file = folder / "reconciler.yaml"
    file.write_text(f"environments:\n  local:\n    guards: {guards}\n", encoding="utf-8")
    return [
        f"{complaint.message} -> {complaint.suggestion}"
        if complaint.suggestion
        else complaint.message
        for complaint in load_project(file)[1]
    ]


@pytest.mark.parametrize(
    ("guards", "said"),
    [
        ("{kinds: {Dashbord: {minimum: 5}}}", "unknown kind `Dashbord`"),
        ("{kinds: {Dashboard: {minimun: 5}}}", "-> minimum"),
        ("{kinds: {Dashboard: {allow: []}}}", "unknown setting `allow`"),
        ("{kinds: {Dashboard: {maxChanges: -1}}}", "`maxChanges` must"),
        ("{allow: [slo-target-lowerd]}", "-> slo-target-lowered"),
        ("{allow: [protected]}", "`protected` cannot be allowed"),
        ("{allow: [destroys]}", "`destroys` cannot be allowed"),
        ("{allow: [too-many-changes]}", "`too-many-changes` cannot be allowed"),
        ("{levels: {destroys: review}}", "`destroys` must be 'explicit'"),
        ("{levels: {slo-target-lowerd: explicit}}", "-> slo-target-lowered"),
        ("{levels: {R/none: explicit}}", "unknown code `R/none`"),
        ("{levels: {takes-over: explicit}, allow: [takes-over]}", "`takes-over` is of level"),
        ("{maxChangePercent: 101}", "`maxChangePercent` must"),
    ],
)
def test_misspelled(tmp_path: Path, guards: str, said: str) -> None:
    """A guard that would guard nothing is an error, with what was meant."""
    found = complaints(tmp_path, guards)

    assert len(found) == 1
    assert said in found[0]


def test_documented_settings(tmp_path: Path) -> None:
    """The settings on the page are valid, and they are all that there are."""
    (block,) = re.findall(r"```yaml\n(environments:.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    file = tmp_path / "reconciler.yaml"
    file.write_text(block, encoding="utf-8")

    project, found = load_project(file)

    assert found == []
    assert project is not None
    guards = project.settings.environments["production"].guards
    assert guards.model_fields_set == Guards.model_fields.keys()
    assert guards.of("AlertDefinition").max_change_percent == 10
    assert guards.of("AlertDefinition").max_changes == guards.of("SLO").max_changes == 50


def test_documented_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The example on the page runs as it says, on a copy of the examples."""
    shop = examples_at(tmp_path / "shop").root
    monkeypatch.chdir(shop)
    (block,) = re.findall(r"```sh\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    shown = ""
    for line in block.splitlines():
        words = shlex.split(line.split("  #")[0])
        if words[0] == "sed":
            _, old, new, _ = words[2].split("/")
            edit(shop, old, new, words[3])
        else:
            ran = typed(*words[1:])
            assert ran.code == 0
            shown = ran.out
            remark = line.partition("  # ")[2]
            assert "must consent" not in remark or remark.partition(":")[0] in shown

    assert "agreed with the checkout team" in shown


BOARD = """\
apiVersion: reconciler/v1
kind: Dashboard
metadata: {name: checkout, protect: %s}
spec: {dashboard: {name: Checkout, description: %s, layout: {sections: []}}}
"""


def test_protection_on_the_command_line(workspace: Workspace) -> None:
    """Review and apply say the same: refused with 11, lifted alone with 2 to do, then changed."""

    def declare(protect: str, description: str) -> None:
        workspace.write("board.yaml", BOARD % (protect, description))

    declare("true", "first")
    assert workspace.apply().code == 0
    declare("false", "second")
    reviewed = workspace.plan()
    refused = workspace.apply()
    declare("false", "first")
    lifting = workspace.run("plan", "--exit-code")
    lifted = workspace.apply("--format", "json")
    settled = workspace.run("plan", "--exit-code")
    declare("false", "second")

    (guard,) = reviewed["guards"]
    assert (guard["code"], guard["ref"]) == ("protected", "Dashboard/checkout")
    assert len(guard["waysOut"]) == 3
    assert refused.code == 11
    assert all(way in refused.err for way in (guard["message"], "[protected]", *guard["waysOut"]))
    assert (lifting.code, lifted.code, settled.code) == (2, 0, 0)
    assert "its protection ends" in lifting.out
    assert lifted.json["outcomes"] == []
    assert workspace.apply().code == 0


@pytest.mark.parametrize("protect", ["yes", '"true"', "1", "null"])
def test_odd_protection(workspace: Workspace, protect: str, golden: Golden) -> None:
    """`protect` is true or false: anything else is an error, and no silent false."""
    workspace.write("board.yaml", BOARD % (protect, "first"))

    ran = workspace.run("validate")

    assert ran.code == 4
    golden(ran.out + ran.err)


def test_one_run_entry(workspace: Workspace) -> None:
    """An apply that writes anything begins with its own entry; one that does not adds nothing."""
    workspace.write("board.yaml", BOARD % ("false", "first"))
    digest = workspace.plan()["digest"]
    workspace.apply()
    workspace.apply()

    file = workspace.root / ".reconciler" / "local.journal.jsonl"
    _, *entries = map(json.loads, file.read_text("utf-8").splitlines())

    assert [entry["entry"] for entry in entries].count("run") == 1
    assert entries[0]["entry"] == "run"
    assert (entries[0]["command"], entries[0]["digest"]) == ("apply", digest)


@pytest.mark.parametrize("out", ["missing/plan.json", ".", "all.yaml/plan.json"])
def test_out_of_reach(workspace: Workspace, out: str) -> None:
    """`--out` into a place that cannot be written is told before anything is asked."""
    workspace.write("all.yaml", BOARD % ("false", "first"))

    ran = workspace.run("plan", "--out", str(workspace.root / out))

    assert ran.code == 4
    assert "cannot be written" in ran.err
    assert not (workspace.root / ".reconciler").exists()


@pytest.mark.parametrize(
    "out", ["all.yaml", "reconciler.yaml", "notes.txt", ".reconciler/local.journal.jsonl"]
)
def test_out_onto_a_file_of_others(workspace: Workspace, out: str, golden: Golden) -> None:
    """`--out` replaces an earlier plan and an empty file, and nothing else: exit 4, all unread."""
    workspace.write("all.yaml", BOARD % ("false", "first"))
    workspace.write("notes.txt", "mine")
    assert workspace.apply().code == 0
    before = (workspace.root / out).read_bytes()

    ran = workspace.run("plan", "--out", str(workspace.root / out))

    assert (ran.code, ran.out) == (4, "")
    golden(ran.err)
    assert (workspace.root / out).read_bytes() == before
    workspace.write("plan.json", "")
    for _ in range(2):
        assert workspace.run("plan", "--out", str(workspace.root / "plan.json")).code == 0
    assert json.loads((workspace.root / "plan.json").read_text("utf-8"))["formatVersion"]
