"""Endpoints 20 and 21: saved views."""

import pytest
from harness.emulated import Emulated
from harness.profiles import FILLING
from harness.routes import VIEWS

FOLDER = "3dc02998-0b50-4ea8-b68a-4779d716fa1f"
VIEW = {"name": "Errors", "timeSelection": {"quickSelection": {"seconds": 900}}}


def test_created_views() -> None:
    """Ids count up from 1; an id in the body is ignored, zero values may be filled in."""
    emulator = Emulated(profile=FILLING)

    first, second = emulator.post(VIEWS, {**VIEW, "id": 7}), emulator.post(VIEWS, VIEW)

    assert (first.status, second.body["id"]) == (200, 2)
    assert first.body == {
        "id": 1,
        "name": "Errors",
        "timeSelection": {"quickSelection": {"seconds": 900, "caption": ""}},
        "viewType": "VIEW_TYPE_UNSPECIFIED",
        "isCompactMode": False,
    }


def test_same_view_twice() -> None:
    """A repeated create makes a second view: nothing tells them apart."""
    emulator = Emulated()

    assert emulator.post(VIEWS, VIEW).body["id"] != emulator.post(VIEWS, VIEW).body["id"]


def test_create_takes_no_compact_mode() -> None:
    """Only a replace sets the compact mode; a create with it is refused by name."""
    answer = Emulated().post(VIEWS, {**VIEW, "isCompactMode": False})

    assert answer.status == 400
    assert "isCompactMode" in answer.message


def test_replaced_view() -> None:
    """A replace is whole: what it does not hold is gone, and the path says which view."""
    emulator = Emulated()
    emulator.post(VIEWS, {**VIEW, "folderId": FOLDER, "searchQuery": {"query": ""}})

    compact = emulator.put(f"{VIEWS}/1", {**VIEW, "id": 9, "isCompactMode": True})
    plain = emulator.put(f"{VIEWS}/1", VIEW)

    assert (compact.body["id"], compact.body["isCompactMode"]) == (1, True)
    assert "isCompactMode" not in plain.body
    assert {"folderId", "searchQuery"}.isdisjoint(compact.body)


@pytest.mark.parametrize("view_id", ["1", "2147483647"])
def test_unknown_view(view_id: str) -> None:
    """A replace never creates."""
    answer = Emulated().put(f"{VIEWS}/{view_id}", VIEW)

    assert (answer.status, answer.message) == (404, f"Not Found: saved view {view_id}")


@pytest.mark.parametrize("view_id", ["0", "-1", "2147483648", "1.0", "01", "x", "true", "%201"])
def test_bad_path_id(view_id: str) -> None:
    """Only integers from 1 to 2^31-1 are ids."""
    answer = Emulated().put(f"{VIEWS}/{view_id}", VIEW)

    assert answer.status == 400
    assert answer.message.startswith("id: ")


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"name": ""}, "name"),
        ({"name": "x" * 251}, "name"),
        ({"timeSelection": None}, "timeSelection"),
        ({"timeSelection": "1h"}, "timeSelection"),
        ({"timeSelection": {"quickSelection": {}, "customSelection": {}}}, "timeSelection"),
        (
            {"timeSelection": {"quickSelection": {"seconds": -1}}},
            "timeSelection.quickSelection.seconds",
        ),
        ({"folderId": FOLDER.upper()}, "folderId"),
        ({"folderId": FOLDER + "\n"}, "folderId"),
        ({"folderId": FOLDER.replace("-", "0")}, "folderId"),
        ({"viewType": "LOGS"}, "viewType"),
        ({"filters": []}, "filters"),
        (
            {"filters": {"filters": [{"selectedValues": {"a": "yes"}}]}},
            "filters.filters[0].selectedValues.a",
        ),
    ],
)
@pytest.mark.parametrize(("method", "target"), [("POST", VIEWS), ("PUT", f"{VIEWS}/1")])
def test_refused_view(fields: dict[str, object], path: str, method: str, target: str) -> None:
    """A view out of bounds is refused by both writes, with the path of the fault."""
    emulator = Emulated()
    emulator.post(VIEWS, VIEW)

    answer = emulator.send(method, target, {**VIEW, **fields})

    assert answer.status == 400
    assert answer.message.startswith(f"{path}: ")
