"""One resource of a report, closed until somebody opens it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reconciler.report.html.element import NOTHING, Markup, element, joined, of_class
from reconciler.resource import Ref, Source

TEAM = "team"
"""The label of manifests by which people look for what is theirs."""


@dataclass(frozen=True, slots=True)
class Chip:
    """A short fact beside a name, and what it means; `classes` colour it."""

    words: str
    meaning: str = ""
    classes: str = ""


@dataclass(frozen=True, slots=True)
class Card:
    """What is shown of one resource, `said` before it is opened.

    `facets` are what it can be filtered by.
    """

    identity: str
    ref: Ref
    source: Source
    sign: str
    word: str
    facets: Sequence[tuple[str, str]]
    chips: Sequence[Chip]
    said: Sequence[str]
    body: Sequence[Markup]


def card(shown: Card, *, is_open: bool) -> Markup:
    """Give the resource: a line that opens, and below it all that is to be said."""
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
        of_class("span", "source", str(shown.source)),
        _said(shown.said),
    )
    return element("details", attributes, summary, of_class("div", "body", *shown.body))


def _said(texts: Sequence[str]) -> Markup:
    if not texts:
        return NOTHING
    return of_class("span", "said", joined((element("code", None, text) for text in texts), " "))


def _chip(chip: Chip) -> Markup:
    classes = f"chip {chip.classes}".strip()
    return element("span", {"class": classes, "title": chip.meaning or False}, chip.words)


def notes(texts: Sequence[str]) -> Markup:
    """Give notes as a list."""
    if not texts:
        return NOTHING
    return of_class("ul", "notes", *(element("li", None, text) for text in texts))


def group(kind: str, count: str, cards: Sequence[Markup]) -> Markup:
    """Give the resources of one kind under their heading."""
    heading = element("h2", None, kind, " ", of_class("span", "quiet", count))
    return of_class("section", "group", heading, joined(cards))
