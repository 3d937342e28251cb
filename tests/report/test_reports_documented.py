"""docs/reports.md shows pictures that are there and small."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parent.parent.parent / "docs"
LARGEST_PICTURE = 150_000


def test_pictures_are_small() -> None:
    """Each picture of the page is there, and loads at once."""
    text = (DOCS / "reports.md").read_text(encoding="utf-8")

    pictures = [DOCS / name for name in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", text)]
    assert len(pictures) >= 3
    assert [file for file in pictures if file.stat().st_size > LARGEST_PICTURE] == []
