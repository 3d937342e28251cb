"""Plans that were approved, and what happened since: only what was reviewed is applied.

`APPROVED_PLANS=1000` tries a thousand.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from harness.doors import KEY
from harness.jobs import Jobs
from harness.repositories import git

PLANS = int(os.environ.get("APPROVED_PLANS", "10"))
ROOT = "/mgmt/openapi/latest/v1/dashboards"


def live_edit(jobs: Jobs, number: int, *, touch: bool) -> None:
    """Let somebody save the dashboard: as it is, which moves its time, or with another name."""
    with httpx.Client(base_url=jobs.service.base_url, headers={"Authorization": KEY}) as client:
        found = client.get(f"{ROOT}/by-slug/checkout").raise_for_status().json()
        dashboard: dict[str, Any] = found["dashboard"]
        if not touch:
            dashboard["description"] = f"by hand {number}"
        body = {"dashboard": dashboard, "requestId": f"r{number}"}
        client.put(f"{ROOT}/dashboards", json=body).raise_for_status()


def rewrite(jobs: Jobs, change: Callable[[str], str]) -> None:
    """Change the text of the manifests."""
    file = jobs.root / "all.yaml"
    file.write_text(change(file.read_text(encoding="utf-8")), encoding="utf-8")


HARMLESS: dict[str, Callable[[Jobs, int], None]] = {
    "nothing": lambda _shop, _number: None,
    "comment": lambda jobs, number: rewrite(jobs, lambda text: f"# round {number}\n{text}"),
    "spelling": lambda jobs, _: rewrite(jobs, lambda text: text.replace("99.9", "99.90")),
    "touch": lambda jobs, number: live_edit(jobs, number, touch=True),
}
HARMFUL: dict[str, Callable[[Jobs, int], None]] = {
    "manifest": lambda jobs, number: rewrite(
        jobs, lambda text: text.replace("Checkout", f"Checkout {number}", 1)
    ),
    "live": lambda jobs, number: live_edit(jobs, number, touch=False),
    "gone": lambda jobs, _: rewrite(jobs, lambda text: text.rpartition("---\n")[0]),
}


def reviewed(jobs: Jobs, before: str, after: str) -> str:
    """Plan an edit of the manifests as a pull request, and merge it; give the commit."""
    rewrite(jobs, lambda text: text.replace(before, after, 1))
    assert jobs.change().outputs["result"] == "changes"
    return jobs.merge()


def since(jobs: Jobs, commit: str, *files: str, status: str = "ahead") -> None:
    """Let the default branch have another newest commit by now, with these files changed."""
    newest = "d" * 40
    jobs.forge.newest["main"] = newest
    told = [{"filename": file} for file in files]
    jobs.forge.compared[f"{commit}...{newest}"] = {"status": status, "files": told}


@pytest.mark.parametrize("applied_before", [True, False])
def test_a_job_that_runs_again_after_a_revert(jobs: Jobs, *, applied_before: bool) -> None:
    """What was reverted since does not come back, whether the job had applied it or not."""
    jobs.merged(require_plan="none")
    one = reviewed(jobs, "description: first", "description: second")
    if applied_before:
        assert jobs.merged(commit=one).outputs["result"] == "applied"
    rewrite(jobs, lambda text: text.replace("description: second", "description: first", 1))
    jobs.merge()
    assert jobs.merged(require_plan="none").code == 0
    git(jobs.root, "checkout", "-q", one)
    since(jobs, one, "all.yaml")
    writes = len(jobs.service.writes)
    again = jobs.merged(commit=one)

    assert (again.code, again.outputs["result"]) == (6, "stale"), again.log
    # Once applied, what it wrote is part of what is compared, so the plan itself is another.
    assert applied_before or "`all.yaml`" in again.log
    assert len(jobs.service.writes) == writes


@pytest.mark.parametrize(
    ("files", "status", "code"),
    [
        ([], "ahead", 0),
        (["README.md", "docs/all.yaml"], "ahead", 0),
        (["reconciler.yaml"], "ahead", 6),
        (["README.md", "all.yaml"], "ahead", 6),
        ([], "behind", 6),
        ([], "diverged", 6),
        ([f"{number}.md" for number in range(300)], "ahead", 6),
    ],
)
def test_a_branch_that_moved_on(jobs: Jobs, files: list[str], status: str, code: int) -> None:
    """An apply goes on while the branch still declares what it writes, and only then."""
    jobs.merged(require_plan="none")
    one = reviewed(jobs, "description: first", "description: second")
    since(jobs, one, *files, status=status)
    ran = jobs.merged(commit=one)

    assert ran.code == code, ran.log


def test_a_forge_that_does_not_tell(jobs: Jobs) -> None:
    """Where nobody can tell whether the branch moved on, that is said, and the review counts."""
    jobs.merged(require_plan="none")
    one = reviewed(jobs, "description: first", "description: second")
    ran = jobs.merged(commit=one)
    since(jobs, one)
    told = jobs.merged(commit=one)

    assert (ran.code, ran.outputs["result"]) == (0, "applied")
    assert "`main`" in ran.log
    assert "`main`" not in told.log


def test_approved_plans(jobs: Jobs) -> None:
    """None is applied with another digest; none is refused for what moves by itself."""
    chance = random.Random(7)  # noqa: S311 - no secret
    jobs.merged(require_plan="none")
    text = (jobs.root / "all.yaml").read_text(encoding="utf-8")
    for number in range(PLANS):
        changed = text.replace("description: first", f"description: round {number}")
        (jobs.root / "all.yaml").write_text(changed, encoding="utf-8")
        planned = jobs.change()
        assert planned.outputs["result"] == "changes", (number, planned.log)
        is_harmful = number % 2 == 1
        name, since = chance.choice(sorted((HARMFUL if is_harmful else HARMLESS).items()))
        since(jobs, number)
        writes = len(jobs.service.writes)
        ran = jobs.merged()

        wanted = (6, "stale") if is_harmful else (0, "applied")
        assert (ran.code, ran.outputs["result"]) == wanted, (number, name, ran.log)
        assert (len(jobs.service.writes) == writes) is is_harmful, (number, name)
        jobs.forge.requests.clear()
