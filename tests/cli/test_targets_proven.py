"""Every plan and every comparison with live proves that the target is there and takes the key."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from harness.doors import APPLY, Ran, in_this_process
from harness.served import Served
from harness.workspaces import ALERT, SLO, VIEW, workspace

POLICIES = "/mgmt/openapi/latest/dataplans/policies/v1"
FORBIDDEN = {"path": "/dataplans/policies/v1", "fault": {"status": 403}}
UNREADABLE = pytest.mark.parametrize("text", [VIEW, ALERT, SLO], ids=["view", "alert", "new slo"])
COMMANDS = pytest.mark.parametrize("command", ["plan", "drift"])


def asked(tmp_path: Path, text: str, base_url: str, command: str, **more: str) -> Ran:
    """Run a command on one manifest."""
    return in_this_process(workspace(tmp_path / "shop", text), base_url, command, more=more)


@pytest.mark.promise("P25")
@UNREADABLE
@COMMANDS
def test_dead_target(tmp_path: Path, unused_port: int, text: str, command: str) -> None:
    """A target that is not there is exit 9, also where nothing can be read."""
    ended = asked(tmp_path, text, f"http://127.0.0.1:{unused_port}", command)

    assert ended.code == 9, ended.err


@pytest.mark.promise("P25")
@UNREADABLE
@COMMANDS
def test_refused_key(tmp_path: Path, service: Served, text: str, command: str) -> None:
    """A key that the service does not take is exit 10, also where nothing can be read."""
    ended = asked(tmp_path, text, service.base_url, command, RECONCILER_API_KEY="refused-key-51c0")

    assert ended.code == 10, ended.err


@pytest.mark.promise("P25")
@UNREADABLE
@COMMANDS
def test_permission(tmp_path: Path, service: Served, text: str, command: str) -> None:
    """A key that may not list policies proves the target all the same."""
    service.switch.misbehave(FORBIDDEN)

    ended = asked(tmp_path, text, service.base_url, command)

    # A declared id without a journal cannot be compared.
    lacks_journal = command == "drift" and "AlertDefinition" in text
    assert ended.code == (8 if lacks_journal else 0), ended.err


@pytest.mark.promise("P25")
def test_permission_is_noted(tmp_path: Path, service: Served) -> None:
    """That the key may not list policies stands in the plan, as a remark with a code."""
    service.switch.misbehave(FORBIDDEN)
    folder = workspace(tmp_path / "shop", VIEW)

    ended = in_this_process(folder, service.base_url, "plan", "--format", "json")

    codes = [remark["code"] for remark in json.loads(ended.out)["remarks"]]
    assert codes == ["no-journal", "not-permitted"]


@pytest.mark.promise("P25")
def test_one_cheap_read(tmp_path: Path, service: Served) -> None:
    """Target and key are proven by one request, and by none where something is read anyway."""
    folder = workspace(tmp_path / "shop", VIEW)
    in_this_process(folder, service.base_url, "plan")
    alone = [request.path for request in service.switch.app.state.requests]
    in_this_process(folder, service.base_url, *APPLY, "--yes")
    (folder / "all.yaml").write_text("")
    before = len(service.switch.app.state.requests)
    in_this_process(folder, service.base_url, "plan")

    assert alone == [POLICIES]
    assert len(service.switch.app.state.requests) == before


@pytest.mark.promise("P34")
@pytest.mark.skipif(os.name != "posix", reason="needs file names that are bytes")
def test_a_plan_with_a_name_that_is_no_text(tmp_path: Path, service: Served) -> None:
    """A plan that names a file whose name is not UTF-8 is written so that it can be read back."""
    folder = workspace(tmp_path / "shop", VIEW)
    (folder / "all.yaml").rename(folder / os.fsdecode(b"b\xff.yaml"))
    out = folder / "plan.json"

    planned = in_this_process(folder, service.base_url, "plan", "--out", str(out))
    applied = in_this_process(folder, service.base_url, *APPLY, "--plan", str(out))

    assert (planned.code, applied.code) == (0, 0), applied.err
    file = json.loads(out.read_text("utf-8"))["changes"][0]["source"]["file"]
    assert file == "b\\xff.yaml"
