"""Laws of plans under a change that are held against its base branch, with a key and without."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import httpx
import pytest
from harness.doors import KEY, in_this_process
from harness.forge import FORK
from harness.jobs import Jobs
from harness.routes import API_ROOT, DASHBOARDS, OVERWRITE
from harness.workspaces import WORKSPACE

from reconciler.ci import checkout
from reconciler.features.against.base_drift import TITLE


def drifted(jobs: Jobs) -> None:
    """Let live hold another description and target than the base branch declares."""
    file = jobs.root / "all.yaml"
    file.write_text(WORKSPACE.replace("first", "by hand").replace("99.9", "98.5"), "utf-8")
    live = ("apply", "--yes", "--new-journal", "--environment", "production")
    applied = in_this_process(jobs.root, jobs.service.base_url, *live)
    assert applied.code == 0, applied.err
    file.write_text(WORKSPACE.replace("first", "second"), "utf-8")


def test_live_has_drifted_from_the_base_branch(jobs: Jobs) -> None:
    """Each field that is not live as the base branch has it is told, touched or not."""
    drifted(jobs)
    ran = jobs.change()
    document = json.loads((jobs.temporary / "plan-default.json").read_text("utf-8"))

    assert ran.code == 0, ran.log
    assert TITLE in jobs.comment
    assert TITLE in ran.log
    assert TITLE in ran.summary
    assert document["besideBase"]["against"] == jobs.base
    fields = {
        (resource["ref"], field["path"][-1]): (field["base"], field["live"])
        for resource in document["besideBase"]["resources"]
        for field in resource["fields"]
    }
    assert fields == {
        ("Dashboard/checkout", "description"): ("first", "by hand"),
        ("SLO/checkout", "targetThresholdPercentage"): (99.9, 98.5),
    }


def test_live_as_the_base_branch_declares_it(jobs: Jobs) -> None:
    """Where live is as the base branch declares it, nothing is said of that."""
    live = ("apply", "--yes", "--new-journal", "--environment", "production")
    assert in_this_process(jobs.root, jobs.service.base_url, *live).code == 0
    jobs.edit("description: first", "description: second")
    jobs.change()
    document = json.loads((jobs.temporary / "plan-default.json").read_text("utf-8"))

    assert document["besideBase"]["resources"] == []
    assert TITLE not in jobs.comment


BOARD = """\
    layout:
      sections:
        - rows:
            - widgets:
                - title: Errors of the checkout, by zone and by version
                  definition:
                    lineChart:
                      queryDefinitions: [{query: {logs: {luceneQuery: {value: one}}}}]
                - title: Latency
                  definition:
                    lineChart:
                      queryDefinitions: [{query: {logs: {luceneQuery: {value: one}}}}]
"""


def test_fields_are_named_as_in_the_plan(jobs: Jobs) -> None:
    """A field inside a dashboard is named by its widget in comment and log, not by ids."""
    jobs.edit("    layout: {sections: []}\n", BOARD)
    jobs.base = jobs.merge()
    jobs.edit("value: one", "value: by hand")
    live = ("apply", "--yes", "--new-journal", "--environment", "production")
    assert in_this_process(jobs.root, jobs.service.base_url, *live).code == 0
    jobs.edit("value: by hand", "value: two")

    ran = jobs.change()

    table = jobs.comment.partition(f"{TITLE} (")[2].splitlines()
    cells = [row.split("|")[2].strip(" `") for row in table if "by hand" in row]
    assert {cell.split(" · ")[0] for cell in cells} == {
        'widget "Errors of the checkout, by zone and by version"',
        'widget "Latency"',
    }
    assert all("query" in cell for cell in cells)
    assert 'widget "Latency"' in ran.log.partition(TITLE)[2]


def with_other_ids(document: Any) -> Any:
    """Return a document in which each nested id is another one."""
    if isinstance(document, list):
        return [*map(with_other_ids, document)]
    if not isinstance(document, dict):
        return document
    own = {"id": {"value": str(uuid4())}} if isinstance(document.get("id"), dict) else {}
    return {key: with_other_ids(value) for key, value in document.items()} | own


LATENCY = BOARD[BOARD.index("                - title: Latency") :]


@pytest.mark.promise("S17")
@pytest.mark.parametrize(
    ("before", "after"),
    [("title: Latency", "title: Slowness"), (LATENCY, ""), ("value: one", "value: two")],
)
def test_ids_that_live_has_alone_are_no_drift(jobs: Jobs, before: str, after: str) -> None:
    """A dashboard made by hand has ids that the base branch does not declare, and did not drift."""
    jobs.edit("    layout: {sections: []}\n", BOARD)
    jobs.base = jobs.merge()
    live = ("apply", "--yes", "--new-journal", "--environment", "production")
    assert in_this_process(jobs.root, jobs.service.base_url, *live).code == 0
    url, key = f"{jobs.service.base_url}{API_ROOT}", {"Authorization": KEY}
    with httpx.Client(headers=key) as web:
        found = web.get(f"{url}/v1/dashboards/by-slug/checkout").json()["dashboard"]
        found["layout"] = with_other_ids(found["layout"])
        answer = web.put(f"{url}{DASHBOARDS}", json={"requestId": "x", "dashboard": found})
    assert answer.status_code == 200, answer.text
    jobs.edit(before, after)

    jobs.change()

    document = json.loads((jobs.temporary / "plan-default.json").read_text("utf-8"))
    assert [change["action"] for change in document["changes"] if "Dash" in change["ref"]] == [
        "update"
    ]
    assert document["besideBase"]["resources"] == []


WITH_SEVERITIES = "    - logRules: {severities: [SEVERITY_ERROR]}\n      policy:"


def policies_live(jobs: Jobs, **edited: str) -> None:
    """Put the list of policies in as someone else does, with severities that no read shows."""
    item = {
        "logRules": {"severities": ["SEVERITY_DEBUG"]},
        "policy": {"name": "a", "description": "d", "priority": "PRIORITY_TYPE_HIGH", **edited},
    }
    answer = httpx.post(
        f"{jobs.service.base_url}{API_ROOT}{OVERWRITE}",
        json={"policies": [item]},
        headers={"Authorization": KEY},
    )
    assert answer.status_code == 200, answer.text


def policies_beside(jobs: Jobs) -> list[dict[str, Any]]:
    """Return what is said of the policies beside the plan of the change."""
    ran = jobs.change()
    document = json.loads((jobs.temporary / "plan-default.json").read_text("utf-8"))
    assert ran.code == 0, ran.log
    assert document["besideBase"]["why"] == ""
    return [
        resource
        for resource in document["besideBase"]["resources"]
        if resource["ref"] == "LogPolicySet/all"
    ]


@pytest.mark.promise("S17")
def test_added_severities_are_no_drift(jobs: Jobs) -> None:
    """A change that adds severities, which no read shows, to a live list finds no drift of it."""
    policies_live(jobs)
    jobs.edit(WITH_SEVERITIES, "    - policy:")
    jobs.base = jobs.merge()
    jobs.edit("    - policy:", WITH_SEVERITIES)
    jobs.edit("description: d,", "description: e,")

    assert policies_beside(jobs) == []


@pytest.mark.promise("S17")
def test_only_what_was_returned_is_compared(jobs: Jobs) -> None:
    """Of a list that was edited by hand only the fields of the answer are told as live."""
    policies_live(jobs, description="by hand")
    jobs.edit("SEVERITY_ERROR", "SEVERITY_INFO")

    (found,) = policies_beside(jobs)

    path = ["policies", "a", "policy", "description"]
    assert found["fields"] == [{"path": path, "base": "d", "live": "by hand"}]


def test_it_costs_no_request(jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    """The service is asked as often as without the base branch's plan, and the digest is its."""
    drifted(jobs)
    before = jobs.service.switch.asked
    with_it = jobs.change()
    between = jobs.service.switch.asked
    monkeypatch.setattr(checkout, "beside_base", lambda made, *_: made)
    without = jobs.change()

    assert jobs.service.switch.asked - between == between - before
    assert with_it.outputs["digest"] == without.outputs["digest"]


def test_a_base_branch_that_is_not_valid(jobs: Jobs) -> None:
    """A base branch that is not valid costs one line, and no plan."""
    jobs.edit("kind: SLO", "kind: Slo")
    jobs.base = jobs.merge()
    jobs.edit("kind: Slo", "kind: SLO")
    ran = jobs.change()

    assert ran.code == 0, ran.log
    assert "Not compared with the base branch" in jobs.comment


def test_a_secret_is_in_no_comparison(jobs: Jobs) -> None:
    """A field that holds a secret is left out, as the base branch's plan knows no values."""
    jobs.more = {"CHANNEL": "https://hooks.example.com/very-secret"}
    jobs.edit("description: first", "description: ${secret:CHANNEL}")
    jobs.base = jobs.merge()
    drifted(jobs)
    jobs.edit("description: second", "description: ${secret:CHANNEL}")
    jobs.edit("name: Errors", "name: All errors")
    ran = jobs.change()
    document = json.loads((jobs.temporary / "plan-default.json").read_text("utf-8"))

    assert [resource["ref"] for resource in document["besideBase"]["resources"]] == ["SLO/checkout"]
    for text in (jobs.comment, ran.log, ran.summary, json.dumps(document)):
        assert "very-secret" not in text
        assert "stand-in" not in text


def test_a_fork_and_a_desk_see_one_difference(jobs: Jobs) -> None:
    """What a fork's job plans is what `plan --against` plans, but for how the commit was asked."""
    jobs.edit("description: first", "description: second")
    jobs.key = ""
    jobs.change(repository=FORK)
    document = json.loads((jobs.temporary / "plan-default.json").read_text("utf-8"))
    desk = in_this_process(jobs.root, "", "plan", "--against", "main", "--format", "json")

    assert document["against"] == f"the base branch {jobs.base}"
    told = [document["changes"], desk.json["changes"]]
    for value in (*told[0], *told[1]):
        # Each emulator gives ids of its own.
        del value["remoteId"]
    assert told[0] == told[1]
