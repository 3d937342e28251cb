"""What pydantic says of a document, in our words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from reconciler.document import Json, Path
from reconciler.finding import Finding
from reconciler.kinds.fields import FORMS, Part

_WANTED = {
    "bool_type": "true or false",
    "dict_type": "a mapping",
    "float_type": "a number",
    "int64_text": "a whole number, best written as text",
    "int_type": "a whole number",
    "list_type": "a list",
    "model_type": "a mapping",
    "string_type": "text",
}
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
                place = (*path, *error["loc"])
                yield _finding(error["type"], place, error["input"], error.get("ctx", {}))


def is_expression(text: str) -> bool:
    """Tell a text that is filled in only when it is sent, so that its form says nothing."""
    return "${secret:" in text or "${ref:" in text


def name_of(path: Path) -> str:
    """Name the place a message speaks of."""
    last = path[-1] if path else "this document"
    return f"item {last + 1}" if isinstance(last, int) else f"`{last}`"


def _is_open(kind: str, value: object) -> bool:
    """Tell a complaint about text that another stands for later; only a ref gives a number."""
    if not isinstance(value, str):
        return False
    return (kind in _TEXT_BOUNDS and is_expression(value)) or (
        kind == "int_type" and "${ref:" in value
    )


def _finding(kind: str, path: Path, value: object, bounds: Mapping[str, Any]) -> Finding:
    if kind == "missing":
        return Finding("M302", path[:-1], f"{name_of(path)} is required")
    if kind == "bool_type" and isinstance(value, str) and value.casefold() in _TEXT_BOOLEANS:
        said = f"{name_of(path)} is the text `{value}`, not a boolean"
        return Finding("M311", path, said, suggestion=_TEXT_BOOLEANS[value.casefold()])
    if kind in _WANTED:
        said = f"{name_of(path)} must be {_WANTED[kind]}, not {_described(value)}"
        return Finding("M301", path, said)
    return Finding("M309", path, f"{name_of(path)} {_bound(kind, bounds)}")


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
