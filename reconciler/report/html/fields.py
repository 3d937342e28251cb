"""Fields of one resource, before and after side by side. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

from reconciler.report.changes.field_change import FieldChange, Leaf, by_subject
from reconciler.report.changes.line_diff import Line
from reconciler.report.html.element import NOTHING, Markup, breakable, element, joined, of_class
from reconciler.report.words import place, plural

MOST_LEAVES = 200
MOST_LINES = 2_000
FEWEST_ALIKE = 0.3
_WORDS = {"add": "added", "remove": "removed", "change": "changed", "move": "moved"}
_SIGNS = {"add": "+", "remove": "−", "change": "~", "move": "↕"}  # noqa: RUF001 - a minus as wide as a plus


def fields_table(found: Sequence[FieldChange], sides: tuple[str, str]) -> Markup:
    """Give a table of all differences, a heading row for each part of the resource."""
    groups = (_group(subject, changes) for subject, changes in by_subject(found))
    return _table(("field", *sides), groups) if found else NOTHING


def new_table(found: Sequence[FieldChange]) -> Markup:
    """Give a table of what is sent, where nobody knows of anything that it would replace."""
    rows = (element("tr", None, _name(change, ""), _value(change)) for change in found)
    return _table(("field", "value"), [element("tbody", None, *rows)]) if found else NOTHING


def _table(columns: Sequence[str], groups: Iterable[Markup]) -> Markup:
    head = element("tr", None, *(element("th", {"scope": "col"}, name) for name in columns))
    body = joined(groups)
    table = element("table", {"class": "fields"}, element("thead", None, head), body)
    return of_class("div", "scroll", table)


def _value(change: FieldChange) -> Markup:
    whole = _leaves(change.leaves) if change.leaves else element("code", None, change.after)
    return element("td", None, whole)


def _group(subject: str, changes: Sequence[FieldChange]) -> Markup:
    heading = NOTHING
    if subject:
        heading = element("tr", None, element("th", {"colspan": "3", "scope": "rowgroup"}, subject))
    rows = joined(_row(change) for change in changes)
    return element("tbody", None, heading, rows)


def _row(change: FieldChange) -> Markup:
    return element("tr", None, _name(change, _WORDS[change.operation]), *_sides(change))


def _name(change: FieldChange, word: str) -> Markup:
    """Name a field, with the sign and word of what becomes of it, where that is known."""
    sign = of_class("span", f"sign op-{change.operation}", _SIGNS[change.operation])
    parts = (
        sign if word else NOTHING,
        of_class("span", "key", breakable(change.field)) if change.field else NOTHING,
        of_class("span", "quiet", word) if word else NOTHING,
    )
    named = joined((part for part in parts if part), " ")
    return element("th", {"scope": "row", "title": place(change.path)}, named)


def _sides(change: FieldChange) -> Iterator[Markup]:
    match change.operation:
        case "move":
            yield element("td", {"colspan": "2", "class": "quiet"}, change.stands)
        case "add" | "remove" if change.leaves:
            side = "after" if change.operation == "add" else "before"
            stands = of_class("div", "quiet", change.stands) if change.stands else NOTHING
            whole = joined((stands, _leaves(change.leaves)))
            yield element("td", {"colspan": "2", "class": side}, whole)
        case "add":
            yield _absent()
            yield of_class("td", "after", element("code", None, change.after))
        case "remove":
            yield of_class("td", "before", element("code", None, change.before))
            yield _absent()
        case "change" if change.lines:
            yield element("td", {"colspan": "2", "class": "lines"}, _lines(change.lines))
        case "change":
            before, after = marked(change.before, change.after)
            yield of_class("td", "before", element("code", None, before))
            yield of_class("td", "after", element("code", None, after))


def _absent() -> Markup:
    return of_class("td", "quiet", "absent")


def _leaves(leaves: Sequence[Leaf]) -> Markup:
    """Give a part that comes or goes end by end."""
    items = []
    subject = ""
    for leaf in leaves[:MOST_LEAVES]:
        if leaf.subject != subject:
            subject = leaf.subject
            items.append(of_class("li", "part", subject))
        label = of_class("span", "key", breakable(leaf.field)) if leaf.field else NOTHING
        items.append(element("li", None, label, " ", element("code", None, leaf.text)))
    if len(leaves) > MOST_LEAVES:
        items.append(of_class("li", "quiet", f"and {len(leaves) - MOST_LEAVES:,} more"))
    return of_class("ul", "leaves", *items)


def _lines(lines: Sequence[Line]) -> Markup:
    rows = list(_line_rows(lines[:MOST_LINES]))
    if len(lines) > MOST_LINES:
        rows.append(_through(f"and {plural(len(lines) - MOST_LINES, 'line')} more"))
    return of_class("table", "linediff", element("tbody", None, *rows))


def _line_rows(lines: Sequence[Line]) -> Iterator[Markup]:
    """Yield rows of two cells, what goes beside what comes."""
    gone: list[str] = []
    come: list[str] = []
    for sign, text in lines:
        if sign == "-" and come:
            yield from _pairs(gone, come)
            gone, come = [], []
        if sign in "-+":
            (gone if sign == "-" else come).append(text)
            continue
        yield from _pairs(gone, come)
        gone, come = [], []
        cell = of_class("td", "same", element("code", None, text))
        yield _through(text) if sign == "…" else element("tr", None, cell, cell)
    yield from _pairs(gone, come)


def _pairs(gone: Sequence[str], come: Sequence[str]) -> Iterator[Markup]:
    for before, after in zip_longest(gone, come):
        old, new = marked(before or "", after or "")
        yield element("tr", None, _line("del", "before", old), _line("ins", "after", new))


def _line(name: str, side: str, text: Markup) -> Markup:
    if not text:
        return element("td")
    return of_class("td", side, element(name, None, element("code", None, text)))


def _through(text: str) -> Markup:
    return element("tr", None, element("td", {"colspan": "2", "class": "quiet gap"}, text))


def marked(before: str, after: str) -> tuple[Markup, Markup]:
    """Mark where two texts differ, if enough of them is the same to be worth it."""
    shorter = min(len(before), len(after))
    head = 0
    while head < shorter and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < shorter - head and before[-tail - 1] == after[-tail - 1]:
        tail += 1
    if head + tail < FEWEST_ALIKE * max(len(before), len(after), 1):
        return joined([before]), joined([after])
    return _middle(before, head, tail), _middle(after, head, tail)


def _middle(text: str, head: int, tail: int) -> Markup:
    end = len(text) - tail
    inside = element("mark", None, text[head:end]) if head < end else NOTHING
    return joined([text[:head], inside, text[end:]])
