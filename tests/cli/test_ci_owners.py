"""Whose a change is, in the comment under it: by the base branch's file, and notifying nobody."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from harness.jobs import Jobs
from harness.repositories import committed, git

OWNED = "* @team/everybody\n*.yaml @team/payments [broken]\n*.yaml @team/payments\n"


def owned(jobs: Jobs, text: str = OWNED, place: str = "CODEOWNERS") -> None:
    """Commit a file of owners to the base branch."""
    file = jobs.root / place
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, encoding="utf-8")
    jobs.base = committed(jobs.root, "Owners")


def planned(jobs: Jobs) -> Any:
    """Run a job on the change; give its plan."""
    ran = jobs.change()
    assert ran.code == 0, ran.log
    return json.loads(Path(ran.outputs["plan-path"]).read_text(encoding="utf-8"))


def test_owners_in_the_comment(jobs: Jobs) -> None:
    """Each change has its owners, in the comment in a code span that notifies nobody."""
    owned(jobs)
    plan = planned(jobs)

    assert {tuple(change["owners"]) for change in plan["changes"]} == {("@team/payments",)}
    assert "- `@team/payments`: " in jobs.comment
    assert "@" not in jobs.comment.replace("`@team/payments`", "")


def test_owners_come_from_the_base(jobs: Jobs) -> None:
    """A change that makes itself the owner changes nothing in its own comment."""
    owned(jobs)
    git(jobs.root, "checkout", "--quiet", "-b", "change")
    (jobs.root / "CODEOWNERS").write_text("* @mallory\n", encoding="utf-8")
    (jobs.root / ".github").mkdir()
    (jobs.root / ".github" / "CODEOWNERS").write_text("* @mallory\n", encoding="utf-8")
    jobs.edit("description: first", "description: second")
    committed(jobs.root)
    plan = planned(jobs)

    assert {tuple(change["owners"]) for change in plan["changes"]} == {("@team/payments",)}
    assert "mallory" not in jobs.comment


def test_the_first_place_counts(jobs: Jobs) -> None:
    """Of several files the one of the forge's own folder is read, and no other."""
    owned(jobs, "* @team/first\n", ".github/CODEOWNERS")
    owned(jobs)

    assert {tuple(change["owners"]) for change in planned(jobs)["changes"]} == {("@team/first",)}


def test_what_is_nobodys(jobs: Jobs) -> None:
    """What no line matches is said to be nobody's, and without a file nothing is said."""
    owned(jobs, "other.yaml @team/other\n")
    assert {tuple(change["owners"]) for change in planned(jobs)["changes"]} == {()}
    assert "- nobody: " in jobs.comment

    (jobs.root / "CODEOWNERS").unlink()
    jobs.base = committed(jobs.root, "No owners")
    assert not any("owners" in change for change in planned(jobs)["changes"])
    assert "Owners and last edits" not in jobs.comment


def test_owners_are_mentioned_where_the_base_asks(jobs: Jobs) -> None:
    """Owners are notified once the base branch's project file says so, and not before."""
    project = jobs.root / "reconciler.yaml"
    text = project.read_text(encoding="utf-8")
    owned(jobs)
    git(jobs.root, "checkout", "--quiet", "-b", "change")
    project.write_text(f"mentionOwners: true\n{text}", encoding="utf-8")
    committed(jobs.root)
    planned(jobs)
    assert "- `@team/payments`: " in jobs.comment

    jobs.base = committed(jobs.root, "Merged")
    planned(jobs)
    assert "- @team/payments: " in jobs.comment


def test_hostile_owners(jobs: Jobs) -> None:
    """What is no owner by the forge's rules is skipped, so that it can speak nowhere."""
    owned(jobs, "* @team/payments\n* @a](javascript:x) <script>\n*.yaml `@b`|\n")

    assert {tuple(change["owners"]) for change in planned(jobs)["changes"]} == {("@team/payments",)}
