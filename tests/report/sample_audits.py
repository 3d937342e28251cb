"""An audit with findings of each kind, one that came to nothing, and one that was told nothing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from reconciler.features.audit.audit_rule import Audit, Audited, Rest, Unjudged
from reconciler.syntax.diagnostic import Advice, Complaint, Excerpt, Severity, Suppressed

UNTIL = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
LINES = ((6, "spec:"), (7, "  name: Pods restart"))


def complaint(
    code: str, said: str, advice: str, severity: Severity = Severity.WARNING
) -> Complaint:
    """Give a finding at a line."""
    return Complaint(
        "alerts/pods.yaml",
        7,
        9,
        code=code,
        message=said,
        suggestion=Advice(advice),
        severity=severity,
        excerpt=Excerpt(LINES, 8, 4),
        ref="AlertDefinition/pods-restart",
        path=("spec", "name"),
    )


DAILY = complaint(
    "A102",
    "this alert fired on 27 of 27 days, 425 times: what comes every day is soon no longer read",
    "raise its threshold, fix what it reports, or make it a figure",
)
UNHEARD = complaint(
    "A105",
    "this alert fired 425 times, and it has no notification group: it sends no notification itself",
    "add `notificationGroup: {router: {}}`, or add a recipient; else remove it",
    Severity.ERROR,
)


def an_audit() -> Audit:
    """Give an audit that found something, and could not judge everything."""
    return Audit(
        since=UNTIL - timedelta(days=90),
        until=UNTIL,
        days=90,
        covered=27,
        events=1302,
        requests=21,
        resources=19,
        found=(
            Audited(DAILY, {"fired": 425, "daysFired": 27, "days": 27}, (Rest.EVENTS,)),
            Audited(UNHEARD, {"fired": 425, "days": 27}, (Rest.EVENTS,)),
        ),
        unjudged=(
            Unjudged(("A101",), Rest.SPAN, "the oldest event is of 2026-02-02"),
            Unjudged(("A103",), Rest.INCIDENTS, "the key may not read them: 403 `|@team <b>"),
        ),
        suppressed=(Suppressed(DAILY, "a robot reads it"),),
    )


def a_quiet_audit() -> Audit:
    """Give an audit that found nothing."""
    return Audit(
        since=UNTIL - timedelta(days=14),
        until=UNTIL,
        days=14,
        covered=14,
        events=3,
        requests=4,
        resources=1,
    )


SAMPLES = {"some": an_audit, "none": a_quiet_audit}
