"""`journal init`, `rename` and `forget`: what a person tells a journal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from harness.doors import APPLY, Ran, in_this_process, without_place
from harness.routes import VIEWS
from harness.served import Served
from harness.workspaces import edit, journal, workspace

from reconciler.journal.entries import Compacted, Entry, Forgotten, Renamed
from reconciler.journal.journal import Journal
from reconciler.model import Ref

pytestmark = pytest.mark.promise("P17")


@pytest.fixture
def folder(tmp_path: Path, service: Served) -> Path:
    """Give a workspace that was applied."""
    folder = workspace(tmp_path / "work")
    assert run(folder, service, *APPLY, "--yes").code == 0
    return folder


def run(folder: Path, service: Served, *arguments: str) -> Ran:
    """Run one command on the workspace."""
    return in_this_process(folder, service.base_url, *arguments)


def planned(folder: Path, service: Served) -> dict[str, Any]:
    """Give the plan as JSON."""
    ended = run(folder, service, "plan", "--format", "json")
    assert ended.code == 0, ended.err
    plan: dict[str, Any] = json.loads(ended.out)
    return plan


def actions(plan: dict[str, Any]) -> dict[str, str]:
    """Give the action of each resource."""
    return {change["ref"]: change["action"] for change in plan["changes"]}


def entries(folder: Path, service: Served) -> list[Entry]:
    """Read the entries of the journal."""
    return journal(folder, service.base_url).entries


def test_a_new_journal(tmp_path: Path, service: Served) -> None:
    """`init` begins an empty journal of the environment and its target, and nothing is asked."""
    folder = workspace(tmp_path / "fresh")
    asked = service.switch.asked

    ended = run(folder, service, "journal", "init")

    begun = journal(folder, service.base_url)
    assert ended.code == 0, ended.err
    assert (ended.out, service.switch.asked) == ("", asked)
    assert begun.header is not None
    assert (begun.header.environment, begun.header.target) == ("default", service.base_url)
    assert begun.entries == []
    assert run(folder, service, "journal", "verify").code == 0
    assert run(folder, service, "apply", "--yes").code == 0


def test_init_again(folder: Path, service: Served) -> None:
    """Where there is a journal `init` changes no byte of it and says so, exit 0."""
    file = folder / ".reconciler" / "journal.jsonl"
    before = file.read_bytes()

    ended = run(folder, service, "journal", "init")
    quiet = run(folder, service, "journal", "init", "-q")

    assert (ended.code, quiet.code) == (0, 0)
    assert "already" in ended.err
    assert quiet.err == ""
    assert file.read_bytes() == before


def test_init_after_a_loss(folder: Path, service: Served) -> None:
    """Where the lock remembers a journal that is gone, `init` begins none, as often as asked."""
    (folder / ".reconciler" / "journal.jsonl").unlink()

    ended = [run(folder, service, "journal", "init") for _ in range(2)]

    assert [ran.code for ran in ended] == [8, 8]
    assert not (folder / ".reconciler" / "journal.jsonl").exists()


def test_init_of_another_target(folder: Path, service: Served) -> None:
    """The journal of another target is none of ours: `init` refuses, exit 4."""
    elsewhere = service.base_url.replace("127.0.0.1", "localhost")

    assert in_this_process(folder, elsewhere, "journal", "init").code == 4


def test_renamed(folder: Path, service: Served) -> None:
    """After `rename` a manifest of the new name means the same SLO: nothing is made twice."""
    ended = run(folder, service, "journal", "rename", "SLO/checkout", "SLO/checkout-answers")
    edit(folder, "metadata: {name: checkout}\nspec:\n  name: Checkout\n  target", RENAMED_SLO)
    sent = len(service.writes)

    plan = planned(folder, service)

    assert ended.code == 0, ended.err
    assert actions(plan)["SLO/checkout-answers"] == "keep"
    assert plan["orphans"] == []
    assert run(folder, service, *APPLY, "--yes").code == 0
    assert len(service.writes) == sent
    assert service.rows("SELECT count(*) FROM slos") == [(1,)]


RENAMED_SLO = "metadata: {name: checkout-answers}\nspec:\n  name: Checkout\n  target"


def test_told(folder: Path, service: Served) -> None:
    """`show` tells a rename under both names, and `history` who said so."""
    run(folder, service, "journal", "rename", "SLO/checkout", "SLO/answers")
    run(folder, service, "journal", "forget", "SavedView/errors")

    old, new = (
        json.loads(run(folder, service, "journal", "show", ref, "--format", "json").out)
        for ref in ("SLO/checkout", "SLO/answers")
    )
    runs = json.loads(run(folder, service, "journal", "history", "--format", "json").out)

    assert old[-1]["entry"] == "renamed"
    assert [(value["ref"], value["was"]) for value in new] == [("SLO/answers", "SLO/checkout")]
    assert [(value["command"], value["outcomes"]) for value in runs[1:]] == [
        ("rename", {"renamed": 1}),
        ("forget", {"forgotten": 1}),
    ]
    assert all(value["actor"] for value in runs)


def test_forgotten(folder: Path, service: Served) -> None:
    """What was removed by hand and forgotten is no longer listed as declared no more."""
    manifests = folder / "all.yaml"
    without_view, _, _ = manifests.read_text().rpartition("---")
    manifests.write_text(without_view)
    before = planned(folder, service)

    ended = run(folder, service, "journal", "forget", "SavedView/errors")

    assert [orphan["ref"] for orphan in before["orphans"]] == ["SavedView/errors"]
    assert (ended.code, "(1)" in ended.err) == (0, True), ended.err
    assert "no guard remembers" in ended.err
    assert planned(folder, service)["orphans"] == []
    assert service.rows("SELECT count(*) FROM saved_views") == [(1,)]


@pytest.mark.parametrize("then", [[], ["compact"]])
def test_forgotten_and_declared(folder: Path, service: Served, then: list[str]) -> None:
    """What is declared and forgotten begins again, in a compacted journal too."""
    run(folder, service, "journal", "forget", "SavedView/errors")
    for command in then:
        run(folder, service, "journal", command)

    assert actions(planned(folder, service))["SavedView/errors"] == "create"
    assert run(folder, service, *APPLY, "--yes").code == 0
    assert service.writes.count(f"POST {VIEWS}") == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["rename", "SLO/checkout", "Dashboard/a"], "stays of its kind"),
        (["rename", "SLO/checkout", "SLO/checkout"], "nothing to rename"),
        (["rename", "SLO/checkout", "SLO/Not A Name"], "is not a name"),
        (["rename", "SLO/checkout", "SLO/" + "a" * 254], "is not a name"),
        (["rename", "SLO/chekout", "SLO/a"], "knows no SLO/chekout; did you mean SLO/checkout?"),
        (["rename", "SLO/zzzz", "SLO/a"], "see `reconciler journal show`"),
        (["rename", "SLO/checkout", "answers"], "Kind/name"),
        (["rename", "Dashboard/checkout", "Dashboard/other"], "journal forget Dashboard/other"),
        (["rename", "SavedView/errors", "SavedView/a"], "journal settle SavedView/errors"),
        (["rename", "SavedView/kept", "SavedView/errors"], "journal forget SavedView/errors"),
        (["forget", "SLO/chekout"], "did you mean SLO/checkout?"),
        (["forget", "errors"], "Kind/name"),
        (["forget", "SavedView/errors"], "journal settle SavedView/errors"),
    ],
)
def test_refused(tmp_path: Path, service: Served, arguments: list[str], said: str) -> None:
    """What is unknown, in doubt, taken, of another kind or no name is refused: exit 64."""
    folder = workspace(tmp_path / "work")
    service.switch.misbehave({"method": "POST", "path": VIEWS, "fault": {"drop": "after"}})
    run(folder, service, *APPLY, "--yes")
    service.switch.behave()
    add_known(journal(folder, service.base_url))
    before = entries(folder, service)

    ended = run(folder, service, "journal", *arguments)

    assert ended.code == 64, ended.err
    assert said in without_place(ended.err)
    assert entries(folder, service) == before


def add_known(found: Journal) -> None:
    """Let the journal know two more resources."""
    refs = (Ref("Dashboard", "other"), Ref("SavedView", "kept"))
    with found.locked():
        at = found.now()
        found.append(
            [
                Compacted(at=at, ref=ref, remote_id=9, exists=True, attempts=1, protect=False)
                for ref in refs
            ]
        )


def test_locked(folder: Path, service: Served) -> None:
    """While another run holds the journal nothing is renamed, forgotten or begun: exit 5."""
    with journal(folder, service.base_url).locked():
        ended = [
            run(folder, service, "journal", *arguments)
            for arguments in (["rename", "SLO/checkout", "SLO/a"], ["forget", "SLO/checkout"])
        ]

    assert [one.code for one in ended] == [5, 5]
    assert not any(isinstance(entry, Renamed | Forgotten) for entry in entries(folder, service))
