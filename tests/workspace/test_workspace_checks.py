"""Checks of features over the manifests of an environment: which are loaded, and their order."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from harness.workspaces import PROJECT, SLO, project_at

from reconciler.project import ProjectFile
from reconciler.workspace.expression_scope import Scope
from reconciler.workspace.workspace import load_workspace
from reconciler.workspace.workspace_checks import wanted_checks

RULES = {"rules": [{"name": "owned", "check": "false", "message": "say who owns it"}]}
LOADED = """\
import json, sys
from reconciler.__main__ import main
try:
    main()
except SystemExit:
    pass
sys.stderr.write(json.dumps(sorted(sys.modules)))
"""


@pytest.mark.parametrize(
    ("settings", "keys"), [({}, []), ({"manifests": []}, []), (RULES, ["rules"])]
)
def test_checks_of_every_project_come_last(settings: dict[str, object], keys: list[str]) -> None:
    """A check is wanted where its setting is given, and those of every project come last."""
    assert wanted_checks(ProjectFile.model_validate(settings)) == [*keys, "manifests"]


@pytest.mark.parametrize(("settings", "codes"), [({}, ["L301"]), (RULES, ["R/owned"])])
def test_a_resource_with_errors_is_not_judged_by_practice(
    settings: dict[str, object], codes: list[str], tmp_path: Path
) -> None:
    """A resource that is wrong by a rule has no complaint of practice."""
    file = tmp_path / "slo.yaml"
    file.write_text(
        SLO.replace("targetThresholdPercentage: 99.9", "targetThresholdPercentage: 100")
    )
    project = ProjectFile.model_validate(settings)

    found = load_workspace([file], tmp_path, Scope("local"), project).complaints

    assert [complaint.code for complaint in found] == codes


def test_only_the_checks_of_declared_kinds_are_loaded(tmp_path: Path) -> None:
    """`validate` of an SLO loads the lint rules of SLOs, and no other kind's nor an audit's."""
    project_at(tmp_path, PROJECT, slo=SLO)

    ran = subprocess.run(
        [sys.executable, "-c", LOADED, "validate", "--quiet", str(tmp_path)],
        capture_output=True,
        check=True,
        text=True,
    )

    features = ("reconciler.features.lint.", "reconciler.features.audit.")
    loaded = [name for name in json.loads(ran.stderr) if name.startswith(features)]
    assert loaded == [f"{features[0]}{name}" for name in ("lint", "slo")]
