"""What the platform's own records say of a plan: evidence for a reviewer, which decides nothing.

Source: docs/evidence.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from reconciler.resource.declared import Ref
from reconciler.resource.policy_impact import PolicyImpact


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """All that was asked for beside a plan, None or empty where it was not.

    It moves by itself, so no digest holds it, and no write rests on it. `owners` are those of
    each manifest by the code owners of the base branch, none of what is nobody's; they are
    notified where `mentions_owners` says so.
    """

    owners: Mapping[Ref, tuple[str, ...]] = field(default_factory=dict)
    mentions_owners: bool = False
    policies: PolicyImpact | None = None
    """What becomes of the samples of logs."""


NO_SIGNALS = Signals()
