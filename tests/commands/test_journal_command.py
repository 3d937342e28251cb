"""`reconciler journal`: what was written, whether it can be trusted, what is unsettled."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from processes import VIEWS, Served, in_this_process, journal, served, workspace

from reconciler.resource import Ref

VIEW = Ref("SavedView", "errors")


@pytest.fixture
def service() -> Iterator[Served]:
    with served() as service:
        yield service


@pytest.fixture
def folder(tmp_path: Path, service: Served) -> Path:
    """Give a workspace whose view was created without an answer."""
    folder = workspace(tmp_path / "work")
    service.switch.misbehave({"method": "POST", "path": VIEWS, "fault": {"drop": "after"}})
    assert in_this_process(folder, service.base_url, "apply", "--yes").code == 7
    service.switch.behave()
    return folder


def settle(folder: Path, service: Served, *arguments: str) -> tuple[int, str]:
    """Run `journal settle`; give the code and the words."""
    ended = in_this_process(folder, service.base_url, "journal", "settle", *arguments)
    return ended.code, ended.err


def test_settle_by_id(folder: Path, service: Served) -> None:
    """With its id the view is asserted, and there is one view."""
    assert settle(folder, service, "SavedView/errors", "--id", "1")[0] == 0
    assert in_this_process(folder, service.base_url, "apply", "--yes").code == 0

    assert service.rows("SELECT id FROM saved_views") == [(1,)]
    assert service.writes[-1] == f"PUT {VIEWS}/1"


def test_never_happened(folder: Path, service: Served) -> None:
    """A create that never happened is sent anew."""
    assert settle(folder, service, "SavedView/errors", "--never-happened")[0] == 0
    assert in_this_process(folder, service.base_url, "apply", "--yes").code == 0

    assert service.writes[-1] == f"POST {VIEWS}"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["SavedView/errors"], "either --id ID or --never-happened"),
        (["SavedView/errors", "--id", "1", "--never-happened"], "either --id"),
        (["SavedView/other", "--id", "1"], "is not unsettled (unsettled: SavedView/errors)"),
        (["Dashboard/checkout", "--never-happened"], "is not unsettled"),
        (["errors", "--id", "1"], "Kind/name"),
        (["SavedView/errors", "--id", "0"], "is not an id of SavedView"),
        (["SavedView/errors", "--id", "2147483648"], "is not an id of SavedView"),
        (["SavedView/errors", "--id", "1.0"], "is not an id of SavedView"),
        (["SavedView/errors", "--id", "-1"], "is not an id of SavedView"),
        (["SavedView/errors", "--id", "true"], "is not an id of SavedView"),
        (["SavedView/errors", "--id", "٣"], "is not an id of SavedView"),
        (["SavedView/errors", "--id", ""], "is not an id of SavedView"),
    ],
)
def test_wrong_settlement(folder: Path, service: Served, arguments: list[str], said: str) -> None:
    """Nothing but a clear word about a create in doubt settles anything: exit 64."""
    before = journal(folder, service.base_url).entries

    code, words = settle(folder, service, *arguments)

    assert (code, said in words) == (64, True), words
    assert journal(folder, service.base_url).entries == before


def test_settled_once(folder: Path, service: Served) -> None:
    """What is settled stays settled."""
    settle(folder, service, "SavedView/errors", "--id", "1")

    code, _ = settle(folder, service, "SavedView/errors", "--never-happened")

    assert code == 64
    assert journal(folder, service.base_url).history.of(VIEW).remote_id == 1


def test_show(folder: Path, service: Served) -> None:
    """All entries are shown, or those of one resource, and what is unsettled."""
    text = in_this_process(folder, service.base_url, "journal", "show")
    everything = in_this_process(folder, service.base_url, "journal", "show", "--format", "json")
    one = in_this_process(
        folder, service.base_url, "journal", "show", "SavedView/errors", "--format", "json"
    )

    assert "unsettled since" in text.out
    assert len(json.loads(everything.out)) > 5
    assert [entry["entry"] for entry in json.loads(one.out)] == ["started"]


def test_verify(folder: Path, service: Served) -> None:
    """A whole journal is counted, a torn one is told, and a changed one is error 8."""
    file = folder / ".reconciler" / "journal.jsonl"
    whole = in_this_process(folder, service.base_url, "journal", "verify")
    content = file.read_text()
    file.write_text(content + '{"entry":"wri')
    torn = in_this_process(folder, service.base_url, "journal", "verify")
    file.write_text(content.replace("Errors", "Forged", 1))
    forged = in_this_process(folder, service.base_url, "journal", "verify")

    assert (whole.code, torn.code, forged.code) == (0, 0, 8)
    assert "1 unsettled" in whole.out
    assert "torn" in torn.out
    assert "line 3" in forged.err or "line 2" in forged.err


def test_no_journal(tmp_path: Path, service: Served) -> None:
    """Where there is no journal, there is nothing to verify."""
    folder = workspace(tmp_path / "fresh")

    assert in_this_process(folder, service.base_url, "journal", "verify").code == 4
    assert in_this_process(folder, service.base_url, "journal", "show").code == 0
    assert not (folder / ".reconciler").exists()


def test_another_target(folder: Path, service: Served) -> None:
    """The journal of another target is refused with both named: exit 4, and nothing is asked."""
    asked = len(service.switch.app.state.requests)

    ended = in_this_process(folder, service.base_url.replace("127.0.0.1", "localhost"), "plan")

    assert ended.code == 4
    assert service.base_url in ended.err
    assert "localhost" in ended.err
    assert len(service.switch.app.state.requests) == asked


def test_lost_journal(folder: Path, service: Served) -> None:
    """Without its journal an alert is asserted, a dashboard found, and an SLO created anew."""
    (folder / ".reconciler" / "journal.jsonl").unlink()

    plan = in_this_process(folder, service.base_url, "plan", "--format", "json")

    actions = {one["ref"]: one["action"] for one in json.loads(plan.out)["changes"]}
    assert actions == {
        "AlertDefinition/errors": "assert",
        "Dashboard/checkout": "keep",
        "LogPolicySet/all": "update",
        "SLO/checkout": "create",
        "SavedView/errors": "create",
    }


def test_written_ids(folder: Path, service: Served) -> None:
    """With the ids in the manifests, a lost journal leads to no second create."""
    settle(folder, service, "SavedView/errors", "--id", "1")
    in_this_process(folder, service.base_url, "apply", "--yes")
    ended = in_this_process(folder, service.base_url, "journal", "write-ids", str(folder))
    (folder / ".reconciler" / "journal.jsonl").unlink()

    plan = in_this_process(folder, service.base_url, "plan", "--format", "json")

    assert ended.out == "3 ids written\n"
    actions = {one["ref"]: one["action"] for one in json.loads(plan.out)["changes"]}
    assert actions["SLO/checkout"] == "keep"
    assert actions["SavedView/errors"] == "assert"
