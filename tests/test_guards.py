"""What a plan may not do without consent, at the limit and one beyond it (R22, R23)."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sites import VIEW_SPEC, Site, dashboard, manifest, policy, policy_set

from reconciler.guards import objections
from reconciler.project import Guards
from reconciler.resource import (
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


def change(number: int, action: Action, observation: Observation) -> Change:
    """Give a change of one dashboard."""
    one = Manifest(Ref("Dashboard", f"b{number}"), {}, Source("a.yaml", 1))
    return Change(one, action, Evidence.LIVE, observation, {}, {})


def objects_to(
    *changes: Change, percent: int = 30, minimum: int = 10, override: bool = False
) -> int:
    """Count what the guard says of a plan."""
    plan = Plan("local", "emulator", "", changes)
    guards = Guards.model_validate({"maxChangePercent": percent, "minimum": minimum})
    return len(objections(plan, guards, allow_destroy=False, override=override))


SEEN = Seen("id", {})


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 100), st.integers(0, 20))
def test_share(updated: int, kept: int, percent: int, minimum: int) -> None:
    """The guard objects to more than its share of the known, once enough of them are known."""
    changes = [change(n, Action.UPDATE, SEEN) for n in range(updated)]
    changes += [change(100 + n, Action.KEEP, SEEN) for n in range(kept)]
    known = updated + kept

    too_many = known >= minimum and updated > known * percent / 100

    assert objects_to(*changes, percent=percent, minimum=minimum) == int(too_many)
    assert objects_to(*changes, percent=percent, minimum=minimum, override=True) == 0


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
    changes = (change(n, Action.UPDATE, Remembered("id", {}, "")) for n in range(10))

    assert objects_to(*changes) == 1


@pytest.mark.parametrize(("edits", "objects"), [(3, 0), (4, 1)])
def test_members(tmp_path: Path, edits: int, objects: int) -> None:
    """Where one write covers many policies, the policies count; adding one does not."""
    site = Site(tmp_path)
    names = [f"p{number}" for number in range(10)]
    site.apply(policy_set(*map(policy, names)))
    edited = [policy(name, disabled=index < edits) for index, name in enumerate(names)]

    made = site.plan(policy_set(*edited, policy("new"), policy("newer")))

    found = objections(made, Guards(), allow_destroy=False, override=False)
    assert len(found) == objects
    assert all("LogPolicySet" in one.message and "--override-guard" in one.way_out for one in found)


def test_kinds_apart(tmp_path: Path) -> None:
    """The share is one of each kind: many quiet views do not excuse many changed dashboards."""
    site = Site(tmp_path)
    views = [manifest(f"SavedView/v{number}", VIEW_SPEC) for number in range(30)]
    boards = [dashboard(f"b{number}") for number in range(10)]
    site.apply(*views, *boards)

    changed = [dashboard(one.ref.name, description="x") for one in boards]
    found = objections(site.plan(*views, *changed), Guards(), allow_destroy=False, override=False)

    assert [one.message.split(" ")[:5] for one in found] == [
        ["10", "of", "10", "known", "Dashboard"]
    ]
