"""How a Lucene query is read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reconciler.document import Json
from reconciler.features.alert_tests.log_row import LogRow, values_in
from reconciler.features.alert_tests.query_match import NotEvaluatedError, matcher

FIELDS = {
    "event": "order_failed",
    "code": 502,
    "path": "/cart/pay-now",
    "ok": False,
    "user": {"name": "Ann Lee"},
    "tags": ["a", "b"],
    "a.b": {"c": 1.0},
    "items": [{"name": "pen"}, {"": {"name": "ink"}}],
    "dash": "-",
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
        ("code:<=502", True),
        ("code:(ann OR lee)", False),
        ("code:(ann AND lee)", False),
        ("code:(ann lee)", False),
        ("code:(+ann lee)", False),
        ("code:(NOT ann)", True),
        ("code:(502 -ann)", True),
        ("code:(502 NOT ann)", True),
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
        ("*:*", True),
        ("ann OR zoe NOT lee", False),
        ("ann OR zoe NOT bob", True),
        ("event.severity:error", False),
        ("severity.level:error", False),
        ("items.name:pen", True),
        ("items:pen", False),
        ("items.name:ink", False),
        (r"path:pay\-now", True),
        (r"path:p\ay\-later", False),
        ('path:["/cart/a b" TO "/cart/q"]', True),
        ('path:["/cart/q" TO *]', False),
        ("event:[inf TO *]", True),
        ("code:[* TO nan]", True),
        ("code:[5_0 TO *]", False),
        ('dash:"-"', True),
        ('dash:"+"', False),
        ("dash:inner", False),
        ("_exists_:items.name", True),
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
        ("x:*b*b*", False),
        ("x:b*", False),
        ("x:a_b_c*", True),
        ("x:a*d*", False),
        ("x:a\\*b*", False),
        ("x:a\\_b*", True),
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
    ("query", "text"),
    [
        ("x:/a*b*c*/", "aabbc"),
        ("x:/(ab)+/", "abab"),
        ("x:/(a(bc)d)+/", "abcd"),
        ("x:/(aXb)+/", "aXb"),
        ("x:/(a|b)c/", "ac"),
        ("x:/((a|b)c)d/", "acd"),
        ("x:/[*+]a*b*c*/", "*aabbc"),
        (r"x:/\*\*\*\*a/", "****a"),
        (r"x:/a\.b\-\d/", "a.b-7"),
        ("x:/.a/", "\na"),
        ("x:/^a$/", "^a$"),
    ],
)
def test_an_expression_matches_the_whole_value(query: str, text: str) -> None:
    """An expression matches a whole value, with repeats and signs read as they are written."""
    assert matcher(query)(LogRow(0, json.dumps({"x": text})))
    assert not matcher(query)(LogRow(0, json.dumps({"x": text.replace("a", "u", 1)})))
    assert not matcher(query)(LogRow(0, json.dumps({"x": f"{text}v"})))


@pytest.mark.parametrize(
    "query",
    [
        "x:/(a+)+b/",
        "x:/(a|b)*c/",
        "x:/((a+)[ab])+/",
        "x:/((a+)(b))+/",
        "x:/(((a+)b)c)+/",
        "x:/a*b*c*d*/",
        "x:/a)/",
        "x:/(a/",
        r"x:/\bad/",
        "x:/(?:a)/",
        *(f"x:/a{sign}b/" for sign in '~@&<#"'),
        "a OR b -c",
        "a AND b c",
        "a b OR c",
        "a AND b +c d",
        "a || b",
        "a && b",
        "!a",
        "na*:a",
        "na?e:a",
        "x:-a",
        "x:+a",
        "_exists_:(a)",
        "_exists_:-a",
        "_exists_:a*",
        "x:[-5 TO 3]",
        "[1 TO 2]",
    ],
)
def test_what_takes_long_or_has_two_meanings(query: str) -> None:
    """An expression that may take long, or that has two meanings, is not evaluated."""
    with pytest.raises(NotEvaluatedError):
        matcher(query)


def test_a_field_of_a_record() -> None:
    """The values at a path of a record are listed once each, those of each item of a list."""
    record: Json = {
        "log": {"labels": [{"app": "shop"}, {"app": "till"}]},
        "log.labels": {"app": "pay"},
    }

    assert values_in(record, "log.labels.app") == ["shop", "till", "pay"]
    assert values_in(record, "log") == [{"labels": [{"app": "shop"}, {"app": "till"}]}]


@pytest.mark.parametrize("text", ["12", "true", "[1]", "null", '{"a": '])
def test_a_line_that_is_no_object_is_a_text(text: str) -> None:
    """A line that is JSON but no object, or a part of one, is one text without fields."""
    assert LogRow(0, text).fields is None
    assert matcher("*")(LogRow(0, text))


def test_an_expression_on_a_long_value() -> None:
    """An expression matches no value of more than 1,000 characters."""
    assert matcher("x:/a*/")(LogRow(0, json.dumps({"x": "a" * 1_000})))
    assert not matcher("x:/a*/")(LogRow(0, json.dumps({"x": "a" * 1_001})))


@pytest.mark.parametrize(
    ("query", "text", "matches"),
    [
        ("x:?a*", "\nab", True),
        ("x:a*b", "a\nb", True),
        (r"x:a\**", "a*b", True),
        (r"x:a\**", "aab", False),
        (r"x:a\?b*", "a?bc", True),
        (r"x:a\?b*", "acbc", False),
    ],
)
def test_signs_of_a_pattern(query: str, text: str, matches: bool) -> None:
    """A `?` is any one character, a line break too; a sign after a backslash is itself."""
    assert matcher(query)(LogRow(0, json.dumps({"x": text}))) is matches


def test_a_row_without_any_value() -> None:
    """A star without a field matches each row, one without any value too."""
    assert matcher("*")(LogRow(0, "{}"))
    assert not matcher("a*")(LogRow(0, "{}"))


def test_a_pattern_takes_no_long_time() -> None:
    """A pattern of many stars ends on a text that nearly matches."""
    assert not matcher("x:*a*a*a*a*a*a*a*a*b")(LogRow(0, '{"x": "' + "a" * 20_000 + '"}'))


def test_a_deep_text_is_text() -> None:
    """A text that is too deep to be read as JSON is a text, and no error."""
    deep = '{"a":' * 5_000 + "1" + "}" * 5_000

    assert LogRow(0, deep).fields is None
