"""Edits of documents in their texts: only what changes is written, and every comment stays."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml
from adopted_texts import CASES, case
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reconciler.document import Edit, Gone, ListItem, ListItems, Put, Within
from reconciler.syntax.read_text import read_text
from reconciler.workspace.manifest_edits import Script, text_after

MOST = 1.1


def after(text: str, edit: Edit, *, is_json: bool = False) -> str:
    """Give a text of one document after an edit."""
    script = Script(Path("a"), "a", read_text(text, is_json=is_json), is_json)
    made = text_after(script, {0: edit})
    assert made is not None
    return made[0]


def drawn(number: int) -> Random:
    return Random(number)  # noqa: S311 - repeatable


def test_fewest_lines() -> None:
    """A text says what is meant, keeps all comments, and changes at most 1.1 of the least lines."""
    made = [one for one in (case(drawn(number)) for number in range(CASES)) if one is not None]

    assert [one.wrong for one in made if one.wrong] == []
    assert sum(one.changed for one in made) <= MOST * sum(one.least for one in made)


@pytest.mark.parametrize(
    ("before", "edit", "wanted"),
    [
        ("a: 'x' # why\n", Within({"a": Put("y")}), "a: 'y' # why\n"),
        ('a: "x"\nb: 1\n', Within({"a": Put("y: z")}), 'a: "y: z"\nb: 1\n'),
        ("a: x\n", Within({"a": Put("12")}), 'a: "12"\n'),
        (
            "a: |\n  one\n  two\nb: 1\n",
            Within({"a": Put("one\nthree\n")}),
            "a: |\n  one\n  three\nb: 1\n",
        ),
        (
            "a: >-\n  one two\n  three\n",
            Within({"a": Put("one 2 three")}),
            "a: >-\n  one 2\n  three\n",
        ),
        ("a: one\n  two\nb: 1\n", Within({"a": Put("one 2")}), "a: one\n  2\nb: 1\n"),
        ("a: {b: 1, c: 2}\n", Within({"a": Within({"b": Gone()})}), "a: {c: 2}\n"),
        ("a: {b: 1}\n", Within({"a": Within({"c": Put("x")})}), "a: {b: 1, c: x}\n"),
        ("a:\n    b: 1 # why\nc: 2\n", Within({"a": Put("x")}), "a: x\n# why\nc: 2\n"),
        ("a: 1 # why\n", Within({"a": Put({"b": 2})}), "a: # why\n  b: 2\n"),
        ("a: # why\nb: 1\n", Within({"a": Put("x")}), "a: x # why\nb: 1\n"),
        ("a: 1\r\nb: 2\r\n", Within({"c": Put([1])}), "a: 1\r\nb: 2\r\nc:\r\n  - 1\r\n"),
        ("a: [1, 2]\n", Within({"a": Put([])}), "a: []\n"),
        ("a: &x 1\nb: *x\n", Within({"b": Put(2)}), "a: &x 1\nb: 2\n"),
        ("a: &x 1\nb: *x\n", Within({"a": Put(2)}), "a: 2\nb: &x 1\n"),
        ("a: &x 1\nb: *x\n", Within({"a": Put(2), "b": Put(2)}), "a: &x 2\nb: *x\n"),
        (
            "a:\n  - 1\n  # second\n  - 2\n  - 3\n",
            Within({"a": ListItems((ListItem(("a", 0)), ListItem(("a", 2)), ListItem(("a", 1))))}),
            "a:\n  - 1\n  - 3\n  # second\n  - 2\n",
        ),
        (
            "a:\n- 1 # one\n- 2\n",
            Within({"a": ListItems((ListItem(("a", 1)), ListItem(None, Put({"x": 1, "y": [1]}))))}),
            "a:\n# one\n- 2\n- x: 1\n  y:\n  - 1\n",
        ),
        (
            "a:\n  - b:\n      - 1\nc:\n  - 2\n",
            Within({"a": ListItems((ListItem(("a", 0)), ListItem(("c", 0)))), "c": ListItems(())}),
            "a:\n  - b:\n      - 1\n  - 2\nc: []\n",
        ),
        (
            "a: [] # none\nb:\n  # first\n  - c: 1 # why\n  - 2\n",
            Within({"a": ListItems((ListItem(("b", 0)),)), "b": ListItems((ListItem(("b", 1)),))}),
            "a: # none\n  # first\n  - c: 1 # why\nb:\n  - 2\n",
        ),
        (
            "a:\n  b: []\nc:\n- d: |\n    e\n  f: 1 # why\n- 2\n",
            Within(
                {
                    "a": Within({"b": ListItems((ListItem(None, Put(3)), ListItem(("c", 0))))}),
                    "c": ListItems((ListItem(("c", 1)),)),
                }
            ),
            "a:\n  b:\n  - 3\n  - d: |\n      e\n    f: 1 # why\nc:\n- 2\n",
        ),
        (
            "a: [1, 2, 3]\nb: [4, 5]\n",
            Within(
                {
                    "a": ListItems(
                        (
                            ListItem(("b", 0)),
                            ListItem(("a", 1)),
                            ListItem(("a", 2)),
                            ListItem(("a", 0)),
                        )
                    ),
                    "b": ListItems((ListItem(("b", 1)),)),
                }
            ),
            "a: [4, 2, 3, 1]\nb: [5]\n",
        ),
        (
            "a: {\n  b: 1, # one\n  c: 2\n}\n",
            Within({"a": Within({"c": Gone(), "d": Put(3)})}),
            "a: {\n  b: 1, # one\n  d: 3\n}\n",
        ),
        (
            "a: {\n  e: {\n    # why\n    b: 1, # one\n    c: 2\n  }\n}\n",
            Within({"a": Within({"e": Within({"b": Gone(), "c": Gone(), "d": Put(3)})})}),
            "a: {\n  e: {\n    # why\n    # one\n    d: 3\n  }\n}\n",
        ),
    ],
)
def test_one_edit(before: str, edit: Edit, wanted: str) -> None:
    """An edit reads as a careful person would have made it."""
    assert after(before, edit) == wanted


SHARED = "a: &q   # shared\n  x: 1\nb: *q\n"


@pytest.mark.promise("S62")
@pytest.mark.parametrize(
    ("before", "edit", "wanted"),
    [
        (SHARED, {"a": Put({"x": 2})}, "a:   # shared\n  x: 2\nb: &q\n  x: 1\n"),
        (SHARED, {"b": Put({"x": 2})}, "a: &q   # shared\n  x: 1\nb:\n  x: 2\n"),
        (
            SHARED,
            {"a": Put({"x": 2}), "b": Put({"x": 3})},
            "a:   # shared\n  x: 2\nb: &q\n  x: 3\n",
        ),
        (
            "a: &q # one\n  # two\n  - x\n  - y\nb: *q\n",
            {"a": Put(["z"])},
            "a: # one\n  # two\n  - z\nb: &q\n  - x\n  - y\n",
        ),
        ("a: &q # c\n  text\nb: *q\n", {"a": Put("new")}, "a: new # c\nb: &q text\n"),
        (
            "a: &q | # c\n  text\nb: *q\n",
            {"a": Put({"x": 2})},
            "a: # c\n  x: 2\nb: &q |\n  text\n",
        ),
        (
            "a:\n  - &q # c\n    x: 1\nb: *q\n",
            {"a": Put([{"x": 2}])},
            "a:\n  - # c\n    x: 2\nb: &q\n  x: 1\n",
        ),
    ],
)
def test_comments_after_an_anchor(before: str, edit: Any, wanted: str) -> None:
    """An alias is written out, whichever side differs, with a comment behind the anchor too."""
    assert after(before, Within(edit)) == wanted


lines_of_blocks = st.from_regex(r"[ a:#'-]{0,3}b", fullmatch=True)


@pytest.mark.promise("S57")
@pytest.mark.parametrize("head", ["a: |2  # why\n", "a:\n- |2-\n"])
@given(
    lines=st.lists(lines_of_blocks | st.just(""), min_size=2).filter(lambda own: own[-1]),
    data=st.data(),
)
def test_blocks_stay_blocks(head: str, lines: list[str], data: st.DataObject) -> None:
    """Of a literal block with leading blanks only the line that another text has is changed."""
    nth = data.draw(st.integers(0, len(lines) - 1))
    edited = [*lines]
    edited[nth] = data.draw(lines_of_blocks)
    ending = "" if "-" in head else "\n"
    text, wanted = (
        head + "".join(f"  {line}\n" if line else "\n" for line in own) for own in (lines, edited)
    )
    block = "\n".join(edited) + ending

    edit: Edit = ListItems((ListItem(("a", 0), Put(block)),)) if "-" in head else Put(block)
    assert after(text, Within({"a": edit})) == wanted


@pytest.mark.promise("S57")
@pytest.mark.parametrize(
    ("before", "new", "wanted"),
    [
        ("a: |  # why\n  one\n  two\n", "  one\ntwo\n", "a: |2  # why\n    one\n  two\n"),
        ("a: |4\n      one\n    two\n", " one", "a: |4-\n     one\n"),
        ("a: |-\n\n  one\n  two\n", "\none\n2", "a: |-\n\n  one\n  2\n"),
        ("a: |\n            one\n            two\n", " one\n", "a: |9\n          one\n"),
    ],
)
def test_blocks_with_another_beginning(before: str, new: str, wanted: str) -> None:
    """A block that begins with blanks only now gets the indentation that it needs."""
    assert after(before, Within({"a": Put(new)})) == wanted


@pytest.mark.parametrize(
    ("before", "edit", "wanted"),
    [
        ('{\n\t"a": 1,\n\t"b": [1, 2]\n}', {"a": Put(2)}, '{\n\t"a": 2,\n\t"b": [1, 2]\n}'),
        ('{"a":1,"b":2}\n', {"c": Put({"d": [1]})}, '{"a":1,"b":2,"c":{"d":[1]}}\n'),
        (
            '{\r\n  "a": 1\r\n}\r\n',
            {"b": Put([1])},
            '{\r\n  "a": 1,\r\n  "b": [\r\n    1\r\n  ]\r\n}\r\n',
        ),
        ('{"a": "\\u00e9"}', {"a": Put("ü")}, '{"a": "\\u00fc"}'),
        ('{\n  "a": 1,\n  "b": 2\n}\n', {"b": Gone()}, '{\n  "a": 1\n}\n'),
    ],
)
def test_json_keeps_its_layout(before: str, edit: Any, wanted: str) -> None:
    """JSON stays JSON: indentation, separators, escapes, line breaks and the end of the file."""
    assert after(before, Within(edit), is_json=True) == wanted


def test_other_documents_stay() -> None:
    """Of a file with several documents only the edited one changes."""
    text = "a: 1\n---\na: 1 # second\n---\n# third\na: 1\n"
    script = Script(Path("a"), "a", read_text(text), is_json=False)

    made = text_after(script, {1: Within({"a": Put(2)})})

    assert made is not None
    assert made[0] == "a: 1\n---\na: 2 # second\n---\n# third\na: 1\n"


def test_an_edit_that_does_not_fit_is_refused() -> None:
    """What cannot be written is no text at all, and never another one."""
    script = Script(Path("a"), "a", read_text("a: 1\n"), is_json=False)

    assert text_after(script, {0: Within({"a": Within({"b": Put(1)})})}) is None
    assert text_after(script, {0: Put({"b": 1})}) is None


@pytest.mark.parametrize(
    "text", ["<<", "=", "on", "0?", "a?b", "]#", "No", "12:30", "2024-01-01", "1_000", "~", ".5"]
)
def test_other_readers_read_the_same(text: str) -> None:
    """What YAML 1.1 takes for something else stands in quotes, so that each tool reads a text."""
    made = after("a: x\nb: [c]\n", Within({"a": Put(text), "b": Put([text])}))

    assert yaml.safe_load(made) == {"a": text, "b": [text]}


ANY = st.characters(
    codec="utf-8",
    exclude_categories=["Cc", "Cf", "Zl", "Zp"],
    exclude_characters="\ufffe\uffff",
)
"""What may stand in a manifest, and some more."""


@given(st.text(ANY))
@example("\u2003")
@example("\u202f7")
@example("5\xa0")
@settings(deadline=None)
def test_any_text_is_read_the_same(text: str) -> None:
    """Whatever text comes into a plain field or list, both readers give it back."""
    made = after("a: x\nb: [c]\n", Within({"a": Put(text), "b": Put([text])}))

    assert yaml.safe_load(made) == {"a": text, "b": [text]} == read_text(made).documents[0].value
