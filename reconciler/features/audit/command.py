"""`reconciler audit`: compare declared resources with recorded events, each finding at its line.

The history of each alert is counted, and the audit checks judge it. Source: docs/audit.md.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeAlias, cast

import click
from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from reconciler.cli import options
from reconciler.cli.console import data, stdout_style, words
from reconciler.document import ABSENT, Json, Missing, value_at
from reconciler.document import Path as Place
from reconciler.errors import ExitCode
from reconciler.features.audit.audit_rule import (
    AlertHistory,
    Audit,
    Audited,
    AuditEvidence,
    AuditRule,
    LookedBack,
    Rest,
    Since,
    Trace,
    Unjudged,
    look_back,
)
from reconciler.journal.entries import Entry
from reconciler.journal.writes import Write, Writes, declared_in
from reconciler.kinds import BY_NAME
from reconciler.kinds.kind import Neighbours
from reconciler.model import Manifest, Ref, Source
from reconciler.operations.open_project import Options, made_now, manifest_paths, now
from reconciler.operations.open_session import Session, begin_session, open_api
from reconciler.project.levels import Level, is_on
from reconciler.records.listings import AlertEvent
from reconciler.records.record import Span, moment
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
from reconciler.report.html.report_pages import Card, changes, notes
from reconciler.report.html.report_pages import counted as counted_item
from reconciler.report.markdown import COMMENT_BYTES, code, markdown_table
from reconciler.report.safe import json_text, safe
from reconciler.report.table import Colour, Style, fitted
from reconciler.report.words import plural
from reconciler.runtime.git import NOTHING_OF_ITS_OWN, Git, GitFailed
from reconciler.syntax.diagnostic import AUDITED, Complaint, Excerpt, Severity, warning
from reconciler.syntax.files import folder_in_repository
from reconciler.workspace.workspace import load_each

MOST_ASKED: Final = 200
"""Questions to git in one run; each takes some milliseconds."""

SECONDS: Final = 10.0
JOURNAL, GIT = "journal", "git"


@dataclass
class Ages:
    """Ages of declarations; resources of unknown age are added to `unknown`.

    `root` is the project's folder, in which the files of manifests are.
    """

    root: Path
    environ: Mapping[str, str] = field(repr=False)
    entries: Sequence[Entry] = ()
    unknown: set[Ref] = field(default_factory=set)
    _asked: int = 0

    def declared(self, manifest: Manifest) -> Since | None:
        """Return since when the manifest is known to exist; None where that is unknown."""
        first = next(iter(self._writes.get(manifest.ref, ())), None)
        begun = None if first is None else moment(first.at)
        by_journal = None if begun is None else Since(begun, JOURNAL)
        # The time when its file began to name it; `--follow` would guess.
        name = manifest.ref.name.replace(".", "[.]")
        by_git = self._git(manifest, f"name[\"']?:[ ]*[\"']?{name}", first=True)
        return min(filter(None, (by_journal, by_git)), default=None)

    def since(self, manifest: Manifest, path: Place) -> Since | None:
        """Return since when a value is known to be unchanged; None where that is unknown."""
        value = value_at(manifest.spec, path)
        by_journal = self._unchanged(self._writes.get(manifest.ref, ()), path, value)
        by_git = None
        if self._is_plain(manifest, str(path[-1]), value):
            by_git = self._git(manifest, f"{path[-1]}[\"']?:")
        found = min(filter(None, (by_journal, by_git)), default=None)
        if found is None:
            self.unknown.add(manifest.ref)
        return found

    @cached_property
    def _writes(self) -> Writes:
        return declared_in(self.entries)

    @staticmethod
    def _unchanged(writes: Sequence[Write], path: Place, value: Json | Missing) -> Since | None:
        """Return the first of the newest writes that all have `value` at a path."""
        found: Since | None = None
        for write in writes:
            at = moment(write.at)
            is_same = value_at(write.declared, path) == value and value is not ABSENT
            found = (found or Since(at, JOURNAL)) if is_same and at is not None else None
        return found

    def _is_plain(self, manifest: Manifest, key: str, value: Json | Missing) -> bool:
        """Return whether the file itself has the value, and no variable or item of a `forEach`."""
        if manifest.source.item is not None or not isinstance(value, bool):
            return False
        try:
            text = (self.root / manifest.source.file).read_text(encoding="utf-8")
        except (OSError, ValueError):
            return False
        values = {*re.findall(rf"\b{key}[\"']?\s*:\s*([^\s,}}#]+)", text)}
        return str(value).lower() in values <= {"true", "false"}

    def _git(self, manifest: Manifest, touched: str, *, first: bool = False) -> Since | None:
        """Return when a matching line of the file was changed last, or first.

        None without a history, where the file was edited since, or once too many questions were
        asked.
        """
        if self._asked >= MOST_ASKED:
            return None
        self._asked += 1
        file = manifest.source.file
        git = Git(
            self.root,
            self.environ,
            (*NOTHING_OF_ITS_OWN, "--literal-pathspecs"),
            limit=SECONDS,
            fixed={"GIT_OPTIONAL_LOCKS": "0"},
        )
        plain = ("--no-ext-diff", "--no-textconv")
        try:
            if not first and git.run(
                "diff", *plain, "--name-only", "-G", touched, "HEAD", "--", file
            ):
                return None
            order = ("--reverse",) if first else ("--max-count=1",)
            times = git.text("log", *plain, *order, "--format=%ct", "-G", touched, "--", file)
        except GitFailed:
            return None
        lines = times.split()
        return Since(datetime.fromtimestamp(int(lines[0]), UTC), GIT) if lines else None


SLACK: Final = timedelta(days=1)
"""An event this near to the beginning of the span shows that events are kept so long."""


_MODULES: Final = {
    "SLO": "slo",
    "AlertDefinition": "alert_definition",
    "LogPolicySet": "log_policy_set",
}
"""The module of each kind with audit rules, which names them HYGIENE."""


@cache
def hygiene_of(kind: str) -> Sequence[AuditRule]:
    """Import and return the audit rules of a kind."""
    if kind not in _MODULES:
        return ()
    module = import_module(f"{__package__}.{_MODULES[kind]}")
    return cast("Sequence[AuditRule]", module.HYGIENE)


AuditFinding: TypeAlias = tuple[AuditRule, Trace]
"""A check, and what it found."""


def checks_of(declared: Neighbours, levels: Mapping[str, Level]) -> list[tuple[str, AuditRule]]:
    """Return the checks that are on, of the kinds that are judged, each with its kind."""
    kinds = {manifest.ref.kind for manifest in declared.own}
    return [
        (kind, check)
        for kind in BY_NAME
        if kind in kinds
        for check in hygiene_of(kind)
        if is_on(check.code, levels, only_asked=check.asked)
    ]


def counted(told: LookedBack, span: Span, declared: Iterable[Manifest]) -> AuditEvidence:
    """Return the evidence from what was read, and what is lacking, with the reason."""
    lacks = dict(told.lacks)
    days = (span.until - span.since).days
    moments = [at for event in told.events if (at := moment(event.cx_event_timestamp)) is not None]
    oldest = min(moments, default=None)
    covered = 0 if oldest is None else min(days, -(-(span.until - oldest) // timedelta(days=1)))
    if Rest.EVENTS in lacks:
        lacks[Rest.NAMES] = lacks[Rest.SPAN] = lacks[Rest.EVENTS]
    else:
        _find_gaps(told.events, lacks)
        if told.has_older:
            covered = days
        elif oldest is None:
            lacks[Rest.SPAN] = "there is no event at all, so it is unknown how long they are kept"
        elif oldest - span.since > SLACK:
            lacks[Rest.SPAN] = (
                f"the oldest event is of {oldest:%Y-%m-%d}, so they may be kept for "
                f"{covered:,} days only: `--days {covered - 1}` looks at what is kept"
            )
        else:
            covered = days
    if Rest.INCIDENTS not in lacks and any(
        moment(incident.created_at) is None for incident in told.incidents
    ):
        lacks[Rest.INCIDENTS] = "an incident does not say since when it is open"
    return AuditEvidence(
        at=span.until,
        days=days,
        covered=covered,
        of=_happened(told, declared),
        met=told.met,
        live=told.live,
        logs=told.logs,
        lacks=lacks,
    )


def _find_gaps(events: Sequence[AlertEvent], lacks: dict[Rest, str]) -> None:
    """Record that events name no alert, or do not say whether it fired."""
    if nameless := sum(not event.alert_id for event in events):
        lacks[Rest.NAMES] = f"{nameless:,} of {len(events):,} events name no alert"
    if events and nameless == len(events):
        lacks[Rest.EVENTS] = "no event names its alert"
    elif events and not any(event.turn for event in events):
        lacks[Rest.EVENTS] = "no event says whether its alert began to fire"


def _happened(told: LookedBack, declared: Iterable[Manifest]) -> dict[str, AlertHistory]:
    fired: dict[str, dict[str, datetime]] = defaultdict(dict)
    over: dict[str, dict[str, datetime]] = defaultdict(dict)
    unclear: Counter[str] = Counter()
    for number, event in enumerate(told.events):
        at = moment(event.cx_event_timestamp)
        if at is None or not event.turn:
            unclear[event.alert_id] += 1
        elif event.is_trigger:
            key = event.cx_event_dedup_key or event.cx_event_key or str(number)
            fired[event.alert_id].setdefault(key, at)
        elif event.cx_event_dedup_key:
            over[event.alert_id].setdefault(event.cx_event_dedup_key, at)
    still_open = _open_since(told, declared)
    alerts = {*fired, *over, *unclear, *still_open} - {""}
    return {
        alert: AlertHistory(
            tuple(sorted(fired[alert].values())),
            tuple(
                over[alert][key] - at
                for key, at in fired[alert].items()
                if key in over[alert] and over[alert][key] >= at
            ),
            tuple(sorted(still_open.get(alert, ()))),
            unclear[alert],
        )
        for alert in alerts
    }


def _open_since(told: LookedBack, declared: Iterable[Manifest]) -> dict[str, list[datetime]]:
    """Map alerts to when their open incidents began: by events, else by a name of one alert."""
    by_name = _ids_by_name(declared)
    found: dict[str, list[datetime]] = defaultdict(list)
    for incident in told.incidents:
        alert = told.behind.get(incident.id) or by_name.get(incident.name, "")
        at = moment(incident.created_at)
        if alert and at is not None:
            found[alert].append(at)
    return found


def _ids_by_name(declared: Iterable[Manifest]) -> dict[str, str]:
    named = [
        (str(name), str(manifest.remote_id).lower())
        for manifest in declared
        if manifest.remote_id is not None
        and manifest.ref.kind in _MODULES
        and isinstance(name := manifest.spec.get("name"), str)
    ]
    counts = Counter(name for name, _ in named)
    return {name: remote_id for name, remote_id in named if counts[name] == 1}


def judged(
    declared: Neighbours, record: AuditEvidence, levels: Mapping[str, Level]
) -> tuple[list[AuditFinding], list[Unjudged]]:
    """Return the findings of the checks, and the checks that cannot be made, by the missing source.

    Only the manifests in `declared.own`, of all kinds, are judged.
    """
    found: list[AuditFinding] = []
    lacking: dict[Rest, list[str]] = defaultdict(list)
    wanted = {manifest.ref for manifest in declared.own}
    for kind, check in checks_of(declared, levels):
        missing = next((rest for rest in check.rests_on if rest in record.lacks), None)
        if missing is not None:
            lacking[missing].append(check.code)
            continue
        own = [manifest for manifest in declared.every if manifest.ref.kind == kind]
        traces = check.find(replace(declared, own=own), record)
        found.extend((check, trace) for trace in traces if trace.manifest.ref in wanted)
    unjudged = [Unjudged(tuple(codes), rest, record.lacks[rest]) for rest, codes in lacking.items()]
    return found, unjudged


def audit_now(session: Session, options: Options, days: int) -> Audit:
    """Audit a workspace over its own API client.

    Raises NotAuthorised where the key is refused, and Unavailable where nothing can be read.
    """
    until = now().replace(microsecond=0)
    span = Span(until - timedelta(days=days), until)
    workspace = session.workspace
    every = {manifest.ref: manifest for manifest in (*workspace.manifests, *session.others)}
    declared = Neighbours(workspace.manifests, tuple(every.values()), workspace.elsewhere)
    levels = session.project.settings.checks
    checks = checks_of(declared, levels)
    wanted = {rest for _, check in checks for rest in check.rests_on}
    lookback, requests = asyncio.run(_reported(session, span, wanted))
    ages = Ages(session.project.root, os.environ, session.journal().entries)
    record = counted(lookback, span, declared.every)
    record = replace(record, declared=ages.declared, since=ages.since)
    found, unjudged = judged(declared, record, levels)
    if ages.unknown:
        codes = tuple(check.code for _, check in checks if Rest.AGE in check.rests_on)
        why = (
            f"of {plural(len(ages.unknown), 'alert')} that are off, neither the journal nor the "
            "history of the file shows since when"
        )
        unjudged.append(Unjudged(codes, Rest.AGE, why))
    audit = Audit(
        since=span.since,
        until=until,
        days=days,
        covered=record.covered,
        events=len(lookback.events),
        requests=requests,
        resources=len(declared.own),
        unjudged=tuple(unjudged),
    )
    return _placed(audit, found, session, options)


async def _reported(session: Session, span: Span, wanted: set[Rest]) -> tuple[LookedBack, int]:
    async with open_api(session) as api:
        return await look_back(api, span, wanted), api.sent


def _placed(audit: Audit, found: list[AuditFinding], session: Session, options: Options) -> Audit:
    """Return the audit with its findings, each at its line in a manifest, without silenced ones.

    The files are read again because nothing else keeps their text.
    """
    project = session.project
    scope = replace(session.scope(options), may_lack=True)
    paths = manifest_paths(options, project)
    (loader,) = load_each(paths, project.root, [scope], project.settings)
    loader.complain_of_strays()
    texts = {declared.manifest.ref: declared.spec for declared in loader.declared}
    complaints: list[Complaint] = []
    evidence: dict[tuple[Complaint, str], AuditFinding] = {}
    for finding in found:
        check, (manifest, (path, message, suggestion, at_key), _) = finding
        if manifest.ref in texts:
            remark = warning(check.code, path, message, suggestion, at_key=at_key)
            complaint = texts[manifest.ref].complaint(remark)
            complaints.append(complaint)
            evidence[complaint, complaint.ref] = finding
    told = loader.silencing.told(
        sorted(complaints), [declared.manifest for declared in loader.declared]
    )
    shown = ((complaint, evidence[complaint, complaint.ref]) for complaint in told.complaints)
    return replace(
        audit,
        found=tuple(
            Audited(complaint, trace.figures, check.rests_on) for complaint, (check, trace) in shown
        ),
        suppressed=told.suppressed,
    )


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
        f"- not judged: {code(describe_unjudged(unjudged), LONGEST_SAID)}"
        for unjudged in audit.unjudged
    ]
    tail += [""] * bool(tail)
    ordered = sorted(
        audit.found, key=lambda audited: (not audited.complaint.is_error, audited.complaint)
    )
    room = COMMENT_BYTES - NOTICE_BYTES - len("\n".join((*head, *tail)).encode())
    headings = ("code", "resource", "what", "evidence", "place")
    rest = "and {} more: `audit` shows all"
    shown = markdown_table(headings, ordered, _row, len(ordered), rest=rest, room=room)
    return "\n".join((*head, *shown, *tail))


def _row(audited: Audited) -> tuple[str, ...]:
    complaint = audited.complaint
    helped = f"<br>{code(advice(complaint), LONGEST_SAID)}" if complaint.suggestion else ""
    return (
        code(complaint.code),
        code(complaint.ref, LONGEST_CELL),
        f"{code(complaint.message, LONGEST_SAID)}{helped}",
        "<br>".join(
            code(f"{name}: {value}", LONGEST_CELL) for name, value in audited.figures.items()
        ),
        code(f"{complaint.file}:{complaint.line}", LONGEST_CELL),
    )


def audit_html(
    audit: Audit, environment: str, target: str, summary: str, made: ReportOccasion | None = None
) -> str:
    """Return the page, ending in a line break. It contains every finding, whole."""
    title = f"Audit of {environment}"
    found = sorted(audit.found, key=lambda audited: (audited.complaint.code, audited.complaint))
    shown = [_card(audited, f"finding-{number}") for number, audited in enumerate(found, 1)]
    codes = Counter(audited.complaint.code for audited in found)
    counts = [
        counted_item(codes[name], name, title=AUDITED.get(name, "")) for name in sorted(codes)
    ]
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
        sign={"error": "x", "warning": "!"}[word],
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


DAYS = 90
MOST_DAYS = 365

FORMATS: Final[Mapping[str, Callable[[Audit, Session, Style], str]]] = {
    "text": lambda made, _, style: audit_text(made, style),
    "json": lambda made, session, _: audit_json(made, session.name, session.target.name),
    "sarif": lambda made, session, _: audit_sarif(
        made, folder_in_repository(session.project.root), session.name
    ),
    "markdown": lambda made, session, _: audit_markdown(made, session.name),
    "html": lambda made, session, _: audit_html(
        made,
        session.name,
        session.target.name,
        audit_summary(made),
        made_now(session.project),
    ),
}


@click.command
@options.reading
@options.selecting
@click.option(
    "--days",
    type=click.IntRange(1, MOST_DAYS),
    default=DAYS,
    show_default=True,
    help="How many days to look back.",
)
@options.formats(*FORMATS)
@click.option(
    "--fail-on",
    type=click.Choice([severity.value for severity in Severity]),
    help="Exit with 2 if a finding has this severity or a higher one.",
)
def audit(*, options: Options, days: int, form: str, fail_on: str | None) -> int:
    """Compare what is declared with what happened: hygiene of alerts, SLOs and policies.

    Each finding has a code, its place and its evidence. Data that the service does not return is
    named, and checks that need it are not made. Nothing is written.
    """
    session = begin_session(options, may_lack=True)
    made = audit_now(session, options, days)
    shown = FORMATS[form](made, session, stdout_style(verbose=options.verbose))
    if options.verbose:
        words(f"{plural(made.requests, 'request')} made")
    counts_all = fail_on == Severity.WARNING.value
    failing = [complaint for complaint in made.complaints if complaint.is_error or counts_all]
    failed = fail_on is not None and failing
    return data(shown, ending=ExitCode.DIFFERENT if failed else ExitCode.DONE)
