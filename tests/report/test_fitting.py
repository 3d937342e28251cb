"""Sentences on terminals of any width."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from harness.doors import on_terminal
from harness.workspaces import PROJECT, SLO
from hypothesis import given
from hypothesis import strategies as st

from reconciler.journal.entries import RunEntry
from reconciler.journal.history import RunSummary
from reconciler.report.journal_formats import history_text
from reconciler.report.safe import columns
from reconciler.report.table import Style, fitted, wrapped

pytestmark = pytest.mark.slow

WORDS = st.text(st.sampled_from("ab語 \n"), max_size=300)
PAINT = re.compile(r"\x1b\[[0-9;]*m")


@given(WORDS, st.integers(20, 60))
def test_no_word_is_broken(text: str, width: int) -> None:
    """On a terminal every word stays whole and in its place, and no line with two is too wide."""
    shown = fitted(text, Style(width=width, terminal=True))

    assert shown.split() == text.split()
    for line in shown.split("\n"):
        assert columns(line) <= width or len(line.split()) == 1
    assert fitted(text, Style(width=width)) == text


def test_paint_takes_no_room() -> None:
    """Colour counts for no column, and bullets are continued to the right of their sign."""
    painted = f"  - \x1b[31m{'a' * 10}\x1b[0m {'b' * 10}"

    assert fitted(painted, Style(width=25, terminal=True)) == painted
    assert fitted(painted, Style(width=24, terminal=True)).split("\n")[1] == "    " + "b" * 10


COMMANDS = st.lists(
    st.sampled_from(["word", "other", "`one two`", "(`journal rename SLO/a SLO/b`),", "語"])
)


@given(COMMANDS, st.integers(40, 60), st.sampled_from(["", "      "]))
def test_no_command_is_broken(words: list[str], width: int, margin: str) -> None:
    """What stands in backticks and fits a terminal stays on one line; in a pipe all does."""
    text, style = " ".join(words), Style(width=width, terminal=True)

    for shown in (
        fitted(margin + text, style).split("\n"),
        list(wrapped(text, style, margin=margin, hang="  ")),
    ):
        assert all(line.count("`") % 2 == 0 for line in shown)
        assert all(columns(line) <= width for line in shown)
        assert " ".join(line.strip() for line in shown) == text
    assert list(wrapped(text, Style(width=width), margin=margin)) == [margin + text][: len(words)]


def test_backtick_without_end() -> None:
    """A backtick that nothing closes, or a command wider than the terminal, is broken as words."""
    for text in (f"a ` {'word ' * 30}".strip(), f"`{'word ' * 30}`"):
        shown = fitted(text, Style(width=40, terminal=True)).split("\n")
        assert len(shown) > 3
        assert all(columns(line) <= 40 for line in shown)


WRONG = """\
apiVersion: reconciler/v1
kind: SLO
metadata: {name: ../wrong}
spec: {name: x}
"""


def lines_of(folder: Path, width: int, *arguments: str) -> list[str]:
    """Give the lines that a command shows, without colour."""
    shown = on_terminal(arguments, folder, width=width)
    return _settled(shown.terminal).split("\n")


def _settled(text: str) -> str:
    """Return what stays on a terminal: lines without colour, and without what was overwritten."""
    return re.sub(r"[^\n]*\x1b\[K", "", PAINT.sub("", text))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give an applied workspace whose next apply is refused by a guard."""
    (tmp_path / "reconciler.yaml").write_text(PROJECT, encoding="utf-8")
    (tmp_path / "slo.yaml").write_text(SLO, encoding="utf-8")
    assert on_terminal(["apply", "--yes"], tmp_path).code == 0
    (tmp_path / "slo.yaml").write_text(SLO.replace("99.9", "99.5"), encoding="utf-8")
    return tmp_path


def test_narrow_terminals(folder: Path) -> None:
    """At 60 columns plans, refusals and complaints hold no line that the terminal would break."""
    plan, refused = (lines_of(folder, 60, *element) for element in (["plan"], ["apply", "--yes"]))
    (folder / "slo.yaml").write_text(WRONG, encoding="utf-8")
    complaints = lines_of(folder, 60, "validate")

    for line in (*plan, *refused, *complaints):
        # The digest is one word.
        assert len(line) <= 60 or line.startswith("Digest sha256:"), line
    assert any(line.endswith("[slo-target-lowered]") for line in refused)


def test_what_was_long_at_60_columns(folder: Path) -> None:
    """At 60 columns a refusal, the state of all checks and the runs are whole, and fit."""
    declined = on_terminal(["apply"], folder, width=60, typed="no\n").terminal
    checks, runs = (
        lines_of(folder, 60, *element) for element in (["doctor"], ["journal", "history"])
    )

    for line in (*_settled(declined).split("\n"), *checks, *runs):
        # A digest and a path are one word.
        assert len(line) <= 60 or "sha256:" in line or len(line.split()) == 1, line
    assert "1 written" in " ".join(runs)
    assert re.search(r"\d entries", " ".join(" ".join(checks).split()))


def test_nothing_of_a_run_is_cut() -> None:
    """However long actor, commit and reason are, 60 columns show what became of each run."""
    run = RunSummary(
        entry=RunEntry(
            run="1",
            at="2026-01-31T09:00:00Z",
            command="apply",
            actor="someone-with-a-long-name",
            commit="0123456789abcdef-dirty",
            digest="",
            outcomes={"written": 6, "refused": 2},
        )
    )
    shown = history_text([run], None, Style(width=60, terminal=True)).splitlines()

    assert shown[2] == "  6 written, 2 refused"
    assert all(len(line) <= 60 for line in shown)


def test_wide_terminals(folder: Path) -> None:
    """At 200 columns a sentence is one line, and so is each line of a command's help."""
    refused = lines_of(folder, 200, "apply", "--yes")
    (folder / "slo.yaml").write_text(WRONG, encoding="utf-8")
    complaints, told = (
        lines_of(folder, 200, *element) for element in (["validate"], ["apply", "--help"])
    )

    assert sum(line.startswith("  - ") for line in refused) == len(refused) - 3
    assert len(complaints[0]) > 100
    assert any(len(line) > 100 for line in told)
