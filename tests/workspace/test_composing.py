"""New manifests as text: what is written is read back as it is, and people can read it."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reconciler.document import Json, Path, identical
from reconciler.syntax.expressions import escaped, parts_of
from reconciler.syntax.read_text import read_text
from reconciler.workspace.compose import UnwritableError, check_writable, composed_json, laid_out

SIGNS = "ab \n\t'\"#:-{}[],&*!|>%@`$~\\?=<.0159eExo_/\ré\u200b\u200d\ufeff\u2028\u202e\u05e9\u00a0"
texts = st.one_of(
    st.text(SIGNS, max_size=12),
    st.text(max_size=8),
    st.sampled_from(["true", "No", "1:30", "012", "1e21", "2025-01-31", "- x", "a: b", "$${", ""]),
)
values: st.SearchStrategy[Json] = st.recursive(
    texts
    | st.booleans()
    | st.none()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=15,
)
documents = st.dictionaries(texts, values, min_size=1, max_size=4)


def composed(document: dict[str, Json], comments: dict[Path, str] | None = None) -> str:
    """Check and lay out a document as drafts of manifests are."""
    check_writable(document)
    return laid_out(document, comments or {})


@given(documents)
@example({"a": [[[{}], []], "x\n\n", " y\nz ", {"b": ["\n"]}]})
def test_read_back(document: dict[str, Json]) -> None:
    """What is written without an error is read without one, and is the same document."""
    try:
        text = composed(document)
    except UnwritableError:
        return
    reading = read_text(text, is_json=False)

    assert not reading.flaws, text
    assert identical(reading.documents[0].value, document), text


@given(documents)
def test_json_read_back(document: dict[str, Json]) -> None:
    """The same holds of JSON."""
    try:
        text = composed_json(document)
    except UnwritableError:
        return
    reading = read_text(text, is_json=True)

    assert not reading.flaws, text
    assert identical(reading.documents[0].value, document), text


@pytest.mark.parametrize(
    "value",
    [
        "\x00",
        "\x1b[31m",
        "\x85",
        "\ud800",
        "\uffff",
        "\u202e\r",
        float("nan"),
        float("inf"),
        2**53 + 1,
        "x" * 2_000_000,
        {"k" * 600: 1},
        {"\u202e": 1},
    ],
)
def test_unwritable(value: Json) -> None:
    """What no manifest can hold is refused, by its place."""
    with pytest.raises(UnwritableError) as refused:
        composed({"spec": {"name": [value]}})

    assert refused.value.path[:2] == ("spec", "name")


def test_too_deep() -> None:
    """So is what is nested deeper than any manifest may be."""
    value: Json = "x"
    for _ in range(5_000):
        value = [value]

    with pytest.raises(UnwritableError):
        composed({"spec": value})


def test_layout() -> None:
    """Queries of several lines are block texts, what is small is on one line, no line is folded."""
    document: dict[str, Json] = {
        "metadata": {"name": "checkout", "ids": {"staging": "a", "production": "b"}},
        "spec": {
            "query": "sum(rate(x[5m]))\n  by (region)\n",
            "long": "word " * 60 + "end",
            "items": [{"id": {"value": "w1"}, "title": "Orders", "definition": {"gauge": {}}}],
            "labels": ["a", "b"],
            "selection": {"all": {}},
            "yes": "no",
            "quoted": 'event:"order_failed" # not a comment',
        },
    }
    comments = {("spec", "items", 0): "First.\nSecond.", ("spec", "yes"): "Third."}

    assert composed(document, comments) == (
        "metadata:\n"
        "  name: checkout\n"
        "  ids: {staging: a, production: b}\n"
        "spec:\n"
        "  query: |\n"
        "    sum(rate(x[5m]))\n"
        "      by (region)\n"
        f"  long: {'word ' * 60}end\n"
        "  items:\n"
        "    # First.\n"
        "    # Second.\n"
        "    - id: {value: w1}\n"
        "      title: Orders\n"
        "      definition:\n"
        "        gauge: {}\n"
        "  labels: [a, b]\n"
        "  selection:\n"
        "    all: {}\n"
        "  # Third.\n"
        '  "yes": "no"\n'
        "  quoted: 'event:\"order_failed\" # not a comment'\n"
    )


@given(st.lists(st.sampled_from(["$", "{", "}", "var:", "ref:", "SLO/a", "x", "env:", " ", "."])))
@example(["${var:x", "${var:y}", "}"])
def test_escapes(parts: list[str]) -> None:
    """A text that is escaped holds no expression, and reads as itself."""
    text = "".join(parts)

    read = [*parts_of(escaped(text))]

    assert "".join(text for text in read if isinstance(text, str)) == text
    assert all(isinstance(one, str) for one in read)
