"""The text that a person sees before signing: a plan file, whole, in the words of the file.

No value is folded or cut, as the signature is for all of it. Kept resources are counted.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final, Literal

from reconciler.model.guards import NOT_APPROVED, REVIEW_LEVEL
from reconciler.report.changes.document import FieldDocument
from reconciler.report.changes.field_changes import line_diff
from reconciler.report.plan.document import ChangeDocument, GuardDocument, PlanDocument
from reconciler.report.safe import safe
from reconciler.report.table import Colour, Style, wrapped
from reconciler.report.words import plural

_SIGNS: Mapping[str, tuple[str, Colour]] = {
    "create": ("+", Colour.GREEN),
    "update": ("~", Colour.YELLOW),
    "assert": ("!", Colour.YELLOW),
    "blocked": ("x", Colour.RED),
}
_LONGEST_LINE: Final = 100
_SHORT: Final = 60


def shown_plan(document: PlanDocument, style: Style) -> str:
    """Return a plan file as text: each change with all its fields, then the guards."""
    changes = [change for change in document["changes"] if change["action"] != "keep"]
    found = Counter[str](change["action"] for change in document["changes"])
    counts = [f"{found[word]} {word}" for word in _SIGNS if found[word]]
    head = f"Plan for {document['environment']} at {document['target']}: "
    lines = [*wrapped(head + (", ".join(counts) or "nothing to do"), style, Colour.BOLD, margin="")]
    for change in changes:
        lines += ["", *_change_lines(change, style)]
    if kept := found["keep"]:
        lines += ["", *wrapped(f"{plural(kept, 'resource')} kept as they are", style, margin="")]
    guards = [guard for guard in document["guards"] if guard["code"] != NOT_APPROVED]
    if guards:
        lines += ["", style.paint("What guards object to: you would consent to it", Colour.BOLD)]
        for guard in guards:
            lines += _guard_lines(guard, style)
    lines += ["", *wrapped(f"Digest {document['digest']}", style, Colour.DIM, margin="")]
    return "\n".join(lines)


def _change_lines(change: ChangeDocument, style: Style) -> Iterator[str]:
    sign, colour = _SIGNS[change["action"]]
    source = change["source"]
    yield style.paint(f"{sign} {safe(change['ref'])}", colour, Colour.BOLD)
    seen = "" if change["evidence"] == "live" else f" (compared with: {change['evidence']})"
    yield from wrapped(f"{source['file']}:{source['line']}{seen}", style, Colour.DIM)
    for note in change["notes"]:
        yield from wrapped(note, style, Colour.CYAN)
    for field in change["fields"]:
        yield from _field_lines(field, style)
    for name in change["destroys"]:
        yield from wrapped(f"- destroys {name}", style, Colour.RED)


def _field_lines(field: FieldDocument, style: Style) -> Iterator[str]:
    path = ".".join(map(str, field["path"]))
    if field["operation"] == "move":
        yield from wrapped(f"{path}: moves {field.get('before')} -> {field.get('after')}", style)
        return
    before, after = (_text(field, side) for side in ("before", "after"))
    line = f"{path}: {before} -> {after}" if before and after else f"{path}: {before}{after}"
    if "\n" not in line and len(line) <= _LONGEST_LINE:
        yield from wrapped(line + (" -> removed" if not after else ""), style, hang="  ")
        return
    yield from wrapped(f"{path}:", style)
    for sign, text in _rows(before, after):
        words = text.lstrip()
        margin = f"      {sign} {' ' * (len(text) - len(words))}"
        yield from wrapped(words, style, margin=margin, hang="  ")


def _rows(before: str, after: str) -> Iterator[tuple[str, str]]:
    """Yield the lines of a value, or of the difference of two, each with its sign."""
    if before and after:
        every_line = max(before.count("\n"), after.count("\n")) + 1
        yield from ((part.sign, part.text) for part in line_diff(before, after, every_line))
    else:
        yield from ((" " if after else "-", line) for line in (before or after).split("\n"))


def _text(field: FieldDocument, side: Literal["before", "after"]) -> str:
    """Return one side of a field, on many lines where it is long; "" where it is absent."""
    if side not in field:
        return ""
    value = field[side]
    if isinstance(value, str) and "\n" in value:
        return value
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHORT else json.dumps(value, ensure_ascii=False, indent=2)


def _guard_lines(guard: GuardDocument, style: Style) -> Iterator[str]:
    consent = "" if guard["level"] == REVIEW_LEVEL else ", and needs its own flag at the apply"
    yield from wrapped(
        f"{guard['message']} [{guard['code']}]{consent}", style, Colour.RED, hang="  "
    )
