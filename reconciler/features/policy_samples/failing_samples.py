"""Log samples that a new list of log policies fails. Source: docs/policy-impact.md."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from reconciler.document import digest
from reconciler.features.policy_samples.policy_impact import SampleAnswer
from reconciler.model import GuardViolation, Plan
from reconciler.model.quoting import quoted, quoted_pair
from reconciler.planning.guards.all_guards import PlanUnderGuard
from reconciler.planning.guards.plan_limits import MOST_NAMED
from reconciler.planning.guards.remedies import allowing, overriding, reviewing
from reconciler.project import Guards
from reconciler.project.settings import POLICY_SAMPLES


async def with_failing(asked: PlanUnderGuard) -> Plan:
    """Return the plan with an objection where it fails samples with an expected policy."""
    found = failing_samples(asked.plan, asked.environment.guards)
    return replace(asked.plan, guarded=(*asked.plan.guarded, *found))


def failing_samples(plan: Plan, guards: Guards) -> Iterator[GuardViolation]:
    """Yield one objection where a new list of policies fails samples with an expected policy."""
    impact = plan.signals.policies
    if impact is None or not impact.writes or POLICY_SAMPLES in guards.allow:
        return
    failures = impact.failures
    if not failures:
        return
    counted = "1 sample" if len(failures) == 1 else f"{len(failures)} samples"
    shown = "; ".join(map(_reported_otherwise, failures[:MOST_NAMED]))
    more = f"; and {len(failures) - MOST_NAMED} more" if len(failures) > MOST_NAMED else ""
    message = f"{counted} of logs would not have the policy that is expected: {shown}{more}"
    remedies = (
        "declare the policies in an order in which each sample meets the expected one",
        "if the sample is wrong by now, say in it which policy is meant",
        reviewing(),
        allowing(POLICY_SAMPLES, plan.environment),
        overriding(POLICY_SAMPLES),
    )
    figures = digest([_reported_otherwise(failure) for failure in failures])
    yield GuardViolation(said=message, remedies=remedies, code=POLICY_SAMPLES, figures=figures)


def _reported_otherwise(one: SampleAnswer) -> str:
    sample, after = one.sample, one.after
    severity = sample.severity.removeprefix("SEVERITY_").lower()
    log = f"{quoted_pair(sample.application, sample.subsystem)} {severity}"
    expected = quoted(sample.policy) if sample.policy else "no policy"
    got = quoted(after.policy) if after is not None and after.policy else "no policy"
    return f"{log} expects {expected}, and would have {got}"
