"""A plan runs the tests of the alerts that it changes."""

from __future__ import annotations

from pathlib import Path

from harness.workspaces import Workspace, project_at

ALERT = """\
apiVersion: reconciler/v1
kind: AlertDefinition
metadata: {name: errors, id: 2f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4a11}
tests:
  - name: three errors page the team
    logs: [{at: 10s, repeat: {times: 3, every: 90s}}]
    expect: {fires: %s}
spec:
  name: Errors
  description: 'Orders fail: https://runbooks.example.com/orders'
  type: ALERT_DEF_TYPE_LOGS_THRESHOLD
  logsThreshold:
    rules:
      - condition:
          threshold: 2
          timeWindow: {logsTimeWindowSpecificValue: LOGS_TIME_WINDOW_VALUE_MINUTES_10}
"""


def planned(root: Path, fires: str, *arguments: str) -> tuple[Workspace, str]:
    """Return a project with an alert, and what its plan prints."""
    project = project_at(root, errors=ALERT % fires)
    return project, project.run("plan", *arguments).out


def test_the_plan_says_whether_the_tests_hold(tmp_path: Path) -> None:
    """Below a changed alert are its tests: how many hold, or the one that does not."""
    assert "1 test: all hold" in planned(tmp_path, "true")[1]
    assert "the alert fires; 3 rows matched" in " ".join(planned(tmp_path, "false")[1].split())


def test_the_page_draws_the_count_against_the_threshold(tmp_path: Path) -> None:
    """The page has a bar for each minute, those above the threshold in another colour."""
    _, page = planned(tmp_path, "true", "--format", "html")

    assert page.count('class="fired"') >= 1
    assert ': 0, 1, 2, 2, 3"' in page


def test_an_alert_that_does_not_change_is_left_alone(tmp_path: Path) -> None:
    """Tests of an alert that the plan keeps are not run."""
    project, _ = planned(tmp_path, "false")
    assert project.apply().code == 0

    assert "does not" not in project.run("plan", "-v").out
