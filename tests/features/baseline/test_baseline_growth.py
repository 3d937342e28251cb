"""A change that accepts more complaints says so in the comment on its plan."""

from __future__ import annotations

import json

import pytest
from harness.jobs import Jobs
from harness.repositories import committed, git

ENTRY = {"code": "L201", "resource": "AlertDefinition/errors", "field": "description", "count": 1}


def baseline(jobs: Jobs, *counts: int) -> None:
    """Write a baseline with an entry for each count."""
    lines = (
        json.dumps({**ENTRY, "resource": f"AlertDefinition/alert-{number}", "count": count}) + "\n"
        for number, count in enumerate(counts)
    )
    (jobs.root / "baseline.jsonl").write_text("".join(lines), encoding="utf-8")


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ((1,), (3, 1), "grows by 3 complaints: `L201 AlertDefinition/alert-0`, "),
        ((), (1,), "grows by 1 complaint: `L201 AlertDefinition/alert-0`."),
        ((2, 1), (1, 1), ""),
    ],
)
def test_growth_is_one_line_of_the_comment(
    jobs: Jobs, before: tuple[int, ...], after: tuple[int, ...], said: str
) -> None:
    """What the file accepts in addition is counted and named; what it accepts no more is not."""
    project = jobs.root / "reconciler.yaml"
    text = project.read_text(encoding="utf-8")
    project.write_text(f"{text}baseline: baseline.jsonl\n", encoding="utf-8")
    if before:
        baseline(jobs, *before)
    jobs.base = committed(jobs.root, "Baseline")
    git(jobs.root, "checkout", "--quiet", "-b", "change")
    baseline(jobs, *after)
    committed(jobs.root)

    jobs.change()

    lines = [line for line in jobs.comment.splitlines() if "The baseline grows" in line]
    assert len(lines) == bool(said)
    assert all(said in line for line in lines)
