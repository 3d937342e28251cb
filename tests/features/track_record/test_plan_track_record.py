"""`plan --track-record`: what it takes, and that it changes nothing of the plan itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.workspaces import ALERT, SLO, Workspace, project_at
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # it ships no types

from reconciler.cli.schema import schemas

WATCHING = """\
apiVersion: reconciler/v1
kind: AlertDefinition
metadata: {name: budget, id: 3f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4a11}
spec:
  name: Budget
  description: Whoever is on call looks at the checkout.
  type: ALERT_DEF_TYPE_SLO_THRESHOLD
  sloThreshold:
    sloDefinition: {sloId: "${ref:SLO/checkout}"}
    errorBudget: {rules: [{condition: {threshold: 10}}]}
"""


@pytest.fixture
def project(tmp_path: Path) -> Workspace:
    """Give a project of two alerts and an SLO."""
    return project_at(tmp_path, slo=SLO, alert=ALERT, budget=WATCHING)


def test_the_same_plan(project: Workspace) -> None:
    """What is said beside a plan changes neither its digest nor what an apply of it takes."""
    plain, beside = project.plan(), project.plan("--track-record")

    told = [change.pop("trackRecord", None) for change in beside["changes"]]

    assert [record is not None for record in told] == [
        change["kind"] == "AlertDefinition" for change in beside["changes"]
    ]
    assert beside["digest"] == plain["digest"]
    assert beside["changes"] == plain["changes"]


def test_as_the_schema_says(project: Workspace) -> None:
    """A plan with all that stands beside it is as the schema of plans says."""
    made = project.plan("--track-record", "7")

    Draft202012Validator(schemas()["plan"]).validate(made)
    assert {
        change["trackRecord"]["days"] for change in made["changes"] if "trackRecord" in change
    } == {7}
    assert [change["watchedBy"] for change in made["changes"] if change["kind"] == "SLO"] == [
        ["AlertDefinition/budget"]
    ]


def test_not_asked(project: Workspace) -> None:
    """Without the option, and with 0 days, nothing is said of what alerts did."""
    for arguments in ((), ("--track-record", "0")):
        assert not any("trackRecord" in change for change in project.plan(*arguments)["changes"])


@pytest.mark.parametrize("days", ["-1", "91", "x", "1.5"])
def test_no_such_span(project: Workspace, days: str) -> None:
    """What is no number of days up to 90 is a usage error."""
    assert project.run("plan", f"--track-record={days}").code == 64


def test_a_reviewed_plan(project: Workspace) -> None:
    """A plan file with track records is applied as any other, by a run that asks for none."""
    file = project.root / "plan.json"
    project.plan("--track-record", "--out", str(file))

    ran = project.run("apply", "--plan", str(file))

    assert ran.code == 0, ran.err


def test_told_after_the_write(project: Workspace) -> None:
    """An apply says whether the service names the alerts that were foreseen."""
    assert project.apply().code == 0
    project.write("slo.yaml", SLO.replace("99.9", "99.95"))

    ran = project.apply("--format", "json")

    (told,) = [outcome["watchedBy"] for outcome in ran.json["outcomes"] if "watchedBy" in outcome]
    assert told == {
        "predicted": ["AlertDefinition/budget"],
        "told": ["AlertDefinition/budget"],
        "unforeseen": [],
        "notTold": [],
    }
    Draft202012Validator(schemas()["applied"]).validate(ran.json)
