"""A declared id means that dashboard and no other: what else is found is named, not taken."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.routes import BY_SLUG, DASHBOARDS
from harness.sites import (
    Site,
    assert_settled,
    dashboard,
    lost_after,
    manifest,
    unreachable,
    untouched,
)

from reconciler.document import Json
from reconciler.emulator import Profile, create_app
from reconciler.journal.history import History, compacted
from reconciler.model import Action, AnotherId, Manifest, Written

pytestmark = pytest.mark.promise("P19")

OWN_ID = "abcdefghij_klmnop-123"
OTHER_ID = "zyxwvutsrq_klmnop-987"
CHECKOUT = dashboard()


def in_metadata(own_id: str, name: str = "checkout", slug: str = "") -> Manifest:
    """Give the dashboard with an id of its manifest."""
    declared = dashboard(name, **({"slugName": slug} if slug else {}))
    return manifest(str(declared.ref), declared.spec, own_id)


def in_export(own_id: str, name: str = "checkout", slug: str = "") -> Manifest:
    """Give the dashboard with the id that an export carries."""
    return dashboard(name, id=own_id, **({"slugName": slug} if slug else {}))


def live_id(site: Site) -> str:
    """Return the id of the only live dashboard."""
    ((own,),) = site.app.state.store.rows("SELECT id FROM dashboards")
    return str(own)


def count(site: Site) -> int:
    """Count the dashboards of the service."""
    (number,) = site.app.state.store.row("SELECT count(*) FROM dashboards")
    return int(number)


@pytest.mark.parametrize(
    "declared", [in_metadata(OWN_ID, slug="checkout"), in_export(OWN_ID, slug="checkout")]
)
def test_found_by_slug(site: Site, declared: Manifest) -> None:
    """An id that nothing has, where the slug finds another dashboard, is blocked with both ids."""
    body: Json = {"name": "Theirs", "slugName": "checkout"}
    site.outside("POST", DASHBOARDS, {"dashboard": body, "requestId": "x"})

    change = site.change(declared)
    applied = site.apply(declared)

    assert change.action is Action.BLOCKED
    assert change.reasons == (AnotherId(OWN_ID, live_id(site)),)
    assert not any(isinstance(outcome, Written) for outcome in applied.outcomes)
    assert site.writes == []


@pytest.mark.parametrize(
    "declared",
    [
        in_metadata(OWN_ID),
        in_export(OWN_ID),
        in_metadata(OWN_ID, slug="elsewhere"),
        in_export(OWN_ID, slug="elsewhere"),
    ],
)
def test_found_by_the_journal(site: Site, declared: Manifest) -> None:
    """An id that nothing has, where the journal knows another dashboard, is blocked with both."""
    site.apply(CHECKOUT)

    change = site.change(declared)

    assert change.action is Action.BLOCKED
    assert AnotherId(OWN_ID, live_id(site)) in change.reasons
    site.forget()
    site.apply(declared)
    assert site.writes == []
    assert count(site) == 1


@pytest.mark.parametrize("another", [in_metadata, in_export])
def test_corrected(site: Site, another: object) -> None:
    """With the id that was found, or with none, all is as before."""
    site.apply(CHECKOUT)
    known = live_id(site)
    assert callable(another)
    assert site.change(another(OWN_ID)).action is Action.BLOCKED

    assert site.change(another(known)).action is Action.KEEP
    assert_settled(site, CHECKOUT)


def test_the_declared_one_is_there(site: Site) -> None:
    """A declared id that is there is the dashboard, whatever slug and journal say."""
    site.apply(CHECKOUT)
    site.outside(
        "POST", DASHBOARDS, {"dashboard": {"id": OWN_ID, "name": "Theirs"}, "requestId": "x"}
    )
    declared = in_metadata(OWN_ID, slug="elsewhere")

    change = site.change(declared)

    assert change.action is Action.UPDATE
    assert change.remote_id == OWN_ID


def test_what_was_is_gone(site: Site) -> None:
    """Where the dashboard that the journal knows is gone, another declared id is created."""
    site.apply(CHECKOUT)
    site.app.state.store.write("DELETE FROM dashboards")

    assert site.change(in_metadata(OWN_ID)).action is Action.CREATE
    site.apply(in_metadata(OWN_ID))
    assert live_id(site) == OWN_ID
    assert_settled(site, in_metadata(OWN_ID))


class Stubborn(Site):
    """A service that gives out ids itself."""

    def __init__(self, root: Path) -> None:
        super().__init__(root, create_app(profile=Profile(client_dashboard_ids=False)))


@pytest.mark.parametrize("declared", [in_metadata(OWN_ID), in_export(OWN_ID)])
def test_another_id_was_given(tmp_path: Path, declared: Manifest) -> None:
    """An id that the service gave instead of the declared one is told, and is no other."""
    site = Stubborn(tmp_path)

    applied = site.apply(declared)

    (outcome,) = applied.outcomes
    assert isinstance(outcome, Written)
    assert OWN_ID in outcome.message
    assert live_id(site) in outcome.message
    assert_settled(site, declared)


@pytest.mark.parametrize("form", [in_metadata, in_export])
def test_another_id_was_given_and_the_slug_changes(tmp_path: Path, form: object) -> None:
    """What the service gave another id is found by that, whatever slug is declared by now."""
    site = Stubborn(tmp_path)
    assert callable(form)
    site.apply(form(OWN_ID))
    known = live_id(site)

    site.apply(form(OWN_ID, slug="elsewhere"))

    assert site.outside("GET", f"{BY_SLUG}/elsewhere")["dashboard"]["id"] == known
    assert count(site) == 1
    assert_settled(site, form(OWN_ID, slug="elsewhere"))


def test_a_third_id(tmp_path: Path) -> None:
    """Where the service gave another id than the declared one, a third is blocked."""
    site = Stubborn(tmp_path)
    site.apply(in_metadata(OWN_ID))

    change = site.change(in_metadata(OTHER_ID))

    assert change.action is Action.BLOCKED
    assert AnotherId(OTHER_ID, live_id(site)) in change.reasons


def test_after_a_crash(tmp_path: Path) -> None:
    """What a lost create made under another id is taken for what it is, then and later."""
    site = Stubborn(tmp_path)
    site.meddle("POST", DASHBOARDS, lost_after)
    site.meddle("GET", BY_SLUG + "/*", untouched, untouched, *[unreachable] * 5)
    declared = in_metadata(OWN_ID, slug="checkout")
    site.apply(declared)

    assert site.change(declared).action is Action.KEEP
    site.apply(declared)

    assert count(site) == 1
    assert_settled(site, declared)


def test_compacted(tmp_path: Path) -> None:
    """A compacted journal still knows which id was given instead of which."""
    site = Stubborn(tmp_path)
    site.apply(in_metadata(OWN_ID))
    history = History()

    history.add(compacted(site.journal.entries, "2025-01-31T09:00:00Z"))

    assert history.of(CHECKOUT.ref).instead_of == OWN_ID
    assert history.of(CHECKOUT.ref) == site.journal.history.of(CHECKOUT.ref)
