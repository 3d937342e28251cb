"""`doctor`: every state that a run may be in, with its exit code, and never a secret."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import httpx
import pytest
import respx
from harness.doors import Ran, without_place
from harness.repositories import git
from harness.stores import journal_on
from harness.wire import NEARBY, keys, standing_in
from harness.workspaces import Shop

from reconciler.emulator import Fault, Faults, Rule
from reconciler.journal.entries import Entry, Started
from reconciler.journal.file_store import FileStore
from reconciler.journal.journal import Journal
from reconciler.model import Ref

CANARY = "canary-0f1e2d3c"
JOURNAL = ".reconciler/local.journal.jsonl"
PROBES = 9


@pytest.fixture
def empty(tmp_path: Path, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """Give a folder without a project file, and a key."""
    (tmp_path / "reconciler.yaml").unlink()
    git(tmp_path, "init", "--quiet")
    monkeypatch.setenv("RECONCILER_API_KEY", CANARY)
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    return shop


@pytest.fixture
def canned(empty: Shop, monkeypatch: pytest.MonkeyPatch) -> Iterator[respx.Route]:
    """Give a service that answers as it is told, chosen by the environment."""
    assert empty.asked == []
    with standing_in() as service:
        monkeypatch.setenv("RECONCILER_BASE_URL", NEARBY)
        yield service


def examine(shop: Shop, *flags: str) -> tuple[int, dict[str, tuple[str, str]]]:
    """Give the exit code, and state and detail of each check; no secret may be anywhere."""
    ran = shop.run("doctor", "--format", "json", *flags)
    assert CANARY not in ran.out + ran.err
    checks = {value["check"]: (value["state"], value["detail"]) for value in ran.json}
    assert len(checks) == len(ran.json)
    return ran.code, checks


def failed(checks: dict[str, tuple[str, str]]) -> list[str]:
    return [name for name, (state, _) in checks.items() if state == "failed"]


def warned(checks: dict[str, tuple[str, str]]) -> list[str]:
    return [name for name, (state, _) in checks.items() if state == "warning"]


def files(root: Path) -> dict[str, bytes]:
    """Give every file but the emulator's own."""
    return {
        str(file): file.read_bytes()
        for file in root.rglob("*")
        if file.is_file() and not file.name.startswith("demo.db")
    }


def journal(shop: Shop, *entries: Entry, target: str = "emulator") -> Journal:
    """Write a journal of the project's environment."""
    made = journal_on(FileStore(shop.root / JOURNAL), target=target)
    with made.locked():
        made.append(list(entries))
    return made


def started(name: str) -> Started:
    at = "2026-03-02T12:00:00Z"
    return Started(
        run="run",
        at=at,
        ref=Ref("SavedView", name),
        operation="create",
        declared={"name": name},
        request_id="id",
        remote_id=None,
        seen="",
    )


def test_all_is_well(shop: Shop) -> None:
    """On the embedded emulator all is well: exit 0, no key needed, and nothing is written."""
    before = files(shop.root)

    code, checks = examine(shop)

    assert (code, failed(checks), warned(checks)) == (0, [], [])
    assert list(checks)[:5] == ["project file", "cache", "environment", "target", "journal"]
    assert len(checks) == 5 + PROBES
    assert checks["target"][1] == f"the embedded emulator, {shop.root / 'demo.db'}"
    assert checks["journal"][1].startswith("there is no journal")
    assert files(shop.root) == before


def test_a_journal_that_all_can_write_to(shop: Shop) -> None:
    """A journal that everyone can write to is a warning that says how to end that."""
    journal(shop, started("errors"))
    assert "journal" not in warned(examine(shop)[1])
    (shop.root / JOURNAL).chmod(0o666)

    _, checks = examine(shop)

    assert "journal" in warned(checks)
    assert "chmod o-w" in checks["journal"][1]


def test_text(shop: Shop) -> None:
    """The text has the same checks as the JSON, one a line."""
    _, checks = examine(shop)
    lines = shop.run("doctor").out.splitlines()

    assert [line[9:] for line in lines] == [
        f"{name.ljust(max(map(len, checks)))}  {detail}" for name, (_, detail) in checks.items()
    ]


def test_reads_only(shop: Shop) -> None:
    """Nothing is asked that could change anything."""
    examine(shop)

    asked = {path.rpartition("/")[2] for method, path in shop.asked if method == "POST"}
    assert {method for method, _ in shop.asked} == {"GET", "POST"}
    assert asked == {"bulkTestLog", "v1", "daily:units"}


def test_no_project_and_no_target(empty: Shop) -> None:
    """Without a project file and without a target it says both ways out: 64."""
    code, checks = examine(empty)

    assert (code, failed(checks)) == (64, ["target"])
    assert checks["project file"][1].startswith("none; root ")
    assert "RECONCILER_BASE_URL" in checks["target"][1]


def test_malformed_project(shop: Shop) -> None:
    """A project file that cannot be read is 4, with its complaints on stderr."""
    shop.settle("environments: {local: {emulater: {data: x}}}\n")

    ran = shop.run("doctor")

    assert ran.code == 4
    assert ran.out.startswith("failed   project file  ")
    assert "unknown setting `emulater`" in ran.err


def test_unknown_environment(shop: Shop) -> None:
    """An environment that there is not is 64, and those there are are named."""
    code, checks = examine(shop, "-e", "nope")

    assert (code, failed(checks)) == (64, ["target"])
    assert checks["target"][1] == "there is no environment `nope` (known: local)"


@pytest.mark.parametrize("key", [None, "", "  ", f"{CANARY}\n", f"{CANARY} x", f"{CANARY}é"])
def test_no_usable_key(
    canned: respx.Route, empty: Shop, monkeypatch: pytest.MonkeyPatch, key: str | None
) -> None:
    """Without a key, or with one that no header can carry, nothing is asked: 10."""
    monkeypatch.delenv("RECONCILER_API_KEY")
    if key is not None:
        monkeypatch.setenv("RECONCILER_API_KEY", key)

    code, checks = examine(empty)

    assert (code, failed(checks)) == (10, ["key"])
    assert not canned.called


def answered_now(_: httpx.Request) -> httpx.Response:
    """Answer with the time of this moment."""
    date = format_datetime(datetime.now(UTC), usegmt=True)
    return httpx.Response(200, json={}, headers={"Date": date})


def test_service(canned: respx.Route, empty: Shop) -> None:
    """The key goes to the service in its header, and all answers are read."""
    canned.mock(side_effect=answered_now)

    code, checks = examine(empty)

    assert (code, failed(checks), warned(checks)) == (0, [], ["TLS"])
    assert checks["key"][1] == "present, from RECONCILER_API_KEY"
    assert checks["target"][1] == f"{NEARBY}, from RECONCILER_BASE_URL"
    assert checks["clock"] == ("ok", "the service's clock agrees")
    assert set(keys(canned)) == {CANARY}
    assert canned.call_count == PROBES


def test_wrong_key(canned: respx.Route, empty: Shop) -> None:
    """A key that is not accepted is 10, said once, with what may be the reason."""
    canned.respond(401, json={"message": f"unknown key {CANARY}"})

    code, checks = examine(empty)

    assert (code, failed(checks)) == (10, ["key accepted"])
    assert checks["key accepted"][1] == (
        "no: 401 Unauthorized: unknown key ***; the key went as it is; where the service wants "
        "`Bearer KEY`, set `authorization: bearer` in reconciler.yaml"
    )
    assert canned.call_count == 1


def test_cut_key(canned: respx.Route, empty: Shop) -> None:
    """A message that is cut in the middle of the key shows no part of it."""
    canned.respond(403, json={"message": "x" * 490 + CANARY})

    ran = empty.run("doctor")

    assert ran.code == 10
    assert CANARY[:6] not in ran.out + ran.err


def test_missing_permission(shop: Shop) -> None:
    """A permission that the key lacks is 10, and the others are told all the same."""
    shop.options["keys"] = {"any": frozenset[str]()}

    code, checks = examine(shop)

    assert (code, failed(checks)) == (10, ["may read cases"])
    assert "case:Read" in checks["may read cases"][1]


def test_dead_port(empty: Shop, monkeypatch: pytest.MonkeyPatch, unused_port: int) -> None:
    """A service that cannot be reached is 9, said once."""
    monkeypatch.setenv("RECONCILER_BASE_URL", f"http://127.0.0.1:{unused_port}")

    code, checks = examine(empty)

    assert (code, failed(checks)) == (9, ["service"])
    assert "may read cases" not in checks


@pytest.mark.parametrize(
    ("status", "body", "kind", "said"),
    [
        (200, b"<html>sign in</html>", "text/html", "200 OK, but the body is not JSON"),
        (404, b'{"code": 5, "message": "Not Found"}', "application/json", "no such path"),
        (404, b"<html>", "text/html", "no such path"),
        (501, b"", "text/plain", "501 Not Implemented: no such path"),
        (503, b'{"message": "later"}', "application/json", "503 Service Unavailable: later"),
        (302, b"", "text/plain", "302 Found"),
    ],
)
def test_not_the_service(  # noqa: PLR0917 - fixtures and one case
    canned: respx.Route, empty: Shop, status: int, body: bytes, kind: str, said: str
) -> None:
    """What answers but is not the API, or is not well, is 9 for everything asked."""
    canned.respond(status, content=body, headers={"Content-Type": kind})

    code, checks = examine(empty)

    assert code == 9
    assert len(failed(checks)) == PROBES
    assert said in checks["may read log policies"][1]


def test_rate_limit(canned: respx.Route, empty: Shop) -> None:
    """A service that limits the rate is asked once: 9."""
    canned.respond(429, text="slowly")

    code, checks = examine(empty)

    assert (code, failed(checks)) == (9, ["service"])
    assert checks["service"][1].endswith("rate limited (slowly)")
    assert canned.call_count == 1


def test_disliked_question(canned: respx.Route, empty: Shop) -> None:
    """A question that is refused proves the permission all the same: a warning."""
    canned.respond(400, json={"message": "no such range"})

    code, checks = examine(empty)

    assert (code, failed(checks)) == (0, [])
    assert len(warned(checks)) == PROBES + 2
    assert checks["may read data usage"][1] == (
        "answered, but did not like the question (400 Bad Request: no such range)"
    )


def test_unclear_404(shop: Shop) -> None:
    """A 404 that says nothing may mean anything: a warning where nothing was expected."""
    rule = Rule(path="/v1/slo/*", fault=Fault(status=404, body="", content_type="text/plain"))
    shop.options["faults"] = Faults(rules=[rule])

    code, checks = examine(shop)

    assert (code, warned(checks)) == (0, ["may read SLOs"])


@pytest.mark.parametrize("thing", ["dashboards", "SLOs"])
def test_asked_for_what_nobody_has(shop: Shop, thing: str) -> None:
    """What is asked for by a made-up id is told so, and as nothing about what is there."""
    _, checks = examine(shop)

    state, detail = checks[f"may read {thing}"]
    assert state == "ok"
    assert "asked for an id that does not exist" in detail
    assert "this shows nothing about ids that exist" in detail


@pytest.mark.parametrize(("seconds", "words"), [(-3600, "behind"), (3600, "ahead")])
def test_clock_skew(canned: respx.Route, empty: Shop, seconds: int, words: str) -> None:
    """A clock that is off by more than a minute is a warning."""
    there = datetime.now(UTC) + timedelta(seconds=seconds)
    canned.respond(json={}, headers={"Date": format_datetime(there, usegmt=True)})

    code, checks = examine(empty)

    assert (code, "clock" in warned(checks)) == (0, True)
    assert words in checks["clock"][1]


@pytest.mark.parametrize("date", ["", "yesterday"])
def test_no_clock(canned: respx.Route, empty: Shop, date: str) -> None:
    """Without a date that can be read there is nothing to compare: a warning."""
    canned.respond(json={}, headers={"Date": date} if date else {})

    code, checks = examine(empty)

    assert (code, checks["clock"][0]) == (0, "warning")


@pytest.mark.parametrize(
    ("proxy", "shown"),
    [
        (f"http://{CANARY}:{CANARY}@proxy.example:3128", "http://proxy.example:3128"),
        (f"{CANARY}:{CANARY}@proxy.example:3128", "http://proxy.example:3128"),
        ("proxy.example", "http://proxy.example"),
        (f"http://{CANARY}@proxy.example:port", "that of the environment is not a URL"),
    ],
)
def test_proxy(empty: Shop, monkeypatch: pytest.MonkeyPatch, proxy: str, shown: str) -> None:
    """A proxy is shown without its user name and password, also one that is no URL."""
    monkeypatch.setenv("RECONCILER_BASE_URL", "https://service.invalid")
    monkeypatch.setenv("RECONCILER_API_KEY", f"{CANARY} no header carries this")
    monkeypatch.setenv("HTTPS_PROXY", proxy)

    _, checks = examine(empty)

    assert checks["proxy"][1] == shown


def test_bypassed_proxy(
    canned: respx.Route, empty: Shop, monkeypatch: pytest.MonkeyPatch, unused_port: int
) -> None:
    """A proxy that is not used for the target is not shown, nor used."""
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{unused_port}")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")

    code, checks = examine(empty)

    assert (code, checks["proxy"][1]) == (0, "none for this target")
    assert canned.call_count == PROBES


@pytest.mark.parametrize("command", ["doctor", "events list"])
@pytest.mark.parametrize("proxy", [f"ftp://{CANARY}@proxy:1", f"http://{CANARY}@proxy:port"])
def test_impossible_proxy(
    empty: Shop, monkeypatch: pytest.MonkeyPatch, command: str, proxy: str
) -> None:
    """A proxy that no connection can use is a fault of the environment: 64, and not shown."""
    monkeypatch.setenv("RECONCILER_BASE_URL", "https://service.invalid")
    monkeypatch.setenv("HTTPS_PROXY", proxy)

    ran = empty.run(*command.split())

    assert ran.code == 64
    assert CANARY not in ran.out + ran.err
    assert "proxy" in ran.out + ran.err


@pytest.mark.parametrize("command", ["doctor", "events list"])
@pytest.mark.parametrize("content", [None, "not a certificate"])
def test_impossible_certificates(
    empty: Shop, monkeypatch: pytest.MonkeyPatch, command: str, content: str | None
) -> None:
    """Certificates that cannot be read are a fault of the environment: 64, and named."""
    file = empty.root / "ca.pem"
    if content is not None:
        file.write_text(content)
    monkeypatch.setenv("RECONCILER_BASE_URL", "https://service.invalid")
    monkeypatch.setenv("SSL_CERT_FILE", str(file))

    ran = empty.run(*command.split())

    assert ran.code == 64
    assert "certificates" in ran.out + ran.err


def test_journal(shop: Shop) -> None:
    """A journal is named with its entries, and its lock is free."""
    made = journal(shop, started("errors"))

    code, checks = examine(shop)

    assert checks["journal"] == ("ok", f"{made.place}, 1 entry")
    assert checks["lock"] == ("ok", "free")
    assert code == 7


def test_unsettled(shop: Shop) -> None:
    """A create whose outcome nobody knows is 7, named with the way out; the rest is told."""
    journal(shop, started("errors"), started("slow"))

    code, checks = examine(shop)

    assert (code, failed(checks)) == (7, ["unsettled"])
    assert without_place(checks["unsettled"][1]) == (
        "SavedView/errors, SavedView/slow; say what became of each: `reconciler journal settle "
        "SavedView/errors --id ID`, or `--never-happened` in place of `--id ID`"
    )
    assert checks["may read cases"][0] == "ok"


def test_worst_code(shop: Shop) -> None:
    """Of several faults the worst gives the exit code: 7 before 10."""
    journal(shop, started("errors"))
    shop.options["keys"] = {"any": frozenset[str]()}

    code, checks = examine(shop)

    assert (code, failed(checks)) == (7, ["unsettled", "may read cases"])


@pytest.mark.parametrize("content", [None, b'{"journal":'])
def test_torn_journal(shop: Shop, content: bytes | None) -> None:
    """A torn last line, be it the first, is a warning: the next apply removes it."""
    file = shop.root / JOURNAL
    if content is None:
        journal(shop)
        content = file.read_bytes() + b'{"entry": "st'
    file.parent.mkdir(exist_ok=True, mode=0o700)
    file.write_bytes(content)

    code, checks = examine(shop)

    assert (code, warned(checks)) == (0, ["journal"])
    assert checks["journal"][1].endswith("the last line is torn, as by a crash")
    assert file.read_bytes() == content


@pytest.mark.parametrize(
    ("content", "code"), [(b"something else\n", 8), (b'{"journal": 99}\n', 8), (None, 4)]
)
def test_bad_journal(shop: Shop, content: bytes | None, code: int) -> None:
    """What is no journal is 8, one of another target is 4; the service is probed all the same."""
    file = shop.root / JOURNAL
    if content is None:
        journal(shop, target="https://elsewhere.example")
    else:
        file.parent.mkdir(mode=0o700)
        file.write_bytes(content)

    found, checks = examine(shop)

    assert (found, failed(checks)) == (code, ["journal"])
    assert checks["may read cases"][0] == "ok"


def test_exposed_journal(shop: Shop) -> None:
    """A journal in a folder that others can write to is 8."""
    journal(shop)
    (shop.root / ".reconciler").chmod(0o777)

    code, checks = examine(shop)

    assert (code, failed(checks)) == (8, ["journal"])


def test_locked_journal(shop: Shop) -> None:
    """A lock that another run holds is a warning that names the holder, and stays held."""
    made = journal(shop)
    with made.locked():
        lock = Path(f"{made.place}.lock")
        before = lock.read_bytes()

        code, checks = examine(shop)

        assert (code, warned(checks)) == (0, ["lock"])
        assert f"process {os.getpid()} on " in checks["lock"][1]
        assert lock.read_bytes() == before


def test_hostile_message(canned: respx.Route, empty: Shop) -> None:
    """What the service says is made harmless for a terminal, in text and in JSON."""
    canned.respond(403, json={"message": "\x1b[2J\u202e::error::"})

    told: list[Ran] = [empty.run("doctor"), empty.run("doctor", "--format", "json")]

    for ran in told:
        assert ran.code == 10
        assert "\x1b" not in ran.out
        assert "\u202e" not in ran.out


def test_one_probe_without_an_answer(shop: Shop) -> None:
    """A single read that gets no answer is 9, and the others are told all the same."""
    shop.options["faults"] = Faults(rules=[Rule(path="/cases/*", fault=Fault(drop="before"))])

    code, checks = examine(shop)

    assert (code, failed(checks)) == (9, ["may read cases"])


def test_wrong_path_for_one(shop: Shop) -> None:
    """A 404 in HTML is a wrong path also where a 404 was expected: 9."""
    fault = Fault(status=404, html=True, content_type="text/html")
    shop.options["faults"] = Faults(rules=[Rule(path="/v1/slo/*", fault=fault)])

    code, checks = examine(shop)

    assert (code, failed(checks)) == (9, ["may read SLOs"])
    assert checks["may read SLOs"][1].startswith("404 Not Found: no such path")


SHOWN_PLACES = {
    "FROM_FILE": ("{file: kept}", "ok", "present, from the file kept"),
    "NO_FILE": ("{file: lost}", "failed", "is not there"),
    "EMPTY": ("{file: hollow}", "failed", "is empty"),
    "PRINTED": ("{command: [cat, kept]}", "ok", "present, from the command cat"),
    "REFUSED": ("{command: ['false']}", "failed", "ended with 1"),
    "NO_PROGRAM": ("{command: [reconciler-no-such-program]}", "failed", "not found on the PATH"),
    "SAID_ASIDE": ("{command: [sh, -c, cat kept >&2; exit 3]}", "failed", "ended with 3"),
}


def test_places_of_secrets(shop: Shop) -> None:
    """Of each file and command of a secret is said whether it gives one, and never what."""
    (shop.root / "kept").write_text(f"{CANARY}\n", encoding="utf-8")
    (shop.root / "hollow").write_text("\n", encoding="utf-8")
    project = shop.root / "reconciler.yaml"
    places = "".join(f"  {name}: {row[0]}\n" for name, row in SHOWN_PLACES.items())
    project.write_text(f"{project.read_text(encoding='utf-8')}secrets:\n{places}", encoding="utf-8")

    code, checks = examine(shop)

    told = {name: checks[f"secret {name}"] for name in SHOWN_PLACES}
    assert code == 4
    assert {name: state for name, (state, _) in told.items()} == {
        name: state for name, (_, state, _) in SHOWN_PLACES.items()
    }
    assert all(said in told[name][1] for name, (_, _, said) in SHOWN_PLACES.items()), told
