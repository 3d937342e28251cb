"""What stands around the changes of a plan: what depends, what is left over, and the digest."""

from __future__ import annotations

from dataclasses import replace

import pytest
from harness.routes import SLOS
from harness.sites import (
    SALT,
    SLO_SPEC,
    VIEW_SPEC,
    Site,
    codes_of,
    dashboard,
    manifest,
    manifest_of,
)

from reconciler.document import ABSENT, ANY, Difference, Json, Missing
from reconciler.journal.entries import LastWrite, Started
from reconciler.journal.history import History, Memory
from reconciler.journal.line_fields import Rewritten
from reconciler.model import (
    Absent,
    Action,
    Change,
    DependsOn,
    Evidence,
    LastEdit,
    Manifest,
    Objected,
    Observation,
    Plan,
    Ref,
    Remembered,
    Seen,
    Source,
    Unknown,
    UnsettledCreate,
)
from reconciler.planning.consequences import blocked, unexpected, with_blocked_dependants
from reconciler.planning.decide import PlanTarget
from reconciler.planning.find_drift import find_drift
from reconciler.planning.make_plan import make_plan, plan_digest
from reconciler.redaction.templates import SecretHole, Template, fingerprint, seal

AT = "2025-01-31T09:00:00Z"
PLACE = PlanTarget("local", "emulator")
A, B, C, D = (Ref("SLO", name) for name in "abcd")
KEY = Template((SecretHole("KEY", "hunter2", seal("hunter2", "KEY", SALT)),))


def change(
    ref: Ref,
    action: Action = Action.UPDATE,
    needs: tuple[Ref, ...] = (),
    observation: Observation | None = None,
) -> Change:
    """Give a change with something in every field."""
    one = Manifest(ref, {}, Source("a.yaml", 1), references=frozenset(needs))
    found = (Difference(("name",), "old", "new"),)
    seen = observation or Seen("id", {"name": "old"})
    declared: dict[str, Json] = {"name": "new"}
    body: dict[str, Json] = {"name": "new", "theirs": 1}
    return Change(
        ref=ref,
        manifest=one,
        action=action,
        evidence=Evidence.LIVE,
        observation=seen,
        declared=declared,
        body=body,
        differences=found,
        destroys=("x",),
        lost=(1,),
        foreign=("x",),
        reasons=(Objected("note"),),
    )


def test_blocked_from_below() -> None:
    """What depends on something blocked is blocked with it, however far away, and nothing else."""
    changes = [
        change(A, needs=(B,)),
        change(B, needs=(C, D)),
        change(C, Action.BLOCKED),
        change(D),
    ]

    found = with_blocked_dependants(changes)

    assert [one.ref for one in found] == [A, B, C, D]
    assert [one.action for one in found] == [Action.BLOCKED] * 3 + [Action.UPDATE]
    assert found[0].reasons == (DependsOn((B,)), *changes[0].reasons)
    assert found[1].reasons == (DependsOn((C,)), *changes[1].reasons)
    assert found[2:] == changes[2:]


def test_kept_dependant() -> None:
    """What is kept needs nothing of what it refers to, and stops the chain."""
    changes = [change(A, needs=(B,)), change(B, Action.KEEP, needs=(C,)), change(C, Action.BLOCKED)]

    assert with_blocked_dependants(changes) == changes


def test_cycle() -> None:
    """Resources that wait for each other are blocked once each."""
    changes = [change(A, Action.BLOCKED), change(B, needs=(A, C)), change(C, needs=(B,))]

    found = with_blocked_dependants(changes)

    assert [len(one.reasons) for one in found] == [1, 2, 2]


def test_blocked_shows_nothing_to_do() -> None:
    """A blocked change names no field and no loss, and its reasons come first."""
    found = blocked(change(A), [Objected("why"), Objected("also")])

    assert found == replace(
        change(A, Action.BLOCKED),
        differences=(),
        destroys=(),
        lost=(),
        foreign=(),
        reasons=(Objected("why"), Objected("also"), Objected("note")),
    )


DIGEST = "sha256:3abe42d658bce5037588ca0360a145753403e16112126a3afbe8d082ccc589ef"
DIGEST_OF_OBSERVED = "sha256:7426f72346e0d69303d4fe5555bf900f925a7c1eb8e7c07018850031801c598d"
OBSERVED: list[Observation] = [
    Seen("id", {"name": "old"}),
    Seen("other", {"name": "old"}),
    Seen("id", {"name": "older"}),
    Absent(),
    Remembered("id", {"name": "old"}),
    Remembered("other", {"name": "old"}),
    Remembered("id", {"name": "older"}),
    Unknown("id", "why"),
    Unknown(None, "why"),
]


def test_digest() -> None:
    """The digest of a plan is the same in every version, so that a reviewed one still applies."""
    changes = [change(A), change(B, Action.KEEP), change(C, Action.CREATE, observation=Absent())]
    protected = replace(change(D), protected=True)

    assert plan_digest(PLACE, [*changes, protected]) == DIGEST
    observed = [change(A, observation=observation) for observation in OBSERVED]
    assert plan_digest(PLACE, observed) == DIGEST_OF_OBSERVED


def test_digests_of_observations() -> None:
    """Whatever was observed, and that it was not, is told apart."""
    digests = [plan_digest(PLACE, [change(A, observation=observation)]) for observation in OBSERVED]

    assert len(set(digests)) == len(OBSERVED)


def test_digests_differ() -> None:
    """Place, name, action, id, declaration and protection each give another digest."""
    one = change(A)
    others = [
        replace(one, action=Action.CREATE),
        replace(one, action=Action.KEEP),
        replace(one, declared={"name": "newer"}),
        replace(one, body={"name": "new", "theirs": 2}),
        replace(one, manifest=replace(manifest_of(one), remote_id="chosen")),
        replace(one, manifest=replace(manifest_of(one), protect=True)),
        replace(one, protected=True),
        replace(one, protected=True, manifest=replace(manifest_of(one), protect=True)),
        change(B),
    ]

    digests = {plan_digest(PLACE, [other]) for other in (one, *others)}
    digests.add(plan_digest(PlanTarget("other", "emulator"), [one]))
    digests.add(plan_digest(PlanTarget("local", "other"), [one]))
    digests.add(plan_digest(PLACE, []))

    assert len(digests) == 13


def test_what_moves_by_itself() -> None:
    """Times, versions, notes, request ids and where a manifest stands are in no digest."""
    one = change(A)
    moved = replace(
        one,
        manifest=replace(manifest_of(one), source=Source("b.yaml", 9), labels={"a": "b"}),
        observation=Seen(
            "id",
            {"name": "old"},
            "v2",
            recalled=(("x",),),
            edit=LastEdit(who="someone"),
            by_hand=True,
        ),
        reasons=(Objected("other"),),
        request_id="x",
    )

    assert plan_digest(PLACE, [moved]) == plan_digest(PLACE, [one])
    kept = replace(one, action=Action.KEEP)
    assert plan_digest(PLACE, [replace(kept, body={})]) == plan_digest(PLACE, [kept])


def planned(site: Site, memories: dict[Ref, Memory], *manifests: Manifest, whole: bool) -> Plan:
    """Plan with a journal that adds up to these."""
    history = History(memories)
    return site.ask(lambda api: make_plan(api, manifests, history, PLACE, whole=whole))


def test_orphans(site: Site) -> None:
    """What exists and is not declared is named in order, if the manifests are all there are."""
    view = manifest("SavedView/errors", VIEW_SPEC)
    memories = {
        C: Memory(remote_id="c", exists=True),
        A: Memory(remote_id="a", exists=True),
        B: Memory(remote_id="b", exists=False),
        view.ref: Memory(
            remote_id=7,
            last=LastWrite(remote_id=7, declared=VIEW_SPEC, at=AT, rewritten=()),
            exists=True,
        ),
    }

    orphans = planned(site, memories, view, whole=True).orphans
    assert [(one.ref, one.remote_id) for one in orphans] == [(A, "a"), (C, "c")]
    assert planned(site, memories, view, whole=False).orphans == ()


def test_unsettled(site: Site) -> None:
    """Lost creates are listed in order, but for those that a look-up has settled."""

    def lost(ref: Ref, request: str) -> Memory:
        return Memory(
            pending=Started(
                run="run",
                at=AT,
                ref=ref,
                operation="create",
                declared=VIEW_SPEC,
                request_id=request,
                remote_id=None,
                seen="sha256:0",
            )
        )

    board = dashboard()
    refs = {Ref("SavedView", "z"): "1", Ref("SavedView", "a"): "2", board.ref: "3"}
    memories = {ref: lost(ref, request) for ref, request in refs.items()}

    made = planned(site, memories, board, manifest("SavedView/z", VIEW_SPEC), whole=True)

    assert made.unsettled == (
        UnsettledCreate(Ref("SavedView", "a"), AT, "2"),
        UnsettledCreate(Ref("SavedView", "z"), AT, "1"),
    )


def test_order_of_a_plan(site: Site) -> None:
    """A plan lists kinds in the order of their table, and names in order inside each."""
    declared = [
        manifest("SavedView/b", VIEW_SPEC),
        manifest("SavedView/a", VIEW_SPEC),
        manifest("SLO/z", SLO_SPEC),
        dashboard(),
    ]

    assert [str(one.ref) for one in site.plan(*declared).changes] == [
        "SLO/z",
        "Dashboard/checkout",
        "SavedView/a",
        "SavedView/b",
    ]


def test_objection_of_the_service(site: Site) -> None:
    """What the service would refuse is blocked, with its words before the notes."""
    site.apply(manifest("SLO/bad", SLO_SPEC))
    site.forget()
    bad = manifest("SLO/bad", {**SLO_SPEC, "targetThresholdPercentage": 400})

    (found,) = site.plan(bad).changes

    assert found.action is Action.BLOCKED
    assert codes_of(found) == ["objected"]
    assert found.differences == ()
    assert SLOS not in [one.path for one in site.sent]


def differing(before: Json | Missing, after: Json, *path: str) -> Difference:
    """Give a difference at a path."""
    return Difference(path, before, after)


@pytest.mark.parametrize(
    ("found", "quiet"),
    [
        (differing("got", "sent", "a"), True),
        (differing("other", "sent", "a"), False),
        (differing("got", "other", "a"), False),
        (differing("got", "sent", "b"), False),
        (differing("stored", KEY, "key"), True),
        (differing("stolen", KEY, "key"), False),
        (differing(ABSENT, "sent", "gone"), True),
    ],
)
def test_rewritten(found: Difference, quiet: bool) -> None:
    """A field is quiet only while it is declared as it was sent and live as it was stored."""
    rewritten = (
        Rewritten(("a",), "sent", "got"),
        Rewritten(("key",), str(KEY), fingerprint("stored", str(KEY))),
        Rewritten(("gone",), "sent", ABSENT),
    )
    last = LastWrite(remote_id="id", declared={}, at=AT, rewritten=rewritten)
    doubted = Started(
        run="run",
        at=AT,
        ref=A,
        operation="replace",
        declared={},
        request_id="request",
        remote_id="id",
        seen="sha256:0",
    )

    assert list(unexpected([found], Memory(remote_id="id", last=last), ANY)) == (
        [] if quiet else [found]
    )
    assert list(unexpected([found], Memory(remote_id="id", last=last, pending=doubted), ANY)) == [
        found
    ]
    assert list(unexpected([found], Memory(), ANY)) == [found]


def test_drift_of_each(site: Site) -> None:
    """Drift is told for each in order: what changed, what is gone, and what cannot be told."""
    gone = manifest("SLO/gone", {**SLO_SPEC, "name": "Gone"}, "2f6a")
    view = manifest("SavedView/errors", VIEW_SPEC)
    board, new = dashboard(), dashboard("new")
    site.apply(board, view)
    history = site.journal.history
    history.memories[gone.ref] = Memory(
        remote_id="2f6a",
        last=LastWrite(remote_id="2f6a", declared=gone.spec, at=AT, rewritten=()),
        exists=True,
    )

    found = site.ask(lambda api: find_drift(api, (view, gone, new, board), history, SALT)).found

    assert [(str(drift.ref), drift.state, drift.drifted) for drift in found] == [
        ("Dashboard/checkout", "same", False),
        ("Dashboard/new", "unapplied", False),
        ("SLO/gone", "gone", True),
        ("SavedView/errors", "unseen", False),
    ]
    assert found[1].note == "the journal has no write of it"
    assert "drift cannot be seen" in found[3].note
    assert [drift.source for drift in found] == [one.source for one in (board, new, gone, view)]
    assert found[0].live == site.plan(board).changes[0].body
