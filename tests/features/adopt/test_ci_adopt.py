"""`ci drift` with `adopt: pull-request`: one pull request, kept up to date, of trusted commits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from harness.forge import REPOSITORY, Fault
from harness.golden import Golden
from harness.jobs import JobRan, Jobs
from harness.repositories import git

ROOT = "/mgmt/openapi/latest"
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
BRANCH = "reconciler/adopt-production"


@pytest.fixture
def shop(jobs: Jobs, tmp_path: Path) -> Jobs:
    """Give a shop with a dashboard that is applied, and a server to push to."""
    (jobs.root / "board.yaml").write_text(BOARD, encoding="utf-8")
    server = tmp_path / "server.git"
    git(tmp_path, "init", "--quiet", "--bare", str(server))
    git(jobs.root, "remote", "add", "origin", str(server))
    assert jobs.merged(require_plan="none").code == 0
    git(jobs.root, "push", "--quiet", "origin", "main")
    return jobs


def edit_live(shop: Jobs, name: str) -> None:
    """Let somebody rename the dashboard live."""
    headers = {"Authorization": shop.key}
    with httpx.Client(base_url=shop.service.base_url, headers=headers) as client:
        board = client.get(f"{ROOT}/v1/dashboards/by-slug/board").json()["dashboard"]
        body = {"dashboard": {**board, "name": name}, "requestId": name}
        assert client.put(f"{ROOT}/v1/dashboards/dashboards", json=body).is_success


def drift(shop: Jobs, **inputs: str) -> JobRan:
    """Run the nightly job."""
    payload: dict[str, Any] = {"repository": {"full_name": REPOSITORY, "default_branch": "main"}}
    return shop.job("drift", "schedule", payload, **{"adopt": "pull-request", **inputs})


def proposed(shop: Jobs) -> str:
    """Give the manifest as the branch has it."""
    return git(
        shop.root, "--git-dir", str(shop.root.parent / "server.git"), "show", f"{BRANCH}:board.yaml"
    )


def test_one_pull_request(shop: Jobs) -> None:
    """What was edited live is proposed once, updated as it changes, and closed once it is gone."""
    book = (shop.root / ".reconciler" / "production.jsonl").read_text(encoding="utf-8")
    edit_live(shop, "Live")
    first = drift(shop)
    again = drift(shop)

    (request,) = shop.forge.requests_open
    assert (first.code, again.code) == (0, 0), first.log
    assert first.outputs["pull-request"] == request["html_url"]
    assert request["head"] == {"ref": BRANCH}
    assert request["base"] == {"ref": "main"}
    assert "Dashboard/board" in request["body"]
    assert "last changed by" in request["body"]
    assert proposed(shop) == BOARD.replace("'Board'", "'Live'").rstrip("\n")
    assert (
        Path(first.outputs["plan-path"]).read_text(encoding="utf-8").startswith("<!doctype html>")
    )
    assert first.outputs["artifact-name"] == "drift-default"
    assert (shop.root / "board.yaml").read_text(encoding="utf-8") == BOARD
    assert (shop.root / ".reconciler" / "production.jsonl").read_text(encoding="utf-8") == book

    edit_live(shop, "Later")
    assert drift(shop).code == 0
    assert "'Later'" in proposed(shop)
    assert len(shop.forge.requests_open) == 1

    edit_live(shop, "Board")
    assert drift(shop).code == 0
    assert [value["state"] for value in shop.forge.requests_open] == ["closed"]


def test_after_the_merge_nothing_is_to_do(shop: Jobs) -> None:
    """The apply after the merge finds live as declared, and drift is over."""
    edit_live(shop, "Live")
    drift(shop)
    git(shop.root, "fetch", "--quiet", "origin", BRANCH)
    git(shop.root, "merge", "--quiet", "FETCH_HEAD")

    applied = shop.merged(require_plan="none")

    assert (applied.code, applied.outputs["result"]) == (0, "no-changes"), applied.log
    assert drift(shop).outputs["result"] == "no-changes"


def test_work_of_others_stays(shop: Jobs, golden: Golden) -> None:
    """A branch on which somebody else has committed is not written over, and that is said."""
    edit_live(shop, "Live")
    drift(shop)
    git(shop.root, "fetch", "--quiet", "origin", BRANCH)
    git(shop.root, "checkout", "--quiet", "-b", "theirs", "FETCH_HEAD")
    git(shop.root, "commit", "--quiet", "--allow-empty", "--message", "Mine")
    git(shop.root, "push", "--quiet", "origin", f"theirs:{BRANCH}")
    git(shop.root, "checkout", "--quiet", "main")
    edit_live(shop, "Later")

    ran = drift(shop)

    assert ran.code == 4
    golden(ran.log)
    assert "'Live'" in proposed(shop)


def test_an_untrusted_change_proposes_nothing(shop: Jobs) -> None:
    """A pull request's own job pushes no branch, whatever its inputs say."""
    edit_live(shop, "Live")
    shop.edit("'Board'", "'Other'", "board.yaml")
    shop.merge()

    ran = shop.change("drift", adopt="pull-request")

    assert ran.code != 0
    assert shop.forge.requests_open == []
    assert BRANCH not in git(shop.root, "ls-remote", "origin")


def test_without_a_forge(shop: Jobs) -> None:
    """Elsewhere the branch is pushed, and the body printed."""
    edit_live(shop, "Live")
    environ = {"RECONCILER_API_KEY": shop.key}
    ran = shop.run("drift", environ, adopt="pull-request", base_url=shop.service.base_url)

    assert ran.code == 0, ran.log
    assert "Live edits of" in ran.log
    assert "'Live'" in proposed(shop)
    assert json.dumps(shop.forge.requests_open) == "[]"


def test_requests_of_forks_stay(shop: Jobs) -> None:
    """A pull request of a fork whose branch has our name is neither changed nor closed."""
    theirs = {
        "number": 66,
        "state": "open",
        "title": "Theirs",
        "body": "theirs",
        "head": {"ref": BRANCH, "repo": {"full_name": "mallory/shop"}},
        "base": {"ref": "main"},
    }
    gone = {**theirs, "number": 67, "head": {"ref": BRANCH, "repo": None}}
    shop.forge.requests_open[:] = [json.loads(json.dumps(value)) for value in (theirs, gone)]

    nothing = drift(shop)
    edit_live(shop, "Live")
    ran = drift(shop)

    assert (nothing.code, ran.code) == (0, 0), ran.log
    assert shop.forge.requests_open[:2] == [theirs, gone]
    assert shop.forge.requests_open[2]["head"] == {"ref": BRANCH}


def test_two_jobs_at_once(shop: Jobs) -> None:
    """A pull request that another job opened meanwhile is the one, and no second is opened."""
    edit_live(shop, "Live")
    assert drift(shop).code == 0
    (opened,) = shop.forge.requests_open
    # The list that this job is given is of before.
    shop.forge.faults.append(Fault("GET", f"/repos/{REPOSITORY}/pulls", 200, []))

    ran = drift(shop)

    assert ran.code == 0, ran.log
    assert shop.forge.requests_open == [opened]
    assert ran.outputs["pull-request"] == opened["html_url"]


def test_hostile_names(shop: Jobs) -> None:
    """What somebody wrote live ends no fence of the body, mentions nobody and makes no link."""
    hostile = "x\n```\n</details>\n# @team/all [a](https://evil.example) <script>\n````"
    edit_live(shop, hostile)

    ran = drift(shop)

    assert ran.code == 0, ran.log
    (request,) = shop.forge.requests_open
    outside, is_fenced = [], False
    for line in request["body"].splitlines():
        if line.startswith("```"):
            is_fenced = not is_fenced
        elif not is_fenced:
            outside.append(line)
    assert not is_fenced
    assert "@team" not in "".join(outside)
    assert "evil" not in "".join(outside)
    assert "<script>" not in "".join(outside)


@pytest.mark.parametrize("status", [403, 404])
def test_a_token_that_may_not(shop: Jobs, status: int) -> None:
    """Where the token may open no pull request, the job says so and fails; the branch is there."""
    edit_live(shop, "Live")
    refusal = {"message": "Resource not accessible by integration"}
    shop.forge.faults.append(Fault("POST", f"/repos/{REPOSITORY}/pulls", status, refusal, times=9))

    ran = drift(shop)

    assert ran.code == 4
    assert "cannot be proposed" in ran.log
    assert "'Live'" in proposed(shop)
    shop.forge.faults.clear()
    assert drift(shop).code == 0
    assert len(shop.forge.requests_open) == 1


def test_a_server_that_takes_no_push(shop: Jobs) -> None:
    """Where the server takes no branch, nothing is opened, and git's reason is told."""
    edit_live(shop, "Live")
    hook = shop.root.parent / "server.git" / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho protected; exit 1\n", encoding="utf-8")
    hook.chmod(0o755)

    ran = drift(shop)

    assert ran.code == 4
    assert "cannot be proposed" in ran.log
    assert shop.forge.requests_open == []


def test_base_that_moved(shop: Jobs) -> None:
    """After others merged, the branch is that of the newest commit, with the edit alone."""
    edit_live(shop, "Live")
    drift(shop)
    (shop.root / "README.md").write_text("new\n", encoding="utf-8")
    git(shop.root, "add", "README.md")
    git(shop.root, "commit", "--quiet", "--message", "Other work")
    git(shop.root, "push", "--quiet", "origin", "main")

    ran = drift(shop)

    assert ran.code == 0, ran.log
    git(shop.root, "fetch", "--quiet", "origin", BRANCH)
    assert git(shop.root, "diff", "--name-only", "main", "FETCH_HEAD").split() == ["board.yaml"]
    assert git(shop.root, "rev-parse", "FETCH_HEAD^") == git(shop.root, "rev-parse", "main")


def test_dirty_checkout(shop: Jobs) -> None:
    """What was changed in the checkout and not committed is proposed to nobody."""
    edit_live(shop, "Live")
    (shop.root / "board.yaml").write_text(BOARD + "# mine\n", encoding="utf-8")

    ran = drift(shop)

    assert ran.code == 11
    assert "a proposal is" in ran.log
    assert shop.forge.requests_open == []
