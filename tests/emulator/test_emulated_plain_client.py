"""All 21 endpoints, asked by a client made of the standard library only, across a restart."""

import http.client
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PROGRAM = """
import sys
from pathlib import Path
from reconciler.emulator import create_app
from reconciler.emulator.serving import serve
app = create_app(Path(sys.argv[1]), seed="demo", api_key="canary")
serve(app, announce=lambda line: print(line, flush=True))
"""
ROOT = "/mgmt/openapi/latest"
DASHBOARDS, SLOS = "/v1/dashboards/dashboards", "/v1/slo/slos"
POLICIES, VIEWS = "/dataplans/policies/v1", "/data-exploration/saved-views/v1"
INCIDENTS = "/incidents/incidents/v1"
WINDOWS = {"windowBasedMetricSli": {"query": {"query": "up"}}}
REQUESTS = {"requestBasedMetricSli": {"goodEvents": {"query": "g"}, "totalEvents": {"query": "t"}}}
SLO = {"name": "s", "targetThresholdPercentage": 99}
POLICY = {"name": "new", "description": "", "priority": "PRIORITY_TYPE_LOW"}
VIEW = {"name": "v", "timeSelection": {}}
ALERT = "a1e47000-0000-4000-8000-000000000001"


class Client:
    """Asks one server."""

    def __init__(self, port: int) -> None:
        self._port = port

    def __call__(self, method: str, path: str, body: object = None) -> Any:
        """Send a request and give the parsed answer of a success."""
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=30)
        try:
            text = None if body is None else json.dumps(body)
            connection.request(method, ROOT + path, text, {"Authorization": "canary"})
            reply = connection.getresponse()
            answer = json.loads(reply.read())
        finally:
            connection.close()
        assert reply.status == 200, answer
        return answer


@contextmanager
def server(data: Path) -> Iterator[Client]:
    command = [sys.executable, "-c", PROGRAM, str(data)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield Client(int(process.stdout.readline().rpartition(":")[2]))
        process.terminate()


def use_all(ask: Client) -> dict[str, str]:
    """Ask each endpoint once; gives where to read again what was made."""
    item = {"id": ALERT, "alertDefProperties": {"name": "new"}}
    assert ask("PUT", "/alerts/alerts-general/v3/bulk", {"alertDefsToReplace": [item]})["alertDefs"]
    assert ask("GET", "/alerts/events/v3/alert-events")["events"]

    board: dict[str, Any] = {"name": "Mine", "slugName": "mine"}
    made = ask("POST", DASHBOARDS, {"requestId": "1", "dashboard": board})["dashboardId"]
    board |= {"id": made, "description": "new"}
    assert ask("PUT", DASHBOARDS, {"requestId": "2", "dashboard": board}) == {}
    assert ask("GET", f"{DASHBOARDS}/{made}") == ask("GET", "/v1/dashboards/by-slug/mine")

    assert ask("POST", "/cases/cases/v1", {})["cases"]
    listed = ask("POST", f"{INCIDENTS}?pagination.pageSize=1000", {})["incidents"]
    open_one = next(value["id"] for value in listed if "closedAt" not in value)
    assert ask("GET", f"{INCIDENTS}/events?pagination.pageSize=5")["items"]
    assert ask("POST", f"{INCIDENTS}/close?incident_ids={open_one}")["incidents"][0]["closedAt"]

    slo = ask("POST", SLOS, {**SLO, **REQUESTS})["slo"]["id"]
    assert ask("PUT", SLOS, {**SLO, **WINDOWS, "id": slo})["slo"]["revision"]["revision"] == 2
    assert ask("GET", f"{SLOS}/{slo}")["slo"]["id"] == slo
    assert "alertsValidationResult" in ask(
        "POST", f"{SLOS}/validate", {**SLO, **WINDOWS, "id": slo}
    )

    assert len(ask("GET", POLICIES)["policies"]) == 5
    assert ask("POST", f"{POLICIES}/bulkCreate", {"policyRequests": [POLICY]})["createResponses"]
    overwrite = {"policies": [{"logRules": {"severities": []}, "policy": POLICY}]}
    assert ask("POST", f"{POLICIES}/atomicOverwriteLogPolicies", overwrite)["createResponses"]
    logs = {"metaFieldsValuesList": [{"severityValues": "INFO"}]}
    assert ask("POST", f"{POLICIES}/bulkTestLog", logs)["testPoliciesBulkResult"][0]["matched"]
    assert ask("POST", "/dataplans/data-usage/v2/daily:units", {"range": "RANGE_LAST_WEEK"})[
        "units"
    ]

    view = ask("POST", VIEWS, VIEW)["id"]
    assert ask("PUT", f"{VIEWS}/{view}", {**VIEW, "isCompactMode": True})["isCompactMode"]
    return {"dashboard": f"{DASHBOARDS}/{made}", "slo": f"{SLOS}/{slo}", "policies": POLICIES}


def test_all_endpoints_and_a_restart(tmp_path: Path) -> None:
    """Every endpoint works over the network, and all that was written survives a restart."""
    data = tmp_path / "local.db"
    with server(data) as ask:
        places = use_all(ask)
        before = {name: ask("GET", path) for name, path in places.items()}
        closed = ask("POST", f"{INCIDENTS}?pagination.pageSize=1000", {})

    with server(data) as ask:
        after = {name: ask("GET", path) for name, path in places.items()}

        assert after == before
        assert ask("POST", f"{INCIDENTS}?pagination.pageSize=1000", {}) == closed
        assert ask("POST", VIEWS, VIEW)["id"] == 4
