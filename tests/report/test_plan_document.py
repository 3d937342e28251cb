"""A plan as JSON, and what a second plan is compared with."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
from harness.golden import Golden
from hypothesis import assume, given
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # it ships no types
from random_plans import plans
from sample_plans import (
    alert,
    created,
    kept,
    plan_of,
    plan_of_three,
    plan_of_three_hundred,
    rewritten,
)

from reconciler.document import ABSENT, Difference, Json
from reconciler.errors import InvalidInput, Stale
from reconciler.model import ActionWord, Plan, Ref
from reconciler.redaction.templates import RefHole, Template
from reconciler.report.plan.document import changed_since, plan_document, plan_json, read_plan

HALF_A_PAIR = re.compile(r"\\ud[89a-f]")
SCHEMA = Path(__file__).parents[2] / "schemas" / "plan.schema.json"


@given(plan=plans(most=20))
def test_json_says_all(plan: Plan) -> None:
    """Any plan is valid JSON that reads back to what was planned, foreign text and all."""
    text = plan_json(plan)

    assert json.loads(text) == plan_document(plan)
    assert not set(text) & set("\x1b\x9b\u202e\u2066\ufeff\x7f")


@given(plan=plans(most=20))
def test_a_plan_can_be_read_back(plan: Plan) -> None:
    """What `--out` wrote is the plan that `--plan` reads, and nothing has changed since."""
    text = plan_json(plan)
    assume(not HALF_A_PAIR.search(text))  # which is no JSON to most readers

    reviewed = read_plan(text, "plan.json")

    assert reviewed["digest"] == plan.digest
    assert reviewed["environment"] == plan.environment
    assert [change["ref"] for change in reviewed["changes"]] == [
        str(change.ref) for change in plan.declared
    ]
    assert changed_since(reviewed, plan) == []


@pytest.mark.parametrize("plan", [plan_of_three(), plan_of_three_hundred(), plan_of([])], ids=str)
def test_json_follows_its_schema(plan: Plan) -> None:
    """The contract in schemas/ describes every plan."""
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))

    assert list(Draft202012Validator(schema).iter_errors(json.loads(plan_json(plan)))) == []


def test_every_resource_is_listed() -> None:
    """Kept resources are in the JSON with no fields, and the summary adds up."""
    document = json.loads(plan_json(plan_of_three_hundred()))

    assert len(document["changes"]) == 1_000
    assert sum(document["summary"][word] for word in get_args(ActionWord)) == 1_000
    assert all(not change["fields"] for change in document["changes"] if change["action"] == "keep")


def test_an_absent_side_is_left_out() -> None:
    """Null is a value: a side that is absent has no key at all."""
    change = rewritten("one", alert("A"), alert("B"))
    sides = (
        Difference(("a",), ABSENT, None, "add"),
        Difference(("b",), None, ABSENT, "remove"),
        Difference(("c",), None, 1),
    )
    plan = plan_of([replace(change, differences=sides)])

    added, removed, changed = json.loads(plan_json(plan))["changes"][0]["fields"]

    assert added == {"path": ["a"], "operation": "add", "after": None}
    assert removed == {"path": ["b"], "operation": "remove", "before": None}
    assert changed == {"path": ["c"], "operation": "change", "before": None, "after": 1}


def test_an_id_to_come_is_marked() -> None:
    """A value that waits for an id says so."""
    waiting = Template((RefHole(Ref("SLO", "checkout")),))
    plan = plan_of([created("SavedView", "view", {"name": waiting, "query": "q"})])

    name, query = json.loads(plan_json(plan))["changes"][0]["fields"]

    assert name["knownAfterApply"] is True
    assert name["after"] == "${ref:SLO/checkout}"
    assert "knownAfterApply" not in query


def test_what_changed_since_the_review_is_named() -> None:
    """Each resource whose change is not the reviewed one is named, with how it differs."""
    before, after = alert("A"), alert("B")
    reviewed = plan_of(
        [
            rewritten("edited", before, after),
            rewritten("gone", before, after),
            rewritten("now-kept", before, after),
            kept("SLO", "same"),
        ]
    )
    now = plan_of(
        [
            rewritten("edited", before, alert("C")),
            kept("AlertDefinition", "now-kept"),
            kept("SLO", "same"),
            created("SavedView", "new", {"name": "New"}),
        ]
    )

    assert changed_since(read_plan(plan_json(reviewed), "plan.json"), now) == [
        "AlertDefinition/edited: another update: name",
        "AlertDefinition/gone: no longer declared",
        "AlertDefinition/now-kept: was update, is keep: name",
        "SavedView/new: new since the review",
    ]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", "the file"),
        ("[]", "the file"),
        ('{"formatVersion": 2}', "formatVersion"),
        ('{"formatVersion": 1}', "environment"),
        ("not json", "the file"),
        ("\x00", "the file"),
    ],
)
def test_what_is_no_plan_is_refused(text: str, place: str) -> None:
    """A file that is no plan is invalid input, which names the file and the field."""
    with pytest.raises(InvalidInput, match=rf"^plan\.json is not a plan: {place}: "):
        read_plan(text, "plan.json")


def test_the_actions_of_the_contract() -> None:
    """The summary counts each action under its word."""
    words = set(json.loads(plan_json(plan_of([])))["summary"])

    assert words == {*get_args(ActionWord), "keepUnseen"}


@pytest.mark.promise("P33")
@pytest.mark.parametrize(
    "edit",
    [
        {"changes": []},
        {"environment": "staging"},
        {"target": "https://elsewhere.example.com"},
        {"orphans": [{"ref": "SLO/x", "remoteId": None}]},
        {"sum": ""},
        {"unknown": 1},
        {"summary": {"create": 0, "update": 0, "assert": 0, "keep": 0, "blocked": 0}},
    ],
    ids=lambda edit: next(iter(edit)),
)
def test_an_edited_plan_file_is_refused(edit: dict[str, Json]) -> None:
    """A plan file in which anything was edited is stale, whatever its digest line says."""
    plan = plan_of_three()
    document = {**plan_document(plan), **edit}

    with pytest.raises(Stale, match="is not as `plan` wrote it"):
        read_plan(json.dumps(document), "plan.json")


@pytest.mark.promise("P33")
def test_a_plan_file_without_a_sum_is_refused() -> None:
    """Taking the sum away is an edit too."""
    document = json.loads(plan_json(plan_of_three()))
    del document["sum"]

    with pytest.raises(Stale):
        read_plan(json.dumps(document), "plan.json")


@pytest.mark.promise("P33")
def test_another_layout_is_the_same_plan() -> None:
    """Spaces and the order of keys are no content."""
    document = dict(reversed(plan_document(plan_of_three()).items()))

    assert read_plan(json.dumps(document, indent=7), "plan.json")["digest"] == document["digest"]


@pytest.mark.promise("P35")
@pytest.mark.parametrize("count", [1, 3, 40])
def test_every_field_of_a_stale_change_is_named(count: int) -> None:
    """However much of a change is another, each field that differs is named."""
    labels: dict[str, Json] = {f"label-{number:02}": "before" for number in range(count)}
    other: dict[str, Json] = {f"other-{number:02}": "after" for number in range(count)}
    reviewed = plan_of([rewritten("edited", alert("A"), {**alert("A"), "entityLabels": labels})])
    now = plan_of([rewritten("edited", alert("A"), {**alert("B"), "entityLabels": other})])

    (said,) = changed_since(read_plan(plan_json(reviewed), "plan.json"), now)

    missing = [name for name in (*labels, *other, "name") if name not in said]
    assert missing == []


@pytest.mark.promise("S61")
@pytest.mark.parametrize("count", [1, 40])
def test_every_field_of_another_action_is_named(count: int) -> None:
    """Where a resource was kept and is changed, or the reverse, each changed field is named."""
    labels: dict[str, Json] = {f"label-{number:02}": "after" for number in range(count)}
    edited = {**alert("B"), "entityLabels": labels}
    kept_one = plan_of([kept("AlertDefinition", "edited")])
    updated_one = plan_of([rewritten("edited", alert("A"), edited)])

    for reviewed, now, words in (
        (kept_one, updated_one, "was keep, is update: "),
        (updated_one, kept_one, "was update, is keep: "),
    ):
        (said,) = changed_since(read_plan(plan_json(reviewed), "plan.json"), now)

        assert words in said
        assert [name for name in (*labels, "name") if name not in said] == []


@pytest.mark.promise("P35")
def test_what_differs_beside_the_changes_is_said(golden: Golden) -> None:
    """A stale plan whose writes are as reviewed says so, and names environment and target."""
    plan = plan_of_three()
    reviewed = read_plan(plan_json(plan), "plan.json")
    moved = replace(plan, environment="staging", digest="sha256:" + "0" * 64)

    (said,) = changed_since(reviewed, moved)
    golden(said)
    assert changed_since(reviewed, replace(plan, digest="sha256:" + "0" * 64)) == [
        "what would be written is as reviewed; what is live changed in other fields"
    ]
