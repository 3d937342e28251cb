"""Dashboards over the wire: by id or slug, created with a request id, never in doubt for long."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest
from harness.routes import BY_SLUG, DASHBOARDS
from harness.sites import (
    Meddler,
    Site,
    actions,
    answer_with,
    assert_settled,
    codes_of,
    dashboard,
    lost_after,
    lost_before,
    manifest,
    outcomes,
    paths,
    unreachable,
    untouched,
)

from reconciler.document import Json
from reconciler.emulator import Profile, create_app
from reconciler.model import Absent, Evidence, InDoubt, Refused, Seen, Written

OWN_ID = "abcdefghij_klmnop-123"
CHECKOUT = dashboard()
DESCRIBED = dashboard(description="How orders go")


def requests(site: Site) -> list[str]:
    """Name what was sent."""
    return [f"{one.method} {one.path}" for one in site.sent]


def record(site: Site, slug: str = "checkout") -> Any:
    """Give the stored record of a slug."""
    return site.outside("GET", f"{BY_SLUG}/{slug}")


def live_id(site: Site, slug: str = "checkout") -> str:
    """Return the id that the service gave."""
    return str(record(site, slug)["dashboard"]["id"])


def only_id(site: Site) -> str:
    """Return the id of the only dashboard."""
    ((own,),) = site.app.state.store.rows("SELECT id FROM dashboards")
    return str(own)


def count(site: Site) -> int:
    """Count the dashboards of the service."""
    (number,) = site.app.state.store.row("SELECT count(*) FROM dashboards")
    return int(number)


def test_create(site: Site) -> None:
    """A dashboard that its slug does not find is created, and then nothing is left to do."""
    made = site.plan(CHECKOUT)
    (change,) = made.changes
    site.apply(plan=made)

    assert (change.action.word, change.evidence) == ("create", Evidence.LIVE)
    assert isinstance(change.observation, Absent)
    slug = f"GET {BY_SLUG}/checkout"
    assert requests(site)[:3] == [slug, slug, f"POST {DASHBOARDS}"]
    sent = site.writes[0].body
    assert sent["requestId"] == change.request_id
    assert sent["dashboard"]["slugName"] == "checkout"
    assert "id" not in sent["dashboard"]
    assert_settled(site, CHECKOUT)


def test_replace(site: Site) -> None:
    """A change is one replace that carries the id, the whole document, and a request id."""
    site.apply(CHECKOUT)
    site.forget()

    made = site.plan(DESCRIBED)
    (change,) = made.changes
    site.apply(plan=made)

    assert (change.action.word, paths(change)) == ("update", [("dashboard", "description")])
    (put,) = site.writes
    assert (put.method, put.path, put.answer) == ("PUT", DASHBOARDS, {})
    assert put.body["dashboard"]["id"] == live_id(site)
    assert put.body["requestId"] == change.request_id
    assert_settled(site, DESCRIBED)


@pytest.mark.parametrize(
    ("name", "slug"),
    [("checkout", "checkout"), ("a.b.c", "a-b-c"), ("a-", "a"), ("a_-_", "a"), ("a._", "a")],
)
def test_slug_of_the_name(site: Site, name: str, slug: str) -> None:
    """Without a slug the name gives it."""
    site.apply(dashboard(name))

    assert record(site, slug)["dashboard"]["slugName"] == slug
    assert_settled(site, dashboard(name))


def test_declared_slug(site: Site) -> None:
    """A declared slug is how the dashboard is found, whatever its name."""
    site.apply(dashboard("one", slugName="shop"))

    change = site.change(dashboard("two", slugName="shop"))

    assert isinstance(change.observation, Seen)
    assert change.action.word == "keep"


def test_new_slug(site: Site) -> None:
    """A dashboard whose slug changes is found by the id in the journal, and keeps that id."""
    site.apply(CHECKOUT)
    known = live_id(site)
    moved = dashboard(slugName="orders")

    change = site.change(moved)
    site.apply(moved)

    assert paths(change) == [("dashboard", "slugName")]
    assert live_id(site, "orders") == known
    assert count(site) == 1
    assert_settled(site, moved)


def test_declared_id(site: Site) -> None:
    """A dashboard declared by its id is asked for by it, and created under it."""
    declared = manifest("Dashboard/checkout", CHECKOUT.spec, OWN_ID)

    site.apply(declared)

    assert requests(site)[0] == f"GET {DASHBOARDS}/{OWN_ID}"
    assert site.writes[0].body["dashboard"]["id"] == OWN_ID
    assert only_id(site) == OWN_ID
    assert_settled(site, declared)


def test_id_in_an_export(site: Site) -> None:
    """The id inside an export counts as the declared one, and is no difference."""
    exported = dashboard(id=OWN_ID)

    site.apply(exported)

    assert only_id(site) == OWN_ID
    assert site.change(exported).action.word == "keep"
    assert_settled(site, exported)


def test_client_id_not_taken(tmp_path: Path) -> None:
    """Where the service gives out ids itself, its answer is the truth; nothing is made twice."""
    site = Site(tmp_path, create_app(profile=Profile(client_dashboard_ids=False)))
    declared = manifest("Dashboard/checkout", CHECKOUT.spec, OWN_ID)

    site.apply(declared)

    assert only_id(site) != OWN_ID
    assert site.journal.history.of(declared.ref).remote_id == only_id(site)
    assert_settled(site, declared)
    assert count(site) == 1


def test_lock(site: Site) -> None:
    """The lock is compared and written beside the dashboard, and kept where it is not declared."""
    locked = manifest("Dashboard/checkout", {**CHECKOUT.spec, "isLocked": True})
    site.apply(CHECKOUT)

    change = site.change(locked)
    site.apply(locked)

    assert paths(change) == [("isLocked",)]
    assert site.writes[-1].body["isLocked"] is True
    assert record(site)["isLocked"] is True
    assert_settled(site, locked)


def test_lock_of_someone_else(site: Site) -> None:
    """A lock that someone set, and nobody declared, stays."""
    site.apply(CHECKOUT)
    stored = record(site)
    site.outside(
        "PUT", DASHBOARDS, {"dashboard": stored["dashboard"], "requestId": "x", "isLocked": True}
    )

    assert site.change(CHECKOUT).action.word == "keep"
    site.apply(DESCRIBED)
    assert record(site)["isLocked"] is True


@pytest.mark.parametrize("lose", [lost_after, answer_with(500, carried_out=True)])
def test_create_lost_after(site: Site, lose: Meddler) -> None:
    """A create that happened is found, journaled with its id, and not sent again."""
    site.meddle("POST", DASHBOARDS, lose)

    applied = site.apply(CHECKOUT)

    (outcome,) = applied.outcomes
    assert isinstance(outcome, Written)
    assert outcome.remote_id == live_id(site)
    assert site.count("POST", DASHBOARDS) == 1
    assert_settled(site, CHECKOUT)


@pytest.mark.parametrize(
    "lose",
    [lost_before, answer_with(503), answer_with(200, {}), answer_with(200, {"dashboardId": 5})],
)
def test_create_lost_before(site: Site, lose: Meddler) -> None:
    """A create that a look-up does not find is sent again with the same request id."""
    site.meddle("POST", DASHBOARDS, lose)

    applied = site.apply(CHECKOUT)

    assert outcomes(applied) == {"Dashboard/checkout": "written"}
    first, second = (write.body for write in site.writes)
    assert first == second
    assert count(site) == 1
    assert_settled(site, CHECKOUT)


def test_create_lost_twice(site: Site) -> None:
    """A create that is lost twice is in doubt, and the next run looks it up by itself."""
    site.meddle("POST", DASHBOARDS, lost_before, lost_after)

    applied = site.apply(CHECKOUT)
    made = site.plan(CHECKOUT)

    assert isinstance(applied.outcomes[0], Written | InDoubt)
    assert made.unsettled == ()
    assert actions(made) == {"Dashboard/checkout": "keep"}
    assert count(site) == 1
    site.apply(plan=made)
    assert_settled(site, CHECKOUT)


@pytest.mark.parametrize("lose", [lost_after, lost_before])
def test_crash_after_the_create(site: Site, lose: Meddler) -> None:
    """After a crash the create is looked up; where it is absent, its request id is repeated."""
    site.meddle("POST", DASHBOARDS, lose)
    site.meddle("GET", BY_SLUG + "/*", untouched, untouched, *[unreachable] * 5)
    applied = site.apply(CHECKOUT)
    first = site.writes[0].body["requestId"]
    site.forget()

    change = site.change(CHECKOUT)
    site.apply(CHECKOUT)

    assert applied.exit_codes == {7, 9}
    assert change.action.word == ("keep" if lose is lost_after else "create")
    assert [write.body["requestId"] for write in site.writes] == (
        [] if lose is lost_after else [first]
    )
    assert count(site) == 1
    assert_settled(site, CHECKOUT)


def test_edited_after_a_crash(site: Site) -> None:
    """What is declared otherwise after a crash has a request id of its own."""
    site.meddle("POST", DASHBOARDS, lost_before)
    site.meddle("GET", BY_SLUG + "/*", untouched, untouched, *[unreachable] * 5)
    site.apply(CHECKOUT)
    first = site.writes[0].body["requestId"]

    site.apply(DESCRIBED)

    assert site.writes[-1].body["requestId"] != first
    assert record(site)["dashboard"]["description"] == "How orders go"
    assert_settled(site, DESCRIBED)


def test_taken_meanwhile(site: Site) -> None:
    """A create that is lost, and another dashboard in its place, is left alone: exit 6."""

    async def someone(request: object, inner: object) -> object:
        del request
        theirs: Json = {"dashboard": {"name": "Theirs", "slugName": "checkout"}, "requestId": "t"}
        async with httpx.AsyncClient(transport=inner, base_url="http://emulator") as client:  # type: ignore[arg-type]  # a transport
            await client.post(
                "/mgmt/openapi/latest" + DASHBOARDS, json=theirs, headers={"Authorization": "x"}
            )
        raise httpx.ReadError("broken")

    site.meddle("POST", DASHBOARDS, someone)  # type: ignore[arg-type]  # as a meddler does

    applied = site.apply(CHECKOUT)
    made = site.plan(CHECKOUT)

    assert applied.exit_codes == {6}
    assert record(site)["dashboard"]["name"] == "Theirs"
    assert actions(made) == {"Dashboard/checkout": "blocked"}
    assert codes_of(made.changes[0])[0] == "create-lost"
    assert [str(create.ref) for create in made.unsettled] == ["Dashboard/checkout"]


def test_conflict(site: Site) -> None:
    """A conflict is a refusal in the service's words, and nothing is in doubt."""
    site.meddle("POST", DASHBOARDS, answer_with(409, {"message": "Already Exists: slug"}))

    applied = site.apply(CHECKOUT)

    assert applied.outcomes == [Refused(CHECKOUT.ref, "Already Exists: slug")]
    assert site.journal.history.unsettled() == {}


def test_new_request_id_after_a_refusal(site: Site) -> None:
    """A deliberate new attempt has another request id than the refused one."""
    site.meddle("POST", DASHBOARDS, answer_with(400, {"message": "no"}))
    site.apply(CHECKOUT)
    first = site.writes[0].body["requestId"]

    assert site.change(CHECKOUT).request_id != first


@pytest.mark.parametrize("empty", ["object", "nothing", "no_content"])
def test_empty_answer(tmp_path: Path, empty: Any) -> None:
    """A replace may be answered with an empty object or with nothing."""
    site = Site(tmp_path, create_app(profile=Profile(empty_reply=empty)))
    site.apply(CHECKOUT)

    assert outcomes(site.apply(DESCRIBED)) == {"Dashboard/checkout": "written"}


def test_one_of_many_fails(site: Site) -> None:
    """When one dashboard of a batch stops the run, the ids of the others are kept."""
    many = [dashboard(f"board-{n}") for n in range(5)]
    site.meddle("POST", DASHBOARDS, untouched, answer_with(403, {"message": "no"}))

    applied = site.apply(*many)

    assert sorted(outcomes(applied).values()) == ["refused"] + ["written"] * 4
    assert applied.exit_codes == {10}
    assert sum(entry.startswith("written") for entry in site.entries()) == 4
    assert site.journal.history.unsettled() == {}


def test_edited_outside(site: Site) -> None:
    """An edit by hand is exactly one field, from the live value to the declared one."""
    site.apply(DESCRIBED)
    stored = record(site)["dashboard"]
    site.outside(
        "PUT", DASHBOARDS, {"dashboard": {**stored, "description": "by hand"}, "requestId": "x"}
    )

    (difference,) = site.change(DESCRIBED).differences

    assert difference.path == ("dashboard", "description")
    assert (difference.before, difference.after) == ("by hand", "How orders go")


def test_gone(site: Site) -> None:
    """A dashboard that was written and is gone is said to be, and created again."""
    site.apply(CHECKOUT)
    site.app.state.store.write("DELETE FROM dashboards")

    change = site.change(CHECKOUT)
    site.apply(CHECKOUT)

    assert change.action.word == "create"
    assert codes_of(change)[0] == "gone-since"
    assert count(site) == 1
    assert_settled(site, CHECKOUT)


@pytest.mark.parametrize(
    "wrong",
    [{}, {"dashboard": None}, {"dashboard": {"name": "x"}}, [], 5, {"dashboard": {"id": 5}}],
)
def test_odd_record(site: Site, wrong: Json) -> None:
    """A record of another shape, or without an id, stops the plan."""
    site.meddle("GET", BY_SLUG + "/*", *[answer_with(200, wrong)] * 5)

    with pytest.raises(ExceptionGroup) as raised:
        site.plan(CHECKOUT)
    assert raised.group_contains(Exception, match="dashboard")


def test_lock_that_is_no_longer_declared(site: Site) -> None:
    """A lock that was declared and no longer is comes off."""
    site.apply(manifest("Dashboard/checkout", {**CHECKOUT.spec, "isLocked": True}))

    site.apply(CHECKOUT)

    assert record(site)["isLocked"] is False
    assert_settled(site, CHECKOUT)
