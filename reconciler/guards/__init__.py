"""Guards: what a plan may not do without consent. Source: docs/guards.md."""

from reconciler.guards.all_guards import objections, with_guards
from reconciler.guards.consent import Agreed, unmet, with_levels
from reconciler.guards.freeze_guard import FROZEN, FreezeNow

__all__ = ["FROZEN", "Agreed", "FreezeNow", "objections", "unmet", "with_guards", "with_levels"]
