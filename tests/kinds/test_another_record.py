"""An answer about another record than was asked for is an answer about nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from harness.routes import BY_SLUG, DASHBOARDS, SLOS, VIEWS
from harness.sites import (
    SLO_SPEC,
    VIEW_SPEC,
    Meddler,
    Site,
    dashboard,
    manifest,
    outcomes,
    policy,
    policy_set,
)

from reconciler.document import Json
from reconciler.model import Action, Manifest

SLO = manifest("SLO/checkout", SLO_SPEC)
STRICTER = manifest("SLO/checkout", {**SLO_SPEC, "targetThresholdPercentage": 99.95})
VIEW = manifest("SavedView/errors", VIEW_SPEC)
OTHER_VIEW = manifest("SavedView/errors", {**VIEW_SPEC, "name": "Failures"})
POLICIES = policy_set(policy("a"))
OTHER_ID = "ffffffff-ffff-4fff-8fff-ffffffffffff"
FOREIGN: dict[str, Json] = {"description": "written by someone else"}


def told_as(wrapper: str, **fields: Json) -> Meddler:
    """Let the service answer, and say that it is about something else."""

    async def meddle(request: httpx.Request, inner: httpx.AsyncBaseTransport) -> httpx.Response:
        response = await inner.handle_async_request(request)
        reply: Any = json.loads(await response.aread())
        if response.is_success:
            (reply[wrapper] if wrapper else reply).update(fields)
        return httpx.Response(response.status_code, json=reply)

    return meddle


BY_ID = [
    pytest.param(SLO, STRICTER, f"{SLOS}/*", told_as("slo", id=OTHER_ID, **FOREIGN), id="SLO"),
    pytest.param(SLO, STRICTER, f"{SLOS}/*", told_as("slo", id=7), id="SLO-number"),
    pytest.param(
        dashboard(),
        dashboard(description="new"),
        f"{DASHBOARDS}/*",
        told_as("dashboard", id="aaaaaaaaaaaaaaaaaaaaa", **FOREIGN),
        id="dashboard",
    ),
]


@pytest.mark.parametrize(("before", "wanted", "path", "answer"), BY_ID)
def test_read_of_another(
    site: Site, before: Manifest, wanted: Manifest, path: str, answer: Meddler
) -> None:
    """What is read as another record is unreadable, and nothing of it is written into ours."""
    site.apply(before, POLICIES)
    site.meddle("GET", path, *[answer] * 20)
    site.forget()

    made = site.plan(wanted, POLICIES)
    site.apply(plan=made)

    change = next(change for change in made.changes if change.ref == wanted.ref)
    assert change.action is Action.BLOCKED
    assert [unread.exit_code for unread in made.unread] == [9]
    assert site.writes == []


@pytest.mark.parametrize(("before", "wanted", "path", "answer"), BY_ID)
def test_another_before_the_write(
    site: Site, before: Manifest, wanted: Manifest, path: str, answer: Meddler
) -> None:
    """A record that is another only when it is read again before the write is not written."""
    site.apply(before)
    made = site.plan(wanted)
    site.meddle("GET", path, *[answer] * 20)
    site.forget()

    applied = site.apply(plan=made)

    assert applied.exit_codes == {9}
    assert site.writes == []


@pytest.mark.parametrize(("before", "wanted", "path", "answer"), BY_ID)
def test_another_after_the_write(
    site: Site, before: Manifest, wanted: Manifest, path: str, answer: Meddler
) -> None:
    """A write after which only another record can be read is unconfirmed, and never `written`."""
    del wanted
    site.meddle("GET", path, *[answer] * 20)

    applied = site.apply(before)

    assert outcomes(applied) == {str(before.ref): "unconfirmed"}
    assert any("the service answered with" in outcome.message for outcome in applied.outcomes)


def test_another_slug(site: Site) -> None:
    """A dashboard of another slug than was looked for is not taken over."""
    site.apply(POLICIES)
    site.outside(
        "POST",
        DASHBOARDS,
        {
            "requestId": "1",
            "dashboard": {"name": "Theirs", "slugName": "checkout", "layout": {"sections": []}},
        },
    )
    site.meddle("GET", f"{BY_SLUG}/*", told_as("dashboard", slugName="payments"))

    made = site.plan(dashboard(), POLICIES)

    assert (
        next(change for change in made.changes if change.ref.kind == "Dashboard").action
        is Action.BLOCKED
    )
    assert "payments" in made.unread[0].why


def test_view_answered_as_another(site: Site) -> None:
    """The answer to a replace that tells of another view does not make the write `written`."""
    site.apply(VIEW)
    site.meddle("PUT", f"{VIEWS}/*", told_as("", id=99))

    applied = site.apply(OTHER_VIEW)

    assert outcomes(applied) == {str(VIEW.ref): "unconfirmed"}


SPELLINGS: list[Callable[[str], Json]] = [str.upper, lambda _: "", lambda _: None]


@pytest.mark.parametrize("spelled", SPELLINGS)
def test_other_spelling(site: Site, spelled: Callable[[str], Json]) -> None:
    """A uuid in capitals is the same id, and an answer without one is about what was asked for."""
    site.apply(SLO)
    remote_id = str(site.journal.history.of(SLO.ref).remote_id)
    site.meddle("GET", f"{SLOS}/*", told_as("slo", id=spelled(remote_id)))

    assert site.change(SLO).action is Action.KEEP
