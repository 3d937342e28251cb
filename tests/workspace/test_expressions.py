from __future__ import annotations

from pathlib import Path

import pytest
from harness.golden import Golden
from harness.workspaces import Workspace, project_at
from hypothesis import given, settings
from hypothesis import strategies as st
from wrong import PROJECT, board, board_of, slo

from reconciler.document import Json
from reconciler.model import Ref
from reconciler.project import ProjectVariable
from reconciler.redaction.templates import Template
from reconciler.workspace.expression_scope import Filled, Scope, fill

VARIABLES: dict[str, ProjectVariable] = {
    "team": "payments",
    "count": 5,
    "share": 0.5,
    "on": True,
    "empty": "",
}
SCOPE = Scope("local", VARIABLES, {"TOKEN": "s3cret-value"}, lambda: "salt")


def filled(text: str) -> Filled:
    return fill(text, SCOPE)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("${var:team}", "payments"),
        ("${var:count}", 5),
        ("${var:share}", 0.5),
        ("${var:on}", True),
        ("${var:empty}", ""),
        ("a ${var:team} b", "a payments b"),
        ("${var:count}%", "5%"),
        ("${var:on}!", "true!"),
        ("${var:team}${var:team}", "paymentspayments"),
        (" ${var:count}", " 5"),
    ],
)
def test_variables(written: str, value: Json) -> None:
    """A variable alone keeps its type; inside text it is text, spelled as YAML does."""
    found = filled(written)

    assert (found.document, type(found.document)) == (value, type(value))
    assert found.findings == []


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("$${var:team}", "${var:team}"),
        ("$${", "${"),
        ("a $${x} b", "a ${x} b"),
        ("$${var:team} ${var:team}", "${var:team} payments"),
        ("$$${var:team}", "$${var:team}"),
        ("${foo}", "${foo}"),
        ("${}", "${}"),
        ("${foo:bar}", "${foo:bar}"),
        ("${vars}", "${vars}"),
        ("${Var:}", "${Var:}"),
        ("${vars:a b}", "${vars:a b}"),
        ("${value:raw}", "${value:raw}"),
        ("${team:csv}", "${team:csv}"),
        ("${team.csv}", "${team.csv}"),
        ("${vars.team}", "${vars.team}"),
        ("${env.team}", "${env.team}"),
        ("${variable}", "${variable}"),
        ("${__from:date}", "${__from:date}"),
        ("{{ team }}", "{{ team }}"),
        ("${{ var:team }}", "${{ var:team }}"),
        ("$(var:team)", "$(var:team)"),
        ("$var:team", "$var:team"),
        ("$", "$"),
        ("$$", "$$"),
        ("{{#each x}}${{y}}", "{{#each x}}${{y}}"),
    ],
)
def test_what_is_data(written: str, value: str) -> None:
    """`$${` is a literal `${`; every other form is data that is sent as it stands."""
    found = filled(written)

    assert found.document == value
    assert type(found.document) is str
    assert found.findings == []


@given(st.text(st.sampled_from("ab${}:varsecretf/ \n")))
@settings(max_examples=200)
def test_any_text(written: str) -> None:
    """Any text is filled, or complained of; what holds no expression is not touched."""
    found = filled(written)

    if "${" not in written:
        assert found.document == written
    assert {finding.code for finding in found.findings} <= {"M501", "M502", "M504"}


@given(st.text(max_size=30))
@settings(max_examples=100)
def test_values_are_not_filled_again(value: str) -> None:
    """What a variable holds is data, though it looks like an expression."""
    scope = Scope("local", {"x": value, "y": "${secret:TOKEN}"}, {"TOKEN": "v"})

    assert fill("${var:x}|${var:y}", scope).document == f"{value}|${{secret:TOKEN}}"


def test_a_secret_is_sealed() -> None:
    """A secret is a template whose text names it and never holds it."""
    found = filled("Bearer ${secret:TOKEN}")

    assert isinstance(found.document, Template)
    assert found.document.startswith("Bearer ${secret:TOKEN sha256:")
    assert "s3cret" not in found.document + repr(found.document) + repr(found)


@pytest.mark.parametrize("secrets", [{}, {"TOKEN": ""}])
def test_a_secret_that_is_not_set(secrets: dict[str, str]) -> None:
    """A secret that is unset or empty is an error, where secrets are needed at all."""
    needed = fill("${secret:TOKEN}", Scope("local", {}, secrets))
    unneeded = fill("${secret:TOKEN}", Scope("local"))

    assert [finding.code for finding in needed.findings] == ["M502"]
    assert unneeded.findings == []


def test_all_references_of_a_text() -> None:
    """Each reference of a text is kept, also where several stand in one."""
    found = fill({"a": ["${ref:SLO/x} and ${ref:Dashboard/y}"]}, SCOPE)

    path = ("a", 0)
    assert [(reference.path, reference.ref) for reference in found.references] == [
        (path, Ref("SLO", "x")),
        (path, Ref("Dashboard", "y")),
    ]


def test_complaints_in_one_text() -> None:
    """Each wrong expression of a text has its own complaint, at the place of the text."""
    found = fill({"a": "${var:x} ${var:} ${secret:NO} ${ref:y}"}, SCOPE)

    assert [(finding.code, finding.path) for finding in found.findings] == [
        (code, ("a",)) for code in ("M501", "M504", "M502", "M504")
    ]


def test_keys_are_data() -> None:
    """An expression in a key is data: a key names a field."""
    assert fill({"${var:team}": 1}, SCOPE).document == {"${var:team}": 1}


@pytest.fixture
def project(tmp_path: Path) -> Workspace:
    return project_at(tmp_path, PROJECT)


def test_one_mistake_is_said_once(project: Workspace) -> None:
    """Who refers to a manifest that cannot be read is not told that it is not there."""
    project.write("board.yaml", board_of("lost.json"))
    project.write("slo.yaml", slo("description: ${ref:Dashboard/shop}"))

    ran = project.run("validate", "--format", "json")

    assert [complaint["code"] for complaint in ran.json["complaints"]] == ["M404"]


def test_variables_of_other_environments(project: Workspace, golden: Golden) -> None:
    """A manifest of other environments is not asked for variables of this one."""
    limited = slo("description: ${var:region}").replace(
        "name: checkout", "name: checkout\n  environments: [production]"
    )
    project.write("slo.yaml", limited)

    here, there = (project.run("validate", "-e", name) for name in ("local", "production"))

    assert (here.code, there.code) == (0, 4)
    golden(there.out)


def test_variables_make_names_and_ids(project: Workspace) -> None:
    """A variable may stand wherever a value does, also in metadata."""
    project.write("slo.yaml", slo().replace("name: checkout", "name: ${var:team}-slo"))
    project.write("board.yaml", board("slugName: ${var:team}"))

    plan = project.plan()

    assert [change["ref"] for change in plan["changes"]] == ["SLO/payments-slo", "Dashboard/shop"]


def test_a_secret_never_leaves(project: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a plan prints holds the seal of a secret and not its value."""
    monkeypatch.setenv("CANARY", "canary-5f1d")
    project.write("slo.yaml", slo("description: ${secret:CANARY}"))

    ran = project.run("plan", "--format", "json")

    assert ran.code == 0
    assert "canary" not in ran.out + ran.err
