"""`rollback`: what was declared before a run, planned, guarded, applied and journaled as any."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from processes import APPLY, Ended, Served, edit, in_this_process, journal, workspace

from reconciler.journal.entries import RunEntry

FIRST = {"TOKEN": "canary-one"}
HOOKS = """\
apiVersion: reconciler/v1
kind: Dashboard
metadata: {name: hooks}
spec:
  dashboard: {name: Hooks, description: "first ${secret:TOKEN}", layout: {sections: []}}
"""


@pytest.fixture
def applied(folder: Path, service: Served) -> Path:
    """Give a workspace that was applied twice, the second time with an edit of all it has."""
    assert run(folder, service, *APPLY, "--yes").code == 0
    edit_all(folder)
    assert run(folder, service, "apply", "--yes", "--override-guard", "a test").code == 0
    return folder


def edit_all(folder: Path) -> None:
    """Change one field of everything that the workspace declares."""
    edit(folder, "targetThresholdPercentage: 99.9", "targetThresholdPercentage: 98")
    edit(folder, "  name: Errors\n  type", "  name: Errors, all\n  type")
    edit(folder, "description: first", "description: second")
    edit(folder, "description: d,", "description: e,")
    edit(folder, "seconds: 900", "seconds: 60")


def run(folder: Path, service: Served, *arguments: str, **more: str) -> Ended:
    """Run one command on the workspace."""
    return in_this_process(folder, service.base_url, *arguments, more=more)


def planned(folder: Path, service: Served, *arguments: str, **more: str) -> dict[str, Any]:
    """Give the plan of a rollback."""
    words = ("rollback", *arguments, "--dry-run", "--format", "json")
    ended = run(folder, service, *words, **more)
    assert ended.code == 0, ended.err
    plan: dict[str, Any] = json.loads(ended.out)
    return plan


def actions(plan: dict[str, Any]) -> dict[str, str]:
    """Give the action of each resource."""
    return {one["ref"]: one["action"] for one in plan["changes"]}


def codes(plan: dict[str, Any]) -> dict[str, list[str]]:
    """Give the codes of the reasons of each resource."""
    return {one["ref"]: [why["code"] for why in one["reasons"]] for one in plan["changes"]}


def runs(folder: Path, service: Served) -> list[RunEntry]:
    """Give the runs of the journal, oldest first."""
    entries = journal(folder, service.base_url).entries
    return [one for one in entries if isinstance(one, RunEntry)]


def test_what_was_declared_before(applied: Path, service: Served) -> None:
    """All five kinds are as they were declared before the run, and the manifests as they are."""
    before = (applied / "all.yaml").read_text()

    ended = run(applied, service, "rollback", "last", "--yes")

    assert ended.code == 0, ended.err
    assert (applied / "all.yaml").read_text() == before
    assert "brings the change back" in ended.err
    (slo,) = service.rows("SELECT record FROM slos")
    (board,) = service.rows("SELECT record FROM dashboards")
    assert json.loads(slo[0])["targetThresholdPercentage"] == 99.9
    assert json.loads(board[0])["dashboard"]["description"] == "first"
    assert "e" not in {json.loads(one[0])["description"] for one in policies(service)}
    workspace(applied)
    again = json.loads(run(applied, service, "plan", "--format", "json").out)
    assert set(actions(again).values()) == {"keep"}


def policies(service: Served) -> list[tuple[Any, ...]]:
    """Give the records of the policies."""
    return service.rows("SELECT record FROM log_policies ORDER BY place")


def test_every_line_says_what_it_is(applied: Path, service: Served) -> None:
    """Each line has when it was declared and where the journal says so; the plan has the run."""
    plan = planned(applied, service, "last")

    (remark,) = plan["remarks"]
    assert set(actions(plan).values()) == {"update"}
    assert {one[0] for one in codes(plan).values()} == {"put-back"}
    assert (remark["code"], remark["run"]) == ("rolls-back", runs(applied, service)[1].run)
    lines = (applied / ".reconciler" / "journal.jsonl").read_text().splitlines()
    for change in plan["changes"]:
        started = json.loads(lines[change["source"]["line"] - 1])
        assert (started["entry"], started["ref"]) == ("started", change["ref"])
        assert change["source"]["file"] == ".reconciler/journal.jsonl"


def test_nothing_is_written_to_look(applied: Path, service: Served) -> None:
    """With --dry-run neither the service nor the journal is written."""
    file = applied / ".reconciler" / "journal.jsonl"
    before, writes = file.read_bytes(), len(service.writes)

    planned(applied, service, "last")

    assert (file.read_bytes(), len(service.writes)) == (before, writes)


def test_some_of_it(applied: Path, service: Served) -> None:
    """With refs only these are examined, and the rest is as the run left it."""
    plan = planned(applied, service, "last", "Dashboard/checkout")
    ended = run(applied, service, "rollback", "last", "Dashboard/checkout", "--yes")

    assert actions(plan) == {"Dashboard/checkout": "update"}
    assert ended.code == 0, ended.err
    (slo,) = service.rows("SELECT record FROM slos")
    assert json.loads(slo[0])["targetThresholdPercentage"] == 98


def test_a_rollback_is_rolled_back(applied: Path, service: Served) -> None:
    """A rollback is a run: it stands in the history by its name, and `last` undoes it too."""
    assert run(applied, service, "rollback", "last", "--yes").code == 0
    guarded = run(applied, service, "rollback", "last", "--yes")
    ended = run(applied, service, "rollback", "last", "--yes", "--override-guard", "back again")

    first = runs(applied, service)[1]
    assert (guarded.code, ended.code) == (11, 0), ended.err
    assert runs(applied, service)[2].command == f"rollback {first.run[:8]}"
    kept = json.loads(run(applied, service, "plan", "--format", "json").out)
    assert set(actions(kept).values()) == {"keep"}


def test_an_earlier_run(applied: Path, service: Served) -> None:
    """Of an earlier run it is said which runs since are undone with it."""
    edit(applied, "description: second", "description: third")
    assert run(applied, service, "apply", "--yes").code == 0
    _, second, third = runs(applied, service)

    plan = planned(applied, service, second.run[:8], "Dashboard/checkout")

    (change,) = plan["changes"]
    put_back = change["reasons"][0]
    assert put_back["later"] == [third.run]
    assert [field["after"] for field in change["fields"]] == ["first"]


def test_what_the_run_created(folder: Path, service: Served) -> None:
    """What a run created or took over cannot be as before: it is blocked, each with its reason."""
    assert run(folder, service, *APPLY, "--yes").code == 0
    plan = planned(folder, service, "last")
    ended = run(folder, service, "rollback", "last", "--yes", "--format", "json")

    assert set(actions(plan).values()) == {"blocked"}
    assert codes(plan) == {
        "SLO/checkout": ["made-by-run"],
        "AlertDefinition/errors": ["nothing-before"],
        "Dashboard/checkout": ["made-by-run"],
        "LogPolicySet/all": ["nothing-before"],
        "SavedView/errors": ["made-by-run"],
    }
    assert ended.code == 3
    assert len(service.writes) == 5


@pytest.mark.parametrize("now", ["other", ""])
def test_a_secret_that_changed(tmp_path: Path, service: Served, now: str) -> None:
    """What held another value of a secret is blocked and named; with the value it comes back."""
    folder = workspace(tmp_path / "work", HOOKS)
    assert run(folder, service, *APPLY, "--yes", **FIRST).code == 0
    edit(folder, "first", "second")
    assert run(folder, service, "apply", "--yes", **FIRST).code == 0

    lost = planned(folder, service, "last", TOKEN=now)
    ended = run(folder, service, "rollback", "last", "--yes", **FIRST)

    assert actions(lost) == {"Dashboard/hooks": "blocked"}
    assert lost["changes"][0]["reasons"] == [{"code": "secrets-lost", "names": ["TOKEN"]}]
    assert ended.code == 0, ended.err
    (board,) = service.rows("SELECT record FROM dashboards")
    assert json.loads(board[0])["dashboard"]["description"] == "first canary-one"
    assert "canary-one" not in (folder / ".reconciler" / "journal.jsonl").read_text()


def test_a_destroyed_policy(folder: Path, service: Served) -> None:
    """A policy that a run destroyed comes back with another id, and the plan says so."""
    two = (
        "    - logRules: {severities: [SEVERITY_INFO]}\n"
        "      policy: {name: b, description: d, priority: PRIORITY_TYPE_LOW}\n"
    )
    end = "---\napiVersion: reconciler/v1\nkind: SavedView"
    edit(folder, end, two + end)
    assert run(folder, service, *APPLY, "--yes").code == 0
    edit(folder, two, "")
    assert run(folder, service, "apply", "--yes", "--allow-destroy").code == 0

    plan = planned(folder, service, "last")
    ended = run(folder, service, "rollback", "last", "--yes")

    assert codes(plan) == {"LogPolicySet/all": ["put-back", "recalled", "made-anew"]}
    assert plan["changes"][0]["reasons"][-1]["names"] == ["b"]
    assert ended.code == 0, ended.err
    assert len(policies(service)) == 2


def test_an_edit_since(applied: Path, service: Served) -> None:
    """Somebody's edit since the run is not undone by --yes alone, as with an apply."""
    ((known, record),) = service.rows("SELECT id, record FROM slos")
    held = {**json.loads(record), "description": "by hand"}
    service.switch.app.state.store.write(
        "UPDATE slos SET record = ? WHERE id = ?",
        json.dumps({**held, "targetThresholdPercentage": 97}),
        known,
    )

    ended = run(applied, service, "rollback", "last", "SLO/checkout", "--yes")

    assert ended.code == 11
    assert "overwrites-edit" in ended.err


def test_without_manifests(applied: Path, service: Served) -> None:
    """Manifests that cannot be read stand in no way of a rollback."""
    (applied / "all.yaml").write_text("{nothing: [of use")

    assert run(applied, service, "rollback", "last", "--yes").code == 0


def test_a_renamed_resource(applied: Path, service: Served) -> None:
    """What has another name by now is put back under that name."""
    names = ("SavedView/errors", "SavedView/failures")
    assert run(applied, service, "journal", "rename", *names).code == 0

    plan = planned(applied, service, "last")

    assert actions(plan)["SavedView/failures"] == "update"
    assert "SavedView/errors" not in actions(plan)


def test_a_reviewed_rollback(applied: Path, service: Served, tmp_path: Path) -> None:
    """A plan that was written with --out is applied by --plan, and by nothing else that moved."""
    out = tmp_path / "plan.json"
    words = ("rollback", "last", "Dashboard/checkout")
    assert run(applied, service, *words, "--dry-run", "--out", str(out)).code == 0

    others = run(applied, service, "rollback", "last", "--plan", str(out))
    ended = run(applied, service, *words, "--plan", str(out))

    assert (others.code, ended.code) == (6, 0), ended.err


def test_a_compacted_journal(applied: Path, service: Served) -> None:
    """What compacting dropped is told, and a run since is rolled back to what was kept."""
    assert run(applied, service, "journal", "compact").code == 0
    gone = run(applied, service, "rollback", "last", "--yes")
    edit(applied, "description: second", "description: third")
    assert run(applied, service, "apply", "--yes").code == 0

    plan = planned(applied, service, "last")

    assert gone.code == 64
    assert "compacted" in gone.err
    assert [field["after"] for field in plan["changes"][0]["fields"]] == ["second"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("zzz",), "there is no run `zzz`"),
        (("",), "there is no run ``"),
        (("last", "SLO/other"), "did not write SLO/other"),
        (("last", "nonsense"), "not of the form Kind/name"),
        (("last", "--out", "p.json"), "--out needs --dry-run"),
        (("last", "--dry-run", "--format", "junit"), "without --dry-run"),
        (("last", "--format", "html"), "with --dry-run"),
    ],
)
def test_bad_lines(applied: Path, service: Served, arguments: tuple[str, ...], said: str) -> None:
    """What cannot be meant is exit 64 with the reason, and nothing is written."""
    writes = len(service.writes)

    ended = run(applied, service, "rollback", *arguments, "--yes")

    assert (ended.code, len(service.writes)) == (64, writes)
    assert said in ended.err


def test_nobody_to_ask(applied: Path, service: Served) -> None:
    """Without a terminal it needs consent beforehand, as an apply does."""
    assert run(applied, service, "rollback", "last").code == 64


def test_no_run_yet(folder: Path, service: Served) -> None:
    """Where nothing was applied there is no run to roll back."""
    ended = run(folder, service, "rollback", "last", "--yes")

    assert ended.code == 64
    assert "no run in the journal" in ended.err
