"""`explain` of what a project adds, and of values: rules of its own, enumerations."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.doors import typed
from harness.workspaces import PROJECT, SLO, project_at

from reconciler.document import Json
from reconciler.syntax.read_text import read_text
from reconciler.syntax.tidy import yaml_text

RULE = """\
rules:
  - name: owner
    kinds: [SLO]
    when: resource.metadata.name != 'old'
    check: has(resource.metadata.labels.team)
    message: "Name the team <b> that owns it."
    until: "2099-12-31"
    examples:
      pass: [{metadata: {labels: {team: payments}}}]
      fail: [{metadata: {name: nobody}}]
"""


def test_a_rule_of_the_project(tmp_path: Path) -> None:
    """A rule is explained by its message, what it asks of whom, until when, and its examples."""
    made = project_at(tmp_path, PROJECT + RULE, slo=SLO)
    file = ("--project", str(made.root / "reconciler.yaml"))

    ran = typed("explain", "R/owner", *file)

    assert ran.code == 0
    for said in ("Name the team", "SLO", "has(resource", "!= 'old'", "2099-12-31", "nobody"):
        assert said in ran.out
    told = typed("explain", "R/owner", "--format", "json", *file).json
    assert told["code"]["code"] == "R/owner"
    near = typed("explain", "R/ownr", *file)
    assert (near.code, "R/owner" in near.err) == (64, True)


def test_an_example_is_shown_as_it_is() -> None:
    """An example as YAML is read back as it was, with empty mappings in its lists too."""
    example: dict[str, Json] = {"spec": {"a": [{}, {"b": [1, "no"]}, {"c": {}}, ["x"]], "d": []}}

    (document,) = read_text(yaml_text(example)).documents

    assert document.value == example


@pytest.mark.parametrize(
    ("value", "fields"),
    [
        ("SLO_TIME_FRAME_28_DAYS", ["SLO.sloTimeFrame"]),
        ("severity_error", ["LogPolicySet.policies.logRules.severities"]),
    ],
)
def test_a_value_leads_to_its_fields(value: str, fields: list[str]) -> None:
    """A value of an enumeration is explained by the fields that have it, in any capitals."""
    ran = typed("explain", value)

    assert ran.code == 0
    assert [field for field in fields if field in ran.out] == fields


def test_a_slip_of_a_value() -> None:
    """A value that is nearly one is told as that one."""
    ran = typed("explain", "SEVERITY_EROR")

    assert ran.code == 64
    assert "`SEVERITY_ERROR`" in ran.err
