"""Rules of plans: guards like any other, or warnings at their lines. docs/rules.md."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.jobs import Jobs
from harness.workspaces import PROJECT, SLO, VIEW, Workspace, project_at

GUARDED = 11
LOWERED = SLO.replace("99.9", "99")
RULES = """\
rules:
  - name: agreed
    on: plan
    kinds: [SLO]
    when: change.action == 'update'
    check: change.after.targetThresholdPercentage >= change.before.targetThresholdPercentage
    message: ask first
"""
ALLOWING = PROJECT.replace(
    "    journal:", "    guards: {allow: [slo-target-lowered%s]}\n    journal:"
)


@pytest.fixture
def lowered(tmp_path: Path) -> Workspace:
    """Give an SLO that was applied, and promises less by now."""
    workspace = project_at(tmp_path, ALLOWING.replace("%s", "") + RULES, slo=SLO)
    assert workspace.apply().code == 0
    workspace.write("slo.yaml", LOWERED)
    return workspace


def test_a_rule_of_plans_is_a_guard(lowered: Workspace) -> None:
    """A plan that breaks it is shown with its code and ways out, and no apply goes through."""
    (guard,) = lowered.plan()["guards"]

    assert (guard["code"], guard["ref"]) == ("R/agreed", "SLO/checkout")
    assert guard["message"] == "SLO/checkout: ask first"
    assert any("R/agreed" in way for way in guard["waysOut"])
    refused = lowered.apply()
    assert refused.code == GUARDED
    assert "ask first [R/agreed]" in refused.err


def test_a_review_does_not_lift_it(lowered: Workspace) -> None:
    """The digest of a reviewed plan is no consent to what a rule forbids."""
    digest = lowered.plan()["digest"]

    assert lowered.run("apply", "--expect", digest).code == GUARDED


def test_an_override_lifts_it(lowered: Workspace) -> None:
    """`--override-guard` lifts it, with a reason."""
    assert lowered.apply("--override-guard", "agreed by phone").code == 0


def test_the_project_file_lifts_it(lowered: Workspace) -> None:
    """`guards: {allow: [R/name]}` lifts it."""
    lowered.settle(ALLOWING.replace("%s", ", R/agreed") + RULES)

    assert lowered.plan()["guards"] == []
    assert lowered.apply().code == 0


def test_an_exemption_lifts_it(lowered: Workspace) -> None:
    """`metadata.exempt` of the resource lifts it."""
    exempted = LOWERED.replace(
        "{name: checkout}", "{name: checkout, exempt: {R/agreed: was asked}}"
    )
    lowered.write("slo.yaml", exempted)

    assert lowered.plan()["guards"] == []


def test_only_rules_of_plans_can_be_allowed(tmp_path: Path) -> None:
    """A code of no rule, or of one about manifests, is no guard."""
    rules = RULES.replace("    on: plan\n", "").replace("change.", "resource.")
    workspace = project_at(tmp_path, ALLOWING.replace("%s", ", R/agreed") + rules, slo=SLO)

    ran = workspace.run("validate", "--format", "json")

    assert "unknown code `R/agreed`" in ran.json["complaints"][0]["message"]


def test_a_warning_stands_at_its_change(lowered: Workspace) -> None:
    """A rule of severity `warning` is told at the change in harmless words, and stops none."""
    hostile = RULES.replace("ask first", "<b>ask</b> @all `first`")
    lowered.settle(ALLOWING.replace("%s", "") + hostile + "    severity: warning\n")

    plan = lowered.plan()

    assert plan["guards"] == []
    assert plan["changes"][0]["reasons"][-1] == {
        "code": "rule-warns",
        "rule": "R/agreed",
        "said": "<b>ask</b> @all `first`",
    }
    assert "[R/agreed]" in lowered.run("plan").out
    in_code = "`` <b>ask</b> @all `first` [R/agreed] ``"
    assert in_code in lowered.run("plan", "--format", "markdown").out
    assert "<b>ask" not in lowered.run("plan", "--format", "html").out
    assert lowered.apply().code == 0


def test_a_rule_that_cannot_be_judged_is_no_consent(tmp_path: Path) -> None:
    """What a rule of plans asks of a create that has nothing before is told, and refused."""
    rules = RULES.replace("    when: change.action == 'update'\n", "")
    workspace = project_at(tmp_path, PROJECT + rules, slo=SLO)

    (guard,) = workspace.plan()["guards"]

    assert "cannot be judged" in guard["message"]
    assert workspace.apply().code == GUARDED


def test_what_is_kept_is_not_asked_about(tmp_path: Path) -> None:
    """Rules of plans are about what an apply would write, and nothing else."""
    workspace = project_at(tmp_path, view=VIEW)
    assert workspace.apply().code == 0
    never = "rules:\n  - {name: never, on: plan, check: 'false', message: no}\n"
    workspace.settle(PROJECT + never)

    assert workspace.plan()["guards"] == []


NEVER = (
    "rules:\n  - {name: never, on: plan, kinds: [Dashboard], check: 'false', message: not now}\n"
)


def test_a_change_keeps_the_rules_of_its_base(jobs: Jobs) -> None:
    """A change that takes a rule away, or exempts itself, is planned by the base branch's rules."""
    file = jobs.root / "reconciler.yaml"
    before = file.read_text(encoding="utf-8")
    file.write_text(before + NEVER, encoding="utf-8")
    jobs.base = jobs.merge()
    file.write_text(before, encoding="utf-8")
    jobs.edit("description: first", "description: second")
    jobs.merge()

    removed = jobs.change()
    file.write_text(before + NEVER, encoding="utf-8")
    exempt = "metadata: {name: checkout, exempt: {R/never: it is mine}}\nspec:\n  dashboard"
    jobs.edit("metadata: {name: checkout}\nspec:\n  dashboard", exempt)
    jobs.merge()
    exempted = jobs.change()

    assert "not now" in removed.summary, removed.log
    assert "rules" in removed.summary
    assert "not now" in exempted.summary, exempted.log
