"""Lint rules for log policies: policies that can never be reached.

Source: docs/practice.md. The first policy that takes a line decides. So a policy has no effect if
the policies before it take every line that it would.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from reconciler.document import Json
from reconciler.features.lint.lint import LintRule
from reconciler.kinds.kind import SpecFinding, text_of
from reconciler.kinds.log_policy_set import NameMatcher, names_of
from reconciler.kinds.shape import EACH, places
from reconciler.syntax.diagnostic import Advice


@dataclass(frozen=True, slots=True)
class PolicyScope:
    """The lines that a policy takes: severities and two rules, None if any name matches."""

    severities: frozenset[str]
    application: NameMatcher | None
    subsystem: NameMatcher | None

    def covers_names_of(self, other: PolicyScope) -> bool:
        """Return whether both rules match all names of the other's, with and without case."""
        pairs = (self.application, other.application), (self.subsystem, other.subsystem)
        return all(
            ours is None
            or (
                theirs is not None and ours.covers(theirs) and ours.folded().covers(theirs.folded())
            )
            for ours, theirs in pairs
        )


def shadowing(before: Sequence[PolicyScope | None], scope: PolicyScope) -> list[int]:
    """Return the places of the policies that take all lines of one policy; empty if some are left.

    A policy before it that is not known takes nothing for sure.
    """
    left = set(scope.severities)
    taking: list[int] = []
    for index, other in enumerate(before):
        if other is not None and left & other.severities and other.covers_names_of(scope):
            left -= other.severities
            taking.append(index)
    return [] if left else taking


def taken_by(item: Json) -> PolicyScope | None:
    """Return the lines that a policy takes for sure; None if unknown, or the policy is off."""
    found = dict(places(item, "policy"))
    policy = found.get(("policy",))
    if not isinstance(policy, dict) or policy.get("disabled") not in (None, False):
        return None
    severities = [value for _, value in places(item, "logRules", "severities", EACH)]
    known = [text_of(value) for value in severities]
    application, is_sure = names_of(policy.get("applicationRule"))
    subsystem, is_sure_too = names_of(policy.get("subsystemRule"))
    if not known or None in known or not is_sure or not is_sure_too:
        return None
    return PolicyScope(frozenset(filter(None, known)), application, subsystem)


MOST_COMPARED = 200
"""The policies, from the first, that others are compared with: services take no longer list."""


def _never_reached(spec: dict[str, Json]) -> Iterator[SpecFinding]:
    items = [item for _, item in places(spec, "policies", EACH)]
    scopes = [*map(taken_by, items)]
    for index, scope in enumerate(scopes):
        if scope is None:
            continue
        if before := shadowing(scopes[: min(index, MOST_COMPARED)], scope):
            names = ", ".join(f"`{_name(items[at])}`" for at in before)
            takes = "take every line of it" if len(before) > 1 else "takes every line that it would"
            message = f"this policy is never reached: {names} before it {takes}"
            remedy = Advice("write it before that one, or remove it")
            yield SpecFinding(("policies", index, "policy", "name"), message, remedy)


def _name(item: Json) -> str:
    return next((str(name) for _, name in places(item, "policy", "name")), "")


PRACTICES = (LintRule(code="L501", find=_never_reached),)
