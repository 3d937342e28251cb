"""Tables and CSV."""

from __future__ import annotations

import csv
import re
from io import StringIO

import pytest
from harness.golden import Golden
from hypothesis import given
from hypothesis import strategies as st

from reconciler.report.safe import columns, safe
from reconciler.report.table import Heading, Style, csv_line, table

ID = Heading("id", whole=True)
WORDS = Heading("words")
NUMBER = Heading("number", right=True)
PIPE = Style()
cells = st.text(max_size=40)
rows = st.lists(st.tuples(cells, cells, cells), max_size=6)


def on_terminal(width: int) -> Style:
    return Style(width=width, terminal=True)


@given(rows)
def test_nothing_is_cut_in_a_pipe(records: list[tuple[str, str, str]]) -> None:
    """In a pipe every cell stands whole on the line of its record, made safe."""
    lines = table((ID, WORDS, NUMBER), records, PIPE).splitlines()

    assert len(lines) == len(records) + 1
    for line, record in zip(lines[1:], records, strict=True):
        assert all(safe(cell).strip() in line for cell in record)


@given(rows, st.integers(60, 120))
def test_ids_are_never_cut(records: list[tuple[str, str, str]], width: int) -> None:
    """However narrow the terminal, a whole column is whole."""
    lines = table((ID, WORDS, NUMBER), records, on_terminal(width)).splitlines()

    for line, record in zip(lines[1:], records, strict=True):
        assert line.startswith(safe(record[0]).rstrip())


@given(st.lists(st.tuples(cells, cells), max_size=6))
def test_lines_fit(records: list[tuple[str, str]]) -> None:
    """Where nothing has to be whole, no line is wider than the terminal."""
    style = on_terminal(60)

    assert all(columns(line) <= 60 for line in table((WORDS, NUMBER), records, style).splitlines())


@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=6))
def test_columns_line_up(records: list[tuple[str, str]]) -> None:
    """The second column begins at one place in every line, wide characters counted as two."""
    marked = [(first, f"|{second}") for first, second in records]
    heading, *lines = table((WORDS, Heading("|")), marked, PIPE).splitlines()

    begin = max(columns(text) for text in ("words", *(safe(first) for first, _ in records))) + 2
    assert columns(heading.rpartition("|")[0]) == begin
    for line, (_, second) in zip(lines, marked, strict=True):
        assert columns(line.removesuffix(safe(second).rstrip())) == begin


def test_numbers_stand_right(golden: Golden) -> None:
    """Numbers end at one place."""
    shown = table((WORDS, NUMBER), [("a", "1.00"), ("b", "1,000.00")], PIPE)

    golden(shown)


def test_cut_cell() -> None:
    """A cut cell ends in an ellipsis, and the widest column gives way first."""
    shown = table((WORDS, Heading("more")), [("a" * 70, "b" * 9)], on_terminal(60))

    assert shown.splitlines()[1] == "a" * 48 + "…  " + "b" * 9


def test_wide_characters_are_cut_whole() -> None:
    """A wide character is never cut in half: the cell is a column shorter then."""
    line = table((WORDS,), [("漢" * 40,)], on_terminal(60)).splitlines()[1]

    assert line == "漢" * 29 + "…"


def test_headings_are_never_cut() -> None:
    """A heading is whole however little room there is."""
    headings = tuple(Heading(f"heading number {number}") for number in range(9))

    shown = table(headings, [["x" * 30] * 9], on_terminal(60))

    assert shown.splitlines()[0].split("  ") == [heading.words.upper() for heading in headings]


@given(st.lists(cells, min_size=1, max_size=5))
def test_csv_is_read_back(record: list[str]) -> None:
    """What a line of CSV says is what was put in, made safe, with at most a `'` before it."""
    (back,) = csv.reader(StringIO(csv_line(record)))

    assert [text.removeprefix("'") for text in back] == [
        safe(text).removeprefix("'") for text in record
    ]


@given(st.sampled_from("=+-@＝＋－＠"), cells)  # noqa: RUF001 - spreadsheets read the wide ones too
def test_no_formula(first: str, rest: str) -> None:
    """No cell is a formula: one that begins as a formula does is text, or a plain number."""
    (back,) = csv.reader(StringIO(csv_line([first + rest])))

    assert back[0].startswith("'") or re.fullmatch(r"[+-][0-9.eE+-]+", back[0])


@pytest.mark.parametrize("text", ["+NAN", "-inf", "-1_0", "-1-1", "+1.", "-²"])
def test_what_only_looks_like_a_number(text: str) -> None:
    """What a program may take for a number, and a spreadsheet for a name or a sum, is text."""
    assert csv_line([text]) == f"'{text}\n"


@pytest.mark.parametrize("number", ["-1", "+1.5", "-2e9", "1.5"])
def test_numbers_stay_numbers(number: str) -> None:
    """A negative number is no formula."""
    assert csv_line([number]) == f"{number}\n"


@pytest.mark.parametrize("text", ["a\nb", "a\rb", "\x1b[2J", "\u202eb", '=HYPERLINK("x")'])
def test_one_line_each(text: str) -> None:
    """A cell never breaks its line, nor reaches the terminal as a control."""
    line = csv_line([text, "next"])

    assert line.count("\n") == 1
    assert not {"\r", "\x1b", "\u202e"} & set(line)
