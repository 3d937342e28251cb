"""What a plan may not do without consent. Source: docs/guards.md."""

from reconciler.guards.freeze import FROZEN, FreezeNow
from reconciler.guards.guarding import objections, with_guards
from reconciler.guards.rules import Agreed, unmet

__all__ = ["FROZEN", "Agreed", "FreezeNow", "objections", "unmet", "with_guards"]
