"""Audit rules for log policies, checked against existing logs. Source: docs/audit.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from reconciler.features.audit.audit_rule import AuditEvidence, AuditRule, Rest, Trace
from reconciler.kinds.kind import Neighbours, SpecFinding, text_of
from reconciler.kinds.shape import EACH, places
from reconciler.syntax.diagnostic import Advice


def _unmet(neighbours: Neighbours, record: AuditEvidence) -> Iterator[Trace]:
    """Yield the policies in force that no log matches; policies with the same name are skipped."""
    for manifest in neighbours.own:
        named = [
            (path, text_of(value))
            for path, value in places(manifest.spec, "policies", EACH, "policy", "name")
        ]
        counts = Counter(name for _, name in named)
        for path, name in named:
            is_judged = name is not None and counts[name] == 1 and name in record.live
            if is_judged and not record.met.get(str(name)):
                message = (
                    f"none of the {record.logs:,} kinds of logs that are known here meets this "
                    "policy"
                )
                remedy = Advice("look at its rules, at what is before it, or remove it")
                yield Trace(
                    manifest, SpecFinding(path, message, remedy), {"logs": record.logs, "met": 0}
                )


HYGIENE = (AuditRule(code="A301", find=_unmet, rests_on=(Rest.EVENTS, Rest.LOGS)),)
