"""Reports of an audit: text, JSON (schemas/audited.schema.json), SARIF and Markdown."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from reconciler.features.audit.audit_rule import Audit, Audited, Unjudged
from reconciler.report.complaints.document import (
    ComplaintDocument,
    advice,
    complaint_document,
    complaints_text,
)
from reconciler.report.complaints.for_ci import Tool, complaints_sarif
from reconciler.report.markdown import COMMENT_BYTES, code
from reconciler.report.safe import json_text, safe
from reconciler.report.table import Colour, Style, fitted
from reconciler.report.words import first_lines, plural
from reconciler.syntax.diagnostic import AUDITED

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
    """Return which checks were not made, and why; the service's words are foreign text."""
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


def describe_requests(audit: Audit) -> str:
    """Return the number of requests that the audit made."""
    return f"{plural(audit.requests, 'request')} made"


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
    place = f"{complaint.file}:{complaint.line}"
    cells = (
        code(complaint.code),
        code(complaint.ref, LONGEST_CELL),
        f"{code(complaint.message, LONGEST_SAID)}{helped}",
        "<br>".join(
            code(f"{name}: {value}", LONGEST_CELL) for name, value in audited.figures.items()
        ),
        code(place, LONGEST_CELL),
    )
    return f"| {' | '.join(cells)} |"
