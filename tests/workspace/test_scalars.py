from __future__ import annotations

import math

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reconciler.document import Json
from reconciler.syntax.characters import EXACT_INTEGER
from reconciler.syntax.read_text import read_text


def value_of(written: str) -> Json:
    """Give what a plain scalar is read as; nothing may be wrong with it."""
    reading = read_text(f"- {written}\n")
    assert not reading.has_errors, reading.flaws
    items = reading.documents[0].value
    assert isinstance(items, list)
    return items[0]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("012", 12),
        ("-012", -12),
        ("0o17", 15),
        ("0x1F", 31),
        ("0xff", 255),
        ("+1", 1),
        ("-1", -1),
        ("0", 0),
        ("-0", 0),
        ("00", 0),
        ("0" * 5000 + "7", 7),
        ("9007199254740992", 2**53),
        ("-9007199254740992", -(2**53)),
        ("1e3", 1000.0),
        ("1E+3", 1000.0),
        ("1.5e-3", 0.0015),
        (".5", 0.5),
        ("-.5", -0.5),
        ("5.", 5.0),
        ("1.0", 1.0),
        ("1e-999", 0.0),
        ("~", None),
        ("null", None),
        ("Null", None),
        ("NULL", None),
        ("", None),
        ("true", True),
        ("True", True),
        ("TRUE", True),
        ("false", False),
        ("False", False),
        ("FALSE", False),
    ],
)
def test_what_is_no_text(written: str, value: Json) -> None:
    """Numbers, null and booleans are those of YAML 1.2's core schema."""
    read = value_of(written)

    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize(
    "written",
    [
        *("yes", "no", "on", "off", "YES", "NO", "On", "Off", "y", "n", "Y", "N"),
        *("tRUE", "nULL", "nil", "none", "None", "NaN", "nan", "inf", "Infinity", "-inf"),
        *("1_000", "1,5", "1:30", "190:20:30", "2024-01-01", "2001-12-14t21:59:43.10-05:00"),
        *("0b101", "0O17", "0X1F", "-0x1F", "+0o7", "0o8", "0xg", "0x", "0o", "08:00"),
        *(".", "..", "-a", "+", "+-1", "1e", "1e+", "e3", ".e3", "1.2.3", "--1", "1-1", "=", "<<x"),
        *(".Inf.", ".infinity", "+.nan", "٣", "\uff11\uff12", "²"),
    ],
)
def test_what_is_text(written: str) -> None:
    """What older YAML took for booleans, times, dates or numbers is text."""
    assert value_of(written) == written


@pytest.mark.parametrize("written", ["12", "true", "null", "~", "", ".inf", "0x1F", "<<", "1e999"])
@pytest.mark.parametrize("quote", ["'", '"'])
def test_what_is_quoted(written: str, quote: str) -> None:
    """What stands in quotes is text."""
    assert value_of(f"{quote}{written}{quote}") == written


@pytest.mark.parametrize("written", ["1e999", "-1e999", ".inf", "-.inf", "+.Inf", ".INF", ".nan"])
def test_what_no_json_can_carry(written: str) -> None:
    """What is not finite is an error, and never infinity in a document."""
    reading = read_text(f"- {written}\n")

    assert [flaw.code for flaw in reading.flaws] == ["M105"]
    assert reading.documents[0].value == [written]


@given(st.integers(-(2**70), 2**70))
@example(EXACT_INTEGER)
@example(EXACT_INTEGER + 1)
@example(-EXACT_INTEGER - 1)
@settings(max_examples=100)
def test_exact_integers(value: int) -> None:
    """An integer is read exactly, or refused with advice to quote it."""
    reading = read_text(f"- {value}\n")

    if abs(value) <= EXACT_INTEGER:
        assert reading.documents[0].value == [value]
        assert reading.flaws == []
    else:
        assert [(flaw.code, flaw.suggestion) for flaw in reading.flaws] == [("M106", f'"{value}"')]


@given(st.floats(allow_nan=False, allow_infinity=False))
@settings(max_examples=100)
def test_floats(value: float) -> None:
    """A float is read as the same float."""
    read = value_of(repr(value))

    assert isinstance(read, float | int)
    assert math.isclose(read, value, rel_tol=0, abs_tol=0)


@given(st.integers(0, 10**9), st.sampled_from(["", "-", "+"]), st.integers(1, 4))
@settings(max_examples=100)
def test_leading_zeros(value: int, sign: str, zeros: int) -> None:
    """A leading zero makes no octal number, and is worth a warning."""
    reading = read_text(f"- {sign}{'0' * zeros}{value}\n")

    assert reading.documents[0].value == [int(f"{sign}{value}")]
    assert [flaw.code for flaw in reading.flaws] == ["M114"]
    assert not reading.has_errors
