"""How much of a kind one apply may change, at the limit and one beyond it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from harness.sites import ALERT_SPEC, VIEW_SPEC, Site, dashboard, manifest, policy, policy_set
from hypothesis import given
from hypothesis import strategies as st

from reconciler.document import Difference, Json
from reconciler.emulator import create_app
from reconciler.model import (
    Absent,
    Action,
    Change,
    Evidence,
    Manifest,
    Observation,
    Plan,
    Ref,
    Remembered,
    Seen,
    Source,
    Unknown,
)
from reconciler.planning.guards import Agreed, guards_of_part, objections, unmet
from reconciler.planning.guards.plan_limits import exceeded_limits, reviewing
from reconciler.project import Guards


def change(number: int, action: Action, observation: Observation) -> Change:
    """Give a change of one dashboard."""
    one = Manifest(Ref("Dashboard", f"b{number}"), {}, Source("a.yaml", 1))
    return Change(
        ref=one.ref,
        manifest=one,
        action=action,
        evidence=Evidence.LIVE,
        observation=observation,
        declared={},
        body={},
    )


def objects_to(*changes: Change, override: bool = False, **settings: Any) -> int:
    """Count what the limits say of a plan."""
    plan = Plan(environment="local", target="emulator", digest="", changes=changes)
    found = objections(plan, Guards.model_validate(settings))
    return len(unmet(found, Agreed(override=override)))


SEEN = Seen("id", {})


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 100), st.integers(0, 20))
def test_share(updated: int, kept: int, percent: int, minimum: int) -> None:
    """The guard objects to more than its share of the known, once enough of them are known."""
    changes = [change(n, Action.UPDATE, SEEN) for n in range(updated)]
    changes += [change(100 + n, Action.KEEP, SEEN) for n in range(kept)]
    known = updated + kept

    too_many = known >= minimum and updated > known * percent / 100

    settings: dict[str, Any] = {"maxChangePercent": percent, "minimum": minimum}
    assert objects_to(*changes, **settings) == int(too_many)
    assert objects_to(*changes, override=True, **settings) == 0


@pytest.mark.parametrize(
    ("action", "observation"),
    [
        (Action.CREATE, Absent()),
        (Action.CREATE, Unknown(None, "")),
        (Action.ASSERT, Unknown("id", "")),
        (Action.BLOCKED, SEEN),
        (Action.KEEP, SEEN),
    ],
)
def test_uncounted(action: Action, observation: Observation) -> None:
    """Creates, asserts and what is not written do not count as changes."""
    assert objects_to(*(change(n, action, observation) for n in range(50))) == 0


def test_remembered() -> None:
    """What only the journal knows counts too."""
    changes = (change(n, Action.UPDATE, Remembered("id", {})) for n in range(10))

    assert objects_to(*changes) == 1


@pytest.mark.parametrize(("edits", "objects"), [(3, 0), (4, 1)])
def test_members(tmp_path: Path, edits: int, objects: int) -> None:
    """Where one write covers many policies, the policies count; adding one does not."""
    site = Site(tmp_path)
    names = [f"p{number}" for number in range(10)]
    site.apply(policy_set(*map(policy, names)))
    edited = [policy(name, disabled=index < edits) for index, name in enumerate(names)]

    made = site.plan(policy_set(*edited, policy("new"), policy("newer")))

    found = objections(made, Guards())
    assert len(found) == objects
    assert all("LogPolicySet members" in violation.message for violation in found)


def test_kinds_apart(tmp_path: Path) -> None:
    """The share is one of each kind: many quiet views do not excuse many changed dashboards."""
    site = Site(tmp_path)
    views = [manifest(f"SavedView/v{number}", VIEW_SPEC) for number in range(30)]
    boards = [dashboard(f"b{number}") for number in range(10)]
    site.apply(*views, *boards)

    changed = [dashboard(board.ref.name, description="x") for board in boards]
    found = objections(site.plan(*views, *changed), Guards())

    assert [violation.message.split(" ")[:5] for violation in found] == [
        ["10", "of", "10", "known", "Dashboard"]
    ]


def alert_id(number: int) -> str:
    """Give one of many ids."""
    return f"2f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4{number:03x}"


def alerts(edited: int, **fields: Json) -> list[Manifest]:
    """Give ten alerts, the first of them edited."""
    return [
        manifest(
            f"AlertDefinition/a{number}",
            {**ALERT_SPEC, **(fields if number < edited else {})},
            alert_id(number),
        )
        for number in range(10)
    ]


WAYS: list[tuple[dict[str, Json], str]] = [
    ({"name": "Other"}, "updated"),
    ({"enabled": False}, "disabled"),
    ({"phantomMode": True}, "set to phantom"),
    ({"priority": "ALERT_DEF_PRIORITY_P4"}, "lowered in priority"),
]


@pytest.mark.parametrize(("fields", "word"), WAYS, ids=[word for _, word in WAYS])
def test_ways_of_losing_an_alert(tmp_path: Path, fields: dict[str, Json], word: str) -> None:
    """Three of ten known alerts may be changed, in whatever way; a fourth is refused, by its word.

    The journal is all that is known of them.
    """
    site = Site(tmp_path, create_app(alert_ids=map(alert_id, range(10))))
    site.apply(*alerts(0))

    at_limit = objections(site.plan(*alerts(3, **fields)), Guards())
    (beyond,) = objections(site.plan(*alerts(4, **fields)), Guards())

    assert at_limit == ()
    assert beyond.code == "too-many-changes"
    assert f" (40 %): 4 {word}; " in beyond.message
    assert beyond.remedies == (
        reviewing(),
        "split the change, so that at most 3 change at once",
        "in an earlier merge, set `guards: {maxChangePercent: N}` of `local` in reconciler.yaml",
        "apply with `--override-guard too-many-changes=REASON`, which the journal keeps",
    )


@pytest.mark.parametrize(("gone", "objects"), [(3, 0), (4, 1)])
def test_destroyed_members(tmp_path: Path, gone: int, objects: int) -> None:
    """Destroyed policies count among the changed ones, whoever consents to destroying them."""
    site = Site(tmp_path)
    names = [f"p{number}" for number in range(10)]
    site.apply(policy_set(*map(policy, names)))

    made = site.plan(policy_set(*map(policy, names[gone:])))

    found = unmet(objections(made, Guards()), Agreed(flags={"allow-destroy"}, override=False))
    assert [violation.code for violation in found] == ["too-many-changes"] * objects
    assert all(f"{gone} destroyed" in violation.message for violation in found)


@given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 5), st.integers(0, 20))
def test_number(updated: int, kept: int, most: int, minimum: int) -> None:
    """`maxChanges` holds however few are known, beside the share."""
    changes = [change(n, Action.UPDATE, SEEN) for n in range(updated)]
    changes += [change(100 + n, Action.KEEP, SEEN) for n in range(kept)]

    by_share = updated + kept >= minimum and updated * 100 > (updated + kept) * 30

    found = objects_to(*changes, maxChanges=most, minimum=minimum)
    assert found == int(updated > most or by_share)


def test_one_kind() -> None:
    """A kind's own limits go before those of all kinds, as far as they say anything."""
    changes = [change(n, Action.UPDATE if n < 5 else Action.KEEP, SEEN) for n in range(10)]

    assert objects_to(*changes, kinds={"Dashboard": {"maxChangePercent": 50}}) == 0
    assert objects_to(*changes, kinds={"Dashboard": {"minimum": 11}}) == 0
    assert objects_to(*changes, kinds={"Dashboard": {"maxChanges": 9}}) == 1
    assert objects_to(*changes, kinds={"SLO": {"maxChangePercent": 50}}) == 1


def test_nothing_known() -> None:
    """Losses where nothing was known to be there are refused in words too."""
    one = Manifest(Ref("LogPolicySet", "all"), {}, Source("a.yaml", 1))
    lost = Change(
        ref=one.ref,
        manifest=one,
        action=Action.UPDATE,
        evidence=Evidence.LIVE,
        observation=Seen(None, {}),
        declared={},
        body={},
        destroys=("debug", "info"),
    )
    found = exceeded_limits(
        Plan(environment="local", target="emulator", digest="", changes=(lost,)), Guards()
    )

    assert [violation.message.partition(":")[0] for violation in found] == [
        "2 of 0 known LogPolicySet members would change"
    ]


def lost_of(name: str, observation: Observation, *destroys: str) -> Change:
    """Give a list of policies that loses some, and changes another."""
    return Change(
        ref=Ref("LogPolicySet", name),
        manifest=Manifest(Ref("LogPolicySet", name), {}, Source("a.yaml", 1)),
        action=Action.UPDATE,
        evidence=Evidence.LIVE,
        observation=observation,
        declared={},
        body={},
        differences=tuple(
            Difference(("policies", destroy), 1, 2, "change") for destroy in (*destroys, "kept")
        ),
        destroys=destroys,
    )


def test_members_of_several_lists() -> None:
    """The members of lists of one kind count together: those known, lost and changed."""
    live = Seen("id", {"policies": [{}, {}, {}]})
    lists = lost_of("a", live, "x"), lost_of("b", live, "y", "z")

    (found,) = exceeded_limits(
        Plan(environment="local", target="emulator", digest="", changes=lists), Guards(minimum=0)
    )

    assert found.message.startswith("5 of 6 known ")
    assert " (83.33 %): 3 destroyed, 2 updated; " in found.message


def test_members_that_only_the_journal_has() -> None:
    """Members of a list that was not seen are not known, however many the journal remembers."""
    remembered = lost_of("a", Remembered("id", {"policies": [{}, {}, {}]}), "x")

    (found,) = exceeded_limits(
        Plan(environment="local", target="emulator", digest="", changes=(remembered,)), Guards()
    )

    assert found.message.startswith("2 of 0 known ")


@pytest.mark.parametrize("order", [1, -1])
def test_whatever_is_seen_tells_of_others(order: int) -> None:
    """Where the service tells of one dashboard, what is declared beside a part counts."""
    changes = change(1, Action.UPDATE, SEEN), change(2, Action.UPDATE, Remembered("id", {}))
    plan = Plan(
        environment="local",
        target="emulator",
        digest="",
        changes=changes[::order],
        perhaps_beside=beside(3),
    )

    guards = Guards.model_validate({"maxChangePercent": 40, "minimum": 5})

    assert len([*exceeded_limits(plan, guards)]) == 1


def test_one_below_the_minimum() -> None:
    """One resource less than the minimum is no share yet, where nothing was seen."""
    changes = tuple(change(n, Action.UPDATE, Remembered("id", {})) for n in range(4))
    plan = Plan(environment="local", target="emulator", digest="", changes=changes)

    assert [*exceeded_limits(plan, Guards(minimum=5))] == []
    assert len([*exceeded_limits(plan, Guards(minimum=4))]) == 1


def beside(count: int) -> tuple[Ref, ...]:
    """Give dashboards that are declared beside a part, with ids of their own."""
    return tuple(Ref("Dashboard", f"beside{n}") for n in range(count))


@pytest.mark.parametrize(("seen", "objected"), [(SEEN, 1), (Remembered("id", {}), 0)])
def test_a_part_is_no_way_below_the_minimum(seen: Observation, objected: int) -> None:
    """What is declared beside a part counts towards the minimum, where the service tells of it."""
    changes = tuple(change(n, Action.UPDATE, seen) for n in range(2))
    plan = Plan(
        environment="local", target="emulator", digest="", changes=changes, perhaps_beside=beside(3)
    )

    guards = Guards.model_validate({"maxChangePercent": 40, "minimum": 5})

    assert len([*exceeded_limits(plan, guards)]) == objected
    assert [*exceeded_limits(replace(plan, perhaps_beside=beside(2)), guards)] == []


@given(*[st.integers(0, 10)] * 3)
def test_limits_of_a_part(boards: int, slos: int, views: int) -> None:
    """A part keeps the limit of a kind exactly where its own changes of that kind exceed it."""
    guards = Guards.model_validate({"maxChangePercent": 100, "maxChanges": 4})
    counts = {"SLO": slos, "Dashboard": boards, "SavedView": views}
    changes = {
        kind: [replace(change(n, Action.UPDATE, SEEN), ref=Ref(kind, f"r{n}")) for n in range(10)]
        for kind in counts
    }
    all_changes = tuple(found for of_kind in changes.values() for found in of_kind)
    whole = Plan(environment="local", target="t", digest="", changes=all_changes)
    whole = replace(whole, guarded=tuple(exceeded_limits(whole, guards)))
    some = tuple(found for kind, count in counts.items() for found in changes[kind][:count])

    kept = guards_of_part(whole, replace(whole, changes=some), guards)

    assert len(whole.guarded) == len(counts)
    assert set(kept) <= set(whole.guarded)
    assert {kind for kind in counts for found in kept if f" {kind} " in found.message} == {
        kind for kind, count in counts.items() if count > 4
    }
