"""What planning asks, counts and proves on its way, and what a look for drift says of itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from harness.sites import (
    ALERT_ID,
    ALERT_SPEC,
    SALT,
    SLO_SPEC,
    VIEW_SPEC,
    Site,
    answer_with,
    dashboard,
    manifest,
)

from reconciler.api.client import Api
from reconciler.document import ABSENT, Difference, Json
from reconciler.errors import NotAuthorised
from reconciler.journal.entries import LastWrite, Started
from reconciler.journal.history import History, Memory
from reconciler.journal.line_fields import SeenDrift
from reconciler.kinds import BY_NAME
from reconciler.model import (
    Absent,
    Change,
    Drift,
    DriftReport,
    Imported,
    Manifest,
    Member,
    NeverSeen,
    NotPermitted,
    Observation,
    Plan,
    Ref,
    Remedy,
    Remembered,
    Source,
)
from reconciler.planning.decide import Knowledge, PlanTarget, decide
from reconciler.planning.find_drift import find_drift, remembered
from reconciler.planning.make_plan import (
    displaced_in,
    identify,
    make_plan,
    much_like,
    orphans_in,
)
from reconciler.project.settings import DriftIgnore
from reconciler.runtime.progress import Deed, Waits

AT = "2025-01-31T09:00:00Z"
SERVICE = PlanTarget("production", "https://api.example.com")
VIEW = manifest("SavedView/errors", VIEW_SPEC)
SLO = Ref("SLO", "checkout")
NO: Json = {"message": "policies: not for you"}


def wrote(remote_id: str, declared: dict[str, Json], origin: str = "") -> Memory:
    """Give the memory of a write, or of an import from `origin`."""
    last = LastWrite(remote_id=remote_id, declared=declared, at=AT, rewritten=(), origin=origin)
    return Memory(remote_id=remote_id, last=last, exists=True)


def counted(site: Site, *manifests: Manifest) -> Waits:
    """Plan, and give what was noted on the way."""

    async def ask(api: Api) -> Waits:
        await make_plan(api, manifests, site.journal.history, SERVICE, whole=True)
        return api.waits

    return site.ask(ask)


def test_steps_are_counted(site: Site) -> None:
    """Reads are counted kind by kind, and what is asked before it is written, to their end."""
    boards = [dashboard(name, slugName=name) for name in ("a", "b", "c")]

    spent = counted(site, *boards, VIEW).spent

    assert spent[Deed.READING, "Dashboard"].done == 3
    assert spent[Deed.READING, "SavedView"].done == 1
    assert spent[Deed.COMPARING, ""].done == 4
    assert spent[Deed.ASKING, ""].done == 4


def test_totals_are_known(site: Site) -> None:
    """While it goes on, each step says how many there are of it."""
    seen: set[tuple[Deed, str, int | None]] = set()

    async def look(request: Any, inner: Any) -> Any:
        seen.update((step.deed, step.things, step.total) for step in api_of[0].waits.now().steps)
        return await inner.handle_async_request(request)

    api_of: list[Api] = []

    async def ask(api: Api) -> None:
        api_of.append(api)
        boards = [dashboard(name, slugName=name) for name in ("a", "b")]
        await make_plan(api, [*boards, VIEW], site.journal.history, SERVICE, whole=True)

    site.meddle("GET", "*", look, look)
    site.ask(ask)

    assert (Deed.READING, "Dashboard", 2) in seen
    assert (Deed.READING, "SavedView", 1) in seen


def planned(site: Site, place: PlanTarget, *manifests: Manifest) -> Plan:
    return site.plan(*manifests, place=place)


def test_what_proves_nothing_is_proven(site: Site) -> None:
    """Where no resource can be read, one cheap read proves the target; what it may not is said."""
    site.meddle("GET", "*", answer_with(403, NO))

    (said,) = (
        remark
        for remark in planned(site, SERVICE, VIEW).remarks
        if isinstance(remark, NotPermitted)
    )

    assert "not for you" in said.said
    assert len(site.sent) == 1


def test_what_was_read_proves_enough(site: Site) -> None:
    """Where something could be read, or nothing is declared, nothing else is asked."""
    planned(site, SERVICE, VIEW, dashboard())
    reads = len(site.sent)
    planned(site, SERVICE)

    assert (reads, len(site.sent)) == (1, 1)


@pytest.mark.parametrize(("prove", "asked"), [(True, 1), (False, 0)])
def test_drift_proves_its_target(site: Site, prove: bool, asked: int) -> None:
    """A look at what cannot be read proves target and key, unless it is this process's own."""
    history = History({VIEW.ref: wrote("1", VIEW.spec)})

    site.ask(lambda api: find_drift(api, (VIEW,), history, SALT, prove=prove))

    assert len(site.sent) == asked


def test_drift_with_a_refused_key(site: Site) -> None:
    """A key that the target does not take ends a look, though nothing could be read anyway."""
    site.meddle("GET", "*", answer_with(401))

    with pytest.raises(NotAuthorised):
        site.ask(lambda api: find_drift(api, (VIEW,), History(), SALT, prove=True))


def test_a_create_that_nobody_saw() -> None:
    """What is to be created anew says since when a replace of it was never seen."""
    started = Started(
        ref=SLO, run="r", at=AT, operation="replace", remote_id="x",
        request_id="q", seen="", declared={},
    )  # fmt: skip
    memory = replace(wrote("x", SLO_SPEC), pending=started)

    change = decided(manifest(str(SLO), SLO_SPEC), Absent(), memory)

    assert NeverSeen(AT) in change.reasons
    again = decided(
        manifest(str(SLO), SLO_SPEC),
        Absent(),
        replace(memory, pending=replace(started, operation="create")),
    )
    assert not any(isinstance(reason, NeverSeen) for reason in again.reasons)


def test_an_import_is_told() -> None:
    """What is remembered from an export says so, and since when."""
    alert = manifest("AlertDefinition/errors", ALERT_SPEC, ALERT_ID)
    seen = Remembered(ALERT_ID, ALERT_SPEC)

    imported = decided(alert, seen, wrote(ALERT_ID, ALERT_SPEC, "export"))

    assert imported.reasons == (Imported(AT),)
    assert decided(alert, seen, wrote(ALERT_ID, ALERT_SPEC)).reasons == ()


def decided(one: Manifest, seen: Observation, memory: Memory) -> Change:
    """Decide what becomes of one resource."""
    return decide(one, Knowledge(seen, memory, {}, replace(SERVICE, salt=SALT)))


RULE = DriftIgnore(kind="SLO", name="*", path="description", reason="written by others")
STORED: Json = {"slo": {"id": "x", **SLO_SPEC, "description": "theirs", "updateTime": AT}}


def looked(site: Site, history: History, *rules: DriftIgnore) -> DriftReport:
    """Look for drift of one SLO."""
    one = manifest(str(SLO), {**SLO_SPEC, "description": "ours"})
    return site.ask(lambda api: find_drift(api, (one,), history, SALT, ignore=rules))


def test_what_is_ignored_says_why(site: Site) -> None:
    """What raises no alarm is the same, with the rule and its reason beside what differs."""
    history = History({SLO: wrote("x", {**SLO_SPEC, "description": "ours"})})
    site.meddle("GET", "*", answer_with(200, STORED))

    (found,) = looked(site, history, RULE).found

    (silent,) = found.ignored
    assert (found.state, found.cause, found.note) == ("same", None, "")
    assert (silent.rule, silent.reason) == (RULE.shown, "written by others")


def test_since_when_drift_is_remembered(site: Site) -> None:
    """A look says when one was last remembered, and "" where none was."""
    site.meddle("GET", "*", answer_with(200, STORED), answer_with(200, STORED))

    assert looked(site, History()).since == ""
    assert looked(site, History(looked=AT)).since == AT


def test_what_could_not_be_read_is_a_cause(site: Site) -> None:
    """An answer of no use is a finding with a cause of its own."""
    other = manifest("SLO/other", SLO_SPEC)
    history = History({SLO: wrote("x", SLO_SPEC), other.ref: wrote("y", SLO_SPEC)})
    site.meddle("GET", "/v1/slo/slos/x", answer_with(200, {"slo": "no"}))
    site.meddle("GET", "/v1/slo/slos/y", answer_with(200, {"slo": {"id": "y", **SLO_SPEC}}))
    one = manifest(str(SLO), SLO_SPEC)

    found = site.ask(lambda api: find_drift(api, (one, other), history, SALT)).found

    assert {str(drift.ref): drift.cause for drift in found} == {
        "SLO/checkout": "unreadable",
        "SLO/other": None,
    }


def told(**fields: Any) -> Drift:
    """Give drift of one SLO."""
    return Drift(ref=SLO, source=Source("a.yaml", 1), **{"state": "drifted", **fields})


NAME = Difference(("name",), "ours", "theirs")
HOWS = [
    told(differences=(NAME,)),
    told(differences=(replace(NAME, before="other"),)),
    told(differences=(replace(NAME, after="other"),)),
    told(differences=(replace(NAME, before=None),)),
    told(differences=(replace(NAME, before=ABSENT),)),
    told(differences=(replace(NAME, path=("more",)),)),
    told(differences=(NAME,), unseen=(("more",),)),
    told(differences=(NAME,), unseen=(("less",),)),
    told(state="gone", differences=(NAME,)),
]


@pytest.mark.parametrize("before", HOWS)
@pytest.mark.parametrize("now", HOWS)
def test_other_drift_is_news(before: Drift, now: Drift) -> None:
    """Drift that is otherwise than it was remembered is new; the same is not."""
    first = remembered(DriftReport((before,)), History(), AT)
    history = History(drifts={seen_drift.ref: seen_drift for seen_drift in first.found}, looked=AT)

    assert bool(remembered(DriftReport((now,)), history, AT).found) == (now != before)


def test_how_drift_is_remembered_stays() -> None:
    """What a journal remembers of drift is told by later versions of the program as well."""
    (found,) = remembered(DriftReport((HOWS[6],)), History(), AT).found

    assert found == SeenDrift(
        ref=SLO,
        how="sha256:53c6c399950b92a22dba7121ff95dcf89c310d56ccc96bf9cadf3f2558d8e386",
        since=AT,
    )


@pytest.mark.parametrize(
    ("one", "command", "before"),
    [
        (manifest("SLO/checkout", SLO_SPEC), "reconciler apply a.yaml", ""),
        (
            replace(manifest("SLO/checkout", SLO_SPEC), references=frozenset([Ref("SLO", "b")])),
            "reconciler apply",
            "",
        ),
        (
            replace(
                manifest("SLO/checkout", SLO_SPEC),
                source=Source("a.yaml", 1, 1, Member(2, "team: a", 3)),
            ),
            "reconciler apply a.yaml",
            "write it into item 2 (team: a) by hand, then",
        ),
    ],
)
def test_ways_out_lead_to_the_manifest(
    site: Site, one: Manifest, command: str, before: str
) -> None:
    """Drift is put back with all that it refers to, and of a template's item by hand first."""
    history = History({SLO: wrote("x", {**SLO_SPEC, "description": "ours"})})
    site.meddle("GET", "*", answer_with(200, STORED))

    (found,) = site.ask(lambda api: find_drift(api, (one,), history, SALT)).found

    assert found.remedies == (
        Remedy("put-back", command),
        Remedy("take-over", "reconciler adopt SLO/checkout", before=before),
    )


def test_a_title_makes_alike() -> None:
    """Two of one kind with one title are alike however they differ; of other kinds they are not."""
    board: dict[str, Json] = {"dashboard": {"name": "Checkout", "description": "new", "x": 1}}
    gone = wrote("1", {"dashboard": {"name": "Checkout", "slugName": "a", "y": 2}})
    other = wrote("2", {"dashboard": {"name": "Else", "slugName": "b", "y": 3}})
    blank = Memory(exists=True)
    orphans = [
        (Ref("SLO", "first"), gone),
        (Ref("Dashboard", "blank"), blank),
        (Ref("Dashboard", "other"), other),
        (Ref("Dashboard", "gone"), gone),
    ]

    assert much_like("Dashboard", board, orphans) == (Ref("Dashboard", "gone"),)


def test_places_make_alike() -> None:
    """The same values in other places are not alike, and exactly half of the fields are."""
    orphan = Ref("SavedView", "old")
    before: dict[str, Json] = {"a": {"x": 1}, "b": [1, 2], "c": 3}

    def alike(declared: dict[str, Json]) -> bool:
        return bool(much_like("SavedView", declared, [(orphan, wrote("1", before))]))

    assert alike({"a": {"x": 1}, "b": [1, 0], "c": 4})
    assert not alike({"a": {"x": 1}, "b": [0, 0], "c": 4})
    assert not alike({"z": {"x": 1}, "y": [1, 2], "w": 3})
    assert not alike({"a": {"z": 1}, "c": [1, 2], "b": 3})


def test_what_is_orphaned() -> None:
    """What was written and is declared no more is an orphan, of a kind nobody knows too."""
    board = dashboard("b")
    history = History(
        {
            Ref("Gadget", "old"): wrote("1", {}),
            Ref("Dashboard", "old"): wrote("a" * 21, {}),
            Ref("Dashboard", "never"): replace(wrote("b" * 21, {}), exists=False),
            board.ref: wrote("c" * 21, board.spec),
            Ref("Dashboard", "renamed"): wrote("c" * 21, board.spec),
        }
    )

    assert [str(ref) for ref, _ in orphans_in(history, [board])] == ["Dashboard/old", "Gadget/old"]


def test_what_names_go_round() -> None:
    """A name whose content is another than it was written with may have been another's name."""
    one, other = dashboard("one", description="x"), dashboard("other", description="y")
    quite_else = wrote("a" * 21, {"dashboard": {"slugName": "z"}, "isLocked": True})
    history = History({one.ref: Memory(exists=True), other.ref: quite_else})
    singleton = manifest("LogPolicySet/all", {"policies": []})
    with_id = replace(other, remote_id="a" * 21)

    assert [ref for ref, _ in displaced_in(history, [one, singleton, other])] == [other.ref]
    assert displaced_in(history, [with_id]) == []


def test_what_a_name_was_about_is_put_aside() -> None:
    """What a manifest was about until now is kept under a name that tells its id."""
    one = manifest("Dashboard/a", dashboard("a").spec, "b" * 21)
    history = History({one.ref: wrote("a" * 21, one.spec)})

    known = identify([one], history).history

    assert known.memories[Ref("Dashboard", f"a~{'a' * 21}")] == history.of(one.ref)
    assert BY_NAME["Dashboard"].findable
