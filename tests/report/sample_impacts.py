"""What becomes of samples of logs, in each way in which a plan may tell it."""

from __future__ import annotations

from dataclasses import replace

from reconciler.features.policy_samples.policy_impact import (
    Met,
    PolicyImpact,
    PolicySample,
    SampleAnswer,
)
from reconciler.features.policy_samples.policy_impact_formats import (
    policy_impact_lines,
    policy_impact_markdown,
)
from reconciler.report.table import Style

AUDIT, NOISE = Met("audit", "PRIORITY_TYPE_HIGH"), Met("noise", "PRIORITY_TYPE_BLOCK")
LEDGER = PolicySample("shop", "ledger", "SEVERITY_DEBUG", "audit", expects=True)
CART = PolicySample("shop", "cart", "SEVERITY_INFO")
LAB = PolicySample("lab", "bench", "SEVERITY_ERROR", "", expects=True)
FAILING = SampleAnswer(LEDGER, AUDIT, NOISE)
TURNING = SampleAnswer(CART, Met(), NOISE)
STAYING = SampleAnswer(LAB, Met(), Met())

LOSING = PolicyImpact(
    answers=(TURNING, FAILING, STAYING),
    agreement=1.0,
    shadowed=("errors",),
    recalled=("audit", "noise"),
    on_mismatch="rollback",
)
IMPACTS = {
    "an order that loses logs": LOSING,
    "nothing live was asked": replace(
        LOSING, of_base=True, agreement=2 / 3, disagreeing=(replace(STAYING, after=NOISE),)
    ),
    "nothing changes": PolicyImpact(answers=(STAYING,), agreement=1.0),
    "service and evaluator differ": replace(
        LOSING, agreement=2 / 3, disagreeing=(replace(STAYING, after=NOISE),)
    ),
    "they differ, and nothing is written": PolicyImpact(
        answers=(STAYING,),
        agreement=0.0,
        disagreeing=(replace(STAYING, after=NOISE),),
        writes=False,
    ),
    "severities that nobody knows": replace(
        LOSING, unknown=tuple(f"policy-{number}" for number in range(10)), recalled=()
    ),
    "a service that cannot be asked": PolicyImpact(
        answers=(replace(FAILING, before=None),), unasked="403: you may not test logs"
    ),
    "more than are shown": PolicyImpact(answers=(FAILING, TURNING) * 40, agreement=1.0),
}


def said_of_impacts() -> str:
    """Give what is said of each, for a terminal and in a comment."""
    lines = []
    for name, impact in IMPACTS.items():
        lines += [f"# {name}", *policy_impact_lines(impact, Style())]
        lines += policy_impact_markdown(impact)
    return "\n".join(lines) + "\n"
