"""`drift`: what is expected, what is new since the last look, and what can be done about it."""

from __future__ import annotations

import asyncio
import json
import shlex
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from harness.routes import API_ROOT
from harness.workspaces import Shop

from reconciler.journal.entries import Drifted
from reconciler.journal.file_store import FileStore
from reconciler.journal.journal import Journal
from reconciler.journal.line_fields import SeenDrift
from reconciler.model import Ref

NAME = "manifests/checkout.yaml"
PROJECT = """\
manifests: [manifests]
environments:
  local: {emulator: {data: demo.db}, journal: .reconciler/local.journal.jsonl}
"""
SLO = """\
apiVersion: reconciler/v1
kind: SLO
metadata: {name: checkout}
spec:
  name: Checkout
  description: ours
  labels: {team: a}
  targetThresholdPercentage: 99.5
  sloTimeFrame: SLO_TIME_FRAME_28_DAYS
  requestBasedMetricSli: {goodEvents: {query: good}, totalEvents: {query: all}}
"""
BOARD = """\
apiVersion: reconciler/v1
kind: Dashboard
metadata: {name: shop}
spec: {dashboard: {name: Shop, description: ours, layout: {sections: []}}}
"""


@pytest.fixture
def applied(shop: Shop) -> Shop:
    """Give a shop whose SLO and dashboard are as they are declared."""
    shop.settle(PROJECT)
    shop.write(NAME, SLO)
    shop.write("manifests/shop.yaml", BOARD)
    assert shop.run("apply", "--yes").code == 0
    return shop


def edit(shop: Shop, **fields: Any) -> None:
    """Let a person change the SLO in the web interface."""

    async def change() -> None:
        transport = httpx.ASGITransport(shop.apps[-1])
        async with httpx.AsyncClient(transport=transport, base_url="http://emulator") as client:
            client.headers["Authorization"] = "any"
            items = (await client.get("/web/slos")).json()["items"]
            known = next(
                value for value in items if value["name"] == "Checkout" and value["description"]
            )
            body = {name: known[name] for name in ("id", *WRITTEN)}
            answer = await client.put(f"{API_ROOT}/v1/slo/slos", json={**body, **fields})
            assert answer.status_code == 200, answer.text

    asyncio.run(change())


WRITTEN = (
    *("name", "description", "labels", "targetThresholdPercentage", "sloTimeFrame"),
    "requestBasedMetricSli",
)


def looked(shop: Shop, *words: str) -> Any:
    """Look for drift; gives the JSON."""
    return shop.run("drift", "--format", "json", *words).json


def of(document: Any, ref: str = "SLO/checkout") -> Any:
    """Give what was found of one resource."""
    (found,) = [resource for resource in document["resources"] if resource["ref"] == ref]
    return found


def ignoring(shop: Shop, *rules: dict[str, str]) -> None:
    """Let the project file expect some differences."""
    shop.settle(PROJECT + f"driftIgnore: {json.dumps(list(rules))}\n")


EXPECTED = {"kind": "SLO", "name": "check*", "path": "description", "reason": "people write there"}


def test_expected_differences(applied: Shop) -> None:
    """What is expected raises no alarm, is counted in every format, and changes no plan."""
    edit(applied, description="theirs")
    loud = applied.run("drift").code
    before = applied.run("plan", "--format", "json").json["changes"]
    ignoring(applied, EXPECTED)

    quiet = applied.run("drift", "--format", "json")
    after = applied.run("plan", "--format", "json").json["changes"]

    assert (loud, quiet.code) == (2, 0)
    assert (quiet.json["ignored"], of(quiet.json)["state"]) == (1, "same")
    (silent,) = of(quiet.json)["ignored"]
    assert (silent["field"]["path"], silent["reason"]) == (["description"], "people write there")
    assert before == after
    assert "1 difference ignored" in applied.run("drift").out
    assert "people write there" in applied.run("drift", "-v").out
    for form in ("markdown", "html"):
        assert "ignored" in applied.run("drift", "--format", form).out


def test_the_rest_is_drift(applied: Shop) -> None:
    """What is not expected of the same resource is told, and only that."""
    edit(applied, description="theirs", labels={"team": "b"})
    ignoring(applied, EXPECTED)

    ran = applied.run("drift", "--format", "json")

    assert (ran.code, ran.json["ignored"]) == (2, 1)
    assert [field["path"] for field in of(ran.json)["fields"]] == [["labels", "team"]]


def test_gone_is_never_expected(applied: Shop) -> None:
    """No path covers that all of it is gone."""
    applied.apps[-1].state.store.write("DELETE FROM slos")
    ignoring(applied, {"path": "**", "reason": "anything goes"})

    assert of(looked(applied))["state"] == "gone"


def test_idle_rules_are_said(applied: Shop) -> None:
    """A rule that silenced nothing, or is about nothing that is declared, is said and no error."""
    other = {"kind": "SavedView", "path": "name", "reason": "r"}
    ignoring(applied, EXPECTED, other)

    ran = applied.run("drift", "--format", "json")

    assert ran.code == 0
    assert ran.json["notes"] == [
        "driftIgnore `SavedView/* name` is about nothing that is declared here",
        "driftIgnore `SLO/check* description` silenced nothing this time",
    ]
    assert "silenced nothing" in applied.run("drift").out


def test_rules_of_a_part(applied: Shop) -> None:
    """Of a part of the manifests nothing is said of rules, which may be about the rest."""
    ignoring(applied, EXPECTED)

    assert looked(applied, "manifests/shop.yaml")["notes"] == []


def test_nothing_is_written_unasked(applied: Shop) -> None:
    """Without `--remember` a look leaves the journal as it is, and says nothing of new or old."""
    edit(applied, description="theirs")
    journal = applied.root / ".reconciler" / "local.journal.jsonl"
    before = journal.read_bytes()

    found = looked(applied)

    assert journal.read_bytes() == before
    assert (found["since"], of(found)["isNew"], of(found)["since"]) == (None, None, None)


def test_what_is_new(applied: Shop) -> None:
    """A finding is new once, then known since it was found, and new again when it is another."""
    first = looked(applied, "--remember")
    edit(applied, description="theirs")
    second = looked(applied, "--remember")
    third = looked(applied, "--remember")
    edit(applied, description="theirs again")
    fourth = looked(applied)
    edit(applied, description="ours")
    looked(applied, "--remember")
    edit(applied, description="theirs")
    last = looked(applied)

    assert (first["since"], first["new"]) == (None, 0)
    assert (second["new"], of(second)["isNew"]) == (1, True)
    assert of(second)["since"] == second["since"] is not None
    assert (third["new"], of(third)["isNew"], fourth["new"], last["new"]) == (0, False, 1, 1)
    assert "1 new since" in applied.run("drift").out
    assert "new since" in applied.run("drift", "--format", "markdown").out


def entries(shop: Shop) -> list[dict[str, Any]]:
    """Give what the journal keeps of looks."""
    lines = (shop.root / ".reconciler" / "local.journal.jsonl").read_text().splitlines()
    return [value for value in map(json.loads, lines) if value.get("entry") == "drifted"]


def test_a_night_without_news_is_short(applied: Shop) -> None:
    """The journal grows by what is new, and by one short line for every other look."""
    edit(applied, description="theirs")
    for _ in range(3):
        applied.run("drift", "--remember")

    assert [len(entry.get("found", [])) for entry in entries(applied)] == [1, 0, 0]


def test_compacted_history(applied: Shop) -> None:
    """A compacted journal keeps the last look alone, and what was known stays known."""
    edit(applied, description="theirs")
    for _ in range(3):
        applied.run("drift", "--remember")
    known = of(looked(applied))["since"]

    assert applied.run("journal", "compact").code == 0

    assert len(entries(applied)) == 1
    assert (of(looked(applied))["isNew"], of(looked(applied))["since"]) == (False, known)


def test_a_held_journal(applied: Shop) -> None:
    """Who only looks needs no lock; who would remember waits for it, or ends with exit 5."""
    store = FileStore(applied.root / ".reconciler" / "local.journal.jsonl")
    held = Journal(
        store=store, environment="local", target="emulator", clock=lambda: datetime.now(UTC)
    )

    with held.locked(as_it_is=True):
        assert applied.run("drift").code == 0
        assert applied.run("drift", "--remember").code == 5


def test_nothing_to_remember(shop: Shop) -> None:
    """Before the first apply there is no journal, and a look begins none."""
    shop.settle(PROJECT)
    shop.write(NAME, SLO)

    ran = shop.run("drift", "--remember")

    assert ran.code == 0
    assert "nothing to remember" in ran.err
    assert not (shop.root / ".reconciler" / "local.journal.jsonl").exists()


@pytest.mark.parametrize("place", ["inside", "below", "outside"])
def test_put_back(applied: Shop, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    """The advised command puts back what drifted, from wherever it was advised, and no more."""
    edit(applied, description="theirs")
    applied.write("manifests/shop.yaml", BOARD.replace("ours", "not applied yet"))
    below, outside = applied.root / "manifests", applied.root.parent
    monkeypatch.chdir({"inside": applied.root, "below": below, "outside": outside}[place])
    project = ["--project", str(applied.root / "reconciler.yaml")] if place == "outside" else []
    (way,) = [
        value for value in of(looked(applied, *project))["waysOut"] if value["way"] == "put-back"
    ]

    words = shlex.split(way["command"])[1:]
    refused = applied.run(*words, "--yes")
    done = applied.run(*words, "--yes", "--override-guard", "ours is right")

    assert refused.code == 11
    assert done.code == 0
    monkeypatch.chdir(applied.root)
    assert looked(applied)["drifted"] is False
    assert applied.run("plan", "--format", "json").json["summary"]["update"] == 1


def test_put_back_with_what_it_refers_to(applied: Shop) -> None:
    """One that refers to another file is put back with all of them, as one path has not got it."""
    text = BOARD.replace("ours", "'see ${ref:SLO/checkout}'")
    applied.write("manifests/shop.yaml", text)
    assert applied.run("apply", "--yes").code == 0
    applied.apps[-1].state.store.write("DELETE FROM dashboards")

    (way, _) = of(looked(applied), "Dashboard/shop")["waysOut"]

    assert way["command"] == "reconciler apply -e local"
    assert applied.run(*shlex.split(way["command"])[1:], "--yes").code == 0
    assert looked(applied)["drifted"] is False


def test_job(applied: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job counts what drifted, what of it is new and what is expected, and remembers if asked."""
    output = applied.root / "output"
    monkeypatch.setenv("GITHUB_OUTPUT", str(output))
    ignoring(applied, EXPECTED)

    def job(remember: str) -> dict[str, str]:
        output.write_text("")
        monkeypatch.setenv("INPUT_REMEMBER", remember)
        assert applied.run("ci", "drift").code == 0
        lines = output.read_text().splitlines()
        return {name: lines[at + 1] for at, line in enumerate(lines) if (name := _named(line))}

    job("true")
    edit(applied, description="theirs", labels={"team": "b"})
    first, second, third = job("false"), job("true"), job("true")

    counts = [
        (value["drifted"], value["drift-new"], value["drift-ignored"]) for value in (first, second)
    ]
    assert counts == [("1", "1", "1")] * 2
    assert (third["drifted"], third["drift-new"]) == ("1", "0")
    assert len(entries(applied)) == 3


def _named(line: str) -> str:
    """Give the output that a line of the file begins, "" for any other line."""
    name, found, _ = line.partition("<<")
    return name if found else ""


@pytest.mark.parametrize(
    "told", ["", "yesterday", "9999-99-99T99:99:99Z", "\x1b[31m<b>|`x`\u202e\n"]
)
@pytest.mark.parametrize("form", ["text", "json", "markdown"])
def test_odd_memory(applied: Shop, told: str, form: str) -> None:
    """Whatever a journal says of earlier looks, a look counts as it would, and shows it safely."""
    edit(applied, description="theirs")
    store = FileStore(applied.root / ".reconciler" / "local.journal.jsonl")
    journal = Journal(
        store=store, environment="local", target="emulator", clock=lambda: datetime.now(UTC)
    )
    found = (
        SeenDrift(ref=Ref("SLO", "checkout"), how=told, since=told),
        SeenDrift(ref=Ref("SLO", "checkout"), how=told, since=told),
        SeenDrift(ref=Ref("Nothing", "known"), how=told, since=told),
    )
    journal.load()
    with journal.locked():
        journal.begin(journal.run_entry("r", "drift", ""))
        journal.append([Drifted(at=told, found=found, over=(Ref("SLO", "never"),))])

    ran = applied.run("drift", "--format", form)
    again = applied.run("drift", "--remember", "--format", form)

    assert (ran.code, again.code) == (2, 2), ran.err
    shown = ran.out + ran.err + again.out + again.err
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert of(looked(applied))["isNew"] is False
