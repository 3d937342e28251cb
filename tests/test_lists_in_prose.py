"""Lists and numbers that sentences of the documentation give are those of the program."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest
import write_endpoints

from reconciler.api import retry, wire
from reconciler.cli.journal_commands import journal
from reconciler.cli.root import cli
from reconciler.errors import PRECEDENCE, SIGNALLED

DOCS = Path(__file__).parent.parent / "docs"
COUNTS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def page(name: str) -> str:
    """Return a page on one line, as its sentences go on over line breaks."""
    return " ".join((DOCS / name).read_text(encoding="utf-8").split())


def named_in(sentence: str, text: str) -> list[str]:
    """Return the words in backticks, or the numbers, of the one sentence that a pattern finds."""
    (found,) = re.findall(sentence, text)
    return re.findall(r"`([^`]+)`", found) or re.findall(r"\d+", found)


@pytest.mark.promise("S50")
def test_the_order_of_exit_codes() -> None:
    """docs/exit-codes.md gives the order in which codes of one run count, whole."""
    given = named_in(r"the first of this order is given: (.*?)\. So 3 ", page("exit-codes.md"))

    assert [int(code) for code in given] == [*PRECEDENCE]
    assert len(SIGNALLED) == page("exit-codes.md").count("| stopped by ")


@pytest.mark.promise("S50")
def test_numbers_of_endpoints() -> None:
    """Only the page that the program writes counts the endpoints of the API, and rightly."""
    counted = {
        (file.name, number)
        for file in DOCS.glob("*.md")
        for number in re.findall(r"(?:The|the|all|these) (\d+) endpoints", page(file.name))
    }

    assert counted == {("endpoints.md", str(len(write_endpoints.ROWS)))}


@pytest.mark.promise("S50")
def test_numbers_of_requests() -> None:
    """docs/network.md counts kinds of requests and ends of attempts, and gives the limits."""
    text = page("network.md")
    spoken = {
        f"Every request is one of {COUNTS[len(retry.Request)]} kinds",
        f"every attempt ends in one of {COUNTS[len(retry.Phase)]} ways",
        f"At most {retry.MOST_ATTEMPTS} attempts",
        f"up to {retry.BASE_SECONDS * 1000:.0f} ms, doubled each time",
        f"after a 429 up to {retry.LIMITED_BASE_SECONDS:.0f} s",
        f"A bucket of {retry.BUCKET_TOKENS} tokens pays for them, {retry.RETRY_COST} each",
        f"({retry.LIMITED_RETRY_COST} after a 429)",
        f"cost at most N + {retry.BUCKET_TOKENS // retry.RETRY_COST} requests",
        f"waits {COUNTS[int(retry.LONGEST_WAIT_SECONDS // 60)]} minutes in all",
        f"not there after {wire.CONNECT_SECONDS:.0f} seconds",
        f"larger than {wire.LARGEST_REPLY >> 20} MB",
    }

    assert {words for words in spoken if words not in text} == set()


@pytest.mark.promise("S50")
@pytest.mark.parametrize(
    ("member", "listed"),
    [
        ("FINDABLE", r"\*\*findable write\*\*: (.*?)\. "),
        ("BLIND", r"\*\*blind create\*\*: (.*?)\. "),
    ],
)
def test_requests_of_a_kind(member: str, listed: str) -> None:
    """docs/network.md lists as many requests of a kind as the client sends."""
    (found,) = re.findall(listed, page("network.md"))
    sent = [
        call
        for file in (DOCS.parent / "reconciler").rglob("*.py")
        for call in re.findall(rf"request=Request\.{member}\b", file.read_text(encoding="utf-8"))
    ]

    assert len(re.split(", | or ", found)) == len(sent)


@pytest.mark.promise("S50")
def test_commands_that_wait_for_a_lock() -> None:
    """docs/journal.md names the commands of the journal that take `--lock-timeout`."""
    given = named_in(r"waits instead; so do (.*?)\. ", page("journal.md"))
    context = click.Context(cli)
    waiting = [
        name
        for name in journal.list_commands(context)
        if (command := journal.get_command(context, name)) is not None
        and any("--lock-timeout" in option.opts for option in command.params)
    ]

    assert sorted(word.removeprefix("journal ") for word in given) == sorted(waiting)
