"""`emulator serve` and `emulator tick` as processes, and a client of the standard library."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import ProxyHandler, Request, build_opener

import pytest
from harness.doors import command
from harness.routes import API_ROOT
from harness.workspaces import Shop

from reconciler.cli.emulator import emulator
from reconciler.emulator import Fault, Rule, create_app
from reconciler.emulator.faults import PartialBulk
from reconciler.emulator.resources import RESOURCES

DOCS = Path(__file__).parents[2] / "docs"
ALERT = "2f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4a11"
SLI = {"goodEvents": {"query": "good"}, "totalEvents": {"query": "all"}}
WINDOWS = {"query": {"query": "up"}, "threshold": 0.1}
DASHBOARDS, SLOS = "/v1/dashboards/dashboards", "/v1/slo/slos"
POLICIES, VIEWS = "/dataplans/policies/v1", "/data-exploration/saved-views/v1"
INCIDENTS = "/incidents/incidents/v1"
OPENER = build_opener(ProxyHandler({}))


class PlainClient:
    """A client made of the standard library alone; notes which requests it made."""

    def __init__(self, url: str, key: str = "any") -> None:
        self.url = url
        self.key = key
        self.asked: set[tuple[str, str]] = set()

    def __call__(self, method: str, path: str, body: object = None, **query: str) -> Any:
        """Give the document of a success; raises HTTPError for anything else."""
        self.asked.add((method, path))
        data = None if body is None else json.dumps(body).encode()
        address = f"{self.url}{API_ROOT}{path}" + (f"?{urlencode(query)}" if query else "")
        request = Request(address, data, {"Authorization": self.key}, method=method)  # noqa: S310 - our own server
        with OPENER.open(request, timeout=60) as reply:
            return json.load(reply)

    def status(self, method: str, path: str, body: object = None) -> int:
        """Give the status of an answer that is an error, 200 for a success."""
        try:
            self(method, path, body)
        except HTTPError as error:
            with error:
                return error.code
        return 200


@contextmanager
def serving(folder: Path, *flags: str, key: str = "") -> Iterator[PlainClient]:
    """Run `emulator serve` as a process; ends it as Ctrl-C does, and it must end well."""
    environ = {**os.environ, "RECONCILER_API_KEY": key}
    with subprocess.Popen(
        command("emulator", "serve", "--port", "0", *flags),
        cwd=folder,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        assert line.startswith("emulator ready: http://127.0.0.1:"), line
        try:
            yield PlainClient(line.split()[-1], key or "any")
        finally:
            process.send_signal(signal.SIGINT)
            out, noise = process.communicate(timeout=60)
    assert (process.returncode, out, noise) == (130, "", "\n")


def use_all(ask: PlainClient) -> dict[str, str]:
    """Ask all 21 endpoints; gives where to read again what was written."""
    page = {"pagination.pageSize": "1000"}
    item = {"id": ALERT, "alertDefProperties": {"name": "new"}}
    replaced = ask("PUT", "/alerts/alerts-general/v3/bulk", {"alertDefsToReplace": [item]})
    assert replaced["alertDefs"][0]["alertDefProperties"]["name"] == "new"
    assert ask("GET", "/alerts/events/v3/alert-events")["events"]
    board: dict[str, Any] = {"name": "Mine", "slugName": "mine"}
    board_id = ask("POST", DASHBOARDS, {"requestId": "1", "dashboard": board})["dashboardId"]
    board |= {"id": board_id, "description": "new"}
    assert ask("PUT", DASHBOARDS, {"requestId": "2", "dashboard": board}) == {}
    assert ask("GET", f"{DASHBOARDS}/{board_id}") == ask("GET", "/v1/dashboards/by-slug/mine")
    assert ask("POST", "/cases/cases/v1", {})["cases"]
    listed = ask("POST", INCIDENTS, {}, **page)["incidents"]
    open_id = next(value["id"] for value in listed if "closedAt" not in value)
    assert ask("GET", f"{INCIDENTS}/events", **page)["items"]
    closed = ask("POST", f"{INCIDENTS}/close", {}, incident_ids=open_id)["incidents"]
    assert closed[0]["closedAt"]
    slo = {"name": "s", "targetThresholdPercentage": 99}
    slo_id = ask("POST", SLOS, {**slo, "requestBasedMetricSli": SLI})["slo"]["id"]
    replacement = {**slo, "id": slo_id, "windowBasedMetricSli": WINDOWS}
    assert "alertsValidationResult" in ask("POST", f"{SLOS}/validate", replacement)
    assert ask("PUT", SLOS, replacement)["slo"]["revision"]["revision"] == 2
    assert ask("GET", f"{SLOS}/{slo_id}")["slo"]["windowBasedMetricSli"]
    policy = {"name": "kept", "description": "", "priority": "PRIORITY_TYPE_LOW"}
    whole = {"policies": [{"logRules": {"severities": []}, "policy": policy}]}
    assert ask("POST", f"{POLICIES}/atomicOverwriteLogPolicies", whole)["createResponses"]
    more = {"policyRequests": [{**policy, "name": "more"}]}
    assert ask("POST", f"{POLICIES}/bulkCreate", more)["createResponses"]
    assert [policy["name"] for policy in ask("GET", POLICIES)["policies"]] == ["kept", "more"]
    tested = ask("POST", f"{POLICIES}/bulkTestLog", {"metaFieldsValuesList": [{}]})
    assert tested["testPoliciesBulkResult"][0]["policy"]["name"] == "kept"
    usage = ask("POST", "/dataplans/data-usage/v2/daily:units", {"range": "RANGE_LAST_WEEK"})
    assert len(usage["units"]) == 7
    view = ask("POST", VIEWS, {"name": "v", "timeSelection": {}})["id"]
    compact = {"name": "v", "timeSelection": {}, "isCompactMode": True}
    assert ask("PUT", f"{VIEWS}/{view}", compact)["isCompactMode"] is True
    return {
        "dashboard": f"{DASHBOARDS}/{board_id}",
        "slo": f"{SLOS}/{slo_id}",
        "policies": POLICIES,
        "incident": open_id,
        "view": str(view),
    }


def endpoint_of(asked: tuple[str, str]) -> int:
    """Give the number of the endpoint that a request is for, 0 for none."""
    every = [endpoint for resource in RESOURCES for endpoint in resource.endpoints]
    for endpoint in sorted(every, key=lambda one: "{" in one.path):
        form = re.sub(r"\{\w+\}", "[^/]+", endpoint.path)
        if asked[0] == endpoint.method and re.fullmatch(form, asked[1]):
            return endpoint.number
    return 0


def test_standard_library_client(shop: Shop) -> None:
    """A client of the standard library uses all 21 endpoints, and a restart loses nothing."""
    page = {"pagination.pageSize": "1000"}
    flags = ("--data", "demo.db", "--alert-id", ALERT)
    with serving(shop.root, *flags) as ask:
        made = use_all(ask)
        before = [ask("GET", made[name]) for name in ("dashboard", "slo", "policies")]
        before.append(ask("POST", INCIDENTS, {}, **page))
    reached = {number for number in map(endpoint_of, ask.asked) if number}

    with serving(shop.root, *flags) as ask:
        after = [ask("GET", made[name]) for name in ("dashboard", "slo", "policies")]
        after.append(ask("POST", INCIDENTS, {}, **page))
        view = ask("POST", VIEWS, {"name": "next", "timeSelection": {}})["id"]

    assert reached == set(range(1, 22))
    assert after == before
    assert view == int(made["view"]) + 1


def test_one_key(shop: Shop) -> None:
    """With RECONCILER_API_KEY only that key is taken; without, any that is not empty."""
    with serving(shop.root, "--data", "demo.db", key="canary") as ask:
        assert ask.status("GET", POLICIES) == 200
        ask.key = "another"
        assert ask.status("GET", POLICIES) == 401


def test_keys_and_log(shop: Shop) -> None:
    """`--keys` gives keys with permissions; `--log` notes each request, and never a key."""
    shop.write("keys.json", json.dumps({"all-of-it": ["case:Read"], "not-cases": []}))
    flags = ("--data", "demo.db", "--keys", "keys.json", "--log", "requests.jsonl")
    with serving(shop.root, *flags) as ask:
        statuses = {}
        for key in ("all-of-it", "not-cases", "nobody"):
            ask.key = key
            statuses[key] = [ask.status("GET", POLICIES), ask.status("POST", "/cases/cases/v1", {})]

    assert statuses == {"all-of-it": [200, 200], "not-cases": [200, 403], "nobody": [401, 401]}
    log = (shop.root / "requests.jsonl").read_text()
    assert [json.loads(line)["status"] for line in log.splitlines()] == [
        200,
        200,
        200,
        403,
        401,
        401,
    ]
    assert not any(key in log for key in statuses)


def test_profile_and_faults(shop: Shop) -> None:
    """`--profile` and `--faults` change how it behaves."""
    shop.write("profile.json", json.dumps({"errorBody": "empty"}))
    rule = {"method": "GET", "path": POLICIES, "nth": 1, "fault": {"status": 503}}
    shop.write("faults.json", json.dumps({"rules": [rule]}))
    flags = ("--data", "demo.db", "--profile", "profile.json", "--faults", "faults.json")
    with serving(shop.root, *flags) as ask:
        assert [ask.status("GET", POLICIES), ask.status("GET", POLICIES)] == [503, 200]
        with pytest.raises(HTTPError) as refused:
            ask("GET", f"{SLOS}/nobody")
        with refused.value as error:
            assert (error.code, error.read()) == (404, b"")


def test_seed_once(tmp_path: Path) -> None:
    """`--seed demo` fills an empty file once: a second start adds nothing."""
    counts = []
    for _ in range(2):
        with serving(tmp_path, "--data", "new.db", "--seed", "demo") as ask:
            listed = ask("POST", INCIDENTS, {}, **{"pagination.pageSize": "1"})
            counts.append(listed["pagination"]["totalSize"])

    assert counts[0] == counts[1] > 50


def test_tick(shop: Shop) -> None:
    """`emulator tick` makes up for the time since the last one, and says what came of it."""
    before = datetime.now(UTC) - timedelta(days=2)
    data = shop.root / "old.db"
    create_app(data, seed="demo", clock=lambda: before).state.store.close()

    said = shop.run("emulator", "tick", "--data", "old.db")
    again = shop.run("emulator", "tick", "--data", "old.db", "-q")

    form = r"events: [1-9]\d*, incidents opened: \d+, closed: \d+, cases opened: \d+\n"
    assert (said.code, said.out) == (0, "")
    assert re.fullmatch(form, said.err)
    assert (again.code, again.out, again.err) == (0, "", "")


def names_in_docs() -> set[str]:
    """Give every name that the pages on the emulator show as code."""
    pages = (DOCS / name for name in ("emulator.md", "reference/emulator.md"))
    return {name for page in pages for name in re.findall(r"`([^`\n]+)`", page.read_text("utf-8"))}


def test_flags_are_documented() -> None:
    """docs/emulator.md names every flag of `emulator serve` and `emulator tick`."""
    flags = {
        option
        for command in emulator.commands.values()
        for parameter in command.params
        for option in parameter.opts
        if option.startswith("--")
    }

    assert {flag for flag in flags if not any(flag in name for name in names_in_docs())} <= {
        "--verbose",
        "--quiet",
    }


@pytest.mark.parametrize("model", [Rule, Fault, PartialBulk])
def test_faults_are_documented(model: type[Rule | Fault | PartialBulk]) -> None:
    """The reference names every field of a rule, of a fault and of a partial bulk."""
    names = {info.alias or name for name, info in model.model_fields.items()}

    assert names - names_in_docs() == set()
