"""Suggestions for a value of the wrong type, as text that can be typed. Pure."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Final

from reconciler.document import Json, Path
from reconciler.kinds.field_traits import Part, Unit
from reconciler.kinds.shape import Facts, facts_of
from reconciler.syntax.diagnostic import Advice
from reconciler.syntax.expressions import OPEN, whole


@dataclass(frozen=True, slots=True)
class InvalidValue:
    """A value that its model refuses; `kind` is pydantic's name of the error."""

    kind: str
    path: Path
    value: object
    facts: Facts


NO_ITEMS: Final = Advice("remove the `- ` before its fields: it is one mapping")
ITEMS: Final = Advice("begin each item with `- `")
_NUMERIC: Final = frozenset(("float_type", "int_type", "int64_text"))
_MAPPING: Final = frozenset(("model_type", "dict_type"))


def meant_value(wrong: InvalidValue) -> str:
    """Return the intended value, or what to do, if only the form is wrong."""
    match wrong.kind, wrong.value:
        case "string_type", value:
            return _text(value)
        case kind, int() | float() | str() as value if kind in _NUMERIC:
            return _number(value, wrong)
        case "list_type", dict(value) if value:
            return ITEMS
        case kind, list(value) if kind in _MAPPING and is_mappings(value):
            return NO_ITEMS
        case _, str(value) if _WORD.fullmatch(value):
            return _wrapped(value, wrong)
        case _:
            return ""


def _text(value: object) -> str:
    """Return the text of a value that YAML does not read as text, as it has no quotes."""
    match value:
        case bool():
            return f'"{str(value).lower()}"'
        case int() | float():
            return f'"{value}"'
        case dict():
            return meant_text(value)
        case _:
            return ""


def is_mappings(value: object) -> bool:
    """Return whether it is a list of mappings: a mapping with a dash before each line."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(element, dict) for element in value)
    )


def meant_text(value: dict[str, Json]) -> str:
    """Return the text that YAML read as a mapping, as its braces have no quotes; else "".

    Such a mapping has keys and no values: `{job="shop"}`, `{var:team}`.
    """
    if not value or any(member is not None for member in value.values()):
        return ""
    inside = ", ".join(value)
    if whole(f"{OPEN}{inside}}}") is not None:
        return f"{OPEN}{inside}}}"
    text = f"{{{inside}}}"
    return f"'{text}'" if "'" not in text else json.dumps(text, ensure_ascii=False)


def _number(value: float | str, wrong: InvalidValue) -> str:
    is_whole = wrong.kind != "float_type"
    if not isinstance(value, str):
        is_meant = is_whole and isinstance(value, float) and value.is_integer()
        return str(int(value)) if is_meant else ""
    found = meant_number(value, is_whole=is_whole)
    seconds = "" if found else seconds_of(value)
    if not seconds or wrong.facts.unit not in _COUNTED:
        return found
    counted, rest = divmod(int(seconds), _COUNTED[wrong.facts.unit])
    return "" if rest else str(counted)


_COUNTED: Final = {Unit.SECONDS: 1, Unit.MINUTES: 60}
_DURATION: Final = re.compile(
    r"([0-9]{1,9}) ?(?:([smhdw])|(?:(s)ec(?:ond)?|(m)in(?:ute)?|(h)(?:ou)?r|(d)ay|(w)eek)s?)"
)
_SECONDS_OF: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}


def seconds_of(text: str) -> str:
    """Return the seconds of `15m` or `1 hour`, "" if it is not a duration."""
    found = _DURATION.fullmatch(text.strip().lower())
    if found is None:
        return ""
    unit = next(filter(None, found.groups()[1:]))
    return str(int(found[1]) * _SECONDS_OF[unit])


_WORD: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


def _wrapped(word: str, wrong: InvalidValue) -> str:
    """Return a word inside the required list or mapping; "" if it has no single place."""
    if wrong.kind == "list_type":
        return f"[{word}]" if wrong.facts.items is not None and wrong.facts.items.is_text else ""
    part = wrong.facts.part if wrong.kind == "model_type" else None
    return _in_its_field(word, part) if part is not None else ""


def _in_its_field(word: str, part: type[Part]) -> str:
    """Return a word in the only field of a part that fits: `{labels: [team]}` for `team`.

    A duration is used where a part counts seconds: `{seconds: 900}` for `15m`.
    """
    fields = [(name, facts) for name, facts in facts_of(part).items() if facts.read_only is None]
    counted = [name for name, facts in fields if facts.unit is Unit.SECONDS]
    seconds = seconds_of(word)
    if seconds and len(counted) == 1:
        return f"{{{counted[0]}: {seconds}}}"
    if len(fields) != 1 or not word[0].isalpha():
        return ""
    name, facts = fields[0]
    if facts.items is not None and facts.items.is_text:
        return f"{{{name}: [{word}]}}"
    return f"{{{name}: {word}}}" if facts.is_text else ""


_NUMBER: Final = re.compile(r"[-+]?[0-9]+(?:[.][0-9]+)?")
_THOUSANDS: Final = re.compile(r"[-+]?[0-9]{1,3}(?:[, _'][0-9]{3})+(?:[.][0-9]+)?")
_DECIMAL_COMMA: Final = re.compile(r"[-+]?[0-9]+,[0-9]{1,2}|[-+]?0,[0-9]+")
LONGEST_NUMBER: Final = 20


def meant_number(text: str, *, is_whole: bool = False) -> str:
    """Return the number of a text that YAML does not read as a number, "" if it is unclear.

    A comma before three digits may group thousands or begin a fraction.
    """
    bare = text.strip().removesuffix("%").strip()
    if _DECIMAL_COMMA.fullmatch(bare):
        bare = bare.replace(",", ".")
    elif _THOUSANDS.fullmatch(bare) and (bare.count(",") != 1 or "." in bare):
        bare = re.sub(r"[, _']", "", bare)
    if not _NUMBER.fullmatch(bare) or len(bare) > LONGEST_NUMBER:
        return ""
    sign, digits = ("-" if bare[0] == "-" else ""), bare.lstrip("+-")
    whole, _, fraction = digits.partition(".")
    if is_whole and fraction.strip("0"):
        return ""
    whole = whole.lstrip("0") or "0"
    return f"{sign}{whole}.{fraction}" if fraction and not is_whole else f"{sign}{whole}"
