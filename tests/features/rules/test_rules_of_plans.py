"""Rules of plans: guards like any other, or warnings at their lines. docs/rules.md."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from harness.jobs import Jobs
from harness.sites import manifest_of
from harness.workspaces import PROJECT, SLO, VIEW, Workspace, project_at

from reconciler.features.rules import rule_checks
from reconciler.features.rules.rule_checks import with_own_rules
from reconciler.features.rules.rule_settings import Rule
from reconciler.model import (
    Action,
    Change,
    Evidence,
    Exemption,
    GuardViolation,
    Manifest,
    Objected,
    Plan,
    Ref,
    RuleWarns,
    Source,
    Unknown,
)
from reconciler.project import Guards

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
    assert "ask first" in refused.err
    assert "[R/agreed]" in refused.err


@pytest.mark.promise("S16")
@pytest.mark.parametrize(("level", "code"), [("review", 0), ("explicit", GUARDED)])
def test_a_review_lifts_it(lowered: Workspace, level: str, code: int) -> None:
    """A reviewed plan consents to what a rule objects to, unless the rule is of level explicit."""
    lowered.settle(
        ALLOWING.replace("%s", "") + RULES.replace("on: plan", f"on: plan\n    level: {level}")
    )
    made = lowered.plan()

    assert [guard["level"] for guard in made["guards"]] == [level]
    assert lowered.run("apply", "--expect", made["digest"]).code == code


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
    assert "R/agreed" in lowered.run("plan").out
    in_code = "`<b>ask</b> @all 'first'` (rule `R/agreed`)"
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


def test_a_rule_holds_until_its_last_day(lowered: Workspace) -> None:
    """A rule of plans whose last day is over asks for nothing; on that day it still does."""
    lowered.settle(ALLOWING.replace("%s", "") + RULES + "    until: 2999-01-01\n")
    assert [guard["code"] for guard in lowered.plan()["guards"]] == ["R/agreed"]

    lowered.settle(ALLOWING.replace("%s", "") + RULES + "    until: 2001-01-01\n")
    assert lowered.plan()["guards"] == []


def test_a_rule_of_plans_knows_where_it_is(lowered: Workspace) -> None:
    """`resource.environment` is the environment that is planned for, in rules of plans too."""
    rules = RULES.replace("change.after", "resource.environment != 'local' || change.after")

    lowered.settle(ALLOWING.replace("%s", "") + rules)
    here = lowered.plan()["guards"]
    lowered.settle(ALLOWING.replace("%s", "") + rules.replace("'local'", "'production'"))

    assert (len(here), lowered.plan()["guards"]) == (1, [])


def test_what_is_wrong_with_a_rule_is_said_at_the_change(made: Plan) -> None:
    """A rule whose expression cannot be used says why, for each change that it is about."""
    flawed = rule(check="change.acton == 'update'")

    guards = with_own_rules(made, [flawed], Guards(), TODAY).guarded

    assert [guard.ref for guard in guards] == [
        change.ref for change in made.changes if change.action.writes
    ]
    assert all("acton" in guard.said for guard in guards)


def test_only_what_a_rule_warns_of_is_noted(made: Plan) -> None:
    """A warning stands at its own changes, behind what was said there before; others stay."""
    about = rule(check="change.action != 'create'", severity="warning", kinds=["SLO"])

    noted = with_own_rules(made, [about], Guards(), TODAY).changes

    warned = RuleWarns("R/one", "said")
    assert [change.reasons for change in noted] == [(), (BEFORE, warned), (BEFORE,)]
    assert noted[0] is made.changes[0]
    assert noted[2] is made.changes[2]


def test_words_of_a_rule(made: Plan) -> None:
    """What a rule objects to stands behind what others do, as its golden text to the letter.

    `WRITE_GOLDEN=1` writes it anew.
    """
    others = replace(made, guarded=(GuardViolation(said="x", remedies=(), code="protected"),))
    rules = [
        rule(check="false"),
        rule(name="two", check="change.acton == 'x'", kinds=["SLO"]),
        rule(name="three", check="chang == 'x'", kinds=["SLO"]),
    ]

    before, *guards = with_own_rules(others, rules, Guards(), TODAY).guarded

    assert before == others.guarded[0]
    lines = [(f"{guard.code} ({guard.ref}): {guard.message}", *guard.remedies) for guard in guards]
    told = "\n".join("\n  - ".join(line) for line in lines) + "\n"
    if os.environ.get("WRITE_GOLDEN"):
        GOLDEN.write_text(told, encoding="utf-8")
    assert told == GOLDEN.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("fields", "number"), [({"until": "2025-01-30"}, 3), ({"on": "resource"}, 3), ({}, 1)]
)
def test_nothing_is_judged_in_vain(
    made: Plan, fields: dict[str, Any], number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no rule of plans holds, or nothing would be written, nobody is asked to judge."""
    monkeypatch.setattr(rule_checks, "Judges", None)
    asked = rule(check="false", **fields)
    only = replace(made, changes=made.changes[:number])

    assert with_own_rules(only, [asked], Guards(), TODAY) == only


def test_each_way_around_lifts_its_own(made: Plan) -> None:
    """Of several rules, an exemption and the project file lift the one that they name alone."""
    rules = [rule(name=name, check="false") for name in ("one", "two", "three")]
    exempt = replace(manifest_of(made.changes[1]), exempt={"R/two": Exemption("was asked")})
    changes = made.changes[0], replace(made.changes[1], manifest=exempt), made.changes[2]

    guards = with_own_rules(
        replace(made, changes=changes), rules, Guards(allow=["R/one"]), TODAY
    ).guarded

    a, b = (change.ref for change in changes[1:])
    assert [(guard.ref, guard.code) for guard in guards] == [
        (a, "R/three"),
        (b, "R/two"),
        (b, "R/three"),
    ]


GOLDEN = Path(__file__).parent / "golden" / "rules.txt"
BEFORE = Objected("before")
TODAY = date(2025, 1, 31)


def rule(**fields: Any) -> Rule:
    """Give a rule of plans."""
    return Rule.model_validate({"name": "one", "on": "plan", "message": "said", **fields})


@pytest.fixture
def made() -> Plan:
    """Give a plan that keeps one resource and creates two, of two kinds."""
    refs = Ref("SLO", "kept"), Ref("SLO", "a"), Ref("SavedView", "b")
    actions = Action.KEEP, Action.CREATE, Action.CREATE
    changes = tuple(
        Change(
            ref=ref,
            manifest=Manifest(ref, {"name": ref.name}, Source("a.yaml", 1)),
            action=action,
            evidence=Evidence.NONE,
            observation=Unknown(None, ""),
            declared={"name": ref.name},
            body={"name": ref.name},
            reasons=() if action is Action.KEEP else (BEFORE,),
        )
        for ref, action in zip(refs, actions, strict=True)
    )
    return Plan(environment="local", target="emulator", digest="", changes=changes)


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
