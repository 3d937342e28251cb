"""`validate --changed-since`: complaints of what a branch touched, and of what refers to it."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.doors import typed
from harness.repositories import begin
from harness.workspaces import ALERT, PROJECT, SLO, Workspace, project_at

UNDESCRIBED = ALERT.replace("  description: Whoever is on call looks at the checkout.\n", "")
SECOND = UNDESCRIBED.replace("name: errors, id: 2f6a1c1e", "name: slow, id: 3f6a1c1e")
WATCHING = (
    UNDESCRIBED.replace("name: errors, id: 2f6a1c1e", "name: budget, id: 4f6a1c1e")
    .replace("LOGS_IMMEDIATE_OR_UNSPECIFIED", "SLO_THRESHOLD")
    .replace(
        "  logsImmediate: {}\n",
        "  sloThreshold: {sloDefinition: {sloId: '${ref:SLO/checkout}'}}\n",
    )
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """Return a repository with two alerts in one file, an SLO, and an alert that watches it."""
    monkeypatch.chdir(tmp_path)
    found = project_at(tmp_path, slo=SLO, alerts=f"{UNDESCRIBED}---\n{SECOND}", watching=WATCHING)
    begin(tmp_path)
    return found


def about(*arguments: str) -> set[str]:
    """Return the resources that have complaints, or the files where the text itself is wrong."""
    found = typed("validate", "--format", "json", *arguments).json["complaints"]
    return {one.get("ref") or one["file"] for one in found}


SINCE = ("--changed-since", "HEAD")


@pytest.mark.usefixtures("project")
def test_nothing_changed() -> None:
    """Of a tree as committed nothing is reported, however many old complaints there are."""
    assert about() >= {"AlertDefinition/errors", "AlertDefinition/slow"}
    assert about(*SINCE) == set()
    assert "left out" in typed("validate", *SINCE).err


def test_only_the_edited_document_of_a_file(project: Workspace) -> None:
    """Another resource of the same file is left out, also where its lines moved."""
    edited = UNDESCRIBED.replace("name: Errors", "name: More\n  # of them\n")
    project.write("alerts.yaml", f"{edited}---\n{SECOND}")

    assert about(*SINCE) == {"AlertDefinition/errors"}


def test_what_refers_to_it(project: Workspace) -> None:
    """A resource that refers to a changed one is reported with it."""
    project.write("slo.yaml", SLO.replace("99.9", "99.5"))

    assert about(*SINCE) == {"AlertDefinition/budget"}


def test_what_lost_its_target(project: Workspace) -> None:
    """A reference to what the branch removed is reported, though its own file is as it was."""
    (project.root / "slo.yaml").unlink()

    assert "AlertDefinition/budget" in about(*SINCE)


def test_a_changed_project_file(project: Workspace) -> None:
    """Variables and levels of checks are about every manifest, so everything is reported."""
    project.settle(f"{PROJECT}checks: {{L201: error}}\n")

    assert about(*SINCE) == about()


def test_a_new_file_and_a_broken_one(project: Workspace) -> None:
    """What is not committed yet is a change, and so is text that cannot be read any more."""
    project.write("new.yaml", SECOND.replace("name: slow, id: 3f", "name: new, id: 5f"))
    project.write("slo.yaml", "kind: [\n")

    assert about(*SINCE) == {"AlertDefinition/budget", "AlertDefinition/new", "slo.yaml"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--changed-since", "no-such"], "no-such"),
        (["--changed-since", ""], "revision"),
        (["--fix", *SINCE], "--fix"),
        (["--update-baseline", *SINCE], "give one"),
    ],
    ids=str,
)
@pytest.mark.usefixtures("project")
def test_what_cannot_be_compared(arguments: list[str], said: str) -> None:
    """An unknown revision is a usage error, and so is a repair of a part."""
    ran = typed("validate", *arguments)

    assert ran.code == 64
    assert said in ran.err


def test_without_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Outside of a repository there is nothing to compare with."""
    project_at(tmp_path, PROJECT, slo=SLO)
    monkeypatch.chdir(tmp_path)

    assert typed("validate", *SINCE).code == 64
