"""Reads that only the project file tells of: alert definitions and saved views, seen live."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from harness.profiles import profile
from harness.routes import ALERTS, VIEWS
from harness.sites import (
    ALERT_ID,
    ALERT_SPEC,
    SALT,
    VIEW_SPEC,
    Meddler,
    Site,
    answer_with,
    assert_settled,
    dashboard,
    manifest,
    outcomes,
)
from harness.workspaces import Shop
from hypothesis import given
from hypothesis import strategies as st

from reconciler.document import Json
from reconciler.emulator import create_app
from reconciler.errors import ReconcilerError, UnreadableReply
from reconciler.kinds import BY_NAME
from reconciler.kinds.assumed_reads import (
    Existing,
    ReadRecord,
    existing_in,
    list_existing,
    read_record,
)
from reconciler.model import (
    CannotBeCreated,
    Drift,
    GoneSince,
    Manifest,
    OverwritesEdit,
    Remembered,
    Seen,
    Unread,
)
from reconciler.model.assumptions import Assumptions, Listing
from reconciler.planning.find_drift import find_drift

ALERT = manifest("AlertDefinition/errors", ALERT_SPEC, ALERT_ID)
VIEW = manifest("SavedView/errors", VIEW_SPEC)
BOTH = ALERT, VIEW
ALERT_READ = f"/v3/alert-defs/{ALERT_ID}"
VIEW_READ = "/v3/views/1"
FORMS = [
    {"reads": shape, "readNames": names, "zeroValues": zeros}
    for shape in ("wrapped", "bare")
    for names in ("camel", "snake")
    for zeros in ("rendered", "dropped")
]


def place(root: Path, **switches: Any) -> Site:
    """Give a service with these switches, which knows the alert."""
    return Site(root, create_app(alert_ids=[ALERT_ID], profile=profile(switches)))


@pytest.fixture
def reading(tmp_path: Path) -> Site:
    """Give a service that can be asked for alerts and views, each applied once."""
    site = place(tmp_path, reads="wrapped")
    site.apply(*BOTH)
    site.forget()
    return site


def drifts(site: Site, *manifests: Manifest) -> dict[str, Drift]:
    """Compare live with what was applied."""
    history = site.journal.history
    found = site.ask(lambda api: find_drift(api, manifests, history, SALT)).found
    return {str(drift.ref): drift for drift in found}


def edit_alert(site: Site, **fields: Json) -> None:
    """Let somebody else replace the alert."""
    properties: Json = {**ALERT_SPEC, **fields}
    one: Json = {"id": ALERT_ID, "alertDefProperties": properties}
    site.outside("PUT", ALERTS, {"alertDefsToReplace": [one]})


def edit_view(site: Site, **fields: Json) -> None:
    """Let somebody else replace the view."""
    site.outside("PUT", f"{VIEWS}/1", {**VIEW_SPEC, **fields})


def without(site: Site, *tables: str) -> None:
    """Let a person delete all there is of some kinds."""
    for table in tables:
        site.app.state.store.write(f"DELETE FROM {table}")  # noqa: S608 - names of this file


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_every_form_settles(tmp_path: Path, form: dict[str, str]) -> None:
    """However the record is wrapped and spelled, it is seen, and one apply settles it."""
    site = place(tmp_path, **form)
    rich = manifest(
        str(ALERT.ref),
        {**ALERT_SPEC, "groupByKeys": ["b", "a"], "entityLabels": {"team_name": "x"}},
        ALERT_ID,
    )
    site.apply(rich, VIEW)

    seen = [change.observation for change in site.plan(rich, VIEW).changes]

    assert [type(observation) for observation in seen] == [Seen, Seen]
    assert_settled(site, rich, VIEW)
    assert {drift.state for drift in drifts(site, rich, VIEW).values()} == {"same"}


def test_off_unless_named(tmp_path: Path) -> None:
    """A service that could be asked is not asked while the project file says nothing of it."""
    site = Site(tmp_path, create_app(alert_ids=[ALERT_ID]))
    site.apply(*BOTH)

    seen = [change.observation for change in site.plan(*BOTH).changes]

    assert [type(observation) for observation in seen] == [Remembered, Remembered]
    assert {drift.state for drift in drifts(site, *BOTH).values()} == {"unseen"}
    assert not [one for one in site.sent if one.method == "GET"]


def test_edits_are_seen(reading: Site) -> None:
    """What others change is drift, with when where that is told, and a write over it is said."""
    edit_alert(reading, enabled=False)
    edit_view(reading, searchQuery={"query": "all"})

    found = drifts(reading, *BOTH)
    plan = reading.plan(*BOTH)

    assert [difference.path for difference in found[str(ALERT.ref)].differences] == [("enabled",)]
    assert [difference.path for difference in found[str(VIEW.ref)].differences] == [
        ("searchQuery", "query")
    ]
    assert "last changed at" in found[str(ALERT.ref)].note
    for change in plan.changes:
        assert change.action.word == "update"
        assert any(isinstance(reason, OverwritesEdit) for reason in change.reasons)


def test_fields_of_others_stay(reading: Site) -> None:
    """A replace keeps what is live and was never declared, and holds nothing the service sets."""
    edit_alert(reading, description="theirs", somethingNew={"a": 1})
    again = manifest(str(ALERT.ref), {**ALERT_SPEC, "enabled": False}, ALERT_ID)

    reading.apply(again)

    (sent,) = [write.body["alertDefsToReplace"][0] for write in reading.writes]
    assert sent["alertDefProperties"]["description"] == "theirs"
    assert sent["alertDefProperties"]["somethingNew"] == {"a": 1}
    assert not {"id", "updatedTime", "alertVersionId"} & sent["alertDefProperties"].keys()


def test_another_type(reading: Site) -> None:
    """The part of another type takes the place of the one that is live."""
    spec: dict[str, Json] = {
        "name": "Errors",
        "type": "ALERT_DEF_TYPE_METRIC_THRESHOLD",
        "metricThreshold": {"metricFilter": {"promql": "up"}},
    }
    other = manifest(str(ALERT.ref), spec, ALERT_ID)

    assert outcomes(reading.apply(other)) == {str(ALERT.ref): "written"}
    assert_settled(reading, other)


@pytest.mark.parametrize("kind", ["AlertDefinition", "SavedView"])
def test_stale(reading: Site, kind: str) -> None:
    """What somebody changed after the plan is not written over."""
    one = next(one for one in BOTH if one.ref.kind == kind)
    changed = manifest(str(one.ref), {**one.spec, "name": "Ours"}, one.remote_id)
    plan = reading.plan(changed)
    edit_alert(reading, priority="ALERT_DEF_PRIORITY_P1")
    edit_view(reading, searchQuery={"query": "theirs"})
    reading.forget()

    applied = reading.apply(plan=plan)

    assert outcomes(applied) == {str(one.ref): "refused"}
    assert reading.writes == []


@pytest.mark.parametrize("path", [ALERT_READ, VIEW_READ])
def test_read_back(reading: Site, path: str) -> None:
    """A write that was acknowledged and does not show is unconfirmed."""
    one = ALERT if path == ALERT_READ else VIEW
    changed = manifest(str(one.ref), {**one.spec, "name": "Ours"}, one.remote_id)
    plan = reading.plan(changed)
    gone = answer_with(404, {"code": 404, "message": "gone"})

    async def untouched(request: Any, inner: Any) -> Any:
        return await inner.handle_async_request(request)

    reading.meddle("GET", path, untouched, *[gone] * 20)

    assert outcomes(reading.apply(plan=plan)) == {str(one.ref): "unconfirmed"}


def test_gone(reading: Site) -> None:
    """What a person deleted is gone: a view is made again and says so, an alert cannot be."""
    without(reading, "alert_definitions", "saved_views")

    found = drifts(reading, *BOTH)
    alert, view = reading.plan(*BOTH).changes

    assert {drift.state for drift in found.values()} == {"gone"}
    assert (alert.action.word, type(alert.reasons[0])) == ("blocked", CannotBeCreated)
    assert (view.action.word, type(view.reasons[0])) == ("create", GoneSince)


def test_declared_view_is_gone(reading: Site) -> None:
    """A view with a declared id that is not there is not created under another."""
    one = manifest("SavedView/other", VIEW_SPEC, 77)

    assert reading.change(one).action.word == "blocked"


def test_view_in_doubt_stays_so(tmp_path: Path) -> None:
    """Nothing can be looked up by name: a create without an answer is never sent again."""
    site = place(tmp_path, reads="wrapped")
    site.meddle("POST", VIEWS, answer_with(502, carried_out=True))
    site.apply(VIEW)
    site.forget()

    assert site.change(VIEW).action.word == "blocked"
    site.apply(VIEW)
    assert site.writes == []


@pytest.mark.parametrize(
    "answer", [answer_with(404), answer_with(404, "not found")], ids=["empty", "text"]
)
@pytest.mark.parametrize("one", BOTH, ids=["alert", "view"])
def test_unclear_absence(reading: Site, one: Manifest, answer: Meddler) -> None:
    """A 404 without words may mean a wrong path: nothing is called gone, and nothing made anew."""
    reading.meddle("GET", ALERT_READ if one is ALERT else VIEW_READ, *[answer] * 2)

    change = next(made for made in reading.plan(*BOTH).changes if made.ref == one.ref)
    drift = drifts(reading, *BOTH)[str(one.ref)]

    assert isinstance(change.observation, Unread)
    assert change.action.word == "blocked"
    assert f"api.reads.{one.ref.kind}.path" in change.observation.why
    assert (drift.state, drift.exit_code) == ("unread", 9)


def test_list_settles_absence(tmp_path: Path) -> None:
    """Where there is a list, it tells what is gone from a path that is wrong."""
    site = place(tmp_path, reads="wrapped", lists="some", errorBody="empty")
    site.apply(*BOTH)
    site.meddle("GET", VIEW_READ, answer_with(404))

    listed = site.change(VIEW, ALERT)
    without(site, "saved_views")
    gone = site.change(VIEW)

    assert isinstance(listed.observation, Unread)
    assert "lists it" in listed.observation.why
    assert gone.action.word == "create"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"alertDef": {"id": ALERT_ID}}, "no object at `data.alertDef`"),
        ({"data": {"alertDef": {"id": ALERT_ID}}}, "no object at `alertDefProperties`"),
        ({"data": {"alertDef": {"alertDefProperties": {}}}}, "no `name`"),
        ({"data": {"alertDef": {"alertDefProperties": {"id": "x"}}}}, "no `name`"),
        (
            {"data": {"alertDef": {"id": ALERT_ID[:-1] + "2", "alertDefProperties": ALERT_SPEC}}},
            "the service answered with",
        ),
        ([], "no object"),
    ],
)
def test_wrong_places(reading: Site, answer: Json, said: str) -> None:
    """An answer without the record where it should be, or of another one, is read as nothing."""
    reading.meddle("GET", ALERT_READ, answer_with(200, answer))

    found = reading.change(ALERT, VIEW).observation

    assert isinstance(found, Unread)
    assert said in found.why


def listed(site: Site, kind: str) -> Any:
    """Ask what there is of a kind; an error is what it says."""
    try:
        return site.ask(lambda api: list_existing(api, BY_NAME[kind]))
    except ReconcilerError as error:
        return str(error)


def test_lists(tmp_path: Path) -> None:
    """A list gives ids and names, wherever in it they stand; of what has none, None."""
    site = place(tmp_path, lists="some")
    site.apply(*BOTH, dashboard())

    assert listed(site, "AlertDefinition") == (Existing(ALERT_ID, "Errors"),)
    assert listed(site, "SavedView") == (Existing(1, "Errors"),)
    assert listed(site, "SLO") == ()
    assert [value.name for value in listed(site, "Dashboard")] == ["Checkout"]
    assert listed(site, "LogPolicySet") is None


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"data": {"alertDefs": []}, "nextPageToken": "x"}, "says there are more"),
        ({"data": {"alertDefs": [], "totalSize": 3}}, "says there are more"),
        ({"data": {"alertDefs": [{"name": "a"}]}}, "`id` is not a uuid"),
        ({"data": {"alertDefs": [{"id": "../x"}]}}, "`id` is not a uuid"),
        ({"data": {"alertDefs": [1]}}, "`id` is not a uuid"),
        ({"data": {"alertDefs": {}}}, "no list at `data.alertDefs`"),
        ([], "no list at `data.alertDefs`"),
    ],
)
def test_unusable_lists(tmp_path: Path, answer: Json, said: str) -> None:
    """A part of a list, another shape, or an item without an id is no list."""
    site = place(tmp_path, lists="some")
    site.meddle("GET", "/v3/alert-defs", answer_with(200, answer))

    assert said in listed(site, "AlertDefinition")


def test_no_list_there(tmp_path: Path) -> None:
    """A path without a list says so, and is no empty list."""
    site = place(tmp_path, lists="some")
    site.meddle("GET", "/v3/alert-defs", answer_with(404, {"code": 404, "message": "none"}))

    assert "no list at `data.alertDefs`" in listed(site, "AlertDefinition")


def test_embedded(shop: Shop) -> None:
    """The embedded emulator answers what its environment says, so plan and drift see alerts."""
    shop.settle(
        "manifests: [manifests]\n"
        "environments: {local: {emulator: {data: other.db}, journal: .reconciler/j.jsonl,\n"
        "  api: {reads: {AlertDefinition: {path: '/v3/a/{id}', spec: alertDefProperties}}}}}\n"
    )
    shop.write(
        "manifests/alert.yaml",
        "apiVersion: reconciler/v1\nkind: AlertDefinition\n"
        f"metadata: {{name: errors, id: {ALERT_ID}}}\n"
        "spec: {name: Errors, enabled: true}\n",
    )

    first = shop.run("plan", "--format", "json").json["changes"][0]
    refused = shop.run("apply", "--yes")
    applied = shop.run("apply", "--yes", "--override-guard", "ours now")
    drift = shop.run("drift", "--format", "json").json

    assert (first["action"], first["evidence"]) == ("update", "live")
    assert (refused.code, applied.code) == (11, 0)
    assert drift["summary"]["same"] == 1
    assert ("GET", f"/v3/a/{ALERT_ID}") in shop.asked


def test_nothing_waits_for_lists(tmp_path: Path) -> None:
    """Two that are gone are each settled by the list, side by side."""
    site = place(tmp_path, reads="wrapped", lists="some", errorBody="text")
    other = manifest("SavedView/other", {**VIEW_SPEC, "name": "Other"})
    site.apply(VIEW, other)
    without(site, "saved_views")

    assert {drift.state for drift in drifts(site, VIEW, other).values()} == {"gone"}


scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.just(ALERT_ID)
names = st.sampled_from(["data", "id", "name", "items", "alert_def_properties", "enabled", "type"])
answers: st.SearchStrategy[Any] = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4),
    max_leaves=12,
)
PLACES = st.sampled_from([{}, {"record": "data"}, {"record": "data", "spec": "items"}])


@dataclass(frozen=True)
class Told:
    """A door whose every answer is the same."""

    answer: Any
    assumptions: Assumptions

    async def read(self, _: str, *, assumed: bool) -> Any:
        """Answer."""
        assert assumed
        return self.answer


@given(answers, PLACES)
def test_any_answer(answer: Any, places: dict[str, str]) -> None:
    """Whatever comes is a record with a name, of the id that was asked for, or is unreadable."""
    reads = {"AlertDefinition": {"path": "/x/{id}", **places}}
    door: Any = Told(answer, Assumptions.model_validate({"reads": reads}))
    kind = BY_NAME["AlertDefinition"]
    try:
        found = asyncio.run(read_record(door, kind.name, kind.spec, kind.id_form, ALERT_ID))
    except UnreadableReply:
        return
    assert isinstance(found, ReadRecord)
    assert isinstance(found.spec["name"], str)
    assert found.record.get("id") in (None, "", ALERT_ID)


@given(answers, st.sampled_from([{}, {"items": "data"}, {"items": "data.items", "id": "name"}]))
def test_any_list(answer: Any, places: dict[str, str]) -> None:
    """Whatever comes is a list of ids that differ, or is unreadable."""
    listing = Listing.model_validate({"path": "/x", **places})
    kind = BY_NAME["AlertDefinition"]
    try:
        found = existing_in(answer, kind.name, kind.id_form, listing)
    except UnreadableReply:
        return
    assert {kind.id_form.parse(existing.remote_id) for existing in found} <= {ALERT_ID}
    assert len(found) == len({existing.remote_id for existing in found})
