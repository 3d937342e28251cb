"""SLOs over the wire: read by id only, validated before they are replaced."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from harness.routes import SLOS, VALIDATE
from harness.sites import (
    ALERT_ID,
    SLO_SPEC,
    Meddler,
    Site,
    actions,
    answer_with,
    assert_settled,
    codes_of,
    lost_after,
    lost_before,
    manifest,
    outcomes,
    paths,
    unreachable,
)

from reconciler.document import Json
from reconciler.emulator import Profile, create_app
from reconciler.journal.entries import Settled
from reconciler.model import (
    Absent,
    Evidence,
    InDoubt,
    Manifest,
    Objected,
    Seen,
    Unknown,
    Written,
)

CHECKOUT = manifest("SLO/checkout", SLO_SPEC)
STRICTER = manifest("SLO/checkout", {**SLO_SPEC, "targetThresholdPercentage": 99.95})
OBJECTION: Json = {
    "alertsValidationResult": [
        {"id": ALERT_ID, "name": "Budget", "errorMessage": "the window is gone"},
        {"id": "x", "name": "Fine", "errorMessage": ""},
    ]
}


def sent(site: Site) -> list[str]:
    """Name what was sent, ids left out."""
    known = (VALIDATE, SLOS)
    return [
        f"{one.method} {next((path for path in known if one.path == path), SLOS + '/ID')}"
        for one in site.sent
    ]


def known_id(site: Site) -> str:
    """Give the id that the journal keeps."""
    remote_id = site.journal.history.of(CHECKOUT.ref).remote_id
    assert isinstance(remote_id, str)
    return remote_id


def test_first_plan(site: Site) -> None:
    """Without an id nothing can be asked, and what is not there is not validated."""
    change = site.change(CHECKOUT)

    assert (change.action.word, change.evidence) == ("create", Evidence.NONE)
    assert isinstance(change.observation, Unknown)
    assert sent(site) == []


def test_create(site: Site) -> None:
    """A create is sent once, read by its id, and its id kept in the journal."""
    site.apply(CHECKOUT)

    assert sent(site) == [f"POST {SLOS}", f"GET {SLOS}/ID"]
    assert site.writes[0].body == SLO_SPEC
    assert known_id(site) == site.writes[0].answer["slo"]["id"]
    assert_settled(site, CHECKOUT)


def test_replace(site: Site) -> None:
    """A replace rests on a read, is validated, and carries the id in its body."""
    site.apply(CHECKOUT)
    site.forget()

    change = site.change(STRICTER)
    site.apply(STRICTER)

    assert (change.action.word, change.evidence) == ("update", Evidence.LIVE)
    assert paths(change) == [("targetThresholdPercentage",)]
    assert [one.body["id"] for one in site.sent if one.method == "PUT"] == [known_id(site)]
    assert sent(site)[-4:] == [
        f"POST {VALIDATE}",
        f"GET {SLOS}/ID",
        f"PUT {SLOS}",
        f"GET {SLOS}/ID",
    ]
    assert_settled(site, STRICTER)


def test_read_only_fields(site: Site) -> None:
    """What only the service sets is neither compared nor sent."""
    site.apply(CHECKOUT)
    site.apply(STRICTER)

    own = {"creator", "createTime", "updateTime", "revision", "type"}
    assert all(own.isdisjoint(write.body) for write in site.writes)


def test_declared_id(site: Site) -> None:
    """A declared id is read, and one that the service has not is blocked and not created."""
    site.apply(CHECKOUT)
    found = site.change(manifest("SLO/other-name", SLO_SPEC, known_id(site)))
    missing = site.change(manifest("SLO/other-name", SLO_SPEC, ALERT_ID))

    assert isinstance(found.observation, Seen)
    assert found.action.word == "keep"
    assert isinstance(missing.observation, Absent)
    assert missing.action.word == "blocked"
    assert codes_of(missing) == ["cannot-be-created"]


def test_objection_in_the_plan(site: Site) -> None:
    """What the service objects to at plan time is in the plan, and stops that SLO only."""
    site.apply(CHECKOUT)
    other = manifest("SLO/other", SLO_SPEC)
    site.meddle("POST", VALIDATE, answer_with(200, OBJECTION))

    made = site.plan(STRICTER, other)
    applied = site.apply(plan=made)

    assert actions(made) == {"SLO/checkout": "blocked", "SLO/other": "create"}
    assert made.changes[0].reasons[0] == Objected("alert Budget: the window is gone")
    assert outcomes(applied) == {"SLO/checkout": "refused", "SLO/other": "written"}
    assert applied.exit_codes == {3}


@pytest.mark.parametrize("status", [400, 409, 422])
def test_refused_validation(site: Site, status: int) -> None:
    """A refusal to validate is an objection in the service's words."""
    site.apply(CHECKOUT)
    site.meddle("POST", VALIDATE, answer_with(status, {"message": "no such metric"}))

    assert site.change(STRICTER).reasons[0] == Objected("no such metric")


@pytest.mark.promise("P22")
@pytest.mark.parametrize("how", ["any", "existing", "documented"])
@pytest.mark.parametrize("slis", ["either", "documented"])
def test_create_is_not_validated(tmp_path: Path, how: Any, slis: Any) -> None:
    """A create passes whatever the service validates, as it is not asked about what it has not."""
    site = Site(tmp_path, create_app(profile=Profile(validation=how, slis=slis)))

    change = site.change(CHECKOUT)
    applied = site.apply(CHECKOUT)

    assert change.action.word == "create"
    assert outcomes(applied) == {"SLO/checkout": "written"}
    assert site.count("POST", VALIDATE) == 0


def test_objection_before_the_replace(site: Site) -> None:
    """What the service objects to only when it is applied stops the write before it is sent."""
    site.apply(CHECKOUT)
    made = site.plan(STRICTER)
    site.meddle("POST", VALIDATE, answer_with(200, OBJECTION))
    site.forget()

    applied = site.apply(plan=made)

    assert outcomes(applied) == {"SLO/checkout": "refused"}
    assert site.writes == []
    assert site.entries()[-1] == "written SLO/checkout"


def test_affected_alerts(tmp_path: Path) -> None:
    """The alerts that a replace touches are told by their ids."""
    site = Site(tmp_path, create_app(alert_ids=[ALERT_ID]))
    site.apply(CHECKOUT)
    watching: dict[str, Json] = {
        "name": "Budget",
        "type": "ALERT_DEF_TYPE_SLO_THRESHOLD",
        "sloThreshold": {
            "sloDefinition": {"sloId": known_id(site)},
            "errorBudget": {"rules": [{"condition": {"threshold": 10}}]},
        },
    }
    site.apply(manifest("AlertDefinition/budget", watching, ALERT_ID), CHECKOUT)

    applied = site.apply(STRICTER)

    (outcome,) = applied.outcomes
    assert isinstance(outcome, Written)
    assert outcome.message == "affects 1 alert"


@pytest.mark.parametrize(
    "lose",
    [
        lost_after,
        lost_before,
        answer_with(500, carried_out=True),
        answer_with(502),
        answer_with(200, {}, carried_out=True),
        answer_with(200, {"slo": None}),
        answer_with(200, {"slo": {"id": 5}}),
        answer_with(200, {"slo": {"id": ""}}),
        answer_with(200, {"slo": [1]}),
        answer_with(200, []),
        answer_with(200, "text"),
    ],
)
def test_lost_create(site: Site, lose: Meddler) -> None:
    """A create without a usable answer is in doubt, exit 7, and never sent again by itself."""
    site.meddle("POST", SLOS, lose)

    applied = site.apply(CHECKOUT)
    made = site.plan(CHECKOUT)

    assert isinstance(applied.outcomes[0], InDoubt)
    assert applied.exit_codes == {7}
    assert actions(made) == {"SLO/checkout": "blocked"}
    assert [str(create.ref) for create in made.unsettled] == ["SLO/checkout"]
    assert codes_of(made.changes[0])[0] == "create-lost"
    assert site.count("POST", SLOS) == 1


def settle(site: Site, remote_id: str | None) -> None:
    """Say what became of the create, as `journal settle` does."""
    journal = site.journal
    with journal.locked():
        journal.append([Settled(at=journal.now(), ref=CHECKOUT.ref, remote_id=remote_id)])


def test_settled_by_id(site: Site) -> None:
    """Once a person names the id, the SLO is read by it and nothing is created."""
    site.meddle("POST", SLOS, lost_after)
    site.apply(CHECKOUT)
    settle(site, site.app.state.store.row("SELECT id FROM slos")[0])

    assert site.change(CHECKOUT).action.word == "keep"
    assert_settled(site, CHECKOUT)


def test_settled_as_never_happened(site: Site) -> None:
    """Once a person says that it never happened, it is created."""
    site.meddle("POST", SLOS, lost_before)
    site.apply(CHECKOUT)
    settle(site, None)

    site.apply(CHECKOUT)

    assert site.count("POST", SLOS) == 2
    assert_settled(site, CHECKOUT)


@pytest.mark.parametrize("lose", [unreachable, answer_with(429)])
def test_create_that_surely_failed(site: Site, lose: Meddler) -> None:
    """A create that never reached the service is tried again, and is not in doubt."""
    site.meddle("POST", SLOS, lose)

    applied = site.apply(CHECKOUT)

    assert outcomes(applied) == {"SLO/checkout": "written"}
    assert site.app.state.store.row("SELECT count(*) FROM slos") == (1,)


def test_service_gone_before_the_create(site: Site) -> None:
    """A create that never reached the service at all leaves nothing unsettled."""
    site.meddle("POST", SLOS, *[unreachable] * 5)

    applied = site.apply(CHECKOUT)

    assert applied.exit_codes == {9}
    assert site.journal.history.unsettled() == {}
    assert site.change(CHECKOUT).action.word == "create"


def test_gone_and_lost(site: Site) -> None:
    """An SLO that is gone, and whose new create is lost, is not created a third time."""
    site.apply(CHECKOUT)
    site.app.state.store.write("DELETE FROM slos")
    site.meddle("POST", SLOS, lost_after)
    gone = site.change(CHECKOUT)
    site.apply(CHECKOUT)

    made = site.plan(CHECKOUT)

    assert gone.action.word == "create"
    assert codes_of(gone)[0] == "gone-since"
    assert actions(made) == {"SLO/checkout": "blocked"}
    assert len(made.unsettled) == 1


def test_id_declared_after_a_lost_create(site: Site) -> None:
    """A person may settle a lost create by writing its id into the manifest."""
    site.meddle("POST", SLOS, lost_after)
    site.apply(CHECKOUT)
    found = manifest("SLO/checkout", SLO_SPEC, site.app.state.store.row("SELECT id FROM slos")[0])

    assert_settled_after_adopting(site, found)


def assert_settled_after_adopting(site: Site, declared: Manifest) -> None:
    """Assert that the first apply only journals, and the next does nothing at all."""
    made = site.plan(declared)
    assert actions(made) == {str(declared.ref): "keep"}
    assert made.unsettled == ()
    site.apply(plan=made)
    assert site.journal.history.unsettled() == {}
    assert_settled(site, declared)


@pytest.mark.parametrize("lose", [lost_after, lost_before, answer_with(503)])
def test_lost_replace(site: Site, lose: Meddler) -> None:
    """A replace without an answer is sent again."""
    site.apply(CHECKOUT)
    site.meddle("PUT", SLOS, lose)

    applied = site.apply(STRICTER)

    assert outcomes(applied) == {"SLO/checkout": "written"}
    assert_settled(site, STRICTER)


@pytest.mark.parametrize("lose", [lost_after, lost_before])
def test_all_answers_to_a_replace_lost(site: Site, lose: Meddler) -> None:
    """After a replace without any answer the next plan rests on what live shows."""
    site.apply(CHECKOUT)
    site.meddle("PUT", SLOS, *[lose] * 5)

    applied = site.apply(STRICTER)
    change = site.change(STRICTER)

    assert applied.exit_codes == {9}
    assert change.action.word == ("keep" if lose is lost_after else "update")
    assert codes_of(change)[0] == "write-lost"
    site.apply(STRICTER)
    assert_settled(site, STRICTER)


def test_one_of_many_fails(site: Site) -> None:
    """When one SLO of a batch stops the run, the answers of the others are kept."""
    many = [manifest(f"SLO/slo-{n}", SLO_SPEC) for n in range(6)]
    site.apply(*many)
    site.meddle("PUT", SLOS, *[answer_with(401, {"message": "expired"})])
    stricter = [
        manifest(str(one.ref), {**SLO_SPEC, "targetThresholdPercentage": 95}) for one in many
    ]

    applied = site.apply(*stricter)

    assert sorted(outcomes(applied).values()) == ["refused"] + ["written"] * 5
    assert applied.exit_codes == {10}
    assert sum(entry.startswith("written") for entry in site.entries()) == 6 + 5
    assert list(actions(site.plan(*stricter)).values()).count("keep") == 5


@pytest.mark.parametrize("lose", [lost_after, lost_before])
def test_one_doubt_at_a_time(site: Site, lose: Meddler) -> None:
    """After a lost create no other create is risked that only a person could settle."""
    many = [manifest(f"SLO/slo-{n}", SLO_SPEC) for n in range(3)]
    site.meddle("POST", SLOS, lose, lose, lose)

    applied = site.apply(*many)

    assert list(outcomes(applied).values()) == ["indoubt", "skipped", "skipped"]
    assert site.count("POST", SLOS) == 1
    assert len(site.journal.history.unsettled()) == 1


@pytest.mark.promise("P23")
@pytest.mark.parametrize(
    "wrong",
    [
        *({}, {"slo": None}, {"slo": []}, [], "text", 5, {"slo": "x"}, {"slo": {}}),
        {"slo": {"name": "Checkout", "targetThresholdPercentage": None}},
        {"slo": {"targetThresholdPercentage": 99}},
    ],
)
def test_odd_record(site: Site, wrong: Json) -> None:
    """A record of another shape is an error of the service, not an SLO that lost its fields."""
    site.apply(CHECKOUT)
    site.meddle("GET", SLOS + "/*", *[answer_with(200, wrong)] * 5)

    with pytest.raises(ExceptionGroup) as raised:
        site.plan(CHECKOUT)

    assert raised.group_contains(Exception, match="slo|SLO|not JSON")


def test_equal_numbers(site: Site) -> None:
    """A number that comes back in another form is no difference."""
    site.apply(manifest("SLO/checkout", {**SLO_SPEC, "targetThresholdPercentage": 99}))

    assert_settled(site, manifest("SLO/checkout", {**SLO_SPEC, "targetThresholdPercentage": 99.0}))
