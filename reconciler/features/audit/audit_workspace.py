"""Audit: compare declared resources with recorded events; place each finding at its line."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from datetime import timedelta

from reconciler.features.audit.audit_checks import (
    Ages,
    AuditedManifests,
    AuditFinding,
    checks_of,
    counted,
    judged,
)
from reconciler.features.audit.audit_rule import Audit, Audited, Rest, Unjudged
from reconciler.features.audit.look_back import LookedBack, look_back, placed
from reconciler.operations.open_project import Options, manifest_paths, now
from reconciler.operations.open_session import Session, open_api
from reconciler.records.record import Span
from reconciler.report.words import plural
from reconciler.syntax.diagnostic import Finding, Severity


def audit_now(session: Session, options: Options, days: int) -> Audit:
    """Audit a workspace over its own API client.

    Raises NotAuthorised where the key is refused, and Unavailable where nothing can be read.
    """
    until = now().replace(microsecond=0)
    span = Span(until - timedelta(days=days), until)
    declared = _declared(session)
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
        resources=len(declared.judged),
        unjudged=tuple(unjudged),
    )
    return _placed(audit, found, session, options)


def _declared(session: Session) -> AuditedManifests:
    workspace = session.workspace
    every = {manifest.ref: manifest for manifest in (*workspace.manifests, *session.others)}
    return AuditedManifests(workspace.manifests, tuple(every.values()), workspace.elsewhere)


async def _reported(session: Session, span: Span, wanted: set[Rest]) -> tuple[LookedBack, int]:
    async with open_api(session) as api:
        return await look_back(api, span, wanted), api.sent


def _placed(audit: Audit, found: list[AuditFinding], session: Session, options: Options) -> Audit:
    """Return the audit with its findings, each at its line in a manifest."""
    findings = [
        (
            trace.manifest.ref,
            Finding(
                check.code,
                trace.found.path,
                trace.found.message,
                Severity.WARNING,
                trace.found.suggestion,
                trace.found.at_key,
            ),
        )
        for check, trace in found
    ]
    placement = placed(
        findings,
        manifest_paths(options, session.project),
        session.project.root,
        replace(session.scope(options), may_lack=True),
        session.project.settings,
    )
    behind = {
        (
            str(lint_finding.trace.manifest.ref),
            lint_finding.check.code,
            lint_finding.trace.found.path,
        ): lint_finding
        for lint_finding in found
    }
    audited = []
    for complaint in placement.complaints:
        # The path of a complaint begins at the document's root, the path of a trace at `spec`.
        source = behind.get((complaint.ref, complaint.code, complaint.path[1:]))
        if source is None:
            source = next(
                candidate
                for (ref, code, _), candidate in behind.items()
                if (ref, code) == (complaint.ref, complaint.code)
            )
        audited.append(Audited(complaint, source.trace.figures, source.check.rests_on))
    return replace(audit, found=tuple(audited), suppressed=placement.suppressed)


def is_found(audit: Audit, least: Severity) -> bool:
    """Return whether there is a finding of at least this severity."""
    return any(least is Severity.WARNING or complaint.is_error for complaint in audit.complaints)
