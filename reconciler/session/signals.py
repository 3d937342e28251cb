"""Asking the platform's own records what they say of a plan. Source: docs/evidence.md."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reconciler.resource import Plan

if TYPE_CHECKING:
    from reconciler.api.client import Api
    from reconciler.session.opening import Bench


async def with_signals(api: Api, bench: Bench, made: Plan) -> Plan:
    """Fill in all that was asked for; what the service cannot tell is said there, and no error."""
    return await _with_policy_impact(api, bench, made)


async def _with_policy_impact(api: Api, bench: Bench, made: Plan) -> Plan:
    samples = bench.workspace.samples
    if samples is None:
        return made
    from reconciler.evidence.policy_impact import policy_impact  # noqa: PLC0415 - where there are samples

    impact = await policy_impact(api, made, samples)
    return replace(made, signals=replace(made.signals, policies=impact))
