"""A write is written when a read shows it; acknowledged alone, it is unconfirmed."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from harness.routes import BY_SLUG, DASHBOARDS, OVERWRITE, POLICIES, SLOS
from harness.sites import (
    ALERT_ID,
    ALERT_SPEC,
    SLO_SPEC,
    VIEW_SPEC,
    Site,
    actions,
    answer_with,
    assert_settled,
    codes_of,
    dashboard,
    manifest,
    outcomes,
    policy,
    policy_set,
    untouched,
    watching,
)

from reconciler.document import Json
from reconciler.emulator import Profile, create_app
from reconciler.errors import worst
from reconciler.kinds import KINDS
from reconciler.model import (
    Manifest,
    NeverSeen,
    OverwritesEdit,
    Ref,
    Refused,
    Unconfirmed,
    WriteLost,
)

CHECKOUT = manifest("SLO/checkout", SLO_SPEC)
STRICTER = manifest("SLO/checkout", {**SLO_SPEC, "targetThresholdPercentage": 99.95})
SLO: Json = {"slo": {**SLO_SPEC, "id": ALERT_ID}}
GONE = answer_with(404, {"message": "Not Found: nothing"})
NOWHERE = "abcdefghijklmnopqrstu"
LOOKS = 7
"""How often is looked at most, the first look included."""

CREATES: list[tuple[Manifest, str, str]] = [
    (CHECKOUT, SLOS + "/*", SLOS),
    (dashboard(), "*dashboards*", DASHBOARDS),
]
REPLACES: list[tuple[Manifest, Manifest, tuple[str, str], Json]] = [
    (CHECKOUT, STRICTER, ("PUT", SLOS), SLO),
    (dashboard(), dashboard(description="x"), ("PUT", DASHBOARDS), {}),
    (policy_set(policy("a")), policy_set(policy("b")), ("POST", OVERWRITE), {}),
    (policy_set(policy("a")), policy_set(policy("a", "INFO")), ("POST", OVERWRITE), {}),
    (policy_set(), policy_set(policy("a")), ("POST", OVERWRITE), {"createResponses": []}),
]


@pytest.fixture
def site(either_site: Site) -> Site:
    """Each law holds whether alerts and views can be read or not."""
    return either_site


def looks(site: Site, times: int, path: str, method: str, write: str) -> None:
    """Let so many looks after the write find nothing; those before it are not meddled with."""
    left = [times]

    async def blind(request: Any, inner: Any) -> Any:
        written = site.count(method, write) > 0
        if written and left[0] > 0:
            left[0] -= 1
            return await GONE(request, inner)
        return await inner.handle_async_request(request)

    site.meddle("GET", path, *[blind] * 60)


def remote_id(site: Site, ref: Ref) -> Any:
    """Give the id that the journal has of a resource."""
    return site.journal.history.of(ref).remote_id


@pytest.mark.promise("P26")
@pytest.mark.parametrize(("declared", "path", "write"), CREATES)
def test_created_and_never_seen(site: Site, declared: Manifest, path: str, write: str) -> None:
    """A create that two seconds of looking do not show is unconfirmed, exit 3, and told once."""
    looks(site, 99, path, "POST", write)

    applied = site.apply(declared)

    (outcome,) = applied.outcomes
    assert isinstance(outcome, Unconfirmed)
    assert worst(applied.exit_codes) == 3
    assert str(remote_id(site, declared.ref)) in outcome.message
    assert sum(site.waited) == pytest.approx(2)
    assert site.told == [outcome]
    assert site.count("POST", write) == 1


@pytest.mark.promise("P26")
@pytest.mark.parametrize(("declared", "path", "write"), CREATES)
def test_next_plan(site: Site, declared: Manifest, path: str, write: str) -> None:
    """Where it stays unseen, the next plan says so and creates it; else it keeps what is there."""
    looks(site, 99, path, "POST", write)
    site.apply(declared)

    unseen = site.change(declared)
    site.wire.meddlers.clear()
    seen = site.change(declared)

    assert unseen.action.word == "create"
    assert any(isinstance(reason, NeverSeen) for reason in unseen.reasons)
    assert seen.action.word == "keep"
    assert any(isinstance(reason, WriteLost) for reason in seen.reasons)
    site.apply(declared)
    assert_settled(site, declared)
    assert site.count("POST", write) == 0


@pytest.mark.promise("P26")
@pytest.mark.parametrize("late", [1, LOOKS - 1])
@pytest.mark.parametrize(("declared", "path", "write"), CREATES)
def test_seen_later(site: Site, declared: Manifest, path: str, write: str, late: int) -> None:
    """A create that shows within two seconds is written, and nothing is left to do."""
    # A dashboard is looked for twice each time: by its id, and by its slug.
    looks(site, late * (2 if declared.ref.kind == "Dashboard" else 1), path, "POST", write)

    applied = site.apply(declared)

    assert outcomes(applied) == {str(declared.ref): "written"}
    assert len(site.waited) == late
    assert site.told == applied.outcomes
    site.wire.meddlers.clear()
    assert_settled(site, declared)


@pytest.mark.promise("P26")
@pytest.mark.parametrize(("declared", "path", "write"), CREATES)
def test_id_before_the_look(site: Site, declared: Manifest, path: str, write: str) -> None:
    """When anybody looks for what was created, its id stands in the journal already."""
    seen: list[list[str]] = []

    async def look(request: Any, inner: Any) -> Any:
        if site.count("POST", write):
            seen.append(site.entries())
        return await inner.handle_async_request(request)

    site.meddle("GET", path, *[look] * 60)

    site.apply(declared)

    assert seen[0] == [f"{entry} {declared.ref}" for entry in ("started", "identified")]
    assert site.entries()[-1] == f"written {declared.ref}"


@pytest.mark.promise("P26")
@pytest.mark.parametrize(("before", "after", "write", "answer"), REPLACES)
def test_replaced_and_still_as_before(
    site: Site, before: Manifest, after: Manifest, write: tuple[str, str], answer: Json
) -> None:
    """A write after which live is as it was is unconfirmed, and the next apply sends it again."""
    site.apply(before)
    site.told.clear()
    site.meddle(*write, answer_with(200, answer))

    applied = site.apply(after)
    change = site.change(after)

    (outcome,) = applied.outcomes
    assert isinstance(outcome, Unconfirmed)
    assert (worst(applied.exit_codes), site.told) == (3, [outcome])
    assert sum(site.waited) == pytest.approx(2)
    assert applied.rewritten == {}
    assert change.action.word == "update"
    assert not any(isinstance(reason, OverwritesEdit) for reason in change.reasons)
    site.apply(after)
    assert_settled(site, after)


@pytest.mark.promise("P26")
def test_failed_look(site: Site) -> None:
    """Where nobody can look, the answer of the service has to do."""
    site.meddle("GET", BY_SLUG + "/*", untouched, untouched, *[answer_with(403)] * 9)
    site.meddle("GET", DASHBOARDS + "/*", *[answer_with(403)] * 9)

    applied = site.apply(dashboard())

    assert outcomes(applied) == {"Dashboard/checkout": "written"}
    assert site.waited == []


@pytest.mark.promise("P26")
def test_what_depends_on_it(site: Site) -> None:
    """What refers to something that nobody has seen is skipped."""
    looks(site, 99, SLOS + "/*", "POST", SLOS)

    applied = site.apply(CHECKOUT, watching())

    assert outcomes(applied) == {"SLO/checkout": "unconfirmed", "AlertDefinition/budget": "skipped"}


@pytest.mark.promise("P26")
@pytest.mark.parametrize("reads", [1, 2])
def test_service_with_replicas(tmp_path: Path, reads: int) -> None:
    """Reads that lag behind the writes make nothing unconfirmed, as long as two seconds do."""
    profile = Profile(stale_reads=reads)
    site = Site(tmp_path, create_app(alert_ids=[ALERT_ID], profile=profile))

    for declared in (
        (CHECKOUT, dashboard(), policy_set(policy("a"))),
        (STRICTER, dashboard(description="x"), policy_set(policy("b"), policy("a", "INFO"))),
    ):
        assert set(outcomes(site.apply(*declared)).values()) == {"written"}
        assert_settled(site, *declared)


@pytest.mark.promise("P24")
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
@pytest.mark.parametrize("spec", [{}, {"dashboard": "x"}, {"policies": None}, {"name": None}])
def test_failure_before_sending(site: Site, kind: Any, spec: dict[str, Json]) -> None:
    """What fails before anything is sent leaves nothing open, and the next plan no doubt."""
    one = manifest(f"{kind.name}/odd", spec, ALERT_ID if kind.id_form.required else None)

    applied = site.apply(one)

    memory = site.journal.history.of(one.ref)
    if not site.writes:
        assert memory.pending is None
        assert all(isinstance(outcome, Refused) for outcome in applied.outcomes)
        assert not {"create-lost", "write-lost"} & {*codes_of(site.change(one))}


@pytest.mark.promise("P24")
def test_manifest_without_its_dashboard(site: Site) -> None:
    """A dashboard whose manifest has no `dashboard` is refused with exit 4, and nothing is sent."""
    one = manifest("Dashboard/odd", {"name": "Odd", "layout": {}})

    applied = site.apply(one, CHECKOUT)

    assert outcomes(applied) == {"Dashboard/odd": "refused", "SLO/checkout": "written"}
    assert worst(applied.exit_codes) == 4
    assert site.count("POST", DASHBOARDS) == 0
    assert actions(site.plan(one)) == {"Dashboard/odd": "create"}


def board_is_there(site: Site) -> bool:
    """Tell whether the service has the dashboard whose id the journal keeps."""
    known = remote_id(site, dashboard().ref)
    query = "SELECT count(*) FROM dashboards WHERE id = ?"
    return bool(site.app.state.store.row(query, known) == (1,))


def lose_journal(site: Site) -> Callable[[], None]:
    """Give what removes the journal."""
    return lambda: shutil.rmtree(site.root / "own")


def old_copy(site: Site) -> Callable[[], None]:
    """Keep the journal as it is; give what puts that back."""
    shutil.copytree(site.root / "own", site.root / "kept")

    def put_back() -> None:
        shutil.rmtree(site.root / "own")
        shutil.copytree(site.root / "kept", site.root / "own")

    return put_back


@pytest.mark.promise("P27")
@pytest.mark.parametrize("lose", [lose_journal, old_copy])
def test_request_id_after_a_lost_journal(
    site: Site, lose: Callable[[Site], Callable[[], None]]
) -> None:
    """A journal that is lost, or an old copy, repeats no request id, so all that is created is."""
    site.apply(manifest("SavedView/errors", VIEW_SPEC))
    forget = lose(site)
    site.apply(dashboard())
    site.app.state.store.write("DELETE FROM dashboards")
    forget()

    applied = site.apply(dashboard())

    first, second = (write.body["requestId"] for write in site.writes if write.path == DASHBOARDS)
    assert first != second
    assert outcomes(applied) == {"Dashboard/checkout": "written"}
    assert board_is_there(site)
    assert_settled(site, dashboard())


@pytest.mark.promise("P27")
@pytest.mark.parametrize("other", [False, True])
def test_id_of_what_is_gone(site: Site, other: bool) -> None:
    """An id that the service answers and has not is not written, whatever has the slug by now."""
    theirs: Json = {"name": "Theirs", "slugName": "checkout"}

    async def answer(request: httpx.Request, inner: httpx.AsyncBaseTransport) -> httpx.Response:
        if other:
            body: Json = {"dashboard": theirs, "requestId": "t"}
            headers = {k: v for k, v in request.headers.items() if k != "content-length"}
            again = httpx.Request("POST", request.url, headers=headers, json=body)
            await (await inner.handle_async_request(again)).aread()
        return httpx.Response(200, json={"dashboardId": NOWHERE})

    site.meddle("POST", DASHBOARDS, answer)

    applied = site.apply(dashboard())
    made = site.plan(dashboard())
    site.apply(plan=made)

    (outcome,) = applied.outcomes
    assert isinstance(outcome, Unconfirmed)
    assert NOWHERE in outcome.message
    assert actions(made) == {"Dashboard/checkout": "update" if other else "create"}
    ids = [write.body["requestId"] for write in site.writes]
    assert len(set(ids)) == len(ids) == 2
    assert board_is_there(site)


@pytest.mark.promise("P26")
def test_other_id_than_declared(tmp_path: Path) -> None:
    """A dashboard that the service gave another id, and that nobody saw, is known by that id."""
    site = Site(tmp_path, create_app(profile=Profile(client_dashboard_ids=False)))
    declared = manifest("Dashboard/checkout", dashboard().spec, NOWHERE)
    looks(site, 99, "*dashboards*", "POST", DASHBOARDS)
    site.apply(declared)
    site.wire.meddlers.clear()

    change = site.change(declared)
    site.apply(declared)

    assert change.action.word == "keep"
    assert_settled(site, declared)


@pytest.mark.promise("P27")
def test_digest_without_request_ids(site: Site) -> None:
    """Two plans of one state have one digest, though each has request ids of its own."""
    one, other = site.plan(dashboard()), site.plan(dashboard())

    assert one.digest == other.digest
    assert one.changes[0].request_id != other.changes[0].request_id


def test_alerts_are_not_looked_for(site: Site) -> None:
    """What cannot be read is written by the service's word."""
    applied = site.apply(manifest("AlertDefinition/errors", ALERT_SPEC, ALERT_ID))

    assert outcomes(applied) == {"AlertDefinition/errors": "written"}
    assert (site.count("GET", POLICIES), site.waited) == (0, [])
