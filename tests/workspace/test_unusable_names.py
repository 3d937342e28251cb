"""A name that cannot be used hides nothing else that is wrong with its manifest."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.workspaces import PROJECT, project_at

WRONG = """\
apiVersion: reconciler/v1
kind: SLO
metadata: NAME
spec:
  name: Checkout
  targetThresholdPercentage: 990
  sloTimeFrame: 28d
  requestBasedMetricSli: {goodEvents: {query: up}}
"""


def told(folder: Path, metadata: str) -> set[str]:
    """Give the codes and lines that validate tells of a manifest, its metadata left out."""
    workspace = project_at(folder, PROJECT, slo=WRONG.replace("NAME", metadata))
    found = workspace.run("validate", "--format", "json").json["complaints"]
    return {f"{value['code']} {value['line']}" for value in found if value["line"] != 3}


@pytest.mark.parametrize("metadata", ["{name: Bad Name}", "{name: 7}", "{labels: {a: b}}", "{}"])
def test_all_comes_at_once(tmp_path: Path, metadata: str) -> None:
    """All complaints of a `spec` are told with that of the name above it."""
    named = told(tmp_path / "named", "{name: checkout}")

    assert len(named) > 2
    assert told(tmp_path / "unnamed", metadata) == named
