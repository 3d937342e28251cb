"""What is said of noise, of a journal and of a freeze reads to the letter as its golden text."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from sample_evidence import NOISE, reports

from reconciler.features.watch.alert_noise import watched_markdown
from reconciler.model import Ref

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("name", reports())
def test_golden(name: str) -> None:
    """Each report reads as its golden file."""
    assert reports()[name] == (GOLDEN / name).read_text(encoding="utf-8")


def test_room_of_many_records() -> None:
    """Track records beyond five are folded, those beyond its room counted, and it is in budget."""
    text = reports()["plan-many-records.md"]

    assert len(text.encode()) <= 20_000
    assert "and 10 more" in text
    assert text.partition("<summary>and 25 more")[0].count("\n- `AlertDefinition/") == 5


def test_a_name_is_one_cell() -> None:
    """A name with a bar stays in its cell of the table."""
    named = replace(NOISE.alerts[0], ref=Ref("AlertDefinition", "a|b"))

    text = watched_markdown(replace(NOISE, alerts=(named,)), "local")
    (row,) = (line for line in text.splitlines() if line.startswith("|") and "a\\|b" in line)
    assert len(re.split(r"(?<!\\)\|", row)) == 8
