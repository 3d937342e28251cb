"""What is decided while others are waited for is what would be decided at the end."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest

from reconciler.api.replies import ReadLog
from reconciler.journal.entries import LastWrite
from reconciler.journal.history import Memory
from reconciler.model import Absent, LastEdit, Manifest, Ref, Seen, Source
from reconciler.planning.decide import Knowledge, PlanTarget, decide
from reconciler.planning.decision_cache import NOTHING_KEPT, DecisionCache, Decisions

REF = Ref("SLO", "checkout")
SLO = Manifest(REF, {"name": "Checkout", "description": "d"}, Source("a.yaml", 1))
KNOWN = Knowledge(Seen("id", {"name": "Checkout"}), Memory(), {}, PlanTarget("local", "emulator"))
OTHERWISE: dict[str, Any] = {
    "observation": Seen("id", {"name": "Checkout"}, edit=LastEdit(who="a", at="2025")),
    "memory": Memory(),
    "target": PlanTarget("production", "emulator"),
    "seed": "seed",
}


@pytest.fixture
def decisions(monkeypatch: pytest.MonkeyPatch) -> list[Knowledge]:
    """Note what decisions rested on."""
    made: list[Knowledge] = []

    def noted(manifest: Manifest, knowledge: Knowledge) -> Any:
        made.append(knowledge)
        return decide(manifest, knowledge)

    monkeypatch.setattr("reconciler.planning.decision_cache.decide", noted)
    return made


def test_each_part_is_in_a_row() -> None:
    """No part of what a decision rests on is left out below, but the ids of others."""
    assert {field.name for field in fields(Knowledge)} == {*OTHERWISE, "ids"}


@pytest.mark.parametrize("part", OTHERWISE)
def test_what_moved_is_decided_again(part: str, decisions: list[Knowledge]) -> None:
    """Where anything that a decision rests on is another by now, it is decided anew."""
    early = Decisions(lambda *_: KNOWN, NOTHING_KEPT)
    early.observed(SLO, KNOWN.observation)
    now = replace(KNOWN, **{part: OTHERWISE[part]})

    assert early.decide(SLO, now) == decide(SLO, now)
    assert decisions == [KNOWN, now]


def test_what_did_not_move_is_not_decided_again(decisions: list[Knowledge]) -> None:
    """A decision counts where the same answer and memory are known, whatever ids others have."""
    early = Decisions(lambda *_: KNOWN, NOTHING_KEPT)
    early.observed(SLO, KNOWN.observation)
    now = replace(KNOWN, ids={Ref("SLO", "another"): "1"})

    assert early.decide(SLO, now) == decide(SLO, KNOWN)
    assert decisions == [KNOWN]


def test_what_waits_for_others(decisions: list[Knowledge]) -> None:
    """What refers to another, or is not there, is decided once all are known."""
    early = Decisions(lambda *_: KNOWN, NOTHING_KEPT)
    early.observed(replace(SLO, references=frozenset([Ref("SLO", "another")])), KNOWN.observation)
    early.observed(SLO, Absent())

    assert decisions == []
    assert early._made == {}


def test_what_is_kept_of_an_observation() -> None:
    """Of a resource that stays as it is, all facts that were observed are kept but its document."""
    edit = LastEdit(who="a", at="2025-01-31T09:00:00Z", revision="7")
    seen = Seen("id", SLO.spec, version="v7", edit=edit, by_hand=True, revision="r7")
    last = LastWrite(remote_id="id", at="2025-01-31T09:00:00Z", declared=SLO.spec, rewritten=())
    memory = Memory(remote_id="id", last=last, exists=True)
    knowledge = replace(KNOWN, observation=seen, memory=memory)
    reads = {REF: ReadLog(made=[("/slos/id", "sum", "")])}
    early = Decisions(lambda *_: knowledge, DecisionCache(), _reads=reads)

    kept = early.observed(SLO, seen)

    assert kept == replace(seen, document={})
    change = early.decide(SLO, replace(knowledge, observation=kept))
    assert (change.manifest, change.observation) == (SLO, kept)
