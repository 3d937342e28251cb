"""The card of a resource on a page, its table of fields, and the filter bar. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from reconciler.model import Change, Plan, Ref, Source
from reconciler.report.changes.field_changes import FieldChange, LeafValue, by_subject
from reconciler.report.changes.line_diff import DiffLine
from reconciler.report.html.page import NOTHING, Markup, breakable, element, joined, of_class, spans
from reconciler.report.watcher_formats import names_of
from reconciler.report.words import place, plural

MOST_NAMED = 50


def watchers_card(plan: Plan, change: Change) -> Markup:
    """Return the watchers of a resource for the card of its change; nothing without any."""
    watchers = plan.watchers.get(change.ref)
    if watchers is None:
        return NOTHING
    names = names_of(watchers)
    items = [element("li", None, element("code", None, name)) for name in names[:MOST_NAMED]]
    if len(names) > MOST_NAMED:
        items.append(element("li", None, f"and {len(names) - MOST_NAMED:,} more"))
    head = element("p", None, f"Watched by {plural(len(names), 'alert')}:")
    return of_class("div", "watched", head, element("ul", None, *items))


TEAM = "team"
"""The label by which people filter manifests for their team."""


@dataclass(frozen=True, slots=True)
class Chip:
    """A short fact next to a name, and its meaning; `classes` colour it."""

    words: str
    meaning: str = ""
    classes: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """The content of a resource's card. `said` is visible before the card is opened.

    `facets` are what it can be filtered by.
    """

    identity: str
    ref: Ref
    source: Source | None
    sign: str
    word: str
    facets: Sequence[tuple[str, str]]
    chips: Sequence[Chip]
    said: Sequence[str]
    body: Sequence[Markup]


def card(shown: Card, *, is_open: bool) -> Markup:
    """Return the card: a line that opens, and its body below."""
    attributes: dict[str, str | bool] = {
        "class": f"change {shown.word}",
        "id": shown.identity,
        "open": is_open,
    }
    attributes.update((f"data-{name}", value) for name, value in shown.facets)
    summary = element(
        "summary",
        None,
        of_class("span", f"sign {shown.word}", shown.sign),
        of_class("span", "word", shown.word),
        element("h3", None, shown.ref.name),
        of_class("span", "chips", *map(_chip, shown.chips)),
        of_class("span", "source", str(shown.source or "")),
        _said(shown.said),
    )
    return element("details", attributes, summary, of_class("div", "body", *shown.body))


def _said(texts: Sequence[str]) -> Markup:
    if not texts:
        return NOTHING
    shown = (text if isinstance(text, Markup) else element("code", None, text) for text in texts)
    return of_class("span", "said", joined(shown, " "))


def _chip(chip: Chip) -> Markup:
    classes = f"chip {chip.classes}".strip()
    return element("span", {"class": classes, "title": chip.meaning or False}, chip.words)


def notes(texts: Sequence[str]) -> Markup:
    """Return notes as a list."""
    if not texts:
        return NOTHING
    return of_class("ul", "notes", *(element("li", None, spans(text)) for text in texts))


def group(kind: str, count: str, cards: Sequence[Markup]) -> Markup:
    """Return the resources of one kind under their heading."""
    heading = element("h2", None, kind, " ", of_class("span", "quiet", count))
    return of_class("section", "group", heading, joined(cards))


MOST_LEAVES = 200
MOST_LINES = 2_000
FEWEST_ALIKE = 0.3
_WORDS = {"add": "added", "remove": "removed", "change": "changed", "move": "moved"}
_SIGNS = {"add": "+", "remove": "−", "change": "~", "move": "↕"}  # noqa: RUF001 - a minus as wide as a plus


def fields_table(found: Sequence[FieldChange], sides: tuple[str, str]) -> Markup:
    """Return a table of all differences, with a heading row for each part of the resource."""
    groups = (_group(subject, changes) for subject, changes in by_subject(found))
    return _table(("field", *sides), groups) if found else NOTHING


def new_table(found: Sequence[FieldChange]) -> Markup:
    """Return a table of the fields that are sent, where the replaced values are unknown."""
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
    """Return the name of a field; with `word`, also the sign and word of its change."""
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


def _leaves(leaves: Sequence[LeafValue]) -> Markup:
    rows = []
    subject = ""
    for leaf in leaves[:MOST_LEAVES]:
        if leaf.subject != subject:
            subject = leaf.subject
            rows.append(of_class("li", "part", subject))
        label = of_class("span", "key", breakable(leaf.field)) if leaf.field else NOTHING
        rows.append(element("li", None, label, " ", element("code", None, leaf.text)))
    if len(leaves) > MOST_LEAVES:
        rows.append(of_class("li", "quiet", f"and {len(leaves) - MOST_LEAVES:,} more"))
    return of_class("ul", "leaves", *rows)


def _lines(lines: Sequence[DiffLine]) -> Markup:
    rows = list(_line_rows(lines[:MOST_LINES]))
    if len(lines) > MOST_LINES:
        rows.append(_through(f"and {plural(len(lines) - MOST_LINES, 'line')} more"))
    return of_class("table", "linediff", element("tbody", None, *rows))


def _line_rows(lines: Sequence[DiffLine]) -> Iterator[Markup]:
    """Yield rows of two cells: removed lines next to added lines."""
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
    """Return both texts with their difference marked, if enough of them is the same."""
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


NAMELESS = "none"


def filter_bar(cards: Sequence[Card]) -> Markup:
    """Return a search field, and a button for each value of each facet that has several."""
    if len(cards) <= 1:
        return NOTHING
    attributes: dict[str, str | bool] = {
        "class": "filters",
        "role": "search",
        "aria-label": "Filter the changes",
        "hidden": True,
        "data-needs-script": True,
    }
    return element("div", attributes, _search(), *_facets(cards), _actions(len(cards)))


def _search() -> Markup:
    label = element("label", {"for": "search"}, "Search")
    field = element(
        "input",
        {
            "id": "search",
            "type": "search",
            "placeholder": "name, file, query …  ( / )",
            "autocomplete": "off",
            "spellcheck": "false",
        },
    )
    return of_class("div", "search", label, field)


def _facets(cards: Sequence[Card]) -> Iterator[Markup]:
    names = dict.fromkeys(name for card in cards for name, _ in card.facets)
    for name in names:
        values = Counter(dict(card.facets).get(name, "") for card in cards)
        if len(values) > 1:
            yield _facet(name, values)


def _facet(name: str, values: Counter[str]) -> Markup:
    legend = element("legend", None, name)
    buttons = (_button(name, value, count) for value, count in sorted(values.items()))
    return element("fieldset", None, legend, *buttons)


def _button(name: str, value: str, count: int) -> Markup:
    attributes: dict[str, str | bool] = {
        "type": "button",
        "aria-pressed": "false",
        "data-facet": name,
        "data-value": value,
    }
    number = of_class("span", "count", f"{count:,}")
    return element("button", attributes, value or NAMELESS, " ", number)


def _actions(count: int) -> Markup:
    return of_class(
        "div",
        "actions",
        element("output", {"id": "status", "role": "status"}, f"{count:,} of {count:,} shown"),
        element("button", {"type": "button", "data-open": "true"}, "Open all"),
        element("button", {"type": "button", "data-open": "false"}, "Close all"),
        element("button", {"type": "button", "id": "reset", "disabled": True}, "Clear filters"),
    )
