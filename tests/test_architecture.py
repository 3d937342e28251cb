"""docs/architecture.md shows the floors as they are, and the way of a real plan."""

from __future__ import annotations

import re

from measure_house import PAGE, PLAN, House, between, map_of_floors


def test_the_way_of_a_plan() -> None:
    """Each file that the page names on the way of a plan runs in a real one."""
    part = PAGE.read_text("utf-8").split("## How a plan comes about")[1].split("## ")[0]
    named = re.findall(r"^\| \d+ \| `([^`]+)`", part, re.MULTILINE)

    files = House().flow_of(*PLAN).files
    assert len(named) == 14
    assert [name for name in named if f"reconciler/{name}" not in files] == []


def test_the_map_is_the_tree() -> None:
    """The table of floors has each module and package, with its own first sentence."""
    text = PAGE.read_text("utf-8")

    assert text == between(text, "floors", map_of_floors())
