"""The plan of the examples after one change, in each format, as the documentation shows it."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import pytest
from example_change import HASH, SUFFIXES, example_reports, without_inline
from html_reading import Reader

from reconciler.report.html.page import script, style

pytestmark = pytest.mark.slow

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return example_reports(tmp_path_factory.mktemp("example"))


@pytest.mark.parametrize("form", SUFFIXES)
def test_what_a_reader_gets(reports: dict[str, str], form: str) -> None:
    """Each report is the one that was looked at and found good."""
    golden = (GOLDEN / f"example{SUFFIXES[form]}").read_text(encoding="utf-8")

    assert without_inline(reports[form]) == golden


def test_style_and_script_of_a_page(reports: dict[str, str]) -> None:
    """A page holds our style and script word for word, and its policy allows these two alone."""
    reader = Reader(reports["html"])

    assert ["".join(reader.words[tag]) for tag in ("style", "script")] == [style(), script()]
    assert (reader.tags["style"], reader.tags["script"]) == (1, 1)
    allowed = [b64encode(sha256(text.encode()).digest()).decode() for text in (style(), script())]
    assert HASH.findall(reports["html"]) == [f"sha256-{text}" for text in allowed]


def test_all_three_pictures(reports: dict[str, str]) -> None:
    """The example has a scale of nines for each width, a grid on each side, and an order."""
    reader = Reader(reports["html"])

    labels = [
        value for tag, name, value in reader.attributes if (tag, name) == ("svg", "aria-label")
    ]
    assert [label.split(".")[0].split(" ")[0] for label in labels] == [
        *("Target", "Target"),
        *("Grid", "Grid"),
        "5",
    ]


def test_no_path_into_a_list(reports: dict[str, str]) -> None:
    """No report calls a widget by its number in a list of lists."""
    for form in ("text", "markdown"):
        assert "sections[" not in reports[form]
        assert "widgets[" not in reports[form]
        assert 'widget "Orders a minute"' in reports[form]
