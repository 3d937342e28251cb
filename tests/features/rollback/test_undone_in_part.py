"""The level of what would undo a rollback, where only a part of the manifests is planned."""

from __future__ import annotations

import pytest
from harness.sites import PLACE, Site

from reconciler.document import Json
from reconciler.features.rollback.roll_back import Found, undone_rollbacks, with_restored
from reconciler.journal.entries import RunEntry
from reconciler.journal.history import Memory, RunSummary
from reconciler.journal.line_fields import FieldTakenBack, TakenBack
from reconciler.kinds import BY_NAME
from reconciler.model import (
    Action,
    Change,
    Evidence,
    Manifest,
    Plan,
    Ref,
    RollsBack,
    Seen,
    Selected,
    Source,
    UndoesRollback,
    Unknown,
)
from reconciler.planning.consequences import rollbacks_undone
from reconciler.planning.guards import UnderReview
from reconciler.project import Guards
from reconciler.redaction.templates import RefHole, Template, resolve

SLO, ALERT = Ref("SLO", "checkout"), Ref("AlertDefinition", "budget")
ID = "11111111-1111-4111-8111-111111111111"
WATCHED = ("sloThreshold", "sloDefinition", "sloId")
SPEC: dict[str, Json] = {
    "name": "x",
    "sloThreshold": {"sloDefinition": {"sloId": Template((RefHole(SLO),))}},
}


@pytest.mark.promise("S14")
@pytest.mark.parametrize("is_whole", [True, False])
def test_a_reference_that_is_not_selected(*, is_whole: bool) -> None:
    """A field that the change leaves as the base branch has it stays explicit in any selection."""
    unknown, source = Unknown(None, "no read"), Source("all.yaml", 1)
    declared = resolve(SPEC, {SLO: ID})
    assert isinstance(declared, dict)
    budget = Change(
        ref=ALERT,
        manifest=Manifest(ALERT, declared, source),
        action=Action.ASSERT,
        evidence=Evidence.NONE,
        observation=unknown,
        declared=declared,
        body=declared,
        reasons=(UndoesRollback((WATCHED,), "alice", "2026-03-02T18:04:11Z"),),
    )
    checkout = Change(
        ref=SLO,
        manifest=Manifest(SLO, {"name": "s"}, source, remote_id=ID),
        action=Action.KEEP,
        evidence=Evidence.LIVE,
        observation=Unknown(ID, "no read"),
        declared={},
        body={},
    )
    changes = (budget, checkout) if is_whole else (budget,)
    plan = Plan(environment="e", target="t", digest="d", changes=changes)

    (objection,) = undone_rollbacks(plan, Guards(), UnderReview(base=lambda: {ALERT: SPEC}))

    assert objection.level == "explicit"


def test_digest_of_a_selection(site: Site) -> None:
    """The digest of a rollback's plan covers the selection, as the digest of each plan does."""
    chosen = site.plan(selected=Selected(("SLO/*",), (), 1))
    remark = RollsBack(run="r", at="", command="apply", actor="", commit="")
    entry = RunEntry(run="r", at="", actor="", commit="", digest="", command="apply")
    found = Found(site.journal, RunSummary(entry=entry), site.root, live=False, secrets={})

    made = with_restored(chosen, PLACE, found, remark, ())

    assert made.digest == chosen.digest != site.plan().digest


@pytest.mark.promise("S14")
@pytest.mark.parametrize(
    ("declared", "live", "is_undone"),
    [
        ({"name": "new"}, {"name": "old"}, True),
        ({"name": "new"}, {"name": "new"}, False),
        ({"name": "old"}, {"name": "old"}, False),
        ({"name": "third"}, {"name": "old"}, False),
    ],
)
def test_what_undoes_a_rollback(
    declared: dict[str, Json], live: dict[str, Json], *, is_undone: bool
) -> None:
    """Only a field that is declared as before the rollback, and is not live so, undoes it."""
    at = "2026-03-02T18:04:11Z"
    field = FieldTakenBack(path=("name",), wrote="new", put="old")
    taken = TakenBack(at=at, actor="alice", fields=(field,))
    change = Change(
        ref=SLO,
        manifest=Manifest(SLO, declared, Source("all.yaml", 1)),
        action=Action.UPDATE,
        evidence=Evidence.LIVE,
        observation=Seen(ID, live),
        declared=declared,
        body=declared,
    )

    found = rollbacks_undone(BY_NAME["SLO"], change, Memory(taken_back=(taken,)))

    undone = UndoesRollback((("name",),), "alice", at)
    assert [*found] == [undone] * is_undone
