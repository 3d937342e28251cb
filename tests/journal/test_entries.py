from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import cast, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from journals import all_entries, kept_entries, objects, started

from reconciler.api.secret import Secret
from reconciler.document import Json
from reconciler.errors import JournalError
from reconciler.journal.content import (
    Content,
    entry_document,
    header_document,
    line_of,
    parse_entry,
    parse_header,
    parse_line,
    read_content,
)
from reconciler.journal.entries import Entry, Header

PAGE = (Path(__file__).parents[2] / "docs" / "journal-entries.md").read_text(encoding="utf-8")


@given(all_entries | kept_entries)
def test_round_trip(entry: Entry) -> None:
    """What is written is read back the same, whatever text it holds."""
    line, _ = line_of(entry_document(entry), "before")
    document, _ = parse_line(line, "before", 2)

    assert parse_entry(document, 2) == entry


@given(objects.filter(bool), st.text(max_size=16))
def test_one_line(document: dict[str, Json], before: str) -> None:
    """A document is one line of UTF-8 that ends in its sum, however odd its texts."""
    line, total = line_of(document, before)

    assert line.encode().count(b"\n") == 1
    assert line.endswith("}\n")
    assert json.loads(line)["sum"] == total
    assert parse_line(line, before, 1)[1] == total


def test_header() -> None:
    """The header is read back the same, and docs/journal-entries.md names each of its fields."""
    header = Header(
        environment="production", target="https://api.example.com", created="2025-01-31T09:00:00Z"
    )
    moved = replace(header, continues="0123", sealed_for="https://old.example.com")

    for entry in (header, moved):
        assert parse_header(header_document(entry)) == entry
    assert set(header_document(moved)) <= {"journal", *re.findall(r"`(\w+)`", PAGE)}


@pytest.mark.parametrize("document", [{}, {"journal": 2}, {"journal": "1"}, {"entry": "started"}])
def test_no_header(document: dict[str, Json]) -> None:
    """A first line of another format is refused."""
    with pytest.raises(JournalError, match="first line"):
        parse_header(document)


WHOLE: dict[str, Json] = {
    "entry": "started",
    "at": "a",
    "ref": "SLO/a",
    "run": "r",
    "operation": "create",
    "remoteId": None,
    "requestId": "q",
    "seen": "",
    "declared": {},
}


@pytest.mark.parametrize(
    "wrong",
    [
        {"ref": "SLO"},
        {"ref": 5},
        {"remoteId": True},
        {"remoteId": 1.5},
        {"remoteId": []},
        {"declared": "text"},
        {"declared": None},
        {"entry": "unheard-of"},
        {"entry": None},
        {"entry": []},
        {"requestId": 5},
        {"at": None},
        {"entry": "written", "remoteId": {}},
        {"entry": "identified"},
        {"entry": "refused"},
        {"entry": "stored"},
        {"entry": "stored", "rewritten": [5]},
        {"entry": "stored", "rewritten": [{"path": "x"}]},
        {"entry": "imported"},
        {"entry": "imported", "from": "live", "declared": None},
        {"entry": "imported", "from": "live", "remoteId": []},
        {"entry": "override"},
        {"entry": "renamed"},
        {"entry": "renamed", "was": "SLO"},
        {"entry": "renamed", "was": "SLO/b", "run": 5},
        {"entry": "forgotten", "ref": "SLO"},
        {"entry": "drifted", "at": None},
        {"entry": "drifted", "found": [{"ref": "SLO/a", "since": "x"}]},
        {"entry": "drifted", "found": [{"ref": "SLO", "how": "x", "since": "x"}]},
        {"entry": "drifted", "over": ["SLO"]},
        {"entry": "moved"},
        {"entry": "moved", "to": 5},
        {"entry": "arrived"},
        {"entry": "arrived", "from": None},
    ],
)
def test_unknown_entry(wrong: dict[str, Json]) -> None:
    """An entry that cannot be understood is an error that names its line."""
    with pytest.raises(JournalError, match="line 9 "):
        parse_entry({**WHOLE, **wrong}, 9)


@given(st.text(max_size=40))
def test_any_line(line: str) -> None:
    """No line is misread, and none is an error of another kind."""
    with pytest.raises(JournalError, match="line 3 "):
        parse_line(line, "before", 3)


GOLDEN = Path(__file__).parent / "golden"


def written_again(content: Content) -> bytes:
    """Give the lines that are written of what a journal was read as."""
    assert content.header is not None
    lines, total = [], ""
    for document in (header_document(content.header), *map(entry_document, content.entries)):
        line, total = line_of(document, total)
        lines.append(line)
    return "".join(lines).encode()


def test_every_entry_as_before() -> None:
    """A journal of every entry, each field with and without a value, is written as ever."""
    golden = (GOLDEN / "every-entry.jsonl").read_bytes()

    content = read_content(golden, "golden")

    assert {type(entry) for entry in content.entries} == set(get_args(Entry))
    assert written_again(content) == golden


def test_other_programs_as_before() -> None:
    """What older and newer programs wrote is read as ever: fields nobody knows are left out."""
    content = read_content((GOLDEN / "other-programs.jsonl").read_bytes(), "golden")

    assert written_again(content) == (GOLDEN / "other-programs-as-read.jsonl").read_bytes()


def test_no_secret_in_a_line() -> None:
    """A secret that was never sealed is no part of any line: there is an error in its place."""
    entry = started(declared={"key": cast("str", Secret("hush"))})

    with pytest.raises(TypeError, match="Secret"):
        line_of(entry_document(entry), "")
