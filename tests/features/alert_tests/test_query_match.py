"""How a Lucene query is read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reconciler.features.alert_tests.log_row import LogRow
from reconciler.features.alert_tests.query_match import matcher

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
