"""Guards: what a plan may not do without consent. Source: docs/guards.md."""

from reconciler.planning.guards.all_guards import objections, with_guards
from reconciler.planning.guards.consent import Agreed, unmet, with_levels

__all__ = ["Agreed", "objections", "unmet", "with_guards", "with_levels"]
