"""The service's bad days, through the command line; what writes is a process of its own."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest
from harness.doors import APPLY, KEY, Ran, in_a_process, in_this_process
from harness.routes import VIEWS
from harness.served import Served
from harness.workspaces import journal

from reconciler.model import Ref

SLO, VIEW = Ref("SLO", "checkout"), Ref("SavedView", "errors")
HTML_404 = {"status": 404, "html": True}
ECHO = {"status": 400, "body": json.dumps({"message": f"what is {KEY}?"})}


def check_laws(folder: Path, service: Served, *ended: Ran) -> None:
    """Check I1, I2, I5 and I8 after a run, and I3 and I6 after the recovery."""
    known = journal(folder, service.base_url).history
    for ref, table in ((SLO, "slos"), (VIEW, "saved_views")):
        ids = {row[0] for row in service.rows(f"SELECT id FROM {table}")}  # noqa: S608 - ours
        assert len(ids) <= 1
        assert ref in known.unsettled() or ids <= {known.of(ref).remote_id}
    for one in ended:
        assert KEY not in one.out + one.err
        assert "Traceback" not in one.err
    service.switch.behave()
    for ref in known.unsettled():
        settle(folder, service, ref)
    recovered = in_this_process(folder, service.base_url, *APPLY, "--yes")
    assert recovered.code == 0, recovered.err
    for table in ("slos", "saved_views", "dashboards"):
        assert service.rows(f"SELECT count(*) FROM {table}") == [(1,)]  # noqa: S608 - ours
    before = len(service.writes)
    again = in_this_process(folder, service.base_url, *APPLY, "--yes", "--format", "json")
    assert json.loads(again.out)["outcomes"] == []
    assert len(service.writes) == before
    kept = "".join(file.read_text() for file in folder.rglob("*") if file.is_file())
    assert KEY not in kept


def settle(folder: Path, service: Served, ref: Ref) -> None:
    """Say what became of a create, after a look at the service."""
    table = {"SLO": "slos", "SavedView": "saved_views"}.get(ref.kind)
    rows = service.rows(f"SELECT id FROM {table}") if table else [()]  # noqa: S608 - ours
    if table is not None:
        said = ["--id", str(rows[0][0])] if rows else ["--never-happened"]
        ended = in_this_process(folder, service.base_url, "journal", "settle", str(ref), *said)
        assert ended.code == 0, ended.err


EVERYTHING: dict[str, tuple[dict[str, Any], int, str]] = {
    "401": ({"status": 401}, 10, "does not accept the API key"),
    "403": ({"status": 403}, 10, "lacks a permission"),
    "404 route": ({"status": 404, "body": '{"code": 5, "message": "Not Found"}'}, 9, "base URL"),
    "404 doubled": ({"status": 404, "body": '{"message": "Not Found: Not Found"}'}, 9, "base URL"),
    "404 HTML": (HTML_404, 9, "base URL"),
    "404 empty": ({"status": 404, "body": ""}, 9, "base URL"),
    "409": ({"status": 409, "body": '{"message": "Conflict: busy"}'}, 3, "Conflict: busy"),
    "429": ({"status": 429, "retryAfter": "3600"}, 9, "3,600 seconds"),
    "500": ({"status": 500}, 9, "500 Internal Server Error"),
    "501": ({"status": 501}, 9, "base URL"),
    "503": ({"status": 503, "body": "down for repair"}, 9, "down for repair"),
    "520": ({"status": 520}, 9, "520"),
    "307": ({"status": 307, "headers": {"Location": "https://elsewhere.test/"}}, 9, "elsewhere"),
    "truncated": ({"truncate": 5, "declared": "whole"}, 9, "5 attempts failed"),
    "cut JSON": ({"truncate": 5}, 9, "not JSON"),
    "HTML": ({"status": 200, "html": True}, 9, "not JSON (text/html"),
    "dropped": ({"drop": "before"}, 9, "5 attempts failed"),
}


@pytest.mark.parametrize(("fault", "code", "said"), EVERYTHING.values(), ids=EVERYTHING)
def test_plan(folder: Path, service: Served, fault: dict[str, Any], code: int, said: str) -> None:
    """Whatever the service does to everything, a plan ends with one clear error and its code."""
    service.switch.misbehave({"fault": fault})

    ended = in_this_process(folder, service.base_url, "plan")

    assert ended.code == code, ended.err
    assert said in ended.err
    assert ended.err.count("error:") == 1
    assert ended.out == ""
    assert not (folder / ".reconciler").exists()


def test_dead_port(folder: Path) -> None:
    """A port where nobody listens is named, for plan, apply and drift, and leaves no entry."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        base_url = f"http://127.0.0.1:{listener.getsockname()[1]}"

    for arguments in (["plan"], [*APPLY, "--yes"], ["drift"]):
        ended = in_a_process(folder, base_url, *arguments)
        assert ended.code == 9, ended.err
        assert base_url in ended.err
    assert journal(folder, base_url).entries == []


WRITES: dict[str, tuple[dict[str, Any], int]] = {
    "401": ({"method": "P*", "fault": {"status": 401}}, 10),
    "view lost": ({"method": "POST", "path": VIEWS, "fault": {"drop": "after"}}, 7),
    "view 500": ({"method": "POST", "path": VIEWS, "fault": {"status": 500, "commit": True}}, 7),
    "view HTML": ({"method": "POST", "path": VIEWS, "fault": {"status": 200, "html": True}}, 7),
    "slo cut": ({"method": "POST", "path": "/v1/slo/slos", "fault": {"truncate": 9}}, 7),
    "board cut": ({"method": "POST", "path": "/v1/dashboards/*", "fault": {"truncate": 3}}, 0),
    "board 409": ({"method": "POST", "path": "/v1/dashboards/*", "fault": {"status": 409}}, 3),
    "alerts 403": ({"method": "PUT", "path": "/alerts/*", "fault": {"status": 403}}, 10),
    "alerts lost": ({"method": "PUT", "path": "/alerts/*", "fault": {"drop": "after"}}, 9),
    "policies lost": ({"method": "POST", "path": "/dataplans/*", "fault": {"drop": "after"}}, 0),
    "key echoed": ({"method": "POST", "path": "/v1/dashboards/*", "fault": ECHO}, 3),
}


@pytest.mark.parametrize(("rule", "code"), WRITES.values(), ids=WRITES)
def test_apply(folder: Path, service: Served, rule: dict[str, Any], code: int) -> None:
    """Whatever the service does to a write, the code is right and the journal true."""
    rule = {**rule, "method": rule["method"].replace("P*", "PUT")}
    service.switch.misbehave(rule)

    ended = in_a_process(folder, service.base_url, *APPLY, "--yes")

    assert ended.code == code, ended.err
    check_laws(folder, service, ended)


def test_unsettled_create(folder: Path, service: Served) -> None:
    """With a create in doubt, plan shows it and ends with 7, and apply writes nothing at all."""
    service.switch.misbehave({"method": "POST", "path": VIEWS, "fault": {"drop": "after"}})
    first = in_a_process(folder, service.base_url, *APPLY, "--yes")
    service.switch.behave()
    before = len(service.writes)

    plan = in_a_process(folder, service.base_url, "plan", "--format", "json")
    apply = in_a_process(folder, service.base_url, *APPLY, "--yes")

    assert (first.code, plan.code, apply.code) == (7, 7, 7)
    (unsettled,) = json.loads(plan.out)["unsettled"]
    assert unsettled["ref"] == "SavedView/errors"
    actions = {change["ref"]: change["action"] for change in json.loads(plan.out)["changes"]}
    assert actions["SavedView/errors"] == "blocked"
    assert "journal settle" in apply.err
    assert len(service.writes) == before
