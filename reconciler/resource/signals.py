"""What the platform's own records say of a plan: evidence for a reviewer, which decides nothing.

Source: docs/evidence.md.
"""

from __future__ import annotations

from dataclasses import dataclass

from reconciler.resource.policy_impact import PolicyImpact


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """All that was asked for beside a plan, None or empty where it was not.

    It moves by itself, so no digest holds it, and no write rests on it.
    """

    policies: PolicyImpact | None = None
    """What becomes of the samples of logs."""


NO_SIGNALS = Signals()
