"""What others change around a write: before it, and right after it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from harness.golden import Golden
from harness.routes import API_ROOT, BY_SLUG, DASHBOARDS, OVERWRITE, POLICIES, SLOS
from harness.sites import (
    SLO_SPEC,
    Site,
    assert_settled,
    dashboard,
    manifest,
    outcomes,
    policy,
    policy_set,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from reconciler.document import Json
from reconciler.emulator.endpoint import USER_HEADER
from reconciler.errors import worst
from reconciler.model import Manifest, Ref, Refused
from reconciler.redaction.templates import SecretHole, Template, seal

INTERLEAVINGS = int(os.environ.get("LIVE_EDITS", "12"))


@pytest.fixture
def site(either_site: Site) -> Site:
    """Each law holds whether alerts and views can be read or not."""
    return either_site


def sent_by_hand(site: Site, method: str, path: str, body: Json = None) -> Any:
    """Ask the service as a person in the web interface does, unnoted."""

    async def ask(_: object) -> Any:
        transport = httpx.ASGITransport(site.app)
        headers = {"Authorization": "someone", USER_HEADER: "Mira"}
        async with httpx.AsyncClient(transport=transport, base_url="http://emulator") as client:
            response = await client.request(method, API_ROOT + path, json=body, headers=headers)
        assert response.is_success, response.text
        return response.json()

    return site.ask(ask)


def edit_board(site: Site, slug: str = "checkout", **fields: Json) -> None:
    """Edit a dashboard by hand."""
    body = sent_by_hand(site, "GET", f"{BY_SLUG}/{slug}")["dashboard"]
    write: Json = {"dashboard": {**body, **fields}, "requestId": "theirs"}
    sent_by_hand(site, "PUT", DASHBOARDS, write)


def refusal(site: Site, made: Any) -> str:
    """Apply a plan that is stale by now, and give what it says."""
    applied = site.apply(plan=made)
    (outcome,) = applied.outcomes
    assert isinstance(outcome, Refused)
    assert worst(applied.exit_codes) == 6
    return outcome.message


def test_who_changed_a_dashboard(tmp_path: Path, golden: Golden) -> None:
    """A dashboard that moved says who moved it, when, how, and which fields; no values."""
    site = Site(tmp_path)
    site.apply(dashboard())
    made = site.plan(dashboard(description="ours"))
    edit_board(site, description="theirs", name="Theirs")

    said = refusal(site, made)

    golden(said)
    assert "theirs" not in said


def test_who_changed_an_slo(tmp_path: Path, golden: Golden) -> None:
    """An SLO that moved says when, and as which revision."""
    site = Site(tmp_path)
    site.apply(manifest("SLO/checkout", SLO_SPEC))
    made = site.plan(manifest("SLO/checkout", {**SLO_SPEC, "description": "ours"}))
    slo_id = site.journal.history.of(Ref("SLO", "checkout")).remote_id
    site.outside("PUT", SLOS, {"id": slo_id, **SLO_SPEC, "name": "Theirs"})

    said = refusal(site, made)

    golden(said)


def test_many_moved_fields(tmp_path: Path) -> None:
    """Of many fields that moved the first are named and the rest is counted."""
    site = Site(tmp_path)
    site.apply(policy_set(*(policy(f"p{number}") for number in range(9))))
    made = site.plan(policy_set(policy("ours")))
    site.outside("POST", OVERWRITE, {"policies": [policy("theirs")]})

    assert "and 6 more)" in refusal(site, made)


def test_saved_again(tmp_path: Path) -> None:
    """Somebody who saves a dashboard without changing it is noticed, and told as that."""
    site = Site(tmp_path)
    site.apply(dashboard())
    made = site.plan(dashboard(description="ours"))
    edit_board(site)

    assert refusal(site, made).startswith("it was saved again since the plan, with the same")


def test_created_meanwhile(tmp_path: Path) -> None:
    """A dashboard that someone creates between plan and write is theirs."""
    site = Site(tmp_path)
    made = site.plan(dashboard())
    write: Json = {"dashboard": {"name": "T", "slugName": "checkout"}, "requestId": "x"}
    sent_by_hand(site, "POST", DASHBOARDS, write)

    assert refusal(site, made).startswith("someone created it since the plan, last by Mira")


def test_secret_that_moved(tmp_path: Path) -> None:
    """The value that stands live in a secret's place is in no message."""
    site = Site(tmp_path)
    hole = SecretHole("TOKEN", "canary-1", seal("canary-1", "TOKEN", "salt"))
    sealed = dashboard(description=Template((hole,)))
    site.apply(sealed)
    made = site.plan(dashboard(description=Template((hole,)), relativeTimeFrame="900s"))
    edit_board(site, description="canary-2")

    said = refusal(site, made)

    assert "dashboard.description" in said
    assert "canary" not in said


@dataclass
class Follower:
    """Another writer who comes right after our write is answered."""

    site: Site
    edit: Callable[[Site], None]

    async def __call__(
        self, request: httpx.Request, inner: httpx.AsyncBaseTransport
    ) -> httpx.Response:
        """Carry our write out, then theirs."""
        response = await inner.handle_async_request(request)
        await response.aread()
        await asyncio.to_thread(self.edit, self.site)
        return response


def edit_slo(site: Site) -> None:
    """Edit the only SLO."""
    ((slo_id,),) = site.app.state.store.rows("SELECT id FROM slos")
    site.outside("PUT", SLOS, {"id": slo_id, **SLO_SPEC, "description": "theirs"})


def overwrite(site: Site) -> None:
    """Overwrite the policies."""
    site.outside("POST", OVERWRITE, {"policies": [policy("a"), policy("theirs")]})


FOLLOWED = [
    (
        manifest("SLO/checkout", SLO_SPEC),
        manifest("SLO/checkout", {**SLO_SPEC, "description": "ours"}),
        ("PUT", SLOS),
        edit_slo,
    ),
    (policy_set(policy("a")), policy_set(policy("b")), ("POST", OVERWRITE), overwrite),
    (
        dashboard(),
        dashboard(description="ours"),
        ("PUT", DASHBOARDS),
        lambda site: edit_board(site, description="theirs"),
    ),
]


@pytest.mark.parametrize(
    ("first", "edited", "write", "edit"), FOLLOWED, ids=["SLO", "policies", "dashboard"]
)
def test_overtaken(
    tmp_path: Path,
    first: Manifest,
    edited: Manifest,
    write: tuple[str, str],
    edit: Callable[[Site], None],
    *,
    golden: Golden,
) -> None:
    """An edit between our write and our read is told as another writer's, and the next plan has it.

    The run ends with 6, as live is not what is declared.
    """
    site = Site(tmp_path)
    site.apply(first)
    site.meddle(*write, Follower(site, edit))

    applied = site.apply(edited)

    assert outcomes(applied) == {str(edited.ref): "written"}
    assert set(applied.overtaken) == {edited.ref}
    assert applied.rewritten == {}
    assert worst(applied.exit_codes) == 6
    golden(applied.outcomes[0].message)
    assert site.change(edited).action.word == "update"
    site.apply(edited)
    assert_settled(site, edited)


def test_edit_that_cannot_be_told_apart(tmp_path: Path) -> None:
    """After a person's edit that we overwrite, another one by hand looks like a rewrite."""
    site = Site(tmp_path)
    site.apply(dashboard())
    edit_board(site, description="theirs")
    followed = Follower(site, lambda one: edit_board(one, description="again"))
    site.meddle("PUT", DASHBOARDS, followed)

    applied = site.apply(dashboard(description="ours"))

    assert set(applied.rewritten) == {Ref("Dashboard", "checkout")}
    assert applied.overtaken == {}


@pytest.mark.parametrize("position", range(4))
def test_second_writer_of_policies(tmp_path: Path, position: int) -> None:
    """A policy that another writer adds is lost in the round trip of the overwrite only.

    The position is that of the request before which it is added: the plan's read, the read
    before the write, the write, the read after it.
    """
    site = Site(tmp_path)
    site.apply(policy_set(policy("a")))
    site.forget()
    requests = [("GET", POLICIES), ("GET", POLICIES), ("POST", OVERWRITE), ("GET", POLICIES)]

    applied = run_with_edit(site, policy_set(policy("a"), policy("b")), position)

    left = {value["name"] for value in site.outside("GET", POLICIES)["policies"]}
    ended = worst(applied.exit_codes)
    asked = [(one.method, one.path) for one in site.sent]
    assert asked[:position] == requests[:position]
    # Before the plan's read the plan names the loss; `Site` consents to it.
    assert (ended, left) == {
        0: (0, {"a", "b"}),
        1: (6, {"a", "theirs"}),
        2: (0, {"a", "b"}),
        3: (6, {"a", "theirs"}),
    }[position]


def run_with_edit(site: Site, declared: Manifest, position: int) -> Any:
    """Apply, and let another writer come before the request at a position, from 0."""

    async def follow(request: httpx.Request, inner: httpx.AsyncBaseTransport) -> httpx.Response:
        if len(site.sent) == position:
            await asyncio.to_thread(overwrite, site)
        return await inner.handle_async_request(request)

    site.meddle("*", "*", *[follow] * 50)
    return site.apply(declared)


BOARDS = 3


def board(number: int, text: str) -> Manifest:
    """Give one of several dashboards."""
    return dashboard(f"board-{number}", description=text)


@dataclass
class Interleaved:
    """Handles requests one after the other, and lets another writer edit before one of them."""

    position: int
    edit: Callable[[], None]
    handled: list[tuple[str, str]] = field(default_factory=list)
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def __call__(
        self, request: httpx.Request, inner: httpx.AsyncBaseTransport
    ) -> httpx.Response:
        """Handle one request, in its turn."""
        async with self.turn:
            if len(self.handled) == self.position:
                await asyncio.to_thread(self.edit)
            body = (await request.aread()).decode()
            self.handled.append((request.method, request.url.path + body))
            response = await inner.handle_async_request(request)
            await response.aread()
            return response

    def index(self, method: str, board_id: str) -> list[int]:
        """Give the places of the requests about one dashboard."""
        return [
            number
            for number, (name, text) in enumerate(self.handled)
            if name == method and board_id in text
        ]


@settings(max_examples=INTERLEAVINGS, deadline=None)
@given(position=st.integers(0, 3 * BOARDS), target=st.integers(0, BOARDS - 1))
def test_live_edits(tmp_path_factory: pytest.TempPathFactory, position: int, target: int) -> None:
    """An edit of one dashboard among several, anywhere in a run, hurts that one only.

    Before the last read it is left alone (6), after the write it is told (6) or
    seen by the next plan; only between those two requests is it lost unseen.
    """
    site = Site(tmp_path_factory.mktemp("site"))
    site.apply(*(board(number, "first") for number in range(BOARDS)))
    made = site.plan(*(board(number, "ours") for number in range(BOARDS)))
    board_id = str(made.changes[target].remote_id)
    edits = Interleaved(position, lambda: edit_board(site, f"board-{target}", description="theirs"))
    site.meddle("*", "*", *[edits] * 50)

    applied = site.apply(plan=made)

    site.wire.meddlers.clear()
    ref = made.changes[target].ref
    reads, writes = edits.index("GET", board_id), edits.index("PUT", board_id)
    live = site.outside("GET", f"{BY_SLUG}/{ref.name}")["dashboard"]["description"]
    others = {outcome.ref for outcome in applied.outcomes if isinstance(outcome, Refused)} - {ref}
    assert others == set()
    if position <= reads[0]:
        assert (writes, live, worst(applied.exit_codes)) == ([], "theirs", 6)
    elif position <= writes[0]:
        assert (live, worst(applied.exit_codes)) == ("ours", 0)
    elif position <= reads[1]:
        assert (live, worst(applied.exit_codes), set(applied.overtaken)) == ("theirs", 6, {ref})
    else:
        assert worst(applied.exit_codes) == 0
        assert site.change(board(target, "ours")).action.word == (
            "update" if live == "theirs" else "keep"
        )
