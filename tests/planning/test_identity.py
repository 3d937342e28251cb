"""One notion of the same object, from manifests, look-ups and the journal."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from harness.routes import DASHBOARDS, SLOS, VIEWS
from harness.sites import (
    ALERT_ID,
    ALERT_SPEC,
    SLO_SPEC,
    VIEW_SPEC,
    Site,
    actions,
    answer_with,
    assert_settled,
    dashboard,
    manifest,
    policy,
    policy_set,
)

from reconciler.document import Json
from reconciler.emulator import create_app
from reconciler.model import (
    Action,
    AnotherObject,
    Evidence,
    LooksLike,
    Manifest,
    Ref,
    RenamedFrom,
    SameObject,
)

OTHER_ID = "6d5c7c0e-5d3e-4b0c-8f55-2f6f5c1f9a10"


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path, create_app(alert_ids=[ALERT_ID, OTHER_ID]))


def alert(name: str = "errors", remote_id: str = ALERT_ID, **fields: Json) -> Manifest:
    """Give an alert."""
    return manifest(f"AlertDefinition/{name}", {**ALERT_SPEC, **fields}, remote_id)


def view(ref: str, remote_id: int | None = None, **fields: Json) -> Manifest:
    """Give a saved view."""
    return manifest(f"SavedView/{ref}", {**VIEW_SPEC, **fields}, remote_id)


def slo(ref: str, remote_id: str | None = None, **fields: Json) -> Manifest:
    """Give an SLO."""
    return manifest(f"SLO/{ref}", {**SLO_SPEC, **fields}, remote_id)


def named(one: Manifest, name: str) -> Manifest:
    """Give the same under another name, in another file."""
    moved = replace(one.source, file="elsewhere.yaml", line=9)
    return replace(one, ref=Ref(one.ref.kind, name), source=moved)


@pytest.mark.promise("P10")
def test_memory_follows_the_id(site: Site) -> None:
    """A new name for the same id is the same resource: its fields are compared, and it is said."""
    site.apply(alert())

    change = site.change(alert("renamed", priority="ALERT_DEF_PRIORITY_P3"))

    assert (change.action, change.evidence) == (Action.UPDATE, Evidence.JOURNAL)
    assert [difference.path for difference in change.differences] == [("priority",)]
    assert change.reasons == (RenamedFrom(Ref("AlertDefinition", "errors")),)


@pytest.mark.promise("P10")
def test_a_rename_is_journaled(site: Site) -> None:
    """After the apply of a rename the old name is nothing's, and no orphan is listed."""
    site.apply(alert())
    site.forget()

    planned = site.plan(alert("renamed"))
    site.apply(plan=planned)

    assert actions(planned) == {"AlertDefinition/renamed": "keep"}
    assert planned.orphans == ()
    assert site.writes == []
    assert site.entries()[-1] == "renamed AlertDefinition/renamed"
    assert site.change(alert("renamed")).reasons == ()
    assert_settled(site, alert("renamed"))


@pytest.mark.promise("P10")
def test_a_rename_is_another_plan(site: Site) -> None:
    """The digest of a plan with a rename is not that of one without."""
    site.apply(alert())
    before = site.plan(alert("renamed")).digest
    site.apply(alert("renamed"))

    assert site.plan(alert("renamed")).digest != before


@pytest.mark.promise("P10")
@pytest.mark.parametrize(
    ("first", "known"),
    [
        (alert(), alert("new")),
        (view("errors"), view("new", 1)),
        (dashboard(slugName="kept"), named(dashboard(slugName="kept"), "new")),
        (policy_set(policy("a")), named(policy_set(policy("a")), "new")),
    ],
    ids=lambda one: one.ref.kind,
)
def test_every_kind_can_be_renamed(site: Site, first: Manifest, known: Manifest) -> None:
    """An id, an unchanged slug, or being the only list, tell the same object of each kind."""
    site.apply(first)
    site.forget()

    made = site.plan(known)
    applied = site.apply(plan=made)

    (change,) = made.changes
    assert (change.action, change.reasons[0]) == (Action.KEEP, RenamedFrom(first.ref))
    assert (made.orphans, applied.outcomes, site.writes) == ((), [], [])
    assert_settled(site, known)


@pytest.mark.promise("P10")
def test_swapped_names(site: Site) -> None:
    """Two resources that swap their names swap their memories, and lose none."""
    one, other = alert("one"), alert("other", OTHER_ID, priority="ALERT_DEF_PRIORITY_P1")
    site.apply(one, other)
    site.forget()
    swapped = named(one, "other"), named(other, "one")

    made = site.plan(*swapped)
    site.apply(plan=made)

    assert actions(made) == {"AlertDefinition/one": "keep", "AlertDefinition/other": "keep"}
    assert site.writes == []
    assert site.journal.history.of(Ref("AlertDefinition", "other")).remote_id == ALERT_ID
    assert_settled(site, *swapped)


@pytest.mark.promise("P10")
def test_another_object(site: Site) -> None:
    """A manifest that names another id than before is about another object, and says so."""
    site.apply(alert())

    change = site.change(alert(remote_id=OTHER_ID))

    assert change.action is Action.ASSERT
    assert change.reasons[0] == AnotherObject(ALERT_ID)


@pytest.mark.promise("P11")
@pytest.mark.parametrize(
    ("first", "second"),
    [(view("errors"), view("copy", 1, name="Other")), (dashboard(slugName="kept"), None)],
)
def test_two_for_one_object(site: Site, first: Manifest, second: Manifest | None) -> None:
    """Two manifests that are about one object are both blocked, each naming the other."""
    site.apply(first)
    site.forget()
    known = site.change(first).remote_id
    if second is None:
        second = replace(dashboard("copy", description="x"), remote_id=known)

    made = site.plan(first, second)
    applied = site.apply(plan=made)

    assert {change.action for change in made.changes} == {Action.BLOCKED}
    told = {change.ref: change.reasons for change in made.changes}
    assert told[first.ref] == (SameObject((second.ref,), known),)
    assert told[second.ref] == (SameObject((first.ref,), known),)
    assert (site.writes, applied.exit_codes) == ([], {3})


@pytest.mark.promise("P11")
def test_two_for_one_object_in_a_part(site: Site) -> None:
    """The plan of a part knows what else is declared, and takes no object away from it."""
    site.apply(view("errors"))

    made = site.plan(view("copy", 1), whole=False, others=[view("errors")])

    assert made.changes[0].reasons == (SameObject((Ref("SavedView", "errors"),), 1),)


@pytest.mark.promise("P11")
def test_ids_in_capitals(site: Site) -> None:
    """An id in another spelling is the same id."""
    site.apply(slo("checkout"))
    known = str(site.change(slo("checkout")).remote_id)

    made = site.plan(slo("checkout"), slo("copy", known.upper()))

    assert {change.action for change in made.changes} == {Action.BLOCKED}


@pytest.mark.promise("P13")
@pytest.mark.parametrize(
    ("first", "path"),
    [(slo("checkout"), SLOS), (view("errors"), VIEWS), (dashboard(), DASHBOARDS)],
    ids=["slo", "view", "dashboard whose slug follows its name"],
)
def test_looks_like_a_rename(site: Site, first: Manifest, path: str) -> None:
    """What is created under a new name, much like what is declared no more, is told as that."""
    site.apply(first)

    change = site.change(named(first, "new"))

    assert change.action is Action.CREATE
    assert LooksLike((first.ref,)) in change.reasons
    assert site.count("POST", path) == 1


@pytest.mark.promise("P13")
def test_looks_like_nothing(site: Site) -> None:
    """What shares neither title nor most of its fields is another thing."""
    site.apply(view("errors"))
    other = manifest(
        "SavedView/slow", {"name": "Slow", "timeSelection": {"customSelection": {"fromTime": "x"}}}
    )

    assert not any(isinstance(reason, LooksLike) for reason in site.change(other).reasons)
    twin = site.change(named(view("errors"), "b"), view("errors"))
    assert not any(isinstance(reason, LooksLike) for reason in twin.reasons)


def test_orphans_of_before(site: Site) -> None:
    """An old name whose object is declared under a new one is no orphan."""
    site.apply(view("errors"))
    site.apply(view("errors"), view("more", name="More"))

    made = site.plan(view("again", 1), view("more", name="More"))

    assert made.orphans == ()


@pytest.mark.promise("P10")
def test_what_is_left_behind(site: Site) -> None:
    """What a name was about is not forgotten with it: it is an orphan, and protected as before."""
    site.apply(replace(alert("x"), protect=True))
    site.apply(alert("x", OTHER_ID))

    made = site.plan(alert("x", OTHER_ID))
    again = site.plan(alert("x", OTHER_ID), alert("z", enabled=False))

    assert [orphan.remote_id for orphan in made.orphans] == [ALERT_ID]
    (found,) = [change for change in again.changes if change.ref.name == "z"]
    assert found.protected
    assert isinstance(found.reasons[0], RenamedFrom)


@pytest.mark.promise("P13")
def test_names_in_a_chain(site: Site) -> None:
    """A create that is much like what another name was about until now is told as that."""
    latency = slo("a", name="Payments latency", description="a" * 9)
    search: dict[str, Json] = {
        "name": "Search",
        "targetThresholdPercentage": 95,
        "sloTimeFrame": "SLO_TIME_FRAME_7_DAYS",
        "requestBasedMetricSli": {"goodEvents": {"query": "g"}, "totalEvents": {"query": "t"}},
    }
    success = manifest("SLO/b", search)
    site.apply(latency, success)

    made = site.plan(named(success, "c"), named(latency, "b"))

    told = {change.ref.name: change for change in made.changes}
    assert LooksLike((Ref("SLO", "b"),)) in told["c"].reasons


@pytest.mark.promise("P15")
def test_a_review_agrees_to_what_it_showed(site: Site) -> None:
    """The digest of a plan that takes something over is not that of one which knows it."""
    site.apply(dashboard(slugName="kept"))
    edited = dashboard(slugName="kept", description="new")
    known = site.plan(edited).digest
    (site.root / "own" / "journal.jsonl").unlink()

    assert site.plan(edited).digest != known


@pytest.mark.promise("P27")
def test_one_id_for_two(site: Site) -> None:
    """A create that is answered with the id of another resource is in doubt, and no success."""
    site.apply(view("errors"))
    site.meddle("POST", VIEWS, answer_with(200, {"id": 1, **VIEW_SPEC}))

    applied = site.apply(view("errors"), manifest("SavedView/slow", {**VIEW_SPEC, "name": "Slow"}))

    assert applied.exit_codes == {7}
    assert site.journal.history.of(Ref("SavedView", "slow")).remote_id is None
