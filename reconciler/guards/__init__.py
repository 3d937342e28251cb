"""What a plan may not do without consent. Source: docs/guards.md."""

from reconciler.guards.guarding import objections, with_guards
from reconciler.guards.rules import Agreed, unmet

__all__ = ["Agreed", "objections", "unmet", "with_guards"]
