"""Checks of practice: each is proved by its own examples. docs/practice.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from harness.explained import explained, manifest_of
from hypothesis import given
from hypothesis import strategies as st
from wrong import UUID

from reconciler.features.lint.lint import LintRule, off_by_default, practices_of
from reconciler.kinds import BY_NAME
from reconciler.project import ProjectFile
from reconciler.project.levels import PRACTICE, WARNED_OF
from reconciler.syntax.diagnostic import CODES, Complaint
from reconciler.workspace.expression_scope import Scope
from reconciler.workspace.workspace import load_workspace

ALL = [practice for kind in BY_NAME for practice in practices_of(kind)]
ON = ProjectFile.model_validate({"checks": dict.fromkeys(off_by_default(), "warning")})
PAGE = Path(__file__).parents[2] / "docs" / "practice.md"
HEAD = (
    f"apiVersion: reconciler/v1\nkind: AlertDefinition\nmetadata: {{name: a, id: {UUID}}}\nspec:\n"
)


def told(root: Path, text: str, settings: ProjectFile = ON, **files: str) -> list[Complaint]:
    """Load one file and give what is told of it."""
    for name, content in files.items():
        (root / f"{name}.json").write_text(content)
    file = root / "all.yaml"
    file.write_text(text)
    return [*load_workspace([file], root, Scope("local"), settings).complaints]


@pytest.mark.parametrize("practice", ALL, ids=lambda one: one.code)
def test_the_examples_of_a_check(practice: LintRule, tmp_path: Path) -> None:
    """What is wrong by a check gives its code alone, and what is right by it gives none."""
    wrong = {
        complaint.code for complaint in told(tmp_path, manifest_of(explained(practice.code).wrong))
    }
    right = [
        complaint.code for complaint in told(tmp_path, manifest_of(explained(practice.code).right))
    ]

    assert wrong == {practice.code}
    assert right == []


def test_each_code_is_one_check() -> None:
    """Every code of practice is declared once, by the kind whose hundred it is in."""
    hundreds = {kind: {practice.code[:2] for practice in practices_of(kind)} for kind in BY_NAME}

    assert sorted(lint_rule.code for lint_rule in ALL) == [
        code for code in CODES if code.startswith(PRACTICE) and not code.startswith("L9")
    ]
    assert all(len(own) <= 1 for own in hundreds.values()), hundreds


def test_the_page_names_what_is_off() -> None:
    """docs/practice.md names the checks that are off unless `checks:` asks for them."""
    (named,) = re.findall(r"\(`L…`\)\. (.*) are off unless", PAGE.read_text("utf-8"))

    assert re.findall(r"L\d{3}", named) == sorted(off_by_default())


def test_the_page_has_each_code_with_a_level() -> None:
    """docs/practice.md names every code that can be a warning."""
    (named,) = re.findall(r"can be warnings: ([M\d,\sand]+)\.", PAGE.read_text("utf-8"))

    assert re.findall(r"M\d{3}", named) == sorted(WARNED_OF)


@pytest.mark.parametrize("code", sorted(off_by_default()))
def test_what_is_off_is_not_looked_for(code: str, tmp_path: Path) -> None:
    """A check that is off by default says nothing unless the project file asks for it."""
    assert told(tmp_path, manifest_of(explained(code).wrong), ProjectFile()) == []


ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    *(
                        "dashboard",
                        "layout",
                        "sections",
                        "rows",
                        "widgets",
                        "definition",
                        "lineChart",
                    ),
                    *("queryDefinitions", "query", "metrics", "variables", "variablesV2", "name"),
                    *(
                        "policies",
                        "policy",
                        "logRules",
                        "severities",
                        "applicationRule",
                        "ruleTypeId",
                    ),
                    *("notificationGroup", "groupByKeys", "webhooks", "integration", "minutes"),
                    *("logsThreshold", "rules", "condition", "threshold", "evaluationDelayMs"),
                    *(
                        "logsRatioThreshold",
                        "numerator",
                        "denominator",
                        "simpleFilter",
                        "labelFilters",
                    ),
                    *("timeSelection", "customSelection", "targetThresholdPercentage", "priority"),
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=30,
)


@given(spec=st.dictionaries(st.sampled_from(["dashboard", "policies", "logsThreshold"]), ODD) | ODD)
def test_checks_take_anything(spec: object) -> None:
    """No check fails on a document of another form than it looks for."""
    document = spec if isinstance(spec, dict) else {}
    for practice in ALL:
        if practice.find is not None:
            assert all(found.message for found in practice.find(document))


def test_what_is_filled_in_late_is_not_judged(tmp_path: Path) -> None:
    """A text that holds a secret or a reference is neither empty, nor wrong, nor a twin."""
    spec = (
        "  name: ${secret:NAME}\n  description: ${secret:WHY}\n"
        "  groupByKeys: ['${secret:KEY}']\n  priority: ALERT_DEF_PRIORITY_P1\n"
        "  notificationGroup: {groupByKeys: [region], webhooks: [{integration: "
        "{recipients: {emails: ['${secret:MAIL}']}}}]}\n"
        "  type: ALERT_DEF_TYPE_LOGS_THRESHOLD\n"
        "  logsThreshold: {rules: [{condition: {conditionType: '${secret:HOW}', threshold: -1,"
        " timeWindow: {logsTimeWindowSpecificValue: '${secret:TIME}'}}}]}\n"
    )

    assert [
        complaint.code for complaint in told(tmp_path, HEAD + spec) if complaint.code[0] == "L"
    ] == []


def test_a_finding_in_an_export_stands_in_the_export(tmp_path: Path) -> None:
    """What is unwise in a file that `spec.file` names is told at its line there."""
    board = (
        '{"name": "Shop", "layout": {"sections": [{"rows": [{"widgets": [\n'
        '{"title": "A", "definition": {"gauge": {"query": {"metrics": {"promqlQuery":\n'
        '{"value": ""}}}}}}]}]}]}}\n'
    )
    manifest = (
        "apiVersion: reconciler/v1\nkind: Dashboard\nmetadata: {name: shop}\n"
        "spec: {file: export.json}\n"
    )

    (found,) = told(tmp_path, manifest, export=board)

    assert (found.code, found.file, found.line, found.column) == ("L402", "export.json", 3, 11)


@pytest.mark.parametrize(
    ("lines", "codes"),
    [
        ("  enabled: false", []),
        ("  phantomMode: true", []),
        ("  notificationGroup: {}", ["L203"]),
        ("  notificationGroup: {webhooks: [{integration: {}}]}", ["L203"]),
        ("  notificationGroup: {webhooks: [{integration: {recipients: {emails: []}}}]}", ["L203"]),
        ("  notificationGroup: {webhooks: [{integration: {integrationId: 7}}]}", []),
        ("  notificationGroup: {destinations: [{connectorId: chat}]}", []),
        ("  notificationGroupExcess: [{router: {}}]", []),
    ],
)
def test_whom_an_urgent_alert_reaches(lines: str, codes: list[str], tmp_path: Path) -> None:
    """A P1 is told of where it is awake and no group of it reaches anybody."""
    spec = "  name: A\n  description: https://x.example\n  priority: ALERT_DEF_PRIORITY_P1\n"
    kind = "  type: ALERT_DEF_TYPE_LOGS_IMMEDIATE_OR_UNSPECIFIED\n  logsImmediate: {}\n"

    found = told(tmp_path, f"{HEAD}{spec}{lines}\n{kind}", ProjectFile())

    assert [complaint.code for complaint in found if complaint.code.startswith(PRACTICE)] == codes
