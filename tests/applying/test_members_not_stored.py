"""A member of a list that the service did not store is not one that it stored otherwise."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from harness.routes import DASHBOARDS, OVERWRITE
from harness.sites import (
    ALERT_ID,
    Meddler,
    Site,
    assert_settled,
    manifest,
    outcomes,
    paths,
    policy,
    policy_set,
)

from reconciler.document import ABSENT, Json
from reconciler.emulator import Profile, create_app
from reconciler.errors import worst
from reconciler.journal.entries import Stored
from reconciler.journal.line_fields import Rewritten
from reconciler.model import Manifest, OverwritesEdit, Unconfirmed

Drop = Callable[[dict[str, Any]], None]


def without(drop: Drop) -> Meddler:
    """Store everything but what is dropped, and say that all is stored."""

    async def meddle(request: httpx.Request, inner: httpx.AsyncBaseTransport) -> httpx.Response:
        body = json.loads(request.content)
        drop(body)
        headers = {k: v for k, v in request.headers.items() if k != "content-length"}
        again = httpx.Request(request.method, request.url, headers=headers, json=body)
        return await inner.handle_async_request(again)

    return meddle


def widgets(body: dict[str, Any]) -> None:
    """Drop the second widget."""
    del body["dashboard"]["layout"]["sections"][0]["rows"][0]["widgets"][1]


def rows(body: dict[str, Any]) -> None:
    """Drop the rows with all that is in them."""
    body["dashboard"]["layout"]["sections"][0]["rows"] = []


def layout(body: dict[str, Any]) -> None:
    """Drop the sections with all that is in them."""
    del body["dashboard"]["layout"]


def variables(body: dict[str, Any]) -> None:
    """Drop the variables."""
    body["dashboard"].pop("variablesV2", None)


def first_policy(body: dict[str, Any]) -> None:
    """Drop the first policy."""
    del body["policies"][0]


def board(**fields: Json) -> Manifest:
    """Give a dashboard with two widgets and two variables."""
    items: list[Json] = [
        {"title": title, "definition": {"markdown": {"markdownText": title}}} for title in "AB"
    ]
    named: list[Json] = [{"name": name, "source": {"static": {"values": []}}} for name in "xy"]
    body: dict[str, Json] = {
        "name": "Checkout",
        "layout": {"sections": [{"rows": [{"widgets": items}]}]},
        "variablesV2": named,
        **fields,
    }
    return manifest("Dashboard/checkout", {"dashboard": body})


BOARD, LATER = board(), board(description="later")
POLICIES = policy_set(policy("a"), policy("b"))
DROPS: list[tuple[Drop, Manifest, str, str]] = [
    (widgets, BOARD, DASHBOARDS, "widgets"),
    (rows, BOARD, DASHBOARDS, "rows"),
    (layout, BOARD, DASHBOARDS, "sections"),
    (variables, BOARD, DASHBOARDS, "variablesV2"),
    (first_policy, POLICIES, OVERWRITE, "policies.a"),
]


@pytest.mark.parametrize(("drop", "declared", "path", "where"), DROPS)
def test_member_dropped(site: Site, drop: Drop, declared: Manifest, path: str, where: str) -> None:
    """A member that no read shows makes a write unconfirmed, exit 3, and the next plan has it."""
    site.meddle("POST", path, without(drop))

    applied = site.apply(declared)
    change = site.change(declared)

    (outcome,) = applied.outcomes
    assert isinstance(outcome, Unconfirmed)
    assert (worst(applied.exit_codes), applied.rewritten) == (3, {})
    assert where in outcome.message
    assert sum(site.waited) == pytest.approx(2)
    assert change.action.word == "update"
    assert not any(isinstance(reason, OverwritesEdit) for reason in change.reasons)
    assert outcomes(site.apply(declared)) == {str(declared.ref): "written"}
    assert_settled(site, declared)


@pytest.mark.parametrize("drop", [widgets, rows, variables])
def test_member_dropped_by_a_replace(site: Site, drop: Drop) -> None:
    """A replace that loses members is unconfirmed as often as it is sent."""
    site.apply(BOARD)
    site.meddle("PUT", DASHBOARDS, without(drop), without(drop))

    for _ in range(2):
        assert outcomes(site.apply(LATER)) == {str(BOARD.ref): "unconfirmed"}
        assert site.change(LATER).action.word == "update"

    assert outcomes(site.apply(LATER)) == {str(BOARD.ref): "written"}
    assert_settled(site, LATER)


def test_dropped_by_an_older_version(site: Site) -> None:
    """A journal in which a missing member counts as rewritten makes it no keep."""
    site.meddle("POST", OVERWRITE, without(first_policy))
    site.apply(POLICIES)
    journal = site.journal
    pending = journal.history.of(POLICIES.ref).pending
    assert pending is not None
    (difference,) = (
        difference for difference in site.change(POLICIES).differences if difference.path[-1] == "a"
    )
    site.apply(policy_set(policy("b")))
    journal = site.journal
    with journal.locked():
        last = Rewritten(difference.path, difference.after, ABSENT)
        started = replace(pending, run="old")
        written = next(entry for entry in journal.entries if type(entry).__name__ == "WrittenEntry")
        journal.append(
            [
                started,
                written,
                Stored(run="old", at=pending.at, ref=POLICIES.ref, rewritten=(last,)),
            ]
        )

    assert paths(site.change(POLICIES)) == [("policies", "a")]


@pytest.mark.parametrize(
    "empty", [{"description": ""}, {"variablesV2": []}, {"actions": []}, {"description": None}]
)
@pytest.mark.parametrize("zeros", ["rendered", "dropped"])
def test_empty_values(tmp_path: Path, empty: dict[str, Json], zeros: Any) -> None:
    """An empty value that is left out of an answer is no member that is missing."""
    site = Site(tmp_path, create_app(alert_ids=[ALERT_ID], profile=Profile(zero_values=zeros)))
    declared = board(**empty)

    assert outcomes(site.apply(declared)) == {str(declared.ref): "written"}
    assert_settled(site, declared)


def test_member_seen_later(site: Site) -> None:
    """A member that shows within two seconds was written like all others."""
    hidden = [True] * 3

    async def late(request: httpx.Request, inner: httpx.AsyncBaseTransport) -> httpx.Response:
        response = await inner.handle_async_request(request)
        answer = json.loads(await response.aread())
        if site.count("POST", DASHBOARDS) and hidden:
            hidden.pop()
            del answer["dashboard"]["variablesV2"]
        return httpx.Response(response.status_code, json=answer)

    site.meddle("GET", "*dashboards*", *[late] * 60)

    assert outcomes(site.apply(BOARD)) == {str(BOARD.ref): "written"}
    assert len(site.waited) == 3
