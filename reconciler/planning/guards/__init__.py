"""Guards: what a plan may not do without consent. Source: docs/guards.md."""

from reconciler.planning.guards.all_guards import (
    PlanUnderGuard,
    objections,
    with_feature_guards,
    with_guards,
)
from reconciler.planning.guards.consent import Agreed, unmet, with_levels

__all__ = [
    "Agreed",
    "PlanUnderGuard",
    "objections",
    "unmet",
    "with_feature_guards",
    "with_guards",
    "with_levels",
]
