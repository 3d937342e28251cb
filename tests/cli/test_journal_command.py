"""`reconciler journal`: what was written, whether it can be trusted, what is unsettled."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from harness.doors import APPLY, in_this_process, without_place
from harness.golden import Golden
from harness.routes import VIEWS
from harness.served import Served
from harness.workspaces import journal, workspace

from reconciler.model import Ref
from reconciler.runtime.advice import LOST_JOURNAL

VIEW = Ref("SavedView", "errors")


@pytest.fixture
def folder(tmp_path: Path, service: Served) -> Path:
    """Give a workspace whose view was created without an answer."""
    folder = workspace(tmp_path / "work")
    service.switch.misbehave({"method": "POST", "path": VIEWS, "fault": {"drop": "after"}})
    assert in_this_process(folder, service.base_url, *APPLY, "--yes").code == 7
    service.switch.behave()
    return folder


def settle(folder: Path, service: Served, *arguments: str) -> tuple[int, str]:
    """Run `journal settle`; give the code and the words."""
    ended = in_this_process(folder, service.base_url, "journal", "settle", *arguments)
    return ended.code, ended.err


def test_settle_by_id(folder: Path, service: Served) -> None:
    """With its id the view is asserted, and there is one view."""
    assert settle(folder, service, "SavedView/errors", "--id", "1")[0] == 0
    assert in_this_process(folder, service.base_url, *APPLY, "--yes").code == 0

    assert service.rows("SELECT id FROM saved_views") == [(1,)]
    assert service.writes[-1] == f"PUT {VIEWS}/1"


def test_never_happened(folder: Path, service: Served) -> None:
    """A create that never happened is sent anew."""
    assert settle(folder, service, "SavedView/errors", "--never-happened")[0] == 0
    assert in_this_process(folder, service.base_url, *APPLY, "--yes").code == 0

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
    """Where there is no journal, there is nothing to verify nor to show, and none is made."""
    folder = workspace(tmp_path / "fresh")

    assert in_this_process(folder, service.base_url, "journal", "verify").code == 8
    assert in_this_process(folder, service.base_url, "journal", "show").code == 8
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

    actions = {change["ref"]: change["action"] for change in json.loads(plan.out)["changes"]}
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
    in_this_process(folder, service.base_url, *APPLY, "--yes")
    ended = in_this_process(folder, service.base_url, "journal", "write-ids", str(folder))
    (folder / ".reconciler" / "journal.jsonl").unlink()

    plan = in_this_process(folder, service.base_url, "plan", "--format", "json")

    assert ended.out == "3 ids written\n"
    actions = {change["ref"]: change["action"] for change in json.loads(plan.out)["changes"]}
    assert actions["SLO/checkout"] == "keep"
    assert actions["SavedView/errors"] == "assert"


def history(folder: Path, service: Served, *arguments: str) -> list[dict[str, Any]]:
    """Give what `journal history` tells."""
    ended = in_this_process(
        folder, service.base_url, "journal", "history", "--format", "json", *arguments
    )
    assert ended.code == 0, ended.err
    told: list[dict[str, Any]] = json.loads(ended.out)
    return told


def test_history(folder: Path, service: Served) -> None:
    """The runs are told in order: who, by what command, and what became of each resource."""
    settle(folder, service, "SavedView/errors", "--id", "1")
    text = in_this_process(folder, service.base_url, "journal", "history")

    told = history(folder, service)
    assert [value["command"] for value in told] == ["apply", "settle"]
    assert [value["outcomes"] for value in told] == [
        {"written": 4, "unanswered": 1},
        {"settled": 1},
    ]
    assert all(value["actor"] for value in told)
    assert "4 written, 1 unanswered" in text.out
    (about, settled) = history(folder, service, "SavedView/errors")
    assert (about["outcome"], settled["outcome"]) == ("unanswered", "settled")
    assert len(history(folder, service, "SLO/checkout")) == 1
    assert history(folder, service, "SLO/unheard-of") == []


def test_show_takes_one_ref(folder: Path, service: Served) -> None:
    """`show REF` and `show --ref REF` are the same, and both at once are a usage error."""
    place, flag, both = (
        in_this_process(folder, service.base_url, "journal", "show", *arguments)
        for arguments in (["SLO/checkout"], ["--ref", "SLO/checkout"], ["SLO/a", "--ref", "SLO/a"])
    )

    assert place.out == flag.out
    assert "SLO/checkout" in place.out
    assert both.code == 64


def verified(folder: Path, service: Served) -> tuple[int, dict[str, str]]:
    """Give the code of `journal verify`, and its findings with what each asks for."""
    ended = in_this_process(folder, service.base_url, "journal", "verify", "--format", "json")
    if not ended.out:
        return ended.code, {"error": ended.err}
    found = {finding["finding"]: finding["wayOut"] for finding in json.loads(ended.out)["findings"]}
    return ended.code, found


def test_verify_finds(folder: Path, service: Served) -> None:
    """Each thing to know of a journal is told with what to do next."""
    file = folder / ".reconciler" / "journal.jsonl"
    whole = file.read_bytes()
    code, found = verified(folder, service)
    assert (code, list(found)) == (0, ["unsettled"])
    assert "reconciler journal settle SavedView/errors" in without_place(found["unsettled"])

    file.write_bytes(whole + b'{"entry":"wri')
    assert verified(folder, service)[1].keys() == {"unsettled", "torn"}

    file.write_bytes(b"".join(whole.splitlines(keepends=True)[:-1]))
    code, found = verified(folder, service)
    assert (code, next(iter(found))) == (8, "old copy")

    file.write_bytes(whole.replace(b"Errors", b"Forged", 1))
    code, found = verified(folder, service)
    assert code == 8
    assert LOST_JOURNAL in found["error"]

    file.unlink()
    code, found = verified(folder, service)
    assert code == 8
    assert "is gone: the last run left one there" in found["error"]

    file.with_name("journal.jsonl.lock").unlink()
    code, found = verified(folder, service)
    assert code == 8
    assert "there is no journal" in found["error"]
    assert LOST_JOURNAL in found["error"]


@pytest.mark.parametrize("command", [("plan",), ("journal", "history")])
def test_a_journal_that_is_gone(
    folder: Path, service: Served, command: tuple[str, ...], golden: Golden
) -> None:
    """A journal that is gone is told as gone, with the way out, and never as an old copy."""
    (folder / ".reconciler" / "journal.jsonl").unlink()

    ended = in_this_process(folder, service.base_url, *command)

    golden(ended.err)
    assert LOST_JOURNAL in ended.err
    assert "old copy" not in ended.err


def test_an_old_copy_is_warned_of(folder: Path, service: Served) -> None:
    """A plan and an apply on an old copy of the journal say so before anything is sent."""
    file = folder / ".reconciler" / "journal.jsonl"
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:-1]))

    ended = in_this_process(folder, service.base_url, "plan")

    assert "old copy" in ended.err


def test_held_lock_is_found(folder: Path, service: Served, golden: Golden) -> None:
    """`verify` names who holds the lock, and `unlock` does not take that of a file."""
    with journal(folder, service.base_url).locked():
        _, found = verified(folder, service)
        ended = in_this_process(folder, service.base_url, "journal", "unlock")

    assert "locked" in found
    assert ended.code == 5
    golden(ended.err)
    assert in_this_process(folder, service.base_url, "journal", "unlock").code == 0


@pytest.fixture
def no_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.usefixtures("no_umask")
def test_compact(folder: Path, service: Served) -> None:
    """Compacting changes no plan, keeps what is unsettled and who ran what, and the mode 0600."""
    file = folder / ".reconciler" / "journal.jsonl"
    before = in_this_process(folder, service.base_url, "plan", "--format", "json")
    memories = journal(folder, service.base_url).history

    ended = in_this_process(folder, service.base_url, "journal", "compact")

    assert ended.code == 0, ended.err
    assert journal(folder, service.base_url).history == memories
    assert in_this_process(folder, service.base_url, "plan", "--format", "json") == before
    assert [value["command"] for value in history(folder, service)] == ["apply", "compact"]
    assert history(folder, service)[0]["outcomes"] == {"written": 4, "unanswered": 1}
    code, found = verified(folder, service)
    assert (code, list(found)) == (0, ["unsettled", "compacted"])
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    left = {".gitignore", file.name, f"{file.name}.lock"}
    assert {path.name for path in file.parent.iterdir()} == left
    assert settle(folder, service, "SavedView/errors", "--id", "1")[0] == 0


def test_nothing_to_compact(tmp_path: Path, service: Served) -> None:
    """Where there is no journal, compacting makes none."""
    folder = workspace(tmp_path / "fresh")

    assert in_this_process(folder, service.base_url, "journal", "compact").code == 8
    assert not (folder / ".reconciler").exists()
