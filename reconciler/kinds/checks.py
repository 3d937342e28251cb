"""Checks of a document against its model: all errors and warnings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from typing import TypeGuard, assert_never

from reconciler.document import Json, Path, value_at
from reconciler.kinds.field_traits import (
    AtMost,
    Choosing,
    Formed,
    Keyed,
    KnownValues,
    Part,
    ReadOnly,
    ValueCoverage,
)
from reconciler.kinds.shape import Facts, facts_of
from reconciler.kinds.type_errors import MOST_ERRORS, name_of, type_findings
from reconciler.runtime.addresses import steps_in
from reconciler.syntax.diagnostic import Advice, Finding, warning
from reconciler.syntax.expressions import OPEN, ExpressionKind, form_of, is_open
from reconciler.syntax.suggestions import is_slip, nearest

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
    if _holds_key(document):
        yield from _placed(document, path)


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


def _holds_key(document: Json) -> bool:
    """Return whether a document has such a text, without its place: places cost time."""
    rest = [document]
    while rest:
        value = rest.pop()
        if isinstance(value, str):
            if len(value) >= SHORTEST_KEY and looks_like_key(value):
                return True
        elif isinstance(value, dict):
            rest.extend(value.values())
        elif isinstance(value, list):
            rest.extend(value)
    return False


def _placed(document: Json, path: Path) -> Iterator[Finding]:
    if isinstance(document, str):
        if looks_like_key(document):
            yield key_finding(path)
    elif isinstance(document, dict):
        for key, value in document.items():
            yield from _placed(value, (*path, key))
    elif isinstance(document, list):
        for index, item in enumerate(document):
            yield from _placed(item, (*path, index))


def lint(document: Json, model: type[Part], path: Path = ()) -> Iterator[Finding]:
    """Yield what is wrong in `document`, at `path` in the manifest, by the model.

    Variables are already filled in; secrets and references are not.
    """
    parts = [*islice(_part_findings(document, model, path), MOST_ERRORS + 1)]
    misspelt = {(*part.path[:-1], part.suggestion) for part in parts if part.code == "M303"}
    yield from type_findings(document, model, path, misspelt)
    yield from parts
    yield from key_findings(document, path)


def _part_findings(document: Json, model: type[Part], path: Path) -> Iterator[Finding]:
    if not isinstance(document, dict):
        return
    known = facts_of(model)
    strange: list[Finding] = []
    for key, value in document.items():
        facts = known.get(key)
        if facts is None:
            if not _is_of_an_item(key, document, model):
                strange.extend(_unknown_field(key, model, (*path, key)))
        elif not facts.plain:
            yield from _value_findings(value, facts, (*path, key))
    if model.needed:
        yield from _need_findings(document, model, path, strange)
    yield from strange
    if model.alternatives:
        yield from _alternative_findings(document, model, path)


def _is_of_an_item(key: str, document: dict[str, Json], model: type[Part]) -> bool:
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
    document: dict[str, Json], model: type[Part], path: Path, strange: list[Finding]
) -> Iterator[Finding]:
    """Yield missing fields that services are known to need.

    If one field is missing and one is unknown, the missing name is suggested for the unknown one.
    """
    meant = {finding.suggestion for finding in strange}
    for key in model.needed:
        if key in document and document[key] is None:
            message = f"`{key}` is null, and services are known to need it"
            yield warning("M302", (*path, key), message, Advice("give it a value"))
    missing = [key for key in model.needed if key not in document and key not in meant]
    if len(missing) == len(strange) == 1 and not strange[0].suggestion:
        strange[0] = replace(strange[0], suggestion=missing[0])
    elif missing:
        named = ", ".join(f"`{key}`" for key in missing)
        message = f"{name_of(path)} is without {named}, which services are known to need"
        yield warning("M302", path, message, _filled_in(document, missing, model))


def _filled_in(document: dict[str, Json], missing: Sequence[str], model: type[Part]) -> Advice:
    """Return the advice for missing fields, with a value if one is known."""
    known = facts_of(model)
    shown = []
    for key in missing[:MOST_SHOWN]:
        listed = known[key].listed if key in known else None
        shown.append(f"`{key}`" if listed is None else f"`{key}: {listed.usual}`")
    more = len(missing) - MOST_SHOWN
    listing = ", ".join(shown) + (f" and {more} more" if more > 0 else "")
    others = [f"`{key}`" for key in document if key not in known]
    return Advice(
        f"add {listing}" + (f" in place of {', '.join(others[:MOST_SHOWN])}" if others else "")
    )


def _unknown_field(key: str, model: type[Part], path: Path) -> Iterator[Finding]:
    near = _near_field(key, model)
    facts = facts_of(model).get(near)
    if facts is not None and facts.read_only is not None:
        yield _read_only_finding(near, facts.read_only, path)
    elif facts is not None and (not facts.observed or is_slip(key, near)):
        yield Finding("M303", path, f"unknown field `{key}`", suggestion=near, at_key=True)
    elif near or model.complete:
        message = f"`{key}` is not a field of the API document; it is sent as written"
        yield warning("M304", path, message, near, at_key=True)


@lru_cache(maxsize=4096)
def _near_field(key: str, model: type[Part]) -> str:
    return nearest(key, facts_of(model))


def _read_only_finding(key: str, read_only: ReadOnly, path: Path) -> Finding:
    message = f"`{key}` {read_only.why} and cannot be declared"
    return Finding("M305", path, message, suggestion=read_only.instead, at_key=True)


def _value_findings(value: Json, facts: Facts, path: Path) -> Iterator[Finding]:
    if facts.read_only is not None:
        yield _read_only_finding(str(path[-1]), facts.read_only, path)
    elif facts.part is not None:
        yield from _part_findings(value, facts.part, path)
    elif isinstance(value, list):
        yield from _list_findings(value, facts, path)
    elif isinstance(value, dict) and facts.values is not None and not facts.values.plain:
        for key, item in value.items():
            yield from _value_findings(item, facts.values, (*path, key))
    elif isinstance(value, str):
        yield from _text_findings(value, facts, path)
    elif facts.bound is not None and not facts.is_text and _is_number(value):
        yield from _bound_findings(value, facts.bound, path, "")


def _is_number(value: Json) -> TypeGuard[int | float]:
    """Return whether it is a number; a boolean is not, though Python treats it as one."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _list_findings(items: list[Json], facts: Facts, path: Path) -> Iterator[Finding]:
    if facts.bound is not None:
        yield from _bound_findings(len(items), facts.bound, path, " items")
    if facts.items is not None and not facts.items.plain:
        for index, item in enumerate(items):
            yield from _value_findings(item, facts.items, (*path, index))
    if facts.keyed is not None:
        yield from _twin_findings(items, facts.keyed, path)


def _text_findings(text: str, facts: Facts, path: Path) -> Iterator[Finding]:
    if is_open(text):
        return
    if facts.listed is not None:
        yield from _listed_findings(text, facts.listed, path)
    if facts.form is not None and facts.form.pattern.fullmatch(text) is None:
        yield from _form_findings(text, facts.form, path)
    elif facts.bound is not None and facts.is_text:
        yield from _bound_findings(len(text), facts.bound, path, " characters")


def _listed_findings(text: str, listed: KnownValues, path: Path) -> Iterator[Finding]:
    if text in listed.values:
        return
    near = listed.near(text)
    named = ", ".join(listed.values)
    if listed.listing is ValueCoverage.CLOSED:
        message = f"{name_of(path)} is limited by the API document to {named}"
        yield Finding("M309", path, message, suggestion=near or LISTED)
    elif near or not listed.takes(text):
        others = "others begin with its prefix" if listed.listing is ValueCoverage.EXAMPLES else ""
        message = f"`{text}` is not a listed value (listed: {named}{others and f'; {others}'})"
        yield warning("M306", path, message, near or LISTED)


def _form_findings(text: str, form: Formed, path: Path) -> Iterator[Finding]:
    step = next(steps_in(text), "") if form.in_path else ""
    if step:
        message = f"{name_of(path)} is a part of addresses, in which `{step}` leads elsewhere"
        yield Finding("M206", path, message, suggestion=form.repair)
    else:
        message = f"services are known to want {form.words} in {name_of(path)}"
        yield warning("M307", path, message, form.corrected(text))


def _bound_findings(measure: float, bound: AtMost, path: Path, unit: str) -> Iterator[Finding]:
    if bound.high is not None and measure > bound.high:
        words = f"at most {bound.high:,}"
    elif bound.low is not None and measure < bound.low:
        words = f"at least {bound.low:,}"
    else:
        return
    message = (
        f"{name_of(path)} has {measure:,}{unit}" if unit else f"{name_of(path)} is {measure:,}"
    )
    yield warning("M307", path, f"{message}; services are known to take {words}")


def _twin_findings(items: list[Json], keyed: Keyed, path: Path) -> Iterator[Finding]:
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
    document: dict[str, Json], model: type[Part], path: Path
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


def _choice_findings(group: frozenset[str], choosing: Choosing, path: Path) -> Iterator[Finding]:
    named = ", ".join(f"`{key}`" for key in sorted(group))
    match choosing:
        case Choosing.FREE:
            return
        case Choosing.EXPECTED:
            message = f"{name_of(path)} is without one of {named}, which services are known to need"
            yield warning("M302", path, message)
        case Choosing.REQUIRED:
            yield Finding("M302", path, f"one of {named} is required")
        case _:
            assert_never(choosing)
