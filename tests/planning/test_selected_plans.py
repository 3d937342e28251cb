"""Plans of a part of the manifests: what is asked, what stands in the way, what a review covers."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.routes import SLOS
from harness.sites import (
    ALERT_ID,
    SLO_SPEC,
    VIEW_SPEC,
    Site,
    dashboard,
    manifest,
    watching,
)

from reconciler.emulator import create_app
from reconciler.model import Action, NoJournal, NotSelected, Ref, Selected
from reconciler.planning.decide import PlanTarget

SERVICE = PlanTarget("production", "https://api.example.com")
EMBEDDED = PlanTarget("local", "emulator", embedded=True)
SLO = manifest("SLO/checkout", SLO_SPEC)
OTHER = manifest("SLO/other", {**SLO_SPEC, "name": "Other"})
ALERTS = Selected(("kind=AlertDefinition",), (), 2)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path, create_app(alert_ids=[ALERT_ID]))


def test_a_review_is_of_its_selection(site: Site) -> None:
    """The same changes, chosen in another way, are another plan; how many are left out is none."""
    one = dashboard()

    whole = site.plan(one).digest
    chosen = site.plan(one, selected=Selected(("kind=Dashboard",), (), 1))
    beside = site.plan(one, selected=Selected(("kind=Dashboard",), (), 9))
    without = site.plan(one, selected=Selected((), ("kind=SLO",), 1))

    assert len({whole, chosen.digest, without.digest}) == 3
    assert beside.digest == chosen.digest
    assert chosen.selected == Selected(("kind=Dashboard",), (), 1)
    assert site.plan(one).selected is None


def test_only_what_is_referred_to_is_asked(site: Site) -> None:
    """Of what is not selected, the service is asked for what the rest refers to, and no more."""
    site.apply(SLO, OTHER)
    site.forget()

    made = site.plan(watching(), others=(SLO, OTHER), selected=ALERTS)

    assert [one.path.startswith(SLOS) for one in site.sent] == [True]
    (change,) = made.changes
    assert change.action is Action.ASSERT
    assert change.awaits == frozenset()


def test_what_would_never_get_an_id(site: Site) -> None:
    """What refers to something that was never made, and is not selected, is blocked by it."""
    made = site.plan(watching(), others=(SLO, OTHER), selected=ALERTS)

    (change,) = made.changes
    assert change.action is Action.BLOCKED
    assert change.reasons[0] == NotSelected((Ref("SLO", "checkout"),))


def test_what_is_beside_a_part(site: Site) -> None:
    """Beside a part stands what the journal knows, and apart from it what only has an id."""
    site.apply(SLO)
    view = manifest("SavedView/errors", VIEW_SPEC, 7)
    unknown = manifest("SavedView/new", {**VIEW_SPEC, "name": "New"})

    made = site.plan(dashboard(), whole=False, others=(SLO, view, unknown))

    assert made.beside == (Ref("SLO", "checkout"),)
    assert made.perhaps_beside == (Ref("SavedView", "errors"),)
    assert made.orphans == ()


def test_a_journal_is_missed_once(site: Site) -> None:
    """That there is no journal is said of a service that remembers, until there is one."""
    assert site.plan(SLO, place=SERVICE).remarks == (NoJournal(),)
    assert site.plan(SLO, place=EMBEDDED).remarks == ()

    site.apply(SLO)

    assert site.plan(SLO, place=SERVICE).remarks == ()
