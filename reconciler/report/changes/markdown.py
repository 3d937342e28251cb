"""A change as the lines of a fenced diff. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from reconciler.model.quoting import and_more
from reconciler.report.changes.field_changes import FieldChange, LeafValue, by_subject
from reconciler.report.safe import safe
from reconciler.report.words import around_difference

MOST_LEAVES = 40
LONGEST_VALUE = 300
LONGEST_INLINE = 100


def diff_lines(found: Sequence[FieldChange], sides: tuple[str, str] | None = None) -> Iterator[str]:
    """Yield differences part by part; every line except context begins with its sign.

    `sides` names the documents before and after, where that is not obvious.
    """
    if sides and found:
        yield f"# - {sides[0]}"
        yield f"# + {sides[1]}"
    for subject, changes in by_subject(found):
        named = False
        for change in changes:
            if subject and not change.field:
                yield from _part_lines(change, subject)
                continue
            if subject and not named:
                yield f"@@ {subject} @@"
                named = True
            yield from _part_lines(change, change.field)


def _part_lines(change: FieldChange, words: str) -> Iterator[str]:
    match change.operation:
        case "move":
            yield f"! {words} moves {change.stands}"
        case "add":
            stands = f" {change.stands}" if change.stands else ""
            yield from _whole_lines("+", words + stands, change.after, change.leaves)
        case "remove":
            yield from _whole_lines("-", words, change.before, change.leaves)
        case "change":
            yield from _changed_lines(change, words)


def _whole_lines(
    sign: Literal["+", "-"], words: str, text: str, leaves: Sequence[LeafValue]
) -> Iterator[str]:
    if not leaves:
        yield f"{sign} {words}: {safe(text, LONGEST_VALUE)}" if text else f"{sign} {words}"
        return
    yield f"{sign} {words}:"
    for subject, group in by_subject(leaves[:MOST_LEAVES]):
        if subject:
            yield f"{sign}   {subject}:"
        margin = "    " if subject else "  "
        for leaf in group:
            label = f"{leaf.field}: " if leaf.field else ""
            yield f"{sign} {margin}{label}{safe(leaf.text, LONGEST_VALUE)}"
    if more := and_more(len(leaves) - MOST_LEAVES):
        yield f"{sign}   {more}"


def _changed_lines(change: FieldChange, words: str) -> Iterator[str]:
    longest = max(len(change.before), len(change.after))
    if len(words) + longest <= LONGEST_INLINE:
        yield f"- {words}: {change.before}"
        yield f"+ {words}: {change.after}"
        return
    yield f"  {words}:"
    if change.lines:
        for sign, text in change.lines:
            yield f"{sign}   {text}".rstrip()
        return
    before, after = around_difference(change.before, change.after, LONGEST_VALUE)
    yield f"-   {before}"
    yield f"+   {after}"
