"""An apply of manifests that declare again what was rolled back."""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from harness.doors import APPLY, Ran, in_this_process, typed
from harness.jobs import Jobs
from harness.served import Served
from harness.workspaces import edit, journal

from reconciler.journal.content import entry_document
from reconciler.journal.entries import ImportedEntry, Started, WrittenEntry
from reconciler.journal.history import History
from reconciler.journal.line_fields import FieldTakenBack, TakenBack
from reconciler.model import Ref

pytestmark = pytest.mark.promise("S14")

CODE = "undoes-rollback"
ALL = ("--override-guard", "a test")
HOOKS = """\
apiVersion: reconciler/v1
kind: Dashboard
metadata: {name: hooks}
spec:
  dashboard: {name: Hooks, description: "FIRST ${secret:TOKEN}", layout: {sections: []}}
"""
EDITS = (
    ("targetThresholdPercentage: 99.9", "targetThresholdPercentage: 98"),
    ("  name: Errors\n  type", "  name: Errors, all\n  type"),
    ("description: first", "description: second"),
    ("description: d,", "description: e,"),
    ("seconds: 900", "seconds: 60"),
)


def run(folder: Path, service: Served, *arguments: str, **more: str) -> Ran:
    """Run one command on the workspace, as alice."""
    who = {"GIT_AUTHOR_NAME": "alice", "USER": "alice", "LOGNAME": "alice", "TOKEN": "canary-one"}
    return in_this_process(folder, service.base_url, *arguments, more={**who, **more})


def edit_all(folder: Path, *, back: bool = False) -> None:
    """Change one field of everything that the workspace declares, or change it back."""
    for old, new in EDITS:
        edit(folder, *((new, old) if back else (old, new)))


@pytest.fixture
def rolled_back(folder: Path, service: Served) -> Path:
    """Give a workspace of which the second apply was rolled back, and that still declares it."""
    assert run(folder, service, *APPLY, "--yes").code == 0
    edit_all(folder)
    assert run(folder, service, "apply", "--yes", "--override-guard", "a test").code == 0
    assert run(folder, service, "rollback", "last", "--yes", "--override-guard", "x").code == 0
    return folder


def guards(folder: Path, service: Served, *arguments: str) -> dict[str, dict[str, Any]]:
    """Give the objections of a plan that are about rollbacks, by resource."""
    ran = run(folder, service, "plan", "--format", "json", *arguments)
    assert ran.code == 0, ran.err
    return {guard["ref"]: guard for guard in json.loads(ran.out)["guards"] if guard["code"] == CODE}


def test_every_kind(rolled_back: Path, service: Served) -> None:
    """Every kind is guarded, those too that nobody can read."""
    kinds = {ref.partition("/")[0] for ref in guards(rolled_back, service)}

    assert kinds == {"AlertDefinition", "Dashboard", "LogPolicySet", "SavedView", "SLO"}


def test_who_and_when(rolled_back: Path, service: Served) -> None:
    """The objection names who rolled back and when, as the journal has it."""
    entries = journal(rolled_back, service.base_url).entries
    (taken,) = next(
        entry.takes_back for entry in entries if isinstance(entry, Started) and entry.takes_back
    )

    found = guards(rolled_back, service)["SLO/checkout"]

    assert f"`{taken.actor}` rolled back at `{taken.at}`" in found["message"]
    assert taken.actor


@pytest.mark.parametrize("consent", [[], ["--expect"], ["--plan"]])
def test_explicit(rolled_back: Path, service: Served, tmp_path: Path, consent: list[str]) -> None:
    """Without a base neither `--yes` nor a reviewed plan consents, and nothing is written."""
    file = str(tmp_path / "plan.json")
    planned = run(rolled_back, service, "plan", "--out", file, "--format", "json")
    digest = json.loads(planned.out)["digest"]
    value = {"--expect": [digest], "--plan": [file]}.get("".join(consent), ["--yes"])
    before = len(service.writes)

    ended = run(rolled_back, service, "apply", *consent, *value)

    assert ended.code == 11, ended.err
    assert f"[{CODE}]" in ended.err
    assert len(service.writes) == before


def test_consented(rolled_back: Path, service: Served) -> None:
    """An override brings it back, and ends the guard: the same may change again."""
    assert run(rolled_back, service, "apply", "--yes", "--override-guard", "it is right").code == 0
    edit_all(rolled_back, back=True)
    assert run(rolled_back, service, "apply", "--yes", "--override-guard", "other").code == 0
    edit_all(rolled_back)

    assert guards(rolled_back, service) == {}


def test_allowed(rolled_back: Path, service: Served) -> None:
    """An environment can allow it."""
    edit(rolled_back, "[takes-over]", f"[takes-over, {CODE}]", "reconciler.yaml")

    assert guards(rolled_back, service) == {}


def commands_in(remedies: list[str]) -> list[str]:
    """Give the rollbacks that some remedies name."""
    named = (re.search(r"`reconciler (rollback [^`]*)`", remedy) for remedy in remedies)
    return [found[1] for found in named if found is not None]


@pytest.mark.parametrize("later", [False, True])
def test_named_command(rolled_back: Path, service: Served, *, later: bool) -> None:
    """The command that the objection names edits the manifests, so that nothing is undone."""
    if later:
        assert run(rolled_back, service, "apply", "--yes", "--override-guard", "x").code == 0
        assert run(rolled_back, service, "rollback", "last", "--yes", *ALL).code == 0
    found = guards(rolled_back, service)

    lines = {line for guard in found.values() for line in commands_in(guard["waysOut"])}
    assert len(lines) == len(found) > 1
    for line in lines:
        assert run(rolled_back, service, *shlex.split(line)).code == 0, line

    assert guards(rolled_back, service) == {}


def test_other_values(rolled_back: Path, service: Served) -> None:
    """A value that is neither the one nor the other is a change like any."""
    edit(rolled_back, "targetThresholdPercentage: 98", "targetThresholdPercentage: 99.95")

    assert "SLO/checkout" not in guards(rolled_back, service)


def test_other_fields(rolled_back: Path, service: Served) -> None:
    """What was rolled back stays guarded through applies of other fields, in both directions."""
    edit_all(rolled_back, back=True)
    edit(rolled_back, "name: Checkout\n  target", "name: Checkout, new\n  target")
    assert run(rolled_back, service, "apply", "--yes").code == 0
    edit_all(rolled_back)

    assert "SLO/checkout" in guards(rolled_back, service)


def test_rollback_of_rollback(rolled_back: Path, service: Served) -> None:
    """A rollback of the rollback needs no such consent, and what it restored is as declared."""
    ended = run(rolled_back, service, "rollback", "last", "--yes", "--override-guard", "x")

    assert ended.code == 0, ended.err
    assert CODE not in ended.err
    assert guards(rolled_back, service) == {}
    assert run(rolled_back, service, "plan", "--exit-code").code == 0


def test_compacted(rolled_back: Path, service: Served) -> None:
    """A compacted journal guards the same, and no command is named that needs the dropped lines."""
    before = guards(rolled_back, service)

    assert run(rolled_back, service, "journal", "compact").code == 0

    after = guards(rolled_back, service)
    assert not [line for guard in after.values() for line in commands_in(guard["waysOut"])]
    for guard in (*after.values(), *before.values()):
        del guard["waysOut"]
    assert after == before


@pytest.mark.parametrize("at_end", [True, False])
def test_adopted(*, at_end: bool) -> None:
    """What was adopted since is declared as it is live: nothing of it was rolled back."""
    ref, at = Ref("SLO", "checkout"), "2025-01-31T09:00:00Z"
    field = FieldTakenBack(path=("name",), wrote="new", put="old")
    taken = TakenBack(at=at, actor="alice", fields=(field,))
    started = Started(
        run="r",
        at=at,
        ref=ref,
        operation="replace",
        remote_id="1",
        request_id="x",
        seen="",
        declared={"name": "old"},
        takes_back=(taken,),
    )
    written = WrittenEntry(run="r", at=at, ref=ref, remote_id="1")
    adopted = ImportedEntry(
        run="s", at=at, ref=ref, remote_id="1", origin="live", declared={"name": "x"}, adopted=True
    )
    history = History()
    history.add([started, written, *([adopted] if at_end else [])])

    assert history.of(ref).rolled_back == (() if at_end else (taken,))


def test_secrets_stay_sealed(folder: Path, service: Served) -> None:
    """The journal of a rollback holds no value of a secret, and the field is guarded."""
    (folder / "hooks.yaml").write_text(HOOKS, encoding="utf-8")
    assert run(folder, service, *APPLY, "--yes").code == 0
    edit(folder, "FIRST", "SECOND", "hooks.yaml")
    assert run(folder, service, "apply", "--yes").code == 0
    assert run(folder, service, "rollback", "last", "--yes").code == 0

    entries = journal(folder, service.base_url).entries
    kept = json.dumps([entry_document(entry) for entry in entries])
    assert "canary-one" not in kept
    assert "takesBack" in kept
    assert "Dashboard/hooks" in guards(folder, service)


FIRST, SECOND = "description: first", "description: second"


def undone(jobs: Jobs) -> str:
    """Give the level of what a plan of the pull request would undo of a rollback."""
    ran = jobs.change()
    plan = json.loads(Path(ran.outputs["plan-path"]).read_text(encoding="utf-8"))
    (found,) = (guard for guard in plan["guards"] if guard["code"] == CODE)
    return str(found["level"])


def test_reviewed_change(jobs: Jobs) -> None:
    """A review consents where the change edits that field, also at the apply after the merge."""
    jobs.merged(require_plan="none")
    jobs.edit(FIRST, SECOND)
    jobs.merged(require_plan="none")
    project = str(jobs.root / "reconciler.yaml")
    with mock.patch.dict(os.environ, {"RECONCILER_API_KEY": jobs.key}):
        assert typed("rollback", "last", "--yes", "--project", project).code == 0

    jobs.base = jobs.head
    unedited = undone(jobs)
    jobs.edit(SECOND, FIRST)
    jobs.base = jobs.merge()
    jobs.edit(FIRST, SECOND)
    edited = undone(jobs)

    assert (unedited, edited) == ("explicit", "review")
    assert jobs.merged().code == 0
