"""The drift of resources, as one page. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from reconciler.model import Drift, DriftReport
from reconciler.model.plan import DriftState
from reconciler.report.changes.field_changes import drift_changes
from reconciler.report.counts import describe_no_drift, drift_summary
from reconciler.report.html.cards import Card, Chip, card, fields_table, filter_bar, group, notes
from reconciler.report.html.page import (
    NOTHING,
    Markup,
    ReportOccasion,
    element,
    of_class,
    page,
    page_head,
    skip_link,
)
from reconciler.report.reasons import describe_remedy, drift_note, look_notes
from reconciler.report.words import plural

SIDES = "applied", "live"
SIGNS = "Of each field, - is what was applied and + is live."
OPEN_UP_TO = 3
_SIGNS = {"drifted": "~", "gone": "−", "unread": "x"}  # noqa: RUF001 - a minus as wide as a plus
_STATES: tuple[DriftState, ...] = ("unread", "gone", "drifted", "unapplied", "unseen", "same")
_MEANINGS = {
    "unread": "it was asked for, and the answer was of no use",
    "drifted": "live differs from what was applied",
    "gone": "the service no longer has it",
    "unapplied": "the journal has no write of it",
    "unseen": "the API cannot show it",
    "same": "as applied",
}


def drift_html(
    look: DriftReport, environment: str, target: str, made: ReportOccasion | None = None
) -> str:
    """Return the page, ending in a line break. It contains all drift, whole."""
    drifts = look.found
    findings = (drift for drift in drifts if drift.is_finding)
    found = sorted(findings, key=lambda drift: drift.ref)
    shown = [_card(drift, f"drift-{number}") for number, drift in enumerate(found, 1)]
    title = f"Drift of {environment}"
    return page(
        f"{title}: {drift_summary(look)}",
        skip_link("changes", "To what drifted"),
        page_head(
            title,
            target,
            made,
            _counts(look),
            notes(tuple(look_notes(look))),
            of_class("p", "quiet", SIGNS) if shown else NOTHING,
        ),
        element(
            "main",
            None,
            filter_bar(shown),
            element("div", {"id": "changes", "tabindex": "-1"}, *_groups(shown)),
            _rest(drifts),
        ),
        element("footer", None, of_class("p", "legend", "applied: what the journal says was sent")),
    )


def _counts(look: DriftReport) -> Markup:
    counts = Counter(drift.state for drift in look.found)
    items = [
        element(
            "li",
            {"title": _MEANINGS[state]},
            of_class("span", "number", f"{counts[state]:,}"),
            f" {state}",
        )
        for state in _STATES
        if counts[state]
    ]
    more = (
        (look.ignored, "ignored", "differences that the project file expects"),
        (look.new, "new", f"not there when drift was last remembered, {look.since}"),
    )
    items.extend(
        element("li", {"title": title}, of_class("span", "number", f"{count:,}"), f" {word}")
        for count, word, title in more
        if count
    )
    return of_class("ul", "counts", *items)


def _groups(shown: Sequence[Card]) -> Iterator[Markup]:
    for kind, run in groupby(shown, key=lambda shown_card: shown_card.ref.kind):
        cards = [card(shown_card, is_open=len(shown) <= OPEN_UP_TO) for shown_card in run]
        yield group(kind, plural(len(cards), "resource"), cards)


def _card(drift: Drift, identity: str) -> Card:
    word = drift.state
    chips = [Chip(plural(len(drift.differences), "field"))] if drift.differences else []
    return Card(
        identity=identity,
        ref=drift.ref,
        source=drift.source,
        sign=_SIGNS[word],
        word=word,
        facets=[("kind", drift.ref.kind), ("state", word)],
        chips=chips,
        said=(),
        body=(
            notes(tuple(filter(None, (drift_note(drift),)))),
            fields_table(drift_changes(drift), SIDES),
            notes(tuple(map(describe_remedy, drift.remedies))),
        ),
    )


def _rest(drifts: Sequence[Drift]) -> Markup:
    rest = (drift for drift in drifts if not drift.is_finding)
    calm = sorted(rest, key=lambda drift: drift.state)
    if not calm:
        return NOTHING
    lists = []
    for state, run in groupby(calm, key=lambda drift: drift.state):
        names = (element("li", None, str(drift.ref)) for drift in run)
        lists += [element("h3", None, _MEANINGS[state]), of_class("ul", "names", *names)]
    summary = element("summary", None, describe_no_drift(calm))
    return of_class("details", "unchanged", summary, *lists)
