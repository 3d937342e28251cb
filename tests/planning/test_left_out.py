"""What is not in an answer is told as unknown, and never as what live has."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from harness.routes import OVERWRITE, POLICIES
from harness.sites import Meddler, Site, assert_settled, policy, policy_set

from reconciler.document import Json, Shape, merge
from reconciler.emulator import Profile, create_app
from reconciler.model import (
    Change,
    Evidence,
    LostUnseen,
    NeededUnseen,
    NotInAnswer,
    OverwrittenSince,
    Recalled,
)
from reconciler.report.plan.formats import plan_text
from reconciler.report.reasons import notes_of
from reconciler.report.table import Style

A, B = policy("a"), policy("b", "INFO")
BOTH = policy_set(A, B)
BARE = policy_set({"policy": A["policy"]}, {"policy": B["policy"]})
RULE: Json = {"name": "theirs", "ruleTypeId": "RULE_TYPE_ID_IS"}


def there_already(site: Site) -> None:
    """Put both policies in as someone else does."""
    site.outside("POST", OVERWRITE, {"policies": [A, B]})


def adopted(site: Site) -> None:
    """Take both over as they are, severities not declared."""
    there_already(site)
    assert site.change(BARE).action.word == "keep"
    site.apply(BARE)


def severities_of(name: str) -> tuple[str, ...]:
    """Return where the severities of a policy stand."""
    return "policies", name, "logRules", "severities"


def not_in_answer(change: Change) -> list[str]:
    """Name the policies of which a change says that nobody knows a field."""
    found = [reason for reason in change.reasons if isinstance(reason, NotInAnswer)]
    return [str(path[1]) for reason in found for path in reason.paths]


@pytest.mark.promise("S12")
@pytest.mark.parametrize("before", [there_already, adopted])
def test_severities_that_nobody_knows(site: Site, before: Any) -> None:
    """A list that was read is live evidence, and the severities that it lacks are named."""
    before(site)

    change = site.change(BOTH)

    assert (change.action.word, change.evidence) == ("update", Evidence.LIVE)
    assert not_in_answer(change) == ["a", "b"]
    site.apply(BOTH)
    assert_settled(site, BOTH)


def test_what_is_seen_beside_it(site: Site) -> None:
    """A field that is in the answer is live evidence, and only what is not is told as unknown."""
    there_already(site)

    change = site.change(policy_set(policy("a", description="other"), {"policy": B["policy"]}))

    assert change.evidence is Evidence.LIVE
    assert not_in_answer(change) == ["a"]


@pytest.mark.promise("S12")
def test_severities_of_the_journal(site: Site) -> None:
    """A list that was read is live evidence, and what of it the journal remembers is named."""
    site.apply(BOTH)

    made = site.plan(policy_set(A, policy("b", "DEBUG")))

    (change,) = made.changes
    assert (change.action.word, change.evidence) == ("update", Evidence.LIVE)
    assert not_in_answer(change) == []
    assert Recalled((severities_of("a"), severities_of("b"))) in change.reasons
    (line,) = [line for line in plan_text(made, Style()).splitlines() if "all  " in line]
    assert "live" in line
    assert "severities: not in the answer, compared with the journal" in plan_text(made, Style())
    assert "cannot be read" not in plan_text(made, Style())


def test_severities_in_the_answer(tmp_path: Path) -> None:
    """Severities that are in the answer are live evidence, in a list first seen too."""
    site = Site(tmp_path, create_app(profile=Profile(policy_severities="returned")))
    there_already(site)

    change = site.change(policy_set(A, policy("b", "DEBUG")))

    assert (change.evidence, not_in_answer(change)) == (Evidence.LIVE, [])


def lost(change: Change) -> list[tuple[str, ...]]:
    """Give the names of what is lost without anybody knowing it whole."""
    return [reason.names for reason in change.reasons if isinstance(reason, LostUnseen)]


def test_lost_without_severities(site: Site) -> None:
    """What is destroyed without its severities says that they cannot be restored."""
    there_already(site)

    change = site.change(policy_set(A))

    assert (change.destroys, lost(change)) == (("b",), [("b",)])
    (why,) = (reason for reason in change.reasons if isinstance(reason, LostUnseen))
    assert (why.names, why.fields) == (("b",), ("severities",))


@pytest.mark.parametrize("returned", ["hidden", "returned"])
def test_lost_with_severities(tmp_path: Path, returned: Any) -> None:
    """What is destroyed is kept with its severities, from the answer or from the journal."""
    site = Site(tmp_path, create_app(profile=Profile(policy_severities=returned)))
    site.apply(BOTH)

    change = site.change(policy_set(A))

    (member,) = change.lost
    assert isinstance(member, dict)
    assert member["logRules"] == B["logRules"]
    assert lost(change) == []


def nameless(name: Json, place: int, *, instead: bool) -> Meddler:
    """Put a policy into the answer, in the place of another or beside it."""

    async def meddle(request: httpx.Request, inner: httpx.AsyncBaseTransport) -> httpx.Response:
        response = await inner.handle_async_request(request)
        answer = json.loads(await response.aread())
        named = {} if name == "left out" else {"name": name}
        odd = {"id": "odd", "priority": "PRIORITY_TYPE_LOW", "applicationRule": RULE, **named}
        answer["policies"][place : place + instead] = [odd]
        for number, element in enumerate(answer["policies"], 1):
            element["order"] = number
        return httpx.Response(response.status_code, json=answer)

    return meddle


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("instead", [False, True])
@pytest.mark.parametrize("name", ["", "  ", None, 5, True, ["a"], {"a": 1}, "left out"])
def test_policy_without_a_name(site: Site, name: Json, place: int, *, instead: bool) -> None:
    """A policy that nobody can name is lost by its place, and nothing of it gets into another."""
    site.apply(BOTH)
    site.meddle("GET", POLICIES, *[nameless(name, place, instead=instead)] * 9)

    change = site.change(BOTH)

    assert change.action.word == "update"
    (said,) = change.destroys
    assert said in (f"number {place + 1} of the list", name)
    assert change.foreign == change.destroys
    assert "theirs" in json.dumps(change.lost)
    assert "theirs" not in json.dumps(change.body)


@pytest.mark.parametrize("live_name", ["", None, "b"])
def test_named_beside_nameless(live_name: Json) -> None:
    """A named item keeps its own live fields, and none of what stands at its place."""
    shape = Shape(items=Shape(), identity=("name",))
    live: Json = [{"name": live_name, "x": 1}, {"name": "a", "y": 2}, {"x": 3}]
    declared: list[Json] = [{"name": "a"}, {"name": "c"}]

    assert merge([], declared, live, shape) == [{"name": "a", "y": 2}, {"name": "c"}]


def needed(change: Change) -> list[str]:
    """Name the policies whose severities a write would have to send."""
    reasons = (reason for reason in change.reasons if isinstance(reason, NeededUnseen))
    return [str(path[1]) for reason in reasons for path in reason.paths]


def bare(name: str, **fields: Json) -> dict[str, Json]:
    """Give a policy as an import writes it, where no answer has severities."""
    return {"policy": policy(name, **fields)["policy"]}


def test_a_change_that_needs_what_nobody_knows(site: Site) -> None:
    """Without severities there is nothing to send: the change is blocked, and says of which."""
    there_already(site)

    kept = site.change(BARE)
    change = site.change(policy_set(bare("a", description="new"), B))
    told = site.change(policy_set(policy("a", description="new"), B))

    assert (kept.action.word, needed(kept)) == ("keep", [])
    assert (change.action.word, needed(change)) == ("blocked", ["a"])
    assert any("declare them" in note and '"a"' in note for note in notes_of(change))
    assert (told.action.word, needed(told)) == ("update", [])


@pytest.mark.promise("S15")
@pytest.mark.parametrize("returned", ["hidden", "returned"])
def test_severities_that_are_declared_no_more(tmp_path: Path, returned: Any) -> None:
    """A list that leaves out severities that its policies have is blocked, and never sent."""
    site = Site(tmp_path, create_app(profile=Profile(policy_severities=returned)))
    site.apply(BOTH)
    site.forget()

    change = site.change(policy_set(bare("a"), B))
    site.apply(policy_set(bare("a"), B))

    assert (change.action.word, needed(change)) == ("blocked", ["a"])
    assert site.writes == []


def test_overwritten_and_never_declared(site: Site) -> None:
    """Nothing is said to be sent again that nobody declares."""
    adopted(site)
    there_already(site)

    change = site.change(policy_set(bare("a", description="new"), bare("b")))

    assert needed(change) == ["a", "b"]
    assert not any(isinstance(reason, OverwrittenSince) for reason in change.reasons)
    assert not any("sent again" in note for note in notes_of(change))
