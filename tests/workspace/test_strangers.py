"""What other tools wrote and lies among manifests: one complaint says what it is, and a way in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from harness.doors import typed
from harness.workspaces import PROJECT, project_at

RULE = {"alert": "Down", "expr": "up == 0", "labels": {"severity": "page"}}
GROUPS = {"groups": [{"name": "one", "rules": [RULE, {"record": "a:b", "expr": "sum(up)"}, RULE]}]}
OBJECTIVE = "apiVersion: openslo/v1\nkind: SLO\nmetadata: {name: goal}\nspec: {indicator: {}}\n"
BOARD = {"title": "Board", "schemaVersion": 39, "panels": [{"type": "text", "spec": {}}]}
RESOURCE = {"apiVersion": "monitoring.coreos.com/v1", "kind": "PrometheusRule", "spec": GROUPS}


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("rules.yaml", json.dumps(GROUPS), "a rule file of Prometheus"),
        ("rules.json", json.dumps(GROUPS), "a rule file of Prometheus"),
        ("resource.yaml", json.dumps(RESOURCE), "a rule file of Prometheus"),
        ("resource.json", json.dumps(RESOURCE), "a rule file of Prometheus"),
        ("goals.yaml", "---\n".join([OBJECTIVE] * 3), "a document of OpenSLO"),
        ("board.json", json.dumps(BOARD), "a dashboard of Grafana"),
        ("answer.json", json.dumps({"meta": {}, "dashboard": BOARD}), "a dashboard of Grafana"),
        ("board.yaml", json.dumps(BOARD), "a dashboard of Grafana"),
    ],
)
def test_documents_of_other_tools(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str, said: str
) -> None:
    """A file of another tool gets one complaint, which says what it is and how it comes in."""
    shop = project_at(tmp_path.resolve(), PROJECT)
    shop.write(name, text)

    monkeypatch.chdir(tmp_path)
    ran = typed("validate", "--format", "json")

    (told,) = json.loads(ran.out)["complaints"]
    assert said in told["message"]
    assert f"import --from {name}" in json.dumps(told).replace("-e local ", "")
    assert "exclude:" in json.dumps(told)
