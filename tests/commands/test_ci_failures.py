"""Jobs that fail in the middle: what the steps before came to is told all the same."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ci_jobs import Shop, a_shop
from fake_forge import Fault

from reconciler.errors import ExitCode, JournalError


@pytest.fixture
def shop(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Shop]:
    with a_shop(tmp_path, capsys) as opened:
        monkeypatch.chdir(opened.root)
        yield opened


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Let a function raise from now on."""

    def fail_at(name: str, error: BaseException) -> None:
        def fail(*_: Any, **__: Any) -> None:
            raise error

        monkeypatch.setattr(name, fail)

    return fail_at


BROKEN = RuntimeError("broken")


def test_after_the_plan(shop: Shop, failing: Any) -> None:
    """A plan that was made is told in outputs, summary and comment, though the job fails then."""
    failing("reconciler.ci.job.write_private", BROKEN)
    ran = shop.change()

    assert (ran.code, ran.outputs["failure-reason"]) == (ExitCode.INTERNAL, "internal")
    assert ran.outputs["digest"] == shop.marker.digest
    assert "broken" in ran.summary
    assert "### Plan for `production`" in ran.summary
    assert "### Plan for `production`" in shop.comment


def test_before_the_plan(shop: Shop, failing: Any) -> None:
    """Where the manifests were read and no plan was made, both are told by their environment."""
    shop.change()
    failing("reconciler.ci.job.plan_now", BROKEN)
    ran = shop.change()

    assert "digest" not in ran.outputs
    assert "`plan` for `production`: the run ended early" in ran.summary
    assert (shop.marker.environment, shop.marker.state) == ("production", "failed")


@pytest.mark.parametrize(
    ("where", "error", "code"),
    [
        ("reconciler.session.applying.check", BROKEN, ExitCode.INTERNAL),
        ("reconciler.journal.journal.Journal.begin", JournalError("full"), ExitCode.JOURNAL),
    ],
    ids=["before consent", "after consent"],
)
def test_after_the_plan_of_an_apply(
    shop: Shop, failing: Any, where: str, error: Exception, code: int
) -> None:
    """An apply that fails before its first write tells what it would have written, and why not."""
    reviewed = shop.change().outputs["digest"]
    failing(where, error)
    ran = shop.merged()

    assert (ran.code, ran.outputs["digest"]) == (code, reviewed)
    assert ran.outputs["comment-id"]
    assert str(error) in shop.comment
    assert "The plan as it is now" in shop.comment
    assert (shop.marker.state, shop.marker.digest) == ("not-applied", reviewed)
    assert shop.service.writes == []


def test_an_apply_that_is_stopped(shop: Shop, failing: Any) -> None:
    """A signal before the first write leaves the comment alone, and the outputs tell the plan."""
    reviewed = shop.change().outputs["digest"]
    before = shop.comment
    failing("reconciler.session.applying.check", KeyboardInterrupt())
    ran = shop.merged()

    assert (ran.code, ran.outputs["digest"]) == (ExitCode.INTERRUPTED, reviewed)
    assert shop.comment == before


def test_after_the_drift(shop: Shop, failing: Any) -> None:
    """Drift that was found stands in the summary, though it could not be shown."""
    shop.merged(require_plan="none")
    failing("reconciler.ci.job.drift_text", BROKEN)
    ran = shop.merged("drift")

    assert (ran.code, ran.outputs["result"]) == (ExitCode.INTERNAL, "failed")
    assert "broken" in ran.summary
    assert "### `drift`: no drift" in ran.summary


@pytest.mark.parametrize("second", ["file", "comment"])
def test_two_failures(shop: Shop, failing: Any, second: str) -> None:
    """Of a failure and another while it is told, the first decides, and both are said."""
    failing("reconciler.ci.job.plan_now", BROKEN)
    if second == "file":
        ran = shop.change(sarif_file=str(shop.root / "none" / "x.sarif"))
    else:
        refused = {"message": "Validation Failed"}
        shop.forge.faults.append(Fault("POST", ".*/comments", 422, refused, times=9))
        ran = shop.change(comment_failure="error")

    assert (ran.code, ran.outputs["failure-reason"]) == (ExitCode.INTERNAL, "internal")
    assert "::error title=reconciler::plan: broken" in ran.spoken
    assert "broken" in ran.summary
    said = "x.sarif" if second == "file" else "no comment"
    assert any(said in line for line in ran.spoken)
