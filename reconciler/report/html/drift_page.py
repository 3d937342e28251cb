"""The drift of resources, as one page. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from reconciler.model import Drift, DriftReport
from reconciler.model.plan import DriftState
from reconciler.report.changes.field_changes import drift_changes
from reconciler.report.counts import describe_no_drift, drift_summary
from reconciler.report.html.cards import (
    Card,
    Chip,
    changes,
    counted,
    fields_table,
    notes,
    unchanged,
)
from reconciler.report.html.page import (
    NOTHING,
    Markup,
    ReportOccasion,
    element,
    of_class,
    page,
    page_head,
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
        "To what drifted",
        page_head(
            title,
            target,
            made,
            _counts(look),
            notes(look_notes(look)),
            of_class("p", "quiet", SIGNS) if shown else NOTHING,
        ),
        changes(shown, "resource", OPEN_UP_TO),
        _rest(drifts),
        foot=element("footer", of_class("p", "legend", "applied: what the journal says was sent")),
    )


def _counts(look: DriftReport) -> Markup:
    counts = Counter(drift.state for drift in look.found)
    found = (
        *((counts[state], state, _MEANINGS[state]) for state in _STATES),
        (look.ignored, "ignored", "differences that the project file expects"),
        (look.new, "new", f"not there when drift was last remembered, {look.since}"),
    )
    shown = (counted(count, word, title=title) for count, word, title in found if count)
    return of_class("ul", "counts", *shown)


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
            notes(filter(None, (drift_note(drift),))),
            fields_table(drift_changes(drift), SIDES),
            notes(map(describe_remedy, drift.remedies)),
        ),
    )


def _rest(drifts: Sequence[Drift]) -> Markup:
    rest = (drift for drift in drifts if not drift.is_finding)
    calm = sorted(rest, key=lambda drift: drift.state)
    if not calm:
        return NOTHING
    lists = (
        (_MEANINGS[state], (str(drift.ref) for drift in run))
        for state, run in groupby(calm, key=lambda drift: drift.state)
    )
    return unchanged(describe_no_drift(calm), lists)
