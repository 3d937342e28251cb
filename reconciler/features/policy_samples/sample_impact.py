"""Impact of a plan on log samples: today by the service, after the apply by the evaluator.

Source: docs/policy-impact.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from reconciler.document import Json, digest
from reconciler.errors import ReconcilerError
from reconciler.features.policy_samples.policy_evaluator import answers_to, policies_in, shadowed
from reconciler.features.policy_samples.policy_flow import policy_impact_section
from reconciler.features.policy_samples.policy_impact import (
    Met,
    PolicyImpact,
    SampleAnswer,
    Samples,
)
from reconciler.features.policy_samples.policy_impact_formats import (
    policy_impact_document,
    policy_impact_lines,
    policy_impact_markdown,
)
from reconciler.kinds import BY_NAME
from reconciler.model import Action, Change, Plan, Seen
from reconciler.operations.plan_and_drift import SectionRequest
from reconciler.report.sections import SectionFormats

if TYPE_CHECKING:
    from reconciler.api.client import Api


FORMATS: Final[SectionFormats[PolicyImpact]] = SectionFormats(
    members=lambda impact: {"policyImpact": policy_impact_document(impact)},
    lines=policy_impact_lines,
    markdown=policy_impact_markdown,
    html=policy_impact_section,
    stale="the samples of logs did",
)


UNREAD = "the list that is live could not be read"


def sampled_change(plan: Plan) -> Change | None:
    """Return the change of the resource that decides about logs, None where none is declared."""
    return next((change for change in plan.declared if BY_NAME[change.ref.kind].sampled), None)


def bound_to_samples(plan: Plan, samples: Samples) -> str:
    """Return the digest of a plan that overwrites the list, and of its samples.

    The samples decide what is refused before the overwrite and put back after it, so who agreed to
    the plan agreed to them. Pure.
    """
    rows: list[Json] = [
        [row.application, row.subsystem, row.severity, row.policy if row.expects else None]
        for row in samples.rows
    ]
    return digest({"plan": plan.digest, "samples": rows, "onMismatch": samples.on_mismatch})


async def with_policy_impact(request: SectionRequest) -> Plan:
    """Return the plan with its impact on the samples; its digest covers the samples then."""
    made, samples = request.plan, request.asked
    impact = await policy_impact(request.api, made, samples)
    if impact is None:
        return made
    if impact.writes:
        made = replace(made, digest=bound_to_samples(made, samples))
    return made.with_section(replace(impact, of_base=request.session.against is not None))


async def policy_impact(api: Api, plan: Plan, samples: Samples) -> PolicyImpact | None:
    """Ask the service about the samples, and compare; None where the plan has no policy list.

    The error of a service that cannot be asked is in the result, and stops no plan.
    """
    change = sampled_change(plan)
    if change is None:
        return None
    answers: Sequence[Met] = ()
    unasked = UNREAD
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
