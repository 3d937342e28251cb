"""When a plan is frozen: in windows, while incidents are open, and where nobody can tell."""

from __future__ import annotations

from typing import Any

import pytest
from freezes import EVENTS, INCIDENTS, OPEN, dated, frozen, incidents, window
from harness.sites import (
    ALERT_ID,
    ALERT_SPEC,
    SLO_SPEC,
    Meddler,
    Site,
    answer_with,
    manifest,
    policy,
    policy_set,
    unreachable,
)
from markdown_it import MarkdownIt

from reconciler.ci.forge import Marker
from reconciler.ci.result import Origin, plan_comment
from reconciler.document import Json
from reconciler.features.freeze import freeze_guard
from reconciler.model import (
    FROZEN,
    GUARDS,
    NOT_APPROVED,
    ClockUnchecked,
    FreezeUnknown,
    GuardViolation,
    Manifest,
)
from reconciler.planning.guards import Agreed, unmet
from reconciler.report.html import plan_html
from reconciler.report.plan.formats import plan_text
from reconciler.report.table import Style


def test_beside_windows(site: Site) -> None:
    """Outside of windows, or with nothing to write, nothing is frozen and nothing is asked."""
    declared = manifest("SLO/checkout", SLO_SPEC)
    asked = {"windows": [window("0 12 * * *", "30m")]}
    always = {"windows": [window("* * * * *", "1h")], "incidents": {}}

    assert frozen(site, asked, declared).guarded == ()
    site.apply(declared)
    assert frozen(site, always, declared).guarded == ()
    assert INCIDENTS not in [one.path for one in site.sent]


@pytest.mark.parametrize(
    ("incident", "severities", "holds"),
    [
        ({}, ["critical"], True),
        ({}, ["INCIDENT_SEVERITY_CRITICAL"], True),
        ({}, [], True),
        ({}, ["error", "low"], False),
        ({"severity": ""}, ["critical"], True),
        ({"severity": "INCIDENT_SEVERITY_FATAL"}, ["critical"], True),
        ({"isMuted": True, "status": "INCIDENT_STATUS_ACKNOWLEDGED"}, ["critical"], True),
        ({"closedAt": "2026-11-22T12:00:00Z"}, ["critical"], False),
        ({"closedAt": "0001-01-01T00:00:00Z"}, ["critical"], True),
        ({"closedAt": "1970-12-31T23:59:59Z"}, ["critical"], True),
        ({"closedAt": "1971-01-01T00:00:00Z"}, ["critical"], False),
        ({"closedAt": "soon"}, ["critical"], True),
        ({"closedAt": None}, ["critical"], True),
    ],
)
def test_open_incidents(
    site: Site, incident: dict[str, Json], severities: list[str], *, holds: bool
) -> None:
    """An incident of the severities freezes until it says for sure when it was closed."""
    incidents(site, {**OPEN, **incident})

    made = frozen(site, {"incidents": {"severities": severities}})

    assert [violation.code for violation in made.guarded] == [FROZEN] * holds
    assert all("`Payments are slow`" in violation.message for violation in made.guarded)


LABELLED: dict[str, Json] = {
    "contextualLabels": {"applicationName": "shop", "subsystemName": "cart"}
}
SHOP: dict[str, Json] = {"applicationRule": {"name": "Shop", "ruleTypeId": "RULE_TYPE_ID_IS"}}
PAY: dict[str, Json] = {"applicationRule": {"name": "pay", "ruleTypeId": "RULE_TYPE_ID_START_WITH"}}
NOT_SHOP: dict[str, Json] = {
    "applicationRule": {"name": "shop,web", "ruleTypeId": "RULE_TYPE_ID_IS_NOT"}
}


def with_policy(**fields: Json) -> Manifest:
    """Give a list of one policy."""
    item: Any = policy("errors")
    return policy_set({**item, "policy": {**item["policy"], **fields}})


def alert(**fields: Json) -> Manifest:
    """Give an alert."""
    return manifest("AlertDefinition/errors", {**ALERT_SPEC, **fields}, ALERT_ID)


MATCHES: list[tuple[dict[str, Json], Json, Manifest, bool]] = [
    ({"name": "errors "}, None, alert(), True),
    ({"name": "Something"}, {"alertId": ALERT_ID.upper()}, alert(), True),
    ({"name": "Something"}, {"alertName": "errors"}, alert(), True),
    ({"name": "Something"}, {"alertId": "other"}, alert(), False),
    # Of a name alone nobody knows whose it is.
    ({"name": "Something"}, None, alert(), True),
    ({"name": "Something", **LABELLED}, None, alert(), False),
    ({"displayLabels": {"Team": "Pay"}}, None, alert(entityLabels={"team": "pay"}), True),
    ({"metaLabels": [{"key": "team", "value": "pay"}]}, None, alert(), False),
    (
        {},
        {"alertLabels": [{"key": "team", "value": "pay"}]},
        alert(entityLabels={"team": "pay"}),
        True,
    ),
    (LABELLED, None, with_policy(), True),
    (LABELLED, None, with_policy(**SHOP), True),
    (LABELLED, None, with_policy(**PAY), False),
    (LABELLED, None, with_policy(**NOT_SHOP), False),
    (LABELLED, None, alert(entityLabels={"cx.application.name": "shop"}), True),
    (
        LABELLED,
        None,
        with_policy(subsystemRule={"name": "web", "ruleTypeId": "RULE_TYPE_ID_IS"}),
        False,
    ),
    ({"name": ""}, None, alert(), True),
]


@pytest.mark.parametrize(("incident", "event", "declared", "holds"), MATCHES)
def test_matching_incidents(
    site: Site, incident: dict[str, Json], event: Json, declared: Manifest, *, holds: bool
) -> None:
    """With scope matching, an incident freezes what has its name, alert, label or application.

    One that tells none of these freezes everything.
    """
    told: Json = {"incidentEvent": {"id": "e1"}, "incidentEventExtendedMetadata": event}
    incidents(site, {**OPEN, **incident}, events=(told,) if event else ())

    made = frozen(site, {"incidents": {"scope": "matching"}}, declared)

    assert [violation.code for violation in made.guarded] == [FROZEN] * holds


@pytest.mark.parametrize(
    ("incident", "event", "declared", "why"),
    [
        ({"name": "errors"}, None, alert(), "`AlertDefinition/errors` has the name `errors` too"),
        ({}, {"alertId": ALERT_ID}, alert(), "raised by `AlertDefinition/errors`"),
        (
            {"displayLabels": {"Team": "Pay"}},
            None,
            alert(entityLabels={"team": "pay"}),
            "`AlertDefinition/errors` has the label `team: pay` too",
        ),
        (LABELLED, None, with_policy(**SHOP), "`LogPolicySet/all` takes logs of `shop/cart`"),
        ({"name": ""}, None, alert(), "it has neither a name, nor a label, nor an alert"),
    ],
)
def test_why_it_matches(
    site: Site, incident: dict[str, Json], event: Json, declared: Manifest, why: str
) -> None:
    """What an incident and the change have in common is said beside the incident's name."""
    told: Json = {"incidentEvent": {"id": "e1"}, "incidentEventExtendedMetadata": event}
    incidents(site, {**OPEN, **incident}, events=(told,) if event else ())

    (found,) = frozen(site, {"incidents": {"scope": "matching"}}, declared).guarded

    assert f"(critical, {why})" in found.message


def test_one_id_twice(site: Site) -> None:
    """An incident that is told twice, once by what matches and once not, freezes all the same."""
    stranger = {**OPEN, "name": "Something", **LABELLED}
    mine = {**OPEN, "name": "errors"}
    for told in ((mine, stranger), (stranger, mine)):
        incidents(site, *told)
        made = frozen(site, {"incidents": {"scope": "matching"}}, alert())

        assert [violation.code for violation in made.guarded] == [FROZEN]


def test_only_policies_that_change(site: Site) -> None:
    """Of a list of policies only what changes is held against an incident, and all if it moves."""
    shop: Any = policy("shop")
    other: Any = policy("other")
    shop["policy"].update(SHOP)
    other["policy"].update(PAY)
    site.apply(policy_set(shop, other))
    edited = {**other, "policy": {**other["policy"], "description": "new"}}
    asked = {"incidents": {"scope": "matching"}}
    for _ in range(2):
        incidents(site, {**OPEN, **LABELLED})

    assert frozen(site, asked, policy_set(shop, edited)).guarded == ()
    assert [
        violation.code for violation in frozen(site, asked, policy_set(other, shop)).guarded
    ] == [FROZEN]


def page(token: str = "", total: int | None = None, *listed: Json) -> Json:
    """Give a page of the listing of incidents."""
    pagination: dict[str, Json] = {"nextPageToken": token} if token else {}
    if total is not None:
        pagination["totalSize"] = total
    return {"incidents": list(listed), "pagination": pagination}


CLOSED: Json = {**OPEN, "closedAt": "2026-11-22T12:00:00Z"}
UNKNOWN: dict[str, list[Meddler]] = {
    "forbidden": [answer_with(403, {"message": "no"})],
    "refused key": [answer_with(401, {"message": "no"})],
    "bad request": [answer_with(400, {"message": "no"})],
    "no route": [answer_with(404, {"message": "Not Found: Not Found"})],
    "not there": [answer_with(404, {"message": "Not Found: incidents"})],
    "not implemented": [answer_with(501, {})],
    "server error": [answer_with(500, {})] * 9,
    "limited": [answer_with(429, {})] * 9,
    "unreachable": [unreachable] * 9,
    "no object": [answer_with(200, [])] * 9,
    "empty": [answer_with(200, {})],
    "no list": [answer_with(200, {"pagination": {}})],
    "no pagination": [answer_with(200, {"incidents": []})],
    "null list": [answer_with(200, {"incidents": None, "pagination": {}})],
    "no record": [answer_with(200, page("", None, "text"))],
    "no id": [answer_with(200, page("", None, {"name": "x"}))],
    "odd label": [answer_with(200, page("", None, {**OPEN, "contextualLabels": [1]}))],
    "odd token": [answer_with(200, {"incidents": [], "pagination": {"nextPageToken": 7}})],
    "token twice": [answer_with(200, page("again"))] * 2,
    "cut page": [answer_with(200, page("", 3, CLOSED))],
    "cut pages": [answer_with(200, page("more", 3, CLOSED)), answer_with(200, page("", 3, CLOSED))],
    "page twice": [
        answer_with(200, page("b", 2, CLOSED)),
        answer_with(200, page("", None, CLOSED)),
    ],
    "total as half": [answer_with(200, {"incidents": [], "pagination": {"totalSize": 3.5}})],
    "total beside": [answer_with(200, {"incidents": [], "pagination": {}, "totalSize": 3})],
    "token beside": [answer_with(200, {"incidents": [], "pagination": {}, "nextPageToken": "x"})],
    "other spelling": [
        answer_with(200, {"incidents": [], "pagination": {"next_page_token": "x"}}),
    ],
    "total as text": [answer_with(200, {"incidents": [], "pagination": {"totalSize": "12"}})],
    "page that fails": [answer_with(200, page("more")), answer_with(403, {"message": "no"})],
    "too many pages": [answer_with(200, page(f"page {n}", None, CLOSED)) for n in range(4)],
}


@pytest.mark.parametrize("case", UNKNOWN)
def test_unknown_incidents(site: Site, case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What keeps open incidents from being known freezes, or is said where that is allowed."""
    monkeypatch.setattr(freeze_guard, "MOST_PAGES", 3)
    asked: dict[str, Any] = {"incidents": {"severities": ["critical"]}}

    site.meddle("POST", INCIDENTS, *UNKNOWN[case])
    refused = frozen(site, asked)
    site.wire.meddlers.clear()
    site.meddle("POST", INCIDENTS, *UNKNOWN[case])
    allowed = frozen(site, {**asked, "onUnknown": "allow"})

    assert [violation.code for violation in refused.guarded] == [FROZEN]
    assert "unknown whether" in refused.guarded[0].message
    assert allowed.guarded == ()
    assert [type(remark) for remark in allowed.remarks] == [FreezeUnknown]


EVENT_CASES: dict[str, list[Meddler]] = {
    "forbidden": [answer_with(403, {"message": "no"})],
    "no list": [answer_with(200, {})],
    "none": [answer_with(200, {"items": [], "pagination": {}})],
    "of others": [answer_with(200, {"items": [{"incidentEvent": {"id": "e9"}}]})],
    "of nobody": [answer_with(200, {"items": [{"incidentEvent": {"id": "e1"}}]})],
    "token twice": [answer_with(200, {"items": [], "pagination": {"nextPageToken": "again"}})] * 2,
    "cut": [answer_with(200, {"items": [], "pagination": {"totalSize": 4}})],
    "too many pages": [
        answer_with(200, {"items": [], "pagination": {"nextPageToken": f"{n}"}}) for n in range(4)
    ],
}


@pytest.mark.parametrize("case", EVENT_CASES)
def test_unknown_events(site: Site, case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What keeps the alert of an open incident from being known freezes what may be matched."""
    monkeypatch.setattr(freeze_guard, "MOST_EVENT_PAGES", 3)
    site.meddle("POST", INCIDENTS, answer_with(200, page("", None, OPEN)))
    site.meddle("GET", EVENTS, *EVENT_CASES[case])

    made = frozen(site, {"incidents": {"scope": "matching"}})

    assert [violation.code for violation in made.guarded] == [FROZEN]
    assert "unknown whether" in made.guarded[0].message


@pytest.mark.parametrize(
    ("minutes", "doubtful"),
    [(0, False), (5, False), (-5, False), (6, True), (-6, True), (-300, True)],
)
def test_other_clock(site: Site, minutes: int, *, doubtful: bool) -> None:
    """A service whose clock is five minutes off ours leaves nobody sure of windows."""
    site.meddle("POST", INCIDENTS, dated(minutes))
    asked = {"windows": [window("0 1 * * *", "5m")], "incidents": {}}

    made = frozen(site, asked)

    assert [violation.code for violation in made.guarded] == [FROZEN] * doubtful


@pytest.mark.parametrize(
    ("told", "same_clock", "remarked"),
    [(False, False, True), (True, False, False), (False, True, False)],
)
def test_no_clock(site: Site, *, told: bool, same_clock: bool, remarked: bool) -> None:
    """That nothing checked the clock by which no window holds is said, and refuses nothing."""
    if told:
        site.meddle("POST", INCIDENTS, dated(0))
    asked = {"windows": [window("0 1 * * *", "5m")], "incidents": {}}

    made = frozen(site, asked, same_clock=same_clock)

    assert made.guarded == ()
    assert [type(remark) for remark in made.remarks] == [ClockUnchecked] * remarked


def test_what_lifts_it() -> None:
    """Only breaking the glass lifts a freeze, and it lifts nothing else."""
    every = [GuardViolation(said="x", remedies=(), code=code) for code in GUARDS]
    all_else = Agreed(flags={"allow-destroy", "new-journal"}, override=True, reviewed=True)

    assert [violation.code for violation in unmet(every, all_else)] == [FROZEN, NOT_APPROVED]
    left = [violation.code for violation in unmet(every, Agreed(flags={"break-glass"}))]
    assert left == [code for code in GUARDS if code != FROZEN]


HOSTILE = "\x1b[2J@team ::error::<img src=x> [a](http://b) `x` \u202e|\n## head " + "y" * 9_000


def test_hostile_names(site: Site) -> None:
    """The name of an incident reaches a terminal, a comment and an error as nothing but text."""
    incidents(site, {**OPEN, "name": HOSTILE})

    made = frozen(site, {"incidents": {}})

    (objection,) = made.guarded
    comment = plan_comment(made, Marker(environment="local", root="all"), Origin())
    page = plan_html(made)
    for text in (plan_text(made, Style()), comment, page):
        assert not {"\x1b", "\u202e"} & set(text)
        assert "y" * 100 not in text
    assert "<img src=x>" not in page
    rendered = MarkdownIt("commonmark", {"html": True}).render(comment)
    assert "<img" not in rendered
    assert "<h2>head" not in rendered
    assert "y" * 100 not in objection.message
