"""The findings of an audit, as one page. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby

from reconciler.features.audit.audit_rule import Audit, Audited
from reconciler.model import Ref, Source
from reconciler.report.complaints.document import advice
from reconciler.report.html.cards import Card, card, filter_bar, group, notes
from reconciler.report.html.page import (
    NOTHING,
    Markup,
    ReportOccasion,
    element,
    joined,
    of_class,
    page,
    page_head,
    skip_link,
    spans,
)
from reconciler.report.words import plural
from reconciler.syntax.diagnostic import AUDITED, Excerpt

OPEN_UP_TO = 6
_SIGNS = {"error": "x", "warning": "!"}


def audit_html(
    audit: Audit, environment: str, target: str, summary: str, made: ReportOccasion | None = None
) -> str:
    """Return the page, ending in a line break. It contains every finding, whole."""
    title = f"Audit of {environment}"
    found = sorted(audit.found, key=lambda audited: (audited.complaint.code, audited.complaint))
    shown = [_card(audited, f"finding-{number}") for number, audited in enumerate(found, 1)]
    unjudged = (
        element(
            "li", None, element("strong", None, ", ".join(check.codes)), " not judged: ", check.why
        )
        for check in audit.unjudged
    )
    return page(
        f"{title}: {summary}",
        skip_link("changes", "To what was found"),
        page_head(
            title,
            target,
            made,
            _counts(found),
            element("p", None, summary),
            of_class("ul", "notices", *unjudged) if audit.unjudged else NOTHING,
        ),
        element(
            "main",
            None,
            filter_bar(shown),
            element("div", {"id": "changes", "tabindex": "-1"}, *_groups(shown, found)),
        ),
        element("footer", None, of_class("p", "legend", "evidence decides nothing by itself")),
    )


def _counts(found: list[Audited]) -> Markup:
    counts = Counter(audited.complaint.code for audited in found)
    items = [
        element(
            "li",
            {"title": AUDITED.get(name, "")},
            of_class("span", "number", f"{count:,}"),
            f" {name}",
        )
        for name, count in sorted(counts.items())
    ]
    return of_class("ul", "counts", *items) if items else NOTHING


def _groups(shown: list[Card], found: list[Audited]) -> Iterator[Markup]:
    pairs = zip(shown, found, strict=True)
    for name, run in groupby(pairs, key=lambda pair: pair[1].complaint.code):
        cards = [card(shown_card, is_open=len(shown) <= OPEN_UP_TO) for shown_card, _ in run]
        count = f"{plural(len(cards), 'finding')}: {AUDITED.get(name, '')}"
        yield group(name, count, cards)


def _card(audited: Audited, identity: str) -> Card:
    complaint = audited.complaint
    word = complaint.severity.value
    ref = Ref.parse(complaint.ref) or Ref("", complaint.ref)
    return Card(
        identity=identity,
        ref=ref,
        source=Source(complaint.file, complaint.line),
        sign=_SIGNS[word],
        word=word,
        facets=[("code", complaint.code), ("kind", ref.kind), ("level", word)],
        chips=(),
        said=(spans(complaint.message),),
        body=(
            _frame(complaint.excerpt),
            notes(tuple(filter(None, (advice(complaint),)))),
            _figures(audited),
        ),
    )


def _frame(excerpt: Excerpt | None) -> Markup:
    if excerpt is None:
        return NOTHING
    rows = []
    for number, text in excerpt.lines:
        inside = joined([text])
        if number == excerpt.lines[-1][0]:
            start, end = excerpt.start, excerpt.start + excerpt.width
            inside = joined([text[:start], element("mark", None, text[start:end]), text[end:]])
        cells = (
            of_class("td", "quiet", str(number)),
            element("td", None, element("code", None, inside)),
        )
        rows.append(element("tr", None, *cells))
    return of_class("div", "scroll", of_class("table", "frame", element("tbody", None, *rows)))


def _figures(audited: Audited) -> Markup:
    rests = ", ".join(("manifests", *(rest.value for rest in audited.rests_on)))
    rows = [*((name, str(value)) for name, value in audited.figures.items()), ("rests on", rests)]
    body = (
        element("tr", None, element("th", {"scope": "row"}, name), element("td", None, value))
        for name, value in rows
    )
    return of_class("table", "fields figures", element("tbody", None, *body))
