"""Complaints on a terminal: cut to its width, with one line that leads to what a code means."""

from __future__ import annotations

import re
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from reconciler.report.complaints.document import complaints_text
from reconciler.report.table import Style
from reconciler.syntax.diagnostic import Complaint, Finding, Lines, Severity, complaint_at


def complaint(line: str, column: int, code: str = "M303") -> Complaint:
    """Give a complaint at a place of a line."""
    lines = Lines(f"first\n{line}\n")
    return complaint_at("a.yaml", lines, 2, column, Finding(code, (), "wrong"))


@given(st.text("abcdefgh: ", min_size=1, max_size=400), st.integers(0, 399), st.integers(30, 300))
def test_lines_of_a_file_are_cut_to_the_terminal(line: str, place: int, width: int) -> None:
    """What is shown of a file fits on the terminal, and the mark stands under its place."""
    start = place % len(line)
    text = complaints_text([complaint(line, start + 1)], Style(width=width, terminal=True))

    frame = [line for line in text.splitlines() if " |" in line]
    assert all(len(text) <= width for text in frame)
    under = next(text for text in frame if "^" in text).index("^")
    shown = next(text for text in frame if text.startswith("2 |"))
    if line[start] != " " and shown[under : under + 1] != "…":
        assert shown[under] == line[start]


@given(st.lists(st.sampled_from(["M303", "L201", "R/own"]), min_size=21, max_size=99))
def test_many_complaints_are_grouped(codes: list[str]) -> None:
    """Above twenty complaints, the others are counted by code, and `-v` shows each."""
    complaints = [complaint("a: b", 1, code) for code in codes]

    text = complaints_text(complaints, Style())
    counts = [int(count) for count in re.findall(r"^  \S+ x (\d+)", text, re.MULTILINE)]
    whole = complaints_text(complaints, Style(verbose=True))

    assert text.count(" --> ") + sum(counts) == whole.count(" --> ") == len(codes)
    assert len(counts) <= len(set(codes))


@given(st.lists(st.sampled_from(["M303", "M304", "L201", "L203"]), min_size=21, max_size=99))
def test_each_code_is_shown(codes: list[str]) -> None:
    """Above twenty complaints each code is shown once, opinions last, then rarer codes first."""
    warned = [replace(complaint("a: b", 1, code), severity=Severity.WARNING) for code in codes]

    shown = re.findall(r"^warning.(\w+)", complaints_text(warned, Style()), re.MULTILINE)

    assert sorted(shown) == sorted(set(codes))
    ranks = [(code.startswith("L"), codes.count(code)) for code in shown]
    assert ranks == sorted(ranks)


def test_the_same_is_about_the_line_above() -> None:
    """A line of alike complaints repeats its text where the line above has another."""
    words = "aabaa"
    alike = [
        replace(complaint("a: b", nth), severity=Severity.WARNING, message=word)
        for nth, word in enumerate(words, 1)
    ]

    shown = re.findall(r"^--> \S+  (.*)$", complaints_text(alike, Style()), re.MULTILINE)

    texts = [text.partition(":")[0] for text in shown]
    assert texts == ["the same", "b", "a", "the same"]


def test_one_line_leads_to_an_explanation() -> None:
    """A person is told once how a code is explained, and a log never is."""
    many = [complaint("a: b", nth) for nth in (1, 2, 3)]

    assert complaints_text(many, Style(terminal=True)).count("reconciler explain M303") == 1
    assert "reconciler explain" not in complaints_text(many, Style())
    assert "reconciler explain" not in complaints_text([], Style(terminal=True))
