"""Runs limited by --select and --exclude: what they do, and what they leave alone."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from harness.doors import typed
from harness.golden import Golden
from harness.workspaces import DASHBOARD, SLO, VIEW, Workspace, project_at

SECRET_VIEW = VIEW.replace("errors", "secret").replace("name: Errors", "name: a ${secret:NOT_SET}")
LINKED = VIEW.replace("errors", "linked").replace("name: Errors", "name: See ${ref:SLO/checkout}")
LABELLED = DASHBOARD.replace("name: checkout}", "name: checkout, labels: {team: payments}}")


@pytest.fixture
def made(tmp_path: Path) -> Workspace:
    """Give an SLO, a labelled dashboard, a view that refers to the SLO and one with a secret."""
    return project_at(tmp_path, slo=SLO, board=LABELLED, linked=LINKED, secret=SECRET_VIEW)


def refs(planned: Any) -> dict[str, str]:
    """Give the action of each change in a plan."""
    return {change["ref"]: change["action"] for change in planned["changes"]}


def test_what_is_left_out_needs_no_secret(made: Workspace) -> None:
    """A selection plans and applies without the secrets of the rest, which is counted."""
    assert made.run("plan").code == 4

    planned = made.plan("--select", "label.team=payments", "--select", "kind=SLO")

    assert refs(planned) == {"Dashboard/checkout": "create", "SLO/checkout": "create"}
    assert planned["selection"] == {
        "select": ["kind=SLO", "label.team=payments"],
        "exclude": [],
        "leftOut": 2,
    }
    assert made.apply("--select", "label.team=payments", "--select", "kind=SLO").code == 0
    assert set(refs(made.plan("--exclude", "SavedView/*")).values()) == {"keep"}


def test_a_reference_to_what_is_left_out(made: Workspace) -> None:
    """A target that is not selected is looked up; without an id the change is blocked."""
    planned = made.plan("--select", "SavedView/linked")

    assert refs(planned) == {"SavedView/linked": "blocked"}
    assert planned["changes"][0]["reasons"][0] == {"code": "not-selected", "refs": ["SLO/checkout"]}
    assert made.apply("--select", "SavedView/linked").code == 3

    assert made.apply("--select", "SLO/checkout").code == 0
    assert refs(made.plan("--select", "SavedView/linked")) == {"SavedView/linked": "create"}
    assert made.apply("--select", "SavedView/linked").code == 0


def test_errors_in_what_is_left_out(made: Workspace, golden: Golden) -> None:
    """An error stops a run only where it is about what is selected, or may be."""
    made.write("bad.yaml", VIEW.replace("errors", "bad").replace("seconds: 900", "secondz: 900"))

    ran = made.run("plan", "--select", "kind=SLO")
    assert ran.code == 0
    golden(ran.err)
    assert made.run("plan", "--select", "SavedView/bad").code == 4
    assert made.run("validate", "--exclude", "SavedView/bad").code == 0
    assert made.run("validate").code == 4


def test_a_file_that_cannot_be_read(made: Workspace) -> None:
    """What a broken file declares may be selected, unless its place rules that out."""
    made.write("broken/a.yaml", "kind: [\n")

    assert made.run("plan", "--select", "kind=SLO").code == 4
    assert made.run("plan", "--select", "kind=SLO", "--exclude", "file=broken/*").code == 0
    assert made.run("plan", "--select", "file=slo.yaml").code == 0


def test_twins_beside_a_selection(made: Workspace) -> None:
    """Two manifests of one name stop a run that selects one of them by its file."""
    made.write("twin.yaml", SLO)

    assert made.run("plan", "--select", "file=slo.yaml").code == 4


def test_a_broken_export_of_what_is_selected(made: Workspace) -> None:
    """The file that a selected manifest names is a part of it, and of no other selection."""
    made.write("far/export.json", "{")
    made.write(
        "board.yaml",
        "apiVersion: reconciler/v1\nkind: Dashboard\nmetadata: {name: far}\n"
        "spec: {file: far/export.json}\n",
    )

    assert made.run("plan", "--select", "file=board.yaml").code == 4
    assert made.run("plan", "--select", "Dashboard/far").code == 4
    assert made.run("plan", "--select", "kind=SLO").code == 0


def test_a_reviewed_selection(made: Workspace, tmp_path: Path) -> None:
    """A plan of a selection is applied as that, and its digest is that of no other."""
    plan = tmp_path / "slo.plan"
    digest = made.plan("--select", "kind=SLO", "--out", str(plan))["digest"]
    same_changes = made.plan("--select", "SLO/*")["digest"]

    assert digest != same_changes
    assert made.run("apply", "--plan", str(plan), "--select", "Dashboard/*").code == 64
    assert made.run("apply", "--expect", digest, "--select", "SLO/*").code == 6
    assert made.run("apply", "--expect", digest, "--exclude", "SavedView/*").code == 6
    assert made.requests() == 0
    applied = made.run("apply", "--plan", str(plan), "--format", "json")
    assert applied.code == 0
    assert applied.json["selection"]["leftOut"] == 3
    assert [outcome["ref"] for outcome in applied.json["outcomes"]] == ["SLO/checkout"]


@pytest.fixture
def reviewed(made: Workspace, tmp_path: Path) -> list[str]:
    """Return the flags that apply the reviewed plan of all manifests."""
    (made.root / "secret.yaml").unlink()
    plan = tmp_path / "all.plan"
    made.plan("--out", str(plan))
    return ["--plan", str(plan), "--format", "json"]


@pytest.mark.promise("S24")
@pytest.mark.parametrize("paths", [["slo.yaml", "board.yaml"], []])
def test_a_plan_of_other_paths(made: Workspace, tmp_path: Path, paths: list[str]) -> None:
    """A plan file of other paths is refused in one line, which names them and what applies it."""
    (made.root / "secret.yaml").unlink()
    plan, others = tmp_path / "part.plan", [] if paths else ["slo.yaml"]
    given, instead = ([str(made.root / path) for path in element] for element in (paths, others))
    project = ["--project", str(made.root / "reconciler.yaml")]
    assert typed("plan", *project, *given, "--out", str(plan)).code == 0

    ran = typed("apply", *project, *instead, "--plan", str(plan))
    (line,) = (line for line in ran.err.splitlines() if "the reviewed plan was of" in line)
    commands = [shlex.split(said.replace("FILE", str(plan))) for said in line.split("`")[1::2]]

    assert ran.code == 6
    assert ["file=slo.yaml" in command for command in commands[1:]] == ([] if paths else [True])
    assert "since the review" not in ran.err
    assert "longer declared" not in ran.err
    assert all(path in line for path in paths)
    assert [typed(*command[1:]).code for command in reversed(commands)] == [0] * len(commands)


@pytest.mark.promise("S24")
def test_a_part_of_a_reviewed_plan(made: Workspace, reviewed: list[str]) -> None:
    """Of a reviewed plan of all, one selected change is applied, and the rest stays."""
    ran = made.run("apply", *reviewed, "--select", "SLO/checkout")

    assert ran.code == 0, ran.err
    assert [outcome["ref"] for outcome in ran.json["outcomes"]] == ["SLO/checkout"]
    assert ran.json["selection"]["leftOut"] == 2
    assert refs(made.plan())["Dashboard/checkout"] == "create"


@pytest.mark.promise("S24")
@pytest.mark.parametrize(
    ("edited", "select", "code"),
    [
        ("board.yaml", "SLO/checkout", 0),
        ("slo.yaml", "SLO/checkout", 6),
        ("slo.yaml", "Dashboard/checkout", 0),
        ("linked.yaml", "SLO/checkout", 0),
    ],
)
def test_what_of_a_part_is_as_reviewed(
    made: Workspace, reviewed: list[str], edited: str, select: str, code: int
) -> None:
    """A part is stale where a selected change is not as reviewed; other changes are one line."""
    text = (made.root / edited).read_text("utf-8").replace("description: ", "description: new ")
    text = (
        text.replace("name: Errors", "name: Others")
        .replace("See", "Look at")
        .replace("99.9", "99.95")
    )
    made.write(edited, text)

    ran = made.run("apply", *reviewed, "--select", select)

    assert ran.code == code, ran.err
    assert ("1 other change is not as reviewed" in ran.err) is (code == 0)


@pytest.mark.promise("S24")
def test_what_a_part_refers_to(made: Workspace, tmp_path: Path) -> None:
    """What a selected change refers to must be as reviewed too."""
    (made.root / "secret.yaml").unlink()
    assert made.apply("--select", "SLO/checkout").code == 0
    plan = tmp_path / "later.plan"
    made.plan("--out", str(plan))
    text = (made.root / "slo.yaml").read_text("utf-8")
    made.write(
        "slo.yaml",
        text.replace("targetThresholdPercentage: 99.9", "targetThresholdPercentage: 99.95"),
    )

    ran = made.run("apply", "--plan", str(plan), "--select", "SavedView/linked")

    assert ran.code == 6
    assert "SLO/checkout" in ran.err


@pytest.mark.promise("S24")
def test_what_of_a_part_is_done(made: Workspace, reviewed: list[str]) -> None:
    """What was applied as reviewed is no difference for the rest, nor for what waited for it."""
    assert made.run("apply", *reviewed, "--select", "SLO/checkout").code == 0

    rest = made.run("apply", *reviewed, "--select", "SLO/*", "--select", "SavedView/*")
    last = made.run("apply", *reviewed, "--select", "Dashboard/*")

    assert rest.code == last.code == 0, rest.err + last.err
    assert [outcome["ref"] for outcome in rest.json["outcomes"]] == ["SavedView/linked"]
    assert "not as reviewed" not in rest.err + last.err


@pytest.mark.promise("S24")
def test_the_whole_after_its_parts(made: Workspace, reviewed: list[str]) -> None:
    """A whole plan whose parts were applied has only the rest to do, and at last nothing."""
    assert made.run("apply", *reviewed, "--select", "SLO/checkout").code == 0
    rest = made.run("apply", *reviewed)
    requests = made.requests()
    done = made.run("apply", *reviewed)

    assert rest.code == done.code == 0, rest.err + done.err
    written = [outcome["ref"] for outcome in rest.json["outcomes"]]
    assert written == ["Dashboard/checkout", "SavedView/linked"]
    assert (done.json["outcomes"], made.requests()) == ([], requests)


@pytest.mark.promise("S24")
@pytest.mark.parametrize("edited", ["slo.yaml", "board.yaml"])
def test_the_whole_after_a_part_and_an_edit(
    made: Workspace, reviewed: list[str], edited: str
) -> None:
    """A whole plan is stale where what is done or left is not as reviewed; just that is told."""
    assert made.run("apply", *reviewed, "--select", "SLO/checkout").code == 0
    text = (made.root / edited).read_text("utf-8")
    made.write(edited, text.replace("description: ", "description: new ").replace("99.9", "99"))

    ran = made.run("apply", *reviewed)

    assert ran.code == 6
    assert ("SLO/checkout:" in ran.err, "Dashboard/checkout:" in ran.err) == (
        edited == "slo.yaml",
        edited == "board.yaml",
    )
    assert "SavedView/linked:" not in ran.err


@pytest.mark.promise("S24")
@pytest.mark.parametrize("field", ["description", "title"])
def test_what_of_a_part_is_done_otherwise(made: Workspace, tmp_path: Path, field: str) -> None:
    """What was applied since with another value, or with more than was reviewed, is not done."""
    (made.root / "secret.yaml").unlink()
    text = (made.root / "slo.yaml").read_text("utf-8")
    plan = tmp_path / "all.plan"
    made.plan("--out", str(plan))
    other = {"description": text + "  description: more\n", "title": text.replace("99.9", "99.95")}
    made.write("slo.yaml", other[field])
    assert made.apply("--select", "SLO/checkout").code == 0

    ran = made.run("apply", "--plan", str(plan), "--select", "SavedView/*")

    assert ran.code == 6
    assert "SLO/checkout" in ran.err


@pytest.mark.promise("S24")
def test_updates_of_a_part_that_are_done(made: Workspace, tmp_path: Path) -> None:
    """An update that was applied as reviewed counts as done, one of a value that moved does not."""
    (made.root / "secret.yaml").unlink()
    assert made.apply().code == 0
    made.write("board.yaml", LABELLED.replace("description: ", "description: new "))
    made.write("slo.yaml", SLO.replace("99.9", "99.95"))
    plan = tmp_path / "all.plan"
    made.plan("--out", str(plan))
    flags = ["--plan", str(plan), "--select", "Dashboard/*", "--select", "SLO/*"]
    assert made.run("apply", *flags[:4]).code == 0
    done = made.plan("--select", "Dashboard/*")["summary"]["keep"]

    ran = made.run("apply", *flags)

    assert (done, ran.code) == (1, 0), ran.err
    made.write("board.yaml", LABELLED.replace("description: ", "description: newer "))
    assert made.apply().code == 0
    assert made.run("apply", *flags).code == 6


@pytest.mark.promise("S24")
def test_a_part_that_waits(made: Workspace, reviewed: list[str]) -> None:
    """A selected change that waits for the id of one that is not selected is a usage error."""
    ran = made.run("apply", *reviewed, "--select", "SavedView/linked")

    assert ran.code == 64
    assert "waits for SLO/checkout" in ran.err
    assert (
        made.run("apply", *reviewed, "--select", "kind=SavedView", "--select", "kind=SLO").code == 0
    )


@pytest.mark.promise("S24")
def test_guards_of_a_part(tmp_path: Path) -> None:
    """Only the guards of what is selected ask for consent."""
    other = SLO.replace("name: checkout", "name: other")
    made = project_at(
        tmp_path, slo=SLO, other=other, board=LABELLED.replace("labels", "protect: true, labels")
    )
    assert made.apply().code == 0
    made.write("slo.yaml", SLO.replace("99.9", "99"))
    made.write("board.yaml", LABELLED.replace("description: ", "description: new "))
    plan = tmp_path / "all.plan"
    guards = [guard["code"] for guard in made.plan("--out", str(plan))["guards"]]

    assert sorted(guards) == ["protected", "slo-target-lowered"]
    assert made.run("apply", "--plan", str(plan)).code == 11
    assert made.run("apply", "--plan", str(plan), "--select", "Dashboard/*").code == 11
    assert made.run("apply", "--plan", str(plan), "--select", "SLO/*").code == 0


@pytest.mark.promise("S24")
@pytest.mark.parametrize("chosen", [(), ("--select", "Dashboard/*")])
def test_a_protection_that_nobody_reviewed(tmp_path: Path, chosen: tuple[str, ...]) -> None:
    """A protection that ends, or begins, after the review is not what was reviewed."""
    protected = LABELLED.replace("labels", "protect: true, labels")
    made = project_at(tmp_path, slo=SLO, board=protected)
    assert made.apply().code == 0
    made.write("slo.yaml", SLO.replace("Checkout", "Checkouts"))
    plan = tmp_path / "all.plan"
    made.plan("--out", str(plan))
    made.write("board.yaml", LABELLED)

    ran = made.run("apply", "--plan", str(plan), *chosen)

    assert (ran.code, "Dashboard/checkout" in ran.err) == (6, True)


def test_no_orphans(made: Workspace) -> None:
    """What is only not selected is no orphan, has not drifted, and keeps its memory."""
    (made.root / "secret.yaml").unlink()
    assert made.apply().code == 0
    before = made.plan()

    planned = made.plan("--select", "SLO/*")
    drift = made.run("drift", "--select", "SLO/*", "--format", "json")

    assert planned["orphans"] == []
    assert [resource["ref"] for resource in drift.json["resources"]] == ["SLO/checkout"]
    assert drift.json["selection"]["leftOut"] == 2
    assert made.apply("--select", "SLO/*").code == 0
    assert made.plan()["orphans"] == before["orphans"] == []


@pytest.mark.parametrize("form", ["text", "json", "jsonl", "markdown", "html"])
def test_every_format_counts_what_is_left_out(made: Workspace, form: str) -> None:
    """Whatever form a plan takes, it says that it is a part, and of how much."""
    out = made.run("plan", "--select", "kind=SLO", "--format", form).out

    assert "kind=SLO" in out
    counted = '"leftOut": 3' if form in ("json", "jsonl") else "3 resources left out"
    assert counted in out


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_drift_counts_what_is_left_out(made: Workspace, form: str) -> None:
    """Whatever form drift takes, it says that only a part was looked at."""
    out = made.run("drift", "--select", "kind=SLO", "--format", form).out

    assert "3 resources left out" in out


def test_named_but_not_declared(made: Workspace, golden: Golden) -> None:
    """A resource that is named whole must be declared; globs may take nothing."""
    ran = made.run("plan", "--select", "SLO/chekout")
    assert ran.code == 64
    golden(ran.err)

    ran = made.run("plan", "--select", "SLO/z*")
    assert (ran.code, "nothing is selected" in ran.err) == (0, True)


def test_adopt_of_a_selection(made: Workspace) -> None:
    """A selection is adopted without --all; a resource beside it is refused by its name."""
    assert made.apply("--select", "kind=SLO").code == 0
    place = ("--path", str(made.root))

    adopted = made.run("adopt")
    assert adopted.code == 64
    ran = typed("adopt", *place, "--select", "kind=SLO", "--format", "json")
    assert ran.code == 0, ran.err
    assert [resource["ref"] for resource in ran.json["resources"]] == ["SLO/checkout"]
    assert typed("adopt", *place, "Dashboard/checkout", "--select", "kind=SLO").code == 64


def test_validate_of_a_selection(made: Workspace) -> None:
    """What validate counts is what was selected, with the number of what was not beside it."""
    document = json.loads(made.run("validate", "--select", "kind=SLO", "--format", "json").out)

    assert (document["resources"], document["selection"]["leftOut"]) == (1, 3)


MANY = "---\n".join(SLO.replace("name: checkout", f"name: s{n}") for n in range(12))


@pytest.mark.parametrize("chosen", ["SLO/s[0-4]", "SLO/s?"])
def test_the_guard_counts_the_whole(tmp_path: Path, chosen: str) -> None:
    """Too many changes of all that is known are refused however small the part they come in."""
    made = project_at(tmp_path, slo=MANY.replace("name: Checkout", "name: ${var:title}"))
    project = (tmp_path / "reconciler.yaml").read_text(encoding="utf-8")
    made.settle(f"{project}    variables: {{title: before}}\n")
    assert made.apply().code == 0
    made.settle(f"{project}    variables: {{title: after}}\n")

    planned = made.plan("--select", chosen)

    assert [guard["code"] for guard in planned["guards"]] == ["too-many-changes"]
    assert "of 12 known" in planned["guards"][0]["message"]
    assert made.apply("--select", chosen).code == 11
    assert made.apply("--select", "SLO/s[0-2]").code == 0
