"""Which fields a plan shows: what is declared otherwise, and nothing that the service made up."""

from __future__ import annotations

import pytest
from harness.routes import BY_SLUG, DASHBOARDS, SLOS
from harness.sites import (
    ALERT_ID,
    ALERT_SPEC,
    SLO_SPEC,
    VIEW_SPEC,
    Site,
    actions,
    assert_settled,
    dashboard,
    manifest,
    paths,
    policy,
    policy_set,
)

from reconciler.document import Json
from reconciler.model import Manifest
from reconciler.planning.find_drift import find_drift

EVERYTHING = (
    manifest("SLO/checkout", {**SLO_SPEC, "labels": {"team": "a"}}),
    manifest("AlertDefinition/errors", ALERT_SPEC, ALERT_ID),
    dashboard(description="d", relativeTimeFrame="900s"),
    policy_set(policy("a"), policy("b")),
    manifest("SavedView/errors", VIEW_SPEC),
)
SLO, ALERT, BOARD, POLICIES, VIEW = EVERYTHING
P5 = "ALERT_DEF_PRIORITY_P5_OR_UNSPECIFIED"
ONLY_TRIGGERED = "NOTIFY_ON_TRIGGERED_ONLY_UNSPECIFIED"


def changed(one: Manifest, **fields: Json) -> Manifest:
    """Give a manifest with some fields of its spec declared otherwise."""
    return manifest(str(one.ref), {**one.spec, **fields}, one.remote_id)


def test_settled(site: Site) -> None:
    """After a full apply everything is kept, with no field and no note of a difference."""
    site.apply(*EVERYTHING)

    made = site.plan(*EVERYTHING)

    assert set(actions(made).values()) == {"keep"}
    assert all(change.differences == () for change in made.changes)
    assert_settled(site, *EVERYTHING)


@pytest.mark.parametrize(
    ("edited", "path"),
    [
        (changed(SLO, description="new"), ("description",)),
        (changed(SLO, labels={"team": "b"}), ("labels", "team")),
        (changed(SLO, labels={"team": "a", "tier": "1"}), ("labels", "tier")),
        (changed(SLO, targetThresholdPercentage=99), ("targetThresholdPercentage",)),
        (changed(ALERT, enabled=False), ("enabled",)),
        (changed(ALERT, groupByKeys=["pod"]), ("groupByKeys",)),
        (dashboard(description="e", relativeTimeFrame="900s"), ("dashboard", "description")),
        (dashboard(description="d", relativeTimeFrame="60s"), ("dashboard", "relativeTimeFrame")),
        (
            policy_set(policy("a"), policy("b", disabled=True)),
            ("policies", "b", "policy", "disabled"),
        ),
        (changed(VIEW, viewType="VIEW_TYPE_LOGS"), ("viewType",)),
    ],
)
def test_one_edit(site: Site, edited: Manifest, path: tuple[str, ...]) -> None:
    """One edited field is one update with exactly that path, and one write."""
    site.apply(*EVERYTHING)
    site.forget()
    declared = [edited if one.ref == edited.ref else one for one in EVERYTHING]

    made = site.plan(*declared)
    site.apply(plan=made)

    touched = [change for change in made.changes if change.action.word != "keep"]
    assert [(change.ref, paths(change)) for change in touched] == [(edited.ref, [path])]
    assert len(site.writes) == 1
    assert_settled(site, *declared)


@pytest.mark.parametrize(
    ("before", "after", "path"),
    [
        (SLO, manifest("SLO/checkout", SLO_SPEC), ("labels",)),
        (BOARD, dashboard(description="d"), ("dashboard", "relativeTimeFrame")),
        (
            dashboard(variablesV2=[{"name": "a", "displayName": "A"}]),
            dashboard(variablesV2=[{"name": "a"}]),
            ("dashboard", "variablesV2", "displayName"),
        ),
        (
            changed(ALERT, entityLabels={"team": "a"}),
            ALERT,
            ("entityLabels",),
        ),
        (changed(VIEW, viewType="VIEW_TYPE_LOGS"), VIEW, ("viewType",)),
    ],
)
def test_removed_field(
    site: Site, before: Manifest, after: Manifest, path: tuple[str, ...]
) -> None:
    """A field that is no longer declared is removed live."""
    site.apply(before)

    change = site.change(after)
    site.apply(after)

    ((*found,),) = paths(change)
    assert (found[0], found[-1]) == (path[0], path[-1])
    assert_settled(site, after)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (changed(SLO, targetThresholdPercentage=99), changed(SLO, targetThresholdPercentage=99.0)),
        (changed(SLO, description=""), SLO),
        (changed(SLO, sloTimeFrame="SLO_TIME_FRAME_28_DAYS"), SLO),
        (
            changed(SLO, grouping={"labels": ["b", "a"]}),
            changed(SLO, grouping={"labels": ["a", "b"]}),
        ),
        (dashboard(description="", filters=[]), dashboard()),
    ],
)
def test_equal_forms(site: Site, one: Manifest, other: Manifest) -> None:
    """Two ways to write the same are the same, whichever was applied."""
    site.apply(one)

    assert site.change(other).action.word == "keep"


BARE = manifest("AlertDefinition/errors", {"name": "Errors"}, ALERT_ID)


@pytest.mark.promise("P30")
@pytest.mark.parametrize(
    ("one", "other", "path"),
    [
        (BARE, changed(BARE, enabled=False), ("enabled",)),
        (BARE, changed(BARE, phantomMode=False), ("phantomMode",)),
        (BARE, changed(BARE, groupByKeys=[]), ("groupByKeys",)),
        (BARE, changed(BARE, description=""), ("description",)),
        (BARE, changed(BARE, priority=P5), ("priority",)),
        (
            changed(BARE, incidentsSettings={"minutes": 5}),
            changed(BARE, incidentsSettings={"minutes": 5, "notifyOn": ONLY_TRIGGERED}),
            ("incidentsSettings", "notifyOn"),
        ),
        (VIEW, changed(VIEW, isCompactMode=False), ("isCompactMode",)),
        (VIEW, changed(VIEW, viewType="VIEW_TYPE_UNSPECIFIED"), ("viewType",)),
    ],
)
@pytest.mark.parametrize("there", [True, False])
def test_declared_zero(
    site: Site, one: Manifest, other: Manifest, path: tuple[str, ...], there: bool
) -> None:
    """Of what cannot be read, a zero that comes or goes in a manifest is one field, and is sent."""
    before, after = (one, other) if there else (other, one)
    site.apply(before)
    site.forget()

    change = site.change(after)
    site.apply(after)

    assert (change.action.word, paths(change)) == ("update", [path])
    assert len(site.writes) == 1
    body = site.writes[0].body
    sent = body["alertDefsToReplace"][0]["alertDefProperties"] if one is not VIEW else body
    assert sent == after.spec
    assert_settled(site, after)


@pytest.mark.promise("P30")
@pytest.mark.parametrize(
    "one", [changed(BARE, enabled=False, description=""), changed(VIEW, isCompactMode=False)]
)
def test_zeros_of_what_is_new(site: Site, one: Manifest) -> None:
    """The fields of a first write are all that is sent, zeros too."""
    change = site.change(one)

    assert {path[0] for path in paths(change)} == set(one.spec)


@pytest.mark.promise("P31")
def test_free_text_of_a_service(site: Site) -> None:
    """A name that ends as zero values do is overwritten when someone changed it to another."""
    mine = dashboard(description="OWNER_UNSPECIFIED")
    site.apply(mine)
    stored = site.outside("GET", f"{BY_SLUG}/checkout")["dashboard"]
    theirs: Json = {"dashboard": {**stored, "description": "TEAM_UNSPECIFIED"}, "requestId": "x"}
    site.outside("PUT", DASHBOARDS, theirs)

    (difference,) = site.change(mine).differences

    assert (difference.before, difference.after) == ("TEAM_UNSPECIFIED", "OWNER_UNSPECIFIED")


def latency(value: Json) -> Manifest:
    """Give a tracing alert with a latency."""
    spec: dict[str, Json] = {
        "name": "Slow",
        "type": "ALERT_DEF_TYPE_TRACING_IMMEDIATE",
        "tracingImmediate": {"tracingFilter": {"simpleFilter": {"latencyThresholdMs": value}}},
    }
    return manifest("AlertDefinition/errors", spec, ALERT_ID)


def test_int64(site: Site) -> None:
    """A large number is the same as text and as number, and another one is not."""
    site.apply(latency("1000"))

    assert site.change(latency(1000)).action.word == "keep"
    assert site.change(latency("1001")).action.word == "update"


def test_true_is_no_number(site: Site) -> None:
    """`true` and 1 are not the same."""
    board = dashboard(seriesVisibility=1)
    site.apply(board)

    assert site.change(dashboard(seriesVisibility=True)).action.word == "update"


def test_empty_object(site: Site) -> None:
    """An empty object is not an absent one."""
    site.apply(dashboard())

    change = site.change(dashboard(fiveMinutes={}))

    assert paths(change) == [("dashboard", "fiveMinutes")]
    site.apply(dashboard(fiveMinutes={}))
    assert_settled(site, dashboard(fiveMinutes={}))


def test_one_of_several(site: Site) -> None:
    """The other way of a choice goes when one is declared, though nobody declared that it goes."""
    site.apply(dashboard(relativeTimeFrame="900s"))
    chosen = dashboard(
        absoluteTimeFrame={"from": "2025-01-01T00:00:00Z", "to": "2025-01-02T00:00:00Z"}
    )

    site.apply(chosen)

    assert "relativeTimeFrame" not in site.writes[-1].body["dashboard"]
    assert_settled(site, chosen)


def test_null(site: Site) -> None:
    """A declared null is sent as it is, and equals what the service shows for it."""
    declared = dashboard(description=None)

    site.apply(declared)

    assert "description" in site.writes[0].body["dashboard"]
    assert_settled(site, declared)


def test_drift(site: Site) -> None:
    """Drift is told from what was applied to what is live, for what can be read."""
    site.apply(*EVERYTHING)
    stored = site.outside("GET", f"{BY_SLUG}/checkout")["dashboard"]
    site.outside("PUT", DASHBOARDS, {"dashboard": {**stored, "description": "x"}, "requestId": "y"})
    slo_id = site.journal.history.of(SLO.ref).remote_id
    site.app.state.store.write("DELETE FROM slos")
    history = site.journal.history
    edited = [changed(one, name="not applied yet") if one is VIEW else one for one in EVERYTHING]

    found = site.ask(lambda api: find_drift(api, edited, history, "")).found

    assert {str(drift.ref): drift.state for drift in found} == {
        "AlertDefinition/errors": "unseen",
        "Dashboard/checkout": "drifted",
        "LogPolicySet/all": "same",
        "SLO/checkout": "gone",
        "SavedView/errors": "unseen",
    }
    (difference,) = next(drift for drift in found if drift.ref == BOARD.ref).differences
    assert (difference.path, difference.before, difference.after) == (
        ("dashboard", "description"),
        "d",
        "x",
    )
    assert str(slo_id) in next(drift for drift in found if drift.ref == SLO.ref).note


def test_unapplied_edit_is_no_drift(site: Site) -> None:
    """Edits of manifests are no drift before they are applied, nor is what was never applied."""
    site.apply(BOARD, SLO)
    history = site.journal.history
    edited = [dashboard(description="later"), changed(SLO, description="later"), POLICIES]

    found = site.ask(lambda api: find_drift(api, edited, history, "")).found

    assert [drift.state for drift in found] == ["same", "unapplied", "same"]


def test_removed_by_hand(site: Site) -> None:
    """A field that someone removed live is put back."""
    site.apply(SLO)
    slo_id = site.journal.history.of(SLO.ref).remote_id
    site.outside("PUT", SLOS, {"id": slo_id, **SLO_SPEC})

    change = site.change(SLO)
    site.apply(SLO)

    assert paths(change) == [("labels", "team")] or paths(change) == [("labels",)]
    assert_settled(site, SLO)
