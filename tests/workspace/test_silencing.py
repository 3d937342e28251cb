"""Levels, comments that ignore, exemptions: which complaints are told. docs/practice.md."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import pytest
from harness.workspaces import PROJECT, Workspace, project_at
from hypothesis import given
from hypothesis import strategies as st

from reconciler.features import FEATURES
from reconciler.syntax.syntax_tree import Ignoring, ignoring_comments

TWO = """\
manifests: [.]
defaultEnvironment: local
environments:
  local:
    emulator: {data: .reconciler/local.db}
  other:
    emulator: {data: .reconciler/other.db}
"""


def alert(name: str = "Errors", more: str = "") -> str:
    """Give an alert without a description, whose name stands in line 5."""
    return f"""\
apiVersion: reconciler/v1
kind: AlertDefinition
metadata: {{name: errors, id: 2f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4a11}}
spec:
  name: {name}
  type: ALERT_DEF_TYPE_LOGS_IMMEDIATE_OR_UNSPECIFIED
  logsImmediate: {{}}
{more}"""


def told(workspace: Workspace, *options: str) -> tuple[list[str], int]:
    """Give the codes that validate tells, and how many complaints it ignores."""
    found = workspace.run("validate", "--format", "json", *options).json
    return [complaint["code"] for complaint in found["complaints"]], found["ignored"]


def test_nothing_is_said_of_comments_beside_errors(tmp_path: Path) -> None:
    """Where a manifest has errors it is not judged, so nobody can tell that a comment is idle."""
    ignored = "Errors  # reconciler: ignore[L201] nobody is called"
    wrong = alert(ignored).replace("name: errors", "name: errors, exempt: {L99: x}")
    workspace = project_at(tmp_path / "work", PROJECT, alert=wrong)

    assert told(workspace) == (["M210"], 0)
    workspace.write("alert.yaml", alert(ignored))
    assert told(workspace) == ([], 1)


@pytest.mark.parametrize(
    ("comment", "codes", "ignored"),
    [
        ("Errors  # reconciler: ignore[L201] nobody is called", [], 1),
        ("Errors  # reconciler: ignore[L201, M304] nobody is called", ["M117"], 1),
        ("Errors  # reconciler: ignore[L202] nobody is called", ["L201"], 0),
        ("Errors  # reconciler: ignore[L203] nobody is called", ["L201", "M117"], 0),
        ("Errors  # reconciler: ignore[L201]", ["L201", "M116"], 0),
        ("Errors  # reconciler: ignore[] why", ["L201", "M116"], 0),
        ("Errors  # reconciler: ignore why", ["L201", "M116"], 0),
        ("Errors  # reconciler: ignore[L2O1] why", ["L201", "M116"], 0),
        ("Errors  # reconciler: ignore[M401] why", ["L201", "M116"], 0),
        ("Errors  # see reconciler: ignore[L201] why", ["L201"], 0),
        ("'Errors # reconciler: ignore[L201] why'", ["L201"], 0),
        ("|  # reconciler: ignore[L201] why\n    Errors", [], 1),
        ("|\n    # reconciler: ignore[L201] why\n    Errors", ["L201"], 0),
        (">-\n    Errors # reconciler: ignore[L201] why", ["L201"], 0),
    ],
)
def test_a_comment_ignores_at_its_line(
    comment: str, codes: list[str], ignored: int, tmp_path: Path
) -> None:
    """A comment ignores the codes that it names, at its line, with a reason; a text never does."""
    workspace = project_at(tmp_path, alert=alert(comment))

    assert told(workspace) == (codes, ignored)


@pytest.mark.parametrize("between", ["", "\n", "  # of old\n"])
def test_a_comment_of_its_own_line_is_about_the_next(between: str, tmp_path: Path) -> None:
    """A comment on a line of its own is about the next line that holds something."""
    text = alert().replace(
        "  name: Errors", f"  # reconciler: ignore[L201] why\n{between}  name: Errors"
    )
    workspace = project_at(tmp_path, alert=text)

    assert told(workspace) == ([], 1)


QUERY = """\
apiVersion: reconciler/v1
kind: SLO
metadata: {{name: checkout, exempt: {{L302: it is watched elsewhere}}}}
spec:
  name: Checkout
  targetThresholdPercentage: 99.9
  requestBasedMetricSli:
    goodEvents:
      {above}
      query: |{beside}
        sum(
          rate(good[5m]{inside}
    totalEvents: {{query: all}}
"""
WHY = "# reconciler: ignore[L901] a function of our own"


@pytest.mark.parametrize(
    ("comment", "codes", "ignored"),
    [
        ({"above": WHY}, [], 1),
        ({"beside": f"  {WHY}"}, [], 1),
        ({"inside": f" {WHY}"}, ["L901"], 0),
        ({"above": WHY.replace("L901", "L902")}, ["M117", "L901"], 0),
        ({}, ["L901"], 0),
    ],
)
def test_a_comment_at_the_key_is_about_all_of_its_text(
    comment: dict[str, str], codes: list[str], ignored: int, tmp_path: Path
) -> None:
    """A complaint inside a text of several lines is ignored at the line of its key."""
    parts = {"above": "#", "beside": "", "inside": ""} | comment
    made = project_at(tmp_path, PROJECT, checkout=QUERY.format(**parts))

    assert told(made) == (codes, ignored)


@pytest.mark.parametrize(("code", "codes"), [("L203", []), ("L902", ["M117"])])
def test_a_comment_about_a_check_that_is_gone(code: str, codes: list[str], tmp_path: Path) -> None:
    """Without lint a comment about its codes is not idle; one about codes of queries still is."""
    text = alert(f"Errors  # reconciler: ignore[{code}] nobody is called")
    made = project_at(tmp_path, alert=text)

    with mock.patch.dict(FEATURES):
        del FEATURES["lint"]

        assert told(made) == (codes, 0)


def test_what_breaks_something_is_never_ignored(tmp_path: Path) -> None:
    """An error that has no level is told in spite of comment and exemption, which are wrong."""
    text = alert("[a]  # reconciler: ignore[M301] why").replace(
        "{name: errors,", "{name: errors, exempt: {M301: why},"
    )

    assert {"M301", "M116", "M210"} <= set(told(project_at(tmp_path, alert=text))[0])


def test_an_exemption_takes_a_complaint_away(tmp_path: Path) -> None:
    """What a manifest is exempted from is counted, and told no more."""
    text = alert().replace("{name: errors,", "{name: errors, exempt: {L201: nobody is called},")

    assert told(project_at(tmp_path, alert=text)) == ([], 1)


@pytest.mark.parametrize(
    ("level", "codes", "exits"), [("error", ["L201"], 4), ("warning", ["L201"], 0), ("off", [], 0)]
)
def test_the_level_of_a_code(level: str, codes: list[str], exits: int, tmp_path: Path) -> None:
    """`checks:` makes a complaint an error, a warning, or none at all, for plans as well."""
    workspace = project_at(tmp_path, f"{PROJECT}checks: {{L201: {level}}}\n", alert=alert())

    ran = workspace.run("validate", "--format", "json")

    assert ran.code == exits
    assert [complaint["code"] for complaint in ran.json["complaints"]] == codes
    assert (workspace.run("plan").code == 4) == (level == "error")


@pytest.mark.parametrize(
    ("checks", "says"),
    [
        ("{M401: off}", "is an error wherever it is found"),
        ("{M313: off}", "a key in git"),
        ("{L2O1: off}", "L201"),
        ("{L201: of}", "off"),
        ("{R/owner: off}", "there is no rule"),
    ],
)
def test_a_wrong_level(checks: str, says: str, tmp_path: Path) -> None:
    """A code that has no level, or a level that is none, is told at its place."""
    ran = project_at(tmp_path, f"{PROJECT}checks: {checks}\n", alert=alert()).run("validate")

    assert ran.code == 4
    assert "reconciler.yaml:6:" in ran.out
    assert says in ran.out


@pytest.mark.parametrize(("options", "exits"), [((), 0), (("--fail-on", "warning"), 4)])
def test_what_a_validation_fails_on(options: tuple[str, ...], exits: int, tmp_path: Path) -> None:
    """With `--fail-on warning` a warning is exit 4, and one that is ignored is not."""
    loud, quiet = tmp_path / "loud", tmp_path / "quiet"

    assert project_at(loud, alert=alert()).run("validate", *options).code == exits
    ignored = alert("Errors  # reconciler: ignore[L201] why")
    assert project_at(quiet, alert=ignored).run("validate", *options).code == 0


def test_a_comment_that_another_environment_needs_is_not_idle(tmp_path: Path) -> None:
    """A comment is told to ignore nothing only where that holds in every environment."""
    here = alert("A  # reconciler: ignore[L201] why").replace(
        "{name: errors,", "{name: errors, environments: [other],"
    )
    workspace = project_at(tmp_path, TWO, alert=here)

    assert told(workspace) == ([], 1)
    assert told(workspace, "-e", "local") == ([], 0)


def test_ignored_complaints_are_counted_in_words(tmp_path: Path) -> None:
    """The last line says how many complaints are ignored, and nothing where none is."""
    workspace = project_at(tmp_path, alert=alert("A  # reconciler: ignore[L201] why"))

    assert "0 warnings, 1 ignored" in workspace.run("validate").err
    sarif = workspace.run("validate", "--format", "sarif").json["runs"][0]
    assert (sarif["results"], sarif["properties"]) == ([], {"ignored": 1})


COMMENT = "# reconciler: ignore[L201] why"
STYLES = [
    ("a: b  {}\n", True),
    ("a: 'b'  {}\n", True),
    ("{}\na: b\n", True),
    ("a: |  {}\n  b\n", True),
    ("a: >\n  b\n{}\nc: d\n", True),
    ("a: [b,  {}\n  c]\n", True),
    ('a: "\\uD83D\\uDE00"  {}\n', True),
    ("a: 'b\n  {}\n  c'\n", False),
    ('a: "b {}"\n', False),
    ("a: |\n  {}\n", False),
    ("a: |\n  b\n\n  {}\n", False),
]


@given(styles=st.lists(st.sampled_from(STYLES), max_size=8))
def test_a_comment_is_told_from_a_text(styles: list[tuple[str, bool]]) -> None:
    """Of all places that read like a comment of ours, only comments are."""
    parts = [style.format(COMMENT) for style, _ in styles]
    text = "---\n".join(parts)

    found = ignoring_comments(text)

    lines = text.splitlines()
    assert len(found) == sum(is_comment for _, is_comment in styles)
    assert all(
        lines[ignoring.line - 1][ignoring.column - 1 :].startswith("# rec") for ignoring in found
    )
    assert all(ignoring.codes == ("L201",) and ignoring.reason == "why" for ignoring in found)


def test_a_text_without_the_mark_is_not_read() -> None:
    """Whatever does not hold the mark has no comments, however broken it is."""
    assert ignoring_comments("a: [ # ignore[L201] why") == []
    assert ignoring_comments("a: b  # reconciler: ignore[L201] x\nc: d") == [
        Ignoring(1, 7, 1, ("L201",), "x")
    ]
