"""With scope matching: what of a change, and what of an incident, is held against each other."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from freezes import EVENTS, INCIDENTS, NOW, OPEN, frozen, incidents
from harness.sites import (
    ALERT_ID,
    ALERT_SPEC,
    SLO_SPEC,
    Site,
    answer_with,
    manifest,
    policy,
    policy_set,
)

from reconciler.document import Json
from reconciler.model import FROZEN, Manifest

MATCHING = {"incidents": {"scope": "matching"}}
OF_ANOTHER: dict[str, Json] = {"name": "Something", "contextualLabels": {"team": "others"}}
"""An incident that tells whose it is, and it is of nothing here."""

CHECKOUT = manifest("SLO/checkout", SLO_SPEC)


def holds(site: Site, *found: dict[str, Json], of: Manifest = CHECKOUT) -> bool:
    """Tell whether incidents freeze a plan of one manifest, when no event names an alert."""
    incidents(site, *found)
    return [violation.code for violation in frozen(site, MATCHING, of).guarded] == [FROZEN]


def event(number: int, **told: Json) -> Json:
    """Give an event that tells this of the alert of its incident."""
    return {"incidentEvent": {"id": f"e{number}"}, "incidentEventExtendedMetadata": told}


def with_event(number: int, **fields: Json) -> dict[str, Json]:
    """Give an incident of another, which has this event."""
    return {**OPEN, **OF_ANOTHER, "id": f"i{number}", "events": [{"id": f"e{number}"}], **fields}


@pytest.mark.parametrize(
    ("name", "matches"),
    [("checkout", True), (" CHECKOUT ", True), ("Old", True), ("New", True), ("Other", False)],
)
def test_each_name_of_a_change(site: Site, name: str, *, matches: bool) -> None:
    """A change has the name of its manifest, the title that is live, and the one that it sets."""
    site.apply(manifest("SLO/checkout", {**SLO_SPEC, "name": "Old"}))

    renamed = manifest("SLO/checkout", {**SLO_SPEC, "name": "New"})

    assert holds(site, {**with_event(1), "name": name}, of=renamed) == matches


@pytest.mark.parametrize(("team", "matches"), [("old", True), ("new", True), ("other", False)])
def test_labels_before_and_after(site: Site, team: str, *, matches: bool) -> None:
    """A change has the labels that are live, and those that it sets."""
    before, after = (
        manifest("AlertDefinition/errors", {**ALERT_SPEC, "entityLabels": {"team": one}}, ALERT_ID)
        for one in ("old", "new")
    )
    site.apply(before)

    assert holds(site, with_event(1, contextualLabels={"team": team}), of=after) == matches


@pytest.mark.parametrize("key", ["TEAM", "te am", "t.e-a_m", " team "])
def test_keys_of_labels(site: Site, key: str) -> None:
    """The key of a label is one however it is spelled; its value is, but for case and edges."""
    of = manifest(
        "AlertDefinition/errors", {**ALERT_SPEC, "entityLabels": {"team": "Pay"}}, ALERT_ID
    )

    assert holds(site, with_event(1, contextualLabels={key: " pAY "}), of=of)
    assert not holds(site, with_event(1, contextualLabels={key: "p ay"}), of=of)
    assert not holds(site, with_event(1, contextualLabels={"tier": "pay"}), of=of)


@pytest.mark.parametrize("value", [5, None, ["pay"], {"a": "b"}, "", " "])
def test_odd_labels(site: Site, value: Json) -> None:
    """What is no text, or is empty, labels nothing; a label beside it counts all the same."""
    labelled: dict[str, Json] = {**ALERT_SPEC, "entityLabels": {"odd": value, "team": "pay"}}
    of = manifest("AlertDefinition/errors", labelled, ALERT_ID)

    assert holds(site, with_event(1, contextualLabels={"team": "pay"}), of=of)
    assert not holds(site, with_event(1, contextualLabels={"odd": " ", "team": "x"}), of=of)


def test_an_incident_that_tells_nothing(site: Site) -> None:
    """An incident without name and labels may be of anything, and is named; no event is asked."""
    incidents(site, {**OPEN, "name": ""})

    (objection,) = frozen(site, MATCHING).guarded

    assert "`i1`" in objection.said
    assert site.count("GET", EVENTS) == 0


def test_an_incident_that_tells_one_thing(site: Site) -> None:
    """An incident that tells one thing, a label or an alert, is about nothing else."""
    nameless = with_event(1, name="")
    assert not holds(site, nameless)

    site.wire.meddlers.clear()
    incidents(site, {**nameless, "name": "x"}, events=(event(1, alertId="other"),))
    assert frozen(site, MATCHING).guarded == ()


def test_labels_of_several_events(site: Site) -> None:
    """The labels that events tell of an alert count together, and with those of the incident."""
    labelled: dict[str, Json] = {**ALERT_SPEC, "entityLabels": {"team": "pay"}}
    of = manifest("AlertDefinition/errors", labelled, ALERT_ID)
    told: tuple[Json, ...] = (
        event(1, alertId="a", alertLabels=[{"key": "team", "value": "pay"}]),
        event(1, alertId="b", alertLabels=[{"key": "tier", "value": "1"}]),
    )
    for order in (1, -1):
        incidents(site, with_event(1), events=told[::order])

        assert [violation.code for violation in frozen(site, MATCHING, of).guarded] == [FROZEN]


def test_labels_of_a_manifest(site: Site) -> None:
    """The labels of a manifest itself count as those of its resource do."""
    labelled = Manifest(
        CHECKOUT.ref, CHECKOUT.spec, CHECKOUT.source, labels={"team": "others", "tier": ""}
    )

    assert holds(site, with_event(1), of=labelled)
    assert not holds(site, with_event(1, contextualLabels={"tier": "", "team": "x"}), of=labelled)


SHOP: dict[str, Json] = {"applicationRule": {"name": "shop", "ruleTypeId": "RULE_TYPE_ID_IS"}}
CART: dict[str, Json] = {
    **SHOP,
    "subsystemRule": {"name": "cart", "ruleTypeId": "RULE_TYPE_ID_IS"},
}


@pytest.mark.parametrize(
    ("rules", "labels", "matches"),
    [
        (SHOP, {"applicationName": "shop"}, True),
        (SHOP, {"subsystemName": "shop"}, False),
        (CART, {"cxApplicationName": "shop", "cx_subsystem_name": "cart"}, True),
        (CART, {"cxApplicationName": "shop", "CX.Subsystem.Name": "web"}, False),
        (CART, {"applicationName": "shop"}, True),
        (CART, {"applicationName": "pay", "subsystemName": "cart"}, False),
    ],
)
def test_names_of_an_application(
    site: Site, rules: dict[str, Json], labels: dict[str, Json], *, matches: bool
) -> None:
    """An application and a subsystem have several keys; a subsystem alone is of no policy."""
    item: Any = policy("errors")
    declared = policy_set({**item, "policy": {**item["policy"], **rules}})

    assert holds(site, with_event(1, contextualLabels=labels), of=declared) == matches


def test_what_is_kept_matches_nothing(site: Site) -> None:
    """Only what would be written is held against incidents."""
    kept = manifest("SLO/kept", {**SLO_SPEC, "name": "Kept"})
    site.apply(kept)
    incidents(site, {**with_event(1), "name": "Kept"})

    assert frozen(site, MATCHING, kept, CHECKOUT).guarded == ()


def test_only_incidents_that_match_are_named(site: Site) -> None:
    """Of several incidents those are named, in their order, that match by themselves or events."""
    found = (
        with_event(1, name="One"),
        with_event(2, name="Two"),
        with_event(3, name="Three"),
        with_event(4, name="Checkout"),
    )
    told: tuple[Json, ...] = (
        {},
        {"incidentEvent": {"id": "e2"}},
        {"incidentEventExtendedMetadata": {"alertName": "checkout"}},
        event(9, alertName="checkout"),
        event(2, alertName="checkout", alertId="a2"),
        event(3, alertName="other", alertId="a3"),
    )
    incidents(site, *found, events=told)

    (objection,) = frozen(site, MATCHING).guarded

    named = [name for name in ("One", "Two", "Three", "Checkout") if f"`{name}`" in objection.said]
    assert named == ["Two", "Checkout"]


def test_events_are_taken_together(site: Site) -> None:
    """What several events tell of one incident counts, whichever comes last."""
    for order in (1, -1):
        told = (event(1, alertName="checkout", alertId="a"), event(1, alertId="b"))
        incidents(site, with_event(1), events=told[::order])

        assert [violation.code for violation in frozen(site, MATCHING).guarded] == [FROZEN]


def test_no_events_are_asked_for_in_vain(site: Site) -> None:
    """Events are asked for only where an incident does not match by itself."""
    assert holds(site, {**with_event(1), "name": "Checkout"})
    assert site.count("GET", EVENTS) == 0
    assert site.count("POST", INCIDENTS) == 1

    site.wire.meddlers.clear()
    incidents(site)
    assert frozen(site, MATCHING).guarded == ()
    assert site.count("GET", EVENTS) == 0


def test_one_alert_that_is_not_told(site: Site) -> None:
    """Where the alert of one of several incidents is not told, nobody knows what it is about."""
    bare: Json = {**OPEN, "id": "i2", "events": [{"id": "e2"}]}
    incidents(site, with_event(1), bare, events=(event(1, alertId="a"),))

    (objection,) = frozen(site, MATCHING).guarded

    assert "i2" in objection.said


def test_labels_do_where_events_end(site: Site) -> None:
    """Labels tell whose an incident is only as long as all events were read."""
    assert not holds(site, with_event(1))

    site.wire.meddlers.clear()
    listed: Json = {"incidents": [with_event(1)], "pagination": {}}
    site.meddle("POST", INCIDENTS, answer_with(200, listed))
    pages: list[Json] = [
        {"items": [], "pagination": {"nextPageToken": f"page {number}"}} for number in range(21)
    ]
    site.meddle("GET", EVENTS, *[answer_with(200, page) for page in pages])
    assert [violation.code for violation in frozen(site, MATCHING).guarded] == [FROZEN]
    assert site.count("GET", EVENTS) == 20


@pytest.mark.parametrize(
    ("ahead", "is_closed"),
    [(timedelta(minutes=5), True), (timedelta(minutes=5, seconds=1), False), (-timedelta(1), True)],
)
def test_closed_in_the_future(site: Site, ahead: timedelta, *, is_closed: bool) -> None:
    """A closure up to five minutes ahead counts, as clocks differ; one further ahead is none."""
    incidents(site, {**OPEN, "closedAt": (NOW + ahead).isoformat()})

    made = frozen(site, {"incidents": {}})

    assert [violation.code for violation in made.guarded] == [FROZEN] * (not is_closed)
