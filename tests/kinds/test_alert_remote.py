"""Alert definitions over the wire: one bulk request, no read, no create."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from uuid import UUID

import pytest
from harness.golden import Golden
from harness.routes import ALERTS
from harness.sites import (
    ALERT_ID,
    ALERT_SPEC,
    Site,
    actions,
    answer_with,
    assert_settled,
    lost_after,
    lost_before,
    manifest,
    outcomes,
    paths,
    unreachable,
)

from reconciler.document import Json
from reconciler.emulator import create_app
from reconciler.model import Evidence, Manifest, Refused, Remembered, Unchanged, Unknown

ERRORS = manifest("AlertDefinition/errors", ALERT_SPEC, ALERT_ID)
CHANGED = manifest("AlertDefinition/errors", {**ALERT_SPEC, "name": "More errors"}, ALERT_ID)
LISTS = ("alertDefs", "failedToReplaceAlertDefs", "notFoundIds", "skippedIds")


def alert_id(number: int) -> str:
    """Give one of many ids."""
    return str(UUID(int=(4 << 76) | (8 << 60) | number))


def alerts(count: int, **fields: Json) -> list[Manifest]:
    """Give many alerts."""
    return [
        manifest(f"AlertDefinition/alert-{n:03}", {**ALERT_SPEC, **fields}, alert_id(n))
        for n in range(count)
    ]


def test_first_plan(site: Site) -> None:
    """An alert that was never written is asserted, without evidence and without a request."""
    change = site.change(ERRORS)

    assert (change.action.word, change.evidence) == ("assert", Evidence.NONE)
    assert change.observation == Unknown(ALERT_ID, "the API has no read of alert definitions")
    assert change.remote_id == ALERT_ID
    assert site.sent == []


def test_remembered(site: Site) -> None:
    """After a write the alert is compared with the journal, and never asked for."""
    site.apply(ERRORS)
    kept = site.change(ERRORS)
    changed = site.change(CHANGED)

    assert (kept.action.word, kept.evidence) == ("keep", Evidence.JOURNAL)
    assert isinstance(kept.observation, Remembered)
    assert (changed.action.word, changed.evidence) == ("update", Evidence.JOURNAL)
    assert paths(changed) == [("name",)]
    assert [(one.method, one.path) for one in site.sent] == [("PUT", ALERTS)]


def test_exact_request(site: Site) -> None:
    """What is sent is the declared document, whole, under its id."""
    site.apply(ERRORS)

    assert site.sent[0].body == {
        "alertDefsToReplace": [{"id": ALERT_ID, "alertDefProperties": ALERT_SPEC}]
    }
    assert_settled(site, ERRORS)


def test_another_id(site: Site) -> None:
    """With another id it is another alert, of which the journal knows nothing."""
    site.apply(ERRORS)

    moved = site.change(manifest("AlertDefinition/errors", ALERT_SPEC, alert_id(7)))

    assert moved.action.word == "assert"


@pytest.mark.parametrize(
    ("count", "sizes"), [(1, [1]), (100, [100]), (101, [100, 1]), (250, [100, 100, 50])]
)
def test_batches(tmp_path: Path, count: int, sizes: list[int]) -> None:
    """No request carries more than a hundred alerts, and each alert is sent once."""
    site = Site(tmp_path, create_app(alert_ids=map(alert_id, range(count))))

    applied = site.apply(*alerts(count))

    assert [len(one.body["alertDefsToReplace"]) for one in site.sent] == sizes
    sent = [item["id"] for one in site.sent for item in one.body["alertDefsToReplace"]]
    assert sorted(sent) == sorted(map(alert_id, range(count)))
    assert set(outcomes(applied).values()) == {"written"}
    assert_settled(site, *alerts(count))


def member(name: str, one: str) -> Json:
    """Give an id as it stands in one of the lists."""
    if name == "alertDefs":
        return {"id": one, "alertDefProperties": ALERT_SPEC}
    return {"id": one} if name == "failedToReplaceAlertDefs" else one


MEMBERSHIPS = [chosen for size in range(5) for chosen in combinations(LISTS, size)]


@pytest.mark.parametrize("chosen", MEMBERSHIPS, ids="+".join)
def test_accounts(tmp_path: Path, chosen: tuple[str, ...]) -> None:
    """Each id has to stand in exactly one list; in none or several, it is an error of that alert.

    The other alerts of the batch are as the answer says, and ids never sent count for nothing.
    """
    site = Site(tmp_path)
    declared = alerts(3)
    reply: dict[str, Json] = {name: [] for name in LISTS}
    for name in LISTS:
        ids = [alert_id(99), *([alert_id(0).upper()] if name in chosen else [])]
        ids += [alert_id(1)] if name == "alertDefs" else []
        ids += [alert_id(2)] if name == "skippedIds" else []
        reply[name] = [member(name, id_) for id_ in ids]
    site.meddle("PUT", ALERTS, answer_with(200, reply))

    applied = site.apply(*declared)

    good: dict[tuple[str, ...], str] = {("alertDefs",): "written", ("skippedIds",): "unchanged"}
    clear = len(chosen) == 1
    expected = good.get(chosen, "refused" if clear else "unconfirmed")
    assert list(outcomes(applied).values()) == [expected, "written", "unchanged"]
    assert applied.exit_codes == (set() if chosen in good else {3})
    again = actions(site.plan(*declared))
    assert again.pop("AlertDefinition/alert-000") == ("keep" if chosen in good else "assert")
    assert set(again.values()) == {"keep"}


@pytest.mark.promise("P28")
@pytest.mark.parametrize("chosen", [(), ("alertDefs", "notFoundIds"), ("skippedIds", "alertDefs")])
def test_unclear_account(site: Site, chosen: tuple[str, ...]) -> None:
    """Where the answer is unclear, going back to the old document is a write and no keep."""
    site.apply(ERRORS)
    site.meddle(
        "PUT", ALERTS, answer_with(200, {name: [member(name, ALERT_ID)] for name in chosen})
    )
    site.apply(CHANGED)

    assert site.change(ERRORS).action.word == "assert"


def test_clear_refusal(site: Site) -> None:
    """Where the service says that it failed, the old document stands."""
    site.apply(ERRORS)
    site.meddle("PUT", ALERTS, answer_with(200, {"failedToReplaceAlertDefs": [{"id": ALERT_ID}]}))
    site.apply(CHANGED)

    assert site.change(ERRORS).action.word == "keep"
    assert site.change(CHANGED).action.word == "update"


def test_twice_in_one_list(site: Site) -> None:
    """An id that stands twice in one list tells nothing for sure either."""
    twice = [member("alertDefs", ALERT_ID)] * 2
    site.meddle("PUT", ALERTS, answer_with(200, {"alertDefs": twice}))

    applied = site.apply(ERRORS)

    assert outcomes(applied) == {"AlertDefinition/errors": "unconfirmed"}


def test_unknown_alert(tmp_path: Path, golden: Golden) -> None:
    """An alert that the service has not is refused, with the way out, and not created."""
    applied = Site(tmp_path).apply(ERRORS)

    (outcome,) = applied.outcomes
    assert isinstance(outcome, Refused)
    golden(outcome.message)


def test_skipped_by_the_service(site: Site) -> None:
    """What the service skips as unchanged is acknowledged all the same."""
    site.meddle("PUT", ALERTS, answer_with(200, {"skippedIds": [ALERT_ID]}))

    applied = site.apply(ERRORS)

    assert isinstance(applied.outcomes[0], Unchanged)
    assert site.change(ERRORS).action.word == "keep"


@pytest.mark.parametrize("lose", [lost_after, lost_before])
def test_lost_answer(site: Site, lose: object) -> None:
    """A lost answer is asked for again with the same request, which is safe."""
    site.meddle("PUT", ALERTS, lose)  # type: ignore[arg-type]  # both are meddlers

    applied = site.apply(ERRORS)

    assert set(outcomes(applied).values()) <= {"written", "unchanged"}
    assert [one.body for one in site.sent] == [site.sent[0].body] * 2
    assert_settled(site, ERRORS)


def test_all_answers_lost(site: Site) -> None:
    """A write without any answer counts as never acknowledged, and is asserted next time."""
    site.apply(ERRORS)
    site.meddle("PUT", ALERTS, *[lost_after] * 5)

    applied = site.apply(CHANGED)

    assert applied.exit_codes == {9}
    assert site.change(ERRORS).action.word == "assert"
    assert site.change(CHANGED).action.word == "assert"


def test_dead_service(site: Site) -> None:
    """Where nothing was ever sent, the journal says refused, and the memory stands."""
    site.apply(ERRORS)
    site.meddle("PUT", ALERTS, *[unreachable] * 5)

    applied = site.apply(CHANGED)

    assert applied.exit_codes == {9}
    assert site.entries()[-2:] == [
        "started AlertDefinition/errors",
        "refused AlertDefinition/errors",
    ]
    assert site.change(ERRORS).action.word == "keep"


def test_refused_request(site: Site) -> None:
    """A refusal of the whole request is one of each alert in it, in the service's words."""
    site.meddle("PUT", ALERTS, answer_with(400, {"code": 400, "message": "too many"}))

    applied = site.apply(ERRORS)

    assert applied.outcomes == [Refused(ERRORS.ref, "too many")]
    assert applied.exit_codes == {3}


@pytest.mark.parametrize(
    "reply", [None, [], {"alertDefs": "x"}, {"alertDefs": [5]}, {"notFoundIds": {}}, "text", 5]
)
def test_odd_answer(site: Site, reply: Json) -> None:
    """An answer of another shape acknowledges nothing."""
    site.meddle("PUT", ALERTS, *[answer_with(200, reply)] * 5)

    applied = site.apply(ERRORS)

    assert set(outcomes(applied).values()) == {"unconfirmed"}
    assert site.change(ERRORS).action.word == "assert"


def test_null_lists(site: Site) -> None:
    """A list that is null is an empty one."""
    reply: dict[str, Json] = dict.fromkeys(LISTS)
    reply["alertDefs"] = [member("alertDefs", ALERT_ID)]
    site.meddle("PUT", ALERTS, answer_with(200, reply))

    assert outcomes(site.apply(ERRORS)) == {"AlertDefinition/errors": "written"}


def test_dropped_field(site: Site) -> None:
    """A field that the service takes and forgets is told, as its answer shows it."""
    kept = {key: value for key, value in ALERT_SPEC.items() if key != "priority"}
    reply: Json = {"alertDefs": [{"id": ALERT_ID, "alertDefProperties": kept}]}
    site.meddle("PUT", ALERTS, answer_with(200, reply))

    applied = site.apply(ERRORS)

    (told,) = applied.rewritten[ERRORS.ref]
    assert (told.path, told.before) == (("priority",), "ALERT_DEF_PRIORITY_P2")
    assert site.change(ERRORS).action.word == "keep"


def test_one_bad_alert(site: Site) -> None:
    """One alert that fails does not stop the others of its batch."""
    good = manifest("AlertDefinition/good", ALERT_SPEC, ALERT_ID)
    bad = manifest("AlertDefinition/bad", ALERT_SPEC, alert_id(5))

    applied = site.apply(good, bad)

    assert outcomes(applied) == {
        "AlertDefinition/bad": "refused",
        "AlertDefinition/good": "written",
    }
    assert applied.exit_codes == {3}
    assert actions(site.plan(good, bad)) == {
        "AlertDefinition/bad": "assert",
        "AlertDefinition/good": "keep",
    }
