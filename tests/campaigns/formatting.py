"""Random texts in every style, laid out anew: nothing is lost, moved or said another way."""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

from stage import Stage, Tally

sys.path.append(str(Path(__file__).parent.parent / "workspace"))

from tidied_texts import drawn_text, layout_of, wrong_with


def format_texts(stage: Stage, count: int, seed: int) -> Tally:
    """Lay out `count` texts."""
    del stage
    tally = Tally()
    for number in range(count):
        text, is_json = drawn_text(Random(seed * 10_000_000 + number))  # noqa: S311 - repeatable
        tally.counts["cases"] += 1
        tally.counts["JSON"] += is_json
        tally.counts["with comments"] += "#" in text
        tally.counts["changed"] += layout_of(text, is_json=is_json) != text
        wrong = wrong_with(text, is_json=is_json)
        if wrong:
            tally.fail("layout", f"text {number}: {wrong}")
    return tally
