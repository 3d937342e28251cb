"""Values as people say them: 99.5 %, 1 h 30 min, P1. Pure."""

from __future__ import annotations

import json
import re
from decimal import Decimal

from reconciler.document import ABSENT, Json, Missing
from reconciler.kinds.facts import NOTHING, Facts
from reconciler.kinds.fields import Known, Unit
from reconciler.report.safe import safe
from reconciler.template import references_in

MOST_DIGITS = 18
"""Of a number that is written as text; what is longer is no time, and stays the text it is."""

_MILLISECONDS = {Unit.MILLISECONDS: 1, Unit.SECONDS: 1_000, Unit.MINUTES: 60_000}
_COUNTED = re.compile(r"(\d+)_([A-Z]+)")
_STEPS = (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1_000), ("ms", 1))


def spoken_value(document: Json | Missing, facts: Facts = NOTHING) -> str:
    """Give a value whole, on one line of safe text, by what is known of its place.

    Text of a person's own is quoted; values of an enumeration go without their
    common prefix. What is said is exact: two values never read the same, but
    for the spelling of one and the same number.
    """
    if document is ABSENT:
        return "(absent)"
    if references := references_in(document):
        return safe(f"(known after apply: {', '.join(sorted(map(str, references)))})")
    if isinstance(document, list) and facts.items is not None and facts.items.listed:
        return "[" + ", ".join(_scalar(item, facts.items) for item in document) + "]"
    return _scalar(document, facts)


def _scalar(document: Json, facts: Facts) -> str:
    if facts.unit is not None and (number := number_of(document)) is not None:
        return with_unit(number, facts.unit)
    if facts.listed is not None and isinstance(document, str):
        return safe(_short(document, facts.listed))
    return safe(_quoted(document) if isinstance(document, str) else _json(document))


def _quoted(text: str) -> str:
    """Quote a text; with the other sign where it is full of the usual one, as queries are."""
    if '"' in text and text.isprintable() and not set("'\\") & set(text):
        return f"'{text}'"
    return _json(text)


def _json(document: Json) -> str:
    return json.dumps(document, ensure_ascii=False)


def _short(text: str, listed: Known) -> str:
    """Leave out the prefix of values that the enumeration lists; any other is quoted."""
    if text not in listed.values or not listed.prefix:
        return _json(text)
    short = text.removeprefix(listed.prefix)
    if found := _COUNTED.fullmatch(short):
        return f"{found[1]} {found[2].lower()}"
    return short


def number_of(document: Json | Missing) -> float | int | None:
    """Give a number, or that of a text such as `900s` or `250`; None for anything else."""
    if isinstance(document, str):
        digits = document.removesuffix("s")
        is_number = digits.isdecimal() and digits.isascii() and len(digits) <= MOST_DIGITS
        return int(digits) if is_number else None
    if isinstance(document, int | float) and not isinstance(document, bool):
        return document
    return None


def with_unit(number: float, unit: Unit) -> str:
    """Give a number with its unit; a whole time in the largest units that divide it up."""
    if unit in _MILLISECONDS and isinstance(number, int) and number > 0:
        return duration(number * _MILLISECONDS[unit])
    return f"{plain_number(number)} {unit.value}"


def duration(milliseconds: int) -> str:
    """Give a time above zero, exactly: `1 h 30 min`."""
    words = []
    for sign, size in _STEPS:
        count, milliseconds = divmod(milliseconds, size)
        if count:
            words.append(f"{count} {sign}")
    return " ".join(words)


def plain_number(number: float) -> str:
    """Give a number without a fraction that is zero, and without powers of a tenth."""
    text = json.dumps(number)
    if "e-" in text:
        text = format(Decimal(text), "f")
    return text.removesuffix(".0")
