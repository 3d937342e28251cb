"""What was tried from outside and did not hold: each has its row, its commit and its laws."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from test_house import python_files, syntax
from write_promises import OPEN, PROMISES

PAGE = Path(__file__).parent.parent / "docs" / "reliability.md"
ROW = re.compile(
    r"^\| ([PS]\d+) \| (.+) \| ([0-9a-f, ]+|not yet) \| `pytest --promise ([PS]\d+)` \|$",
    re.MULTILINE,
)


def marked() -> set[str]:
    """Give the promises that some test is marked as a law of."""
    return {
        argument.value
        for file in python_files("tests")
        for call in ast.walk(syntax(file))
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "pytest.mark.promise"
        for argument in call.args
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    }


def test_every_promise_has_a_law() -> None:
    """Each promise that is held has at least one test that is its law, and no other has one."""
    assert marked() == set(PROMISES) - OPEN


def test_every_promise_has_a_row() -> None:
    """docs/reliability.md has each promise, the commits that closed it and how to try it."""
    rows = ROW.findall(PAGE.read_text("utf-8"))

    assert [name for name, *_ in rows] == list(PROMISES)
    assert [(said, tried) for _, said, _, tried in rows] == [
        (said, name) for name, said in PROMISES.items()
    ]
