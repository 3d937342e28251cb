"""Why a write was refused, and what to do about it, whatever is asked for and however quietly."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import httpx
import pytest
from harness.doors import APPLY, KEY, in_this_process, without_place
from harness.golden import Golden
from harness.routes import VIEWS
from harness.served import Served
from harness.sites import ALERT_ID
from harness.workspaces import edit, workspace


@pytest.fixture
def applied(tmp_path: Path, service: Served) -> Path:
    """Give a workspace that was applied."""
    folder = workspace(tmp_path / "work")
    assert in_this_process(folder, service.base_url, *APPLY, "--yes").code == 0
    return folder


def delete(service: Served, what: str) -> None:
    """Delete something as a person does in the web interface."""
    asked = httpx.delete(f"{service.base_url}/web/{what}", headers={"Authorization": KEY})
    assert asked.status_code < 300, asked.text


@pytest.mark.parametrize("form", ["text", "json", "junit"])
def test_reasons_when_quiet(applied: Path, service: Served, form: str) -> None:
    """With `-q` an apply says on stderr why a write was refused, and nothing of what went well."""
    service.switch.misbehave({"method": "PUT", "path": f"{VIEWS}/1", "fault": {"status": 400}})
    edit(applied, "name: Errors\n  timeSelection", "name: All errors\n  timeSelection")
    edit(applied, "description: first", "description: second")

    ended = in_this_process(applied, service.base_url, "apply", "--yes", "-q", "--format", form)

    assert ended.code == 3
    assert re.search(r"refused +SavedView/errors: .", ended.err)
    assert "Dashboard/checkout" not in ended.err


def test_lost_answers_when_quiet(applied: Path, service: Served) -> None:
    """With `-q` an apply names on stderr the write that nobody knows of."""
    service.switch.misbehave({"method": "POST", "path": VIEWS, "fault": {"drop": "after"}})
    edit(applied, "metadata: {name: errors}", "metadata: {name: others}")

    ended = in_this_process(
        applied, service.base_url, "apply", "--yes", "-q", "--override-guard", "a test"
    )

    assert ended.code == 7
    assert re.search(r"in doubt +SavedView/others: .", ended.err)


def test_deleted_view(applied: Path, service: Served) -> None:
    """Of a view that was deleted by hand, an update names the way out, and that one works."""
    delete(service, "saved-views/1")
    edit(applied, "name: Errors\n  timeSelection", "name: All errors\n  timeSelection")

    refused = in_this_process(applied, service.base_url, "apply", "--yes", "--format", "json")
    forget = re.findall(r"`reconciler (journal forget [^`]*)`", refused.err)

    assert refused.code == 3
    (found,) = (
        outcome
        for outcome in json.loads(refused.out)["outcomes"]
        if outcome["outcome"] == "refused"
    )
    assert forget[0] in " ".join(found["waysOut"])
    assert in_this_process(applied, service.base_url, *shlex.split(forget[0])).code == 0
    assert in_this_process(applied, service.base_url, "apply", "--yes").code == 0
    assert service.writes[-1] == f"POST {VIEWS}"


def test_deleted_view_with_an_id(applied: Path, service: Served, golden: Golden) -> None:
    """Where the manifest declares the id of what is gone, the way out begins with that."""
    edit(applied, "metadata: {name: errors}\nspec:\n  name: Errors", NAMED)
    delete(service, "saved-views/1")

    ended = in_this_process(applied, service.base_url, "apply", "--yes")

    assert ended.code == 3
    golden(ended.err)


NAMED = "metadata: {name: errors, id: 1}\nspec:\n  name: All errors"


def test_deleted_alert(applied: Path, service: Served, golden: Golden) -> None:
    """Of an alert that was deleted by hand, what the API cannot make again is left to a person."""
    delete(service, f"alerts/{ALERT_ID}")
    edit(applied, "name: Errors\n  type", "name: All errors\n  type")

    ended = in_this_process(applied, service.base_url, "apply", "--yes")

    assert ended.code == 3
    golden(ended.err)
    assert "`reconciler journal forget AlertDefinition/errors`" in without_place(ended.err)
