"""Reports of a selection: JUnit and SARIF count what was selected, and name nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from harness.workspaces import Workspace
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

PROJECT = """\
manifests: [.]
environments:
  local: {emulator: {data: .reconciler/local.db}}
  production: {baseUrl: "https://api.example.com"}
"""
ENDS = {
    "good": "99.9",
    "wrong": "high",
    "warned": "0.99",
    "ignored": "0.99 # reconciler: ignore[M314] meant",
    "exempted": "0.98",
    "elsewhere": "99.8",
}


def text_of(name: str, team: str, end: str) -> str:
    """Give an SLO of a team that comes to such an end."""
    more = {
        "elsewhere": ", environments: [production]",
        "exempted": ", exempt: {M314: meant}",
    }.get(end, "")
    return (
        "apiVersion: reconciler/v1\nkind: SLO\n"
        f"metadata: {{name: {name}, labels: {{team: {team}}}{more}}}\n"
        f"spec:\n  name: {name}\n"
        "  requestBasedMetricSli: {goodEvents: {query: good}, totalEvents: {query: all}}\n"
        f"  targetThresholdPercentage: {ENDS[end]}\n"
    )


DECLARED = st.lists(
    st.tuples(st.sampled_from(["pay", "shop"]), st.sampled_from(sorted(ENDS))), max_size=7
)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    made = Workspace(tmp_path)
    made.settle(PROJECT)
    return made


def declare(workspace: Workspace, declared: list[tuple[str, str]]) -> dict[str, str]:
    """Write each SLO into a file of its own; give the ends of those of `pay` by their names."""
    for file in workspace.root.glob("slo-*.yaml"):
        file.unlink()
    for number, (team, end) in enumerate(declared):
        name = f"slo-{number}"
        workspace.write(f"{name}.yaml", text_of(name, team, end))
    return {f"slo-{nth}": end for nth, (team, end) in enumerate(declared) if team == "pay"}


PAY = ("validate", "-e", "local", "--select", "label.team=pay", "--format")
NOT_SHOP = ("validate", "-e", "local", "--exclude", "label.team=shop", "--format")
FEW = settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@FEW
@given(declared=DECLARED)
def test_junit_of_a_selection(workspace: Workspace, declared: list[tuple[str, str]]) -> None:
    """JUnit has one case for each selected resource, with its end, and none for another."""
    ends = declare(workspace, declared)

    for flags in (PAY, NOT_SHOP):
        root = ET.fromstring(workspace.run(*flags, "junit").out)  # noqa: S314 - our own

        states = {case.get("name"): next(iter(case), case).tag for case in root.iter("testcase")}
        told = {"wrong": "failure", "warned": "system-out", "elsewhere": "skipped"}
        assert states == {name: told.get(end, "testcase") for name, end in ends.items()}
        counts = {name: int(root.get(name, "")) for name in ("tests", "failures", "skipped")}
        assert counts == {
            "tests": len(ends),
            "failures": [*ends.values()].count("wrong"),
            "skipped": [*ends.values()].count("elsewhere"),
        }


@FEW
@given(declared=DECLARED)
def test_sarif_of_a_selection(workspace: Workspace, declared: list[tuple[str, str]]) -> None:
    """SARIF has the complaints of what is selected, and counts what is ignored there alone."""
    ends = declare(workspace, declared)

    (run,) = json.loads(workspace.run(*PAY, "sarif").out)["runs"]

    places = [result["locations"][0]["physicalLocation"] for result in run["results"]]
    assert sorted(place["artifactLocation"]["uri"] for place in places) == sorted(
        f"{name}.yaml" for name, end in ends.items() if end in {"wrong", "warned"}
    )
    silent = [end for end in ends.values() if end in {"ignored", "exempted"}]
    left_out = [end for team, end in declared if team == "shop" and end != "elsewhere"]
    assert run["properties"] == {
        "ignored": len(silent),
        "selection": {"select": ["label.team=pay"], "exclude": [], "leftOut": len(left_out)},
    }


def test_sarif_of_selections_is_kept_apart(workspace: Workspace) -> None:
    """Results of a selection replace those of the same selection alone, never those of all."""
    declare(workspace, [("pay", "wrong"), ("shop", "wrong")])

    ids = [
        json.loads(workspace.run(*flags, "sarif").out)["runs"][0]["automationDetails"]["id"]
        for flags in (PAY, PAY, NOT_SHOP, ("validate", "-e", "local", "--format"))
    ]

    assert ids[0] == ids[1]
    assert len(set(ids)) == 3
    assert ids[3] == "reconciler/local/"


def test_what_is_not_selected_is_not_repaired(workspace: Workspace) -> None:
    """`--fix` with a selection repairs the selected documents of a file and leaves the others."""
    pasted = [
        text_of(f"slo-{team}", team, "good") + "  createTime: '2026-01-02T03:04:05Z'\n"
        for team in ("pay", "shop")
    ]
    workspace.write("both.yaml", "---\n".join(pasted))

    workspace.run("validate", "--fix", "--select", "label.team=pay")

    mended = (workspace.root / "both.yaml").read_text(encoding="utf-8").split("---\n")
    assert ["createTime" in text for text in mended] == [False, True]
