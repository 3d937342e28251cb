"""What a plan of a part says of the rest. Pure."""

from __future__ import annotations

from reconciler.report.safe import safe
from reconciler.report.words import plural
from reconciler.resource import Plan


def partial_words(plan: Plan) -> str:
    """Give a sentence for a plan that did not examine all resources; "" for a whole one."""
    if not plan.changed_since:
        return ""
    rest = plural(plan.not_examined, "resource")
    return f"Only what changed since {safe(plan.changed_since)} was examined; {rest} not."
