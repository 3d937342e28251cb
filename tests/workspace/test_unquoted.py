"""Texts that have to be quoted: the parser stops elsewhere, and the complaint names them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.syntax.read_text import read_text

WORDS = st.text("abc {}[]:'\"\\#,é", min_size=1, max_size=12)


@given(WORDS, WORDS)
def test_what_is_suggested_can_be_read(before: str, after: str) -> None:
    """A text that is suggested in quotes is read as the text that stands there."""
    line = f"{before}: {after}"
    reading = read_text(f"name: {line}\n")
    for flaw in reading.flaws:
        if flaw.code == "M101" and flaw.suggestion:
            (again,) = read_text(f"name: {flaw.suggestion}\n").documents
            assert isinstance(again.value, dict)
            told = again.value["name"]
            assert isinstance(told, str)
            assert told in line


@pytest.mark.parametrize(
    ("text", "place", "meant"),
    [
        ("a:\n  - b: c: d # why\n", (2, 8), '"c: d"'),
        ('a: {b="c"} / 2\n', (1, 4), "'{b=\"c\"} / 2'"),
        ("a: [1] of 2\n", (1, 4), '"[1] of 2"'),
        ("a: [${var:b}, c]\n", (1, 5), '"${var:b}"'),
        ("a: {b: ${var:b}}\n", (1, 8), '"${var:b}"'),
        ("a: b\n   c: d\n", (2, 4), ""),
        ("a:b\nc: d\n", (1, 1), "a: b"),
        ("a:\n  b: c\n\u00a0\u00a0d: e\n  f: g\n", (3, 1), ""),
        ("a: @b\n", (1, 4), '"@b"'),
        ("a: `b` c\n", (1, 4), '"`b` c"'),
        ("a: *b*\n", (1, 4), '"*b*"'),
        ("a: *b\n", (1, 4), '"*b"'),
        ("a: !b:c\n", (1, 4), '"!b:c"'),
        ("a: !secret b\n", (1, 4), ""),
        ("a: {{ b }} c\n", (1, 4), '"{{ b }} c"'),
        ('a: "b" or "c"\n', (1, 4), '\'"b" or "c"\''),
        ("a: \u201cb: c\u201d\n", (1, 4), '"b: c"'),
        ("a:\nb\nc: d\n", (2, 1), ""),
        ("a: {b: c d: e}\n", (1, 11), ""),
    ],
)
def test_where_the_quotes_belong(text: str, place: tuple[int, int], meant: str) -> None:
    """The complaint stands where the text begins that needs quotes, and gives it with them."""
    (flaw,) = read_text(text).flaws

    assert ((flaw.line, flaw.column), flaw.suggestion) == (place, meant)


@given(
    st.sampled_from([*"*&!@`%{[\"'", "{{", "x: "]),
    st.text(alphabet="ab :\"'\\{}@*!", max_size=12),
)
def test_what_is_given_says_what_was_meant(begins: str, rest: str) -> None:
    """A text that is given back in quotes is, where it is written so, the text that stood there."""
    meant = f"{begins}{rest}".rstrip()

    for flaw in read_text(f"a: {meant}\n").flaws:
        if flaw.suggestion and (flaw.line, flaw.column) == (1, 4):
            again = read_text(f"a: {flaw.suggestion}\n")
            assert again.flaws == []
            assert [document.value for document in again.documents] == [{"a": meant}]
