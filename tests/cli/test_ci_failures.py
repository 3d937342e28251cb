"""Jobs that fail in the middle: what the steps before came to is told all the same."""

from __future__ import annotations

from typing import Any

import pytest
from harness.forge import Fault
from harness.golden import Golden
from harness.jobs import Jobs

from reconciler.errors import ExitCode, JournalError


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Let a function raise from now on."""

    def fail_at(name: str, error: BaseException) -> None:
        def fail(*_: Any, **__: Any) -> None:
            raise error

        monkeypatch.setattr(name, fail)

    return fail_at


BROKEN = RuntimeError("broken")


def test_after_the_plan(jobs: Jobs, failing: Any) -> None:
    """A plan that was made is told in outputs, summary and comment, though the job fails then."""
    failing("reconciler.operations.plan_and_drift.write_private", BROKEN)
    ran = jobs.change()

    assert (ran.code, ran.outputs["failure-reason"]) == (ExitCode.INTERNAL, "internal")
    assert ran.outputs["digest"] == jobs.marker.digest
    assert "broken" in ran.summary
    assert "### Plan for `production`" in ran.summary
    assert "### Plan for `production`" in jobs.comment


def test_before_the_plan(jobs: Jobs, failing: Any, golden: Golden) -> None:
    """Where the manifests were read and no plan was made, both are told by their environment."""
    jobs.change()
    failing("reconciler.operations.plan_and_drift.plan_now", BROKEN)
    ran = jobs.change()

    assert "digest" not in ran.outputs
    golden(ran.summary)
    assert (jobs.marker.environment, jobs.marker.state) == ("production", "failed")


@pytest.mark.parametrize(
    ("where", "error", "code"),
    [
        ("reconciler.operations.apply_plan.check", BROKEN, ExitCode.INTERNAL),
        ("reconciler.journal.journal.Journal.begin", JournalError("full"), ExitCode.JOURNAL),
    ],
    ids=["before consent", "after consent"],
)
def test_after_the_plan_of_an_apply(
    jobs: Jobs, failing: Any, where: str, error: Exception, code: int
) -> None:
    """An apply that fails before its first write tells what it would have written, and why not."""
    reviewed = jobs.change().outputs["digest"]
    failing(where, error)
    ran = jobs.merged()

    assert (ran.code, ran.outputs["digest"]) == (code, reviewed)
    assert ran.outputs["comment-id"]
    assert str(error) in jobs.comment
    assert "The plan as it is now" in jobs.comment
    assert (jobs.marker.state, jobs.marker.digest) == ("not-applied", reviewed)
    assert jobs.service.writes == []


def test_an_apply_that_is_stopped(jobs: Jobs, failing: Any) -> None:
    """A signal before the first write leaves the comment alone, and the outputs tell the plan."""
    reviewed = jobs.change().outputs["digest"]
    before = jobs.comment
    failing("reconciler.operations.apply_plan.check", KeyboardInterrupt())
    ran = jobs.merged()

    assert (ran.code, ran.outputs["digest"]) == (ExitCode.INTERRUPTED, reviewed)
    assert jobs.comment == before


def test_after_the_drift(jobs: Jobs, failing: Any) -> None:
    """Drift that was found stands in the summary, though it could not be shown."""
    jobs.merged(require_plan="none")
    failing("reconciler.ci.job.stdout_style", BROKEN)
    ran = jobs.merged("drift")

    assert (ran.code, ran.outputs["result"]) == (ExitCode.INTERNAL, "failed")
    assert "broken" in ran.summary
    assert "### `drift`: no drift" in ran.summary


@pytest.mark.parametrize("second", ["file", "comment"])
def test_two_failures(jobs: Jobs, failing: Any, second: str) -> None:
    """Of a failure and another while it is told, the first decides, and both are said."""
    failing("reconciler.operations.plan_and_drift.plan_now", BROKEN)
    if second == "file":
        ran = jobs.change(sarif_file=str(jobs.root / "none" / "x.sarif"))
    else:
        refused = {"message": "Validation Failed"}
        jobs.forge.faults.append(Fault("POST", ".*/comments", 422, refused, times=9))
        ran = jobs.change(comment_failure="error")

    assert (ran.code, ran.outputs["failure-reason"]) == (ExitCode.INTERNAL, "internal")
    assert "::error title=reconciler::plan: broken" in ran.spoken
    assert "broken" in ran.summary
    said = "x.sarif" if second == "file" else "no comment"
    assert any(said in line for line in ran.spoken)
