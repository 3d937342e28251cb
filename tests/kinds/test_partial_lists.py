"""A part of the list of policies is no list: what it leaves out would be destroyed unseen."""

from __future__ import annotations

import json
from collections.abc import Callable

import httpx
import pytest
from harness.routes import OVERWRITE, POLICIES
from harness.sites import (
    Meddler,
    Site,
    dashboard,
    lost_before,
    outcomes,
    policy,
    policy_set,
    untouched,
)

from reconciler.api.client import Api
from reconciler.document import Json
from reconciler.errors import UnreadableReply
from reconciler.model import Action
from reconciler.records.listings import list_log_policies

OURS = policy_set(policy("a"), policy("b"))
BOARD = dashboard()
MORE: list[dict[str, Json]] = [
    {"pagination": {"nextPageToken": "abc", "totalSize": 4}},
    {"pagination": {"nextPageToken": "abc"}},
    {"pagination": {"totalSize": 4}},
    {"pagination": {"totalSize": "4"}},
    {"pagination": {"total_size": 4.0}},
    {"nextPageToken": "abc"},
    {"next_cursor": "abc"},
    {"next": "https://service.test/?page=2"},
    {"links": {"next": {"href": "/?page=2"}}},
    {"meta": {"page": {"has-more": True}}},
    {"totalPolicies": 3},
    {"totalPages": 2},
    {"truncated": True},
]
NO_MORE: list[dict[str, Json]] = [
    {"pagination": {"nextPageToken": "", "totalSize": 2}},
    {"pagination": {"nextPageToken": None, "totalSize": "2"}},
    {"pagination": {}, "total": 2, "totalPages": 1, "hasMore": False, "pageSize": 100},
    {"total": True, "count": "many", "next": {}},
]
PARTS = [(206, {"Content-Range": "items 0-1/4"}), (206, {}), (200, {"Content-Range": "x 0-1/4"})]


def told(
    beside: dict[str, Json] | None = None, status: int = 200, headers: dict[str, str] | None = None
) -> Meddler:
    """Answer with the first two of the stored policies, and say more or less of the rest."""

    async def meddle(request: httpx.Request, inner: httpx.AsyncBaseTransport) -> httpx.Response:
        response = await inner.handle_async_request(request)
        reply = json.loads(await response.aread())
        reply["policies"] = reply["policies"][:2]
        return httpx.Response(status, json={**reply, **(beside or {})}, headers=headers)

    return meddle


def part(status: int, headers: dict[str, str]) -> Meddler:
    """Answer with a part, as the status or the headers say."""
    return told(None, status, headers)


PARTIAL = [*map(told, MORE), *(part(*row) for row in PARTS)]


def others(site: Site) -> None:
    """Let ours be applied, and two policies of others stand behind them."""
    site.apply(OURS, BOARD)
    made: list[Json] = [
        {"name": name, "description": "", "priority": "PRIORITY_TYPE_LOW"} for name in "cd"
    ]
    site.outside("POST", f"{POLICIES}/bulkCreate", {"policyRequests": made})


@pytest.mark.promise("P20")
@pytest.mark.parametrize("answer", PARTIAL)
def test_part_of_the_list(site: Site, answer: Meddler) -> None:
    """An overwrite that would rest on a list announced as partial is blocked, with exit 9."""
    others(site)
    site.meddle("GET", POLICIES, *[answer] * 9)
    wanted = policy_set(policy("a", "DEBUG"), policy("b"))
    site.forget()

    made = site.plan(wanted, BOARD)

    assert [change.action for change in made.changes] == [Action.KEEP, Action.BLOCKED]
    assert [unread.exit_code for unread in made.unread] == [9]
    assert "part" in made.unread[0].why
    assert site.count("GET", POLICIES) == 1
    assert site.writes == []


@pytest.mark.promise("P20")
@pytest.mark.parametrize("answer", PARTIAL)
def test_part_before_the_write(site: Site, answer: Meddler) -> None:
    """A list that is partial only when it is read again before the write is not overwritten."""
    others(site)
    made = site.plan(policy_set(policy("a", "DEBUG"), policy("b"), policy("c"), policy("d")))
    site.meddle("GET", POLICIES, *[answer] * 9)
    site.forget()

    applied = site.apply(plan=made)

    assert applied.exit_codes == {9}
    assert site.writes == []


@pytest.mark.promise("P20")
@pytest.mark.parametrize("answer", PARTIAL)
def test_part_in_the_look_up(site: Site, answer: Meddler) -> None:
    """A partial list tells nothing of an overwrite whose answer was lost, and nothing is resent."""
    others(site)
    made = site.plan(policy_set(policy("a", "DEBUG"), policy("b"), policy("c"), policy("d")))
    site.meddle("POST", OVERWRITE, lost_before)
    site.meddle("GET", POLICIES, untouched, *[answer] * 9)
    site.forget()

    applied = site.apply(plan=made)

    assert "written" not in outcomes(applied).values()
    assert site.count("POST", OVERWRITE) == 1


@pytest.mark.parametrize("beside", NO_MORE)
def test_whole_list(site: Site, beside: dict[str, Json]) -> None:
    """A list that says that it is all there is stays a list."""
    site.apply(OURS)
    site.meddle("GET", POLICIES, told(beside))

    assert site.change(OURS).action is Action.KEEP


@pytest.mark.parametrize("answer", PARTIAL)
def test_listed_part(site: Site, answer: Meddler) -> None:
    """`policies list` prints no part of a list as if it were all."""
    others(site)
    site.meddle("GET", POLICIES, answer)
    listing: Callable[[Api], object] = list_log_policies

    with pytest.raises(UnreadableReply):
        site.ask(listing)  # type: ignore[arg-type]  # what it would give is of no concern
