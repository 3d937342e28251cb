"""`rules:` over manifests: where findings stand, when they hold, and who is told. docs/rules.md."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from harness.golden import Golden
from harness.workspaces import DASHBOARD, PROJECT, SLO, Workspace, project_at
from hypothesis import given
from hypothesis import strategies as st

from reconciler.document import Json
from reconciler.features.rules.ask_worker import Process
from reconciler.features.rules.rule_settings import Rule
from reconciler.workspace.expression_scope import Scope
from reconciler.workspace.project_file import load_project
from reconciler.workspace.workspace import load_workspace

TODAY = date(2026, 6, 15)
RULE = """\
rules:
  - name: owned
    kinds: [SLO]
    check: has(resource.metadata.labels.team)
    message: say whose it is
"""


def told(workspace: Workspace, *arguments: str) -> list[dict[str, Any]]:
    """Give the complaints of `validate`."""
    found = workspace.run("validate", "--format", "json", *arguments).json["complaints"]
    assert isinstance(found, list)
    return found


def test_a_finding_stands_at_its_manifest(tmp_path: Path) -> None:
    """A rule that is broken is an error with its own code, at the manifest that breaks it."""
    workspace = project_at(tmp_path, PROJECT + RULE, all=f"{DASHBOARD}---\n{SLO}")

    (one,) = told(workspace)

    assert (one["code"], one["severity"], one["message"]) == (
        *("R/owned", "error"),
        "say whose it is",
    )
    assert (one["file"], one["line"], one["ref"]) == ("all.yaml", 12, "SLO/checkout")
    assert workspace.run("validate").code == workspace.run("plan").code == 4
    assert workspace.apply().code == 4


def test_a_finding_stands_where_the_rule_says(tmp_path: Path) -> None:
    """With `at`, a finding stands at that field of the spec."""
    rule = RULE + "    at: requestBasedMetricSli.goodEvents\n"
    workspace = project_at(tmp_path, PROJECT + rule, slo=SLO)

    (one,) = told(workspace)

    assert (one["line"], one["column"]) == (8, 39)
    assert one["path"] == ["spec", "requestBasedMetricSli", "goodEvents"]


@pytest.mark.promise("S37")
@pytest.mark.parametrize(
    ("check", "place"),
    [
        ("resource.spec.name.startsWith('Shop')", (6, "name")),
        ("resource.spec.requestBasedMetricSli.goodEvents.query != 'good'", (9, "query")),
        ("has(resource.metadata.labels.team)", (4, "name")),
        ("has(resource.spec.owner)", (4, "name")),
    ],
)
def test_a_finding_without_a_place_of_its_own(
    tmp_path: Path, check: str, place: tuple[int, str]
) -> None:
    """A finding stands at the field that the check reads, else at the name of the resource."""
    rule = RULE.replace("has(resource.metadata.labels.team)", f'"{check}"')
    workspace = project_at(tmp_path, PROJECT + rule, slo=f"# yaml-language-server\n{SLO}")

    (found,) = told(workspace)

    assert (found["line"], found["path"][-1]) == place


def test_a_warning_stops_nothing(tmp_path: Path) -> None:
    """A rule of severity `warning` is told, and the run goes on."""
    workspace = project_at(tmp_path, PROJECT + RULE + "    severity: warning\n", slo=SLO)

    assert [value["severity"] for value in told(workspace)] == ["warning"]
    assert workspace.run("validate").code == workspace.apply().code == 0


@pytest.mark.parametrize("form", ["text", "jsonl", "sarif", "junit"])
def test_every_format_tells_it(form: str, tmp_path: Path) -> None:
    """Whatever the format, code and message of a rule are in it."""
    ran = project_at(tmp_path, PROJECT + RULE, slo=SLO).run("validate", "--format", form)

    assert ran.code == 4
    assert "R/owned" in ran.out
    assert "say whose it is" in ran.out


def test_sarif_names_the_rule_once(tmp_path: Path) -> None:
    """Each result of SARIF leads to the one entry of its rule."""
    two = SLO.replace("checkout", "other").replace("Checkout", "Other")
    ran = project_at(tmp_path, PROJECT + RULE, all=f"{SLO}---\n{two}").run(
        "validate", "--format", "sarif"
    )
    run = json.loads(ran.out)["runs"][0]
    rules = run["tool"]["driver"]["rules"]

    assert len(run["results"]) == 2
    assert {rules[result["ruleIndex"]]["id"] for result in run["results"]} == {"R/owned"}
    assert [rule["id"] for rule in rules].count("R/owned") == 1


@given(until=st.dates(date(2000, 1, 1), date(2100, 1, 1)))
def test_until_is_the_last_day(until: date) -> None:
    """A rule holds on its last day, and not on the next."""
    rule = Rule(name="a", check="true", message="m", until=until.isoformat())

    assert rule.holds_on(until)
    assert not rule.holds_on(until + timedelta(days=1))


@pytest.mark.parametrize("until", ["2026-06-14", "2026-06-15"])
def test_a_rule_that_ended_says_nothing(until: str, tmp_path: Path) -> None:
    """After its last day nothing is held against a rule, and on it, it is."""
    project_at(tmp_path, PROJECT + RULE + f"    until: {until}\n", slo=SLO)
    project, _ = load_project(tmp_path / "reconciler.yaml")
    assert project is not None
    scope = Scope("local", today=TODAY)

    loaded = load_workspace([tmp_path], tmp_path, scope, project.settings)

    assert [complaint.code for complaint in loaded.complaints] == (
        ["R/owned"] if until[-2:] == "15" else []
    )


def test_a_missing_field_is_no_pass(tmp_path: Path) -> None:
    """A rule that asks for what is not there is told with the way out, and does not pass."""
    rule = RULE.replace("has(resource.metadata.labels.team)", "resource.spec.nope == 1")

    (one,) = told(project_at(tmp_path, PROJECT + rule, slo=SLO))

    assert one["code"] == "R/owned"
    assert "has()" in one["message"]


EXPRESSIONS = {
    "plain": ("    check: true && {}\n", 4, 20),
    "single": ("    check: 'resource.kind != ''a'' && {}'\n", 4, 39),
    "double": ('    check: "resource.kind != \\"a\\" && {}"\n', 4, 39),
    "literal": ("    check: |\n      true\n      && {}\n", 6, 10),
    "folded": ("    check: >-\n      true\n      && (true\n      ||   {})\n", 7, 12),
    "plain folded": ("    check: true\n      && {}\n", 5, 10),
}


@pytest.mark.parametrize("style", EXPRESSIONS)
def test_a_wrong_expression_is_told_inside_of_it(style: str, tmp_path: Path) -> None:
    """What an expression names though there is no such thing is told at its line and column."""
    written, line, column = EXPRESSIONS[style]
    rule = "rules:\n  - name: a\n    message: m\n" + written.replace("{}", "resorce.a")
    workspace = project_at(tmp_path, rule + PROJECT, slo=SLO)

    (one,) = told(workspace)

    assert (one["code"], one["file"]) == ("P103", "reconciler.yaml")
    assert (one["line"], one["column"]) == (line, column)
    assert one["suggestion"] == "resource"
    assert workspace.run("validate").code == 4


WRONG_RULES = {
    "an unknown kind": ("kinds: [Slo]", "there is no kind `Slo`"),
    "no date": ("until: tomorrow", "must be a day"),
    "an unknown setting": ("chek: a", "unknown setting `chek`"),
    "no severity": ("severity: fatal", "must be 'error' or 'warning'"),
}


@pytest.mark.parametrize("name", WRONG_RULES)
def test_a_wrong_rule_is_told(name: str, tmp_path: Path) -> None:
    """What is wrong with a rule is told in the project file, before anything is judged."""
    setting, says = WRONG_RULES[name]
    rule = f"rules:\n  - {{name: a, check: 'true', message: m, {setting}}}\n"

    (one,) = told(project_at(tmp_path, PROJECT + rule, slo=SLO))

    assert says in one["message"]
    assert (one["code"], one["file"], one["line"]) == ("P101", "reconciler.yaml", 7)


def test_two_rules_of_one_name_are_told(tmp_path: Path, golden: Golden) -> None:
    """No two rules have one name."""
    again = RULE + RULE.removeprefix("rules:\n")

    (one,) = told(project_at(tmp_path, PROJECT + again, slo=SLO))

    golden(one["message"])


def test_rules_are_given_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that is said to the process that judges holds names of secrets, and none of their values.

    Neither does what was live before, whatever the service answers.
    """
    said: list[str] = []
    tell = Process.told

    def heard(process: Process, line: Json, count: int) -> Any:
        said.append(json.dumps(line))
        return tell(process, line, count)

    monkeypatch.setattr(Process, "told", heard)
    monkeypatch.setenv("CHANNEL", "canary-secret-aa17")
    plan_rule = "  - {name: b, on: plan, check: size(change.fields) >= 0, message: m}\n"
    secret = DASHBOARD.replace("description: first", "description: ${secret:CHANNEL}")
    workspace = project_at(tmp_path, PROJECT + RULE + plan_rule, board=secret)

    assert workspace.apply().code == 0
    monkeypatch.setenv("CHANNEL", "canary-secret-bb28")
    workspace.write("board.yaml", secret.replace("name: Checkout", "name: Check out"))
    assert workspace.plan()["summary"]["update"] == 1

    text = "\n".join(said)
    assert "secret:CHANNEL" in text
    assert "canary-secret" not in text
    assert len([text for text in said if '"before"' in text]) == 2


def test_a_text_that_is_a_key_is_handed_to_no_rule(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A manifest that holds the API key itself is complained of, and no rule sees it."""
    said: list[str] = []
    tell = Process.told

    def heard(process: Process, line: Json, count: int) -> Any:
        said.append(json.dumps(line))
        return tell(process, line, count)

    monkeypatch.setattr(Process, "told", heard)
    monkeypatch.setenv("RECONCILER_API_KEY", "canary-key-0011223344556677")
    leaked = SLO.replace("name: Checkout", "name: canary-key-0011223344556677")
    workspace = project_at(tmp_path, PROJECT + RULE, slo=leaked)

    assert workspace.run("plan").code == 4
    assert "canary-key" not in "".join(said)


LISTING = """\
import json, subprocess, sys
from reconciler.__main__ import main
started = []
begin = subprocess.Popen.__init__
def noted(self, *a, **k):
    started.append(str(a[0] if a else k.get("args")))
    begin(self, *a, **k)
subprocess.Popen.__init__ = noted
try:
    main()
except SystemExit:
    pass
sys.stderr.write(json.dumps({"modules": sorted(sys.modules), "started": started}))
"""


@pytest.mark.slow
@pytest.mark.parametrize("has_rules", [False, True])
def test_rules_cost_nothing_where_there_are_none(has_rules: bool, tmp_path: Path) -> None:
    """Without rules `validate` loads nothing of them and starts no process; with them just one."""
    labelled = SLO.replace("{name: checkout}", "{name: checkout, labels: {team: a}}")
    project_at(tmp_path, PROJECT + (RULE if has_rules else ""), slo=labelled)

    ran = subprocess.run(
        [sys.executable, "-c", LISTING, "validate", "--quiet", str(tmp_path)],
        capture_output=True,
        check=True,
        text=True,
    )
    seen = json.loads(ran.stderr.splitlines()[-1])

    # The form of the setting is part of the project file.
    loaded = {
        module for module in seen["modules"] if module.startswith("reconciler.features.rules.")
    } - {"reconciler.features.rules.rule_settings"}
    started = [value for value in seen["started"] if "cel_worker" in value]
    assert (bool(loaded), len(started)) == (has_rules, has_rules)
    assert not any(module.startswith("cel_expr_python") for module in seen["modules"])


LONG = " ".join(f"w{number}" for number in range(6_000))
SLOW = """\
rules:
  - name: clean
    kinds: [SLO]
    message: no TODO
    check: >-
      !resource.spec.description.split(' ').exists(w,
      resource.spec.description.replace(w, '').contains('TODO'))
"""


@pytest.mark.slow
@pytest.mark.parametrize("silenced", ["", ", exempt: {R/clean: it is long}"])
@pytest.mark.parametrize("limited", [(), ("--select", "SLO/later")])
def test_a_rule_that_is_too_much_has_not_passed(
    silenced: str, limited: tuple[str, ...], tmp_path: Path
) -> None:
    """What a rule was never asked of is stopped by it, whatever made it too much, exempt or not."""
    first = SLO.replace("name: checkout}", f"name: checkout{silenced}}}", 1)
    first = first.replace("spec:\n", f"spec:\n  description: {LONG}\n")
    later = SLO.replace("name: checkout}", "name: later}", 1).replace(
        "spec:\n", "spec:\n  description: a TODO here\n"
    )
    workspace = project_at(tmp_path, PROJECT + SLOW, a=first, b=later)

    found = told(workspace, *limited)

    assert {("R/clean", "SLO/later")} <= {(value["code"], value["ref"]) for value in found}
    assert workspace.run("apply", "--yes", *limited).code == 4
