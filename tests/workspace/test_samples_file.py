"""A file of samples of logs is read as such, and is no manifest wherever it stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from harness.workspaces import POLICY_SET, Workspace, project_at

SET = """\
environments:
  local:
    emulator: {data: .reconciler/local.db}
    journal: .reconciler/local.journal.jsonl
    policySamples: FILE
"""
ROW = "{application: SHOP, subsystem: cart, severity: SEVERITY_ERROR, policy: a}"


def sampled(root: Path, file: str = "deep/logs.yaml", setting: str | None = None) -> Workspace:
    """Give a project with one sample."""
    workspace = project_at(root, SET.replace("FILE", setting or file), policies=POLICY_SET)
    workspace.write(file, f"- {ROW}\n")
    return workspace


@pytest.mark.parametrize("setting", ["deep/logs.yaml", "./deep/../deep/logs.yaml"])
def test_no_manifest(tmp_path: Path, setting: str) -> None:
    """It is not taken for a manifest, nor counted as one, found in a folder or named."""
    workspace = sampled(tmp_path, setting=setting)

    found = workspace.run("validate")
    assert found.code == 0
    assert "1 file" in found.out + found.err
    assert workspace.run("validate", str(tmp_path / "deep" / "logs.yaml")).code == 0


def test_samples_of_another_environment(tmp_path: Path) -> None:
    """What another environment names is no manifest here, and is not looked at."""
    workspace = sampled(tmp_path)
    workspace.settle(
        SET.replace("FILE", "deep/logs.yaml")
        + "  other: {emulator: {data: .reconciler/other.db}, journal: .reconciler/other.jsonl}\n"
    )

    assert "policyImpact" in workspace.plan("-e", "local")
    assert "policyImpact" not in workspace.plan("-e", "other")


def test_not_without_policies(tmp_path: Path) -> None:
    """Where no list of policies is declared, samples tell nothing."""
    workspace = sampled(tmp_path)
    (tmp_path / "policies.yaml").unlink()

    assert "policyImpact" not in workspace.plan()


def test_samples_in_json(tmp_path: Path) -> None:
    """JSON is read as YAML is."""
    workspace = sampled(tmp_path, "logs.json")
    row = '[{"application": "a", "subsystem": "b", "severity": "Error"}]'
    workspace.write("logs.json", row)

    assert workspace.plan()["policyImpact"]["samples"] == 1


def test_a_link_out_of_the_project(tmp_path: Path) -> None:
    """A file of samples that leads out of the project is not read."""
    workspace = sampled(tmp_path / "project")
    outside = tmp_path / "outside.yaml"
    outside.write_text(f"- {ROW}\n", encoding="utf-8")
    file = tmp_path / "project" / "deep" / "logs.yaml"
    file.unlink()
    file.symlink_to(outside)

    found = workspace.run("plan")
    assert found.code == 4
    assert "M112" in found.err


@pytest.mark.parametrize(("names", "policy"), [("exact", None), ("anyCase", "a")])
def test_capitals_both_ways(tmp_path: Path, names: str, policy: str | None) -> None:
    """The embedded emulator and the evaluator both follow what `policyNames` says."""
    workspace = sampled(tmp_path)
    workspace.settle(SET.replace("FILE", "deep/logs.yaml") + f"    api: {{policyNames: {names}}}\n")
    rule = (
        "priority: PRIORITY_TYPE_HIGH, applicationRule: {name: shop, ruleTypeId: RULE_TYPE_ID_IS}"
    )
    workspace.write("policies.yaml", POLICY_SET.replace("priority: PRIORITY_TYPE_HIGH", rule))
    assert workspace.apply("--override-guard", "a test").code == 0

    told = workspace.plan()["policyImpact"]
    assert told["agreement"] == 1
    assert [failure["told"] for failure in told["failures"]] == ([] if policy else [None])


def test_hostile_names(tmp_path: Path) -> None:
    """What reorders or hides is refused in samples, and what means something to a page does not."""
    workspace = sampled(tmp_path)
    row = '- {application: "NAME", subsystem: x, severity: error, policy: "NAME"}\n'
    for hidden in (r"\e[31m", r"\u202e"):
        workspace.write("deep/logs.yaml", row.replace("NAME", hidden))
        assert workspace.run("plan").code == 4
    workspace.write("deep/logs.yaml", row.replace("NAME", "<script>x()</script>`|@team"))

    assert "<script>x()" not in workspace.run("plan", "--format", "html").out
    for line in workspace.run("plan", "--format", "markdown").out.splitlines():
        assert "@team" not in re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", line)
    assert workspace.apply().code == 11


@pytest.mark.parametrize(
    ("policy", "found"), [("a", []), ('" A "', []), ("null", []), ("aa", ["a"]), ("other", [""])]
)
def test_a_policy_that_nobody_declares(tmp_path: Path, policy: str, found: list[str]) -> None:
    """A sample that can only fail is a warning at its policy, as far as the list is declared."""
    workspace = sampled(tmp_path)
    workspace.write("deep/logs.yaml", f"- {ROW.replace('policy: a', f'policy: {policy}')}\n")
    told = workspace.run("validate", "--format", "json").json["complaints"]
    workspace.write("policies.yaml", "")
    without = workspace.run("validate", "--format", "json").json["complaints"]

    assert [(value["code"], value["suggestion"]) for value in told] == [
        ("M406", text) for text in found
    ]
    assert "M406" not in [value["code"] for value in without]
