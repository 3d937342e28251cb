"""How a Lucene query is read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reconciler.features.alert_tests.log_row import LogRow
from reconciler.features.alert_tests.query_match import NotEvaluatedError, matcher

FIELDS = {
    "event": "order_failed",
    "code": 502,
    "path": "/cart/pay-now",
    "ok": False,
    "user": {"name": "Ann Lee"},
    "tags": ["a", "b"],
    "a.b": {"c": 1.0},
}
TEXT = json.dumps(FIELDS)
ROW = LogRow(0, TEXT, application="shop", subsystem="checkout", severity="error")
PLAIN = LogRow(0, "Payment declined: card is expired (code 51).", severity="warning")


@pytest.mark.parametrize(
    ("query", "matches"),
    [
        ("event:order_failed", True),
        ("event:ORDER_FAILED", True),
        ("event:order", False),
        ("event:order*", True),
        ("event:ord?r_failed", True),
        ("code:502", True),
        ("code:[500 TO 502]", True),
        ("code:[500 TO 502}", False),
        ("code:{502 TO *]", False),
        ("code:>=502", True),
        ("code:<502", False),
        ("code:5*", True),
        ("ok:false", True),
        ("path:pay", True),
        ("path:pay-now", True),
        ('path:"now pay"', False),
        ('path:"cart pay"', True),
        ('user.name:"ann lee"', True),
        ("user.name:/an+/", True),
        ("user.name:/ann/", True),
        ("user.name:/le/", False),
        ("tags:b", True),
        ("a.b.c:1", True),
        ("_exists_:user", True),
        ("_exists_:nobody", False),
        ("user.name:*", True),
        ("nobody:*", False),
        ("ann", True),
        ("user", False),
        ('"order_failed"', True),
        ("severity:error", True),
        ("acme.metadata.applicationName:shop", True),
        ("applicationName:shop", True),
        ("ann zoe", True),
        ("+ann +zoe", False),
        ("+ann zoe", True),
        ("ann -lee", False),
        ("-zoe", True),
        ("NOT zoe", True),
        ("ann AND zoe", False),
        ("ann AND zoe OR lee", True),
        ("zoe OR NOT lee", False),
        ("event:(order_failed OR paid) AND NOT code:404", True),
        ("event:(paid refunded)", False),
        ("", True),
        ("*", True),
    ],
)
def test_a_query_on_fields(query: str, matches: bool) -> None:
    """A query matches a row of fields as the page of assumptions says."""
    assert matcher(query)(ROW) is matches


@pytest.mark.parametrize(
    ("query", "matches"),
    [
        ("declined", True),
        ("decline", False),
        ("decline*", True),
        ('"card is expired"', True),
        ('"expired is card"', False),
        ("51", True),
        ("text:declined", True),
        ("event:declined", False),
        ("severity:warning", True),
    ],
)
def test_a_query_on_a_plain_line(query: str, matches: bool) -> None:
    """A line that is no JSON is one text, without fields but its labels."""
    assert matcher(query)(PLAIN) is matches


@pytest.mark.parametrize(
    ("text", "query"),
    [("a.b", "a"), ("it's", "it"), ("a.b", '"a b"'), ("ab", "a"), ("a_b", "b")],
)
def test_a_word_is_whole(text: Any, query: str) -> None:
    """A part of a word is no match, and a point or an apostrophe between letters is in the word."""
    assert not matcher(query)(LogRow(0, text))


@pytest.mark.parametrize(
    ("query", "matches"),
    [
        ("x:*a*b*c", True),
        ("x:a*a", False),
        ("x:*b", False),
        ("x:a?b?c", True),
        ("x:a*c*c", False),
        ("x:*", True),
        ("x:/a.*c/", True),
        ("x:[* TO *]", True),
        ("a OR (b -c)", False),
        ("x:(abc OR a_b_c) NOT x:d", True),
    ],
)
def test_patterns(query: str, matches: bool) -> None:
    """The pieces of a pattern are found one after the other, and none is used twice."""
    assert matcher(query)(LogRow(0, '{"x": "a_b_c"}')) is matches


@pytest.mark.parametrize(
    "query",
    [
        "x:/(a+)+b/",
        "x:/(a|b)*c/",
        "x:/((a+)[ab])+/",
        "x:/a*b*c*d*/",
        "a OR b -c",
        "a AND b c",
        "a b OR c",
        "a AND b +c d",
    ],
)
def test_what_takes_long_or_has_two_meanings(query: str) -> None:
    """An expression that may take long, or that has two meanings, is not evaluated."""
    with pytest.raises(NotEvaluatedError):
        matcher(query)


def test_a_pattern_takes_no_long_time() -> None:
    """A pattern of many stars ends on a text that nearly matches."""
    assert not matcher("x:*a*a*a*a*a*a*a*a*b")(LogRow(0, '{"x": "' + "a" * 20_000 + '"}'))


def test_a_deep_text_is_text() -> None:
    """A text that is too deep to be read as JSON is a text, and no error."""
    deep = '{"a":' * 5_000 + "1" + "}" * 5_000

    assert LogRow(0, deep).fields is None
