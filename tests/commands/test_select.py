"""Runs limited by --select and --exclude: what they do, and what they leave alone."""

from __future__ import annotations

import json
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
    return {one["ref"]: one["action"] for one in planned["changes"]}


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
    """A plan of a selection is applied as that and as no other, nor as everything."""
    plan = tmp_path / "slo.plan"
    digest = made.plan("--select", "kind=SLO", "--out", str(plan))["digest"]
    same_changes = made.plan("--select", "SLO/*")["digest"]

    assert digest != same_changes
    assert made.run("apply", "--plan", str(plan), "--select", "SLO/*").code == 64
    assert made.run("apply", "--expect", digest, "--select", "SLO/*").code == 6
    assert made.run("apply", "--expect", digest, "--exclude", "SavedView/*").code == 6
    assert made.requests() == 0
    applied = made.run("apply", "--plan", str(plan), "--format", "json")
    assert applied.code == 0
    assert applied.json["selection"]["leftOut"] == 3
    assert [one["ref"] for one in applied.json["outcomes"]] == ["SLO/checkout"]


def test_a_whole_plan_is_no_selection(made: Workspace, tmp_path: Path) -> None:
    """The plan of all manifests is refused beside a selection, and its digest fits none."""
    (made.root / "secret.yaml").unlink()
    plan = tmp_path / "all.plan"
    digest = made.plan("--out", str(plan))["digest"]

    assert made.run("apply", "--plan", str(plan), "--select", "*/*").code == 64
    assert made.run("apply", "--expect", digest, "--select", "*/*").code == 6


def test_no_orphans(made: Workspace) -> None:
    """What is only not selected is no orphan, has not drifted, and keeps its memory."""
    (made.root / "secret.yaml").unlink()
    assert made.apply().code == 0
    before = made.plan()

    planned = made.plan("--select", "SLO/*")
    drift = made.run("drift", "--select", "SLO/*", "--format", "json")

    assert planned["orphans"] == []
    assert [one["ref"] for one in drift.json["resources"]] == ["SLO/checkout"]
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
    assert [one["ref"] for one in ran.json["resources"]] == ["SLO/checkout"]
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

    assert [one["code"] for one in planned["guards"]] == ["too-many-changes"]
    assert "of 12 known" in planned["guards"][0]["message"]
    assert made.apply("--select", chosen).code == 11
    assert made.apply("--select", "SLO/s[0-2]").code == 0
