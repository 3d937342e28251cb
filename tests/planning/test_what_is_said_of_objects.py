"""What a plan says of objects that are not what their manifests mean, and of what was lost."""

from __future__ import annotations

from dataclasses import replace

import pytest
from harness.sites import SALT, SLO_SPEC, Site, answer_with, manifest, policy, policy_set

from reconciler.document import ABSENT, Difference, Json
from reconciler.journal.entries import LastWrite, Started
from reconciler.journal.history import History, Memory
from reconciler.kinds import BY_NAME
from reconciler.model import (
    Action,
    AnotherId,
    CannotBeCreated,
    LostUnseen,
    Manifest,
    Ref,
    Seen,
)
from reconciler.planning.consequences import lost_unseen
from reconciler.planning.decide import PlanTarget, _what_is_wrong
from reconciler.planning.find_drift import _LARGEST_SINGLE, _is_restated, find_drift, is_covered
from reconciler.planning.make_plan import identify, make_plan, much_like
from reconciler.project.settings import DriftIgnore
from reconciler.runtime.advice import on_journal

AT = "2025-01-31T09:00:00Z"
DASHBOARDS = BY_NAME["Dashboard"]
ID, OTHER = "a" * 21, "b" * 21


def dashboard(name: str, remote_id: str | None = None) -> Manifest:
    """Give a dashboard of this name."""
    return manifest(f"Dashboard/{name}", {"dashboard": {"name": "Checkout"}}, remote_id)


def remembered(remote_id: str, **fields: Json) -> Memory:
    """Give the memory of something that was applied like this."""
    last = LastWrite(remote_id=remote_id, declared=fields, at=AT, rewritten=())
    return Memory(remote_id=remote_id, last=last, exists=True)


def test_another_id_names_both() -> None:
    """Where something else than the declared object was found, both ids are said."""
    found = _what_is_wrong(DASHBOARDS, dashboard("a", ID), Seen(OTHER, {}), Memory())

    assert found == AnotherId(ID, OTHER)


def test_what_a_name_was_about_before() -> None:
    """A manifest that is about another object by now remembers which one it was about."""
    one = dashboard("a", OTHER)
    history = History({one.ref: replace(remembered(ID), attempts=3)})

    known = identify([one], history).history.of(one.ref)

    assert (known.formerly, known.attempts, known.last) == (ID, 3, None)


def test_doubt_goes_with_a_new_name() -> None:
    """What is in doubt of an object is in doubt under its new name."""
    started = Started(
        ref=Ref("Dashboard", "old"), run="r", at=AT, operation="replace", remote_id=ID,
        request_id="q", seen="", declared={},
    )  # fmt: skip
    before = replace(remembered(ID), pending=started, earlier=(started,))
    one = dashboard("new", ID)

    known = identify([one], History({Ref("Dashboard", "old"): before})).history

    assert known.of(one.ref).pending == replace(started, ref=one.ref)
    assert known.of(one.ref).earlier == (replace(started, ref=one.ref),)
    assert Ref("Dashboard", "old") not in known.memories


def test_likeness_looks_into_lists() -> None:
    """Half of the fields in lists make two documents alike, and less than half does not."""
    gone = Ref("SavedView", "old")
    of: dict[str, Json] = {"filters": {"filters": [{"name": name} for name in "abcd"]}}
    orphans = [(gone, remembered("1", name="Old", **of))]

    def with_filters(names: str) -> dict[str, Json]:
        return {"name": "New", "filters": {"filters": [{"name": name} for name in names]}}

    assert much_like("SavedView", with_filters("abcx"), orphans) == (gone,)
    assert much_like("SavedView", with_filters("axyz"), orphans) == ()


def test_settled_as_what_is_not_there(site: Site) -> None:
    """A create that a person settled as an id of nothing says how to forget that."""
    one = manifest("SLO/checkout", SLO_SPEC)
    site.meddle("GET", "*", answer_with(404, {"message": "Not Found: slo x"}))
    history = History({one.ref: Memory(remote_id="x", exists=True)})

    (change,) = site.ask(
        lambda api: make_plan(api, (one,), history, PlanTarget("local", "emulator"), whole=True)
    ).changes

    assert change.action is Action.BLOCKED
    (why,) = change.reasons
    assert isinstance(why, CannotBeCreated)
    assert f"`{on_journal('forget', str(one.ref))}`" in why.said


def test_what_is_lost_is_named_by_its_end() -> None:
    """Of a member that nobody knows whole, the fields are named as they are called."""
    kind = BY_NAME["LogPolicySet"]
    seen = Seen("", {}, unseen=(("policies", "a", "logRules", "severities"),))

    (said,) = lost_unseen(kind, seen, {"a": {"policy": {"name": "a"}}})

    assert said == LostUnseen(("a",), ("severities",))


def test_an_overwritten_list_was_edited(site: Site) -> None:
    """Policies that others wrote anew were edited, whatever of them can be compared."""
    site.apply(policy_set(policy("a", "INFO")))
    site.outside(
        "POST",
        "/dataplans/policies/v1/atomicOverwriteLogPolicies",
        {"policies": [policy("a", "ERROR")]},
    )
    one = policy_set(policy("a", "INFO"))

    (found,) = site.ask(lambda api: find_drift(api, (one,), site.journal.history, SALT)).found

    assert (found.state, found.cause) == ("drifted", "edited")


@pytest.mark.parametrize("number", [_LARGEST_SINGLE, -_LARGEST_SINGLE, 1e300])
def test_numbers_beyond_a_single(number: float) -> None:
    """A number that a single cannot hold was not rounded to one."""
    assert not _is_restated(number, number)


def test_an_ignored_object_is_so_at_its_ends() -> None:
    """A rule about every field of an object is about the object too, as long as it is all."""
    rule = DriftIgnore(kind="SLO", name="*", path="labels.team", reason="set by others")

    assert is_covered(rule, Difference(("labels",), ABSENT, {"team": "a"}))
    assert not is_covered(rule, Difference(("labels",), ABSENT, {"team": "a", "tier": "b"}))
    assert not is_covered(rule, Difference(("labels",), {"team": "a"}, {"team": "b"}))
