"""Closing incidents: endpoint 10, and what is done about a lost answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from shutil import copyfile

import httpx
import pytest
from harness.sites import Wire, lost_after, lost_before
from harness.wire import asked, bodies, queries, replying
from starlette.applications import Starlette

from reconciler.api.client import Api
from reconciler.document import Json
from reconciler.emulator import Fault, Faults, Rule, create_app
from reconciler.emulator.faults import PartialBulk
from reconciler.errors import OutcomeUnknown
from reconciler.records.listings import (
    CLOSE,
    INCIDENTS,
    Incident,
    IncidentFilter,
    close_incidents,
    find_incidents,
    list_incidents,
)


@pytest.fixture
def app(tmp_path: Path, demo_data: Path) -> Iterator[Starlette]:
    made = create_app(Path(copyfile(demo_data, tmp_path / "demo.db")))
    yield made
    made.state.store.close()


@pytest.fixture
def wire(app: Starlette) -> Wire:
    return Wire(httpx.ASGITransport(app))


def open_ids(wire: Wire, count: int) -> list[str]:
    """Give the ids of some incidents that nothing has closed."""

    async def first(api: Api) -> list[str]:
        found = list_incidents(api, IncidentFilter(open_only=True), count)
        return [incident.id async for incident in found]

    ids = asked(wire, first)
    wire.sent.clear()
    return ids


def close(wire: Wire, ids: list[str]) -> list[Incident]:
    return asked(wire, lambda api: close_incidents(api, ids))


def count(wire: Wire, path: str) -> int:
    return sum(sent.path == path for sent in wire.sent)


def test_close(wire: Wire) -> None:
    """Incidents are closed with one request and come back closed, in the order asked for."""
    ids = open_ids(wire, 3)

    closed = close(wire, ids)

    assert [(incident.id, incident.is_open) for incident in closed] == [(id_, False) for id_ in ids]
    assert [(sent.method, sent.path) for sent in wire.sent] == [("POST", CLOSE)]


def test_ids_in_the_query() -> None:
    """The ids go as a repeated query parameter, and the body is empty."""
    service = replying({"incidents": [{"id": "a"}, {"id": "b"}]})

    asked(service, lambda api: close_incidents(api, ["a", "b"]))

    assert queries(service) == [[("incident_ids", "a"), ("incident_ids", "b")]]
    assert bodies(service) == [{}]


def test_ids_in_the_body() -> None:
    """With `closeBodyField` the ids go in that field of the body, and nowhere else."""
    service = replying({"incidents": [{"id": "a"}]})

    asked(service, lambda api: close_incidents(api, ["a"]), closeBodyField="incidentIds")

    assert (queries(service), bodies(service)) == ([[]], [{"incidentIds": ["a"]}])


def test_lost_after_the_close(wire: Wire) -> None:
    """Where the answer is lost and the list shows them closed, nothing is sent again."""
    ids = open_ids(wire, 2)
    wire.meddlers.append(("POST", CLOSE, [lost_after]))

    closed = close(wire, ids)

    assert [(incident.id, incident.is_open) for incident in closed] == [(id_, False) for id_ in ids]
    # The open ones, where they are not any more, then all.
    assert (count(wire, CLOSE), count(wire, INCIDENTS)) == (1, 2)


def test_lost_before_the_close(wire: Wire) -> None:
    """Where the request is lost and the list shows them open, it is sent once more."""
    ids = open_ids(wire, 2)
    wire.meddlers.append(("POST", CLOSE, [lost_before]))

    closed = close(wire, ids)

    assert [(incident.id, incident.is_open) for incident in closed] == [(id_, False) for id_ in ids]
    assert [sent.path for sent in wire.sent] == [CLOSE, INCIDENTS, CLOSE]


def test_only_the_open_ones_again(wire: Wire, app: Starlette) -> None:
    """After a lost answer only those that are still open are sent again."""
    first, second = open_ids(wire, 2)
    asked: list[str] = []

    async def half(request: httpx.Request, inner: httpx.AsyncBaseTransport) -> httpx.Response:
        url = request.url.copy_set_param("incident_ids", first)
        await inner.handle_async_request(httpx.Request("POST", url, headers=request.headers))
        raise httpx.ReadError("the connection broke")

    async def note(request: httpx.Request, inner: httpx.AsyncBaseTransport) -> httpx.Response:
        asked.extend(request.url.params.get_list("incident_ids"))
        return await inner.handle_async_request(request)

    wire.meddlers.append(("POST", CLOSE, [half, note]))

    closed = close(wire, [first, second])

    assert asked == [second]
    assert [incident.is_open for incident in closed] == [False, False]
    assert len(app.state.requests) > 0


def test_lost_twice(wire: Wire) -> None:
    """A second lost answer ends it: the outcome is said to be unknown."""
    ids = open_ids(wire, 1)
    wire.meddlers.append(("POST", CLOSE, [lost_before, lost_after]))

    with pytest.raises(OutcomeUnknown):
        close(wire, ids)
    assert count(wire, CLOSE) == 2


def test_left_out_of_the_answer(demo_data: Path, tmp_path: Path) -> None:
    """An incident that the answer leaves out is looked up, and told as it is."""
    fault = Fault(partial=PartialBulk(missing=[0], replaced=[0, 1], failed=[2]))
    app = create_app(
        Path(copyfile(demo_data, tmp_path / "demo.db")),
        faults=Faults(rules=[Rule(method="POST", path="/incidents/*/close", fault=fault)]),
    )
    wire = Wire(httpx.ASGITransport(app))
    ids = open_ids(wire, 3)

    told = close(wire, ids)
    app.state.store.close()

    assert [(incident.id, incident.is_open) for incident in told] == [
        (ids[0], False),
        (ids[1], False),
        (ids[2], True),
    ]


def test_find_asks_for_open_ones_first(wire: Wire) -> None:
    """Open incidents are found by a filter of the service, in one page of a long listing."""
    ids = open_ids(wire, 3)

    found = asked(wire, lambda api: find_incidents(api, ids))

    assert set(found) == set(ids)
    assert count(wire, INCIDENTS) == 1


def test_find_reads_on_for_the_others(wire: Wire) -> None:
    """A resolved incident is found too, and the listing is read no further than to it."""
    newest = asked(wire, first_resolved)
    wire.sent.clear()

    found = asked(wire, lambda api: find_incidents(api, [newest]))

    assert list(found) == [newest]
    assert count(wire, INCIDENTS) == 2


def test_find_judges_again() -> None:
    """A service that ignores the filter still gives the right incidents."""
    listed: Json = [{"id": "a", "status": "INCIDENT_STATUS_RESOLVED"}, {"id": "b"}]
    page: Json = {"incidents": listed, "pagination": {}}

    found = asked(replying(page), lambda api: find_incidents(api, ["a", "b"]))

    assert set(found) == {"a", "b"}


async def first_resolved(api: Api) -> str:
    wanted = IncidentFilter(statuses=("INCIDENT_STATUS_RESOLVED",))
    async for incident in list_incidents(api, wanted):
        return incident.id
    raise AssertionError("the demo has resolved incidents")
