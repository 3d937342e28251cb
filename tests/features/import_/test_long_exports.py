"""What an import costs as lists of another tool's document grow."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from harness.doors import typed

import reconciler

OURS = str(Path(reconciler.__file__).parent)
MOST = 2.2
SHORT = 60
PROJECT = """
manifests: [.]
environments:
  local:
    emulator: {data: .reconciler/local.db}
    journal: .reconciler/local.journal.jsonl
"""


def panel(number: int, **fields: Any) -> dict[str, Any]:
    """Return a panel with a query, on a row of its own."""
    query = {"expr": "up", "refId": "A", "legendFormat": "{{job}}"}
    place = {"h": 8, "w": 12, "x": 0, "y": number}
    return {"type": "timeseries", "title": "p", "gridPos": place, "targets": [query], **fields}


def board(*panels: Any, **fields: Any) -> Any:
    """Return a dashboard of Grafana."""
    return {"title": "b", "schemaVersion": 39, "panels": [*panels], **fields}


def rules(count: int, **fields: Callable[[int], Any]) -> Any:
    """Return a rule file with alerts of one name, which differ by what `fields` make of each."""
    made: list[Any] = [
        {"alert": "A", "expr": "up > 1", **{key: make(nth) for key, make in fields.items()}}
        for nth in range(count)
    ]
    return {"groups": [{"name": "g", "rules": made}]}


def objectives(count: int) -> list[Any]:
    """Return SLOs of OpenSLO, each with an indicator in a document of its own."""
    made: list[Any] = []
    for nth in range(count):
        version: dict[str, Any] = {"apiVersion": "openslo/v1", "metadata": {"name": f"s{nth}"}}
        metric = {"metricSource": {"type": "Prometheus", "spec": {"query": f"m{nth}"}}}
        spec = {"indicatorRef": f"s{nth}", "objectives": [{"target": 0.9}]}
        made.append({**version, "kind": "SLO", "spec": spec})
        made.append(
            {**version, "kind": "SLI", "spec": {"ratioMetric": {"good": metric, "total": metric}}}
        )
    return made


LISTS: dict[str, Callable[[int], Any]] = {
    "panels": lambda count: board(*(panel(nth) for nth in range(count))),
    "panels of one row": lambda count: board(*(panel(0, id=nth) for nth in range(count))),
    "rows": lambda count: board(
        *({"type": "row", "title": f"r{nth}", "panels": [panel(nth)]} for nth in range(count))
    ),
    "queries": lambda count: board(
        panel(0, targets=[{"expr": f"m{nth}", "refId": f"A{nth}"} for nth in range(count)])
    ),
    "fields": lambda count: board(panel(0, **{f"f{nth}": nth for nth in range(count)})),
    "variables": lambda count: board(
        templating={
            "list": [
                {"type": "interval", "name": f"v{nth}", "query": "1m,5m"} for nth in range(count)
            ]
        }
    ),
    "rules": lambda count: rules(count, alert=lambda nth: f"A{nth}"),
    "rules of one name": lambda count: rules(count, expr=lambda nth: f"up > {nth}"),
    "labels of rules of one name": lambda count: rules(
        count, labels=lambda nth: {f"l{nth}": "x", "team": "a"}
    ),
    "objectives": objectives,
}


def calls(folder: Path, document: Any) -> int:
    """Return how often our own functions are called where a document is imported."""
    found = 0

    def note(frame: FrameType, event: str, _: object) -> None:
        nonlocal found
        found += event == "call" and frame.f_code.co_filename.startswith(OURS)

    folder.mkdir()
    project, file = folder / "reconciler.yaml", folder / "export.json"
    project.write_text(PROJECT, encoding="utf-8")
    file.write_text(json.dumps(document), encoding="utf-8")
    before = sys.getprofile()
    sys.setprofile(note)
    try:
        done = typed("import", "-e", "local", "--project", str(project), "--from", str(file))
    finally:
        sys.setprofile(before)
    assert done.code in (0, 3), done.err
    return found


@pytest.mark.promise("S28")
@pytest.mark.parametrize("name", LISTS)
def test_a_long_list(tmp_path: Path, name: str) -> None:
    """A list twice as long makes an import call at most 2.2 times as many functions of ours."""
    calls(tmp_path / "first", LISTS[name](2))
    once = calls(tmp_path / "once", LISTS[name](SHORT))

    assert calls(tmp_path / "twice", LISTS[name](2 * SHORT)) <= MOST * once
