"""The table of the 21 endpoints is true, and every command reaches the endpoints it names."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest
import write_endpoints as endpoints
from click import Group
from harness.workspaces import Shop

from reconciler.cli.root import cli
from reconciler.emulator.endpoint import Endpoint

ROOT = Path(__file__).parent.parent
APPLY = ("apply", "--yes", "--allow-destroy", "--override-guard", "proof")
MANIFEST = """\
apiVersion: reconciler/v1
kind: %s
metadata: {name: proof%s}
spec:
%s
"""
SPECS = {
    "AlertDefinition": "  {name: WORD, priority: ALERT_DEF_PRIORITY_P1}",
    "Dashboard": "  {dashboard: {name: WORD, slugName: proof}}",
    "SLO": """\
  name: WORD
  targetThresholdPercentage: 99
  requestBasedMetricSli: {goodEvents: {query: good}, totalEvents: {query: all}}""",
    "LogPolicySet": """\
  policies:
    - logRules: {severities: []}
      policy: {name: kept, description: WORD, priority: PRIORITY_TYPE_LOW}""",
    "SavedView": "  {name: WORD, timeSelection: {}, isCompactMode: true}",
}
ALERT = "2f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4a11"
DOCUMENT = {
    (1, "PUT", "/alerts/alerts-general/v3/bulk"),
    (2, "GET", "/alerts/events/v3/alert-events"),
    (3, "POST", "/v1/dashboards/dashboards"),
    (4, "PUT", "/v1/dashboards/dashboards"),
    (5, "GET", "/v1/dashboards/dashboards/{dashboard_id}"),
    (6, "GET", "/v1/dashboards/by-slug/{slug}"),
    (7, "POST", "/cases/cases/v1"),
    (8, "POST", "/incidents/incidents/v1"),
    (9, "GET", "/incidents/incidents/v1/events"),
    (10, "POST", "/incidents/incidents/v1/close"),
    (11, "POST", "/v1/slo/slos"),
    (12, "PUT", "/v1/slo/slos"),
    (13, "GET", "/v1/slo/slos/{id}"),
    (14, "POST", "/v1/slo/slos/validate"),
    (15, "GET", "/dataplans/policies/v1"),
    (16, "POST", "/dataplans/policies/v1/bulkCreate"),
    (17, "POST", "/dataplans/policies/v1/atomicOverwriteLogPolicies"),
    (18, "POST", "/dataplans/policies/v1/bulkTestLog"),
    (19, "POST", "/dataplans/data-usage/v2/daily:units"),
    (20, "POST", "/data-exploration/saved-views/v1"),
    (21, "PUT", "/data-exploration/saved-views/v1/{id}"),
}
ROWS = sorted(endpoints.ROWS.items())


def test_fresh() -> None:
    """docs/endpoints.md is what scripts/write_endpoints.py writes."""
    assert endpoints.TARGET.read_text(encoding="utf-8") == endpoints.page()


def test_all_endpoints() -> None:
    """The table has exactly the endpoints of the API document."""
    found = {
        (endpoint.number, endpoint.method, endpoint.path) for endpoint in endpoints.endpoints()
    }

    assert found == DOCUMENT
    assert set(endpoints.ROWS) == {number for number, _, _ in DOCUMENT}


@pytest.mark.parametrize("endpoint", endpoints.endpoints(), ids=lambda one: str(one.number))
def test_no_empty_cell(endpoint: Endpoint[Any]) -> None:
    """Every cell of the table holds something."""
    assert all(cell.strip("`[]() ") for cell in endpoints.cells(endpoint))


@pytest.mark.parametrize(("number", "row"), ROWS)
def test_client_functions(number: int, row: endpoints.Row) -> None:
    """Every function of the client that is named is there, and can be called."""
    assert number in endpoints.ROWS
    assert all(callable(endpoints.function_of(name)) for name in row.clients)


@pytest.mark.parametrize(("number", "row"), ROWS)
def test_tests(number: int, row: endpoints.Row) -> None:
    """Every test that is named is there: of the client and of the emulator."""
    for node in row.tests:
        file, _, name = node.partition("::")
        tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        assert name in {one.name for one in tree.body if isinstance(one, ast.FunctionDef)}, number
    sides = {node.startswith("tests/emulator/") for node in row.tests}
    assert sides == {True, False}


@pytest.mark.parametrize(("number", "row"), ROWS)
def test_commands(number: int, row: endpoints.Row) -> None:
    """Every command that is named is one of the command line."""
    for words in row.commands:
        command = cli
        for word in words.split():
            assert isinstance(command, Group), number
            found = command.get_command(None, word)  # type: ignore[arg-type]  # it needs no context
            assert found is not None, words
            command = found  # type: ignore[assignment]  # a group, or the last word


def declare(shop: Shop, *, changed: bool) -> None:
    """Declare one resource of each kind, or the same a little different."""
    for kind, spec in SPECS.items():
        remote_id = f", id: {ALERT}" if kind == "AlertDefinition" else ""
        text = MANIFEST % (kind, remote_id, spec.replace("WORD", "new" if changed else "old"))
        (shop.root / "manifests" / f"{kind}.yaml").write_text(text)


def endpoint_of(method: str, path: str) -> int:
    """Give the number of the endpoint that a request is for, 0 for none."""
    for number, verb, form in sorted(DOCUMENT, key=lambda one: "{" in one[2]):
        if verb == method and re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", form), path):
            return number
    return 0


def test_commands_reach_all_endpoints(shop: Shop) -> None:
    """The commands ask every one of the 21 endpoints, and nothing beside them."""
    shop.options["alert_ids"] = [ALERT]
    shop.write("new.json", '[{"name": "one more", "priority": "PRIORITY_TYPE_LOW"}]')
    one = shop.run("incidents", "list", "--open", "--format", "json").json[0]["id"]
    lines = [
        "events list",
        "cases list",
        "incidents list",
        "incidents events",
        f"incidents close {one} --yes",
        "usage",
        "policies list",
        "policies test --application checkout",
        "policies add new.json --yes",
    ]
    codes = {line: shop.run(*line.split()).code for line in lines}
    for changed in (False, True):
        declare(shop, changed=changed)
        codes[f"apply {changed}"] = shop.run(*APPLY).code
    board = shop.run("journal", "show", "Dashboard/proof", "--format", "json").out
    board_id = re.findall(r'"remoteId": "([^"]{21})"', board)[-1]
    text = MANIFEST % ("Dashboard", f", id: {board_id}", "  {dashboard: {name: new}}")
    (shop.root / "manifests" / "Dashboard.yaml").write_text(text)
    codes["plan"] = shop.run("plan").code

    assert set(codes.values()) == {0}, codes
    reached = {endpoint_of(method, path) for method, path in shop.asked}
    assert reached == {number for number, _, _ in DOCUMENT}
