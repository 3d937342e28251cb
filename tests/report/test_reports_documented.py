"""docs/reports.md says which formats there are, and shows pictures that are there and small."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from reconciler.cli.drift import drift
from reconciler.cli.plan import plan

DOCS = Path(__file__).parent.parent.parent / "docs"
LARGEST_PICTURE = 150_000


@pytest.mark.parametrize("command", [plan, drift], ids=["plan", "drift"])
def test_formats_are_documented(command: click.Command) -> None:
    """The page names the formats of each command, all of them and no others."""
    text = (DOCS / "reports.md").read_text(encoding="utf-8")
    (form,) = [param for param in command.params if param.name == "form"]
    assert isinstance(form.type, click.Choice)

    (row,) = re.findall(rf"^\| `{command.name}` \| (.*) \|$", text, re.MULTILINE)
    assert re.findall("`([a-z]+)`", row) == list(form.type.choices)


def test_pictures_are_small() -> None:
    """Each picture of the page is there, and loads at once."""
    text = (DOCS / "reports.md").read_text(encoding="utf-8")

    pictures = [DOCS / name for name in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", text)]
    assert len(pictures) >= 3
    assert [file for file in pictures if file.stat().st_size > LARGEST_PICTURE] == []
