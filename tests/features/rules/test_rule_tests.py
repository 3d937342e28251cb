"""`rules test`: rules against their examples. docs/rules.md."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.doors import typed
from harness.golden import Golden
from harness.workspaces import EXAMPLES, PROJECT, project_at

RULES = """\
rules:
  - name: owned
    kinds: [SLO]
    when: resource.metadata.name != 'free'
    check: has(resource.metadata.labels.team)
    message: say whose it is
    examples:
      pass:
        - metadata: {labels: {team: a}}
        - metadata: {name: free}
      fail:
        - metadata: {labels: {}}
  - name: grows
    on: plan
    kinds: [SLO]
    when: change.action == 'update'
    check: change.fields.all(one, one.path != 'target' || one.after > one.before)
    message: no less
    examples:
      pass:
        - {before: {target: 1}, after: {target: 2}}
        - {after: {target: 0}}
      fail:
        - {before: {target: 2}, after: {target: 1}}
"""
FAILS = "        - metadata: {labels: {}}"
PASSES = "        - metadata: {labels: {team: a}}"
SHRINKS = "{before: {target: 2}, after: {target: 1}}"
WRONG = {
    "passes": (FAILS, "        - metadata: {labels: {team: b}}", 17, 11),
    "is not about it": (FAILS, "        - metadata: {name: free}", 17, 11),
    "is of another kind": (FAILS, "        - kind: Dashboard", 17, 11),
    "fails": (PASSES, "        - metadata: {labels: {tem: a}}", 14, 11),
    "is misspelt": (PASSES, "        - {metadata: {labels: {team: a}}, sepc: {}}", 14, 43),
    "changes nothing": (SHRINKS, "{before: {target: 2}, after: {target: 2}}", 29, 11),
}


def test_all_come_out_as_they_should(tmp_path: Path) -> None:
    """Where each example comes out as it should, all are counted and the command is done."""
    project_at(tmp_path, PROJECT + RULES)

    ran = typed("rules", "test", str(tmp_path), "--format", "json")

    assert ran.code == 0
    assert ran.json["valid"]
    assert [rule["examples"] for rule in ran.json["rules"]] == [3, 3]
    assert ran.json["complaints"] == []


@pytest.mark.parametrize("name", WRONG)
def test_an_example_that_comes_out_otherwise_is_told(name: str, tmp_path: Path) -> None:
    """An example that does not come out as it should is exit 4, told at its line and column."""
    before, after, line, column = WRONG[name]
    assert before in RULES
    project_at(tmp_path, PROJECT + RULES.replace(before, after))

    ran = typed("rules", "test", str(tmp_path), "--format", "json")

    assert ran.code == 4
    (one,) = ran.json["complaints"]
    assert (one["code"], one["file"], one["line"], one["column"]) == (
        *("P104", "reconciler.yaml"),
        *(line, column),
    )
    assert sum(rule["failed"] for rule in ran.json["rules"]) == 1


def test_a_rule_without_examples_is_named(tmp_path: Path, golden: Golden) -> None:
    """A rule that nothing shows to work is a warning, and the command is done."""
    project_at(tmp_path, PROJECT + "rules:\n  - {name: a, check: 'true', message: m}\n")

    ran = typed("rules", "test", str(tmp_path))

    assert ran.code == 0
    golden(ran.out)


def test_a_wrong_expression_is_told_too(tmp_path: Path) -> None:
    """An expression that cannot be used is an error of `rules test`, at its place."""
    project_at(tmp_path, PROJECT + RULES.replace("has(resource.metadata", "has(resorce.metadata"))

    ran = typed("rules", "test", str(tmp_path))

    assert ran.code == 4
    assert "P103" in ran.out
    assert "reconciler.yaml:10:" in ran.out


def test_a_project_without_rules_is_told_so(tmp_path: Path) -> None:
    """Without rules there is nothing to do, and it is said where to read on."""
    project_at(tmp_path)

    ran = typed("rules", "test", str(tmp_path))

    assert (ran.code, ran.out) == (0, "")
    assert "docs/rules.md" in ran.err


def test_the_rules_to_take_from() -> None:
    """The ten rules of the examples do what they say, and each has examples of both kinds."""
    ran = typed("rules", "test", str(EXAMPLES / "rules"), "--format", "json")

    assert ran.code == 0, ran.out
    assert ran.json["complaints"] == []
    assert len(ran.json["rules"]) == 10
    assert {rule["on"] for rule in ran.json["rules"]} == {"resource", "plan"}
