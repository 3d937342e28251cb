"""The one layout of YAML and JSON: what it is, and that it changes nothing but blanks."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from tidied_texts import CASES, drawn_text, layout_of, wrong_with

from reconciler.syntax.read_text import read_text

ROOT = Path(__file__).parents[2]
EXAMPLES = [
    *sorted((ROOT / "examples").rglob("*.yaml")),
    *sorted((ROOT / "examples").rglob("*.json")),
    *sorted((ROOT / "reconciler/operations/template").rglob("*.yaml")),
]


UNTIDY = """\
# yaml-language-server: $schema=x
kind: SLO
# who
metadata: {}
forEach: []
apiVersion: reconciler/v1 # which

# what
spec: {b: 1, a: 2}
# end
"""
TIDY = """\
# yaml-language-server: $schema=x
apiVersion: reconciler/v1 # which
kind: SLO
forEach: []
# who
metadata: {}

# what
spec: {b: 1, a: 2}
# end
"""
SLO = '{\n  "apiVersion": "reconciler/v1",\n  "kind": "SLO"\n}\n'


def test_nothing_is_lost() -> None:
    """A layout says the same, keeps comments and anchors in their order, and is its own."""
    drawn = (drawn_text(Random(number)) for number in range(CASES))  # noqa: S311 - repeatable
    wrong = [wrong_with(text, is_json=is_json) for text, is_json in drawn]

    assert [text for text in wrong if text] == []


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda one: one.name)
def test_examples_are_laid_out(file: Path) -> None:
    """What a person is shown stands in the one layout."""
    text = file.read_text(encoding="utf-8")

    assert layout_of(text, is_json=file.suffix == ".json") == text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a:\n    b:   1\n", "a:\n  b: 1\n"),
        ("a:\n- 1\n-   b: 2\n    c: 3\n", "a:\n  - 1\n  - b: 2\n    c: 3\n"),
        ("-   - 1\n    - 2\n", "- - 1\n  - 2\n"),
        ("a: {b:   1,c: [ 2,3, ]}\n", "a: {b: 1, c: [2, 3]}\n"),
        ("a: [1,\n 2]\n", "a: [\n    1,\n    2\n  ]\n"),
        ("a: 1   # why\n# next\nb: 2\n", "a: 1   # why\n# next\nb: 2\n"),
        ("a:\n    # in it\n    b: 1\n  # below\nc: 2\n", "a:\n  # in it\n  b: 1\n# below\nc: 2\n"),
        ("a:\n    b: 1\n    # last of a\nc: 2\n", "a:\n  b: 1\n  # last of a\nc: 2\n"),
        ("a:\n    # not yet\nb: 1\n", "a:\n  # not yet\nb: 1\n"),
        ("\n\na: 1\n\n\n\nb: 2\n\n\n", "a: 1\n\nb: 2\n"),
        ("a: 1.10\nb: 'on'\nc: \"12:30\"\nd: on\n", "a: 1.10\nb: 'on'\nc: \"12:30\"\nd: on\n"),
        ("a: |\n      x\n        y\n", "a: |\n  x\n    y\n"),
        ("a: |6\n        x\n      y\n", "a: |2\n    x\n  y\n"),
        ("a: |+\n    x\n\n\n", "a: |+\n  x\n\n\n"),
        ("a: |\n    x", "a: |-\n  x\n"),
        ('a: "x\n      y  \n\n      z"\n', 'a: "x\n  y\n\n  z"\n'),
        ("a:\n    long words\n    go on\n", "a:\n  long words\n  go on\n"),
        ("a: {b # why\n}\n", "a: {\n    b # why\n  }\n"),
        ("a: {b:  # why\n, c}\n", "a: {\n    b,  # why\n    c\n  }\n"),
        ("a: [b # why\n, ? c # d\n]\n", "a: [\n    b, # why\n    {\n      c # d\n    }\n  ]\n"),
        ("a: {x\u3000: y\u00a0}\nb: \u00a0\n", "a: {x\u3000: y\u00a0}\nb: \u00a0\n"),
        ("a: x # why\u00a0\n", "a: x # why\u00a0\n"),
        ("a: &x\n   b: 1\nc: *x\n", "a: &x\n  b: 1\nc: *x\n"),
        ("a: ${var:b}\nc: ${ref:SLO/d}\n", "a: ${var:b}\nc: ${ref:SLO/d}\n"),
        ("---\n\na: 1\n\n---\n\nb: 2\n...\n", "---\na: 1\n---\nb: 2\n"),
        ("a: 1\r\nb:\r\n- 2\r\n", "a: 1\r\nb:\r\n  - 2\r\n"),
        ("a: 1\t# a tab\tin it\t\n", "a: 1  # a tab\tin it\n"),
        (UNTIDY, TIDY),
        ("spec: 1\nmetadata: 2\n", "spec: 1\nmetadata: 2\n"),
    ],
)  # fmt: skip
def test_yaml(before: str, after: str) -> None:
    """Each of these is laid out so."""
    assert layout_of(before) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"a":1e3,"b":[1.0,1234567890123456],"c":"é\\u00e9"}', None),
        ('{\n"a": {"b":1}, "c": []}', '{\n  "a": {"b": 1},\n  "c": []\n}\n'),
        ("[\n1,\n[2,\n3]]\n", "[\n  1,\n  [\n    2,\n    3\n  ]\n]\n"),
        ('{"a": "' + "x" * 100 + '"}', '{\n  "a": "' + "x" * 100 + '"\n}\n'),
        ('{"kind": "SLO",\n"apiVersion": "reconciler/v1"}', SLO),
    ],
)  # fmt: skip
def test_json(before: str, after: str | None) -> None:
    """Numbers and texts stay as they are spelled, and what fits on a line and stood on one does."""
    spelled = '{"a": 1e3, "b": [1.0, 1234567890123456], "c": "é\\u00e9"}\n'

    assert layout_of(before, is_json=True) == (after or spelled)


def test_what_cannot_be_laid_out() -> None:
    """A text that would say something else is refused, not changed."""
    for text in ("\ufeffkind: SLO\n", "a: 1\n---\n\ufeffkind: SLO\n"):
        assert not read_text(text).has_errors
        assert layout_of(text) is None
