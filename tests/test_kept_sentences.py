"""Where sentences stand that people read: in golden files, and not in the code of tests."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest
from harness.golden import file_of, parts_of

TESTS = Path(__file__).parent
FILES = sorted(TESTS.rglob("test_*.py"))
KEPT = sorted(TESTS.rglob("said/*.txt"))
A_SENTENCE = 4
"""Words from which on a text that is compared with what was printed is a sentence."""

PRINTED = {
    *("out", "err", "stdout", "stderr", "terminal", "log", "summary", "output"),
    *("message", "said", "why", "words", "text", "told", "printed", "shown"),
    *("page", "line", "lines"),
}
"""What tests call that which the program says."""

DATA = {
    "test_docs.py": 1,
    # What a test itself, or a page of the docs, gave as a reason, a name or a comment.
    "guards/test_settings.py": 1,
    "workspace/test_written_ids.py": 3,
    "features/rules/test_own_rules.py": 1,
    "report/test_said_by_name.py": 3,
}
"""Assertions that only look so: how many of them there are in a file."""


def text_of(node: ast.expr) -> str:
    """Give a text as it is written, less what is filled in; "" for anything else."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join(
                text_of(value) if isinstance(value, ast.Constant) else " " for value in values
            )
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return text_of(left) + text_of(right)
        case _:
            return ""


def is_sentence(node: ast.expr) -> bool:
    """Tell whether a text has so many words."""
    words = [part for part in text_of(node).split() if any(map(str.isalpha, part))]
    return len(words) >= A_SENTENCE


def is_printed(node: ast.expr) -> bool:
    """Tell whether an expression is called like something that the program says."""
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name in PRINTED
        case ast.Subscript(slice=ast.Constant(value=str(name))):
            return name in PRINTED
        case ast.Call(func=ast.Name(id="str"), args=[ast.Attribute(attr="value")]):
            return True
        case ast.Call(func=ast.Attribute(value=inner)):
            return is_printed(inner)
        case ast.BinOp(left=left, right=right):
            return is_printed(left) and is_printed(right)
        case _:
            return False


def pins_a_sentence(asserted: ast.expr) -> bool:
    """Tell whether an assertion compares a sentence with what was printed."""
    match asserted:
        case ast.Compare(left=one, ops=[ast.In() | ast.Eq()], comparators=[other]):
            return (is_sentence(one) and is_printed(other)) or (
                is_sentence(other) and is_printed(one)
            )
        case ast.Call(func=ast.Attribute(value=one, attr="startswith" | "endswith"), args=[other]):
            return is_sentence(other) and is_printed(one)
        case ast.BoolOp(values=values):
            return any(map(pins_a_sentence, values))
        case _:
            return False


def pinned_in(source: str) -> list[int]:
    """Give the lines of the assertions that pin a sentence."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Assert) and pins_a_sentence(node.test)
    ]


def test_sentences_stand_in_golden_files() -> None:
    """No assertion holds a sentence that is printed: tests assert codes, places and structure."""
    found = {
        str(file.relative_to(TESTS)): pinned_in(file.read_text(encoding="utf-8")) for file in FILES
    }

    counts = Counter({file: len(lines) for file, lines in found.items() if lines})
    assert {file: lines for file, lines in found.items() if len(lines) > DATA.get(file, 0)} == {}
    assert {file: DATA[file] for file in DATA if counts[file] < DATA[file]} == {}


@pytest.mark.parametrize(
    ("asserted", "pins"),
    [
        ('"the plan is not there" in ran.err', True),
        ('ran.out == f"wrote {count} manifests in all"', True),
        ('str(raised.value).endswith("it is not there")', True),
        ('"a" in ran.out and "the plan is not there" in ran.out', True),
        ('found["message"] == ("the plan " + "is not there")', True),
        ('"error[M101]: " in ran.err', False),
        ("ran.code == 11", False),
        ('"the plan is not there" not in ran.err', False),
        ('view["name"] == "a name of four words"', False),
    ],
)
def test_what_counts_as_a_sentence(asserted: str, pins: bool) -> None:
    """A sentence has four words, and counts where it is compared with what was printed."""
    assert bool(pinned_in(f"assert {asserted}")) == pins


@pytest.mark.parametrize("kept", KEPT, ids=lambda file: str(file.relative_to(TESTS)))
def test_no_kept_text_is_left_over(kept: Path) -> None:
    """Each text in a golden file belongs to a test that is there."""
    tests = kept.parent.parent / f"test_{kept.stem}.py"
    names = {
        node.name
        for node in ast.parse(tests.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef)
    }

    assert file_of(tests) == kept
    assert {part.partition("[")[0].partition(" ")[0] for part in parts_of(kept)} <= names
