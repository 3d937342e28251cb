"""`rollback`: what was declared before a run, planned, guarded, applied and journaled as any."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from harness.doors import APPLY, KEY, Ran, in_this_process
from harness.golden import Golden
from harness.repositories import begin, committed, git
from harness.routes import OVERWRITE
from harness.served import Served
from harness.sites import ALERT_ID
from harness.workspaces import edit, journal, workspace

from reconciler.emulator import create_app
from reconciler.journal.content import entry_document
from reconciler.journal.entries import Backup, RunEntry, Started

FIRST = {"TOKEN": "canary-one"}
SECOND = {"TOKEN": "canary-two"}
HOOKS = """\
apiVersion: reconciler/v1
kind: Dashboard
metadata: {name: hooks}
spec:
  dashboard: {name: Hooks, description: "first ${secret:TOKEN}", layout: {sections: []}}
"""

WATCHED = """\
apiVersion: reconciler/v1
kind: SLO
metadata: {name: checkout}
spec:
  name: Checkout
  description: first
  targetThresholdPercentage: 99.9
  sloTimeFrame: SLO_TIME_FRAME_28_DAYS
  requestBasedMetricSli: {goodEvents: {query: good}, totalEvents: {query: all}}
---
apiVersion: reconciler/v1
kind: AlertDefinition
metadata: {name: budget, id: 2f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4a11}
spec:
  name: Budget
  type: ALERT_DEF_TYPE_SLO_THRESHOLD
  sloThreshold:
    sloDefinition: {sloId: "${ref:SLO/checkout}"}
    errorBudget: {rules: [{condition: {threshold: 10}}]}
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


def run(folder: Path, service: Served, *arguments: str, **more: str) -> Ran:
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
    return {change["ref"]: change["action"] for change in plan["changes"]}


def codes(plan: dict[str, Any]) -> dict[str, list[str]]:
    """Give the codes of the reasons of each resource."""
    return {change["ref"]: [why["code"] for why in change["reasons"]] for change in plan["changes"]}


def runs(folder: Path, service: Served) -> list[RunEntry]:
    """Give the runs of the journal, oldest first."""
    entries = journal(folder, service.base_url).entries
    return [entry for entry in entries if isinstance(entry, RunEntry)]


def test_what_was_declared_before(applied: Path, service: Served) -> None:
    """All five kinds are as they were declared before the run, and the manifests as they are."""
    before = (applied / "all.yaml").read_text()

    ended = run(applied, service, "rollback", "last", "--yes")

    assert ended.code == 0, ended.err
    assert (applied / "all.yaml").read_text() == before
    assert "the change back" in ended.err
    (slo,) = service.rows("SELECT record FROM slos")
    (board,) = service.rows("SELECT record FROM dashboards")
    assert json.loads(slo[0])["targetThresholdPercentage"] == 99.9
    assert json.loads(board[0])["dashboard"]["description"] == "first"
    assert "e" not in {json.loads(policy[0])["description"] for policy in policies(service)}
    workspace(applied)
    again = json.loads(run(applied, service, "plan", "--format", "json").out)
    assert set(actions(again).values()) == {"keep"}


def test_the_change_is_looked_for_in_git(folder: Path, service: Served) -> None:
    """What is said leads to the commit of the change, which need not be that of the run."""
    first = begin(folder)
    assert run(folder, service, *APPLY, "--yes").code == 0
    edit(folder, "description: d,", "description: e,")
    culprit = committed(folder, "the change")
    (folder / "README").write_text("nothing of it")
    last = committed(folder, "something else")
    assert run(folder, service, "apply", "--yes").code == 0

    (remark,) = planned(folder, service, "last")["remarks"]
    said = run(folder, service, "rollback", "last", "--yes").err
    again = run(folder, service, "rollback", "last", "--dry-run").err

    assert (remark["commitBefore"], remark["commit"]) == (first, last)
    assert (remark["files"], remark["refs"]) == (["all.yaml"], ["LogPolicySet/all"])
    look = f"log {first[:12]}..{last[:12]} -- all.yaml"
    assert f"{look}`" in said
    assert "revert" not in said
    # Each sentence is printed once, though the plan is printed too.
    assert said.count(f"{look}`") == said.count("puts back what was declared") == 1
    assert git(folder, *look.replace("log", "log --format=%H").split()) == culprit
    # A rollback undoes no commit, whichever was there.
    assert "git log" not in again
    assert last not in again


@pytest.mark.parametrize("broken", [False, True])
def test_files_are_named_by_their_text(applied: Path, service: Served, broken: bool) -> None:
    """The files to change are named, while they are broken too; other files are not."""
    (applied / "other.yaml").write_text("kind: Dashboard\nmetadata: {name: checkout-2}\n")
    if broken:
        edit(applied, "apiVersion", "  : [")

    (remark,) = planned(applied, service, "last", "Dashboard/checkout")["remarks"]

    assert remark["files"] == ["all.yaml"]


def policies(service: Served) -> list[tuple[Any, ...]]:
    """Give the records of the policies."""
    return service.rows("SELECT record FROM log_policies ORDER BY place")


def test_every_line_says_what_it_is(applied: Path, service: Served) -> None:
    """Each line has when it was declared and where the journal says so; the plan has the run."""
    plan = planned(applied, service, "last")

    (remark,) = plan["remarks"]
    assert set(actions(plan).values()) == {"update"}
    assert {code[0] for code in codes(plan).values()} == {"put-back"}
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


@pytest.mark.parametrize("now", ["canary-other", ""])
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


def test_what_refers_to_what_is_made_again(tmp_path: Path, service: Served) -> None:
    """What refers to something that is gone is put back with the id that this gets by then."""
    folder = workspace(tmp_path / "work", WATCHED)
    assert run(folder, service, *APPLY, "--yes").code == 0
    edit(folder, "first", "second")
    edit(folder, "name: Budget", "name: Budget left")
    assert run(folder, service, "apply", "--yes").code == 0
    store = service.switch.app.state.store
    with store.writing():
        store.write("DELETE FROM slos")

    ended = run(folder, service, "rollback", "last", "--yes")

    assert ended.code == 0, ended.err
    ((known,),) = service.rows("SELECT id FROM slos")
    ((alert,),) = service.rows("SELECT record FROM alert_definitions")
    assert known in alert
    assert "Budget left" not in alert


def test_an_edit_since(applied: Path, service: Served) -> None:
    """Somebody's edit since the run is not undone by --yes alone, as with an apply."""
    write_slo(service, targetThresholdPercentage=97)

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
    """A run since the compacting is rolled back to what was kept; of one before nothing is."""
    first = runs(applied, service)[0].run
    assert run(applied, service, "journal", "compact").code == 0
    edit(applied, "description: second", "description: third")
    assert run(applied, service, "apply", "--yes").code == 0

    gone = run(applied, service, "rollback", first, "--yes")
    plan = planned(applied, service, "last")

    assert gone.code == 64
    assert "compacted" in gone.err
    assert [field["after"] for field in plan["changes"][0]["fields"]] == ["second"]


def overwrite(service: Served, *names: str) -> None:
    """Let somebody else write the list of policies."""
    listed = [
        {
            "logRules": {"severities": ["SEVERITY_INFO"]},
            "policy": {"name": name, "description": "theirs", "priority": "PRIORITY_TYPE_LOW"},
        }
        for name in names
    ]
    path = "/mgmt/openapi/latest/dataplans/policies/v1/atomicOverwriteLogPolicies"
    said = httpx.post(
        f"{service.base_url}{path}", json={"policies": listed}, headers={"Authorization": KEY}
    )
    assert said.is_success, said.text


def tell_severities(service: Served) -> None:
    """Let the service return the severities of policies, as some do."""
    state = service.switch.app.state
    told = replace(state.profile, policy_severities="returned")
    service.switch.app = create_app(api_key=KEY, alert_ids=[ALERT_ID], profile=told)
    service.switch.behave()


def take_over(folder: Path, service: Served) -> None:
    """Overwrite the policies of somebody else, as a first apply may."""
    overwrite(service, "x", "y")
    took = run(folder, service, *APPLY, "--yes", "--allow-destroy", "--override-guard", "mine")
    assert took.code == 0, took.err


def test_what_was_never_declared(folder: Path, service: Served) -> None:
    """What a run took over comes back with --live, whole, though nobody ever declared it."""
    tell_severities(service)
    take_over(folder, service)

    without = planned(folder, service, "last", "LogPolicySet/all")
    plan = planned(folder, service, "last", "LogPolicySet/all", "--live")
    words = ("rollback", "last", "LogPolicySet/all", "--live", "--yes", "--allow-destroy")
    ended = run(folder, service, *words)

    assert without["changes"][0]["reasons"] == [
        {"code": "nothing-before", "compacted": False, "live": True}
    ]
    assert without["remarks"][0]["liveKept"] is True
    assert plan["changes"][0]["reasons"][0]["state"] == "live"
    assert (without["remarks"][0]["state"], plan["remarks"][0]["state"]) == ("declared", "live")
    assert "before the run" in ended.err
    assert ended.code == 0, ended.err
    assert [json.loads(policy[0])["name"] for policy in policies(service)] == ["x", "y"]
    again = run(folder, service, "drift")
    assert again.code == 0, again.out


def test_what_nobody_knew_whole(folder: Path, service: Served) -> None:
    """What was live and no answer had whole is not made up: it is blocked, with the fields."""
    take_over(folder, service)

    plan = planned(folder, service, "last", "LogPolicySet/all", "--live")

    (reason,) = plan["changes"][0]["reasons"]
    assert (actions(plan), reason["code"]) == ({"LogPolicySet/all": "blocked"}, "not-seen-then")
    assert {path[-1] for path in reason["paths"]} == {"severities"}


def test_work_beside_what_is_declared(folder: Path, service: Served) -> None:
    """With --live a field that only somebody's edit had comes back, and stays nobody's own."""
    assert run(folder, service, *APPLY, "--yes").code == 0
    write_slo(service, description="by hand")
    edit(folder, "  name: Checkout\n  target", "  name: Checkout\n  description: ours\n  target")
    assert run(folder, service, "apply", "--yes").code == 0

    ended = run(folder, service, "rollback", "last", "--live", "--yes")

    assert ended.code == 0, ended.err
    assert read_slo(service)["description"] == "by hand"
    edit(folder, "  description: ours\n", "")
    kept = json.loads(run(folder, service, "plan", "--format", "json").out)
    assert actions(kept)["SLO/checkout"] == "keep"


def write_slo(service: Served, **fields: Any) -> None:
    """Let somebody else edit the SLO, in what the service keeps."""
    ((known, record),) = service.rows("SELECT id, record FROM slos")
    text = json.dumps({**json.loads(record), **fields})
    store = service.switch.app.state.store
    with store.writing():
        store.write("UPDATE slos SET record = ? WHERE id = ?", text, known)


def read_slo(service: Served) -> dict[str, Any]:
    """Give the one SLO as it is kept."""
    ((record,),) = service.rows("SELECT record FROM slos")
    found: dict[str, Any] = json.loads(record)
    return found


def backups(folder: Path, service: Served) -> list[Backup]:
    """Give the backups of the journal."""
    entries = journal(folder, service.base_url).entries
    return [entry for entry in entries if isinstance(entry, Backup)]


def test_a_backup_stands_before_each_overwrite(applied: Path, service: Served) -> None:
    """Of all that can be read, what was live is journaled in the append before the write."""
    entries = journal(applied, service.base_url).entries

    found = backups(applied, service)

    assert sorted(str(backup.ref) for backup in found) == [
        "Dashboard/checkout",
        "LogPolicySet/all",
        "LogPolicySet/all",
        "SLO/checkout",
    ]
    for backup in found:
        started = entries[entries.index(backup) + 1 :]
        after = next(it for it in started if isinstance(it, Started) and it.ref == backup.ref)
        assert after.run == backup.run
    assert found[-1].live is not None or found[-1].size


def test_backups_hold_no_secret(tmp_path: Path, service: Served) -> None:
    """A secret is sealed in a backup, and hidden where another than the known one is live."""
    folder = workspace(tmp_path / "work", HOOKS)
    assert run(folder, service, *APPLY, "--yes", **FIRST).code == 0
    edit(folder, "first", "second")
    assert run(folder, service, "apply", "--yes", **SECOND).code == 0

    (kept,) = backups(folder, service)

    text = json.dumps(entry_document(kept))
    assert "${secret:TOKEN sha256:" in text
    assert "canary" not in (folder / ".reconciler" / "journal.jsonl").read_text()
    ended = run(folder, service, "rollback", "last", "--live", "--yes", **FIRST)
    assert ended.code == 0, ended.err
    (board,) = service.rows("SELECT record FROM dashboards")
    assert json.loads(board[0])["dashboard"]["description"] == "first canary-one"


def test_compacting_keeps_the_last_backup(applied: Path, service: Served) -> None:
    """Compacting keeps the last backup of each resource and says how many went."""
    edit(applied, "description: second", "description: third")
    assert run(applied, service, "apply", "--yes").code == 0
    before = backups(applied, service)

    compacted = run(applied, service, "journal", "compact")

    after = backups(applied, service)
    assert {one.ref: one for one in before} == {one.ref: one for one in after}
    assert len(after) == len({backup.ref for backup in before})
    assert f"{len(before) - len(after)} backups dropped" in compacted.out
    blocked = planned(applied, service, "last")
    assert codes(blocked) == {"Dashboard/checkout": ["nothing-before"]}
    assert blocked["changes"][0]["reasons"][0] == {
        "code": "nothing-before",
        "compacted": True,
        "live": True,
    }
    ended = run(applied, service, "rollback", "last", "--live", "--yes")
    assert ended.code == 0, ended.err
    (board,) = service.rows("SELECT record FROM dashboards")
    assert json.loads(board[0])["dashboard"]["description"] == "second"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("zzz",), "there is no run `zzz`"),
        (("",), "there is no run ``"),
        (("last", "SLO/other"), "did not write SLO/other"),
        (("last", "nonsense"), "not of the form Kind/name"),
        (("last", "--out", "p.json"), "--out needs --dry-run"),
        (("last", "--write", "--out", "p.json"), "--write makes none"),
        (("last", "--write", "--format", "html"), "without --write"),
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


def test_no_run_yet(folder: Path, service: Served, golden: Golden) -> None:
    """Where nothing was applied there is no run to roll back."""
    ended = run(folder, service, "rollback", "last", "--yes")

    assert ended.code == 8
    golden(ended.err)


@pytest.mark.promise("S15")
@pytest.mark.parametrize("told", [True, False])
def test_policies_declared_without_severities(folder: Path, service: Served, *, told: bool) -> None:
    """A rollback to policies without severities is blocked, with why first, and sends nothing."""
    if told:
        tell_severities(service)
    edit(folder, "    - logRules: {severities: [SEVERITY_ERROR]}\n      policy:", "    - policy:")
    item = {
        "logRules": {"severities": ["SEVERITY_ERROR"]},
        "policy": {"name": "a", "description": "d", "priority": "PRIORITY_TYPE_HIGH"},
    }
    answer = httpx.post(
        f"{service.base_url}/mgmt/openapi/latest{OVERWRITE}",
        json={"policies": [item]},
        headers={"Authorization": KEY},
    )
    assert answer.status_code == 200, answer.text
    assert run(folder, service, *APPLY, "--yes").code == 0
    edit(folder, "    - policy:", "    - logRules: {severities: [SEVERITY_INFO]}\n      policy:")
    edit(folder, "description: d,", "description: e,")
    assert run(folder, service, "apply", "--yes").code == 0
    before = policies(service)

    plan = planned(folder, service, "last")
    ended = run(folder, service, "rollback", "last", "--yes")

    assert actions(plan) == {"LogPolicySet/all": "blocked"}
    assert codes(plan)["LogPolicySet/all"][0] == "needed-unseen"
    assert ended.code == 3, ended.err
    assert policies(service) == before
