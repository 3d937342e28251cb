"""A policy whose name the service stores otherwise is the same policy, and is not destroyed."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import httpx
import pytest
from harness.routes import OVERWRITE
from harness.sites import Site, assert_settled, manifest, paths, policy, policy_set
from hypothesis import given
from hypothesis import strategies as st

from reconciler.document import Json, Shape, by_identity, differences, merge, stored_name
from reconciler.emulator import Profile, create_app
from reconciler.kinds import BY_NAME
from reconciler.kinds.kind import Ranking
from reconciler.model import Change, Manifest, Plan, Seen
from reconciler.planning.consequences import members_destroyed
from reconciler.planning.guards import objections
from reconciler.project import Guards
from reconciler.report.drawings import Mark, ranking_sides
from reconciler.report.labels import facts_of_kind, standing

PADDED, DECOMPOSED = " keep errors ", "ma\u0308rz"
SERVICES: list[tuple[Profile, str]] = [
    (Profile(texts="trimmed"), PADDED),
    (Profile(unicode="nfc"), DECOMPOSED),
    (Profile(texts="trimmed", unicode="nfc"), f" {DECOMPOSED}\u00a0"),
]
KIND = BY_NAME["LogPolicySet"]


def destroyed(made: Plan) -> list[str]:
    """Name what a plan destroys, as guards and reports see it."""
    told = [name for change in made.changes for name in change.destroys]
    said = [
        objection.message
        for objection in objections(made, Guards())
        if "destroys" in objection.message
    ]
    assert bool(told) == bool(said)
    return told


def lists(name: str, **fields: Json) -> Manifest:
    """Declare a policy of this name between two others."""
    return policy_set(
        policy("first"), policy(name, "INFO", description="d", **fields), policy("last")
    )


def names(document: Any) -> list[str]:
    """Name the policies of a document."""
    return [value["policy"]["name"] for value in document["policies"]]


@pytest.mark.promise("P29")
@pytest.mark.parametrize(("profile", "name"), SERVICES)
def test_stored_otherwise(tmp_path: Path, profile: Profile, name: str) -> None:
    """After an apply there is nothing to do, nothing is destroyed, and the name was told once."""
    site = Site(tmp_path, create_app(profile=profile))

    applied = site.apply(lists(name))
    made = site.plan(lists(name))

    ((told,),) = applied.rewritten.values()
    assert (told.before, told.after) == (name, stored_name(name))
    assert destroyed(made) == []
    assert [change.action.word for change in made.changes] == ["keep"]
    assert_settled(site, lists(name))


@pytest.mark.promise("P29")
@pytest.mark.parametrize(("profile", "name"), SERVICES)
def test_edited(tmp_path: Path, profile: Profile, name: str) -> None:
    """An edit of such a policy is its own field, and no destroying and making anew."""
    site = Site(tmp_path, create_app(profile=profile))
    site.apply(lists(name))
    edited = lists(name, priority="PRIORITY_TYPE_LOW")

    made = site.plan(edited)
    site.apply(plan=made)

    (change,) = made.changes
    assert destroyed(made) == []
    assert [path[-1] for path in paths(change)] == ["priority"]
    assert_settled(site, edited)


@pytest.mark.promise("P29")
@pytest.mark.parametrize(("profile", "name"), SERVICES)
@pytest.mark.parametrize("lost", [False, True])
def test_other_spelling(tmp_path: Path, profile: Profile, name: str, lost: bool) -> None:
    """Nor is it destroyed where the journal is lost, or the manifest takes the stored name."""
    site = Site(tmp_path, create_app(profile=profile))
    site.apply(lists(name))
    if lost:
        shutil.rmtree(site.root / "own")
    declared = lists(name if lost else stored_name(name))

    made = site.plan(declared)
    site.apply(plan=made)

    assert destroyed(made) == []
    assert_settled(site, declared)


@pytest.mark.promise("P29")
def test_two_names_that_are_alike(tmp_path: Path) -> None:
    """Where a service keeps names as they are, two that differ in white space are two."""
    site = Site(tmp_path)
    both = policy_set(policy("a"), policy(" a", "INFO"))
    site.apply(both)
    assert_settled(site, both)

    made = site.plan(policy_set(policy(" a", "INFO")))
    site.apply(plan=made)

    assert destroyed(made) == ["a"]
    assert_settled(site, policy_set(policy(" a", "INFO")))


@pytest.mark.promise("P29")
def test_kept_as_it_is(site: Site) -> None:
    """A padded name that a service keeps is one policy with its severities everywhere."""
    site.apply(lists(PADDED))
    assert_settled(site, lists(PADDED))
    edited = policy_set(policy("first"), policy(PADDED, "DEBUG", description="d"), policy("last"))

    change = site.change(edited)

    assert isinstance(change.observation, Seen)
    (path,) = paths(change)
    assert path in change.observation.recalled


class AddingSite(Site):
    """A service that puts a policy of its own behind every list that is written."""

    def __init__(self, root: Path, own: str) -> None:
        super().__init__(root, create_app(profile=Profile(duplicate_policies="taken")))

        async def add(request: httpx.Request, inner: httpx.AsyncBaseTransport) -> httpx.Response:
            import json  # noqa: PLC0415 - the one place

            body = json.loads(request.content)
            if body["policies"]:
                body["policies"].append(policy(own))
            headers = {k: v for k, v in request.headers.items() if k != "content-length"}
            again = httpx.Request("POST", request.url, headers=headers, json=body)
            return await inner.handle_async_request(again)

        self.meddle("POST", "*/atomicOverwriteLogPolicies", *[add] * 9)


@pytest.mark.promise("P29")
def test_policy_of_the_service(tmp_path: Path) -> None:
    """What a service adds to every list is not destroyed by writing it; what others add is."""
    site = AddingSite(tmp_path, "the rest")
    site.apply(policy_set(policy("a")))
    kept = site.plan(policy_set(policy("a")))
    edited = site.plan(policy_set(policy("a", priority="PRIORITY_TYPE_LOW")))
    site.outside(
        "POST", OVERWRITE, {"policies": [policy("a"), policy("the rest"), policy("theirs")]}
    )

    added = site.plan(policy_set(policy("a")))

    assert [change.action.word for change in kept.changes] == ["keep"]
    assert destroyed(kept) == destroyed(edited) == []
    assert destroyed(added) == ["theirs"]


@pytest.mark.promise("P29")
def test_policy_of_the_same_name(tmp_path: Path) -> None:
    """Where nothing is to do nothing is destroyed, though a name is there twice."""
    site = AddingSite(tmp_path, "a")
    site.apply(policy_set(policy("a")))

    made = site.plan(policy_set(policy("a")))

    assert [change.action.word for change in made.changes] == ["keep"]
    assert destroyed(made) == []


@pytest.mark.promise("P29")
def test_reports(site: Site) -> None:
    """Reports name a padded policy and draw it as edited, and as nothing else."""
    site.apply(lists(PADDED))

    change = site.change(lists(PADDED, priority="PRIORITY_TYPE_LOW"))

    (path,) = paths(change)
    assert standing(path[:2], change.body, facts_of_kind(KIND)) == (2, 3)
    assert isinstance(KIND.picture, Ranking)
    sides = ranking_sides(KIND.picture, change.before, change.body, KIND.spec, KIND.shape)
    assert [ranked.marks for ranked in sides.after] == [(), (Mark.EDITED,), ()]
    assert [ranked.other for ranked in sides.after] == [1, 2, 3]


def destroys(live: list[str], declared: list[str]) -> list[str]:
    """Name what is destroyed where these lists stand live and are declared."""
    one, other = ({"policies": [policy(name) for name in many]} for many in (live, declared))
    return [*members_destroyed(KIND, one, other)]  # type: ignore[arg-type]  # two documents


@pytest.mark.promise("P29")
@pytest.mark.parametrize(
    ("live", "declared", "gone"),
    [
        (["a"], [" a "], []),
        ([" a "], ["a"], []),
        (["a", " a"], ["a"], [" a"]),
        (["a", " a"], [" a"], ["a"]),
        ([" a", "a"], ["a"], [" a"]),
        (["a", " a"], ["a "], [" a"]),
        (["a", "b"], [" a", " a "], ["b"]),
        (["\u00e4"], ["a\u0308"], []),
        (["A"], ["a"], ["A"]),
        (["a b"], ["a  b"], ["a b"]),
        (["", "a"], ["a"], ["number 1 of the list"]),
        ([], ["a"], []),
        (["a"], [], ["a"]),
    ],
)
def test_what_is_destroyed(live: list[str], declared: list[str], gone: list[str]) -> None:
    """A member stays where its name does, as it is or else as services store it; once each."""
    assert destroys(live, declared) == gone


texts = st.text(st.sampled_from("ab \t\u0308\u00e4"), max_size=4)


@pytest.mark.promise("P29")
@given(st.lists(texts, max_size=5), st.lists(texts, max_size=5))
def test_nothing_is_lost_unsaid(live: list[str], declared: list[str]) -> None:
    """As many are destroyed as are live and have no partner, and none that is declared as it is."""
    gone = destroys(live, declared)

    assert len(gone) >= len(live) - len(declared)
    assert not {*gone} & {*declared} or len({*live}) < len(live)
    assert destroys(declared, declared) == [] or len({*declared}) < len(declared) or "" in declared


@pytest.mark.promise("P29")
@given(st.lists(texts, unique=True, max_size=5))
def test_names_of_items(declared: list[str]) -> None:
    """Items are found under the names that a service makes of theirs, and never two under one."""
    shape = Shape(items=Shape(), identity=("n",))
    items: list[Json] = [{"n": name} for name in declared]
    stored: list[Json] = [{"n": stored_name(name)} for name in declared]

    named, again = by_identity(items, shape), by_identity(stored, shape)

    assert named is None or list(named.values()) == items
    if named is not None and again is not None:
        assert list(named) == list(again)
        found = differences(stored, merge(stored, items, stored, shape), shape)
        assert {difference.path[-1] for difference in found} <= {"n"}


def test_a_dashboard_variable(tmp_path: Path) -> None:
    """Other lists that go by names follow them in the same way."""
    site = Site(tmp_path, create_app(profile=Profile(texts="trimmed")))

    def board(name: str, value: str) -> Manifest:
        variable: Json = {"name": name, "definition": {"constant": {"value": value}}}
        body: Json = {"name": "C", "variables": [variable]}
        return manifest("Dashboard/c", {"dashboard": body})

    site.apply(board(" env ", "a"))
    change: Change = site.change(board(" env ", "b"))

    assert [path[-1] for path in paths(change)] == ["value"]
    site.apply(board(" env ", "b"))
    assert_settled(site, board(" env ", "b"))
