"""How much is done to find the ids of large dashboards. Steps are counted, not time."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from boards import board

from reconciler.document import Json
from reconciler.kinds.dashboard.items import with_nested_ids

FEW, MANY = 60, 240
SLACK = 1.5
"""What n log n may cost beyond n, and what small dashboards save."""


def rows_of(titles: Callable[[int], str], number: int, of: int) -> str:
    """Draw widgets in rows of so many."""
    return " / ".join(
        " ".join(titles(index) for index in range(start, min(start + of, number)))
        for start in range(0, number, of)
    )


def retitled(number: int) -> tuple[str, str]:
    """Give every widget another title."""
    return rows_of("w{}".format, number, 6), rows_of("w{0}:x{0}".format, number, 6)


def shuffled(number: int) -> tuple[str, str]:
    """Turn all round, with one title for all."""
    turned = rows_of(lambda index: f"w{number - 1 - index}:x", number, 6)
    return rows_of("w{}".format, number, 6), turned


def copies(number: int) -> tuple[str, str]:
    """Delete the first of many that are the same."""
    return rows_of(lambda _: "w", number, number), rows_of(lambda _: "w", number - 1, number)


def copies_retitled(number: int) -> tuple[str, str]:
    """Give a title to each of many that are the same, and one more in front."""
    return rows_of(lambda _: "w", number, number), rows_of("w:x{}".format, number + 1, number + 1)


def replaced(number: int) -> tuple[str, str]:
    """Put others in the place of all."""
    return rows_of("w{}".format, number, number), rows_of("v{}".format, number, number)


def body_of(drawn: str) -> dict[str, Json]:
    """Give the dashboard of a drawing."""
    body: Any = board(drawn).spec["dashboard"]
    return dict(body)


def steps(before: str, after: str) -> int:
    """Count the lines that run until the ids are found in the journal's copy and live."""
    written = with_nested_ids(body_of(before), [], {}, "x")
    declared = body_of(after)
    count = 0

    def traced(_: FrameType, event: str, __: object) -> Callable[..., Any]:
        nonlocal count
        count += event == "line"
        return traced

    previous = sys.gettrace()
    sys.settrace(traced)
    try:
        with_nested_ids(declared, [written], written, "x")
    finally:
        sys.settrace(previous)
    return count


@pytest.mark.promise("P14")
@pytest.mark.parametrize("edit", [retitled, shuffled, copies, copies_retitled, replaced])
def test_work_grows_with_the_widgets(edit: Callable[[int], tuple[str, str]]) -> None:
    """Four times the widgets are hardly more than four times the work, whatever was edited."""
    few, many = steps(*edit(FEW)), steps(*edit(MANY))

    assert many < few * MANY / FEW * SLACK
