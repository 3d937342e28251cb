"""The laws of random worlds can fail: doctored turns break each law, and only that one."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
import worlds
from forks import Ended
from world_deeds import DEEDS, KINDS, PROFILES, WAITING_DEEDS, world
from world_laws import LAWS, Round, Wanted, broken, difference, secrets_are_kept
from world_runs import shorter
from world_service import ALERTS, DASHBOARDS, OVERWRITE, SLOS, VIEWS, Live, Request
from worlds import KEY, WITHOUT

from reconciler.kinds import BY_NAME

SLO = {"name": "s", "targetThresholdPercentage": 99.5}
STORED_SLO = {**SLO, "id": "s1", "description": "theirs"}
BOARD = {"name": "b", "layout": {"sections": []}}
ALERT = {"name": "a", "enabled": True}
POLICY = {"name": "p", "priority": "PRIORITY_TYPE_LOW"}
STORED_POLICY = {**POLICY, "enabled": True, "logRules": {"severities": []}}


def change(ref: str, action: str, remote_id: Any, *paths: list[Any]) -> dict[str, Any]:
    fields = [{"path": path, "operation": "change"} for path in paths]
    rest = {"evidence": "live", "destroys": [], "notes": [], "fields": fields}
    return {"ref": ref, "action": action, "remoteId": remote_id, **rest}


def plan(*changes: dict[str, Any]) -> dict[str, Any]:
    return {"changes": list(changes), "guards": [], "unsettled": []}


def turn() -> Round:
    """Give a turn in which all is well: an update, a create, an overwrite, and two kept."""
    before: Live = {
        "SLO": {"s1": {**STORED_SLO, "targetThresholdPercentage": 90}, "t1": {"name": "theirs"}},
        "AlertDefinition": {"a1": {"id": "a1", "alertDefProperties": ALERT}},
        "Dashboard": {},
        "SavedView": {"7": {"id": 7, "name": "v"}},
        "LogPolicySet": {"all": [{**STORED_POLICY, "name": "q"}]},
    }
    after: Live = {
        **before,
        "SLO": {"s1": STORED_SLO, "t1": {"name": "theirs"}},
        "Dashboard": {"d1": {"dashboard": {**BOARD, "id": "d1"}, "isLocked": False}},
        "LogPolicySet": {"all": [STORED_POLICY]},
    }
    kept = [change("AlertDefinition/a", "keep", "a1"), change("SavedView/v", "keep", 7)]
    overwrite = change("LogPolicySet/all", "update", None, ["policies", "p"])
    overwrite["destroys"] = ["q"]
    item = {"logRules": {"severities": []}, "policy": {**POLICY, "disabled": False}}
    return Round(
        declared=(
            Wanted("SLO/s", SLO),
            Wanted("Dashboard/b", {"dashboard": BOARD}),
            Wanted("AlertDefinition/a", ALERT),
            Wanted("SavedView/v", {"name": "v"}),
            Wanted("LogPolicySet/all", {"policies": [item]}),
        ),
        profile={},
        before=before,
        plan=plan(
            change("SLO/s", "update", "s1", ["targetThresholdPercentage"]),
            change("Dashboard/b", "create", None, ["dashboard"]),
            overwrite,
            *kept,
        ),
        asked_by_plan=[Request("GET", f"{SLOS}/s1", 200, None)],
        applied=Ended(("apply",), 0, "{}", ""),
        asked_by_apply=[
            Request("POST", SLOS + "/validate", 200, {}),
            Request("PUT", SLOS, 200, {"id": "s1", **SLO}),
            Request("POST", DASHBOARDS, 200, {"dashboard": BOARD}),
            Request("POST", OVERWRITE, 200, {"policies": [item]}),
        ],
        after=after,
        again=plan(
            change("SLO/s", "keep", "s1"),
            change("Dashboard/b", "keep", "d1"),
            change("LogPolicySet/all", "keep", None),
            *kept,
        ),
    )


def test_nothing_is_broken_where_all_is_well() -> None:
    """A turn as it should be breaks no law."""
    assert list(broken(turn())) == []


def wrote_in_plan(one: Round) -> None:
    one.asked_by_plan.append(Request("PUT", SLOS, 200, {}))


def edit_unseen(one: Round) -> None:
    one.before["AlertDefinition"]["a1"]["alertDefProperties"] = {"name": "a", "enabled": False}
    one.after["AlertDefinition"] = {"a1": {"id": "a1", "alertDefProperties": ALERT}}


def wrote_what_was_kept(one: Round) -> None:
    body = {"alertDefsToReplace": [{"id": "a1", "alertDefProperties": ALERT}]}
    one.asked_by_apply.append(Request("PUT", ALERTS, 200, body))


def wrote_twice(one: Round) -> None:
    one.asked_by_apply.append(Request("PUT", SLOS, 200, {"id": "s1", **SLO}))


def wrote_of_others(one: Round) -> None:
    one.asked_by_apply.append(Request("PUT", f"{VIEWS}/8", 200, {"name": "theirs"}))


def wrote_nothing(one: Round) -> None:
    one.asked_by_apply[:] = [asked for asked in one.asked_by_apply if asked.path != OVERWRITE]


def not_as_declared(one: Round) -> None:
    one.after["Dashboard"]["d1"]["dashboard"]["name"] = "another"


def changed_of_others(one: Round) -> None:
    one.after["SLO"]["t1"] = {"name": "ours now"}


def lost_a_field(one: Round) -> None:
    one.after["SLO"]["s1"] = SLO


def destroyed_unsaid(one: Round) -> None:
    for said in one.plan["changes"]:
        said["destroys"] = []


def made_twice(one: Round) -> None:
    one.after["Dashboard"]["d2"] = one.after["Dashboard"]["d1"]


def one_for_two(one: Round) -> None:
    one.plan["changes"].append(change("SavedView/w", "keep", 7))
    one.again["changes"].append(change("SavedView/w", "keep", 7))


def not_settled(one: Round) -> None:
    one.again["changes"][0]["action"] = "update"


def guard_left(one: Round) -> None:
    one.again["guards"] = [{"code": "protected"}]


@pytest.mark.parametrize(
    ("deed", "law"),
    [
        (wrote_in_plan, "plans_write_nothing"),
        (edit_unseen, "live_edits_are_seen"),
        (wrote_what_was_kept, "writes_are_said"),
        (wrote_twice, "writes_are_said"),
        (wrote_of_others, "writes_are_said"),
        (wrote_nothing, "writes_are_said"),
        (not_as_declared, "declared_is_live"),
        (changed_of_others, "others_are_left_alone"),
        (lost_a_field, "others_are_left_alone"),
        (destroyed_unsaid, "others_are_left_alone"),
        (made_twice, "nothing_is_doubled"),
        (one_for_two, "nothing_is_doubled"),
        (not_settled, "settles"),
        (guard_left, "settles"),
    ],
)
def test_each_law_can_fail(deed: Callable[[Round], None], law: str) -> None:
    """Evidence of one fault breaks the law that is about it, and no other."""
    doctored = copy.deepcopy(turn())
    deed(doctored)

    assert {name for name, _ in broken(doctored)} == {law}


def test_every_law_is_tried() -> None:
    """No law is without evidence that breaks it."""
    marks = [mark for mark in test_each_law_can_fail.pytestmark if mark.name == "parametrize"]  # type: ignore[attr-defined]  # pytest adds it

    assert {law for _, law in marks[0].args[1]} == {law.__name__ for law in LAWS}


@pytest.mark.parametrize(
    "ended",
    [
        Ended(("plan",), 0, f"the key is {KEY}", ""),
        Ended(("plan",), 1, "", "internal error"),
        Ended(("plan",), 9, "", "Traceback (most recent call last)"),
    ],
)
def test_bugs_and_secrets_are_found(ended: Ended) -> None:
    """A key in an output, exit 1 and a traceback are told."""
    assert list(secrets_are_kept(ended))


@pytest.mark.parametrize(
    ("held", "wanted", "same"),
    [
        ({"a": 1.0}, {"a": 1}, True),
        ({"a": 1}, {"a": True}, False),
        ({}, {"a": 0}, True),
        ({}, {"a": {}}, False),
        ({"a": {"b": 1}}, {"a": {}}, True),
        ({"a": [1, 2]}, {"a": [2, 1]}, False),
        ({"groupByKeys": ["a", "b"]}, {"groupByKeys": ["b", "a"]}, True),
        ({"a": ["x"]}, {"a": ["x", "y"]}, False),
        ({"a": "1"}, {"a": 1}, False),
        ({"a": None}, {"a": None}, True),
    ],
)
def test_difference(held: Any, wanted: Any, same: bool) -> None:
    """Zero values may be left out, numbers are equal by value, and sets have no order."""
    assert (difference(held, wanted) == "") == same


def test_worlds_repeat() -> None:
    """A number gives the same world again, and among some there is every deed and every kind."""
    some = [world(number) for number in range(300)]

    assert some == [world(number) for number in range(300)]
    deeds = [deed for one in some for step in one.steps for deed in step]
    assert {deed.what for deed in deeds} == set(DEEDS)
    assert {deed.kind for deed in deeds if deed.what == "declare"} == set(KINDS)
    assert {json.dumps(one.profile) for one in some} == {json.dumps(value) for value in PROFILES}


def test_shorter_worlds() -> None:
    """What a world is cut to is less of the same, one thing at a time."""
    whole = world(5)

    sizes = {sum(map(len, one.steps)) + len(one.profile) + len(one.steps) for one in shorter(whole)}

    assert max(sizes) < sum(map(len, whole.steps)) + len(whole.profile) + len(whole.steps)


def test_what_waits_says_why() -> None:
    """Whatever is left out of worlds has its reason."""
    assert all(WAITING_DEEDS.values())


def test_every_kind_lives_through_accidents() -> None:
    """Campaigns write resources of each kind there is, but for those that are left out by name."""
    drawn = {
        declared.ref.partition("/")[0]
        for number in range(20)
        for declared in worlds.world(number).versions[-1]
    }

    assert not (drawn | {*KINDS}) & {*WITHOUT}
    assert drawn | {*WITHOUT} == {*KINDS, *WITHOUT} == {*BY_NAME}
