"""`ci validate` and `ci plan` run the tests of the alerts that a change touches."""

from __future__ import annotations

import pytest
from harness.jobs import JobRan, Jobs
from harness.repositories import committed, git

from reconciler.ci.result import WORDS
from reconciler.syntax.diagnostic import CODES

ALERT = """\
apiVersion: reconciler/v1
kind: AlertDefinition
metadata: {name: %s, id: %s6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4a11}
tests:
  - name: a failed order
    logs: %s
    expect: {fires: true}
spec:
  name: %s
  description: 'Orders fail: https://runbooks.example.com/orders'
  type: ALERT_DEF_TYPE_LOGS_IMMEDIATE_OR_UNSPECIFIED
  logsImmediate: {logsFilter: {simpleFilter: {luceneQuery: "event:failed"}}}
"""
ROWS = "[{at: 0s, text: {event: failed}}]"
FILE = "tested.yaml"


@pytest.fixture
def tested(jobs: Jobs) -> Jobs:
    """Return a repository on a branch, whose base has two alerts with tests in one file."""
    texts = [
        ALERT % ("one", "44", ROWS, "One"),
        ALERT % ("two", "55", "failed.jsonl", "Two"),
    ]
    (jobs.root / FILE).write_text("---\n".join(texts), encoding="utf-8")
    (jobs.root / "failed.jsonl").write_text('{"at": "0s", "text": {"event": "failed"}}\n')
    jobs.base = committed(jobs.root, "Tests")
    git(jobs.root, "checkout", "--quiet", "-b", "change")
    return jobs


def change(jobs: Jobs, before: str, after: str, name: str = FILE, command: str = "plan") -> JobRan:
    """Change a file, and run a job on the pull request."""
    jobs.edit(before, after, name)
    committed(jobs.root)
    return jobs.change(command)


def test_the_comment_counts_alerts_and_tests(tested: Jobs) -> None:
    """One of two alerts in a file changes: the comment counts it and its tests alone."""
    ran = change(tested, "  name: Two", "  name: Second")

    assert ran.code in (0, 2), ran.log
    assert "1 alert changes: 1 has tests, all 1 hold." in tested.comment


def test_a_change_that_breaks_a_test(tested: Jobs) -> None:
    """A query that no longer finds the rows ends `plan` and `validate` with 4, and is named."""
    ran = change(tested, "event:failed", "event:lost")

    assert ran.code == 4
    assert "T101" in tested.comment
    assert CODES["T101"] in tested.comment
    assert WORDS["validation"] not in tested.comment
    assert tested.change("validate").code == 4


def test_rows_of_a_file_are_a_change_of_their_alert(tested: Jobs) -> None:
    """The alert whose rows change is tested again."""
    ran = change(tested, "failed", "lost", "failed.jsonl", "validate")

    assert ran.code == 4


def test_an_alert_that_did_not_change_is_not_tested(tested: Jobs) -> None:
    """A test that was broken before is no failure of a change elsewhere."""
    tested.edit("{event: failed}", "{event: lost}", FILE)
    tested.base = committed(tested.root)
    ran = change(tested, "  name: Two", "  name: Second")

    assert ran.code in (0, 2), ran.log


def test_the_project_file_touches_all(tested: Jobs) -> None:
    """A change of the project file, which has variables, runs the tests of all alerts."""
    tested.edit("{event: failed}", "{event: lost}", FILE)
    tested.base = committed(tested.root)
    project = tested.root / "reconciler.yaml"
    project.write_text(project.read_text(encoding="utf-8") + "\n# more\n", encoding="utf-8")
    committed(tested.root)

    assert tested.change("validate").code == 4


def test_a_project_without_tests_hears_nothing(jobs: Jobs) -> None:
    """Where no alert has a test, the comment has no line about tests."""
    jobs.change()

    assert "has tests" not in jobs.comment
