"""`ci rollback`: one pull request with the manifests as they were before a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from harness.forge import REPOSITORY
from harness.jobs import JobRan, Jobs
from harness.repositories import git

BOARD = """\
# The board of the team.
apiVersion: reconciler/v1
kind: Dashboard
metadata: {name: board}
spec:
  dashboard:
    name: 'Board'   # as it is called
    layout: {sections: []}
"""
SLO = """\
apiVersion: reconciler/v1
kind: SLO
metadata: {name: made}
spec:
  name: Made
  targetThresholdPercentage: 99.9
  sloTimeFrame: SLO_TIME_FRAME_28_DAYS
  requestBasedMetricSli: {goodEvents: {query: good}, totalEvents: {query: all}}
"""


@pytest.fixture
def shop(jobs: Jobs, tmp_path: Path) -> Jobs:
    """Give a shop with a dashboard that was applied twice, and a server to push to."""
    (jobs.root / "board.yaml").write_text(BOARD, encoding="utf-8")
    server = tmp_path / "server.git"
    git(tmp_path, "init", "--quiet", "--bare", str(server))
    git(jobs.root, "remote", "add", "origin", str(server))
    assert jobs.merged(require_plan="none").code == 0
    jobs.edit("'Board'", "'Bord'", "board.yaml")
    assert jobs.merged(require_plan="none").code == 0
    git(jobs.root, "push", "--quiet", "origin", "main")
    return jobs


def roll_back(shop: Jobs, **inputs: str) -> JobRan:
    payload: dict[str, Any] = {
        "repository": {"full_name": REPOSITORY, "default_branch": "main"},
        "ref": "refs/heads/main",
    }
    return shop.job("rollback", "workflow_dispatch", payload, **inputs)


def journal(shop: Jobs) -> str:
    return (shop.root / ".reconciler" / "production.jsonl").read_text(encoding="utf-8")


@pytest.mark.promise("S45")
def test_one_pull_request(shop: Jobs) -> None:
    """The edit is proposed once, and after its merge the next job proposes nothing."""
    kept, writes = journal(shop), len(shop.service.writes)

    first = roll_back(shop, run="last")
    again = roll_back(shop, run="last")

    (request,) = shop.forge.requests_open
    assert (first.code, again.code) == (0, 0), first.log
    assert (first.outputs["result"], first.outputs["pull-request"]) == (
        "changes",
        request["html_url"],
    )
    branch = request["head"]["ref"]
    assert branch.startswith("reconciler/rollback-")
    assert "board.yaml" in request["body"]
    server = str(shop.root.parent / "server.git")
    assert git(shop.root, "--git-dir", server, "show", f"{branch}:board.yaml") == BOARD.rstrip("\n")
    assert (journal(shop), len(shop.service.writes)) == (kept, writes)
    git(shop.root, "fetch", "--quiet", "origin", branch)
    git(shop.root, "merge", "--quiet", "FETCH_HEAD")
    git(shop.root, "push", "--quiet", "origin", "main")
    merged = roll_back(shop, run="last")
    assert (merged.code, merged.outputs["result"]) == (0, "no-changes"), merged.log


@pytest.mark.promise("S45")
def test_what_cannot_be_placed(shop: Jobs) -> None:
    """What the run created is named in the body, and the job ends with 3 after the proposal."""
    (shop.root / "made.yaml").write_text(SLO, encoding="utf-8")
    shop.edit("'Bord'", "'Boards'", "board.yaml")
    assert shop.merged(require_plan="none").code == 0

    ran = roll_back(shop, run="last")

    (request,) = shop.forge.requests_open
    assert (ran.code, ran.outputs["failure-reason"]) == (3, "partial"), ran.log
    assert "SLO/made" in request["body"]
    assert "SLO/made" in ran.summary


@pytest.mark.parametrize("run", ["", "a b", "ffffffff"])
def test_a_run_is_named(shop: Jobs, run: str) -> None:
    """Without the id of a run of the journal the job ends with 64, and proposes nothing."""
    ran = roll_back(shop, run=run)

    assert ran.code == 64
    assert shop.forge.requests_open == []
