"""Where a query is wrong, told inside the query itself."""

from __future__ import annotations

import json
from random import Random

import promql_parser
import pytest
from harness.broken_queries import GOOD_LUCENE, GOOD_PROMQL, LUCENE, PROMQL, Broken, broken, drawn
from hypothesis import given
from hypothesis import strategies as st

from reconciler.queries import Language, parse

WRONG = [
    *(broken(Language.PROMQL, text) for text in PROMQL),
    *(broken(Language.LUCENE, text) for text in LUCENE),
]
PIECES = [
    *("sum", "rate", "a", "b:c", "(", ")", "[", "]", "{", "}", "5m", "5q", '"x"', "'", "=~"),
    *("+", "==", "=", "by", "on", "offset", "@", ",", ":", "and", "$v", "${v}", "{{v}}", "#", "."),
    *("AND", "OR", "NOT", "TO", "/", "~", "^", "\\", " ", "\n", "é", "a-b", "`", "-", "!", "1"),
]


@pytest.mark.parametrize("one", WRONG, ids=lambda one: one.text)
def test_the_first_wrong_character(one: Broken) -> None:
    """A mistake that was put into a query is told at the very character."""
    found = parse(one.language, one.text).error

    assert found is not None
    assert found.start == one.start


def test_after_good_ones() -> None:
    """What stands before a mistake, and how it is laid out, moves its place and nothing else."""
    random = Random(13)  # noqa: S311 - repeatable
    for _ in range(2_000):
        one = drawn(random)

        found = parse(one.language, one.text).error

        assert found is not None, one
        assert found.start == one.start, one


@pytest.mark.parametrize("text", GOOD_PROMQL)
def test_good_promql(text: str) -> None:
    """A query that the library takes has no mistake."""
    assert parse(Language.PROMQL, text).error is None


@pytest.mark.parametrize("text", GOOD_LUCENE)
def test_good_lucene(text: str) -> None:
    """A query that the library takes has no mistake."""
    assert parse(Language.LUCENE, text).error is None


@pytest.mark.parametrize("text", ["a^1.2.3", "a~..", '"a b"~1.2'])
def test_numbers_that_the_library_cannot_read(text: str) -> None:
    """A boost, distance or slop that stops the library stops no run."""
    assert parse(Language.LUCENE, text).error is None


@given(st.lists(st.sampled_from(PIECES), max_size=14), st.sampled_from(Language))
def test_any_text(pieces: list[str], language: Language) -> None:
    """Of any text a mistake stands inside it, and takes at least one of its characters."""
    text = "".join(pieces)

    found = parse(language, text).error

    if found is not None:
        assert 0 <= found.start < found.start + found.width <= len(text)
        assert found.message


@given(st.lists(st.sampled_from(PIECES), max_size=10))
def test_the_library_judges(pieces: list[str]) -> None:
    """A query without variables that the library takes is never complained of."""
    text = " ".join(piece for piece in pieces if "v" not in piece and "-" not in piece)
    try:
        promql_parser.parse(text)
    except ValueError:
        assert parse(Language.PROMQL, text).error is not None or not text.strip()
    else:
        assert parse(Language.PROMQL, text).error is None


@pytest.mark.parametrize(
    "text",
    [
        "rate(a[$__range])",
        "rate(a[${interval}]) > $threshold",
        'a{b="$v", c=~"${w:regex}"}',
        "topk($n, sum by ($label) (rate({{metric}}_total[$__rate_interval])))",
        "a offset $shift",
        "$fn(rate(a[5m]))",
        "[[metric]] / 2",
        "$query",
        "a $filter",
    ],
)
def test_variables_of_dashboards(text: str) -> None:
    """A variable may stand for whatever makes a query right."""
    assert parse(Language.PROMQL, text).error is None


def test_a_mistake_beside_variables() -> None:
    """A mistake that no value of a variable mends is told in its place."""
    found = parse(Language.PROMQL, 'sum(rate(a{b="$v"}[$__range]) + c').error

    assert found is not None
    assert found.start == 3


@pytest.mark.parametrize(
    "text", ["a:${v}", "${field}:b", "a:{{v}}", "a:[$from TO ${to}]", "$query", "a:'b c'", ""]
)
def test_variables_in_lucene(text: str) -> None:
    """A variable of Lucene, a single quote and an empty query are no mistakes."""
    assert parse(Language.LUCENE, text).error is None


@pytest.mark.parametrize(
    "text",
    [
        "+".join("a" * 30_000),
        "-" * 60_000 + "a",
        "abs(" * 10_000 + "a" + ")" * 10_000,
        "(" * 30_000,
        "a{" * 20_000,
        "x" * 100_000 + " (",
    ],
    ids=["sums", "signs", "calls", "brackets", "braces", "letters"],
)
@pytest.mark.parametrize("language", Language)
def test_beyond_all_measure(text: str, language: Language) -> None:
    """A query larger than anybody writes neither ends the process nor is judged by half."""
    found = parse(language, text).error

    assert found is None or found.start < len(text)


def test_what_a_query_uses() -> None:
    """Metrics, matchers and fields are told once each, in order, with their variables."""
    metrics = parse(
        Language.PROMQL,
        'sum(rate(a_total{job="x", code!~"5.."}[5m])) / a_total or {__name__="b", job="$j"} + c_$d',
    )
    logs = parse(Language.LUCENE, r'k8s.pod:a OR _exists_:b AND c\:d:"e" AND (k8s.pod:f)')

    assert metrics.metrics == ("a_total", "b", "c_$d")
    assert [(matcher.label, matcher.op, matcher.value) for matcher in metrics.matchers] == [
        ("job", "=", "x"),
        ("code", "!~", "5.."),
        ("job", "=", "$j"),
    ]
    assert logs.fields == ("k8s.pod", "b", "c:d")


@pytest.mark.parametrize("text", GOOD_PROMQL)
def test_metrics_as_the_library_has_them(text: str) -> None:
    """The metrics told of a query are those of the library's tree."""
    found: list[str] = []

    def visit(node: object) -> None:
        name = getattr(node, "name", None)
        if isinstance(name, str):
            found.append(name)
        inner = getattr(node, "vector_selector", None)
        if inner is not None:
            found.append(inner.name)

    promql_parser.walk(promql_parser.parse(text), visit)

    assert {*parse(Language.PROMQL, text).metrics} == {*found}, json.dumps(found)
