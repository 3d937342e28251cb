"""Reads that the API document does not show: served as the profile says, and described so."""

from __future__ import annotations

from typing import Any

import pytest
from harness.emulated import Emulated
from harness.routes import ALERTS, DASHBOARDS, VIEWS

from reconciler.emulator import Profile, create_app, settings_of
from reconciler.emulator.app import openapi_document

jsonschema: Any = pytest.importorskip("jsonschema")
ID = "2f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4a11"
VIEW = {"name": "v", "timeSelection": {"quickSelection": {"seconds": 60}}}
ALERT = {"name": "a", "enabled": True, "groupByKeys": ["k"], "entityLabels": {"my_team": "x"}}
LISTS = {
    "AlertDefinition": {"path": "/v3/alerts", "items": "data.alerts", "name": "def.name"},
    "SavedView": {"path": VIEWS, "id": "view.id"},
    "Dashboard": {"path": DASHBOARDS, "items": "items"},
    "SLO": {"path": "/v1/slo/slos"},
}


def serving(**settings: Any) -> Emulated:
    """Give a service with these switches, one alert and one view."""
    emulator = Emulated(alert_ids=[ID], profile=settings_of(Profile, settings))
    one = {"id": ID, "alertDefProperties": ALERT}
    emulator.put(ALERTS, {"alertDefsToReplace": [one]})
    emulator.post(VIEWS, VIEW)
    return emulator


def test_none_by_default() -> None:
    """A service that no profile asks for more has no read beside those of the document."""
    emulator = serving()

    assert emulator.get(f"{ALERTS}/{ID}").status == 404
    assert emulator.get(f"{VIEWS}/1").status == 405
    assert emulator.get(VIEWS).status == 405


@pytest.mark.parametrize("names", ["camel", "snake"])
def test_where_the_record_stands(names: str) -> None:
    """Record and spec stand where the profile says, known fields as it spells them."""
    read = {"path": "/v3/alerts/{id}", "record": "data.alert", "spec": "def"}
    answer = serving(reads={"AlertDefinition": read}, readNames=names).get(f"/v3/alerts/{ID}")

    record = answer.body["data"]["alert"]
    assert record["id"] == ID
    assert ("updatedTime" in record) == (names == "camel")
    spec = record["def"]
    assert spec["group_by_keys" if names == "snake" else "groupByKeys"] == ["k"]
    assert spec["entity_labels" if names == "snake" else "entityLabels"] == {"my_team": "x"}


def test_record_that_is_the_spec() -> None:
    """Without a place, the answer is the record and the record the spec, the id beside it."""
    paths = {"AlertDefinition": {"path": "/v3/a/{id}"}, "SavedView": {"path": VIEWS + "/{id}"}}
    emulator = serving(reads=paths)

    alert, view = emulator.get(f"/v3/a/{ID}").body, emulator.get(f"{VIEWS}/1").body

    assert (alert["name"], alert["id"]) == ("a", ID)
    assert (view["name"], view["id"]) == ("v", 1)
    assert emulator.put(f"{VIEWS}/1", VIEW).status == 200


def test_what_is_not_there() -> None:
    """What is not there is a 404 in the words of the service."""
    answer = serving(reads={"SavedView": {"path": "/v3/views/{id}"}}).get("/v3/views/7")

    assert (answer.status, answer.message) == (404, "Not Found: saved view 7")


def test_forms_go_together() -> None:
    """These answers follow the other switches: zero values, and reads that are behind."""
    reads = {"SavedView": {"path": "/v3/views/{id}"}}
    rendered = serving(reads=reads, zeroValues="rendered").get("/v3/views/1").body
    dropped = serving(reads=reads, zeroValues="dropped").get("/v3/views/1").body
    behind = serving(reads=reads, staleReads=1)
    behind.put(f"{VIEWS}/1", {**VIEW, "name": "new"})

    assert (rendered["isCompactMode"], "isCompactMode" in dropped) == (False, False)
    assert [behind.get("/v3/views/1").body["name"] for _ in "ab"] == ["v", "new"]


def test_lists() -> None:
    """A list has every record, its id and name where the profile puts them."""
    emulator = serving(lists=LISTS)
    emulator.post(DASHBOARDS, {"requestId": "r", "dashboard": {"name": "d"}})

    assert emulator.get("/v3/alerts").body == {
        "data": {"alerts": [{"id": ID, "def": {"name": "a"}}]}
    }
    assert emulator.get(VIEWS).body == [{"view": {"id": 1}, "name": "v"}]
    assert [value["name"] for value in emulator.get(DASHBOARDS).body["items"]] == ["d"]
    assert emulator.get("/v1/slo/slos").body == []


def test_the_document_stays_itself() -> None:
    """A profile cannot put something else at a path of the API document."""
    reads = {"SavedView": {"path": "/v1/slo/slos/{id}"}}

    assert serving(reads=reads).get("/v1/slo/slos/1").message.startswith("Not Found: slo")


@pytest.mark.parametrize(
    "settings",
    [
        {"reads": {"SLO": {"path": "/x/{id}"}}},
        {"reads": {"SavedView": {"path": "/x"}}},
        {"reads": {"SavedView": {"path": "x/{id}"}}},
        {"reads": {"SavedView": {"path": "/x/{id}", "record": "a..b"}}},
        {"reads": {"SavedView": {"path": "/x/{id}", "what": "a"}}},
        {"lists": {"LogPolicySet": {"path": "/x"}}},
        {"lists": {"SLO": {"path": "/x/{id}"}}},
        {"readNames": "kebab"},
    ],
)
def test_unusable_profiles(settings: dict[str, Any]) -> None:
    """A read that could not be served is refused with the profile."""
    with pytest.raises(ValueError, match="validation error"):
        settings_of(Profile, settings)


@pytest.mark.parametrize("spec", ["", "inner.def"])
@pytest.mark.parametrize("record", ["", "data.one"])
def test_described(record: str, spec: str) -> None:
    """The served document describes these reads, and their answers are as it says."""
    place = {"record": record, "spec": spec}
    reads = {
        "AlertDefinition": {"path": "/v3/a/{id}", **place},
        "SavedView": {"path": "/v3/v/{id}", **place},
    }
    emulator = serving(reads=reads, lists=LISTS)
    described = emulator.send("GET", "/openapi.json", headers={}).body

    asked = {
        "/v3/a/{id}": f"/v3/a/{ID}",
        "/v3/v/{id}": "/v3/v/1",
        **{value["path"]: value["path"] for value in LISTS.values()},
    }
    for path, address in asked.items():
        content = described["paths"][path]["get"]["responses"]["200"]["content"]
        schema = {**content["application/json"]["schema"], "components": described["components"]}
        jsonschema.validate(emulator.get(address).body, schema)
    names = [
        value["operationId"] for path in described["paths"].values() for value in path.values()
    ]
    assert len(names) == len(set(names)) == 21 + len(asked)
    assert openapi_document(Profile()) == openapi_document()


def test_restart_keeps_profiles_apart() -> None:
    """Two services in one process have each its own reads."""
    more = create_app(
        profile=settings_of(Profile, {"reads": {"SavedView": {"path": "/v3/v/{id}"}}})
    )

    paths = [{route.path for route in app.routes} for app in (more, create_app())]  # type: ignore[attr-defined]  # routes all
    assert paths[0] - paths[1] == {"/mgmt/openapi/latest/v3/v/{id}"}
