"""The retry rules as a table: documented as they are, and played cell by cell."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import httpx
import pytest
from harness.wire import Call, FakeTime, answering, asked

from reconciler.api.client import Api
from reconciler.api.retry import LOST_STATUSES, RULES, NextStep, Phase, Request, phase_of_status
from reconciler.errors import (
    NotAuthorised,
    OutcomeUnknown,
    ReconcilerError,
    ServiceRefused,
    Unavailable,
    WrongRoute,
)

PAGE = Path(__file__).parents[2] / "docs" / "network.md"
ANSWERS: dict[Phase, tuple[httpx.Response | Exception, ...]] = {
    Phase.NOT_SENT: (httpx.ConnectError("refused"), httpx.ConnectTimeout("no answer")),
    Phase.LIMITED: (httpx.Response(429),),
    Phase.LOST: (
        httpx.ReadError("the connection broke"),
        httpx.WriteError("the connection broke"),
        httpx.ReadTimeout("no answer"),
        httpx.RemoteProtocolError("no HTTP"),
        *(httpx.Response(status) for status in (408, 499, 500, 502, 503, 504, 520, 524, 599)),
        httpx.Response(200, text="<html>"),
    ),
    Phase.BARRED: (httpx.Response(401), httpx.Response(403)),
    Phase.MISLED: (
        *(httpx.Response(status) for status in (301, 302, 303, 304, 307, 308, 501)),
        httpx.Response(404, html="<html>"),
    ),
    Phase.REFUSED: tuple(
        httpx.Response(status, json={"message": "no"}) for status in (400, 409, 410, 413, 422)
    ),
    Phase.ANSWERED: (httpx.Response(200, json={}), httpx.Response(201, json={})),
}
ERRORS: dict[NextStep, tuple[type[ReconcilerError], ...]] = {
    NextStep.RETRY: (Unavailable,),
    NextStep.RESOLVE: (OutcomeUnknown,),
    NextStep.LEAVE: (OutcomeUnknown,),
    NextStep.STOP: (NotAuthorised, WrongRoute, Unavailable),
    NextStep.REFUSE: (ServiceRefused,),
}
CELLS = [
    (request, phase, answer)
    for request, phase in itertools.product(Request, Phase)
    for answer in ANSWERS[phase]
]


def sending(request: Request) -> Call:
    """Give a call under the rules of one kind of request."""
    return lambda api: api.send("POST", "/x", {}, request=request)


def named(cell: object) -> str:
    """Name a cell of the table, or what is answered in it."""
    return str(cell.status_code) if isinstance(cell, httpx.Response) else str(cell)


def test_documented_rules() -> None:
    """docs/network.md has the very table by which requests are made."""
    rows = re.findall(r"^\| (.+?) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    cells = [row.split(" | ") for row in rows]

    begin = [row[0] for row in cells].index("what happened")
    documented = cells[begin : begin + len(Phase) + 1]
    assert documented[0] == ["what happened", *(request.value for request in Request)]
    assert documented[1:] == [
        [phase.value, *(RULES[request][phase].value for request in Request)] for phase in Phase
    ]


@pytest.mark.parametrize(("request_", "phase", "answer"), CELLS, ids=named)
def test_each_cell(request_: Request, phase: Phase, answer: httpx.Response | Exception) -> None:
    """Whatever happens to whatever request, the door does what the table says."""
    verdict = RULES[request_][phase]
    service = answering(answer)

    if verdict is NextStep.TAKE:
        assert asked(service, sending(request_)) == {}
    else:
        with pytest.raises(ERRORS[verdict]):
            asked(service, sending(request_))

    assert len(service.calls) == (5 if verdict is NextStep.RETRY else 1)


@pytest.mark.parametrize("request_", [Request.FINDABLE, Request.BLIND])
def test_no_create_goes_out_twice(request_: Request) -> None:
    """Whatever comes before, nothing follows a create of which a byte may have been heard."""
    harmless = [*ANSWERS[Phase.NOT_SENT], *ANSWERS[Phase.LIMITED]]
    for before, lost in itertools.product(harmless, ANSWERS[Phase.LOST]):
        service = answering(before, before, lost, httpx.Response(200, json={}))

        with pytest.raises(OutcomeUnknown):
            asked(service, sending(request_))

        assert len(service.calls) == 3


def test_every_status_has_a_phase() -> None:
    """No status of a server or a proxy is a refusal but 501; only a 4xx is one."""
    phases = {status: phase_of_status(status) for status in range(200, 1000)}

    assert all(phases[status] is Phase.ANSWERED for status in range(200, 300))
    assert all(phases[status] is Phase.MISLED for status in range(300, 400))
    unclear = {status for status, phase in phases.items() if phase is Phase.LOST}
    assert unclear == {408, 499, *range(500, 1000)} - {501}
    refused = {status for status, phase in phases.items() if phase is Phase.REFUSED}
    assert refused <= {*range(400, 500)}


def test_ten_minutes_in_all() -> None:
    """A service that asks for a minute every time is waited for ten minutes a run, then left."""
    service = answering(httpx.Response(429, headers={"Retry-After": "60"}))
    time = FakeTime()

    async def one_after_another(api: Api) -> str:
        said = ""
        for _ in range(100):
            with pytest.raises(Unavailable) as raised:
                await api.read("/x")
            said = str(raised.value)
        return said

    said = asked(service, one_after_another, time=time)

    assert sum(time.slept) == 600.0
    assert len(service.calls) == 110
    assert "ten minutes" in said


@pytest.mark.parametrize(
    ("page", "before", "after"),
    [
        ("network.md", "where its status is ", ", or where"),
        ("assumptions.md", "| ", " and a lost connection"),
    ],
)
def test_the_statuses_that_say_nothing_are_told(page: str, before: str, after: str) -> None:
    """Both pages list exactly the statuses whose answers say nothing of a write."""
    text = PAGE.with_name(page).read_text(encoding="utf-8").partition(after)[0]
    listed = text.rpartition(before)[2].replace(" or ", ", ").split(", ")
    ends = [[int(end) for end in text.split("\N{EN DASH}")] for text in listed]

    assert {status for first, *last in ends for status in range(first, [first, *last][-1] + 1)} == {
        *LOST_STATUSES
    }
