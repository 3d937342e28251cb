"""What each status means, asked of a service that stands in the client's transport."""

from __future__ import annotations

from datetime import timedelta
from email.utils import format_datetime

import httpx
import pytest
import respx
from harness.routes import API_ROOT, DASHBOARDS
from harness.wire import (
    KEY,
    SERVICE,
    Call,
    FakeTime,
    answering,
    asked,
    create,
    read,
    replace,
    replying,
)

from reconciler.api.client import Api
from reconciler.api.replies import READS, ReadLog
from reconciler.api.retry import Request
from reconciler.document import ABSENT
from reconciler.errors import (
    NotAuthorised,
    OutcomeUnknown,
    ReconcilerError,
    Redirected,
    ServiceRefused,
    Unavailable,
    UnreadableReply,
    WrongRoute,
)

DASHBOARD = f"{SERVICE}{API_ROOT}/v1/dashboards/dashboards/abc"
PROBE = f"{SERVICE}{API_ROOT}/dataplans/policies/v1"
HTML = "<!doctype html><title>Sign in</title>"
LOST = [408, 499, 500, 502, 503, 504, 505, 520, 524, 599]


@pytest.mark.parametrize(
    ("status", "error", "exit_code"),
    [
        (400, ServiceRefused, 3),
        (401, NotAuthorised, 10),
        (403, NotAuthorised, 10),
        (409, ServiceRefused, 3),
        (413, ServiceRefused, 3),
        (418, ServiceRefused, 3),
        (501, WrongRoute, 9),
    ],
)
@pytest.mark.parametrize("call", [read, create, replace])
def test_refusal(status: int, error: type[ReconcilerError], exit_code: int, call: Call) -> None:
    """A refusal is told at once, in the words of the service, and never tried again."""
    refusing = answering(httpx.Response(status, json={"code": status, "message": "No."}))

    with pytest.raises(error) as raised:
        asked(refusing, call)

    assert raised.value.exit_code == exit_code
    assert not raised.value.doubtful
    assert len(refusing.calls) == 1
    assert error is WrongRoute or "No." in str(raised.value)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"code": 400, "message": "name: required"}', "name: required"),
        (b'{"error": "bad"}', "bad"),
        (b'{"error": {"message": "worse"}}', "worse"),
        (b'{"detail": "detailed"}', "detailed"),
        (b'{"message": "", "error": {"message": 5}, "detail": "last"}', "last"),
        (b"plain text", "plain text"),
        (b"", "400 Bad Request"),
        (b'{"other": 1}', '{"other": 1}'),
        (b'["list"]', '["list"]'),
        (b"\xff\xfe", "\ufffd\ufffd"),
        (b"x" * 9000, "x" * 500 + " [\u2026]"),
    ],
)
def test_words_of_a_refusal(body: bytes, said: str) -> None:
    """What the service says is printed as it came, wherever it stands, cut where it is long."""
    refusing = answering(httpx.Response(400, content=body))

    with pytest.raises(ServiceRefused) as raised:
        asked(refusing, create)

    assert str(raised.value) == said


@pytest.mark.parametrize("status", LOST)
def test_lost_create(status: int) -> None:
    """After a status that says nothing about the outcome, a create is never sent again."""
    failing = answering(httpx.Response(status))

    with pytest.raises(OutcomeUnknown) as raised:
        asked(failing, create)

    assert len(failing.calls) == 1
    assert raised.value.doubtful
    assert raised.value.exit_code == 9


@pytest.mark.parametrize("status", LOST)
@pytest.mark.parametrize("call", [read, replace])
def test_lost_and_repeatable(status: int, call: Call) -> None:
    """What may be repeated is tried five times, then the run knows that it is unsure."""
    failing = answering(httpx.Response(status, json={"message": "later"}))
    time = FakeTime()

    with pytest.raises(Unavailable, match="later") as raised:
        asked(failing, call, time=time)

    assert len(failing.calls) == 5
    assert time.slept == [0.05, 0.1, 0.2, 0.4]
    assert raised.value.doubtful


def test_second_attempt() -> None:
    """A read that fails once succeeds."""
    healing = answering(httpx.Response(503), httpx.Response(200, json={"a": 1}))

    assert asked(healing, read) == {"a": 1}
    assert len(healing.calls) == 2


@pytest.mark.parametrize("call", [read, create, replace])
def test_limited(call: Call) -> None:
    """After a 429 everything is sent again, a create too, and nothing is in doubt."""
    limiting = answering(httpx.Response(429, headers={"Retry-After": "7"}))
    time = FakeTime(chance=0.0)

    with pytest.raises(Unavailable) as raised:
        asked(limiting, call, time=time)

    assert len(limiting.calls) == 5
    assert time.slept == [7.0] * 4
    assert not raised.value.doubtful


@pytest.mark.parametrize(
    ("headers", "slept"),
    [
        ([("Retry-After", "60")], [60.0]),
        ([("Retry-After", "0")], [1.0]),
        ([("Retry-After", "-5")], [1.0]),
        ([("Retry-After", "soon")], [1.0]),
        ([("Retry-After", "")], [1.0]),
        ([("Retry-After", "2"), ("Retry-After", "3")], [3.0]),
        ([("Retry-After", format_datetime(FakeTime.now + timedelta(seconds=30)))], [30.0]),
        ([("Retry-After", format_datetime(FakeTime.now - timedelta(days=1)))], [1.0]),
        ([], [1.0]),
    ],
)
def test_wait_after_429(headers: list[tuple[str, str]], slept: list[float]) -> None:
    """The longer of `Retry-After` and the backoff is waited; what is no such header is ignored."""
    limiting = answering(httpx.Response(429, headers=headers), httpx.Response(200, json={}))
    time = FakeTime()

    asked(limiting, read, time=time)

    assert time.slept == slept


@pytest.mark.parametrize("asked_for", ["61", "1000000000"])
def test_too_long_a_wait(asked_for: str) -> None:
    """A service that asks for more than a minute ends the run, and the error names the time."""
    limiting = answering(httpx.Response(429, headers={"Retry-After": asked_for}))
    time = FakeTime()

    with pytest.raises(Unavailable, match=f"{int(asked_for):,} seconds"):
        asked(limiting, create, time=time)

    assert len(limiting.calls) == 1
    assert time.slept == []


@pytest.mark.parametrize(
    ("response", "error"),
    [
        (httpx.Response(404, json={"code": 404, "message": "Not Found: dashboard abc"}), None),
        (httpx.Response(404, json={}), None),
        (httpx.Response(404, json={"code": 5, "message": "No such dashboard"}), None),
        (httpx.Response(404, json={"code": 5, "message": "Not Found"}), WrongRoute),
        (httpx.Response(404, json={"message": "Not Found: Not Found"}), WrongRoute),
        (httpx.Response(404, html=HTML), WrongRoute),
        (httpx.Response(404, content=b"  <html>"), WrongRoute),
        (httpx.Response(501), WrongRoute),
    ],
)
def test_404_of_a_read(response: httpx.Response, error: type[ReconcilerError] | None) -> None:
    """A missing object is absent; a missing route stops the run and names the address."""
    service = answering(response)

    if error is None:
        assert asked(service, read) is ABSENT
    else:
        with pytest.raises(error) as raised:
            asked(service, read)
        assert DASHBOARD in str(raised.value)
        assert raised.value.exit_code == 9
    assert len(service.calls) == 1


@pytest.mark.parametrize("unclear", [httpx.Response(404), httpx.Response(404, text="not found")])
@pytest.mark.parametrize(
    ("probe", "is_absent"), [(200, True), (401, True), (403, True), (404, False), (400, False)]
)
def test_unclear_404(unclear: httpx.Response, probe: int, is_absent: bool) -> None:
    """Endpoint 15 decides what a 404 without words means, and is asked once a run."""
    router = respx.MockRouter(assert_all_called=False)
    router.get(DASHBOARD).mock(return_value=unclear)
    proof = router.get(PROBE).respond(probe, json={"policies": []} if probe == 200 else None)

    async def read_twice(api: Api) -> list[object]:
        return [await read(api), await read(api)]

    if is_absent:
        assert asked(router, read_twice) == [ABSENT, ABSENT]
    else:
        with pytest.raises(WrongRoute):
            asked(router, read_twice)
    assert proof.call_count == 1


@pytest.mark.parametrize("call", [create, replace])
@pytest.mark.parametrize(
    "response",
    [httpx.Response(404, json={"code": 5, "message": "Not Found"}), httpx.Response(404, html=HTML)],
)
def test_404_route_of_a_write(response: httpx.Response, call: Call) -> None:
    """A write to a route that is not there stops the run."""
    service = answering(response)

    with pytest.raises(WrongRoute):
        asked(service, call)


@pytest.mark.parametrize(
    ("named", "asked_again"), [({}, 0), ({"ETag": '"mine"'}, 0), ({"ETag": '"other"'}, 1)]
)
def test_unchanged_by_name(named: dict[str, str], asked_again: int) -> None:
    """What is asked for by its ETag is unchanged by 304, but not by one that names another."""
    service = answering(
        httpx.Response(304, headers=named), httpx.Response(200, json={"dashboard": {}})
    )
    made = [(f"{DASHBOARDS}/abc", "0" * 64, '"mine"')]

    assert asked(service, lambda api: api.is_unchanged(made)) is not bool(asked_again)
    sent = [call.request.headers.get("If-None-Match") for call in service.calls]
    assert sent == ['"mine"', *[None] * asked_again]


@pytest.mark.parametrize("tag", ["", 'W/"a"', "a", '""', '"a"b"', '"' + "a" * 300 + '"', '"a b"'])
def test_names_that_are_not_used(tag: str) -> None:
    """An ETag that is weak, none or hostile is never sent back, and the bytes are compared."""
    answer = httpx.Response(200, json={"dashboard": {}}, headers={"ETag": tag} if tag else {})
    service = answering(answer)

    async def twice(api: Api) -> bool:
        reads = ReadLog()
        token = READS.set(reads)
        await read(api)
        READS.reset(token)
        assert [etag for _, _, etag in reads.made] == [""]
        return await api.is_unchanged(reads.made)

    assert asked(service, twice)
    assert "If-None-Match" not in service.calls[-1].request.headers


def test_not_modified_unasked() -> None:
    """That nothing was modified is no answer to who has no copy, and no redirect either."""
    service = answering(httpx.Response(304))

    with pytest.raises(Redirected, match="look for a cache") as raised:
        asked(service, read)

    assert "redirect" not in str(raised.value)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("call", [read, create, replace])
def test_redirect(status: int, call: Call) -> None:
    """A redirect is never followed; the error says where it led."""
    elsewhere = f"https://elsewhere.test/?key={KEY}"
    service = answering(httpx.Response(status, headers={"Location": elsewhere}))

    with pytest.raises(Redirected, match=r"elsewhere\.test") as raised:
        asked(service, call)

    assert len(service.calls) == 1
    assert KEY not in str(raised.value)


@pytest.mark.parametrize("status", [301, 307])
def test_redirect_to_nowhere(status: int) -> None:
    """A redirect to what is no address at all is an answer that says nothing."""
    service = answering(httpx.Response(status, headers={"Location": "http:x"}))

    with pytest.raises(Unavailable, match="no address"):
        asked(service, read)


@pytest.mark.parametrize(
    "body", [b"", b"{", b'{"a": 1', HTML.encode(), b"\xff", b"{'a': 1}", b"NaN"]
)
def test_unreadable_answer_to_a_create(body: bytes) -> None:
    """A success that cannot be read leaves a create in doubt, and it is not sent again."""
    service = answering(httpx.Response(200, content=body))

    with pytest.raises(OutcomeUnknown):
        asked(service, create)

    assert len(service.calls) == 1


@pytest.mark.parametrize("body", [b"{", HTML.encode(), b"[Infinity]", b"9" * 5000, b"[" * 100_000])
@pytest.mark.parametrize("call", [read, replace])
def test_unreadable_answer(body: bytes, call: Call) -> None:
    """A success that cannot be read has an error of its own, after a few attempts."""
    service = answering(httpx.Response(200, content=body, headers={"X": "y"}))

    with pytest.raises(UnreadableReply, match="not JSON") as raised:
        asked(service, call)

    assert len(service.calls) == 5
    assert raised.value.doubtful


@pytest.mark.parametrize("status", [200, 201, 204])
def test_empty_answer(status: int) -> None:
    """An empty success is fine only where an empty object is promised."""
    service = answering(httpx.Response(status))

    async def replace_dashboard(api: Api) -> object:
        return await api.send("PUT", "/x", {}, request=Request.REPLACE, may_be_empty=True)

    assert asked(service, replace_dashboard) == {}
    with pytest.raises(UnreadableReply):
        asked(service, replace)
    with pytest.raises(UnreadableReply):
        asked(service, read)


@pytest.mark.parametrize(
    ("sent", "read_as"),
    [
        (rb'{"a": "\ud83d\ude00"}', "\U0001f600"),
        (rb'{"a": "\ud83d"}', "\ufffd"),
        (rb'{"a": "\uDE00x"}', "\ufffdx"),
        (rb'{"a": "\ud83d\ud83d\ude00"}', "\ufffd\U0001f600"),
        (rb'{"a": "\\ud83d"}', r"\ud83d"),
        (b'\xef\xbb\xbf{"a": "b"}', "b"),
    ],
)
def test_half_characters(sent: bytes, read_as: str) -> None:
    """Half a character, which no file could hold, is read as the sign of a broken one."""
    service = answering(httpx.Response(200, content=sent))

    assert asked(service, read) == {"a": read_as}


@pytest.mark.parametrize("operations", [1, 20, 100])
@pytest.mark.parametrize("call", [read, replace])
def test_outage(operations: int, call: Call) -> None:
    """In a full outage N operations send at most N + 35 requests."""
    failing = answering(httpx.Response(503))

    async def all_of_them(api: Api) -> None:
        for _ in range(operations):
            with pytest.raises(Unavailable):
                await call(api)

    asked(failing, all_of_them)

    assert len(failing.calls) <= operations + 35


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 429, 500])
@pytest.mark.parametrize("call", [create, replace])
def test_key_repeated_by_the_service(status: int, call: Call) -> None:
    """A service that repeats the key gets no copy of it into an error, not even a part."""
    body = {"message": "x" * 490 + KEY}
    headers = {"Content-Type": f"application/{KEY}"}
    service = answering(httpx.Response(status, json=body, headers=headers))

    with pytest.raises(ReconcilerError) as raised:
        asked(service, call)

    assert KEY[:8] not in str(raised.value)


@pytest.mark.parametrize(
    ("second", "error"), [(400, ServiceRefused), (401, NotAuthorised), (307, Redirected)]
)
def test_refusal_after_a_lost_attempt(second: int, error: type[ReconcilerError]) -> None:
    """A no to the second attempt does not say that the first did not happen."""
    service = answering(httpx.Response(500), httpx.Response(second, json={}))

    with pytest.raises(error) as raised:
        asked(service, replace)

    assert raised.value.doubtful


def test_connect_deadline() -> None:
    """A host that never answers is given up before the deadline, as one that heard nothing."""
    service = replying({})

    asked(service, read, deadline=30.0)

    assert service.calls[0].request.extensions["timeout"]["connect"] < 30.0


def test_headers() -> None:
    """The key goes out as it is, and only packing that can be counted is asked for."""
    service = replying({})

    asked(service, read)

    headers = service.calls[0].request.headers
    assert headers["Authorization"] == KEY
    assert headers["Accept-Encoding"] == "gzip"
    assert headers["User-Agent"].startswith("reconciler/")


@pytest.mark.parametrize(
    ("status", "headers"),
    [(206, {}), (206, {"Content-Range": "items 0-1/4"}), (200, {"Content-Range": "items 0-1/4"})],
)
@pytest.mark.parametrize("call", [read, create, replace])
def test_part_of_an_answer(status: int, headers: dict[str, str], call: Call) -> None:
    """What calls itself a part is no answer: never believed, and asked for once."""
    parting = answering(httpx.Response(status, json={"id": "x"}, headers=headers))

    with pytest.raises(OutcomeUnknown if call is create else UnreadableReply) as raised:
        asked(parting, call)

    assert "a part only" in str(raised.value)
    assert raised.value.exit_code == 9
    assert len(parting.calls) == 1
