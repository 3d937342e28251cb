"""The plan of the examples after one change, in each format, as the documentation shows it."""

from __future__ import annotations

from pathlib import Path

import pytest
from example_change import SUFFIXES, example_reports
from html_reading import Reader

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return example_reports(tmp_path_factory.mktemp("example"))


@pytest.mark.parametrize("form", SUFFIXES)
def test_what_a_reader_gets(reports: dict[str, str], form: str) -> None:
    """Each report is the one that was looked at and found good."""
    golden = (GOLDEN / f"example{SUFFIXES[form]}").read_text(encoding="utf-8")

    assert reports[form] == golden


def test_all_three_pictures(reports: dict[str, str]) -> None:
    """The example has a grid before and after, an order of policies, and a scale of nines."""
    reader = Reader(reports["html"])

    labels = [
        value for tag, name, value in reader.attributes if (tag, name) == ("svg", "aria-label")
    ]
    assert [label.split(".")[0].split(" ")[0] for label in labels] == [
        "Target",
        "Grid",
        "Grid",
        "5",
    ]


def test_no_path_into_a_list(reports: dict[str, str]) -> None:
    """No report calls a widget by its number in a list of lists."""
    for form in ("text", "markdown"):
        assert "sections[" not in reports[form]
        assert "widgets[" not in reports[form]
        assert 'widget "Orders a minute"' in reports[form]
