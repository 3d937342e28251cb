"""Keys, routes, bodies: what holds for every endpoint."""

import json

import pytest
from harness.emulated import Emulated
from harness.golden import Golden
from harness.routes import API_ROOT, DASHBOARDS, OVERWRITE, POLICIES, SLOS, VIEWS

from reconciler import emulator
from reconciler.emulator import Profile, settings_of
from reconciler.emulator.endpoint import BODY_LIMIT

SLO = {
    "name": "s",
    "targetThresholdPercentage": 99,
    "windowBasedMetricSli": {"query": {"query": "up"}},
}


@pytest.mark.parametrize("headers", [{}, {"Authorization": ""}, {"Authorization": "Bearer "}])
def test_key_needed(headers: dict[str, str]) -> None:
    """Without a key nothing is answered but 401."""
    answer = Emulated().send("GET", POLICIES, headers=headers)

    assert answer.status == 401
    assert "Authorization" in answer.message


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ("canary", 200),
        ("Bearer canary", 200),
        ("bearer canary", 200),
        ("canar", 401),
        ("Basic canary", 401),
    ],
)
def test_only_the_key(sent: str, status: int) -> None:
    """With a key set, that key is taken bare or as a bearer token, and no other."""
    answer = Emulated(api_key="canary").send("GET", POLICIES, headers={"Authorization": sent})

    assert answer.status == status
    assert "canary" not in answer.text


def test_readiness_needs_no_key() -> None:
    """The readiness probe is answered without a key and leaves no trace in the log."""
    emulator = Emulated(api_key="canary")

    assert emulator.send("GET", "/healthz", headers={}).status == 200
    assert not emulator.app.state.requests


@pytest.mark.parametrize("path", ["/nope", DASHBOARDS + "/", "/v1/dashboards/by-slug/a/b", ""])
@pytest.mark.parametrize("headers", [{}, {"Authorization": "any"}])
def test_unknown_route(path: str, headers: dict[str, str]) -> None:
    """An unknown route is told apart from a missing object, with a key or without."""
    answer = Emulated().send("GET", path, headers=headers)

    assert (answer.status, answer.body) == (404, {"code": 5, "message": "Not Found"})


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("DELETE", DASHBOARDS, "POST, PUT"),
        ("POST", POLICIES, "GET"),
        ("GET", VIEWS, "POST"),
        ("POST", "/healthz", "GET"),
    ],
)
def test_wrong_method(method: str, path: str, allowed: str) -> None:
    """A known path with another method is 405 and says which methods there are."""
    answer = Emulated().send(method, path)

    assert answer.status == 405
    assert answer.headers["allow"] == allowed
    assert answer.message == "Method Not Allowed"


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"\xef\xbb\xbf{}",
        b'{"name": NaN}',
        b'{"name": 1e999}',
        b'{"name": "\\ud800"}',
        b"[" * 100_000,
        b'{"a": ' * 200 + b"1" + b"}" * 200,
        b'{"a": ' + b"9" * 5000 + b"}",
    ],
)
def test_body_is_not_json(raw: bytes) -> None:
    """What is not plain JSON is refused and never breaks the server."""
    answer = Emulated().send("POST", SLOS, raw=raw)

    assert answer.status == 400
    assert "the body" in answer.message


@pytest.mark.parametrize("body", [[], "text", 3, True, [{}]])
def test_body_is_no_object(body: object, golden: Golden) -> None:
    """JSON that is not an object is refused."""
    answer = Emulated().post(SLOS, body)

    assert answer.status == 400
    golden(answer.message)


def test_body_too_large() -> None:
    """A body over 16 MB is refused before it is parsed."""
    emulator = Emulated()
    at_limit = json.dumps({"name": "x"}).encode().ljust(BODY_LIMIT)

    assert emulator.send("POST", SLOS, raw=at_limit).status == 400
    assert emulator.send("POST", SLOS, raw=at_limit + b" ").status == 413


@pytest.mark.parametrize(
    ("path", "body", "message"),
    [
        (SLOS, {**SLO, "name": 5}, "name: not a string"),
        (
            SLOS,
            {**SLO, "targetThresholdPercentage": "99"},
            "targetThresholdPercentage: not a number",
        ),
        (
            SLOS,
            {**SLO, "targetThresholdPercentage": True},
            "targetThresholdPercentage: not a number",
        ),
        (SLOS, {**SLO, "labels": {"team": 1}}, "labels.team: not a string"),
        (SLOS, {**SLO, "labels": []}, "labels: not an object"),
        (SLOS, {**SLO, "grouping": []}, "grouping: not an object"),
        (SLOS, {**SLO, "revision": {"revision": 2**31}}, "revision.revision: not an int32"),
        (SLOS, {**SLO, "revision": {"revision": 1.0}}, "revision.revision: not an integer"),
        (SLOS, {"name": None, "targetThresholdPercentage": 1}, "name: required"),
        (OVERWRITE, {"policies": {}}, "policies: not an array"),
        (
            OVERWRITE,
            {"policies": [{"logRules": {"severities": [3]}}]},
            "policies[0].logRules.severities[0]: not a value of SEVERITY_*",
        ),
        (VIEWS, {"name": "v", "timeSelection": {}, "folderId": "x"}, "folderId: "),
        (
            VIEWS,
            {"name": "v", "timeSelection": {}, "viewType": 1},
            "viewType: not a value of VIEW_TYPE_*",
        ),
    ],
)
def test_message_names_the_field(path: str, body: object, message: str) -> None:
    """A refused body names the path of the field that is wrong."""
    answer = Emulated().post(path, body)

    assert answer.status == 400
    assert answer.message.startswith(message)


def test_wrong_shape_is_found_before_broken_rules(golden: Golden) -> None:
    """Of several faults the one that no service could take in is named."""
    answer = Emulated().post(SLOS, {"name": "", "targetThresholdPercentage": 101, "creator": 4})

    golden(answer.message)


def test_keys_come_in_another_order() -> None:
    """Where the profile says so, keys come back in another order than they were sent in."""
    emulator = Emulated(profile=settings_of(Profile, {"keyOrder": "reversed"}))
    view = {"name": "v", "timeSelection": {}, "aUnknown": {"a": 1, "b": 2}}

    text = emulator.post(VIEWS, view).text

    assert text.index('"timeSelection"') < text.index('"name"')
    assert '"aUnknown":{"b":2,"a":1}' in text


def test_unknown_fields_stay() -> None:
    """Fields the document does not show come back as sent, null and empty ones too."""
    unknown: dict[str, object] = {"x": None, "y": {}, "z": [{}, {"k": []}], "snake_case": 1.0}

    answer = Emulated().post(SLOS, {**SLO, **unknown})

    assert {key: answer.body["slo"][key] for key in unknown} == unknown


def test_request_log() -> None:
    """Each request is noted with method, path, status and what was sent, refused ones too."""
    emulator = Emulated()
    emulator.post(SLOS, SLO)
    emulator.post(SLOS, {"name": ""})
    emulator.send("PUT", SLOS, raw=b"{")
    emulator.get("/nope?x=1")
    emulator.send("GET", POLICIES, headers={})

    assert list(emulator.app.state.requests) == [
        ("POST", API_ROOT + SLOS, 200, SLO),
        ("POST", API_ROOT + SLOS, 400, {"name": ""}),
        ("PUT", API_ROOT + SLOS, 400, None),
        ("GET", API_ROOT + "/nope", 404, None),
        ("GET", API_ROOT + POLICIES, 401, None),
    ]


def test_fault_of_its_own() -> None:
    """A fault of the emulator itself is noted as 500 and not hidden."""
    emulator = Emulated()
    emulator.app.state.store.close()

    with pytest.raises(Exception, match="closed"):
        emulator.get(POLICIES)

    assert emulator.app.state.requests[-1].status == 500


def test_every_exported_name_is_there() -> None:
    """Each name that the package exports can be used."""
    assert [name for name in emulator.__all__ if not hasattr(emulator, name)] == []
