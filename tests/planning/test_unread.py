"""One answer of no use about one resource, beside others that are."""

from __future__ import annotations

import pytest
from harness.golden import Golden
from harness.routes import SLOS
from harness.sites import SALT, SLO_SPEC, Site, answer_with, dashboard, manifest

from reconciler.model import Action, CouldNotBeRead
from reconciler.planning.find_drift import find_drift

SLO = manifest("SLO/checkout", SLO_SPEC)


@pytest.fixture
def site(site: Site) -> Site:
    site.apply(SLO, dashboard())
    return site


def test_known_id(site: Site, golden: Golden) -> None:
    """What could not be read keeps the id that the journal knows, with the reason and its code."""
    remote_id = site.journal.history.of(SLO.ref).remote_id
    site.meddle("GET", f"{SLOS}/{remote_id}", answer_with(200, "text"))

    made = site.plan(SLO, dashboard())

    assert [change.action for change in made.changes] == [Action.BLOCKED, Action.KEEP]
    (found,) = made.unread
    assert found.remote_id == remote_id
    golden(found.why)
    assert found.exit_code == 9
    assert made.changes[0].reasons == (CouldNotBeRead(found.why, 9),)


def test_declared_id(site: Site) -> None:
    """An id that is declared goes before the one that the journal knows."""
    chosen = manifest("SLO/checkout", SLO_SPEC, "declared-id-of-21-let")
    site.meddle("GET", f"{SLOS}/{chosen.remote_id}", answer_with(200, "text"))

    (found,) = site.plan(chosen, dashboard()).unread

    assert found.remote_id == chosen.remote_id


def test_no_answer_of_use(site: Site) -> None:
    """Where no answer at all is of use, it is the service, and nothing is planned."""
    site.meddle("GET", "*", answer_with(200, "text"))

    with pytest.raises(ExceptionGroup, match="no answer about a resource is of use"):
        site.plan(dashboard())


def test_unread_is_no_drift(site: Site) -> None:
    """What could not be read is told as unread, with the reason and its code, and is no drift."""
    history = site.journal.history
    path = f"{SLOS}/{history.of(SLO.ref).remote_id}"
    site.meddle("GET", path, answer_with(200, "text"))

    board, slo = site.ask(lambda api: find_drift(api, (SLO, dashboard()), history, SALT)).found

    assert (board.state, slo.state) == ("same", "unread")
    assert (slo.ref, slo.source, slo.exit_code, slo.drifted) == (SLO.ref, SLO.source, 9, False)
    assert slo.note.startswith("it could not be read: ")
    assert len(slo.note) > len("it could not be read: ")
