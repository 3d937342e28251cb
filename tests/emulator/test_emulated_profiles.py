"""Each switch of a profile, both ways."""

from typing import Any

import pytest
from harness.emulated import Emulated
from harness.routes import (
    ALERTS,
    CASES,
    DASHBOARDS,
    INCIDENTS,
    OVERWRITE,
    POLICIES,
    SLOS,
    USAGE,
    VIEWS,
)

from reconciler.emulator import Profile
from reconciler.emulator.record_endpoints import Case, DailyUnits, keep_case, keep_daily_units

ID = "A-Za-z0-9_-1234567890"
UUID = "2f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4a11"
REQUESTS = {"requestBasedMetricSli": {"goodEvents": {"query": "g"}, "totalEvents": {"query": "t"}}}
WINDOWS = {"windowBasedMetricSli": {"query": {"query": "up"}, "threshold": 0.1}}
VIEW = {"name": "v", "timeSelection": {}}


def under(**switches: Any) -> Emulated:
    return Emulated(profile=Profile(**switches))


def slo(**content: object) -> dict[str, object]:
    return {"name": "s", "targetThresholdPercentage": 99.9, **(content or REQUESTS)}


def dashboard(request_id: str = "r", **content: object) -> dict[str, object]:
    return {"requestId": request_id, "dashboard": {"name": "Shop", **content}}


def policies(*names: str, disabled: bool = False) -> dict[str, object]:
    rest = {"description": "", "priority": "PRIORITY_TYPE_LOW", "disabled": disabled}
    return {
        "policies": [
            {"logRules": {"severities": []}, "policy": {"name": name, **rest}} for name in names
        ]
    }


@pytest.mark.parametrize(
    ("how", "status", "left"),
    [("kept", 200, {"x": 1, "a": {"y": []}}), ("dropped", 200, {}), ("refused", 400, None)],
)
def test_unknown_fields(how: str, status: int, left: dict[str, object] | None) -> None:
    """Unknown fields are kept, dropped at any depth, or refused."""
    answer = under(unknown_fields=how).post(
        SLOS, slo(**REQUESTS, x=1, a={"y": []}, grouping={"labels": [], "z": 1})
    )

    assert answer.status == status
    if left is None:
        assert answer.message == "x: unknown field"
    else:
        made = answer.body["slo"]
        assert {name: made[name] for name in ("x", "a") if name in made} == left
        assert ("z" in made["grouping"]) == (how == "kept")


def test_unknown_fields_deep() -> None:
    """A refusal names the whole path, also inside the items of a bulk replace."""
    emulator = Emulated(alert_ids=[UUID], profile=Profile(unknown_fields="refused"))
    properties = {"name": "a", "activeOn": {"startTime": {"seconds": 1}}}
    body = {"alertDefsToReplace": [{"id": UUID, "alertDefProperties": properties}]}

    answer = emulator.put(ALERTS, body)

    place = "alertDefsToReplace[0].alertDefProperties.activeOn.startTime.seconds"
    assert (answer.status, answer.message) == (400, f"{place}: unknown field")


@pytest.mark.parametrize("how", ["dropped", "refused"])
def test_opaque_parts_have_no_unknown_fields(how: str) -> None:
    """What the document does not show inside is never unknown: widgets stay whole."""
    widget = {"id": {"value": "w"}, "definition": {"markdown": {"anything": None, "b": False}}}
    rows = [{"id": {"value": "r"}, "appearance": {"height": 1}, "widgets": [widget]}]
    layout = {"sections": [{"id": {"value": "s"}, "rows": rows}]}
    emulator = under(unknown_fields=how, zero_values="dropped")

    made = emulator.post(DASHBOARDS, dashboard(id=ID, layout=layout))
    read = emulator.get(f"{DASHBOARDS}/{ID}").body["dashboard"]

    assert made.status == 200
    (kept,) = read["layout"]["sections"][0]["rows"][0]["widgets"]
    assert kept["definition"] == widget["definition"]


VIEW_BODY = {**VIEW, "id": 7}
TIMED = {
    "id": {"value": "w"},
    "definition": {"markdown": {}},
    "createdAt": "2025-01-30T12:00:00.000Z",
}
ONE_WIDGET = {
    "sections": [{"id": {"value": "s"}, "rows": [{"id": {"value": "r"}, "widgets": [TIMED]}]}]
}


def policy_item(**policy: object) -> dict[str, object]:
    rest = {"name": "a", "description": "", "priority": "PRIORITY_TYPE_LOW"}
    item = {"logRules": {"severities": ["SEVERITY_ERROR"]}, "policy": {**rest, **policy}}
    return {"policies": [item]}


@pytest.mark.parametrize("unknown", ["kept", "dropped", "refused"])
@pytest.mark.parametrize(
    ("method", "path", "body", "place"),
    [
        (
            "PUT",
            ALERTS,
            {
                "alertDefsToReplace": [
                    {"id": UUID, "alertDefProperties": {"name": "a"}, "status": ""}
                ]
            },
            "alertDefsToReplace[0].status",
        ),
        ("POST", DASHBOARDS, {**dashboard(), "updatedAt": "x"}, "updatedAt"),
        (
            "PUT",
            DASHBOARDS,
            dashboard(id=ID, layout=ONE_WIDGET),
            "dashboard.layout.sections[0].rows[0].widgets[0].createdAt",
        ),
        ("POST", SLOS, slo(**REQUESTS, creator="me"), "creator"),
        ("POST", SLOS, slo(**REQUESTS, id=UUID), "id"),
        ("PUT", SLOS, slo(**REQUESTS, id=UUID, revision={"revision": 3}), "revision"),
        ("POST", SLOS + "/validate", slo(**REQUESTS, type="x"), "type"),
        (
            "POST",
            POLICIES + "/bulkCreate",
            {"policyRequests": [{"name": "a", "order": 1}]},
            "order",
        ),
        ("POST", OVERWRITE, policy_item(enabled=True), "policies[0].policy.enabled"),
        ("POST", OVERWRITE, policy_item(logRules={}), "policies[0].policy.logRules"),
        ("POST", OVERWRITE, policy_item(placement={"first": {}}), "policies[0].policy.placement"),
        ("POST", VIEWS, VIEW_BODY, "id"),
        ("PUT", f"{VIEWS}/7", VIEW_BODY, "id"),
    ],
)
def test_read_only_fields(unknown: str, method: str, path: str, body: object, place: str) -> None:
    """What only the service sets is refused in the body of each write, if the profile says so."""
    emulator = Emulated(
        alert_ids=[UUID],
        profile=Profile(unknown_fields=unknown, read_only_fields="refused", put_unknown="created"),  # type: ignore[arg-type]  # a case of the table
    )

    refused = emulator.send(method, path, body)

    assert refused.status == 400
    assert place in refused.message


@pytest.mark.parametrize(("how", "text"), [("as_sent", " ü \u00a0"), ("trimmed", "ü")])
def test_texts(how: str, text: str) -> None:
    """Names, titles and descriptions are trimmed; queries, ids and opaque parts never are."""
    emulator = under(texts=how)
    widget = {
        "id": {"value": " w "},
        "title": " ü \u00a0",
        "definition": {"markdown": {"name": " n "}},
    }
    rows = [{"id": {"value": "r"}, "widgets": [widget]}]
    sections = [{"id": {"value": "s"}, "rows": rows}]
    filters = [{"id": {"value": "f"}, "displayName": " ü \u00a0"}]
    body = dashboard(id=ID, layout={"sections": sections}, filters=filters, name=" ü \u00a0")
    emulator.post(DASHBOARDS, body)

    stored = emulator.get(f"{DASHBOARDS}/{ID}").body["dashboard"]

    (kept,) = stored["layout"]["sections"][0]["rows"][0]["widgets"]
    texts = [stored["name"], kept["title"], stored["filters"][0]["displayName"]]
    assert texts == [text] * 3
    assert (kept["id"], kept["definition"]) == (widget["id"], widget["definition"])


def test_trimmed_names_keep_the_rules() -> None:
    """A name of blanks is none, and two names that differ in blanks only are one."""
    emulator = under(texts="trimmed")

    blank = emulator.post(VIEWS, {**VIEW, "name": " \t "})
    twice = emulator.post(OVERWRITE, policies("a", " a"))

    assert (blank.status, twice.status) == (400, 400)


def test_trimmed_alerts() -> None:
    """The texts of an alert are trimmed too, though its properties are read by themselves."""
    emulator = Emulated(alert_ids=[UUID], profile=Profile(texts="trimmed"))
    body = {"alertDefsToReplace": [{"id": UUID, "alertDefProperties": {"name": " a "}}]}

    (stored,) = emulator.put(ALERTS, body).body["alertDefs"]

    assert stored["alertDefProperties"]["name"] == "a"


@pytest.mark.parametrize(("how", "name"), [("as_sent", "e\u0301"), ("nfc", "\u00e9")])
def test_unicode(how: str, name: str) -> None:
    """Texts keep their characters, or are normalised to NFC."""
    emulator = under(unicode=how)

    assert emulator.post(SLOS, {**slo(), "name": "e\u0301"}).body["slo"]["name"] == name


@pytest.mark.parametrize(("how", "told"), [("hidden", None), ("returned", ["SEVERITY_ERROR"])])
def test_policy_severities(how: str, told: object) -> None:
    """A stored policy comes back with its severities or without, wherever it comes back."""
    emulator = under(policy_severities=how)
    made = emulator.post(OVERWRITE, policy_item()).body["createResponses"]
    rows = {"metaFieldsValuesList": [{"severityValues": "error"}]}
    tested = emulator.post(f"{POLICIES}/bulkTestLog", rows).body["testPoliciesBulkResult"]
    (listed,) = emulator.get(POLICIES).body["policies"]

    shown = [made[0]["policy"], tested[0]["policy"], listed]
    assert [value.get("logRules", {}).get("severities") for value in shown] == [told] * 3


@pytest.mark.parametrize(("how", "matched"), [("exact", [True, False]), ("any_case", [True, True])])
def test_policy_names(how: str, matched: list[bool]) -> None:
    """The rules of policies tell capitals from small letters, or do not."""
    emulator = under(policy_names=how)
    rule = {"name": "Shop", "ruleTypeId": "RULE_TYPE_ID_START_WITH"}
    emulator.post(OVERWRITE, policy_item(applicationRule=rule))
    rows = [
        {"applicationNameValues": name, "severityValues": "error"} for name in ("Shop-1", "SHOP-1")
    ]
    told = emulator.post(f"{POLICIES}/bulkTestLog", {"metaFieldsValuesList": rows}).body

    assert [value["matched"] for value in told["testPoliciesBulkResult"]] == matched


@pytest.mark.parametrize(
    ("how", "statuses"),
    [
        ("any", [200, 200, 200, 200]),
        ("existing", [400, 404, 200, 200]),
        ("documented", [400, 404, 400, 200]),
    ],
)
def test_validation(how: str, statuses: list[int]) -> None:
    """Any SLO is validated, or only one that is there, or only such a one with windows."""
    emulator = under(validation=how)
    made = emulator.post(SLOS, slo()).body["slo"]["id"]
    bodies = [
        slo(**WINDOWS),
        slo(**WINDOWS, id=UUID),
        slo(**REQUESTS, id=made),
        slo(**WINDOWS, id=made),
    ]

    assert [emulator.post(SLOS + "/validate", body).status for body in bodies] == statuses


@pytest.mark.parametrize(
    ("how", "empty", "full"),
    [("sent", True, True), ("empty_left_out", False, True), ("left_out", False, False)],
)
@pytest.mark.parametrize("zeros", ["rendered", "dropped"])
def test_required_lists(how: str, zeros: str, empty: bool, full: bool) -> None:
    """The lists of answers are always there, or left out when empty, or always left out."""
    emulator = under(required_lists=how, zero_values=zeros)

    incidents = emulator.post(f"{INCIDENTS}?pagination.pageSize=1").body
    emulator.post(OVERWRITE, policy_item())

    assert ("incidents" in incidents) == empty
    assert ("policies" in emulator.get(POLICIES).body) == full


def test_lists_of_the_bulk_replace() -> None:
    """Of the four lists of endpoint 1, those that are empty may be left out, or all."""
    body = {"alertDefsToReplace": [{"id": UUID, "alertDefProperties": {"name": "a"}}]}

    def told(how: str) -> set[str]:
        profile = Profile(required_lists=how)  # type: ignore[arg-type]  # of the two below
        return set(Emulated(alert_ids=[UUID], profile=profile).put(ALERTS, body).body)

    assert told("empty_left_out") == {"alertDefs"}
    assert told("left_out") == set()


@pytest.mark.parametrize(("how", "status"), [("taken", 200), ("conflict", 409)])
def test_duplicate_names(how: str, status: int) -> None:
    """Two dashboards, SLOs or views of one name are taken or refused: by POST and by PUT."""
    emulator = under(duplicate_names=how)
    emulator.post(DASHBOARDS, dashboard("1"))
    emulator.post(DASHBOARDS, {"requestId": "2", "dashboard": {"name": "Other", "id": ID}})
    emulator.post(SLOS, slo())
    other = emulator.post(SLOS, {**slo(), "name": "other"}).body["slo"]["id"]
    emulator.post(VIEWS, VIEW)
    view = emulator.post(VIEWS, {**VIEW, "name": "other"}).body["id"]

    answers = [
        emulator.post(DASHBOARDS, dashboard("3")),
        emulator.put(DASHBOARDS, dashboard("4", id=ID)),
        emulator.post(SLOS, slo()),
        emulator.put(SLOS, slo(**REQUESTS, id=other)),
        emulator.post(VIEWS, VIEW),
        emulator.put(f"{VIEWS}/{view}", VIEW),
    ]

    assert [answer.status for answer in answers] == [status] * 6


@pytest.mark.parametrize(("how", "status"), [("refused", [400, 409]), ("taken", [200, 200])])
def test_duplicate_policies(how: str, status: list[int]) -> None:
    """Two policies of one name are refused, or stand side by side, each with its severities."""
    emulator = under(duplicate_policies=how, policy_severities="returned")
    emulator.post(OVERWRITE, policies("a"))

    answers = [
        emulator.post(OVERWRITE, policies("a", "a #2", "a")),
        emulator.post(f"{POLICIES}/bulkCreate", {"policyRequests": [{"name": "a"}]}),
    ]

    assert [answer.status for answer in answers] == status
    named = sorted(policy["name"] for policy in emulator.get(POLICIES).body["policies"])
    assert named == (["a", "a", "a", "a #2"] if how == "taken" else ["a"])


@pytest.mark.parametrize(
    ("how", "answered"), [("deduplicated", 404), ("deduplicated_if_there", 200), ("ignored", 200)]
)
def test_request_id_of_what_is_gone(how: str, answered: int) -> None:
    """A requestId seen before is answered with the first dashboard, which may be gone by now."""
    emulator = under(request_ids=how)
    first = emulator.post(DASHBOARDS, dashboard()).body["dashboardId"]
    assert emulator.web_delete(f"dashboards/{first}") == 204

    second = emulator.post(DASHBOARDS, dashboard()).body["dashboardId"]

    assert emulator.get(f"{DASHBOARDS}/{second}").status == answered
    assert (second == first) == (how == "deduplicated")


def test_zero_values_dropped() -> None:
    """Documented zero values are left out, false too; objects, maps and unknown fields stay."""
    emulator = under(zero_values="dropped")
    emulator.post(OVERWRITE, policies("a", disabled=True))

    policy = emulator.get(POLICIES).body["policies"][0]
    made = emulator.post(
        SLOS,
        slo(
            **REQUESTS,
            labels={"team": ""},
            sloTimeFrame="SLO_TIME_FRAME_UNSPECIFIED",
            x=0,
            grouping={"labels": []},
        ),
    ).body["slo"]

    assert {"enabled", "deleted", "description"}.isdisjoint(policy)
    assert (made["labels"], made["grouping"], made["x"]) == ({"team": ""}, {}, 0)
    assert {"description", "sloTimeFrame"}.isdisjoint(made)


def test_zero_values_rendered() -> None:
    """Documented zero values are there by default."""
    emulator = under(zero_values="rendered")
    emulator.post(OVERWRITE, policies("a", disabled=True))

    policy = emulator.get(POLICIES).body["policies"][0]

    assert (policy["enabled"], policy["deleted"], policy["description"]) == (False, False, "")


def test_required_fields_are_never_dropped() -> None:
    """What the document marks required is there even when it is zero."""
    emulator = under(zero_values="dropped")
    store = emulator.app.state.store
    with store.writing():
        keep_case(
            store,
            Case(
                id=UUID,
                title="",
                category="CASE_CATEGORY_UNSPECIFIED",
                priority="CASE_PRIORITY_UNSPECIFIED",
                state="CASE_STATE_UNSPECIFIED",
                status="CASE_STATUS_UNSPECIFIED",
                create_time="2025-01-30T12:00:00.000Z",
            ),
        )
        keep_daily_units(store, DailyUnits(stats_date="2025-01-30T00:00:00.000Z"))

    case = emulator.post(CASES, {}).body["cases"][0]
    days = emulator.post(USAGE, {"range": "RANGE_LAST_WEEK"}).body["units"]
    listing = emulator.post(f"{INCIDENTS}?pagination.pageSize=1").body

    assert sorted(case) == sorted(Case.required_in_answers)
    assert days[0]["totalUnits"] == {"value": 0.0}
    assert listing == {"incidents": [], "pagination": {}}


@pytest.mark.parametrize(("how", "target"), [("double", 99.9), ("single", 99.9000015)])
def test_floats(how: str, target: float) -> None:
    """Fractions come back as sent, or as 32 bits hold them."""
    emulator = under(floats=how)

    made = emulator.post(SLOS, slo()).body["slo"]

    assert made["targetThresholdPercentage"] == target
    assert emulator.get(f"{SLOS}/{made['id']}").body["slo"] == made


def test_floats_written_back() -> None:
    """What was read and is written back changes nothing, as it is what 32 bits hold already."""
    emulator = under(floats="single", widget_times="told")
    widget = {"id": {"value": "w"}, "definition": {"dynamic": {"most": 99.9}}}
    rows = [{"id": {"value": "r"}, "widgets": [widget]}]
    layout = {"sections": [{"id": {"value": "s"}, "rows": rows}]}
    made = emulator.post(DASHBOARDS, dashboard(layout=layout)).body["dashboardId"]
    read = emulator.get(f"{DASHBOARDS}/{made}").body["dashboard"]

    emulator.put(DASHBOARDS, {"requestId": "again", "dashboard": read})

    assert emulator.get(f"{DASHBOARDS}/{made}").body["dashboard"] == read
    (stored,) = emulator.web("dashboards")
    assert stored["dashboard"]["layout"] == read["layout"]


def test_client_slo_ids() -> None:
    """An id in the POST of an SLO is taken, and taken once."""
    emulator = under(client_slo_ids=True)

    first = emulator.post(SLOS, slo(**REQUESTS, id=UUID))
    second = emulator.post(SLOS, slo(**REQUESTS, id=UUID))
    without = emulator.post(SLOS, slo())

    assert first.body["slo"]["id"] == UUID
    assert (second.status, second.message) == (409, f"Already Exists: slo {UUID}")
    assert without.body["slo"]["id"] != UUID


@pytest.mark.parametrize("taken", [True, False])
def test_client_dashboard_ids(taken: bool) -> None:
    """An id in the POST of a dashboard is taken, or replaced by one of the service."""
    emulator = under(client_dashboard_ids=taken)

    made = emulator.post(DASHBOARDS, dashboard(id=ID)).body["dashboardId"]

    assert (made == ID) == taken
    assert emulator.get(f"{DASHBOARDS}/{made}").body["dashboard"]["id"] == made


@pytest.mark.parametrize(("how", "status"), [("short", 400), ("any", 200)])
def test_dashboard_ids(how: str, status: int) -> None:
    """A dashboard id is 21 characters, or any text."""
    assert under(dashboard_ids=how).post(DASHBOARDS, dashboard(id="d")).status == status


@pytest.mark.parametrize(("how", "number"), [("deduplicated", 1), ("ignored", 2)])
def test_request_ids(how: str, number: int) -> None:
    """A requestId seen before gives the same dashboard, or another one."""
    emulator = under(request_ids=how)

    made = {emulator.post(DASHBOARDS, dashboard()).body["dashboardId"] for _ in range(2)}

    assert len(made) == number


@pytest.mark.parametrize(
    ("path", "body", "read"),
    [
        (DASHBOARDS, dashboard(id=ID), f"{DASHBOARDS}/{ID}"),
        (SLOS, slo(**WINDOWS, id=UUID), f"{SLOS}/{UUID}"),
        (f"{VIEWS}/7", VIEW, None),
    ],
)
def test_put_unknown(path: str, body: object, read: str | None) -> None:
    """A PUT of what is not there is 404, or creates it."""
    strict, lax = under(put_unknown="missing"), under(put_unknown="created")

    assert strict.put(path, body).status == 404
    assert lax.put(path, body).status == 200
    assert lax.put(path, body).status == 200
    assert read is None or lax.get(read).status == 200


@pytest.mark.parametrize(
    ("how", "status", "slug"), [("conflict", 409, "b"), ("suffixed", 200, "a-2")]
)
def test_duplicate_slug(how: str, status: int, slug: str) -> None:
    """A slug that is taken is a conflict, or gets a number: on POST and on PUT."""
    emulator = under(duplicate_slug=how)
    emulator.post(DASHBOARDS, dashboard("1", slugName="a"))
    emulator.post(DASHBOARDS, dashboard("2", slugName="b", id=ID))

    posted = emulator.post(DASHBOARDS, dashboard("3", slugName="b"))
    put = emulator.put(DASHBOARDS, dashboard("4", slugName="a", id=ID))

    assert (posted.status, put.status) == (status, status)
    assert emulator.get(f"{DASHBOARDS}/{ID}").body["dashboard"]["slugName"] == slug


@pytest.mark.parametrize(
    ("method", "path", "sli", "other"),
    [
        ("POST", SLOS, REQUESTS, WINDOWS),
        ("PUT", SLOS, WINDOWS, REQUESTS),
        ("POST", SLOS + "/validate", WINDOWS, REQUESTS),
    ],
)
def test_slis(method: str, path: str, sli: dict[str, object], other: dict[str, object]) -> None:
    """Under `documented` each endpoint takes its own SLI only."""
    emulator = under(slis="documented", put_unknown="created")

    assert emulator.send(method, path, slo(**sli, id=UUID)).status == 200
    refused = emulator.send(method, path, slo(**other, id=UUID))

    assert (refused.status, refused.message) == (400, f"{next(iter(sli))}: required")


@pytest.mark.parametrize(
    ("how", "names"), [("reversed", "abc"), ("effective", "cba"), ("by_name", "abc")]
)
def test_policy_order(how: str, names: str) -> None:
    """The list of policies comes in another order, and `order` is right in each."""
    emulator = under(policy_order=how)
    emulator.post(OVERWRITE, policies("c", "b", "a"))

    listed = emulator.get(POLICIES).body["policies"]

    assert "".join(policy["name"] for policy in listed) == names
    assert {policy["name"]: policy["order"] for policy in listed} == {"c": 1, "b": 2, "a": 3}


def test_stale_reads() -> None:
    """After a write each address is answered that many times as it was before."""
    emulator = under(stale_reads=2)
    emulator.post(DASHBOARDS, dashboard("1", id=ID, slugName="shop", description=""))
    assert [emulator.get(f"{DASHBOARDS}/{ID}").status for _ in range(3)] == [404, 404, 200]

    emulator.put(DASHBOARDS, dashboard("2", id=ID, slugName="shop", description="new"))

    paths = (f"{DASHBOARDS}/{ID}", f"{DASHBOARDS}/by-slug/shop".replace("dashboards/by", "by"))
    for path in paths:
        texts = [emulator.get(path).body["dashboard"]["description"] for _ in range(3)]
        assert texts == ["", "", "new"]


@pytest.mark.parametrize(
    ("how", "text", "media"),
    [
        ("json", '{"code":404,"message":"Not Found: slo x"}', "application/json"),
        ("text", "Not Found: slo x", "text/plain; charset=utf-8"),
        ("empty", "", None),
    ],
)
def test_error_body(how: str, text: str, media: str | None) -> None:
    """A refusal says itself as JSON, as text, or by its status alone."""
    emulator = under(error_body=how)

    answer = emulator.get(f"{SLOS}/x")

    assert (answer.status, answer.text) == (404, text)
    assert answer.headers.get("content-type") == media
    assert emulator.get("/nope").text in ('{"code":5,"message":"Not Found"}', "Not Found", "")


def test_created_status() -> None:
    """What creates is answered with 201, but for saved views, whose 200 is documented."""
    emulator = under(created_status=201)

    assert emulator.post(DASHBOARDS, dashboard(id=ID)).status == 201
    assert emulator.post(SLOS, slo()).status == 201
    assert emulator.post(OVERWRITE, policies("a")).status == 201
    assert emulator.post(f"{POLICIES}/bulkCreate", {"policyRequests": []}).status == 201
    assert emulator.post(VIEWS, VIEW).status == 200
    assert emulator.put(f"{VIEWS}/1", VIEW).status == 200
    assert emulator.put(DASHBOARDS, dashboard(id=ID)).status == 200


@pytest.mark.parametrize(
    ("how", "status", "text"),
    [("object", 200, "{}"), ("nothing", 200, ""), ("no_content", 204, "")],
)
def test_empty_reply(how: str, status: int, text: str) -> None:
    """Only where the document says `{}` may an answer be empty."""
    emulator = under(empty_reply=how)
    made = emulator.post(DASHBOARDS, dashboard(id=ID))

    answer = emulator.put(DASHBOARDS, dashboard(id=ID, description="x"))

    assert (answer.status, answer.text) == (status, text)
    assert made.body == {"dashboardId": ID}


@pytest.mark.parametrize(
    ("how", "bare", "bearer"), [("either", 200, 200), ("bare", 200, 401), ("bearer", 401, 200)]
)
def test_authorization(how: str, bare: int, bearer: int) -> None:
    """The key stands bare, as a bearer token, or either way."""
    emulator = Emulated(api_key="canary", profile=Profile(authorization=how))  # type: ignore[arg-type]  # a case of the table

    answers = [
        emulator.send("GET", POLICIES, headers={"Authorization": header})
        for header in ("canary", "Bearer canary")
    ]

    assert [answer.status for answer in answers] == [bare, bearer]


def test_query_objects() -> None:
    """Under `json` each object of a query is one JSON text."""
    emulator = under(query_objects="json")

    def listed(query: str) -> int:
        return emulator.post(f"{INCIDENTS}?{query}").status

    assert listed('pagination={"pageSize":1}&filter={"status":["INCIDENT_STATUS_RESOLVED"]}') == 200
    assert listed('pagination={"pageSize":1}&order_bys={"fieldName":"name"}&order_bys={}') == 200
    assert listed('pagination={"pageSize":1}&order_bys=[{"fieldName":"name"}]') == 200
    assert listed('pagination={"pageSize":1}&filter={"contextualLabels":{"a":"b"}}') == 200
    assert listed('pagination={"pageSize":"x"}') == 400
    assert listed("pagination={") == 400
    assert listed("pagination.pageSize=1") == 400
    assert emulator.get(f"{POLICIES}?source_type=SOURCE_TYPE_LOGS&enabled_only=true").status == 200
