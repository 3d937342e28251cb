"""The syntax of `${...}`, which stands in one file."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
from harness.workspaces import Workspace
from hypothesis import given, settings
from hypothesis import strategies as st
from wrong import FILE, PROJECT, slo

from reconciler.syntax.expressions import (
    LITERAL,
    OPEN,
    Expression,
    ExpressionKind,
    Malformed,
    NearMiss,
    Spot,
    expression,
    form_of,
    parts_of,
    secrets_in,
)
from reconciler.syntax.parsed_text import Document
from reconciler.syntax.read_text import read_text

ROOT = Path(__file__).parents[2]
OWN = ROOT / "reconciler" / "syntax" / "expressions.py"
OF_OTHERS = ROOT / "reconciler" / "queries" / "__init__.py"

PIECES = ("${", "$${", "$", "{", "}", ":", ".", " ", "var", "Var", "vars", "secret", "ref", "env")
texts = st.lists(st.one_of(st.sampled_from((*PIECES, "SLO/x", "\n")), st.text(max_size=3))).map(
    "".join
)


def spelled(part: str | Expression | Malformed | NearMiss) -> str:
    return part if isinstance(part, str) else part.spot.written


@given(texts)
@settings(max_examples=300)
def test_the_pieces_are_the_text(text: str) -> None:
    """The pieces of any text without an escape, side by side, are that text."""
    plain = text
    while LITERAL in plain:
        plain = plain.replace(LITERAL, OPEN)

    assert "".join(map(spelled, parts_of(plain))) == plain


@given(texts)
@settings(max_examples=300)
def test_what_was_meant_is_an_expression(text: str) -> None:
    """What is offered instead of a near miss is itself an expression, and nothing else."""
    for part in parts_of(text):
        if isinstance(part, NearMiss):
            (_, found, _) = parts_of(part.meant)
            assert isinstance(found, Expression)
            assert part.meant == found.spot.written


@given(texts)
def test_an_escaped_text_holds_no_expression(text: str) -> None:
    """What has `$${` for each `${` is text, and gives the text that was escaped."""
    escaped = text.replace(LITERAL, "").replace(OPEN, LITERAL)

    assert "".join(map(spelled, parts_of(escaped))) == text.replace(LITERAL, "")


@pytest.mark.promise("P36")
@pytest.mark.parametrize(
    ("near", "meant"),
    [
        ("${vars:x}", "${var:x}"),
        ("${Var:team}", "${var:team}"),
        ("${VAR:team}", "${var:team}"),
        ("${ var:team }", "${var:team}"),
        ("${var :team}", "${var:team}"),
        ("${variable:team}", "${var:team}"),
        ("${secrets:TOKEN}", "${secret:TOKEN}"),
        ("${secert:TOKEN}", "${secret:TOKEN}"),
        ("${env:HOME}", "${secret:HOME}"),
        ("${Ref:SLO/checkout}", "${ref:SLO/checkout}"),
        ("${refs:SLO/checkout}", "${ref:SLO/checkout}"),
    ],
)
def test_a_near_miss(near: str, meant: str, tmp_path: Path) -> None:
    """A near miss of an expression is an error that says what to write, and `$${` for text."""
    workspace = Workspace(tmp_path)
    workspace.write("reconciler.yaml", PROJECT)
    workspace.write(FILE, slo(f'description: "by {near}"'))

    ran = workspace.run("validate", "--format", "json")
    (complaint,) = ran.json["complaints"]
    workspace.write(FILE, slo(f'description: "by ${near}"'))
    escaped = workspace.run("validate")

    assert ran.code == 4
    assert (complaint["code"], complaint["severity"]) == ("M504", "error")
    assert complaint["suggestion"] == meant
    assert f"`${near}`" in complaint["message"]
    assert escaped.code == 0


@pytest.mark.promise("P36")
@pytest.mark.parametrize("near", ["${var.team}", "${secret.TOKEN}", "${Var.team}"])
def test_a_form_of_other_tools(near: str) -> None:
    """A dot for the colon is only doubtful: templates read fields so."""
    (_, found, _) = parts_of(near)

    assert isinstance(found, NearMiss)
    assert not found.sure


STYLES = ("plain", "single", "double", "literal", "folded")
WORDS = st.sampled_from(("by", "of team", "it's", '"so"', "$$", "$${var:x}", "x", "é"))
SIGNS = st.sampled_from(("${var:x}", "${var:y}", "${vars:x}", "${ref:SLO/a}"))
LINES = st.lists(st.one_of(WORDS, SIGNS), min_size=1, max_size=8).map(" ".join)


def document_of(text: str, style: str) -> Document:
    """Give a mapping that holds a text in a style of YAML, among others."""
    indented = text.replace("\n", "\n    ")
    scalar = {
        "plain": text,
        "single": "'" + text.replace("'", "''") + "'",
        "double": json.dumps(text, ensure_ascii=False),
        "literal": f"|-\n    {indented}",
        "folded": f">-\n    {indented}",
    }[style]
    comment = "" if style in ("literal", "folded") else f" # {text.splitlines()[0]}"
    (document,) = read_text(f"a: 1\nb:\n  c: {scalar}{comment}\n  d: 2 # {text!r}\n").documents
    return document


@pytest.mark.promise("P40")
@pytest.mark.parametrize("style", STYLES)
@given(lines=st.lists(LINES.map(lambda line: f"at {line}"), min_size=1, max_size=3))
def test_an_expression_is_found_in_the_file(style: str, lines: list[str]) -> None:
    """The place of an expression is where it stands in the file, in any style of YAML."""
    text = "\n".join(lines) if style in ("literal", "double") else lines[0]
    document = document_of(text, style)
    assert document.value == {"a": 1, "b": {"c": text, "d": 2}}

    found = [part for part in parts_of(text) if not isinstance(part, str)]
    places = [document.locate_spot(("b", "c"), part.spot) for part in found]

    assert places == sorted(set(places))
    for part, (line, column) in zip(found, places, strict=True):
        assert document.lines.line(line)[column - 1 :].startswith(part.spot.written)


@pytest.mark.promise("P40")
@pytest.mark.parametrize(
    ("source", "column"),
    [
        ('a: "\\u0024{var:x}" # ${var:x}', 4),
        ("a: plain # ${var:x}", 4),
        ("a: it's # ${var:x}", 4),
        ("a: &b plain # ${var:x}", 4),
        ("{a: plain, b: '${var:x}'}", 5),
    ],
)
def test_what_is_not_in_the_text_is_not_found(source: str, column: int) -> None:
    """A comment or another value is never taken for the text; then the text's start is told."""
    reading = read_text(source)
    document = (
        reading.documents[0] if reading.documents else read_text("a: '${var:x}'").documents[0]
    )

    assert document.locate_spot(("a",), Spot("${var:x}", 0)) == (1, column)


def test_a_text_behind_an_alias() -> None:
    """Of a text that an alias stands for, the alias is the place."""
    (document,) = read_text("a: &t by ${var:x}\nb: *t # ${var:x}\n").documents

    assert document.locate_spot(("b",), Spot("${var:x}", 0)) == (2, 4)


def test_far_down_a_text_the_value_is_the_place() -> None:
    """Beyond some thousands of characters the text that holds an expression is its place."""
    (*_, last, _) = parts_of("x" * 10_000 + "${var:x}")

    assert isinstance(last, Expression)
    assert last.spot.nth == -1
    (document,) = read_text(f"a: {'x' * 10_000}${{var:x}}\n").documents
    assert document.locate_spot(("a",), last.spot) == (1, 4)


@pytest.mark.promise("P55")
@pytest.mark.parametrize(
    "source",
    [
        "a: ${secret:TOKEN}",
        'a: "\\u0024{secret:TOKEN}"',
        'a: "\\x24\\x7bsecret:TOKEN}"',
        '{"a": "$\\u007bsecret:\\u0054OKEN}"}',
        "a: [ # not YAML\n${secret:TOKEN}",
    ],
)
def test_secrets_are_found_in_any_spelling(source: str) -> None:
    """The scan for secrets finds the names that the reader of manifests would."""
    assert secrets_in(source) == {"TOKEN"}


@pytest.mark.promise("P55")
def test_the_syntax_stands_in_one_file() -> None:
    """No other file of ours holds a pattern or a piece of the syntax of expressions."""
    holding = [
        f"{file.relative_to(ROOT)}:{node.lineno} {node.value!r}"
        for file in sorted((ROOT / "reconciler").rglob("*.py"))
        # What other tools write in queries is no expression of ours.
        if file not in (OWN, OF_OTHERS) and "emulator" not in file.parts
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and (node.value.startswith((OPEN, LITERAL)) or r"\$\{" in node.value)
    ]

    assert holding == []


@pytest.mark.promise("P55")
@pytest.mark.parametrize("word", ExpressionKind)
def test_every_word_has_all_of_it(word: ExpressionKind) -> None:
    """Each expression has a form, is read, is offered to editors, and is in the docs."""
    name = "SLO/x" if word is ExpressionKind.REFERENCE else "TOKEN"

    (_, found, _) = parts_of(expression(word, name))

    assert found == Expression(word, name, Spot(expression(word, name), 0))
    assert f"`{form_of(word)}`" in (ROOT / "docs" / "manifests.md").read_text(encoding="utf-8")
