"""docs/architecture.md tells the way of a real run."""

from __future__ import annotations

import re

import pytest
from measure_house import APPLY, PAGE, PLAN, flow_of


def told(mark: str) -> list[str]:
    """Give the files that the page names between two marks."""
    part = PAGE.read_text("utf-8").split(f"<!-- {mark} -->")[1].split(f"<!-- /{mark} -->")[0]
    return [f"reconciler/{name}" for name in re.findall(r"^\d+\. `([^`]+)`", part, re.MULTILINE)]


@pytest.mark.parametrize(("mark", "words"), [("plan", PLAN), ("apply", APPLY)])
def test_the_way_is_told(mark: str, words: tuple[str, ...]) -> None:
    """The files of a run stand in docs/architecture.md, all of them and no other."""
    names, _ = flow_of(*words)

    assert sorted(told(mark)) == sorted(names)
