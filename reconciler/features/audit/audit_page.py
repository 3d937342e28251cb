"""The findings of an audit, as one page. Pure."""

from __future__ import annotations

from collections import Counter

from reconciler.features.audit.audit_rule import Audit, Audited
from reconciler.model import Ref, Source
from reconciler.report.complaints.document import advice
from reconciler.report.html.page import (
    NOTHING,
    Markup,
    ReportOccasion,
    element,
    joined,
    of_class,
    page,
    page_head,
    spans,
)
from reconciler.report.html.report_pages import Card, changes, counted, notes
from reconciler.syntax.diagnostic import AUDITED, Excerpt

_SIGNS = {"error": "x", "warning": "!"}


def audit_html(
    audit: Audit, environment: str, target: str, summary: str, made: ReportOccasion | None = None
) -> str:
    """Return the page, ending in a line break. It contains every finding, whole."""
    title = f"Audit of {environment}"
    found = sorted(audit.found, key=lambda audited: (audited.complaint.code, audited.complaint))
    shown = [_card(audited, f"finding-{number}") for number, audited in enumerate(found, 1)]
    codes = Counter(audited.complaint.code for audited in found)
    counts = [counted(codes[name], name, title=AUDITED.get(name, "")) for name in sorted(codes)]
    return page(
        f"{title}: {summary}",
        "To what was found",
        page_head(
            title,
            target,
            made,
            of_class("ul", "counts", *counts) if counts else NOTHING,
            element("p", summary),
            _unjudged(audit),
        ),
        changes(shown, "finding", AUDITED),
        foot=element("footer", of_class("p", "legend", "evidence decides nothing by itself")),
    )


def _unjudged(audit: Audit) -> Markup:
    if not audit.unjudged:
        return NOTHING
    items = (
        element("li", element("strong", ", ".join(unjudged.codes)), " not judged: ", unjudged.why)
        for unjudged in audit.unjudged
    )
    return of_class("ul", "notices", *items)


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
            notes(filter(None, (advice(complaint),))),
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
            inside = joined([text[:start], element("mark", text[start:end]), text[end:]])
        cells = (
            of_class("td", "quiet", str(number)),
            element("td", element("code", inside)),
        )
        rows.append(element("tr", *cells))
    return of_class("div", "scroll", of_class("table", "frame", element("tbody", *rows)))


def _figures(audited: Audited) -> Markup:
    rests = ", ".join(("manifests", *(rest.value for rest in audited.rests_on)))
    rows = [*((name, str(value)) for name, value in audited.figures.items()), ("rests on", rests)]
    body = (
        element("tr", element("th", name, scope="row"), element("td", value))
        for name, value in rows
    )
    return of_class("table", "fields figures", element("tbody", *body))
