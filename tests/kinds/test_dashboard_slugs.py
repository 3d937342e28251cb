"""The slug of a dashboard: declared, or of the name where nothing else tells which is meant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from harness.routes import BY_SLUG, DASHBOARDS
from harness.sites import (
    SALT,
    Site,
    actions,
    assert_settled,
    codes_of,
    dashboard,
    lost_after,
    lost_before,
    manifest,
    outcomes,
    paths,
)

from reconciler.document import Json
from reconciler.emulator import Profile, create_app
from reconciler.kinds.dashboard import identities
from reconciler.model import Action, Manifest
from reconciler.planning.find_drift import find_drift

pytestmark = pytest.mark.promise("S1")

OWN_ID = "abcdefghij_klmnop-123"
CHECKOUT = dashboard()


def known_by_id(**fields: Json) -> Manifest:
    """Return the dashboard with the id of the live one in its manifest."""
    declared = dashboard("checkout", **fields)
    return manifest(str(declared.ref), declared.spec, OWN_ID)


def stored(site: Site) -> dict[str, Any]:
    """Return the only dashboard of the service, as it is stored."""
    ((own,),) = site.app.state.store.rows("SELECT id FROM dashboards")
    found: dict[str, Any] = site.outside("GET", f"{DASHBOARDS}/{own}")["dashboard"]
    return found


def written_by_others(site: Site, **fields: Json) -> None:
    """Let someone else replace the only dashboard, with other fields."""
    there = {name: value for name, value in stored(site).items() if name != "slugName"}
    site.outside("PUT", DASHBOARDS, {"requestId": "o", "dashboard": {**there, **fields}})


def service(folder: Path, slugs: Any) -> Site:
    """Return a service that keeps slugs as they are, or makes them."""
    return Site(folder, create_app(profile=Profile(dashboard_slugs=slugs)))


def test_stored_without_a_slug(site: Site) -> None:
    """A dashboard without a slug, and without ids inside, is kept, and an update gives it none."""
    declared = CHECKOUT.spec["dashboard"]
    assert isinstance(declared, dict)
    body: Json = {"requestId": "o", "dashboard": {**declared, "id": OWN_ID}}
    site.outside("POST", DASHBOARDS, body)

    kept = site.change(known_by_id())
    site.apply(known_by_id(description="How orders go"))

    assert (kept.action, kept.differences) == (Action.KEEP, ())
    assert "slugName" not in stored(site)
    assert_settled(site, known_by_id(description="How orders go"))


def test_created_under_its_id(site: Site) -> None:
    """A dashboard that is created under a declared id gets no address that nobody declared."""
    site.apply(known_by_id())

    assert "slugName" not in site.writes[0].body["dashboard"]
    assert "slugName" not in stored(site)
    assert_settled(site, known_by_id())


@pytest.mark.parametrize("slug", [{}, {"slugName": "shop"}])
def test_slug_of_others(site: Site, slug: dict[str, Json]) -> None:
    """A slug that is not declared may change or go live: that is no difference, nor is it undone.

    The journal knows the id, so that the dashboard is found whatever its slug.
    """
    site.apply(CHECKOUT)
    assert stored(site)["slugName"] == "checkout"
    written_by_others(site, **slug)

    change = site.change(CHECKOUT)
    history = site.journal.history
    drift = site.ask(lambda api: find_drift(api, (CHECKOUT,), history, SALT)).found
    site.apply(dashboard(description="How orders go"))

    assert (change.action, change.differences) == (Action.KEEP, ())
    assert [one.state for one in drift] == ["same"]
    assert stored(site).get("slugName") == slug.get("slugName")


def test_no_longer_declared(site: Site) -> None:
    """A slug that was declared and no longer is stays as it is live."""
    site.apply(dashboard(slugName="shop"))

    assert site.change(CHECKOUT).action is Action.KEEP
    site.apply(dashboard(description="How orders go"))

    assert stored(site)["slugName"] == "shop"
    assert_settled(site, dashboard(description="How orders go"))


def test_declared_slug_is_compared(site: Site) -> None:
    """A declared slug that is another live is a difference, and is written."""
    site.apply(CHECKOUT)
    declared = dashboard(slugName="shop")

    assert paths(site.change(declared)) == [("dashboard", "slugName")]
    site.apply(declared)

    assert stored(site)["slugName"] == "shop"


@pytest.mark.parametrize("lose", [lost_after, lost_before])
@pytest.mark.parametrize("takes_ids", [True, False])
def test_lost_without_a_slug(tmp_path: Path, lose: Any, takes_ids: bool) -> None:
    """A create that only the declared id could find is never sent twice, and is in doubt."""
    profile = Profile(client_dashboard_ids=takes_ids, request_ids="ignored")
    site = Site(tmp_path, create_app(profile=profile))
    site.meddle("POST", DASHBOARDS, lose)

    applied = site.apply(known_by_id())
    made = site.plan(known_by_id())
    site.apply(plan=made)

    is_found = takes_ids and lose is lost_after
    word = "written" if is_found else "indoubt"
    assert outcomes(applied) == {"Dashboard/checkout": word}
    assert actions(made) == {"Dashboard/checkout": "keep" if is_found else "blocked"}
    assert is_found or codes_of(made.changes[0])[0] == "create-lost"
    assert site.count("POST", DASHBOARDS) == 1


def test_identities() -> None:
    """Slugs are compared where they are declared, or all that tells which dashboard is meant."""
    assert identities(CHECKOUT) == {"slug": "checkout"}
    assert identities(known_by_id()) == {}
    assert identities(known_by_id(slugName="shop")) == {"slug": "shop"}
    assert identities(dashboard(id=OWN_ID)) == {"id": OWN_ID}


@pytest.mark.parametrize("slugs", ["kept", "made"])
def test_either_service(tmp_path: Path, slugs: str) -> None:
    """Whether a service makes slugs or not, what was applied is kept, with an id and without."""
    for number, declared in enumerate((known_by_id(), dashboard("orders"))):
        (tmp_path / str(number)).mkdir()
        site = service(tmp_path / str(number), slugs)
        site.apply(declared)
        assert_settled(site, declared)


def test_service_that_makes_slugs(tmp_path: Path) -> None:
    """Where the project file says so, a new dashboard has the slug of its name, whatever its id."""
    site = service(tmp_path, "made")

    site.apply(known_by_id())

    assert stored(site)["slugName"] == "checkout"
    assert site.outside("GET", f"{BY_SLUG}/checkout")["dashboard"]["id"] == OWN_ID
    assert_settled(site, known_by_id())
