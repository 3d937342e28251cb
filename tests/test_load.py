"""The load on the emulator, small; docs/emulator.md has the figures of the long run."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from benchmarks.load import MOST_CLIENTS, MOST_SECONDS, Figures, main, measure


def test_short_load(tmp_path: Path) -> None:
    """Under load there is no error, and every acknowledged write is there after a restart."""
    figures = asyncio.run(measure(4, 1.0, tmp_path / "load.db"))

    assert (figures.errors, figures.lost) == ([], [])
    assert min(figures.reads, figures.writes, figures.acknowledged) > 0
    assert min(figures.warm_kib, figures.end_kib, figures.bare_rate) > 0
    assert "4 clients for 1 s\n" in figures.text()


@pytest.mark.parametrize(("errors", "lost", "code"), [([], [], 0), (["x"], [], 1), ([], ["x"], 1)])
def test_exit_code(
    monkeypatch: pytest.MonkeyPatch, errors: list[str], lost: list[str], code: int
) -> None:
    """An error or a lost write is exit 1, and whatever is asked for stays within bounds."""
    asked: list[float] = []

    async def measured(count: int, seconds: float, _: Path) -> Figures:
        asked.extend((count, seconds))
        return Figures(count, errors=errors, lost=lost)

    monkeypatch.setattr("benchmarks.load.measure", measured)
    monkeypatch.setattr(sys, "argv", ["load", "--seconds", "1e9", "--clients", "1000000"])

    with pytest.raises(SystemExit) as ended:
        main()

    assert (ended.value.code, asked) == (code, [MOST_CLIENTS, MOST_SECONDS])
