"""What a write may hold: of a policy a list of fields, of the rest all but what only is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from harness.routes import BY_SLUG, DASHBOARDS, OVERWRITE, POLICIES, SLOS
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
    outcomes,
    paths,
    policy,
    policy_set,
)

from reconciler.document import Json
from reconciler.emulator import Profile, create_app
from reconciler.kinds import KINDS
from reconciler.kinds.log_policy_set import LogPolicySetSpec
from reconciler.kinds.shape import Facts, facts_of, only_writable, without_read_only
from reconciler.model import Manifest, Seen

A, B = policy("a"), policy("b", "INFO")
WATCHED = ("logRules", "severities")
WHOLE = (
    manifest("SLO/checkout", {**SLO_SPEC, "labels": {"team": "a"}}),
    manifest("AlertDefinition/errors", ALERT_SPEC, ALERT_ID),
    dashboard(description="d"),
    policy_set(policy("a", applicationRule={"name": "x", "ruleTypeId": "RULE_TYPE_ID_IS"}), B),
    manifest("SavedView/errors", VIEW_SPEC),
)
EDITED = (
    manifest("SLO/checkout", {**SLO_SPEC, "targetThresholdPercentage": 98}),
    manifest("AlertDefinition/errors", {**ALERT_SPEC, "name": "More"}, ALERT_ID),
    dashboard(description="e"),
    policy_set(policy("a", "INFO", "ERROR"), policy("c"), B),
    manifest("SavedView/errors", {**VIEW_SPEC, "name": "More"}),
)


def returning(root: Path, **switches: Any) -> Site:
    """Give a service that returns severities."""
    profile = Profile(policy_severities="returned", **switches)
    return Site(root, create_app(alert_ids=[ALERT_ID], profile=profile))


def overwrite(site: Site, *policies: dict[str, Json]) -> None:
    """Put in a list as someone else does."""
    site.outside("POST", OVERWRITE, {"policies": list(policies)})


def listed(site: Site, **more: Json) -> list[dict[str, Any]]:
    """Give the stored policies, each with more fields."""
    return [{**value, **more} for value in site.outside("GET", POLICIES)["policies"]]


@pytest.mark.promise("P21")
@pytest.mark.parametrize("severities", ["hidden", "returned"])
def test_strict_service(tmp_path: Path, severities: Any) -> None:
    """A service that refuses every field which may not be written takes each write."""
    profile = Profile(
        policy_severities=severities, unknown_fields="refused", read_only_fields="refused"
    )
    site = Site(tmp_path, create_app(alert_ids=[ALERT_ID], profile=profile))

    for declared in (WHOLE, EDITED, WHOLE):
        assert set(outcomes(site.apply(*declared)).values()) == {"written"}
        assert_settled(site, *declared)


@pytest.mark.promise("P21")
def test_severities_changed_by_others(tmp_path: Path) -> None:
    """Severities that come back are read: what others made of them is one field."""
    site = returning(tmp_path)
    site.apply(policy_set(A, B))
    overwrite(site, policy("a", "DEBUG"), B)

    change = site.change(policy_set(A, B))

    (found,) = change.differences
    assert found.path == ("policies", "a", *WATCHED)
    assert (found.before, found.after) == (["SEVERITY_DEBUG"], ["SEVERITY_ERROR"])
    assert isinstance(change.observation, Seen)
    assert change.observation.recalled == ()
    site.apply(policy_set(A, B))
    assert_settled(site, policy_set(A, B))


@pytest.mark.promise("P21")
def test_equal_list(tmp_path: Path) -> None:
    """A list that is live as declared, severities too, is adopted without a write."""
    site = returning(tmp_path)
    overwrite(site, A, B)

    assert_settled(site, policy_set(A, B))


@pytest.mark.promise("P21")
@pytest.mark.parametrize("told", [{}, {"logRules": {}}, {"logRules": {"severities": None}}])
def test_some_severities(site: Site, told: dict[str, Json]) -> None:
    """Of policies of which some return severities and some do not, only the latter are recalled."""
    site.apply(policy_set(A, B))
    a, b = sorted(listed(site), key=lambda one: one["order"])
    answer: Json = {"policies": [{**a, "logRules": {"severities": ["SEVERITY_DEBUG"]}}, b | told]}
    site.meddle("GET", POLICIES, answer_with(200, answer))

    change = site.change(policy_set(A, B))

    assert paths(change) == [("policies", "a", *WATCHED)]
    assert isinstance(change.observation, Seen)
    assert change.observation.recalled == (("policies", "b", *WATCHED),)


@pytest.mark.promise("P21")
def test_fields_of_a_stored_policy(site: Site) -> None:
    """What a stored policy holds and may not be written makes no difference, and is never sent."""
    site.apply(policy_set(A, B))
    more: dict[str, Json] = {"teamId": 7, "logRules": {"severities": ["SEVERITY_ERROR"], "x": 1}}
    records = [
        {**value, "applicationRule": {"name": "x", "ruleTypeId": "RULE_TYPE_ID_IS", "regex": "x"}}
        for value in listed(site, **more)
    ]
    site.meddle("GET", POLICIES, *[answer_with(200, {"policies": [*records]})] * 2)
    declared = policy_set(policy("a", priority="PRIORITY_TYPE_LOW"), B)

    site.apply(declared)

    (sent,) = [write.body for write in site.writes[1:]]
    allowed = {"name", "description", "priority", "disabled", "applicationRule"}
    assert {key for item in sent["policies"] for key in item["policy"]} == allowed
    assert {key for item in sent["policies"] for key in item["logRules"]} == {"severities"}
    rules = [item["policy"]["applicationRule"] for item in sent["policies"]]
    assert rules == [{"name": "x", "ruleTypeId": "RULE_TYPE_ID_IS"}] * 2


@pytest.mark.promise("P21")
def test_declared_field_that_nobody_knows(site: Site) -> None:
    """A policy's field that only a manifest knows is sent, compared and taken away as others."""
    declared = policy_set(policy("a", somethingNew={"x": 1}), B)
    site.apply(declared)
    assert_settled(site, declared)

    change = site.change(policy_set(A, B))
    site.apply(policy_set(A, B))

    assert paths(change) == [("policies", "a", "policy", "somethingNew")]
    assert "somethingNew" not in site.writes[-1].body["policies"][0]["policy"]
    assert_settled(site, policy_set(A, B))


@pytest.mark.promise("P21")
def test_declared_field_that_is_there(site: Site) -> None:
    """What a manifest declares beside the known fields is seen where it stands live already."""
    declared = policy_set(policy("a", somethingNew={"x": 1}), B)
    overwrite(site, policy("a", somethingNew={"x": 1}), B)

    assert {path[-1] for path in paths(site.change(declared))} == {"logRules"}


def read_only_places(facts: Facts, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Give the places of a model that only the service sets; items of lists stand at `*`."""
    if facts.items is not None:
        return read_only_places(facts.items, (*path, "*"))
    found: list[tuple[str, ...]] = []
    for name, inner in facts_of(facts.part).items() if facts.part is not None else ():
        if inner.read_only is not None:
            found.append((*path, name))
        found.extend(read_only_places(inner, (*path, name)))
    return found


def with_value(path: tuple[str, ...]) -> Json:
    """Give a document that holds something at one place, and something beside it."""
    if not path:
        return "theirs"
    inner = with_value(path[1:])
    return [inner] if path[0] == "*" else {path[0]: inner, "notInTheModel": 1}


READ_ONLY = [
    (kind.name, path) for kind in KINDS for path in read_only_places(Facts(part=kind.spec))
]


@pytest.mark.promise("P21")
@pytest.mark.parametrize(("name", "path"), READ_ONLY, ids=str)
def test_read_only_places(name: str, path: tuple[str, ...]) -> None:
    """No field that a manifest must not declare is left in a body, however deep it stands."""
    (kind,) = (one for one in KINDS if one.name == name)
    stored = with_value(path)
    assert isinstance(stored, dict)

    for left in (without_read_only(stored, kind.spec), only_writable(stored, kind.spec, [])):
        assert all(object_.get(path[-1]) != "theirs" for object_ in objects_in(left))


def objects_in(document: Json) -> list[dict[str, Json]]:
    """Give all objects of a document."""
    inner = document.values() if isinstance(document, dict) else document
    found = [document] if isinstance(document, dict) else []
    for value in inner if isinstance(inner, list | type({}.values())) else ():
        found.extend(objects_in(value))
    return found


@pytest.mark.promise("P21")
def test_only_writable() -> None:
    """Of policies only listed fields are left, at each depth; of ours what they declare too."""
    item: Json = {"policy": {"name": "a", "x": 1, "applicationRule": {"name": "r", "y": 2}}}
    ours: Json = {"policies": [{"policy": {"applicationRule": {"y": 9}}, "z": 1}]}
    stored: Json = {"policies": [item], "z": 3}

    assert only_writable(stored, LogPolicySetSpec, []) == {
        "policies": [{"policy": {"name": "a", "applicationRule": {"name": "r"}}}]
    }
    assert only_writable(stored, LogPolicySetSpec, [ours]) == {
        "policies": [{"policy": {"name": "a", "applicationRule": {"name": "r", "y": 2}}}]
    }


@pytest.mark.promise("P21")
@pytest.mark.parametrize("declared", [WHOLE[0], WHOLE[2]], ids=["SLO", "Dashboard"])
def test_unknown_live_fields(site: Site, declared: Manifest) -> None:
    """What a live SLO or dashboard holds that nobody here knows is kept by a replace."""
    site.apply(declared)
    if declared.ref.kind == "SLO":
        stored = site.sent[-1].answer["slo"]
        site.outside("PUT", SLOS, {**stored, "layoutColumns": 3})
    else:
        stored = site.outside("GET", f"{BY_SLUG}/checkout")["dashboard"]
        theirs: Json = {"dashboard": {**stored, "layoutColumns": 3}, "requestId": "x"}
        site.outside("PUT", DASHBOARDS, theirs)
    edited = next(one for one in EDITED if one.ref == declared.ref)

    made = site.plan(edited)
    site.apply(plan=made)

    assert actions(made) == {str(edited.ref): "update"}
    body = next(write.body for write in site.writes if write.method == "PUT")
    assert (body if declared.ref.kind == "SLO" else body["dashboard"])["layoutColumns"] == 3
    assert_settled(site, edited)
