"""When there is colour, and how wide a report is."""

from __future__ import annotations

import io
from collections.abc import Mapping

import pytest

from reconciler.cli.console import style_of
from reconciler.report.table import Colour, Style


class Terminal(io.StringIO):
    """A stream that a person looks at."""

    def isatty(self) -> bool:
        """Say so."""
        return True


@pytest.mark.parametrize(
    ("environ", "colour"),
    [
        ({}, True),
        ({"NO_COLOR": "1"}, False),
        ({"NO_COLOR": ""}, True),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
        ({"TERM": "dumb"}, False),
        ({"FORCE_COLOR": "0"}, True),
    ],
    ids=str,
)
def test_colour_on_a_terminal(environ: Mapping[str, str], colour: bool) -> None:
    """A terminal has colour, unless its person does not want any."""
    assert style_of(Terminal(), environ, verbose=False).colour is colour


@pytest.mark.parametrize(
    ("environ", "colour"),
    [
        ({}, False),
        ({"FORCE_COLOR": "1"}, True),
        ({"FORCE_COLOR": "0"}, False),
        ({"FORCE_COLOR": ""}, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
    ],
    ids=str,
)
def test_colour_in_a_pipe(environ: Mapping[str, str], colour: bool) -> None:
    """A pipe or a file has no colour, unless it is forced."""
    assert style_of(io.StringIO(), environ, verbose=False).colour is colour


@pytest.mark.parametrize(("columns", "width"), [("80", 80), ("200", 200), ("20", 60)])
def test_width_follows_the_terminal(
    monkeypatch: pytest.MonkeyPatch, columns: str, width: int
) -> None:
    """A report is as wide as the terminal, but never too narrow to read; a pipe has 100."""
    monkeypatch.setenv("COLUMNS", columns)

    assert style_of(Terminal(), {}, verbose=False).width == width
    assert style_of(io.StringIO(), {}, verbose=False).width == 100


def test_paint_without_colour_is_the_text() -> None:
    """No escape sequence is ever written without colour."""
    assert Style().paint("text", Colour.RED) == "text"
    assert Style(colour=True).paint("text") == "text"
    assert Style(colour=True).paint("text", Colour.RED, Colour.BOLD) == "\x1b[31;1mtext\x1b[0m"
