"""`incidents close`: shown, asked, closed, and said what stays open."""

from __future__ import annotations

import pytest
from harness.golden import Golden
from harness.workspaces import Shop

from reconciler.emulator import Fault, Faults, Rule
from reconciler.emulator.faults import PartialBulk

CLOSE = "/incidents/incidents/v1/close"


@pytest.fixture
def open_ids(shop: Shop) -> list[str]:
    listed = shop.run("incidents", "list", "--open", "--format", "json").json
    return [value["id"] for value in listed]


def answer(monkeypatch: pytest.MonkeyPatch, *, yes: bool) -> list[str]:
    """Put a person at the terminal who gives one answer; gives what is asked."""
    questions: list[str] = []

    def agreed(text: str) -> bool:
        questions.append(text)
        return yes

    monkeypatch.setattr("reconciler.cli.service_records.is_terminal", lambda: True)
    monkeypatch.setattr("reconciler.cli.service_records.agreed", agreed)
    return questions


def test_close_with_yes(shop: Shop, open_ids: list[str]) -> None:
    """With --yes they are shown on stderr, closed, and named on stdout."""
    first, second, *rest = open_ids

    ran = shop.run("incidents", "close", first, second, first, "--yes")

    assert (ran.code, ran.out) == (0, f"closed {first}\nclosed {second}\n")
    assert [line.split()[0] for line in ran.err.splitlines()] == ["INCIDENT", first, second]
    left = shop.run("incidents", "list", "--open", "--format", "json").json
    assert [value["id"] for value in left] == rest


def test_close_as_json(shop: Shop, open_ids: list[str]) -> None:
    """JSON holds the incidents as they are now, with `closedAt`."""
    ran = shop.run("incidents", "close", open_ids[0], "--yes", "-q", "--format", "json")

    assert [(value["id"], bool(value["closedAt"])) for value in ran.json] == [(open_ids[0], True)]
    assert ran.err == ""


def test_close_after_asking(
    shop: Shop, open_ids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a terminal the question tells how many would be closed, and yes closes them."""
    closed = shop.run("incidents", "close", open_ids[0], "--yes").code
    questions = answer(monkeypatch, yes=True)

    ran = shop.run("incidents", "close", *open_ids[:3])

    assert (closed, ran.code) == (0, 0)
    assert questions == ["Close 2 of 3?"]
    assert ran.out == "".join(f"closed {open_id_}\n" for open_id_ in open_ids[1:3])


def test_no_sends_nothing(shop: Shop, open_ids: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A no closes nothing: 0, and no close is sent."""
    answer(monkeypatch, yes=False)

    ran = shop.run("incidents", "close", open_ids[0])

    assert (ran.code, ran.out) == (0, "")
    assert ran.err.endswith("nothing was closed\n")
    assert shop.count("POST", CLOSE) == 0


def test_nobody_to_ask(shop: Shop, open_ids: list[str]) -> None:
    """Without a terminal and without --yes nothing is even read."""
    requests = len(shop.asked)

    ran = shop.run("incidents", "close", open_ids[0])

    assert (ran.code, ran.err) == (64, "error: there is no terminal: give --yes\n")
    assert len(shop.asked) == requests


def test_one_that_is_not_there(shop: Shop, open_ids: list[str], golden: Golden) -> None:
    """One id that nobody has stops all of it before anything is closed."""
    ran = shop.run("incidents", "close", open_ids[0], "nobody", "--yes")

    assert (ran.code, ran.out) == (64, "")
    golden(ran.err)
    assert shop.count("POST", CLOSE) == 0


def test_closed_already(shop: Shop, golden: Golden) -> None:
    """What is closed already is shown and said, and nothing is sent."""
    listed = shop.run("incidents", "list", "--state", "resolved", "--format", "json").json
    closed = next(value["id"] for value in listed if value.get("closedAt"))

    ran = shop.run("incidents", "close", closed, "--yes")

    assert (ran.code, ran.out) == (0, "")
    golden(ran.err.splitlines()[-1])
    assert shop.count("POST", CLOSE) == 0


def test_stays_open(shop: Shop, open_ids: list[str]) -> None:
    """Where the service leaves one open, that is said, and the exit code is 3."""
    fault = Fault(partial=PartialBulk(failed=[1]))
    shop.options["faults"] = Faults(rules=[Rule(method="POST", path="*/close", fault=fault)])

    ran = shop.run("incidents", "close", *open_ids[:2], "--yes", "-q")

    assert (ran.code, ran.out) == (3, f"closed {open_ids[0]}\n")
    assert ran.err == f"still open: {open_ids[1]}\n"


def test_lost_answer(shop: Shop, open_ids: list[str]) -> None:
    """A lost answer is looked up: closed once, and said to be closed."""
    rule = Rule(method="POST", path="*/close", nth=1, fault=Fault(drop="after"))
    shop.options["faults"] = Faults(rules=[rule])

    ran = shop.run("incidents", "close", open_ids[0], "--yes", "-q")

    assert (ran.code, ran.out, ran.err) == (0, f"closed {open_ids[0]}\n", "")
    assert shop.count("POST", CLOSE) == 1
