"""Rollbacks to what was declared before a check was made: blocked, with the reason."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from harness.doors import APPLY, in_this_process, typed
from harness.served import Served
from harness.workspaces import edit, project_at

from reconciler.journal.content import line_of
from reconciler.kinds import KINDS
from reconciler.runtime.advice import LOST_JOURNAL

EDITS = {
    "targetThresholdPercentage: 99.9": "targetThresholdPercentage: 98",
    "  name: Errors\n  type": "  name: Errors, all\n  type",
    "description: first": "description: second",
    "description: d,": "description: e,",
    "seconds: 900": "seconds: 60",
}


WRONG: dict[str, tuple[str, Callable[[dict[str, Any]], object]]] = {
    "AlertDefinition/errors": ("M301", lambda spec: spec.update(groupByKeys="host")),
    "Dashboard/checkout": ("M301", lambda spec: spec["dashboard"].update(layout=[])),
    "LogPolicySet/all": ("M312", lambda spec: spec["policies"].append(spec["policies"][0])),
    "SLO/checkout": ("M309", lambda spec: spec.update(sloTimeFrame="SLO_TIME_FRAME_2_DAYS")),
    "SavedView/errors": ("M302", lambda spec: spec.pop("name")),
}


def damaged(folder: Path) -> None:
    """Write the journal as if older versions had taken what no manifest may declare now."""
    file = folder / ".reconciler" / "journal.jsonl"
    file.write_text("".join(_lines(file.read_text("utf-8"))), encoding="utf-8")


def _lines(text: str) -> Iterator[str]:
    total, wrong = "", dict(WRONG)
    for line in text.splitlines():
        document = json.loads(line)
        del document["sum"]
        if document.get("entry") == "started" and document["ref"] in wrong:
            _, damage = wrong.pop(document["ref"])
            damage(document["declared"])
        made, total = line_of(document, total)
        yield made


@pytest.mark.promise("S15")
def test_what_no_manifest_may_declare(folder: Path, service: Served) -> None:
    """A rollback to what fails the checks of its kind is blocked, of every kind, and unsent."""
    assert {ref.split("/")[0] for ref in WRONG} == {kind.name for kind in KINDS}
    assert in_this_process(folder, service.base_url, *APPLY, "--yes").code == 0
    for before, after in EDITS.items():
        edit(folder, before, after)
    words = ("apply", "--yes", "--override-guard", "a test")
    assert in_this_process(folder, service.base_url, *words).code == 0
    damaged(folder)
    writes = len(service.writes)

    shown = ("rollback", "last", "--dry-run", "--format", "json")
    plan = in_this_process(folder, service.base_url, *shown).json
    ended = in_this_process(folder, service.base_url, "rollback", "last", "--yes")

    assert [change["action"] for change in plan["changes"]] == ["blocked"] * len(WRONG)
    reasons = {change["ref"]: change["reasons"][0] for change in plan["changes"]}
    assert {reason["code"] for reason in reasons.values()} == {"fails-checks"}
    assert {ref: reason["said"][0][-5:-1] for ref, reason in reasons.items()} == {
        ref: code for ref, (code, _) in WRONG.items()
    }
    assert ended.code == 3, ended.err
    assert len(service.writes) == writes


@pytest.mark.parametrize("flags", [["--dry-run"], ["--write"]])
def test_without_a_journal(tmp_path: Path, flags: list[str]) -> None:
    """Without a journal a rollback names its place, and says that it may be lost."""
    made = project_at(tmp_path)

    ran = typed("rollback", "last", *flags, "--project", str(made.root / "reconciler.yaml"))

    assert ran.code == 8
    assert f"{made.root / '.reconciler' / 'local.journal.jsonl'}: " in ran.err
    assert LOST_JOURNAL in " ".join(ran.err.split())
