"""What one step of a job has read the next one takes over, and nobody else."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from harness.forge import FORK, READ_ONLY
from harness.jobs import Jobs

from reconciler.ci.checkout import check_and_judge
from reconciler.runtime.cache import VARIABLE
from reconciler.syntax.read_text import read_text


@pytest.fixture
def texts(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count how often each text was parsed."""
    counted: Counter[str] = Counter()

    def counting(text: str, *, is_json: bool = False) -> object:
        counted[text] += 1
        return read_text(text, is_json=is_json)

    monkeypatch.setattr("reconciler.syntax.read_text.read_text", counting)
    return counted


def test_a_change(jobs: Jobs, texts: Counter[str]) -> None:
    """A change under review is checked, then planned: its manifests are parsed once."""
    jobs.edit("description: first", "description: second")
    ran = jobs.change()

    assert (ran.code, ran.outputs["result"]) == (0, "changes")
    assert texts[(jobs.root / "all.yaml").read_text("utf-8")] == 1


def test_an_apply(jobs: Jobs, texts: Counter[str]) -> None:
    """So are those of an apply, which reads the service again before each write."""
    jobs.edit("description: first", "description: second")
    jobs.change()
    texts.clear()
    ran = jobs.merged()

    assert ran.code == 0, ran.log
    assert texts[(jobs.root / "all.yaml").read_text("utf-8")] == 1


def test_between_the_steps(jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was edited between two steps is read again, as each is of the files as they are."""

    def then_edited(*arguments: object) -> object:
        found = check_and_judge(*arguments)  # type: ignore[arg-type]  # as they are
        jobs.edit("description: first", "description: second")
        return found

    monkeypatch.setattr("reconciler.ci.checkout.check_and_judge", then_edited)

    assert jobs.change().outputs["result"] == "changes"


@pytest.mark.parametrize("fork", [False, True])
def test_of_no_other_job(
    jobs: Jobs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, fork: bool
) -> None:
    """The cache of this user, which a change may have had a say in, is neither asked nor filled."""
    named = tmp_path / "of-the-user"
    jobs.more = {VARIABLE: str(named), "TMPDIR": str(tmp_path)}
    monkeypatch.setenv(VARIABLE, str(named))
    if fork:
        jobs.key, jobs.token = "", READ_ONLY
    ran = jobs.change(repository=FORK) if fork else jobs.change()

    assert ran.code == 0, ran.log
    assert not named.exists()
