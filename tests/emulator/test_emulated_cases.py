"""Endpoint 7: cases."""

from typing import Any

import pytest
from harness.emulated import Emulated
from harness.routes import CASES

from reconciler.emulator import Profile, settings_of
from reconciler.emulator.record_endpoints import Case, keep_case
from reconciler.emulator.wire import read

ANN = "0b8f0d8f-0000-4000-8000-00000000000a"


def case(number: int, **fields: object) -> dict[str, Any]:
    return {
        "id": f"00000000-0000-4000-8000-{number:012}",
        "title": f"Case {number}",
        "category": "CASE_CATEGORY_AVAILABILITY",
        "priority": "CASE_PRIORITY_P2",
        "state": "CASE_STATE_ACTIVE",
        "status": "CASE_STATUS_OPEN",
        "createTime": "2025-01-30T12:00:00.000Z",
        **fields,
    }


HELD = (
    case(
        1,
        title="Checkout is slow",
        description="p99 over 2 s",
        createTime="2025-01-29T12:00:00.000Z",
        labels=[{"key": "team", "value": "shop"}],
        groupings=[{"key": "region", "value": "eu"}],
        assignee={"userId": ANN},
    ),
    case(
        2,
        readableId="CASE-2",
        category="CASE_CATEGORY_SECURITY",
        priority="CASE_PRIORITY_P1",
        status="CASE_STATUS_ACKNOWLEDGED",
        labels=[{"key": "team", "value": "pay"}],
    ),
    case(3, state="CASE_STATE_RESOLVED", status="CASE_STATUS_CLOSED"),
)


@pytest.fixture
def emulator() -> Emulated:
    return holding({})


def holding(keys: dict[str, frozenset[str]]) -> Emulated:
    emulator = Emulated(keys=keys, profile=settings_of(Profile, {"zeroValues": "rendered"}))
    store = emulator.app.state.store
    with store.writing():
        for value in HELD:
            keep_case(store, read(Case, value))
    return emulator


def numbers(emulator: Emulated, **body: object) -> list[int]:
    answer = emulator.post(CASES, body)
    assert answer.status == 200, answer.text
    return [int(found["id"][-4:]) for found in answer.body["cases"]]


def test_default_order(emulator: Emulated) -> None:
    """Without an order, cases are sorted by creation time and then id, descending."""
    assert numbers(emulator) == [3, 2, 1]


@pytest.mark.parametrize(
    ("field", "direction", "found"),
    [
        ("UNSPECIFIED", "UNSPECIFIED", [3, 2, 1]),
        ("CREATE_TIME", "ASC", [1, 2, 3]),
        ("PRIORITY", "ASC", [2, 1, 3]),
        ("TITLE", "DESC", [1, 3, 2]),
    ],
)
def test_order(emulator: Emulated, field: str, direction: str, found: list[int]) -> None:
    """Cases can be sorted by another field, either way; the id settles a tie."""
    order = {
        "field": f"CASE_ORDER_BY_FIELD_{field}",
        "direction": f"CASE_ORDER_BY_DIRECTION_{direction}",
    }

    assert numbers(emulator, orderBy=order) == found


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"assignees": [{"unassigned": {}}]}, [3, 2]),
        ({"assignees": [{"userId": ANN}]}, [1]),
        ({"assignees": [{"userId": ANN}, {"unassigned": {}}]}, [3, 2, 1]),
        ({"categories": ["CASE_CATEGORY_SECURITY"]}, [2]),
        ({"groupings": [{"key": "region", "values": ["eu", "us"]}]}, [1]),
        ({"labels": [{"key": "team", "values": ["pay"]}]}, [2]),
        ({"labels": [{"key": "team", "values": []}]}, [2, 1]),
        ({"labels": [{"key": "team", "values": ["pay"]}, {"key": "x", "values": ["y"]}]}, []),
        ({"priorities": ["CASE_PRIORITY_P1", "CASE_PRIORITY_P5"]}, [2]),
        ({"states": ["CASE_STATE_RESOLVED"]}, [3]),
        ({"statuses": ["ACKNOWLEDGED"]}, [2]),
        ({"statuses": ["CASE_STATUS_ACKNOWLEDGED", "CLOSED"]}, [3, 2]),
        ({"textSearch": "CHECKOUT"}, [1]),
        ({"textSearch": "p99"}, [1]),
        ({"textSearch": "case-2"}, [2]),
        ({"states": ["CASE_STATE_ACTIVE"], "textSearch": "case"}, [2]),
        ({}, [3, 2, 1]),
    ],
)
def test_filters(emulator: Emulated, filters: dict[str, object], found: list[int]) -> None:
    """Each filter of the document finds its cases; filters add up, values are alternatives."""
    assert numbers(emulator, filters=filters) == found


def test_pages(emulator: Emulated) -> None:
    """The token leads to the next page, `skip` leaves out cases, the size counts all."""
    first = emulator.post(CASES, {"pagination": {"pageSize": 1, "skip": 1}}).body
    token = first["pagination"]["nextPageToken"]

    assert [found["title"] for found in first["cases"]] == ["Case 2"]
    assert first["pagination"]["totalSize"] == 3
    assert numbers(emulator, pagination={"pageSize": 9, "pageToken": token}) == [1]
    assert numbers(emulator, pagination={"skip": 3}) == []


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"pagination": {"pageSize": -1}}, "pagination.pageSize: "),
        ({"pagination": {"pageToken": "x"}}, "pagination.pageToken: not a token"),
        ({"filters": {"states": ["OPEN"]}}, "filters.states[0]: not a value of CASE_STATE_*"),
        ({"filters": {"assignees": [{"userId": "ann"}]}}, "filters.assignees[0].userId: "),
        ({"orderBy": {"field": "CASE_ORDER_BY_FIELD_COLOUR"}}, "the order: colour is not"),
    ],
)
def test_bad_request(emulator: Emulated, body: object, message: str) -> None:
    """A request that cannot be read names the field."""
    answer = emulator.post(CASES, body)

    assert answer.status == 400
    assert answer.message.startswith(message)


@pytest.mark.parametrize(("key", "status"), [("reader", 200), ("writer", 403), ("nobody", 401)])
def test_permission(key: str, status: int) -> None:
    """The listing needs the permission `case:Read`, and no other call does."""
    emulator = holding({"reader": frozenset({"case:Read"}), "writer": frozenset({"slo:Write"})})

    answer = emulator.send("POST", CASES, {}, headers={"Authorization": key})
    other = emulator.send("GET", "/dataplans/policies/v1", headers={"Authorization": key})

    assert answer.status == status
    assert other.status == (401 if key == "nobody" else 200)


def test_api_key_may_do_all() -> None:
    """The single key has every permission, beside other keys too."""
    emulator = Emulated(api_key="root", keys={"writer": frozenset()})

    assert emulator.send("POST", CASES, {}, headers={"Authorization": "root"}).status == 200
    assert emulator.send("POST", CASES, {}, headers={"Authorization": "writer"}).status == 403
