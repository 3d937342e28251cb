"""`apply --format jsonl`: what an apply does, as a stream that a program can follow."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from harness.workspaces import PROJECT, SLO, VIEW, WORKSPACE, Workspace, project_at
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # it ships no types

SCHEMA = Path(__file__).parents[2] / "schemas" / "applied-line.schema.json"


@pytest.fixture
def shop(tmp_path: Path) -> Workspace:
    return project_at(tmp_path, PROJECT, all=WORKSPACE)


def events_of(shop: Workspace, *flags: str) -> list[dict[str, Any]]:
    """Apply, and give the events, each of them as the schema says."""
    ran = shop.run("apply", "--format", "jsonl", *flags)
    events = [json.loads(line) for line in ran.out.splitlines()]
    checker = Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))
    assert [error.message for event in events for error in checker.iter_errors(event)] == []
    return events


def test_each_outcome_is_an_event(shop: Workspace) -> None:
    """It begins with what is planned, tells each outcome once, and ends with the counts."""
    digest = shop.plan()["digest"]

    begun, *outcomes, ended = events_of(shop, "--yes")

    assert begun["begun"] == {
        "environment": "local",
        "target": "emulator",
        "digest": digest,
        "total": len(outcomes),
    }
    refs = [outcome["outcome"]["ref"] for outcome in outcomes]
    assert sorted(refs) == sorted(set(refs))
    assert {outcome["outcome"]["outcome"] for outcome in outcomes} == {"written"}
    assert ended["ended"]["digest"] == digest
    assert ended["ended"]["summary"]["written"] == len(outcomes)


def test_nothing_to_do(shop: Workspace) -> None:
    """Where nothing is to be written, it begins and ends without an outcome."""
    events_of(shop, "--yes")

    begun, ended = events_of(shop, "--yes")

    assert begun["begun"]["total"] == 0
    assert set(ended["ended"]["summary"].values()) == {0}


def test_a_part(tmp_path: Path) -> None:
    """Of a selection, the end says what it was."""
    shop = project_at(tmp_path, PROJECT, slo=SLO, view=VIEW)

    *_, ended = events_of(shop, "--yes", "--select", "kind=SLO")

    assert ended["ended"]["selection"]["select"] == ["kind=SLO"]
