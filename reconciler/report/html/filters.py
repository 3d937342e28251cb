"""The bar that narrows a page down, hidden where no script runs. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from reconciler.report.html.card import Card
from reconciler.report.html.element import NOTHING, Markup, element, of_class

NAMELESS = "none"


def filter_bar(cards: Sequence[Card]) -> Markup:
    """Give a search field, and a button for each value of each facet that has several."""
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
