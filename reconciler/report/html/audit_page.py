"""What an audit found, as one page. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby

from reconciler.kinds.audit_rule import Audit, Audited
from reconciler.model import Ref, Source
from reconciler.report.html.cards import Card, card, filter_bar, group, notes
from reconciler.report.html.element import NOTHING, Markup, element, joined, of_class, spans
from reconciler.report.html.page import ReportOccasion, page, page_head, skip_link
from reconciler.report.words import plural
from reconciler.syntax.diagnostic import AUDITED, Advice, Complaint, Excerpt

OPEN_UP_TO = 6
_SIGNS = {"error": "x", "warning": "!"}


def audit_html(
    audit: Audit, environment: str, target: str, summary: str, made: ReportOccasion | None = None
) -> str:
    """Give the page, ending in a line break. Every finding is in it, whole."""
    title = f"Audit of {environment}"
    found = sorted(audit.found, key=lambda one: (one.complaint.code, one.complaint))
    shown = [_card(audited, f"finding-{number}") for number, audited in enumerate(found, 1)]
    return page(
        f"{title}: {summary}",
        skip_link("changes", "To what was found"),
        page_head(
            title,
            target,
            made,
            _counts(found),
            element("p", None, summary),
            _unjudged(audit),
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


def _unjudged(audit: Audit) -> Markup:
    if not audit.unjudged:
        return NOTHING
    items = (
        element(
            "li",
            None,
            element("strong", None, ", ".join(unjudged.codes)),
            " not judged: ",
            unjudged.why,
        )
        for unjudged in audit.unjudged
    )
    return of_class("ul", "notices", *items)


def _groups(shown: list[Card], found: list[Audited]) -> Iterator[Markup]:
    pairs = zip(shown, found, strict=True)
    for name, run in groupby(pairs, key=lambda pair: pair[1].complaint.code):
        cards = [card(one, is_open=len(shown) <= OPEN_UP_TO) for one, _ in run]
        said = f"{plural(len(cards), 'finding')}: {AUDITED.get(name, '')}"
        yield group(name, said, cards)


def _card(one: Audited, identity: str) -> Card:
    said = one.complaint
    word = said.severity.value
    ref = Ref.parse(said.ref) or Ref("", said.ref)
    return Card(
        identity=identity,
        ref=ref,
        source=Source(said.file, said.line),
        sign=_SIGNS[word],
        word=word,
        facets=[("code", said.code), ("kind", ref.kind), ("level", word)],
        chips=(),
        said=(spans(said.message),),
        body=(_frame(said.excerpt), notes(tuple(filter(None, (_advice(said),)))), _figures(one)),
    )


def _advice(said: Complaint) -> str:
    is_text = said.suggestion and not isinstance(said.suggestion, Advice)
    return f"write {said.suggestion}" if is_text else said.suggestion


def _frame(excerpt: Excerpt | None) -> Markup:
    """Give the lines of the file, the place marked."""
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


def _figures(one: Audited) -> Markup:
    rests = ", ".join(("manifests", *(rest.value for rest in one.rests_on)))
    rows = [*((name, str(value)) for name, value in one.figures.items()), ("rests on", rests)]
    body = (
        element("tr", None, element("th", {"scope": "row"}, name), element("td", None, value))
        for name, value in rows
    )
    return of_class("table", "fields figures", element("tbody", None, *body))
