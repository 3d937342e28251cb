"""Plain scalars of the YAML 1.2 core schema, which are fewer than the C loader's."""

from __future__ import annotations

import math
import re
from typing import Final

CONSTANTS: Final[dict[str, bool | None]] = {
    "": None,
    "~": None,
    "null": None,
    "Null": None,
    "NULL": None,
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}

NUMBER_STARTS: Final = frozenset("+-.0123456789")
EXACT_INTEGER = 2**53
LONGEST_INTEGER = 20

_INTEGER = re.compile(r"[-+]?[0-9]+")
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")


class BadScalar(Exception):
    """A plain scalar that no JSON document can carry; `code` is of `finding.CODES`."""

    def __init__(self, code: str, message: str, suggestion: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.suggestion = suggestion


def number(text: str) -> str | int | float:
    """Give the number that a plain scalar spells, or the text itself when it spells none."""
    if _INTEGER.fullmatch(text):
        return _integer(text, text.lstrip("+-"), 10)
    if _BASED.fullmatch(text):
        return _integer(text, text[2:], 8 if text[1] == "o" else 16)
    if _FLOAT.fullmatch(text):
        value = float(text)
        if math.isfinite(value):
            return value
        raise BadScalar("M105", f"`{_short(text)}` is too large for a number")
    if _NOT_FINITE.fullmatch(text):
        raise BadScalar("M105", f"`{text}` is not a number that JSON can carry", f'"{text}"')
    return text


def has_leading_zero(text: str) -> bool:
    """Tell whether an integer is written as older YAML wrote octal numbers."""
    digits = text.lstrip("+-")
    return len(digits) > 1 and digits[0] == "0" and digits.isdigit()


def _integer(text: str, digits: str, base: int) -> int:
    digits = digits.lstrip("0")
    # Python refuses integers of thousands of digits, and is slow at those it takes.
    if len(digits) <= LONGEST_INTEGER:
        value = int(digits or "0", base)
        if value <= EXACT_INTEGER:
            return -value if text[0] == "-" else value
    message = f"`{_short(text)}` is beyond ±2^53, where JSON numbers lose digits: quote it"
    raise BadScalar("M106", message, f'"{text}"')


def _short(text: str) -> str:
    return text if len(text) <= 2 * LONGEST_INTEGER else text[: 2 * LONGEST_INTEGER] + "…"
