"""What was written once and is declared no more is a change as any other, and is never written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from harness.sites import PLACE, SALT, VIEW_SPEC, Site, dashboard, manifest
from hypothesis import given, settings
from hypothesis import strategies as st

from reconciler.applying.run import batches
from reconciler.journal.entries import LastWrite
from reconciler.journal.history import History, Memory
from reconciler.kinds.kind import Sending
from reconciler.model import Action, GuardViolation, Manifest, Plan, Ref, Remembered, RemoteId
from reconciler.planning.consequences import orphan
from reconciler.planning.decide import PlanTarget
from reconciler.planning.guards import objections
from reconciler.planning.guards.plan_limits import exceeded_limits
from reconciler.planning.make_plan import make_plan, plan_digest
from reconciler.project import Guards
from reconciler.report.plan.document import change_document, plan_document

VIEW = manifest("SavedView/errors", VIEW_SPEC)
BOARD = dashboard()
DIGEST = "sha256:777bdccf9608fbdf7939073eb95959773a195115f853730e707be9d76e6b79de"
KINDS = ("SLO", "Dashboard", "SavedView", "AlertDefinition", "LogPolicySet", "Gadget")
REFS = st.builds(Ref, st.sampled_from(KINDS), st.sampled_from(["a", "b", "z~7"]))
IDS: st.SearchStrategy[RemoteId | None] = st.sampled_from([None, "one", "two", 3])


@st.composite
def a_memory(draw: st.DrawFn) -> Memory:
    """Return what a journal may know of something: an id, a last write, protection, or little."""
    remote_id = draw(IDS)
    written = LastWrite(remote_id=remote_id, declared={"name": "A"}, at="2025", rewritten=())
    return Memory(
        remote_id=remote_id,
        last=draw(st.none() | st.just(written)),
        exists=draw(st.booleans()),
        protected=draw(st.booleans()),
    )


MEMORIES = st.dictionaries(REFS, a_memory(), max_size=8)


def planned(memories: dict[Ref, Memory], *declared: Manifest, whole: bool = True) -> Plan:
    """Plan with a journal that adds up to these memories, for a service that has nothing."""
    place = PlanTarget("local", "emulator", embedded=True, salt=SALT)
    return Site(Path("nowhere")).ask(
        lambda api: make_plan(api, declared, History(memories), place, whole=whole)
    )


@pytest.mark.promise("S52")
@settings(max_examples=25, deadline=None)
@given(memories=MEMORIES)
def test_digest_and_document(memories: dict[Ref, Memory]) -> None:
    """Orphans change nothing in the digest and nothing in the JSON but the list of orphans."""
    whole, part = (planned(memories, VIEW, whole=whole) for whole in (True, False))
    expected = [
        {"ref": str(ref), "remoteId": memory.remote_id}
        for ref, memory in sorted(memories.items())
        if memory.exists
    ]

    assert whole.digest == part.digest == plan_digest(PLACE, whole.changes)
    assert plan_document(whole)["orphans"] == expected
    left_out = {"sum": "", "orphans": []}
    assert {**plan_document(whole), **left_out} == {**plan_document(part), **left_out}


@pytest.mark.promise("S52")
def test_digest_of_before() -> None:
    """The digest of a plan with an orphan is what it was when orphans were no changes."""
    gone = {Ref("Dashboard", "old"): Memory(remote_id="old", exists=True)}

    assert planned(gone, VIEW).digest == DIGEST


@pytest.mark.promise("S52")
@settings(max_examples=25, deadline=None)
@given(memories=MEMORIES)
def test_the_name_of_a_change(memories: dict[Ref, Memory]) -> None:
    """A change has the name of its manifest, and only an orphan has none."""
    changes = planned(memories, VIEW, BOARD).changes

    assert all(one.manifest.ref == one.ref for one in changes if one.manifest is not None)
    assert all((one.manifest is None) is (one.action is Action.ORPHAN) for one in changes)


@pytest.mark.promise("S52")
def test_a_guard_sees_it() -> None:
    """A guard over the changes of a plan can name an orphan, and what would be lost with it."""
    old = Ref("SavedView", "old")
    written = LastWrite(remote_id=3, declared={"name": "Old"}, at="2025", rewritten=())
    made = planned({old: Memory(remote_id=3, last=written, exists=True, protected=True)}, VIEW)

    found = [
        GuardViolation(
            ref=one.ref, said=f" would go: {one.observation.document}", remedies=(), code="gone"
        )
        for one in made.changes
        if one.action is Action.ORPHAN and one.protected and isinstance(one.observation, Remembered)
    ]

    assert [one.message for one in found] == ["SavedView/old would go: {'name': 'Old'}"]


@pytest.mark.promise("S52")
@settings(max_examples=25, deadline=None)
@given(memories=MEMORIES)
def test_guards_keep_their_figures(memories: dict[Ref, Memory]) -> None:
    """Orphans are neither known nor changed in the figures of the guards, nor work to do."""
    made = planned(memories, VIEW)
    alone = replace(made, changes=made.declared)
    strict = Guards.model_validate({"maxChanges": 0, "minimum": 0})

    assert objections(made, strict) == objections(alone, strict)
    assert [*exceeded_limits(made, strict)] == [*exceeded_limits(alone, strict)]
    assert made.has_changes is alone.has_changes
    assert all(made.count(one) == alone.count(one) for one in Action if one is not Action.ORPHAN)
    assert (made.is_noted, made.turns_protection) == (alone.is_noted, alone.turns_protection)


@pytest.mark.promise("S52")
@settings(max_examples=25, deadline=None)
@given(memories=MEMORIES)
def test_never_in_a_batch(memories: dict[Ref, Memory]) -> None:
    """Orphans change nothing in what is sent, and none of them can be sent."""
    made = planned(memories, VIEW, BOARD)

    assert [*batches(made.changes)] == [*batches(made.declared)]
    for one in made.orphans:
        with pytest.raises(ValueError, match=str(one.ref)):
            Sending(one, {})
        with pytest.raises(ValueError, match=str(one.ref)):
            change_document(one)


@pytest.mark.promise("S52")
def test_never_written(site: Site) -> None:
    """An apply of a plan with an orphan sends nothing of it, and the journal keeps what it knew."""
    site.apply(VIEW, BOARD)
    before, entries = site.journal.history.of(VIEW.ref), site.entries()
    site.forget()

    made = site.plan(BOARD)
    applied = site.apply(plan=made)

    assert [one.ref for one in made.orphans] == [VIEW.ref]
    assert (applied.outcomes, site.writes) == ([], [])
    assert site.journal.history.of(VIEW.ref) == before
    assert site.entries() == entries
    assert site.apply(plan=replace(made, changes=made.orphans)).outcomes == []


@pytest.mark.promise("S52")
def test_what_an_orphan_says() -> None:
    """An orphan has no place, label or reference, and its protection stays as it is."""
    one = orphan(Ref("Gadget", "old"), Memory(protected=True))

    assert (one.source, one.labels, one.references) == (None, {}, frozenset())
    assert one.protect
    assert not any((one.turns_protection, one.is_noted, one.action.is_to_do, one.action.writes))
