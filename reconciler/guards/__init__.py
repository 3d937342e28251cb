"""What a plan may not do without consent. Source: failure-cases.md, R22 and R23; docs/guards.md."""

from reconciler.guards.guarding import objections, with_guards
from reconciler.guards.rules import Agreed, unmet

__all__ = ["Agreed", "objections", "unmet", "with_guards"]
