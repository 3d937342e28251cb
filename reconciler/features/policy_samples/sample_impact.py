"""Impact of a plan on log samples: today by the service, after the apply by the evaluator.

Source: docs/policy-impact.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from reconciler.document import Json, digest
from reconciler.errors import ReconcilerError
from reconciler.features.policy_samples.policy_evaluator import answers_to, policies_in, shadowed
from reconciler.features.policy_samples.policy_impact import (
    Met,
    PolicyImpact,
    SampleAnswer,
    Samples,
)
from reconciler.kinds import BY_NAME
from reconciler.model import Action, Change, GuardViolation, Plan, Seen
from reconciler.model.quoting import listed, quoted
from reconciler.operations.plan_and_drift import SectionRequest
from reconciler.planning.guards import PlanUnderGuard
from reconciler.planning.guards.plan_limits import MOST_NAMED
from reconciler.planning.guards.remedies import allowing, overriding, reviewing
from reconciler.project import Guards
from reconciler.project.settings import POLICY_SAMPLES

if TYPE_CHECKING:
    from reconciler.api.client import Api


async def with_policy_impact(request: SectionRequest) -> Plan:
    """Return the plan with its impact on the samples; its digest covers the samples then."""
    made, samples = request.plan, request.asked
    impact = await policy_impact(request.api, made, samples)
    if impact is None:
        return made
    if impact.writes:
        # The samples decide what is refused before the overwrite and put back after it, so who
        # agreed to the plan agreed to them.
        rows: list[Json] = [
            [row.application, row.subsystem, row.severity, row.policy if row.expects else None]
            for row in samples.rows
        ]
        agreed = {"plan": made.digest, "samples": rows, "onMismatch": samples.on_mismatch}
        made = replace(made, digest=digest(agreed))
    return made.with_section(replace(impact, of_base=request.session.against is not None))


async def policy_impact(api: Api, plan: Plan, samples: Samples) -> PolicyImpact | None:
    """Ask the service about the samples, and compare; None where the plan has no policy list.

    The error of a service that cannot be asked is in the result, and stops no plan.
    """
    change = next((change for change in plan.declared if BY_NAME[change.ref.kind].sampled), None)
    if change is None:
        return None
    answers: Sequence[Met] = ()
    unasked = "the list that is live could not be read"
    if change.action is not Action.BLOCKED:
        try:
            answers, unasked = await answers_to(api, samples.rows), ""
        except ReconcilerError as error:
            unasked = str(error)
    is_any_case = api.assumptions.policy_names == "anyCase"
    return impact_of(change, samples, answers, unasked, any_case=is_any_case)


def impact_of(
    change: Change, samples: Samples, told: Sequence[Met], unasked: str, *, any_case: bool
) -> PolicyImpact:
    """Compare what was `told` with what the evaluator says of the live list and of the new list."""
    seen = change.observation if isinstance(change.observation, Seen) else None
    today = policies_in(seen.document if seen else None, seen=True, any_case=any_case)
    tomorrow = policies_in(change.body, any_case=any_case)
    is_blocked = change.action is Action.BLOCKED
    before: Sequence[Met | None] = told or [None] * len(samples.rows)
    after = before
    if not is_blocked and (change.action.writes or not told):
        # Otherwise nothing is written, and the service's answer stays true after the apply.
        after = [tomorrow.met(row) for row in samples.rows]
    pairs = zip(samples.rows, told, strict=bool(told))
    held = [SampleAnswer(row, met, today.met(row)) for row, met in pairs]
    agreeing = sum(answer.before == answer.after for answer in held)
    return PolicyImpact(
        answers=tuple(map(SampleAnswer, samples.rows, before, after)),
        agreement=agreeing / len(held) if held else None,
        shadowed=tuple(
            tomorrow.listed[place].met.policy
            for place in (() if is_blocked else shadowed(tomorrow))
        ),
        recalled=tuple(str(path[1]) for path in seen.recalled) if seen else (),
        unknown=tuple(str(path[1]) for path in seen.unseen) if seen else (),
        unasked=unasked,
        on_mismatch=samples.on_mismatch,
        writes=change.action.writes,
        disagreeing=tuple(answer for answer in held if answer.before != answer.after),
    )


async def with_failing(asked: PlanUnderGuard) -> Plan:
    """Return the plan with an objection where it fails samples with an expected policy."""
    found = failing_samples(asked.plan, asked.environment.guards)
    return replace(asked.plan, guarded=(*asked.plan.guarded, *found))


def failing_samples(plan: Plan, guards: Guards) -> Iterator[GuardViolation]:
    """Yield one objection where a new list of policies fails samples with an expected policy."""
    impact = plan.section(PolicyImpact)
    if impact is None or not impact.writes or POLICY_SAMPLES in guards.allow:
        return
    failures = impact.failures
    if not failures:
        return
    counted = "1 sample" if len(failures) == 1 else f"{len(failures)} samples"
    wrong = [*map(_reported_otherwise, failures)]
    shown = listed(wrong, MOST_NAMED, "; ")
    remedies = (
        "declare the policies in an order in which each sample meets the expected one",
        "if the sample is wrong by now, say in it which policy is meant",
        reviewing(),
        allowing(POLICY_SAMPLES, plan.environment),
        overriding(POLICY_SAMPLES),
    )
    yield GuardViolation(
        said=f"{counted} of logs would not have the policy that is expected: {shown}",
        remedies=remedies,
        code=POLICY_SAMPLES,
        figures=digest([*wrong]),
    )


def _reported_otherwise(answer: SampleAnswer) -> str:
    expected, got = (
        quoted(met.policy) if met is not None and met.policy else "no policy"
        for met in (Met(answer.sample.policy), answer.after)
    )
    return f"{answer.sample.log} expects {expected}, and would have {got}"
