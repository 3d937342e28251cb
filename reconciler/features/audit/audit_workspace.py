"""Audit: compare declared resources with recorded events; place each finding at its line."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from datetime import timedelta

from reconciler.features.audit.audit_checks import (
    Ages,
    AuditFinding,
    checks_of,
    counted,
    judged,
)
from reconciler.features.audit.audit_rule import Audit, Audited, Rest, Unjudged
from reconciler.features.audit.look_back import LookedBack, look_back
from reconciler.kinds.spec_finding import Neighbours
from reconciler.operations.open_project import Options, manifest_paths, now
from reconciler.operations.open_session import Session, open_api
from reconciler.records.record import Span
from reconciler.report.words import plural
from reconciler.syntax.diagnostic import Complaint, warning
from reconciler.syntax.files import find_files
from reconciler.workspace.build import Loader
from reconciler.workspace.silence import Silencing
from reconciler.workspace.workspace import sources_of


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
    root, settings = session.project.root, session.project.settings
    paths = manifest_paths(options, session.project)
    files = find_files(paths, root, settings.exclude, settings.limits.files)
    silencing = Silencing(settings.checks, [rule.name for rule in settings.own_rules])
    loader = Loader(
        files.root,
        sources_of(paths, root, settings.limits.size),
        replace(session.scope(options), may_lack=True),
        settings.environments,
        silencing,
    )
    loader.sources.begin()
    for file in files.files:
        loader.load(file)
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
    told = silencing.told(sorted(complaints), [declared.manifest for declared in loader.declared])
    shown = ((complaint, evidence[complaint, complaint.ref]) for complaint in told.complaints)
    return replace(
        audit,
        found=tuple(
            Audited(complaint, finding.trace.figures, finding.check.rests_on)
            for complaint, finding in shown
        ),
        suppressed=told.suppressed,
    )
