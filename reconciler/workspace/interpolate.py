"""Filling in of expressions: their values, and the places where those are written.

Source: docs/manifests.md, docs/reuse.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import groupby
from typing import assert_never

from reconciler.document import Json, Path
from reconciler.model import Ref
from reconciler.redaction.templates import RefHole, SecretHole, Template
from reconciler.syntax.diagnostic import Advice, Finding, Severity
from reconciler.syntax.expressions import (
    LITERAL,
    OPEN,
    Expression,
    ExpressionKind,
    Malformed,
    NearMiss,
    TextPart,
    expression,
    form_of,
    parts_of,
)
from reconciler.syntax.files import LARGEST_MADE, MOST_MADE
from reconciler.syntax.parsed_text import DocumentText, Graft
from reconciler.syntax.read_text import DEEPEST
from reconciler.syntax.suggestions import nearest
from reconciler.workspace.expression_scope import (
    Each,
    Filled,
    Inside,
    Reference,
    Scope,
    along,
    secret_of,
    spelled,
    variable_of,
)

OF_ITEM = "M511"
IN_TEXT = "M513"


def fill(document: Json, scope: Scope, inside: Inside | None = None) -> Filled:
    """Insert variables, items and files, seal secrets, and leave references open.

    Errors are recorded at their place, and `grafts` has the origin of inserted parts.
    """
    filled = Filled(document, inside=inside)
    filled.document = _walk(document, scope, (), filled)
    filled.findings.extend(scope.withheld.findings(filled.document))
    return filled


def _walk(document: Json, scope: Scope, path: Path, filled: Filled) -> Json:
    if isinstance(document, dict):
        return {key: _walk(value, scope, (*path, key), filled) for key, value in document.items()}
    if isinstance(document, list):
        return [_walk(item, scope, (*path, index), filled) for index, item in enumerate(document)]
    if isinstance(document, str) and OPEN in document:
        return _fill_text(document, scope, path, filled)
    return document


@lru_cache(maxsize=1024)
def _parts_of(text: str) -> tuple[TextPart, ...]:
    """Return the parts of a text, computed once for all items of a `forEach`."""
    return tuple(parts_of(text))


def _fill_text(text: str, scope: Scope, path: Path, filled: Filled) -> Json:
    parts: list[str | SecretHole | RefHole] = []
    for part in _parts_of(text):
        match part:
            case str():
                parts.append(part)
            case Expression(
                word=ExpressionKind.VARIABLE | ExpressionKind.EACH | ExpressionKind.FILE
            ):
                if part.spot.written == text:
                    return _whole(part, scope, path, filled)
                parts.extend(_within(part, scope, path, filled))
            case Expression():
                parts.append(_hole(part, scope, path, filled))
            case Malformed() | NearMiss():
                filled.findings.append(_wrong(part, path))
                parts.append(part.spot.written)
            case _:
                assert_never(part)
    if all(isinstance(part, str) for part in parts):
        return "".join(map(str, parts))
    return Template(tuple(_joined(parts)))


def _joined(
    parts: list[str | SecretHole | RefHole],
) -> Iterator[str | SecretHole | RefHole]:
    """Yield the parts of a text, with adjacent plain texts joined.

    A piece alone would not show that the text reads as an expression when it is written again.
    """
    for is_text, group in groupby(parts, lambda part: isinstance(part, str)):
        if not is_text:
            yield from group
        elif text := "".join(map(str, group)):
            yield text


def _hole(part: Expression, scope: Scope, path: Path, filled: Filled) -> SecretHole | RefHole:
    if part.word is ExpressionKind.SECRET:
        return secret_of(part, scope, path, filled)
    ref = Ref(*part.name.split("/", 1))
    filled.references.append(Reference(path, ref, part.spot))
    return RefHole(ref)


def _whole(part: Expression, scope: Scope, path: Path, filled: Filled) -> Json:
    """Return the value that replaces a text of one expression."""
    if part.word is ExpressionKind.FILE:
        return _included(part, scope, path, filled)
    value = _value(part, scope, path, filled, is_whole=True)
    inside = filled.inside
    if inside is not None and _is_large(value):
        unfit = _unfit(part, value, path, inside)
        if unfit is not None:
            filled.findings.append(unfit)
            return part.spot.written
    return value


def _value(part: Expression, scope: Scope, path: Path, filled: Filled, *, is_whole: bool) -> Json:
    """Return the value of a variable or of an item; record errors."""
    if part.word is ExpressionKind.VARIABLE:
        return variable_of(part, scope, path, filled)
    item = filled.inside.each if filled.inside is not None else None
    if item is None:
        message = f"`{part.spot.written}` is in a manifest without `forEach`"
        advice = Advice(f"write ${part.spot.written} for a literal, or add `forEach`")
        filled.findings.append(Finding(OF_ITEM, path, message, suggestion=advice, spot=part.spot))
        return part.spot.written
    found = along(item.values, part.name)
    if found is None:
        filled.findings.append(_not_in_item(part, item, path))
        filled.unfilled.add(path)
        return part.spot.written
    steps, value = found
    item.used.add(str(steps[0]))
    if is_whole:
        filled.grafts[path] = Graft(item.text, (*item.path, *steps))
    return value


def _not_in_item(part: Expression, item: Each, path: Path) -> Finding:
    name = part.name
    if name in item.keys:
        message = f"this item has no `{name}`, which others have and the manifest names"
        near = nearest(name, item.values.keys() - item.named)
        if not near:
            return Finding(OF_ITEM, item.path, message)
        # A misspelt key is reported as such, and not as unused too.
        item.used.add(near)
        return Finding(OF_ITEM, (*item.path, near), message, suggestion=name, at_key=True)
    near = nearest(name, item.keys)
    message = f"no item of `forEach` has `{name}` (they have {', '.join(sorted(item.keys))})"
    meant = near and expression(ExpressionKind.EACH, near)
    return Finding(OF_ITEM, path, message, suggestion=meant, spot=part.spot)


def _included(part: Expression, scope: Scope, path: Path, filled: Filled) -> Json:
    """Return the content of a file, with its expressions filled in where it is included."""
    inside = filled.inside
    if inside is None or inside.files is None:
        message = f"`{part.spot.written}` is not allowed here: an export is taken as it is"
        filled.findings.append(Finding("M512", path, message, spot=part.spot))
        return part.spot.written
    content = inside.files.content(part.name, inside, path)
    if content is None:
        return part.spot.written
    if isinstance(content, Finding):
        filled.findings.append(replace(content, spot=part.spot))
        return part.spot.written
    unfit = _unfit(part, content.document.value, path, inside)
    if unfit is not None:
        filled.findings.append(unfit)
        return part.spot.written
    line, _ = inside.text.document.locate(path if len(inside.trail) == 1 else ())
    note = f", included by {inside.text.file}:{line}"
    text = DocumentText(content.name, content.document, note=note)
    filled.grafts[path] = Graft(text, ())
    filled.inside = replace(inside, text=text, trail=(*inside.trail, content.path))
    value = _walk(content.document.value, scope, path, filled)
    filled.inside = inside
    return value


def _is_large(value: Json) -> bool:
    """Return whether many values of this size could exceed the limit of one run."""
    return isinstance(value, dict | list) or (isinstance(value, str) and len(value) > _SHORT)


_SHORT = 256


def _unfit(part: Expression, value: Json, path: Path, inside: Inside) -> Finding | None:
    """Return the finding that a value is too much to insert, or None if it is not."""
    size = inside.measure(value)
    if len(path) + size.levels > DEEPEST:
        message = (
            f"what `{part.spot.written}` gives would be nested deeper than {DEEPEST} levels here"
        )
        return Finding("M109", path, message, spot=part.spot)
    return None if inside.files is None or inside.files.spend(size) else too_much(path)


def too_much(path: Path) -> Finding:
    """Return the finding that the limit of a run is reached."""
    message = (
        f"`forEach`, variables and included files make more than {MOST_MADE:,} values or "
        f"{LARGEST_MADE >> 20} MB of text in this run: from here, nothing more is made"
    )
    return Finding("M115", path, message, suggestion=LESS)


LESS = Advice("use fewer items, environments or includes, or divide the project")


def _within(
    part: Expression, scope: Scope, path: Path, filled: Filled
) -> tuple[str | SecretHole | RefHole, ...]:
    """Return the parts that replace an expression inside a longer text."""
    written = part.spot.written
    if part.word is ExpressionKind.FILE:
        message = f"`{written}` is inside a text: it must be all of a value"
        filled.findings.append(Finding(IN_TEXT, path, message, spot=part.spot))
        return (written,)
    value = _value(part, scope, path, filled, is_whole=False)
    if isinstance(value, Template):
        return value.parts
    if isinstance(value, dict | list) or value is None:
        what = "a list" if isinstance(value, list) else "null" if value is None else "a mapping"
        message = f"`{written}` is {what}, and is inside a text"
        advice = Advice("let it be all of the value, or name a text inside of it, as in NAME.key")
        filled.findings.append(Finding(IN_TEXT, path, message, suggestion=advice, spot=part.spot))
        return (written,)
    inside = filled.inside
    unfit = _unfit(part, value, path, inside) if inside is not None and _is_large(value) else None
    if unfit is not None:
        filled.findings.append(unfit)
        return (written,)
    return (spelled(value),)


def _wrong(part: Malformed | NearMiss, path: Path) -> Finding:
    written = part.spot.written
    match part:
        case Malformed(word=word):
            message = f"`{written}` is malformed: write {form_of(word)}, or {LITERAL} for a literal"
            return Finding("M504", path, message, spot=part.spot)
        case NearMiss(meant=meant, sure=sure):
            literal = f"${written}"
            message = (
                f"`{written}` is no expression, though near one: write `{literal}` for a literal"
                if sure
                else f"`{written}` is sent as text; `{literal}` says that this is meant"
            )
            severity = Severity.ERROR if sure else Severity.WARNING
            return Finding("M504", path, message, severity, meant, spot=part.spot)
        case _:
            assert_never(part)
