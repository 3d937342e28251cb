"""Secrets of one value, and texts that are a secret's, are compared by what was sent where."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from harness.routes import BY_SLUG, DASHBOARDS
from harness.sites import (
    SALT,
    VIEW_SPEC,
    Site,
    assert_settled,
    dashboard,
    manifest,
    outcomes,
    policy,
    policy_set,
)

from reconciler.document import Json
from reconciler.model import Manifest
from reconciler.planning.find_drift import find_drift
from reconciler.redaction.templates import HIDDEN, SecretHole, Template, seal
from reconciler.report.plan.document import plan_json

pytestmark = pytest.mark.promise("P32")

VALUE, OTHER = "canary-one", "canary-two"


def secret(name: str, value: str = VALUE) -> Template:
    """Give a secret as a manifest holds it."""
    return Template((SecretHole(name, value, seal(value, name, SALT)),))


ONE, TWO, THIRD = secret("ONE"), secret("TWO"), secret("THIRD", OTHER)


def board(name: Json = "Checkout", **fields: Json) -> Manifest:
    """Give a dashboard of this name."""
    body = dashboard().spec["dashboard"]
    assert isinstance(body, dict)
    return manifest("Dashboard/checkout", {"dashboard": {**body, **fields, "name": name}})


def widgets(*contents: dict[str, Json]) -> Manifest:
    """Give a dashboard with one row of widgets."""
    items: list[Json] = [
        {"title": f"W{number}", "definition": {"dynamic": content}}
        for number, content in enumerate(contents)
    ]
    return manifest(
        "Dashboard/checkout",
        {"dashboard": {"name": "C", "layout": {"sections": [{"rows": [{"widgets": items}]}]}}},
    )


def variables(*values: Json) -> Manifest:
    """Give a dashboard with a keyed list of variables."""
    return dashboard(
        variablesV2=[
            {"name": f"v{number}", "source": {"static": {"values": [{"value": value}]}}}
            for number, value in enumerate(values)
        ]
    )


DECLARED: list[Manifest] = [
    board(TWO, description=ONE),
    dashboard(description=Template((*ONE.parts, ":", *TWO.parts))),
    variables(ONE, TWO),
    variables(TWO, ONE, THIRD),
    widgets({"headers": [ONE, TWO]}),
    widgets({"headers": [{"a": ONE}, {"a": TWO}, {"a": THIRD}]}),
    widgets({"a": TWO}, {"a": ONE}),
    widgets({"a": ONE, "b": "text", "c": [{"d": TWO}, "text"]}, {"e": THIRD}),
    dashboard(description=secret("WORD", "Checkout")),
    board(secret("OTHER", "Orders"), description=secret("WORD", "Orders")),
    widgets({"a": secret("NUMBER", "12"), "b": 12, "c": "12", "d": secret("AGAIN", "12")}),
    widgets({"a": secret("FLAG", "true"), "b": True, "c": "true"}),
    policy_set(policy("a", description=ONE), policy("b", description=TWO)),
    manifest("SavedView/a", {**VIEW_SPEC, "name": ONE, "description": TWO}),
]


def assert_hidden(site: Site, *manifests: Manifest) -> None:
    """Assert that neither plan nor journal nor drift holds the start of a canary."""
    history = site.journal.history
    drifts = site.ask(lambda api: find_drift(api, manifests, history, SALT)).found
    shown = plan_json(site.plan(*manifests)) + Path(site.journal.place).read_text()
    assert "canary" not in shown
    assert all("canary" not in str((drift.differences, drift.live)) for drift in drifts)


@pytest.mark.parametrize("declared", DECLARED)
def test_applied_once(site: Site, declared: Manifest) -> None:
    """What was sent is there: nothing is stored otherwise, drifted, or left to do."""
    applied = site.apply(declared)

    history = site.journal.history
    drifts = site.ask(lambda api: find_drift(api, [declared], history, SALT)).found
    assert set(outcomes(applied).values()) == {"written"}
    assert applied.rewritten == {}
    assert {drift.state for drift in drifts} <= {"same", "unseen"}
    assert_settled(site, declared)
    assert_hidden(site, declared)


def swap(body: dict[str, Any]) -> None:
    """Store each of two texts in the place of the other."""
    board = body["dashboard"]
    board["name"], board["description"] = board["description"], board["name"]


def copy_elsewhere(body: dict[str, Any]) -> None:
    """Store a text where nobody declared any."""
    board = body["dashboard"]
    board["layout"]["sections"][0]["rows"][0]["widgets"][0]["description"] = board["description"]


def rewriting(rewrite: Callable[[dict[str, Any]], None]) -> Any:
    """Give what stores something else than what was sent."""

    async def meddle(request: httpx.Request, inner: httpx.AsyncBaseTransport) -> httpx.Response:
        body = json.loads(request.content)
        rewrite(body)
        headers = {k: v for k, v in request.headers.items() if k != "content-length"}
        again = httpx.Request(request.method, request.url, headers=headers, json=body)
        return await inner.handle_async_request(again)

    return meddle


def test_swapped_by_the_service(site: Site) -> None:
    """Two secrets that the service stores in each other's place are told, and neither is shown."""
    declared = board(THIRD, description=ONE)
    site.meddle("POST", DASHBOARDS, rewriting(swap))

    applied = site.apply(declared)

    told = applied.rewritten[declared.ref]
    assert {difference.path[-1] for difference in told} == {"name", "description"}
    assert {difference.after for difference in told} == {HIDDEN}
    assert_settled(site, declared)
    assert_hidden(site, declared)


def test_equal_and_swapped_by_the_service(site: Site) -> None:
    """Two secrets of one value cannot be swapped, so nothing is told."""
    declared = board(TWO, description=ONE)
    site.meddle("POST", DASHBOARDS, rewriting(swap))

    assert site.apply(declared).rewritten == {}
    assert_settled(site, declared)


def test_copied_by_the_service(site: Site) -> None:
    """A secret that the service copies where nobody declared it is not shown there either."""
    site.meddle("POST", DASHBOARDS, rewriting(copy_elsewhere))
    site.apply(dashboard(description=ONE))

    assert_hidden(site, dashboard(description=ONE))
    assert_hidden(site, board("Other", description=TWO))
    assert_settled(site, dashboard(description=ONE))


def edit(site: Site, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the dashboard as a person would."""
    stored = site.outside("GET", f"{BY_SLUG}/checkout")["dashboard"]
    change(stored)
    site.outside("PUT", DASHBOARDS, {"dashboard": stored, "requestId": "x"})


def test_one_of_two_is_changed_by_hand(site: Site) -> None:
    """Of two secrets of one value, an edit of one is a difference of that one alone."""
    declared = variables(ONE, TWO, THIRD)
    site.apply(declared)

    def give_another_value(board: dict[str, Any]) -> None:
        board["variablesV2"][1]["source"]["static"]["values"] = [{"value": OTHER}]

    edit(site, give_another_value)

    (difference,) = site.change(declared).differences

    assert (difference.path[-1], difference.before, difference.after) == ("value", HIDDEN, TWO)
    assert_hidden(site, declared)


def test_one_of_two_gets_another_value(site: Site) -> None:
    """Of two secrets of one value, one that is rotated is the one that is written."""
    site.apply(board(TWO, description=ONE))
    rotated = board(TWO, description=secret("ONE", OTHER))

    change = site.change(rotated)

    assert [difference.path for difference in change.differences] == [("dashboard", "description")]
    assert [reason.code for reason in change.reasons if reason.code == "overwrites-edit"] == []
    assert_hidden(site, rotated)
    site.apply(rotated)
    assert_settled(site, rotated)


@pytest.mark.parametrize("before", [board("canary-one"), board(TWO)])
def test_text_that_becomes_a_secret_elsewhere(site: Site, before: Manifest) -> None:
    """A text is nobody's edit because a secret of the same value is declared beside it."""
    site.apply(before)
    later = board("later", description=ONE)

    change = site.change(later)
    history = site.journal.history
    (drift,) = site.ask(lambda api: find_drift(api, [later], history, SALT)).found

    assert drift.state == "same"
    assert [reason.code for reason in change.reasons if reason.code == "overwrites-edit"] == []


def test_moved_with_its_secret(site: Site) -> None:
    """A widget that moves to another row is a move, though its secrets have one value."""

    def rows(*rows: list[Json]) -> Manifest:
        body: Json = {"sections": [{"rows": [{"widgets": row} for row in rows]}]}
        return manifest("Dashboard/checkout", {"dashboard": {"name": "C", "layout": body}})

    one: Json = {"title": "A", "definition": {"dynamic": {"x": TWO, "y": ONE}}}
    two: Json = {"title": "B", "definition": {"dynamic": {"x": "b"}}}
    site.apply(rows([one, two], [{"title": "C", "definition": {"dynamic": {"x": "c"}}}]))
    later = rows([two], [one, {"title": "C", "definition": {"dynamic": {"x": "c"}}}])

    assert {difference.operation for difference in site.change(later).differences} == {"move"}
    site.apply(later)
    assert_settled(site, later)


def test_live_moved_since_the_plan(site: Site) -> None:
    """What is read again before a write is the same as was planned, secrets of one value too."""
    site.apply(variables(ONE, TWO))
    later = variables(ONE, TWO, "plain")

    assert set(outcomes(site.apply(later)).values()) == {"written"}
    assert_settled(site, later)
