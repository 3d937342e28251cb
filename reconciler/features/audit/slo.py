"""Audit rules for SLOs. Source: docs/audit.md."""

from __future__ import annotations

from collections.abc import Iterator

from reconciler.document import Json
from reconciler.features.audit.audit_rule import AuditEvidence, AuditRule, Trace
from reconciler.kinds.kind import Neighbours
from reconciler.kinds.slo import ALERT, unwatched


def _unwatched(neighbours: Neighbours, record: AuditEvidence) -> Iterator[Trace]:
    alerts = sum(manifest.ref.kind == ALERT for manifest in neighbours.every)
    for slo, found in unwatched(neighbours):
        known = record.declared(slo)
        age: dict[str, Json] = {} if known is None else {"declaredSince": known.at.isoformat()}
        yield Trace(slo, found, {"alerts": alerts, **age})


HYGIENE = (AuditRule(code="A201", find=_unwatched, rests_on=()),)
