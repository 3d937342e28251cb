"""Endpoints 3 to 6: dashboards."""

from typing import Any

import pytest
from harness.emulated import Answer, Emulated
from harness.profiles import FILLING
from harness.routes import DASHBOARDS

ID = "tSheVQcieUCGLE8f7WoaE"
WIDGET = {"id": {"value": "w"}, "title": "CPU", "definition": {"markdown": {}}}


def laid_out(*widgets: object) -> dict[str, Any]:
    row = {"id": {"value": "r"}, "widgets": list(widgets)}
    return {"sections": [{"id": {"value": "s"}, "rows": [row]}]}


def body(
    request_id: str = "1", *, locked: bool | None = None, **dashboard: Any
) -> dict[str, object]:
    lock = {} if locked is None else {"isLocked": locked}
    return {"requestId": request_id, "dashboard": {"name": "Checkout", **dashboard}, **lock}


def created(emulator: Emulated, **dashboard: Any) -> str:
    answer = emulator.post(DASHBOARDS, body(**dashboard))
    assert answer.status == 200, answer.text
    return str(answer.body["dashboardId"])


def stored(emulator: Emulated, dashboard_id: str) -> dict[str, Any]:
    return dict(emulator.get(f"{DASHBOARDS}/{dashboard_id}").body)


def test_stored_record() -> None:
    """The record of a new dashboard may have all documented fields and zero values."""
    emulator = Emulated(profile=FILLING)
    dashboard_id = created(emulator, layout=laid_out(WIDGET), fiveMinutes={})

    record = stored(emulator, dashboard_id)

    at, author = "2025-01-31T09:00:02.000Z", record["authorId"]
    widget = {**WIDGET, "description": "", "createdAt": at, "updatedAt": at}
    assert record == {
        "dashboard": {
            "id": dashboard_id,
            "name": "Checkout",
            "description": "",
            "slugName": "checkout",
            "fiveMinutes": {},
            "layout": laid_out(widget),
            "actions": [],
            "annotations": [],
            "filters": [],
            "variables": [],
            "variablesV2": [],
        },
        "isLocked": False,
        "authorId": author,
        "authorName": "api-key",
        "createdAt": at,
        "createdOriginType": "TOKEN_ORIGIN_TYPE_API",
        "updatedAt": at,
        "updatedOriginType": "TOKEN_ORIGIN_TYPE_API",
        "updaterAuthorId": author,
        "updaterName": "api-key",
    }


def test_same_request_id() -> None:
    """A request id seen before gives the same dashboard and creates nothing."""
    emulator = Emulated()
    first = emulator.post(DASHBOARDS, body("r1", slugName="one"))
    again = emulator.post(DASHBOARDS, body("r1", slugName="two"))

    assert first.body == again.body
    assert emulator.get("/v1/dashboards/by-slug/two").status == 404


def test_own_id() -> None:
    """An id the client chose is kept; the same id a second time is a conflict."""
    emulator = Emulated()

    assert created(emulator, id=ID) == ID
    assert emulator.post(DASHBOARDS, body("2", id=ID)).status == 409


def test_taken_slug() -> None:
    """A slug belongs to one dashboard, at create and at replace."""
    emulator = Emulated()
    created(emulator, slugName="one")
    other = created(emulator, request_id="2", slugName="two")

    assert emulator.post(DASHBOARDS, body("3", slugName="one")).status == 409
    assert emulator.put(DASHBOARDS, body("4", id=other, slugName="one")).status == 409
    assert stored(emulator, other)["dashboard"]["slugName"] == "two"


@pytest.mark.parametrize(
    ("name", "slug"),
    [("Agent CLI: Costs", "agent-cli-costs"), ("  ", "dashboard"), ("Ж" * 9, "dashboard")],
)
def test_slug_from_name(name: str, slug: str) -> None:
    """A slug nobody sent may come from the name, with a number when it is taken."""
    emulator = Emulated(profile=FILLING)
    created(emulator, name=name)
    second = created(emulator, request_id="2", name=name)

    assert emulator.get(f"/v1/dashboards/by-slug/{slug}").status == 200
    assert stored(emulator, second)["dashboard"]["slugName"] == f"{slug}-2"


def test_replace_is_whole() -> None:
    """A replace drops what it does not hold, but for id, slug and origin."""
    emulator = Emulated(profile=FILLING)
    dashboard_id = created(emulator, slugName="own", description="old", unknown=1)
    before = stored(emulator, dashboard_id)

    answer = emulator.put(
        DASHBOARDS, body("2", id=dashboard_id, name="New"), user="alice@example.com"
    )
    after = stored(emulator, dashboard_id)

    assert answer.body == {}
    assert after["dashboard"].get("unknown") is None
    assert (after["dashboard"]["name"], after["dashboard"]["description"]) == ("New", "")
    assert after["dashboard"]["slugName"] == "own"
    assert after["createdAt"] == before["createdAt"] < after["updatedAt"]
    assert (after["authorName"], after["updaterName"]) == ("api-key", "alice@example.com")
    assert (after["createdOriginType"], after["updatedOriginType"]) == (
        "TOKEN_ORIGIN_TYPE_API",
        "TOKEN_ORIGIN_TYPE_USER",
    )


def test_what_is_read_can_be_written() -> None:
    """A dashboard as read is accepted as a replace, and changes nothing in it."""
    emulator = Emulated()
    dashboard_id = created(
        emulator,
        layout=laid_out(WIDGET, WIDGET),
        folderPath={"segments": ["Team"]},
        filters=[
            {
                "id": {"value": "f"},
                "source": {"metrics": {"operator": {"equals": {"selection": {"all": {}}}}}},
            }
        ],
        variables=[{"name": "v", "definition": {"constant": {}}}],
        variablesV2=[{"id": {"value": "v"}, "source": {"static": {}}, "value": {"interval": {}}}],
        annotations=[
            {"scope": {"specificWidgets": {}}, "source": {"queryLanguage": {"query": {}}}}
        ],
        actions=[{"definition": {"goToDashboardAction": {}}}],
    )
    before = stored(emulator, dashboard_id)["dashboard"]

    answer = emulator.put(DASHBOARDS, {"requestId": "2", "dashboard": before})

    assert answer.status == 200
    assert stored(emulator, dashboard_id)["dashboard"] == before


def test_widget_times() -> None:
    """Only the widget that changed gets a new time, and none loses its first."""
    emulator = Emulated(profile=FILLING)
    other = {**WIDGET, "id": {"value": "other"}}
    dashboard_id = created(emulator, layout=laid_out(WIDGET, other))
    layout = laid_out(WIDGET, {**other, "title": "Memory"})

    emulator.put(DASHBOARDS, body("2", id=dashboard_id, layout=layout))
    same, changed = stored(emulator, dashboard_id)["dashboard"]["layout"]["sections"][0]["rows"][0][
        "widgets"
    ]

    assert same["createdAt"] == same["updatedAt"] == changed["createdAt"] < changed["updatedAt"]


def test_lock() -> None:
    """A lock names who set it, stays when nothing is said of it, and goes when told."""
    emulator = Emulated()
    dashboard_id = created(emulator)
    emulator.put(DASHBOARDS, body("2", id=dashboard_id, locked=True), user="alice@example.com")
    emulator.put(DASHBOARDS, body("3", id=dashboard_id))
    locked = stored(emulator, dashboard_id)
    emulator.put(DASHBOARDS, body("4", id=dashboard_id, locked=False))
    unlocked = stored(emulator, dashboard_id)

    assert (locked["isLocked"], locked["lockerName"]) == (True, "alice@example.com")
    assert unlocked["isLocked"] is False
    assert "lockerName" not in unlocked
    assert "lockerAuthorId" not in unlocked


@pytest.mark.parametrize("path", [f"{DASHBOARDS}/{ID}", f"/v1/dashboards/by-slug/{ID}"])
def test_missing_read(path: str) -> None:
    """A dashboard that is not there is named in the answer."""
    answer = Emulated().get(path)

    assert (answer.status, answer.message) == (404, f"Not Found: dashboard {ID}")


def test_missing_replace() -> None:
    """A replace never creates."""
    emulator = Emulated()
    answer = emulator.put(DASHBOARDS, body(id=ID))

    assert (answer.status, answer.message) == (404, f"Not Found: dashboard {ID}")
    assert emulator.get(f"{DASHBOARDS}/{ID}").status == 404


def test_replace_needs_id() -> None:
    """A replace has to say which dashboard."""
    answer = Emulated().put(DASHBOARDS, body())

    assert (answer.status, answer.message) == (400, "dashboard.id: required")


@pytest.mark.parametrize("missing", ["requestId", "dashboard"])
def test_wrapper_is_needed(missing: str) -> None:
    """Request id and dashboard have to be there."""
    answer = Emulated().post(DASHBOARDS, {k: v for k, v in body().items() if k != missing})

    assert (answer.status, answer.message) == (400, f"{missing}: required")


def refusal_of(dashboard: dict[str, Any]) -> Answer:
    return Emulated(profile=FILLING).post(DASHBOARDS, body(**dashboard))


@pytest.mark.parametrize(
    ("dashboard", "path"),
    [
        ({"name": None}, "dashboard.name"),
        ({"name": ""}, "dashboard.name"),
        ({"name": "x" * 4097}, "dashboard.name"),
        ({"description": "x" * 4097}, "dashboard.description"),
        ({"id": "short"}, "dashboard.id"),
        ({"id": ID + "\n"}, "dashboard.id"),
        ({"id": "!" * 21}, "dashboard.id"),
        ({"slugName": "Upper"}, "dashboard.slugName"),
        ({"slugName": "a-"}, "dashboard.slugName"),
        ({"slugName": "a" * 256}, "dashboard.slugName"),
        ({"relativeTimeFrame": "1"}, "dashboard.relativeTimeFrame"),
        ({"relativeTimeFrame": "1" * 65}, "dashboard.relativeTimeFrame"),
        ({"folderPath": {"segments": []}}, "dashboard.folderPath.segments"),
        ({"folderPath": {"segments": ["a", "b", "c"]}}, "dashboard.folderPath.segments"),
        ({"variables": [{}] * 1001}, "dashboard.variables"),
        ({"off": {}, "fiveMinutes": {}}, "dashboard"),
        ({"relativeTimeFrame": "9s", "absoluteTimeFrame": {}}, "dashboard"),
        ({"folderId": {"value": "f"}, "folderPath": {"segments": ["f"]}}, "dashboard"),
        ({"layout": {"sections": [{}]}}, "dashboard.layout.sections[0].id"),
        ({"layout": {"sections": [{"id": {}}]}}, "dashboard.layout.sections[0].id.value"),
        ({"layout": {"sections": [{"id": "s"}]}}, "dashboard.layout.sections[0].id"),
        (
            {"layout": {"sections": [{"id": {"value": "s"}, "rows": [{}]}]}},
            "dashboard.layout.sections[0].rows[0].id",
        ),
        (
            {
                "layout": {
                    "sections": [
                        {
                            "id": {"value": "s"},
                            "rows": [{"id": {"value": "r"}, "appearance": {"height": 0}}],
                        }
                    ]
                }
            },
            "dashboard.layout.sections[0].rows[0].appearance.height",
        ),
        (
            {
                "layout": {
                    "sections": [{"id": {"value": "s"}, "options": {"internal": {}, "custom": {}}}]
                }
            },
            "dashboard.layout.sections[0].options",
        ),
        ({"layout": laid_out({})}, "dashboard.layout.sections[0].rows[0].widgets[0].id"),
        ({"filters": [{}]}, "dashboard.filters[0].id"),
        ({"variablesV2": [{}]}, "dashboard.variablesV2[0].id"),
    ],
)
def test_refused_dashboard(dashboard: dict[str, Any], path: str) -> None:
    """A dashboard out of bounds is refused with the path of the fault."""
    answer = refusal_of(dashboard)

    assert answer.status == 400
    assert answer.message.startswith(f"{path}: ")


@pytest.mark.parametrize(
    "definition",
    [
        {},
        {"table": {}},
        {"data_table": {}},
        {"markdown": {}, "gauge": {}},
        {"lineChart": {"queries": [{"promqlQuery": {"value": "x" * 10_001}}]}},
    ],
)
def test_refused_widget(definition: object) -> None:
    """A widget has exactly one documented kind, in camelCase, with queries of bounded length."""
    answer = refusal_of({"layout": laid_out({"id": {"value": "w"}, "definition": definition})})

    assert answer.status == 400
    assert answer.message.startswith("dashboard.layout.sections[0].rows[0].widgets[0].definition")
