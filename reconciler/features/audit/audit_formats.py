"""Reports of an audit: text, JSON (schemas/audited.schema.json), SARIF and Markdown."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from reconciler.features.audit.audit_rule import Audit, Audited, Unjudged
from reconciler.model import Ref, Source
from reconciler.report.complaints.document import (
    ComplaintDocument,
    advice,
    complaint_document,
    complaints_text,
)
from reconciler.report.complaints.for_ci import Tool, complaints_sarif
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
from reconciler.report.markdown import COMMENT_BYTES, code
from reconciler.report.safe import json_text, safe
from reconciler.report.table import Colour, Style, fitted
from reconciler.report.words import first_lines, plural
from reconciler.syntax.diagnostic import AUDITED, Excerpt

LONGEST_CELL = 80
LONGEST_SAID = 300
NOTICE_BYTES = 200


@with_config(ConfigDict(extra="forbid"))
class SpanDocument(TypedDict):
    """The requested period, and how many of its days the service has data for."""

    since: str
    until: str
    days: int
    covered: Annotated[
        int, Field(description="Days with alert events from the service; 0 where it has none.")
    ]
    complete: Annotated[bool, Field(description="Whether the service covers all these days.")]


@with_config(ConfigDict(extra="forbid"))
class EvidenceDocument(TypedDict):
    """Evidence of a finding: figures by name, and their sources."""

    figures: dict[str, Any]
    restsOn: list[str]


@with_config(ConfigDict(extra="ignore"))
class FoundDocument(ComplaintDocument):
    """A finding: a complaint and its evidence."""

    evidence: EvidenceDocument


@with_config(ConfigDict(extra="forbid"))
class UnjudgedDocument(TypedDict):
    """Checks that could not be made, the input that they lack, and the reason."""

    codes: list[str]
    lacks: str
    why: str


@with_config(ConfigDict(extra="forbid"))
class AuditDocument(TypedDict):
    """Output of `audit --format json`."""

    formatVersion: Literal[1]
    environment: str
    target: str
    span: SpanDocument
    resources: int
    events: Annotated[int, Field(description="Alert events that were looked at.")]
    requests: Annotated[int, Field(description="Requests that were made.")]
    findings: list[FoundDocument]
    notJudged: list[UnjudgedDocument]
    ignored: Annotated[
        int, Field(description="Findings that comments or `metadata.exempt` silence.")
    ]


def audit_json(audit: Audit, environment: str, target: str) -> str:
    """Return the JSON of schemas/audited.schema.json, ending in a line break."""
    document: AuditDocument = {
        "formatVersion": 1,
        "environment": environment,
        "target": target,
        "span": {
            "since": audit.since.isoformat(),
            "until": audit.until.isoformat(),
            "days": audit.days,
            "covered": audit.covered,
            "complete": audit.covered >= audit.days,
        },
        "resources": audit.resources,
        "events": audit.events,
        "requests": audit.requests,
        "findings": [
            {
                **complaint_document(audited.complaint),
                "evidence": {
                    "figures": dict(audited.figures),
                    "restsOn": ["manifests", *(rest.value for rest in audited.rests_on)],
                },
            }
            for audited in audit.found
        ],
        "notJudged": [
            {"codes": [*unjudged.codes], "lacks": unjudged.rest.value, "why": unjudged.why}
            for unjudged in audit.unjudged
        ],
        "ignored": len(audit.suppressed),
    }
    return json_text(document)


def audit_sarif(audit: Audit, folder: str, environment: str) -> str:
    """Return a SARIF log in its own category, so that it does not replace that of `validate`."""
    unjudged = tuple(map(describe_unjudged, audit.unjudged))
    tool = Tool(AUDITED, "reconciler audit -v", "audit", "audit", unjudged)
    return complaints_sarif(audit.complaints, folder, environment, len(audit.suppressed), tool)


def audit_text(audit: Audit, style: Style) -> str:
    """Return each finding with its lines, the checks that were not made, and the counts."""
    lines = [
        fitted(f"not judged: {safe(describe_unjudged(unjudged))}", style)
        for unjudged in audit.unjudged
    ]
    closing = fitted(style.paint(audit_summary(audit), Colour.BOLD), style)
    text = "".join(f"{line}\n" for line in (*lines, closing))
    return complaints_text(audit.complaints, style) + text


def describe_unjudged(unjudged: Unjudged) -> str:
    """Return the checks that were not made, and the reason; the caller escapes the result."""
    return f"{', '.join(unjudged.codes)}: {unjudged.why}"


def audit_summary(audit: Audit) -> str:
    """Return the counts in one line."""
    found = plural(len(audit.found), "finding") if audit.found else "nothing found"
    ignored = f", {len(audit.suppressed):,} ignored" if audit.suppressed else ""
    left = sum(len(unjudged.codes) for unjudged in audit.unjudged)
    unjudged = f", {plural(left, 'check')} not judged" if left else ""
    covered = "" if audit.covered >= audit.days else f"{audit.covered:,} of "
    return (
        f"{found} in {plural(audit.resources, 'resource')}{ignored}{unjudged}: "
        f"{plural(audit.events, 'alert event')} of {covered}{plural(audit.days, 'day')}."
    )


def audit_markdown(audit: Audit, environment: str) -> str:
    """Return a table of the findings that fits into a comment. Rows that do not fit are counted."""
    head = [f"### Audit of {code(environment, LONGEST_CELL)}: {audit_summary(audit)}", ""]
    tail = [
        "",
        *(
            f"- not judged: {code(describe_unjudged(unjudged), LONGEST_SAID)}"
            for unjudged in audit.unjudged
        ),
    ]
    ordered = sorted(
        audit.found, key=lambda audited: (not audited.complaint.is_error, audited.complaint)
    )
    if ordered:
        head += ["| code | resource | what | evidence | place |", "|---|---|---|---|---|"]
    room = COMMENT_BYTES - NOTICE_BYTES - len("\n".join((*head, *tail)).encode())
    rest = "| | and {} more: `audit` shows all | | | |"
    shown = first_lines(ordered, _row, len(ordered), rest, room)
    return "\n".join((*head, *shown, *(tail if audit.unjudged else ()), ""))


def _row(audited: Audited) -> str:
    complaint = audited.complaint
    helped = f"<br>{code(advice(complaint), LONGEST_SAID)}" if complaint.suggestion else ""
    cells = (
        code(complaint.code),
        code(complaint.ref, LONGEST_CELL),
        f"{code(complaint.message, LONGEST_SAID)}{helped}",
        "<br>".join(
            code(f"{name}: {value}", LONGEST_CELL) for name, value in audited.figures.items()
        ),
        code(f"{complaint.file}:{complaint.line}", LONGEST_CELL),
    )
    return f"| {' | '.join(cells)} |"


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
    unjudged = (
        element("li", element("strong", ", ".join(rest.codes)), " not judged: ", rest.why)
        for rest in audit.unjudged
    )
    return page(
        f"{title}: {summary}",
        "To what was found",
        page_head(
            title,
            target,
            made,
            of_class("ul", "counts", *counts) if counts else NOTHING,
            element("p", summary),
            of_class("ul", "notices", *unjudged) if audit.unjudged else NOTHING,
        ),
        changes(shown, "finding", AUDITED),
        foot=element("footer", of_class("p", "legend", "evidence decides nothing by itself")),
    )


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
