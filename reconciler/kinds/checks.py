"""Checks of a document against its model: all errors and warnings."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from itertools import islice
from typing import Any, Final, TypeGuard, assert_never

from pydantic import ValidationError

from reconciler.document import Json, Path, texts_at, value_at
from reconciler.kinds import field_traits as traits
from reconciler.kinds.shape import Facts, facts_at, facts_of, members_of, needed_in
from reconciler.model.quoting import listed
from reconciler.runtime.connection import steps_in
from reconciler.syntax.diagnostic import WANTED, Advice, Finding, warning
from reconciler.syntax.expressions import (
    OPEN,
    ExpressionKind,
    form_of,
    holds_reference,
    is_open,
    whole,
)
from reconciler.syntax.suggestions import is_slip, nearest


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
    """Return the intended value, or advice, if only the form is wrong; "" otherwise."""
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


_TIME: Final = re.compile(r"([0-9]+)\s*([smhd])")
_UNITS: Final = {"s": "SECONDS", "m": "MINUTES", "h": "HOURS", "d": "DAYS"}


def _window(wrong: InvalidValue) -> str:
    """Return advice for a time like `10m` in place of a part with one field for listed times."""
    found = _TIME.fullmatch(wrong.value) if isinstance(wrong.value, str) else None
    part = wrong.facts.part if wrong.kind == "model_type" else None
    if found is None or part is None:
        return ""
    fields = [(name, facts.listed) for name, facts in facts_of(part).items() if facts.listed]
    count, unit = found.groups()
    names = {f"{_UNITS[unit]}_{count}", f"{_UNITS[unit].removesuffix('S')}_{count}"}
    times = [
        f"`{{{name}: {listed.short[short]}}}`"
        for name, listed in fields
        for short in names & listed.short.keys()
    ]
    return Advice(f"write {times[0]}") if len(fields) == len(times) == 1 else ""


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
    """Return whether `value` is a list of mappings, as of a mapping with a dash on each line."""
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
    counted = traits.duration_in(wrong.facts.unit, value)
    return meant_number(value, is_whole=is_whole) if counted is None else str(counted)


_WORD: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


def _wrapped(word: str, wrong: InvalidValue) -> str:
    """Return a word inside the required list or mapping; "" if it has no single place."""
    if wrong.kind == "list_type":
        return f"[{word}]" if wrong.facts.items is not None and wrong.facts.items.is_text else ""
    part = wrong.facts.part if wrong.kind == "model_type" else None
    return _in_its_field(word, part) if part is not None else ""


def _in_its_field(word: str, part: type[traits.Part]) -> str:
    """Return a word in the only field of a part that fits: `{labels: [team]}` for `team`.

    A duration is used where a part counts seconds: `{seconds: 900}` for `15m`.
    """
    fields = [(name, facts) for name, facts in facts_of(part).items() if facts.read_only is None]
    counted = [name for name, facts in fields if facts.unit is traits.Unit.SECONDS]
    seconds = traits.duration_in(traits.Unit.SECONDS, word)
    if seconds is not None and len(counted) == 1:
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


MOST_ERRORS = 10_000
_TEXT_BOUNDS = frozenset(("int64_text", "string_pattern_mismatch", "string_too_short"))
_TEXT_BOOLEANS = {
    **dict.fromkeys(("true", "yes", "on", "y"), "true"),
    **dict.fromkeys(("false", "no", "off", "n"), "false"),
}
_BOUNDS = {
    "string_too_short": "must not be empty",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
}


def type_findings(
    document: Json, model: type[traits.Part], path: Path, misspelt: Collection[Path]
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
        message = f"{name_of(path)} must be {_wanted(wrong)}, not {described(value)}"
        return Finding("M301", path, message, suggestion=meant_value(wrong) or _window(wrong))
    if kind == "string_pattern_mismatch":
        form = traits.FORMS.get(bounds["pattern"], f"of the form {bounds['pattern']}")
        return Finding("M309", path, f"{name_of(path)} must be {form}")
    broken = _BOUNDS.get(kind, f"breaks a bound ({kind.replace('_', ' ')})")
    return Finding("M309", path, f"{name_of(path)} {broken.format(**bounds)}")


MOST_NAMED = 8


def _wanted(wrong: InvalidValue) -> str:
    part = wrong.facts.part if wrong.kind == "model_type" else None
    return WANTED[wrong.kind] if part is None else wanted_of(part)


def wanted_of(part: type[traits.Part]) -> str:
    """Return what a value of a part must be: a mapping, and the fields that it may have."""
    fields = [f"`{name}`" for name, facts in facts_of(part).items() if facts.read_only is None]
    return f"a mapping of {listed(fields, MOST_NAMED)}" if fields else "a mapping, as `{}`"


def described(value: object) -> str:
    """Return a value in a message: a number or a constant, or the name of its type."""
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


SHORTEST_KEY = 20
LISTED = Advice("choose a listed value")
INSTEAD = form_of(ExpressionKind.SECRET)

_KEY = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----"
    r"|eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}"  # a signed token in three parts
    r"|\bA[KS]IA[0-9A-Z]{16}\b"
    r"|://[^\s/:@{}$]+:[^\s/:@{}$]+@"  # a password in an address
)
_IN_KEYS = ("PRIVATE KEY", "eyJ", "KIA", "SIA", "://")
_LONG_WORD = re.compile(r"[A-Za-z0-9]{24}")
_RANDOM = re.compile(
    r"(?<![A-Za-z0-9])(?:[Bb]earer |[A-Za-z]{2,8}[_-](?:[A-Za-z]{2,8}[_-])?)([A-Za-z0-9]{24,})"
)
_DIGITS, _CAPITALS = 3, 2
MOST_SHOWN = 4


def key_finding(path: Path) -> Finding:
    """Return a warning that the text at `path` looks like a key, without showing it."""
    return warning("M313", path, "this text looks like a key and would be in git", INSTEAD)


def key_findings(document: Json, path: Path) -> Iterator[Finding]:
    """Yield a warning for each text in a document that looks like a key."""
    for place, text in texts_at(document, path):
        if looks_like_key(text):
            yield key_finding(place)


def looks_like_key(text: str) -> bool:
    """Return whether a text has the form of a private key, token or password."""
    if len(text) < SHORTEST_KEY or OPEN in text:
        return False
    # Plain searches come first: they exclude nearly every text.
    if any(map(text.__contains__, _IN_KEYS)) and _KEY.search(text) is not None:
        return True
    return _LONG_WORD.search(text) is not None and any(map(_mixed, _RANDOM.findall(text)))


def _mixed(text: str) -> bool:
    digits, capitals = sum(map(str.isdigit, text)), sum(map(str.isupper, text))
    return digits >= _DIGITS and _CAPITALS <= capitals < len(text) - digits


def lint(document: Json, model: type[traits.Part], path: Path = ()) -> Iterator[Finding]:
    """Yield what is wrong in `document` by its model; `path` is its path in the manifest.

    Variables are already filled in; secrets and references are not.
    """
    parts = [*islice(_part_findings(document, model, path), MOST_ERRORS + 1)]
    misspelt = {(*part.path[:-1], part.suggestion) for part in parts if part.code == "M303"}
    yield from type_findings(document, model, path, misspelt)
    yield from parts
    yield from key_findings(document, path)


def _part_findings(document: Json, model: type[traits.Part], path: Path) -> Iterator[Finding]:
    if not isinstance(document, dict):
        return
    known = facts_of(model)
    strange: list[Finding] = []
    above = ""
    for key, value in document.items():
        facts = known.get(key)
        if facts is None:
            strange.extend(_strange_field(above, key, document, model, (*path, key)))
            continue
        above = key
        if not facts.plain:
            yield from _value_findings(value, facts, (*path, key))
    if needed_in(model):
        yield from _need_findings(document, model, path, strange)
    yield from strange
    if model.alternatives:
        yield from _alternative_findings(document, model, path)


def _strange_field(
    above: str, key: str, document: dict[str, Json], model: type[traits.Part], path: Path
) -> Iterator[Finding]:
    """Yield the finding about an unknown field; `above` is the last known field before it."""
    if _is_left_by(above, key, document, model):
        message = f"`{key}` is a field of `{above}`, which is above it, and not of what both are in"
        yield warning("M304", path, message, Advice(f"indent it below `{above}`"), at_key=True)
    elif not _is_of_an_item(key, document, model):
        yield from _unknown_field(key, document, model, path)


def _is_of_an_item(key: str, document: dict[str, Json], model: type[traits.Part]) -> bool:
    """Return whether the field belongs to items of a required list that is missing.

    Then the finding about the list is enough.
    """
    missing = (
        facts_of(model)[info.alias or name].items
        for name, info in model.model_fields.items()
        if info.is_required() and (info.alias or name) not in document
    )
    return any(items and items.part and key in facts_of(items.part) for items in missing)


def _need_findings(
    document: dict[str, Json], model: type[traits.Part], path: Path, strange: list[Finding]
) -> Iterator[Finding]:
    """Yield missing fields that services are known to need.

    If one field is missing and one is unknown, the missing name is suggested for the unknown one.
    """
    meant = {finding.suggestion for finding in strange}
    for key in needed_in(model):
        if key in document and document[key] is None:
            message = f"`{key}` is null, and services are known to need it"
            yield warning("M302", (*path, key), message, Advice("give it a value"))
    missing = [key for key in needed_in(model) if key not in document and key not in meant]
    if len(missing) == len(strange) == 1 and not strange[0].suggestion:
        strange[0] = replace(strange[0], suggestion=missing[0])
    elif missing:
        named = ", ".join(f"`{key}`" for key in missing)
        message = f"{name_of(path)} is without {named}, which services are known to need"
        yield warning("M302", path, message, _filled_in(document, missing, model))


def _filled_in(
    document: dict[str, Json], missing: Sequence[str], model: type[traits.Part]
) -> Advice:
    """Return the advice for missing fields, with a value if one is known."""
    known = facts_of(model)
    shown = []
    for key in missing:
        values = known[key].listed if key in known else None
        shown.append(f"`{key}`" if values is None else f"`{key}: {values.usual}`")
    others = [f"`{key}`" for key in document if key not in known][:MOST_SHOWN]
    instead = f" in place of {', '.join(others)}" if others else ""
    return Advice(f"add {listed(shown, MOST_SHOWN)}{instead}")


def _unknown_field(
    key: str, document: dict[str, Json], model: type[traits.Part], path: Path
) -> Iterator[Finding]:
    near = _near_field(key, model)
    facts = facts_of(model).get(near)
    if facts is not None and facts.read_only is not None:
        yield _read_only_finding(near, facts.read_only, path)
    elif facts is not None and (not facts.observed or is_slip(key, near)):
        yield Finding("M303", path, f"unknown field `{key}`", suggestion=near, at_key=True)
    elif near or model.complete:
        message = f"`{key}` is not a field of the API document; it is sent as written"
        yield warning("M304", path, message, near or _begun(key, document, model), at_key=True)


def _is_left_by(above: str, key: str, document: dict[str, Json], model: type[traits.Part]) -> bool:
    """Return whether `key` belongs into the field above it, and is missing there."""
    part = facts_of(model)[above].part if above else None
    if part is None or key not in facts_of(part):
        return False
    content = document[above]
    return content is None or (isinstance(content, dict) and key not in content)


SHORTEST_BEGUN: Final = 4


def _begun(key: str, document: dict[str, Json], model: type[traits.Part]) -> str:
    """Return the only absent field with a name that begins with `key`; "" if there is none."""
    absent = (name for name in facts_of(model) if document.get(name) is None)
    begun = [name for name in absent if name.startswith(key)]
    return begun[0] if len(begun) == 1 and len(key) >= SHORTEST_BEGUN else ""


@lru_cache(maxsize=4096)
def _near_field(key: str, model: type[traits.Part]) -> str:
    return nearest(key, facts_of(model))


def _read_only_finding(key: str, read_only: traits.ReadOnly, path: Path) -> Finding:
    message = f"`{key}` {read_only.why} and cannot be declared"
    return Finding("M305", path, message, suggestion=read_only.instead, at_key=True)


def _value_findings(value: Json, facts: Facts, path: Path) -> Iterator[Finding]:
    if facts.read_only is not None:
        yield _read_only_finding(str(path[-1]), facts.read_only, path)
    elif facts.part is not None:
        yield from _part_findings(value, facts.part, path)
    elif isinstance(value, dict | list):
        yield from _inner_findings(value, facts, path)
    elif isinstance(value, str):
        yield from _text_findings(value, facts, path)
    elif facts.bound is not None and not facts.is_text and _is_number(value):
        meant = _percent(value) if facts.unit is traits.Unit.PERCENT else ""
        yield from _bound_findings(value, facts.bound, path, "", meant)


_USUAL_PERCENT: Final = (90, 100)


def _percent(value: float) -> str:
    """Return the percentage that a number such as `9950` or `999` means, "" where it is unclear."""
    low, high = _USUAL_PERCENT
    shares = (Decimal(str(value)) / divisor for divisor in (10, 100, 1000) if value > high)
    return next((f"{share.normalize():f}" for share in shares if low <= share < high), "")


def _is_number(value: Json) -> TypeGuard[int | float]:
    """Return whether it is a number; a boolean is not, though Python treats it as one."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _inner_findings(
    value: dict[str, Json] | list[Json], facts: Facts, path: Path
) -> Iterator[Finding]:
    """Yield the findings on a list or a map: length, content, items with the same name."""
    if facts.bound is not None and isinstance(value, list):
        yield from _bound_findings(len(value), facts.bound, path, " items")
    for member in members_of(value, facts):
        if not member.facts.plain:
            yield from _value_findings(member.value, member.facts, (*path, member.step))
    if facts.keyed is not None and isinstance(value, list):
        yield from _twin_findings(value, facts.keyed, path)


def _text_findings(text: str, facts: Facts, path: Path) -> Iterator[Finding]:
    if is_open(text):
        return
    if facts.listed is not None:
        yield from _listed_findings(text, facts.listed, path)
    if facts.form is not None and facts.form.pattern.fullmatch(text) is None:
        yield from _form_findings(text, facts.form, path)
    elif facts.bound is not None and facts.is_text:
        yield from _bound_findings(len(text), facts.bound, path, " characters")


def _listed_findings(text: str, listed: traits.KnownValues, path: Path) -> Iterator[Finding]:
    if text in listed.values:
        return
    near = listed.near(text)
    named = ", ".join(listed.values)
    if listed.listing is traits.ValueCoverage.CLOSED:
        message = f"{name_of(path)} is limited by the API document to {named}"
        yield Finding("M309", path, message, suggestion=near or LISTED)
    elif near or not listed.takes(text):
        others = (
            "others begin with its prefix"
            if listed.listing is traits.ValueCoverage.EXAMPLES
            else ""
        )
        message = f"`{text}` is not a listed value (listed: {named}{others and f'; {others}'})"
        yield warning("M306", path, message, near or LISTED)


def _form_findings(text: str, form: traits.Formed, path: Path) -> Iterator[Finding]:
    step = next(steps_in(text), "") if form.in_path else ""
    if step:
        message = f"{name_of(path)} is a part of addresses, in which `{step}` leads elsewhere"
        yield Finding("M206", path, message, suggestion=form.repair)
    elif form.certain:
        message = f"{name_of(path)} must be {form.words.rstrip(',')}"
        yield Finding("M307", path, message, suggestion=form.corrected(text))
    else:
        message = f"services are known to want {form.words} in {name_of(path)}"
        yield warning("M307", path, message, form.corrected(text))


def _bound_findings(
    measure: float, bound: traits.AtMost, path: Path, unit: str, meant: str = ""
) -> Iterator[Finding]:
    if bound.high is not None and measure > bound.high:
        words = f"at most {bound.high:,}"
    elif bound.low is not None and measure < bound.low:
        words = f"at least {bound.low:,}"
    else:
        return
    message = (
        f"{name_of(path)} has {measure:,}{unit}" if unit else f"{name_of(path)} is {measure:,}"
    )
    if bound.certain:
        message = f"{message}; it must be {words}"
        yield Finding("M314" if meant else "M307", path, message, suggestion=meant)
        return
    yield warning("M307", path, f"{message}; services are known to take {words}")


def _twin_findings(items: list[Json], keyed: traits.Keyed, path: Path) -> Iterator[Finding]:
    seen: set[str] = set()
    for index, item in enumerate(items):
        key = value_at(item, keyed.identity)
        if isinstance(key, str):
            place = (*path, index, *keyed.identity)
            message = f"`{key}` names an item of this list already"
            if key in seen and keyed.distinct:
                yield Finding("M312", place, f"{message}: give each its own name")
            elif key in seen:
                message += "; they are compared by position: give each its own"
                yield warning("M312", place, message)
            seen.add(key)


def _alternative_findings(
    document: dict[str, Json], model: type[traits.Part], path: Path
) -> Iterator[Finding]:
    """Yield fields that exclude each other, and needed choices that are missing.

    A choice may also be an unknown one. So an unknown field counts as a choice if the API document
    does not show all of them.
    """
    for group in model.alternatives:
        present = [key for key in document if key in group and document[key] is not None]
        if len(present) > 1:
            named = " and ".join(f"`{key}`" for key in present)
            message = f"{named} exclude each other: remove one"
            yield Finding("M308", (*path, present[1]), message, at_key=True)
        elif not present and (model.documented or document.keys() <= facts_of(model).keys()):
            yield from _choice_findings(group, model.choosing, path)


def _choice_findings(
    group: frozenset[str], choosing: traits.Choosing, path: Path
) -> Iterator[Finding]:
    named = ", ".join(f"`{key}`" for key in sorted(group))
    match choosing:
        case traits.Choosing.FREE:
            return
        case traits.Choosing.EXPECTED:
            message = f"{name_of(path)} is without one of {named}, which services are known to need"
            yield warning("M302", path, message)
        case traits.Choosing.REQUIRED:
            yield Finding("M302", path, f"one of {named} is required")
        case _:
            assert_never(choosing)
