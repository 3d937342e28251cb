"""What a plan may not do without consent. Source: docs/guards.md."""

from reconciler.guards.consent import Agreed, unmet, with_levels
from reconciler.guards.freeze import FROZEN, FreezeNow
from reconciler.guards.guarding import objections, with_guards

__all__ = ["FROZEN", "Agreed", "FreezeNow", "objections", "unmet", "with_guards", "with_levels"]
