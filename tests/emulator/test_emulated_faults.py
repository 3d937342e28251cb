"""Faults, with no network between."""

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest
from harness.emulated import Answer, Emulated
from harness.routes import ALERTS, API_ROOT, CLOSE, DASHBOARDS, POLICIES, SLOS, VIEWS

from reconciler.emulator import (
    DroppedConnectionError,
    Fault,
    Faults,
    Rule,
    UnreadableSettingsError,
    load_settings,
)
from reconciler.emulator.faults import Drip, PartialBulk
from reconciler.emulator.record_endpoints import AlertBehind, Incident, open_incident

VIEW = {"name": "v", "timeSelection": {}}
IDS = [f"00000000-0000-4000-8000-{number:012}" for number in range(4)]


def struck_by(fault: Fault, **conditions: Any) -> Emulated:
    return Emulated(faults=Faults(rules=[Rule(fault=fault, **conditions)]), alert_ids=IDS)


def post_view(emulator: Emulated) -> Answer:
    return emulator.post(VIEWS, VIEW)


def views_in(emulator: Emulated) -> int:
    return len(emulator.app.state.store.rows("SELECT id FROM saved_views"))


def statuses(emulator: Emulated) -> list[int]:
    return [asked.status for asked in emulator.app.state.requests]


@pytest.mark.parametrize(("when", "kept", "noted"), [("before", 0, 0), ("after", 1, 200)])
def test_drop(when: Any, kept: int, noted: int) -> None:
    """A dropped request is an error for the client; the log says whether it was carried out."""
    emulator = struck_by(Fault(drop=when))

    with pytest.raises(DroppedConnectionError):
        post_view(emulator)

    assert views_in(emulator) == kept
    assert list(emulator.app.state.requests) == [("POST", API_ROOT + VIEWS, noted, VIEW)]


@pytest.mark.parametrize(("commit", "kept", "noted"), [(False, 0, 503), (True, 1, 200)])
def test_status(commit: bool, kept: int, noted: int) -> None:
    """A status can come before the request is carried out, or hide that it was."""
    emulator = struck_by(Fault(status=503, commit=commit))

    answer = post_view(emulator)

    assert (answer.status, answer.message) == (503, "injected fault")
    assert (views_in(emulator), statuses(emulator)) == (kept, [noted])


@pytest.mark.parametrize(
    ("fault", "sent"),
    [
        (Fault(status=429), []),
        (Fault(status=429, retry_after="120"), ["120"]),
        (Fault(status=429, retry_after="-1"), ["-1"]),
        (Fault(status=429, retry_after="soon"), ["soon"]),
        (Fault(status=429, retry_after=["1", "2"]), ["1", "2"]),
        (Fault(status=429, retry_after_date=59), ["Fri, 31 Jan 2025 09:01:01 GMT"]),
        (Fault(status=429, retry_after_date=-2), ["Fri, 31 Jan 2025 09:00:00 GMT"]),
    ],
)
def test_retry_after(fault: Fault, sent: list[str]) -> None:
    """A status carries Retry-After in any form: number, garbage, twice, a date by the clock."""
    assert post_view(struck_by(fault)).headers.get_list("retry-after") == sent


def test_redirect() -> None:
    """A status may bring other headers along."""
    answer = post_view(struck_by(Fault(status=307, headers={"Location": "http://elsewhere/"})))

    assert (answer.status, answer.headers["location"]) == (307, "http://elsewhere/")


@pytest.mark.parametrize("status", [204, 304])
def test_status_without_body(status: int) -> None:
    """A status that has no body is sent without one."""
    answer = post_view(struck_by(Fault(status=status, html=True)))

    assert (answer.status, answer.text) == (status, "")
    assert "content-length" not in answer.headers


def test_delay() -> None:
    """A delayed request is answered later, and rightly."""
    emulator = struck_by(Fault(delay=0.05))
    start = time.monotonic()

    answer = post_view(emulator)

    assert time.monotonic() - start >= 0.05
    assert answer.body["id"] == 1


def test_drip() -> None:
    """A dripped body takes its time and arrives whole."""
    emulator = struck_by(Fault(drip=Drip(size=20, every=0.01)))
    start = time.monotonic()

    answer = post_view(emulator)

    assert time.monotonic() - start >= 0.01 * (len(answer.text) // 20)
    assert answer.body["id"] == 1


@pytest.mark.parametrize("size", [0, 1, 10])
def test_truncated(size: int) -> None:
    """A truncated body has the right length and is no JSON; the write was kept."""
    emulator = struck_by(Fault(truncate=size))

    answer = post_view(emulator)

    assert (answer.status, answer.body, len(answer.text)) == (200, None, size)
    assert answer.headers["content-length"] == str(size)
    assert views_in(emulator) == 1


def test_truncated_against_its_length() -> None:
    """A body shorter than its Content-Length ends with a dropped connection."""
    with pytest.raises(DroppedConnectionError):
        post_view(struck_by(Fault(truncate=5, declared="whole")))


def test_wrong_content_type() -> None:
    """The Content-Type can lie about a good body."""
    answer = post_view(struck_by(Fault(content_type="image/png")))

    assert (answer.headers["content-type"], answer.body["id"]) == ("image/png", 1)


@pytest.mark.parametrize(
    ("fault", "status", "title"),
    [
        (Fault(html=True), 200, "200 OK"),
        (Fault(html=True, status=502), 502, "502 Bad Gateway"),
        (Fault(html=True, status=520), 520, "520 Error"),
    ],
)
def test_html(fault: Fault, status: int, title: str) -> None:
    """A gateway may answer with a page of HTML, with success too."""
    answer = post_view(struck_by(fault))

    assert answer.status == status
    assert answer.headers["content-type"].startswith("text/html")
    assert f"<h1>{title}</h1>" in answer.text


def test_body() -> None:
    """Any text can stand for the body."""
    assert post_view(struck_by(Fault(body="{}"))).text == "{}"


@pytest.mark.parametrize(
    ("conditions", "struck"),
    [
        ({}, [1, 2, 3, 4]),
        ({"nth": 2}, [2]),
        ({"nth": [1, 4]}, [1, 4]),
        ({"times": 2}, [1, 2]),
        ({"probability": 0.0}, []),
        ({"method": "GET"}, []),
        ({"path": "/data-exploration/*"}, [1, 2, 3, 4]),
        ({"path": "/v1/*"}, []),
        ({"method": "POST", "path": VIEWS, "nth": 3}, [3]),
    ],
)
def test_conditions(conditions: dict[str, Any], struck: list[int]) -> None:
    """A rule strikes by method, path, number of the request that fits, and how often it did."""
    emulator = struck_by(Fault(status=500), **conditions)

    answers = [post_view(emulator).status for _ in range(4)]

    assert [number for number, status in enumerate(answers, 1) if status == 500] == struck


def test_counts_fitting_requests_only() -> None:
    """Requests that a rule does not fit do not count towards its number."""
    emulator = struck_by(Fault(status=500), path=VIEWS, nth=2)

    found = [emulator.get(POLICIES).status, post_view(emulator).status, post_view(emulator).status]

    assert found == [200, 200, 500]


def test_chance_is_seeded() -> None:
    """The same seed strikes the same requests, about as many as it should."""

    def run(seed: int) -> list[int]:
        rule = Rule(probability=0.3, fault=Fault(status=500))
        emulator = Emulated(faults=Faults(seed=seed, rules=[rule]))
        return [emulator.get(POLICIES).status for _ in range(200)]

    assert run(7) == run(7) != run(8)
    assert 30 < run(7).count(500) < 90


def test_first_rule_decides() -> None:
    """Of several rules the first that strikes decides, and all that fit count."""
    rules = [Rule(nth=1, fault=Fault(status=500)), Rule(nth=[1, 2], fault=Fault(status=501))]
    emulator = Emulated(faults=Faults(rules=rules))

    assert [post_view(emulator).status for _ in range(3)] == [500, 501, 200]


def test_outside_the_api() -> None:
    """Readiness is never struck."""
    assert struck_by(Fault(status=500)).get("/healthz").status == 200


@pytest.mark.parametrize("replaced", [[], [2]])
def test_partial_replace(replaced: list[int]) -> None:
    """Each item of a bulk replace can land in any list, in several, or in none."""
    fault = Fault(
        partial=PartialBulk(
            failed=[0], not_found=[1, 0], skipped=[2], missing=[3], unsent=["x"], replaced=replaced
        )
    )
    emulator = struck_by(fault, nth=1)
    items = [{"id": id_, "alertDefProperties": {"name": "new"}} for id_ in IDS]

    answer = emulator.put(ALERTS, {"alertDefsToReplace": items}).body
    again = emulator.put(ALERTS, {"alertDefsToReplace": items}).body

    assert answer["failedToReplaceAlertDefs"] == [{"id": IDS[0]}]
    assert answer["notFoundIds"] == IDS[:2]
    assert answer["skippedIds"] == [IDS[2], "x"]
    assert [stored["id"] for stored in answer["alertDefs"]] == [IDS[place] for place in replaced]
    assert again["skippedIds"] == [IDS[place] for place in replaced]


def test_partial_close() -> None:
    """A close may leave incidents open, or leave out one that it closed."""
    emulator = struck_by(Fault(partial=PartialBulk(failed=[0], replaced=[1], missing=[1])))
    store = emulator.app.state.store
    with store.writing():
        for name in ("a", "b", "c"):
            behind = AlertBehind("", "", {})
            open_incident(store, Incident(id=name), behind, now="2025-01-30T12:00:00.000Z")

    answer = emulator.post(f"{CLOSE}?incident_ids=a&incident_ids=b&incident_ids=c").body

    assert [incident["id"] for incident in answer["incidents"]] == ["c"]
    records = [
        json.loads(value) for (value,) in store.rows("SELECT record FROM incidents ORDER BY id")
    ]
    assert [incident["id"] for incident in records if "closedAt" in incident] == ["b", "c"]


def test_fault_with_a_profile_of_empty_answers() -> None:
    """A fault changes an answer that has no body as well."""
    emulator = struck_by(Fault(html=True), method="PUT")
    made = emulator.post(DASHBOARDS, {"requestId": "1", "dashboard": {"name": "d"}})
    dashboard = {"name": "d", "id": made.body["dashboardId"]}

    answer = emulator.put(DASHBOARDS, {"requestId": "2", "dashboard": dashboard})

    assert (answer.status, answer.body) == (200, None)


def test_log_file(tmp_path: Path) -> None:
    """Each request is a line of JSON with what was sent, the fault and no key."""
    log = tmp_path / "requests.jsonl"
    emulator = Emulated(
        log=log,
        api_key='cana"ry',
        faults=Faults(rules=[Rule(nth=2, fault=Fault(status=503, commit=True))]),
    )
    headers = {"Authorization": 'Bearer cana"ry'}
    emulator.send("POST", VIEWS, {**VIEW, "x": 'my cana"ry'}, headers=headers)
    emulator.send("GET", f"{POLICIES}?enabled_only=true", headers=headers)
    emulator.send("GET", "/healthz", headers=headers)

    first, second = [json.loads(line) for line in log.read_text().splitlines()]

    assert log.stat().st_mode & 0o777 == 0o600
    assert "cana" not in log.read_text()
    assert first["body"] == {**VIEW, "x": "my ***"}
    assert {**second, "at": ""} == {
        "at": "",
        "method": "GET",
        "path": API_ROOT + POLICIES,
        "query": "enabled_only=true",
        "status": 200,
        "fault": {"status": 503, "commit": True},
        "body": None,
    }


def test_log_file_goes_on(tmp_path: Path) -> None:
    """A second emulator adds to the file of the first."""
    log = tmp_path / "requests.jsonl"
    for _ in range(2):
        Emulated(log=log).get(SLOS + "/x")

    assert len(log.read_text().splitlines()) == 2


def test_faults_file(tmp_path: Path) -> None:
    """A file of faults has the names in lower camelCase."""
    path = tmp_path / "faults.json"
    rule = {"method": "POST", "path": "/v1/slo/*", "nth": 2, "fault": {"retryAfter": ["1", "2"]}}
    path.write_text(json.dumps({"seed": 3, "rules": [rule]}))

    faults = load_settings(Faults, path)

    assert faults == Faults(
        seed=3,
        rules=[Rule(method="POST", path="/v1/slo/*", nth=2, fault=Fault(retry_after=["1", "2"]))],
    )


@pytest.mark.parametrize(
    ("rule", "place"),
    [
        ({}, "rules.0.fault"),
        ({"fault": {"drop": "now"}}, "rules.0.fault.drop"),
        ({"fault": {"stauts": 500}}, "rules.0.fault.stauts"),
        ({"fault": {}, "probability": 2}, "rules.0.probability"),
        ({"fault": {"status": 99}}, "rules.0.fault.status"),
        ({"fault": {}, "method": "P*"}, "rules.0.method"),
    ],
)
def test_bad_faults_file(tmp_path: Path, rule: object, place: str) -> None:
    """A rule that cannot be read is named by its place."""
    path = tmp_path / "faults.json"
    path.write_text(json.dumps({"rules": [rule]}))

    with pytest.raises(UnreadableSettingsError, match=place):
        load_settings(Faults, path)


def test_requests_meet_no_fault_in_parallel() -> None:
    """Requests at once are counted each: exactly one of many is struck."""
    emulator = struck_by(Fault(status=500, delay=0.01), nth=5)

    async def burst() -> list[int]:
        content = json.dumps(VIEW).encode()
        headers = {"Authorization": "k"}
        calls = (emulator._send("POST", VIEWS, content, headers) for _ in range(20))
        return [answer.status for answer in await asyncio.gather(*calls)]

    found = asyncio.run(burst())

    assert (found.count(500), views_in(emulator)) == (1, 19)
