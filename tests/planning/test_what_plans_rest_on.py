"""Ids, protection and memory as they reach the decisions of a whole plan."""

from __future__ import annotations

from dataclasses import replace

from harness.routes import SLOS, VALIDATE
from harness.sites import (
    ALERT_ID,
    ALERT_SPEC,
    PLACE,
    SLO_SPEC,
    VIEW_SPEC,
    Site,
    answer_with,
    codes_of,
    manifest,
)

from reconciler.document import Json
from reconciler.journal.entries import LastWrite, Started
from reconciler.journal.history import History, Memory
from reconciler.model import Action, Manifest, Plan, Ref, UnsettledCreate
from reconciler.planning.decide import PlanTarget
from reconciler.planning.make_plan import make_plan, plan_digest
from reconciler.redaction.templates import RefHole, SecretHole, Template, seal

AT = "2025-01-31T09:00:00Z"
SEEN = answer_with(200, {"slo": SLO_SPEC})


def planned(
    site: Site, memories: dict[Ref, Memory], *manifests: Manifest, place: PlanTarget = PLACE
) -> Plan:
    """Plan with a journal that adds up to these."""
    history = History(memories)
    return site.ask(lambda api: make_plan(api, manifests, history, place, whole=False))


def acknowledged(remote_id: str | int, spec: dict[str, Json], *, protected: bool = False) -> Memory:
    """Give the memory of a write that the service acknowledged."""
    return Memory(
        remote_id=remote_id,
        last=LastWrite(remote_id=remote_id, declared=spec, at=AT, rewritten=()),
        exists=True,
        protected=protected,
    )


def test_known_ids(site: Site) -> None:
    """An id is filled in wherever it is known from: live, the journal, or a manifest alone."""
    slo, view, alert = Ref("SLO", "a"), Ref("SavedView", "b"), Ref("AlertDefinition", "c")
    text = Template((RefHole(slo), " ", RefHole(view), " ", RefHole(alert)))
    site.meddle("GET", f"{SLOS}/*", SEEN)

    made = planned(
        site,
        {slo: acknowledged("slo-id", SLO_SPEC), view: acknowledged(7, VIEW_SPEC)},
        manifest("SLO/a", SLO_SPEC),
        manifest("SavedView/b", VIEW_SPEC),
        manifest("SavedView/d", {**VIEW_SPEC, "name": text}),
        manifest("AlertDefinition/c", ALERT_SPEC, ALERT_ID),
    )

    found = {change.ref.name: change for change in made.changes}
    assert found["d"].body["name"] == f"slo-id 7 {ALERT_ID}"
    assert [found[name].action.word for name in "abcd"] == ["keep", "keep", "assert", "create"]
    assert codes_of(found["c"]) == ["cannot-be-asked"]


def test_protection_follows_the_id(site: Site) -> None:
    """What is protected stays so under another name, by its id, and nothing else becomes so."""
    memories = {Ref("AlertDefinition", "old"): acknowledged(ALERT_ID, ALERT_SPEC, protected=True)}
    other = "9d0b6a52-6d8e-4f3f-8f0e-2f6a1c1e7f0e"

    made = planned(
        site,
        memories,
        manifest("AlertDefinition/new", ALERT_SPEC, ALERT_ID),
        manifest("AlertDefinition/other", ALERT_SPEC, other),
        manifest("SavedView/b", VIEW_SPEC),
    )

    assert [change.protected for change in made.changes] == [True, False, False]


def test_each_of_its_own(site: Site) -> None:
    """Each resource is decided by its own memory, and each place makes its own attempts."""
    memory = replace(acknowledged(7, VIEW_SPEC), attempts=2)
    new = {**VIEW_SPEC, "name": "new"}
    manifests = manifest("SavedView/b", new), manifest("SavedView/c", new)
    memories = {Ref("SavedView", "b"): memory}

    made = planned(site, memories, *manifests)
    elsewhere = planned(site, memories, *manifests, place=PlanTarget("local", "elsewhere"))

    assert [change.action for change in made.changes] == [Action.UPDATE, Action.CREATE]
    assert [change.remote_id for change in made.changes] == [7, None]
    assert len({change.request_id for change in (*made.changes, *elsewhere.changes)}) == 4
    assert (made.environment, made.target) == ("local", "emulator")
    assert made.digest == plan_digest(PLACE, made.changes)
    assert str(PLACE) == "local at emulator"


def test_conflict_is_not_settled(site: Site) -> None:
    """A look-up that finds something else than was sent settles nothing."""
    slo = manifest("SLO/a", SLO_SPEC, "slo-id")
    lost = Started(
        run="run",
        at=AT,
        ref=slo.ref,
        operation="create",
        declared={"name": "sent"},
        request_id="request",
        remote_id=None,
        seen="sha256:0",
    )
    site.meddle("GET", f"{SLOS}/*", SEEN)

    made = planned(site, {slo.ref: Memory(pending=lost)}, slo)

    assert made.changes[0].action is Action.BLOCKED
    assert made.unsettled == (UnsettledCreate(slo.ref, AT, "request"),)


def test_what_the_service_is_asked(site: Site) -> None:
    """The service is asked about whole writes with their secrets, and about nothing else."""
    key = Template((SecretHole("KEY", "hunter2", seal("hunter2", "KEY", "salt")),))
    open_text = Template((RefHole(Ref("SavedView", "b")),))
    kept = manifest("SLO/kept", SLO_SPEC, "slo-id")
    site.meddle("GET", f"{SLOS}/*", SEEN, SEEN, SEEN)

    made = planned(
        site,
        {},
        kept,
        manifest("SLO/new", {**SLO_SPEC, "description": key}),
        manifest("SLO/secret", {**SLO_SPEC, "description": key}, ALERT_ID),
        manifest("SLO/waits", {**SLO_SPEC, "description": open_text}, ALERT_ID[:-1] + "2"),
        manifest("SavedView/b", VIEW_SPEC),
    )

    asked = [one.body["description"] for one in site.sent if one.path == VALIDATE]
    assert asked == ["hunter2"]
    actions = [change.action.word for change in made.changes]
    assert actions == ["keep", "create", "update", "update", "create"]
    assert set(made.changes[3].awaits) == {Ref("SavedView", "b")}
