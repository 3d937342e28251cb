"""What a plan says of what it does not hold. Pure."""

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


def emptiness(plan: Plan) -> str:
    """Say why a plan holds nothing, and where the rest is."""
    if not plan.changed_since:
        return "No manifest applies to this environment."
    rest = plural(plan.not_examined, "other resource")
    return f"Nothing that is declared changed. Without `--changed-since`, {rest} would be examined."
