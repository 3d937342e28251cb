"""action.yml, run for real by a small runner against a forge and a service of our own."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from harness.doors import KEY
from harness.forge import (
    FORK,
    NUMBER,
    READ_ONLY,
    TOKEN,
    FakeForge,
    pull_request,
    push,
    served_forge,
    variables,
)
from harness.jobs import PROJECT
from harness.repositories import begin, git
from harness.served import Served
from harness.workspaces import workspace
from runner import ROOT, Job, Step

from reconciler.ci.forge import Marker, read_marker

COUNTS = ("create", "update", "assert", "keep", "blocked")


@pytest.fixture
def forge() -> Iterator[FakeForge]:
    with served_forge() as opened:
        yield opened


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """Give a job on a copy of the examples, outside of any pull request."""
    ignored = shutil.ignore_patterns(".reconciler")
    shutil.copytree(ROOT / "examples", tmp_path / "shop", ignore=ignored)
    (tmp_path / "temporary").mkdir()
    return Job(tmp_path / "shop", tmp_path / "temporary")


def checkout(folder: Path, service: Served) -> str:
    """Make a repository whose first commit is the base branch; give that commit."""
    root = workspace(folder)
    project = PROJECT.format(url=service.base_url)
    (root / "reconciler.yaml").write_text(project, encoding="utf-8")
    return begin(root)


def on(job: Job, forge: FakeForge, name: str, payload: Any, run: int, *, token: str = TOKEN) -> Job:
    """Give the job as it runs on an event."""
    more = {"GITHUB_RUN_ID": str(run), "GITHUB_SHA": git(job.workspace, "rev-parse", "HEAD")}
    about = variables(job.temporary, name, payload, **more)
    addresses = {"GITHUB_API_URL": forge.url, "GITHUB_GRAPHQL_URL": f"{forge.url}/graphql"}
    key = {} if token == READ_ONLY else {"RECONCILER_API_KEY": KEY}
    return Job(job.workspace, job.temporary, {**about, **addresses, **key}, token, job.installs)


def marker_of(forge: FakeForge) -> Marker:
    """Give what the one visible comment says of itself."""
    (comment,) = forge.visible(NUMBER)
    marker = read_marker(comment["body"])
    assert marker is not None
    return marker


def counts(step: Step) -> dict[str, int]:
    """Give the counts among a step's outputs."""
    return {name: int(step.outputs[name]) for name in COUNTS}


def test_from_a_change_to_the_service(tmp_path: Path, service: Served, forge: FakeForge) -> None:
    """Opened, updated, merged, stale: the action plans, uploads, applies and refuses.

    With `REAL_INSTALL=1`, as in `make image`, it installs itself first.
    """
    (tmp_path / "temporary").mkdir()
    installs = bool(os.environ.get("REAL_INSTALL"))
    bare = Job(tmp_path / "shop", tmp_path / "temporary", installs=installs)
    base = checkout(bare.workspace, service)
    planned = on(bare, forge, "pull_request", pull_request(base=base), 1).step("plan")

    assert (planned.code, planned.outputs["result"]) == (0, "changes"), planned.log
    assert marker_of(forge).digest == planned.outputs["digest"]
    uploaded = bare.temporary / "artifacts" / planned.outputs["artifact-name"] / "plan-default.json"
    assert json.loads(uploaded.read_text(encoding="utf-8"))["digest"] == planned.outputs["digest"]
    assert planned.masks == [KEY, TOKEN]
    # From here on, with what was installed.
    later = Job(bare.workspace, bare.temporary, installs=False)
    if installs:
        python = bare.temporary / "reconciler" / "bin" / "python"
        assert python.is_symlink()
        python.unlink()
    forge.pulls[base] = [{"number": NUMBER, "merged_at": "2026", "base": {"ref": "main"}}]
    applied = on(later, forge, "push", push(base), 2).step("apply", new_journal="true")

    assert (applied.code, applied.outputs["result"]) == (0, "applied"), applied.log
    assert marker_of(forge).state == "applied"
    assert len(service.writes) == 5
    file = bare.workspace / "all.yaml"
    file.write_text(file.read_text("utf-8").replace(": first", ": second"), encoding="utf-8")
    git(bare.workspace, "commit", "--quiet", "--all", "--message", "Another")
    forge.pulls[git(bare.workspace, "rev-parse", "HEAD")] = forge.pulls[base]
    stale = on(later, forge, "push", push(git(bare.workspace, "rev-parse", "HEAD")), 3).step(
        "apply"
    )
    assert (stale.code, stale.outputs["failure-reason"]) == (6, "stale")
    assert len(service.writes) == 5


def test_a_fork(tmp_path: Path, service: Served, forge: FakeForge) -> None:
    """A fork's change passes with a plan that says that it saw nothing live."""
    (tmp_path / "temporary").mkdir()
    job = Job(tmp_path / "shop", tmp_path / "temporary")
    base = checkout(job.workspace, service)
    step = on(job, forge, "pull_request", pull_request(FORK, base=base), 1, token=READ_ONLY).step(
        "plan"
    )

    assert (step.code, step.outputs["result"]) == (0, "changes")
    assert "**No live comparison.**" in step.summary
    assert len(step.level("notice")) == 1
    assert (forge.comments, service.switch.asked) == ({}, 0)


def test_outside_of_a_pull_request(job: Job) -> None:
    """Plan, apply of its file, plan, drift: each has its result; a failure uploads nothing."""
    planned = job.step("plan")
    applied = job.step("apply", require_plan="file")
    again = job.step("plan")
    drift = job.step("drift")

    assert counts(planned) == {"create": 10, "update": 1, "assert": 20, "keep": 0, "blocked": 0}
    assert (applied.code, applied.outputs["result"]) == (0, "applied")
    assert (again.outputs["result"], counts(again)["keep"]) == ("no-changes", 31)
    assert (drift.code, drift.outputs["result"]) == (0, "no-changes")
    shutil.rmtree(job.temporary / "artifacts")
    (job.workspace / "more.yaml").write_text("kind: Dashbord\n", encoding="utf-8")
    failed = job.step("plan")
    assert (failed.code, failed.outputs["failure-reason"]) == (4, "validation")
    assert "more.yaml" in failed.level("error")[0] + "".join(failed.spoken)
    assert not (job.temporary / "artifacts").exists()


def test_a_refused_input_is_told(job: Job) -> None:
    """A refusal is an annotation and outputs, and nothing else is done."""
    step = job.step("plan", allow_destroy="yes")

    assert (step.code, step.outputs["exit-code"]) == (64, "64")
    assert step.level("error") == [
        "`allow-destroy` is true or false, and not `yes`: did you mean `true`?"
    ]
    assert step.summary == ""


def test_the_working_folder_is_not_imported(job: Job) -> None:
    """Python files of a change are data: a module of theirs is never run."""
    for name in ("json.py", "click.py", "sitecustomize.py"):
        (job.workspace / name).write_text("raise SystemExit(99)\n")
    (job.workspace / "reconciler").mkdir()
    (job.workspace / "reconciler" / "__init__.py").write_text("raise SystemExit(99)\n")

    # What a start imports shows only in a start.
    assert replace(job, is_cold=True).step("validate").code == 0


def test_the_path_is_no_flag(job: Job) -> None:
    """A path that looks like a flag is a path."""
    assert "--help" in job.step("validate", path="--help").summary
