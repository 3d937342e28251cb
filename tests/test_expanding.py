"""One manifest with all that is put into it, as a text to read."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.workspaces import project_at

from reconciler.errors import UsageError
from reconciler.session.expanding import expanded
from reconciler.session.projects import Asked

TEXT = """\
apiVersion: reconciler/v1
kind: SLO
metadata: {name: "${each:service}", labels: {team: "${var:team}"}}
forEach: [{service: a, goal: 99}, {service: b, goal: 98}]
spec:
  name: ${each:service}
  description: $${each:x} by ${secret:TOKEN}
  targetThresholdPercentage: ${each:goal}
  sloTimeFrame: SLO_TIME_FRAME_28_DAYS
  requestBasedMetricSli: ${file:sli.yaml}
overrides:
  local: {targetThresholdPercentage: 50.5}
"""
PROJECT = """\
defaultEnvironment: local
environments:
  local:
    emulator: {data: local.db}
    variables: {team: x}
"""


def asked(root: Path) -> Asked:
    return Asked((), None, root / "reconciler.yaml", verbose=False, quiet=True)


def test_it_declares_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The expanded manifest shows no secret, and is of itself what the template makes of it."""
    monkeypatch.setenv("TOKEN", "hunter2hunter2")
    sli = "{goodEvents: {query: good}, totalEvents: {query: all}}\n"
    made = project_at(tmp_path / "a", PROJECT, slo=TEXT, sli=sli)

    text = expanded(asked(made.root), "SLO/b")

    assert "hunter2" not in text
    assert "targetThresholdPercentage: 50.5" in text
    assert "slo.yaml:1, item 2 (service: b)" in text
    assert "forEach" not in text.replace("by forEach", "")
    other = project_at(tmp_path / "b", PROJECT, slo=text)
    both = [
        {one["ref"]: one["fields"] for one in workspace.plan()["changes"]}["SLO/b"]
        for workspace in (made, other)
    ]
    assert both[0] == both[1]


def test_an_unknown_resource_gets_a_suggestion(tmp_path: Path) -> None:
    """A resource that is not declared is refused, with the name that was likely meant."""
    made = project_at(tmp_path, PROJECT, slo=TEXT, sli="{}")

    with pytest.raises(UsageError, match="did you mean SLO/a"):
        expanded(asked(made.root), "SLo/a")
