"""Who watches an SLO that changes: by what is declared, and by what the service told."""

from __future__ import annotations

from dataclasses import replace

import pytest
from harness.sites import (
    ALERT_ID,
    SLO_SPEC,
    Site,
    answer_with,
    manifest,
    watching,
)

from reconciler.document import Json
from reconciler.journal.history import History, Memory
from reconciler.model import Action, Manifest, Plan, Ref, Watchers
from reconciler.planning.consequences import known_alerts, watchers_of
from reconciler.report.sections import reported_watchers

SLOS = "/v1/slo/slos"
CHECKOUT = Ref("SLO", "checkout")
BUDGET = Ref("AlertDefinition", "budget")
STRANGER = "11111111-2222-4333-8444-555555555555"
NOTHING_PLANNED = Plan(environment="production", target="a service", digest="", changes=())


def slo(target: float = 99.9, **more: Json) -> Manifest:
    return manifest("SLO/checkout", {**SLO_SPEC, "targetThresholdPercentage": target, **more})


def watched(
    site: Site, *examined: Manifest, others: tuple[Manifest, ...] = ()
) -> dict[Ref, Watchers]:
    """Give who watches what a plan of these changes, beside others that are declared."""
    made, history = site.plan(*examined, others=others), site.journal.history
    declared = (*examined, *others)
    return watchers_of(made.changes, declared, history, known_alerts(declared, history))


@pytest.fixture
def applied(site: Site) -> Site:
    """Give a site with an SLO and an alert that watches it."""
    site.apply(slo(), watching())
    return site


def test_by_reference(applied: Site) -> None:
    """An alert that refers to an SLO watches it, though it is not examined itself."""
    assert watched(applied, slo(99.5), others=(watching(),)) == {CHECKOUT: Watchers(refs=(BUDGET,))}


def test_by_id(applied: Site) -> None:
    """An alert that names the id of an SLO watches it, in whatever letters."""
    slo_id = str(applied.journal.history.of(CHECKOUT).remote_id)
    by_id: dict[str, Json] = {
        "name": "By id",
        "type": "ALERT_DEF_TYPE_SLO_THRESHOLD",
        "sloThreshold": {"sloDefinition": {"sloId": slo_id.upper()}},
    }
    other = manifest("AlertDefinition/by-id", by_id, STRANGER)

    assert watched(applied, slo(99.5), others=(watching(), other)) == {
        CHECKOUT: Watchers(refs=(BUDGET, Ref("AlertDefinition", "by-id")))
    }


def test_what_stays_is_watched_by_nobody(applied: Site) -> None:
    """Nothing is said of an SLO that does not change."""
    assert watched(applied, slo(), others=(watching(),)) == {}


def test_told_at_the_last_write(applied: Site) -> None:
    """What the service named at the last write is known, by name where a journal has one."""
    named: Json = {"effectedSloAlertIds": [ALERT_ID.upper(), STRANGER]}
    applied.meddle("PUT", SLOS, answer_with(200, named, carried_out=True))
    applied.apply(slo(99.5))

    assert watched(applied, slo(99.0)) == {CHECKOUT: Watchers(refs=(BUDGET,), others=(STRANGER,))}


def test_told_when_asked(applied: Site) -> None:
    """What the service names when it validates is known, also where it objects to nothing."""
    items: Json = [{"id": STRANGER, "name": "x", "errorMessage": ""}]
    answer = answer_with(200, {"alertsValidationResult": items})
    applied.meddle("POST", f"{SLOS}/validate", answer)

    made = applied.plan(slo(99.5), watching())

    assert [change.action for change in made.changes if change.ref == CHECKOUT] == [Action.UPDATE]
    history = applied.journal.history
    found = watchers_of(made.changes, [slo(99.5), watching()], history, {})
    assert found == {CHECKOUT: Watchers(refs=(BUDGET,), others=(STRANGER,))}


def test_foreseen_against_told(applied: Site) -> None:
    """After the write each alert stands where it belongs: foreseen, told, or only one of these."""
    other = Ref("AlertDefinition", "other")
    declared = [slo(99.5), watching()]
    plan = replace(
        NOTHING_PLANNED,
        watchers={CHECKOUT: Watchers(refs=(BUDGET, other))},
        alerts=known_alerts(declared, applied.journal.history),
    )
    named: Json = {"effectedSloAlertIds": [ALERT_ID, STRANGER]}
    applied.meddle("PUT", SLOS, answer_with(200, named, carried_out=True))
    applied.apply(*declared)
    (outcome,) = [one for one in applied.told[-2:] if one.ref == CHECKOUT]

    told = reported_watchers(outcome, plan)

    assert told == {
        "predicted": [str(BUDGET), str(other)],
        "told": [str(BUDGET), STRANGER],
        "unforeseen": [STRANGER],
        "notTold": [str(other)],
    }


def test_an_answer_that_does_not_say(applied: Site) -> None:
    """Of a service that tells no alerts nothing is held against what was foreseen."""
    applied.meddle("PUT", SLOS, answer_with(200, {"slo": {}}, carried_out=True))
    applied.apply(slo(99.5), watching())
    (outcome,) = [one for one in applied.told if one.ref == CHECKOUT][-1:]

    plan = replace(NOTHING_PLANNED, watchers={CHECKOUT: Watchers(refs=(BUDGET,))})
    assert reported_watchers(outcome, plan) is None


def test_known_alerts() -> None:
    """The known alerts are those with an id, remembered or declared, and no other kind is."""
    remembered = Ref("AlertDefinition", "remembered")
    history = History(
        {
            remembered: Memory(remote_id=STRANGER),
            Ref("AlertDefinition", "lost"): Memory(),
            CHECKOUT: Memory(remote_id="an-slo"),
        }
    )

    found = known_alerts([watching(), slo()], history)

    assert found == {STRANGER: remembered, ALERT_ID: watching().ref}
