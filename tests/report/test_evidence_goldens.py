"""What is said of noise, of a journal and of a freeze reads to the letter as its golden text."""

from __future__ import annotations

from pathlib import Path

import pytest
from sample_evidence import reports

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("name", reports())
def test_golden(name: str) -> None:
    """Each report reads as its golden file."""
    assert reports()[name] == (GOLDEN / name).read_text(encoding="utf-8")


def test_room_of_many_records() -> None:
    """Track records beyond the room of a comment are counted, and it stays in its budget."""
    text = reports()["plan-many-records.md"]

    assert len(text.encode()) <= 20_000
    assert "and 10 more" in text
