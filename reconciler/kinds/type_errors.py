"""Pydantic's errors about a document, in our words."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from reconciler.document import Json, Path
from reconciler.kinds.field_traits import FORMS, Part
from reconciler.kinds.shape import facts_at, facts_of
from reconciler.kinds.value_suggestions import InvalidValue, meant_value
from reconciler.syntax.diagnostic import WANTED, Advice, Finding
from reconciler.syntax.expressions import holds_reference, is_open

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


def type_findings(
    document: Json, model: type[Part], path: Path, misspelt: Collection[Path]
) -> Iterator[Finding]:
    """Yield the wrong types, missing fields and broken bounds of the API document.

    Fields that are `misspelt` are not missing: another finding reports their wrong name.
    """
    try:
        model.__pydantic_validator__.validate_python(document)
    except ValidationError as invalid:
        if invalid.error_count() > MOST_ERRORS:
            # Each error takes a kilobyte or more, once it is read.
            message = f"{invalid.error_count():,} values here have a wrong type"
            yield Finding("M301", path, message)
            return
        for error in invalid.errors(include_url=False):
            if not _is_open(error["type"], error["input"]):
                facts = facts_at(model, error["loc"])
                wrong = InvalidValue(error["type"], (*path, *error["loc"]), error["input"], facts)
                if wrong.kind == "missing" and wrong.path in misspelt:
                    continue
                yield _finding(wrong, error.get("ctx", {}))


def name_of(path: Path) -> str:
    """Return the name of the place in a message."""
    last = path[-1] if path else "this document"
    return f"item {last + 1}" if isinstance(last, int) else f"`{last}`"


def _is_open(kind: str, value: object) -> bool:
    """Return whether the complaint is about a text that is filled in later.

    Only a reference can become a number.
    """
    if not isinstance(value, str):
        return False
    return (kind in _TEXT_BOUNDS and is_open(value)) or (
        kind == "int_type" and holds_reference(value)
    )


def _finding(wrong: InvalidValue, bounds: Mapping[str, Any]) -> Finding:
    kind, path, value = wrong.kind, wrong.path, wrong.value
    if kind == "missing":
        is_list = wrong.facts.items is not None
        repair = Advice("add it, with each item below it after `- `") if is_list else ""
        return Finding("M302", path[:-1], f"{name_of(path)} is required", suggestion=repair)
    if kind == "bool_type" and isinstance(value, str) and value.casefold() in _TEXT_BOOLEANS:
        message = f"{name_of(path)} is the text `{value}`, not a boolean"
        return Finding("M311", path, message, suggestion=_TEXT_BOOLEANS[value.casefold()])
    if kind in WANTED:
        message = f"{name_of(path)} must be {_wanted(wrong)}, not {_described(value)}"
        return Finding("M301", path, message, suggestion=meant_value(wrong))
    return Finding("M309", path, f"{name_of(path)} {_bound(kind, bounds)}")


MOST_NAMED = 8


def _wanted(wrong: InvalidValue) -> str:
    part = wrong.facts.part if wrong.kind == "model_type" else None
    return WANTED[wrong.kind] if part is None else wanted_of(part)


def wanted_of(part: type[Part]) -> str:
    """Return what a value of a part must be: a mapping, and the fields that it may have."""
    fields = [f"`{name}`" for name, facts in facts_of(part).items() if facts.read_only is None]
    more = len(fields) - MOST_NAMED
    named = ", ".join(fields[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    return f"a mapping of {named}" if fields else "a mapping, as `{}`"


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
