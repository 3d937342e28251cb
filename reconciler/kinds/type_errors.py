"""What pydantic says of a document, in our words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from reconciler.document import Json, Path
from reconciler.expressions import holds_reference, is_open
from reconciler.kinds.fields import FORMS, Part
from reconciler.kinds.shape import Facts, facts_at, facts_of
from reconciler.source.diagnostic import WANTED, Finding

MOST_ERRORS = 10_000
_TEXT_BOUNDS = frozenset(("int64_text", "string_pattern_mismatch", "string_too_short"))
_TEXT_BOOLEANS = {
    "true": "true",
    "yes": "true",
    "on": "true",
    "y": "true",
    "false": "false",
    "no": "false",
    "off": "false",
    "n": "false",
}


def type_findings(document: Json, model: type[Part], path: Path) -> Iterator[Finding]:
    """Yield the wrong types, missing fields and broken bounds of the API document."""
    try:
        model.__pydantic_validator__.validate_python(document)
    except ValidationError as invalid:
        if invalid.error_count() > MOST_ERRORS:
            # Each takes a kilobyte and more, once it is asked for.
            said = f"{invalid.error_count():,} values here have a wrong type"
            yield Finding("M301", path, said)
            return
        for error in invalid.errors(include_url=False):
            if not _is_open(error["type"], error["input"]):
                facts = facts_at(model, error["loc"])
                wrong = _Wrong(error["type"], (*path, *error["loc"]), error["input"], facts)
                yield _finding(wrong, error.get("ctx", {}))


def name_of(path: Path) -> str:
    """Name the place a message speaks of."""
    last = path[-1] if path else "this document"
    return f"item {last + 1}" if isinstance(last, int) else f"`{last}`"


def _is_open(kind: str, value: object) -> bool:
    """Tell a complaint about text that another stands for later; only a ref gives a number."""
    if not isinstance(value, str):
        return False
    return (kind in _TEXT_BOUNDS and is_open(value)) or (
        kind == "int_type" and holds_reference(value)
    )


@dataclass(frozen=True, slots=True)
class _Wrong:
    """A value that is not as its model wants it; `kind` is pydantic's word for how."""

    kind: str
    path: Path
    value: object
    facts: Facts


def _finding(wrong: _Wrong, bounds: Mapping[str, Any]) -> Finding:
    kind, path, value = wrong.kind, wrong.path, wrong.value
    if kind == "missing":
        return Finding("M302", path[:-1], f"{name_of(path)} is required")
    if kind == "bool_type" and isinstance(value, str) and value.casefold() in _TEXT_BOOLEANS:
        said = f"{name_of(path)} is the text `{value}`, not a boolean"
        return Finding("M311", path, said, suggestion=_TEXT_BOOLEANS[value.casefold()])
    if kind in WANTED:
        said = f"{name_of(path)} must be {_wanted(wrong)}, not {_described(value)}"
        return Finding("M301", path, said, suggestion=_corrected(wrong))
    return Finding("M309", path, f"{name_of(path)} {_bound(kind, bounds)}")


MOST_NAMED = 8


def _wanted(wrong: _Wrong) -> str:
    part = wrong.facts.part if wrong.kind == "model_type" else None
    return WANTED[wrong.kind] if part is None else wanted_of(part)


def wanted_of(part: type[Part]) -> str:
    """Say what a value of a part must be: a mapping, and the fields that it may have."""
    fields = [f"`{name}`" for name, facts in facts_of(part).items() if facts.read_only is None]
    more = len(fields) - MOST_NAMED
    named = ", ".join(fields[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    return f"a mapping of {named}" if fields else "a mapping, as `{}`"


def _corrected(wrong: _Wrong) -> str:
    """Give the value that was meant, as far as only its spelling is wrong."""
    match wrong.kind, wrong.value:
        case "string_type", bool(value):
            return f'"{str(value).lower()}"'
        case "string_type", int() | float():
            return f'"{wrong.value}"'
        case "float_type" | "int_type" | "int64_text", str(value):
            return meant_number(value, is_whole=wrong.kind != "float_type")
        case "int_type" | "int64_text", float(value) if value.is_integer():
            return str(int(value))
        case _, str(value) if _is_word(value):
            return _wrapped(value, wrong)
        case _:
            return ""


_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")


def _is_word(text: str) -> bool:
    return _WORD.fullmatch(text) is not None


def _wrapped(word: str, wrong: _Wrong) -> str:
    """Put a word into the list or the mapping that is wanted; "" where it has no one place."""
    if wrong.kind == "list_type":
        return f"[{word}]" if wrong.facts.items is not None and wrong.facts.items.is_text else ""
    part = wrong.facts.part if wrong.kind == "model_type" else None
    return _in_the_only_field(word, part) if part is not None else ""


def _in_the_only_field(word: str, part: type[Part]) -> str:
    """Put a word where a part has one field, which takes it: `{labels: [team]}` for `team`."""
    fields = [(name, facts) for name, facts in facts_of(part).items() if facts.read_only is None]
    if len(fields) != 1:
        return ""
    name, facts = fields[0]
    if facts.items is not None and facts.items.is_text:
        return f"{{{name}: [{word}]}}"
    return f"{{{name}: {word}}}" if facts.is_text else ""


_NUMBER = re.compile(r"[-+]?[0-9]+(?:[.][0-9]+)?")
_THOUSANDS = re.compile(r"[-+]?[0-9]{1,3}(?:[, _'][0-9]{3})+(?:[.][0-9]+)?")
_DECIMAL_COMMA = re.compile(r"[-+]?[0-9]+,[0-9]{1,2}|[-+]?0,[0-9]+")


def meant_number(text: str, *, is_whole: bool = False) -> str:
    """Give the number that a text writes otherwise than YAML does, "" where none can be told.

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


LONGEST_NUMBER = 20


def _bound(kind: str, bounds: Mapping[str, Any]) -> str:
    match kind:
        case "string_pattern_mismatch":
            pattern = bounds["pattern"]
            return f"must be {FORMS.get(pattern, f'of the form {pattern}')}"
        case "string_too_short":
            return "must not be empty"
        case "greater_than_equal":
            return f"must be at least {bounds['ge']}"
        case "less_than_equal":
            return f"must be at most {bounds['le']}"
        case _:
            return f"breaks a bound ({kind.replace('_', ' ')})"


def _described(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case int() | float():
            return f"the number {value}"
        case str():
            return "text"
        case list():
            return "a list"
        case _:
            return "a mapping"
