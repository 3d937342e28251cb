"""The card of a resource on a page, its table of fields, and the filter bar. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest

from reconciler.model import Change, Plan, Ref, Source
from reconciler.model.quoting import and_more
from reconciler.report.changes.field_changes import DiffLine, FieldChange, LeafValue, by_subject
from reconciler.report.html.page import (
    NOTHING,
    Markup,
    breakable,
    element,
    items,
    joined,
    of_class,
    spans,
)
from reconciler.report.watcher_formats import names_of
from reconciler.report.words import alike, place, plural

MOST_NAMED = 50


def watchers_card(plan: Plan, change: Change) -> Markup:
    """Return the watchers of a resource for the card of its change; nothing without any."""
    watchers = plan.watchers.get(change.ref)
    if watchers is None:
        return NOTHING
    names = names_of(watchers)
    shown = [element("code", name) for name in names[:MOST_NAMED]]
    more = filter(None, [and_more(len(names) - MOST_NAMED)])
    head = element("p", f"Watched by {plural(len(names), 'alert')}:")
    return of_class("div", "watched", head, items((*shown, *more)))


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
    summary = element(
        "summary",
        of_class("span", f"sign {shown.word}", shown.sign),
        of_class("span", "word", shown.word),
        element("h3", shown.ref.name),
        of_class("span", "chips", *map(_chip, shown.chips)),
        of_class("span", "source", str(shown.source or "")),
        _said(shown.said),
    )
    return element(
        "details",
        summary,
        of_class("div", "body", *shown.body),
        class_=f"change {shown.word}",
        id=shown.identity,
        open=is_open,
        **{f"data-{name}": value for name, value in shown.facets},
    )


def _said(texts: Sequence[str]) -> Markup:
    if not texts:
        return NOTHING
    shown = (text if isinstance(text, Markup) else element("code", text) for text in texts)
    return of_class("span", "said", joined(shown, " "))


def _chip(chip: Chip) -> Markup:
    classes = f"chip {chip.classes}".strip()
    return element("span", chip.words, class_=classes, title=chip.meaning or False)


def notes(texts: Iterable[str]) -> Markup:
    """Return notes as a list."""
    shown = [spans(text) for text in texts]
    return items(shown, "notes") if shown else NOTHING


def counted(count: int, words: str, *, title: str | bool = False, sign: Markup = NOTHING) -> Markup:
    """Return an item of a list of counts."""
    number = of_class("span", "number", f"{count:,}")
    return element("li", sign, " " if sign else "", number, f" {words}", title=title)


OPEN_UP_TO = 10


def changes(shown: Sequence[Card], noun: str, meanings: Mapping[str, str] | None = None) -> Markup:
    """Return the filter bar, and the cards grouped by their first facet; few cards are open."""
    groups = []
    for name, run in groupby(shown, key=lambda shown_card: shown_card.facets[0][1]):
        cards = [card(shown_card, is_open=len(shown) <= OPEN_UP_TO) for shown_card in run]
        meaning = f": {meanings.get(name, '')}" if meanings else ""
        count = of_class("span", "quiet", plural(len(cards), noun) + meaning)
        groups.append(of_class("section", "group", element("h2", name, " ", count), *cards))
    return joined((filter_bar(shown), element("div", *groups, id="changes", tabindex="-1")))


def unchanged(summary: str, lists: Iterable[tuple[str, Iterable[str]]]) -> Markup:
    """Return lists of names, each with its title, folded below a summary."""
    parts = [
        part for title, names in lists for part in (element("h3", title), items(names, "names"))
    ]
    return of_class("details", "unchanged", element("summary", summary), *parts)


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
    if not found:
        return NOTHING
    rows = []
    for change in found:
        whole = _leaves(change.leaves) if change.leaves else element("code", change.after)
        rows.append(element("tr", _name(change, ""), element("td", whole)))
    return _table(("field", "value"), [element("tbody", *rows)])


def _table(columns: Sequence[str], groups: Iterable[Markup]) -> Markup:
    head = element("tr", *(element("th", name, scope="col") for name in columns))
    body = joined(groups)
    table = element("table", element("thead", head), body, class_="fields")
    return of_class("div", "scroll", table)


def _group(subject: str, changes: Sequence[FieldChange]) -> Markup:
    heading = NOTHING
    if subject:
        heading = element("tr", element("th", subject, colspan="3", scope="rowgroup"))
    rows = (
        element("tr", _name(change, _WORDS[change.operation]), *_sides(change))
        for change in changes
    )
    return element("tbody", heading, *rows)


def _name(change: FieldChange, word: str) -> Markup:
    """Return the name of a field; with `word`, also the sign and word of its change."""
    sign = of_class("span", f"sign op-{change.operation}", _SIGNS[change.operation])
    parts = (
        sign if word else NOTHING,
        of_class("span", "key", breakable(change.field)) if change.field else NOTHING,
        of_class("span", "quiet", word) if word else NOTHING,
    )
    named = joined((part for part in parts if part), " ")
    return element("th", named, scope="row", title=place(change.path))


def _sides(change: FieldChange) -> Iterator[Markup]:
    match change.operation:
        case "move":
            yield element("td", change.stands, colspan="2", class_="quiet")
        case "add" | "remove" if change.leaves:
            side = "after" if change.operation == "add" else "before"
            stands = of_class("div", "quiet", change.stands) if change.stands else NOTHING
            whole = joined((stands, _leaves(change.leaves)))
            yield element("td", whole, colspan="2", class_=side)
        case "add":
            yield _absent()
            yield of_class("td", "after", element("code", change.after))
        case "remove":
            yield of_class("td", "before", element("code", change.before))
            yield _absent()
        case "change" if change.lines:
            yield element("td", _lines(change.lines), colspan="2", class_="lines")
        case "change":
            before, after = marked(change.before, change.after)
            yield of_class("td", "before", element("code", before))
            yield of_class("td", "after", element("code", after))


def _absent() -> Markup:
    return of_class("td", "quiet", "absent")


def _leaves(leaves: Sequence[LeafValue]) -> Markup:
    rows = []
    for subject, group in by_subject(leaves[:MOST_LEAVES]):
        if subject:
            rows.append(of_class("li", "part", subject))
        for leaf in group:
            label = of_class("span", "key", breakable(leaf.field)) if leaf.field else NOTHING
            rows.append(element("li", label, " ", element("code", leaf.text)))
    if more := and_more(len(leaves) - MOST_LEAVES):
        rows.append(of_class("li", "quiet", more))
    return of_class("ul", "leaves", *rows)


def _lines(lines: Sequence[DiffLine]) -> Markup:
    rows = list(_line_rows(lines[:MOST_LINES]))
    if more := and_more(len(lines) - MOST_LINES, "line"):
        rows.append(_through(more))
    return of_class("table", "linediff", element("tbody", *rows))


def _line_rows(lines: Sequence[DiffLine]) -> Iterator[Markup]:
    """Yield rows of two cells: removed lines next to added lines."""
    for is_changed, run in groupby(lines, key=lambda line: line.sign in "-+"):
        found = list(run)
        if is_changed:
            gone, come = ([text for sign, text in found if sign == side] for side in "-+")
            yield from _pairs(gone, come)
            continue
        for sign, text in found:
            cell = of_class("td", "same", element("code", text))
            yield _through(text) if sign == "…" else element("tr", cell, cell)


def _pairs(gone: Sequence[str], come: Sequence[str]) -> Iterator[Markup]:
    for before, after in zip_longest(gone, come):
        old, new = marked(before or "", after or "")
        yield element("tr", _line("del", "before", old), _line("ins", "after", new))


def _line(name: str, side: str, text: Markup) -> Markup:
    if not text:
        return element("td")
    return of_class("td", side, element(name, element("code", text)))


def _through(text: str) -> Markup:
    return element("tr", element("td", text, colspan="2", class_="quiet gap"))


def marked(before: str, after: str) -> tuple[Markup, Markup]:
    """Return both texts with their difference marked, if enough of them is the same."""
    head = alike(before, after)
    tail = alike(before[head:][::-1], after[head:][::-1])
    if head + tail < FEWEST_ALIKE * max(len(before), len(after), 1):
        return joined([before]), joined([after])
    return _middle(before, head, tail), _middle(after, head, tail)


def _middle(text: str, head: int, tail: int) -> Markup:
    end = len(text) - tail
    inside = element("mark", text[head:end]) if head < end else NOTHING
    return joined([text[:head], inside, text[end:]])


NAMELESS = "none"


def filter_bar(cards: Sequence[Card]) -> Markup:
    """Return a search field, and a button for each value of each facet that has several."""
    if len(cards) <= 1:
        return NOTHING
    return element(
        "div",
        _search(),
        _actions(len(cards)),
        _facets(cards),
        class_="filters",
        role="search",
        aria_label="Filter the changes",
        hidden=True,
        data_needs_script=True,
    )


def _search() -> Markup:
    label = element("label", "Search", for_="search")
    field = element(
        "input",
        id="search",
        type="search",
        placeholder="name, file, query …  ( / )",
        autocomplete="off",
        spellcheck="false",
    )
    return of_class("div", "search", label, field)


def _facets(cards: Sequence[Card]) -> Markup:
    """Return the buttons of all facets, folded where the cards are few."""
    found = [*_fieldsets(cards)]
    if not found:
        return NOTHING
    summary, is_open = element("summary", "Filters"), len(cards) > OPEN_UP_TO
    return element("details", summary, *found, class_="facets", open=is_open)


def _fieldsets(cards: Sequence[Card]) -> Iterator[Markup]:
    names = dict.fromkeys(name for card in cards for name, _ in card.facets)
    for name in names:
        values = Counter(dict(card.facets).get(name, "") for card in cards)
        if len(values) > 1:
            buttons = (_button(name, value, count) for value, count in sorted(values.items()))
            yield element("fieldset", element("legend", name), *buttons)


def _button(name: str, value: str, count: int) -> Markup:
    return element(
        "button",
        value or NAMELESS,
        " ",
        of_class("span", "count", f"{count:,}"),
        type="button",
        aria_pressed="false",
        data_facet=name,
        data_value=value,
    )


def _actions(count: int) -> Markup:
    return of_class(
        "div",
        "actions",
        element("output", f"{count:,} of {count:,} shown", id="status", role="status"),
        element("button", "Open all", type="button", data_open="true"),
        element("button", "Close all", type="button", data_open="false"),
        element("button", "Clear filters", type="button", id="reset", disabled=True),
    )
