"""One manifest with all that is put into it, as a text to read."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.doors import Ran, typed
from harness.golden import Golden
from harness.workspaces import Workspace, project_at

from reconciler.errors import UsageError
from reconciler.features.explain.field_reference import expanded
from reconciler.operations.open_project import Options

TEXT = """\
apiVersion: reconciler/v1
kind: SLO
metadata: {name: "${each:service}", labels: {team: "${var:team}"}}
forEach: [{service: a, goal: 99}, {service: b, goal: 98}]
spec:
  name: ${each:service}
  description: $${each:x} by ${secret:TOKEN}
  targetThresholdPercentage: ${each:goal}
  sloTimeFrame: SLO_TIME_FRAME_28_DAYS
  requestBasedMetricSli: ${file:sli.yaml}
overrides:
  local: {targetThresholdPercentage: 50.5}
"""
PROJECT = """\
defaultEnvironment: local
environments:
  local:
    emulator: {data: local.db}
    variables: {team: x}
"""


def asked(root: Path) -> Options:
    return Options(
        paths=(), environment=None, project=root / "reconciler.yaml", verbose=False, quiet=True
    )


def test_it_declares_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The expanded manifest shows no secret, and is of itself what the template makes of it."""
    monkeypatch.setenv("TOKEN", "hunter2hunter2")
    sli = "{goodEvents: {query: good}, totalEvents: {query: all}}\n"
    made = project_at(tmp_path / "a", PROJECT, slo=TEXT, sli=sli)

    text = expanded(asked(made.root), "SLO/b")

    assert "hunter2" not in text
    assert "targetThresholdPercentage: 50.5" in text
    assert "item 2 (service: b)" in text
    assert "forEach" not in text.replace("by forEach", "")
    other = project_at(tmp_path / "b", PROJECT, slo=text)
    both = [
        {change["ref"]: change["fields"] for change in workspace.plan()["changes"]}["SLO/b"]
        for workspace in (made, other)
    ]
    assert both[0] == both[1]


def test_an_unknown_resource_gets_a_suggestion(tmp_path: Path) -> None:
    """A resource that is not declared is refused, with the name that was likely meant."""
    made = project_at(tmp_path, PROJECT, slo=TEXT, sli="{}")

    with pytest.raises(UsageError, match="did you mean SLO/a"):
        expanded(asked(made.root), "SLo/a")


def shown(made: Workspace, *words: str) -> Ran:
    return typed("explain", "--project", str(made.root / "reconciler.yaml"), *words)


def test_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`explain --expanded` prints the manifest alone, of the environment that is asked for."""
    monkeypatch.delenv("TOKEN", raising=False)
    project = f"{PROJECT}  other: {{emulator: {{data: o.db}}, variables: {{team: 'y'}}}}\n"
    sli = "{goodEvents: {query: good}, totalEvents: {query: all}}\n"
    made = project_at(tmp_path, project, slo=TEXT, sli=sli)

    here = shown(made, "--expanded", "SLO/a")
    there = shown(made, "SLO/a", "--expanded", "-e", "other")

    assert (here.code, there.code) == (0, 0)
    assert "targetThresholdPercentage: 50.5" in here.out
    assert "targetThresholdPercentage: 99" in there.out
    assert "${secret:TOKEN}" in here.out
    assert here.out.startswith("# slo.yaml:1, item 1 ")


@pytest.mark.parametrize(
    "words",
    [
        ("--expanded", "SLO/a", "SLO/b"),
        ("--expanded", "SLO/a", "--format", "json"),
        ("--expanded", "SLO/a", "--recursive"),
        ("--expanded", "SLO/A"),
        ("--expanded", "SLO/a", "-e", "nowhere"),
        ("--expanded",),
        ("SLO.name", "-e", "local"),
        ("M303",),
    ],
)
def test_what_cannot_be_asked(tmp_path: Path, words: tuple[str, ...]) -> None:
    """Anything but one resource that is declared is a wrong use of the command."""
    sli = "{goodEvents: {query: good}, totalEvents: {query: all}}\n"
    made = project_at(tmp_path, PROJECT, slo=TEXT, sli=sli)

    ran = shown(made, *words)

    assert (ran.code, ran.out) == (64, "")


def test_a_broken_workspace(tmp_path: Path) -> None:
    """Manifests with errors are complained of, and nothing is shown of them."""
    made = project_at(tmp_path, PROJECT, slo=TEXT, sli="[\n")

    ran = shown(made, "--expanded", "SLO/a")

    assert (ran.code, ran.out) == (4, "")
    assert "sli.yaml:1:1" in ran.err


def test_what_no_file_holds(tmp_path: Path, golden: Golden) -> None:
    """What was put together is refused where it is larger than a manifest may be."""
    large = PROJECT.replace("team: x", f"team: x, large: {'y' * 600_000}")
    sli = "{goodEvents: {query: good}, totalEvents: {query: all}}\n"
    text = TEXT.replace("by ${secret:TOKEN}", "${var:large} ${var:large}")
    made = project_at(tmp_path, large, slo=text, sli=sli)

    ran = shown(made, "--expanded", "SLO/a")

    assert (ran.code, ran.out) == (4, "")
    golden(ran.err)
