"""Which members of lists only one side of a difference has."""

from __future__ import annotations

import pytest
from random_documents import BOARD

from reconciler.document import (
    ABSENT,
    Difference,
    Json,
    Missing,
    Operation,
    Path,
    Shape,
    members_missing,
)

PAGES = Shape(fields={"pages": Shape(items=BOARD), "names": Shape(items=Shape(numeric_text=True))})
NAMED: Json = [{"id": "x", "rows": [{"id": "r"}]}, {"id": "y"}]
PAGE: Json = {"title": "a", "parts": NAMED, "more": [{"id": "z"}]}


@pytest.mark.parametrize(
    ("path", "before", "after", "operation", "missing"),
    [
        (("pages",), ABSENT, [{}, PAGE], "add", [(1, "parts", "x"), (1, "parts", "y")]),
        (("pages",), [], [PAGE], "change", [(0, "parts", "x"), (0, "parts", "y")]),
        (("pages", 0), ABSENT, PAGE, "add", [("parts", "x"), ("parts", "y")]),
        (("pages", 0, "parts"), [], NAMED, "change", [("x",), ("y",)]),
        (("pages", 0, "parts"), ABSENT, [{"rows": []}, {"id": "y"}], "add", [(0,), (1,)]),
        (("pages", 0, "parts", "x"), ABSENT, {"id": "x"}, "add", [()]),
        (("pages", 0, "parts"), [{"id": "x"}], NAMED, "change", []),
        (("pages", 0, "parts"), NAMED, ABSENT, "remove", []),
        (("pages", 0, "parts", "x"), 0, 1, "move", []),
        (("pages",), ABSENT, 5, "add", []),
        (("pages", 0, "parts"), ABSENT, 5, "add", []),
        (("names",), ABSENT, ["1", "2"], "add", []),
        (("pages", 0, "title"), "", "b", "change", []),
    ],
)
def test_members(
    path: Path,
    before: Json | Missing,
    after: Json | Missing,
    operation: Operation,
    missing: list[Path],
) -> None:
    """The outermost members that are new are told, by name where they have one, and no values."""
    found = members_missing(Difference(path, before, after, operation), PAGES)

    assert list(found) == [(*path, *steps) for steps in missing]


def test_a_whole_document() -> None:
    """Of a whole document that is new the members are told too."""
    whole = Difference((), ABSENT, {"pages": [PAGE]}, "add")

    assert list(members_missing(whole, PAGES)) == [
        ("pages", 0, "parts", "x"),
        ("pages", 0, "parts", "y"),
    ]
