"""What one manifest and what is known of it become: every case of `decide`, and nothing asked."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import pytest
from harness.sites import codes_of, manifest_of

from reconciler.document import ABSENT, Difference, Json
from reconciler.journal.entries import LastWrite, Started
from reconciler.journal.history import Memory
from reconciler.model import (
    Absent,
    Action,
    CannotBeAsked,
    Change,
    CouldNotBeRead,
    CreateLost,
    EditedBy,
    Evidence,
    GoneSince,
    LastEdit,
    Manifest,
    NeverWritten,
    Observation,
    OverwritesEdit,
    ProtectionTurns,
    Reason,
    Recalled,
    Ref,
    Remembered,
    RemoteId,
    Seen,
    Source,
    TakesOver,
    Unknown,
    Unread,
    WriteLost,
)
from reconciler.planning.decide import Knowledge, PlanTarget, decide
from reconciler.redaction.templates import (
    HIDDEN,
    RefHole,
    SecretHole,
    Template,
    references_in,
    seal,
)
from reconciler.report.reasons import notes_of

AT = "2025-01-31T09:00:00Z"
SLO = Ref("SLO", "checkout")
VIEW = Ref("SavedView", "errors")
ALERT = Ref("AlertDefinition", "errors")
POLICIES = Ref("LogPolicySet", "all")
SPEC: dict[str, Json] = {"name": "Checkout", "description": "d"}
NO_READ = CannotBeAsked("no read")
EDIT = LastEdit(who="a person", at="2025")
KEY = Template((SecretHole("KEY", "hunter2", seal("hunter2", "KEY", "salt")),))

PLACE = PlanTarget("local", "emulator")


def decided(
    ref: Ref,
    spec: dict[str, Json],
    observation: Observation,
    memory: Memory | None = None,
    ids: dict[Ref, RemoteId] | None = None,
    *,
    place: PlanTarget = PLACE,
    protected: bool = False,
) -> Change:
    """Decide about one manifest."""
    manifest = Manifest(ref, spec, Source("a.yaml", 1), references=references_in(spec))
    memory = replace(memory or Memory(), protected=protected)
    known = Knowledge(observation, memory, ids or {}, place)
    return decide(manifest, known)


def started(
    operation: Literal["create", "replace"], declared: dict[str, Json], ref: Ref = SLO
) -> Started:
    """Give a write whose answer was lost."""
    return Started(
        run="run",
        at=AT,
        ref=ref,
        operation=operation,
        declared=declared,
        request_id="request-0",
        remote_id=None,
        seen="sha256:0",
    )


def told(change: Change) -> tuple[Action, Evidence, tuple[Reason, ...]]:
    """Give what a plan says of a change beside its fields."""
    return change.action, change.evidence, change.reasons


ADDED = (
    Difference(("name",), ABSENT, "Checkout", "add"),
    Difference(("description",), ABSENT, "d", "add"),
)


@pytest.mark.parametrize(
    ("ref", "observation", "action", "evidence", "reasons"),
    [
        (SLO, Absent(), Action.CREATE, Evidence.LIVE, ()),
        (SLO, Unknown(None, "no id"), Action.CREATE, Evidence.NONE, (CannotBeAsked("no id"),)),
        (VIEW, Unknown(None, "no read"), Action.CREATE, Evidence.NONE, (NO_READ,)),
        (VIEW, Unknown(7, "no read"), Action.ASSERT, Evidence.NONE, (NO_READ, NeverWritten())),
        (ALERT, Unknown("id", "no read"), Action.ASSERT, Evidence.NONE, (NO_READ, NeverWritten())),
    ],
)
def test_nothing_known(
    ref: Ref,
    observation: Observation,
    action: Action,
    evidence: Evidence,
    reasons: tuple[Reason, ...],
) -> None:
    """What nobody saw is created, or asserted where it has an id, whole and with the reason."""
    change = decided(ref, SPEC, observation)

    assert told(change) == (action, evidence, reasons)
    assert change.differences == ADDED
    assert change.body == change.declared == SPEC
    assert change.observation is observation


def test_live() -> None:
    """What is live is updated by its differences, with what it holds of its own, or kept."""
    live: dict[str, Json] = {"name": "Checkout", "description": "old", "creator": "them"}
    last = LastWrite(
        remote_id="id", declared={"name": "Checkout", "labels": {"a": "b"}}, at=AT, rewritten=()
    )
    seen = Seen("id", {**live, "labels": {"a": "b"}})

    change = decided(SLO, SPEC, seen, Memory(remote_id="id", last=last))
    kept = decided(SLO, SPEC, Seen("id", change.body), Memory(remote_id="id", last=last))

    assert told(change) == (Action.UPDATE, Evidence.LIVE, ())
    assert change.body == {**live, "description": "d"}
    assert (change.declared, change.observation, change.before) == (SPEC, seen, seen.document)
    assert change.differences == (
        Difference(("description",), "old", "d"),
        Difference(("labels",), {"a": "b"}, ABSENT, "remove"),
    )
    assert told(kept) == (Action.KEEP, Evidence.LIVE, ())
    assert (kept.differences, kept.request_id, kept.before) == ((), "", change.body)


def test_remembered() -> None:
    """What only the journal knows is compared with that, and is sent as it is declared."""
    remembered = Remembered(7, {"name": "Errors", "filters": {}})

    change = decided(VIEW, {"name": "Other"}, remembered)
    kept = decided(VIEW, {"name": "Errors", "filters": {}}, remembered)

    assert told(change) == (Action.UPDATE, Evidence.JOURNAL, ())
    assert change.body == {"name": "Other"}
    assert [difference.path for difference in change.differences] == [("name",), ("filters",)]
    assert told(kept) == (Action.KEEP, Evidence.JOURNAL, ())
    assert (change.declared, change.observation) == ({"name": "Other"}, remembered)
    keys: dict[str, Json] = {"groupByKeys": ["a", "b"]}
    turned: dict[str, Json] = {"groupByKeys": ["b", "a"]}
    assert decided(ALERT, turned, Remembered("id", keys)).action is Action.KEEP


def test_gone() -> None:
    """What was written and is gone is created again, and the plan says so."""
    memory = Memory(
        remote_id="id", last=LastWrite(remote_id="id", declared=SPEC, at=AT, rewritten=())
    )

    assert told(decided(SLO, SPEC, Absent(), memory)) == (
        Action.CREATE,
        Evidence.LIVE,
        (GoneSince(AT),),
    )


def test_lost_create_that_did_not_happen() -> None:
    """A create without an answer that left nothing is made again, with the id it had."""
    memory = Memory(pending=started("create", SPEC), attempts=4)

    change = decided(SLO, SPEC, Absent(), memory)

    assert told(change) == (Action.CREATE, Evidence.LIVE, (CreateLost(AT, "never-happened"),))
    assert change.request_id == "request-0"
    assert decided(SLO, {"name": "Other"}, Absent(), memory).request_id != "request-0"


def test_lost_create_that_happened() -> None:
    """A create without an answer whose fields are live is kept; others found there block it."""
    memory = Memory(pending=started("create", SPEC))

    same = decided(SLO, SPEC, Seen("id", {**SPEC, "id": "id"}), memory)
    other = decided(SLO, SPEC, Seen("id", {"name": "Theirs"}, recalled=(("x", "y"),)), memory)

    there = (CreateLost(AT, "another"), Recalled((("x", "y"),)))
    assert told(same) == (Action.KEEP, Evidence.LIVE, (CreateLost(AT, "happened"),))
    assert told(other) == (Action.BLOCKED, Evidence.LIVE, there)
    assert (other.differences, other.declared) == ((), SPEC)
    assert (other.body, other.before) == (SPEC, {"name": "Theirs"})
    assert (other.ref, other.remote_id) == (SLO, "id")


def test_secret_in_a_conflict() -> None:
    """What stands live where a lost create may have put a secret is not shown."""
    memory = Memory(pending=started("create", {"name": str(KEY), "note": "n"}))
    live = Seen("id", {"name": "Theirs", "note": "n", "description": "older"})

    change = decided(SLO, {"name": "plain", "description": KEY}, live, memory)

    assert change.before == {"name": HIDDEN, "note": "n", "description": HIDDEN}


def test_as_the_kind_compares() -> None:
    """What has no order is kept in any, also after a lost create; another choice ousts the live."""
    declared: dict[str, Json] = {"grouping": {"labels": ["a", "b"]}, "requestBasedMetricSli": {}}
    turned: dict[str, Json] = {**declared, "grouping": {"labels": ["b", "a"]}}
    chosen: dict[str, Json] = {"grouping": {"labels": ["a", "b"]}, "windowBasedMetricSli": {}}
    lost = Memory(pending=started("create", declared))
    written = Memory(
        remote_id="id", last=LastWrite(remote_id="id", declared=declared, at=AT, rewritten=())
    )
    signed = Seen("id", {**turned, "name": "x"}, edit=LastEdit(who="a person"))

    assert decided(SLO, declared, Seen("id", turned)).action is Action.KEEP
    assert decided(SLO, declared, Seen("id", turned), lost).action is Action.KEEP
    assert decided(SLO, declared, Seen("id", chosen)).body == declared
    assert decided(SLO, {**declared, "name": "y"}, signed, written).reasons == ()


def test_lost_create_that_nobody_can_look_up() -> None:
    """Where the API cannot be asked, a lost create blocks, with the ways to settle it."""
    memory = Memory(pending=started("create", SPEC, VIEW))

    change = decided(VIEW, SPEC, Unknown(None, "no read"), memory)

    assert told(change) == (Action.BLOCKED, Evidence.NONE, (CreateLost(AT, "unknown"),))
    assert (change.request_id, change.differences, change.body) == ("", (), SPEC)
    assert (change.ref, change.declared) == (VIEW, SPEC)
    assert change.observation == Unknown(None, "no read")


def test_lost_replace() -> None:
    """A replace without an answer is sent again as another attempt, and the plan says so."""
    memory = Memory(remote_id="id", pending=started("replace", SPEC))

    asserted = decided(ALERT, SPEC, Unknown("id", "no read"), memory)
    updated = decided(SLO, {"name": "x"}, Seen("id", dict(SPEC)), memory)

    assert told(asserted) == (Action.ASSERT, Evidence.NONE, (NO_READ, WriteLost(AT)))
    assert told(updated) == (Action.UPDATE, Evidence.LIVE, (WriteLost(AT),))
    assert updated.body == {"name": "x"}
    assert "request-0" not in (asserted.request_id, updated.request_id)


def test_unreadable() -> None:
    """What could not be read is blocked with the reason, before all else that is known."""
    memory = Memory(pending=started("create", SPEC))

    unread = Unread("id", "HTTP 500", 9)

    change = decided(SLO, SPEC, unread, memory)

    assert told(change) == (Action.BLOCKED, Evidence.NONE, (CouldNotBeRead("HTTP 500", 9),))
    assert (change.ref, change.declared, change.observation) == (SLO, SPEC, unread)


def test_recalled() -> None:
    """What the API does not return is named once, in order, by its last step."""
    recalled = (("policies", 0, "severities"), ("policies", 1, "severities"), ("a", "kind"))
    seen = Seen(None, {"policies": []}, recalled=recalled)

    assert notes_of(decided(POLICIES, {"policies": []}, seen)) == (
        "kind, severities: not in the answer, compared with the journal",
    )


@pytest.mark.parametrize(
    ("last", "live", "reason"),
    [
        (None, {"name": "Theirs"}, TakesOver(EDIT)),
        ({"name": "Ours"}, {"name": "Theirs"}, OverwritesEdit((("name",),), EDIT)),
        ({"name": "Ours", "gone": 1}, {"name": "Ours"}, EditedBy(EDIT)),
        ({"name": "Ours"}, {"name": "Ours", "more": 1}, None),
        (None, {"name": "Checkout", "description": "d"}, None),
    ],
)
def test_whose_work_it_is(
    last: dict[str, Json] | None, live: dict[str, Json], reason: Reason | None
) -> None:
    """What others did is told where the write would undo it, take it over, or meets it."""
    memory = (
        Memory(remote_id="id", last=LastWrite(remote_id="id", declared=last, at=AT, rewritten=()))
        if last is not None
        else Memory()
    )

    found = decided(SLO, SPEC, Seen("id", live, edit=EDIT), memory).reasons

    assert found == (() if reason is None else (reason,))


def named(*names: str) -> list[Json]:
    """Give policies of these names."""
    return [{"policy": {"name": name, "priority": "P"}} for name in names]


def test_destroyed() -> None:
    """Members that go are named and kept whole, and those of others are told apart."""
    ours: Json = [*named("a", "b")]
    memory = Memory(
        remote_id=None,
        last=LastWrite(remote_id=None, declared={"policies": ours}, at=AT, rewritten=()),
    )
    live = named("b", "c", "a")

    change = decided(POLICIES, {"policies": named("a")}, Seen(None, {"policies": live}), memory)

    assert change.destroys == ("b", "c")
    assert change.lost == (live[0], live[1])
    assert change.foreign == ("c",)
    assert decided(POLICIES, {"policies": live}, Seen(None, {"policies": live})).destroys == ()


def test_secret_of_one_member() -> None:
    """Of members with names only that one is hidden which held a secret, whether it goes or not."""

    def policies(**texts: str) -> dict[str, Json]:
        return {"policies": [{"policy": {"name": n, "description": d}} for n, d in texts.items()]}

    last = LastWrite(
        remote_id=None,
        declared=policies(a=str(KEY), b="b", gone=str(KEY), other="o"),
        at=AT,
        rewritten=(),
    )
    live = Seen(None, policies(other="x", gone="older", b="theirs", a="older"))

    change = decided(POLICIES, policies(a="plain", b="b"), live, Memory(remote_id=None, last=last))

    texts = {
        difference.path[1]: difference.before
        for difference in change.differences
        if difference.path[-1] == "description"
    }
    assert texts == {"a": HIDDEN, "b": "theirs"}
    assert change.lost == (
        {"policy": {"name": "other", "description": "x"}},
        {"policy": {"name": "gone", "description": HIDDEN}},
    )


def test_members_without_a_name_of_their_own() -> None:
    """Of live members with one name or none the write keeps one at most, and each is counted."""
    live: list[Json] = [*named("a", "a", "a", "x"), {"policy": {}}, {"policy": {"name": ""}}]

    change = decided(POLICIES, {"policies": named("a")}, Seen(None, {"policies": live}))

    assert change.destroys == (
        "a",
        "number 3 of the list",
        "x",
        "number 5 of the list",
        "number 6 of the list",
    )
    assert change.lost == tuple(live[1:])


def test_secret_not_shown() -> None:
    """Where a secret belongs, or belonged, what is live is not shown; elsewhere it is."""
    declared: dict[str, Json] = {"name": "new", "description": KEY}
    live: dict[str, Json] = {"name": "old", "description": "older secret", "note": "s"}
    last = LastWrite(
        remote_id="id",
        declared={"name": "old", "description": str(KEY), "note": str(KEY)},
        at=AT,
        rewritten=(),
    )

    change = decided(SLO, declared, Seen("id", live), Memory(remote_id="id", last=last))
    fields, before = change.differences, change.before
    absent = decided(SLO, declared, Seen("id", {"name": "new"})).differences
    alert = decided(ALERT, {"name": "x"}, Remembered("id", {"name": str(KEY)})).differences

    assert [(field.path, field.before, field.after) for field in fields] == [
        (("name",), "old", "new"),
        (("description",), HIDDEN, KEY),
        (("note",), HIDDEN, ABSENT),
    ]
    assert [(difference.path, difference.before) for difference in absent] == [
        (("description",), ABSENT)
    ]
    assert before == {"name": "old", "description": HIDDEN, "note": HIDDEN}
    assert [(difference.path, difference.before) for difference in alert] == [(("name",), HIDDEN)]


def test_secret_that_is_live() -> None:
    """A live text that is the secret's value is no difference, and no plan holds it."""
    change = decided(SLO, {"description": KEY}, Seen("id", {"description": "hunter2"}))

    assert change.action is Action.KEEP
    assert change.observation == Seen("id", {"description": KEY})
    assert "hunter2" not in str((change.observation, change.body, change.before))


def test_secret_in_a_list() -> None:
    """In a list that held a secret, named or not, what is live is not shown."""
    memory = Memory(
        remote_id="id",
        last=LastWrite(
            remote_id="id", declared={"links": [{"url": str(KEY)}]}, at=AT, rewritten=()
        ),
    )
    seen = Seen("id", {"links": [{"url": "old secret"}]})

    (found,) = decided(SLO, {"links": [{"url": "plain"}]}, seen, memory).differences

    assert (found.before, found.after) == (HIDDEN, "plain")


def test_references() -> None:
    """Known ids are filled in, and what is not known yet is waited for."""
    hole = Template((RefHole(VIEW), "/", RefHole(SLO)))
    spec: dict[str, Json] = {"name": hole}

    waiting = decided(ALERT, spec, Unknown("id", "no read"), ids={VIEW: 7})
    ready = decided(ALERT, spec, Unknown("id", "no read"), ids={VIEW: 7, SLO: "s"})

    assert (waiting.body["name"], set(waiting.awaits)) == ("7/${ref:SLO/checkout}", {SLO})
    assert (ready.body["name"], set(ready.awaits)) == ("7/s", set())
    assert manifest_of(waiting).spec == {"name": "7/${ref:SLO/checkout}"}


@pytest.mark.promise("P27")
def test_request_id() -> None:
    """A request's id follows from place, journal, resource, body and attempt, and nothing else."""
    acknowledged = Memory(remote_id="id", pending=started("replace", SPEC))
    seen = Seen("id", {"name": "old"})
    one = decided(SLO, SPEC, seen)
    known = Knowledge(seen, Memory(), {}, PLACE)

    others = {
        decided(Ref("SLO", "other"), SPEC, seen).request_id,
        decided(SLO, {"name": "x"}, seen).request_id,
        decided(SLO, SPEC, seen, Memory(attempts=1)).request_id,
        decided(SLO, SPEC, seen, place=PlanTarget("local", "elsewhere")).request_id,
        decide(manifest_of(one), replace(known, seed="another journal")).request_id,
    }
    again = decided(SLO, SPEC, Absent(), acknowledged).request_id

    assert (
        one.request_id
        == decided(SLO, SPEC, seen).request_id
        == "a7e0329e-cc6e-5124-8f7c-3b1076cbd224"
    )
    assert len({one.request_id, *others}) == 6
    # What was sent and never seen was an attempt, though nothing answered it.
    assert again != decided(SLO, SPEC, Absent()).request_id


def test_protection() -> None:
    """A change says whether its resource is protected, and the turn of that is noted last."""
    manifest = Manifest(SLO, SPEC, Source("a.yaml", 1), protect=True)
    live = Seen("id", dict(SPEC), recalled=(("x",),))

    begins = decide(manifest, Knowledge(live, Memory(), {}, PLACE))
    ends = decided(SLO, SPEC, live, protected=True)
    stays = decide(manifest, Knowledge(live, Memory(protected=True), {}, PLACE))
    blocked = decided(SLO, SPEC, Unread("id", "HTTP 500", 9), protected=True)

    recalled = Recalled((("x",),))
    assert begins.reasons == (recalled, ProtectionTurns(begins=True))
    assert ends.reasons == (recalled, ProtectionTurns(begins=False))
    assert (stays.reasons, blocked.reasons) == ((recalled,), (CouldNotBeRead("HTTP 500", 9),))
    assert [change.protected for change in (begins, ends, stays, blocked)] == [
        False,
        True,
        True,
        True,
    ]


def test_cannot_create() -> None:
    """What a kind cannot create is blocked with the kind's reason."""
    chosen = Manifest(SLO, SPEC, Source("a.yaml", 1), remote_id="2f6a")

    change = decide(chosen, Knowledge(Absent(), Memory(), {}, PLACE))

    assert (change.action, change.evidence) == (Action.BLOCKED, Evidence.LIVE)
    assert codes_of(change) == ["cannot-be-created"]
    assert (change.body, change.differences, change.request_id) == (SPEC, (), "")
    assert (change.declared, change.observation, change.manifest) == (SPEC, Absent(), chosen)


def test_ids_of_parts() -> None:
    """Ids that a manifest leaves out are those of its live parts, and make no difference."""
    section: dict[str, Json] = {"options": {"custom": {"name": "S"}}}
    layout: Json = {"sections": [{**section, "id": {"value": "live-id"}}]}
    ours: Json = {"name": "C", "layout": layout}
    live: Json = {"name": "C", "slugName": "checkout", "layout": layout}
    spec: dict[str, Json] = {"dashboard": {"name": "C", "layout": {"sections": [section]}}}

    change = decided(Ref("Dashboard", "checkout"), spec, Seen("id", {"dashboard": live}))

    assert (change.action, change.declared) == (Action.KEEP, {"dashboard": ours})
