from __future__ import annotations

import json

import pytest
from harness.golden import Golden
from hypothesis import given, settings
from hypothesis import strategies as st

from reconciler.report.complaints.document import complaints_text, message
from reconciler.report.safe import columns, safe, safe_json
from reconciler.report.table import Style
from reconciler.syntax.diagnostic import (
    CUT,
    LONGEST_MESSAGE,
    WIDEST_EXCERPT,
    Advice,
    Complaint,
    Finding,
    Lines,
    complaint_at,
    warning,
)


def frame(text: str, line: int, column: int, suggestion: str = "") -> list[str]:
    """Give the lines of the frame of a complaint."""
    finding = Finding("M301", (), "wrong", suggestion=suggestion)
    complaint = complaint_at("a.yaml", Lines(text), line, column, finding)
    return complaints_text([complaint], Style()).rstrip("\n").split("\n")[2:]


def test_the_line_and_the_one_before() -> None:
    """A frame shows the line, the one before, and a mark as wide as the value."""
    assert frame("spec:\n  name: Checkout\n", 2, 9, "Shop") == [
        "1 | spec:",
        "2 |   name: Checkout",
        "  |         ^^^^^^^^ write Shop",
    ]


@pytest.mark.parametrize("text", ["remove ", "leave me", "write up"])
def test_a_value_is_never_taken_for_advice(text: str) -> None:
    """What to write is called so whatever its first word is, and advice stands as it is."""
    said = [
        message(Complaint("a.yaml", 1, 1, code="M301", message="wrong", suggestion=one))
        for one in (text, Advice(text))
    ]

    assert said == [f"wrong: write {text}", f"wrong: {text}"]
    assert frame("a: b\n", 1, 4, text.strip())[-1] == f"  |    ^ write {text.strip()}"
    assert frame("a: b\n", 1, 4, Advice(text.strip()))[-1] == f"  |    ^ {text.strip()}"


def test_a_key_is_marked_without_its_colon() -> None:
    """The mark under a key leaves out the colon."""
    assert frame("nam: x\n", 1, 1)[-1] == "  | ^^^"


def test_a_quoted_value_is_marked_with_its_quotes() -> None:
    """The mark under a quoted text is as wide as the text, blanks and all."""
    assert frame("a: 'b c d' # e\n", 1, 4)[-1] == "  |    ^^^^^^^"


def test_tabs() -> None:
    """A tab is four columns wide, and the mark stands under the value."""
    assert frame("a:\tb\n", 1, 4) == ["1 | a:    b", "  |       ^"]


def test_wide_characters() -> None:
    """Characters of two columns and of none move the mark as they move the text."""
    assert frame("漢字: é: x\n", 1, 5) == ["1 | 漢字: é: x", "  |       ^"]
    assert frame("e\u0301: x\n", 1, 5)[-1] == "  |    ^"
    assert frame("a: 漢字\n", 1, 4)[-1] == "  |    ^^^^"


def test_unsafe_characters() -> None:
    """What a terminal would obey is shown by its number, and marked as wide as that."""
    assert frame("a: \x1b[31m\n", 1, 4) == ["1 | a: \\u001b[31m", "  |    ^^^^^^^^^^"]


@pytest.mark.parametrize("column", [1, 60, 61, 121, 500, 999])
def test_long_lines(column: int) -> None:
    """A long line is cut around the place, and the mark stands under what it is about."""
    line = "x" * (column - 1) + "!" + "x" * (1000 - column)

    shown, mark = frame(f"before\n{line}\n", 2, column)[-2:]

    assert len(shown) <= WIDEST_EXCERPT + len("2 | ")
    assert shown[mark.index("^")] == "!"
    assert CUT in shown


def test_a_place_at_the_end_of_the_file() -> None:
    """A complaint after the last character has a frame all the same."""
    assert frame("a: [1\n", 2, 1) == ["1 | a: [1", "2 |", "  | ^"]


@given(
    st.text(st.characters(codec="utf-8"), max_size=300),
    st.integers(1, 12),
    st.integers(1, 320),
)
@settings(max_examples=100)
def test_any_frame(text: str, line: int, column: int) -> None:
    """A frame of any text at any place is harmless, bounded, and marks something."""
    shown = frame(text, line, column)

    assert all(safe(text) == text for text in shown)
    assert all(len(text) < 10 * WIDEST_EXCERPT for text in shown)
    assert "^" in shown[-1]


def test_long_names(golden: Golden) -> None:
    """A name of 64 KB is cut in messages, and what is said of it stays."""
    name = "n" * 65536
    finding = Finding("M303", (), f"unknown field `{name}` in `spec`", suggestion=name)

    complaint = complaint_at("a.yaml", Lines("a: 1\n"), 1, 1, finding)

    golden(complaint.message)
    assert complaint.suggestion == ""


def test_long_messages() -> None:
    """A message has a bound, whatever it is made of."""
    complaint = complaint_at("a.yaml", Lines(""), 1, 1, Finding("M301", (), "word " * 1000))

    assert len(complaint.message) == LONGEST_MESSAGE


def test_what_is_to_be_done() -> None:
    """A suggestion that is no text to write is shown as it is."""
    assert frame("a: 1\n", 1, 1, Advice("remove it"))[-1] == "  | ^ remove it"


def test_errors_come_first() -> None:
    """Warnings never push an error out of the first twenty, and files stand in order."""
    lines = Lines("a: 1\n")
    doubts = [complaint_at("a.yaml", lines, 1, 1, warning("M304", (), f"{n}")) for n in range(30)]
    error = complaint_at("b.yaml", lines, 1, 1, Finding("M301", (), "wrong"))

    shown = complaints_text([*doubts, error], Style())

    assert shown.startswith("error[M301]")
    assert shown.index("M301") < shown.index("M304")
    assert "M304 x 29" in shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\nb\tc\rd", "a\\nb\\tc\\rd"),
        ("\x1b]0;x\x07", "\\u001b]0;x\\u0007"),
        ("\u202etxt\u2066", "\\u202etxt\\u2066"),
        ("\u2028\u2029\x85", "\\u2028\\u2029\\u0085"),
        ("\udc80\ufeff\u200b", "\\udc80\\ufeff\\u200b"),
        ("a##[stop-commands]b", "a\\u0023#[stop-commands]b"),
        ("#1 ## [x] #[", "#1 ## [x] #["),
        ("漢字 é 😀", "漢字 é 😀"),
    ],
)
def test_safe(text: str, shown: str) -> None:
    """Control, bidirectional and runner commands are shown by number, all else as it is."""
    assert safe(text) == shown


@given(st.text(st.characters(), max_size=50))
@settings(max_examples=200)
def test_safe_leaves_nothing(text: str) -> None:
    """Safe text is one line without control characters, and safe again changes nothing."""
    shown = safe(text)

    assert len(shown.splitlines()) <= 1
    assert safe(shown) == shown


@given(st.text(st.characters(), max_size=50))
@settings(max_examples=200)
def test_safe_json(text: str) -> None:
    """JSON is made harmless without changing what it says."""
    harmless = safe_json(json.dumps(text, ensure_ascii=False))

    assert json.loads(harmless) == text
    assert safe(harmless) == harmless


def test_columns() -> None:
    """Columns are counted as a terminal counts them."""
    assert [columns(text) for text in ("abc", "漢字", "e\u0301", "\uff57")] == [3, 4, 1, 2]
