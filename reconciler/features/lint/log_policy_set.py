"""Lint rules for log policies: policies that can never be reached.

Source: docs/practice.md. The first policy that takes a line decides. So a policy has no effect if
the policies before it take all of its lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from reconciler.document import Json
from reconciler.features.lint.lint import LintRule
from reconciler.kinds.kind import SpecFinding, text_of
from reconciler.kinds.log_policy_set import (
    INCLUDES,
    IS,
    IS_NOT,
    STARTS,
    NameMatcher,
    names_of,
)
from reconciler.kinds.shape import EACH, places
from reconciler.syntax.diagnostic import Advice


@dataclass(frozen=True, slots=True)
class PolicyScope:
    """The lines that a policy takes: severities and two rules, None if any name matches."""

    severities: frozenset[str]
    application: NameMatcher | None
    subsystem: NameMatcher | None

    def covers_names_of(self, other: PolicyScope) -> bool:
        """Return whether both rules match all names that the rules of `other` match.

        This must be true with case and without it.
        """
        pairs = (self.application, other.application), (self.subsystem, other.subsystem)
        return all(
            ours is None
            or (
                theirs is not None and ours.covers(theirs) and ours.folded().covers(theirs.folded())
            )
            for ours, theirs in pairs
        )


def shadowing(before: Sequence[PolicyScope | None], scope: PolicyScope) -> list[int]:
    """Return the indexes of the earlier policies that together take all lines of `scope`, or [].

    None in `before` is a policy with unknown lines, which counts as taking none.
    """
    left = set(scope.severities)
    taking: list[int] = []
    for index, other in enumerate(before):
        if other is not None and left & other.severities and other.covers_names_of(scope):
            left -= other.severities
            taking.append(index)
    return [] if left else taking


def taken_by(item: Json) -> PolicyScope | None:
    """Return the lines that a policy certainly takes; None if unknown, or the policy is off."""
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


def _never_reached(spec: dict[str, Json]) -> Iterator[SpecFinding]:
    items = [item for _, item in places(spec, "policies", EACH)]
    known = _Known()
    for index, item in enumerate(items):
        scope = taken_by(item)
        if scope is None:
            continue
        near = known.near(scope)
        before = [near[at][0] for at in shadowing([other for _, other in near], scope)]
        known.add(index, scope)
        if before:
            names = ", ".join(f"`{_name(items[at])}`" for at in before)
            message = (
                f"this policy is never reached: {names} before it takes every line that it would"
            )
            if len(before) > 1:
                message = f"this policy is never reached: {names} before it take every line of it"
            remedy = Advice("write it before that one, or remove it")
            yield SpecFinding(("policies", index, "policy", "name"), message, remedy)


MOST_NEAR = 100
"""The most policies to compare a policy with: the first that may take the same lines."""


@dataclass(slots=True)
class _Known:
    """Policies by the names that they may match, so that each is compared with few of many."""

    by_rule: dict[tuple[str, str], dict[tuple[str, str], list[tuple[int, PolicyScope]]]] = field(
        default_factory=dict
    )

    def add(self, index: int, scope: PolicyScope) -> None:
        for rule in _marks(scope.application):
            for other in _marks(scope.subsystem):
                found = self.by_rule.setdefault(rule, {}).setdefault(other, [])
                if len(found) < MOST_NEAR:
                    found.append((index, scope))

    def near(self, scope: PolicyScope) -> list[tuple[int, PolicyScope]]:
        """Return the policies that may take the same lines, in their order."""
        found: dict[int, PolicyScope] = {}
        for rule in _asked(scope.application, self.by_rule):
            held = self.by_rule[rule]
            for other in _asked(scope.subsystem, held):
                found.update(held[other])
        return sorted(found.items(), key=lambda pair: pair[0])[:MOST_NEAR]


def _marks(rule: NameMatcher | None) -> set[tuple[str, str]]:
    """Return the keys of a rule: its names or their beginnings; one empty key if it has none."""
    if rule is None or rule.how == IS_NOT:
        return {("", "")}
    if rule.how == IS:
        return {(IS, name.casefold()) for name in rule.names[:MOST_NEAR]}
    return {(rule.how, name.casefold()[:LONGEST_MARK]) for name in rule.names[:MOST_NEAR]}


LONGEST_MARK = 3


def _asked(
    rule: NameMatcher | None, known: Mapping[tuple[str, str], object]
) -> list[tuple[str, str]]:
    """Return the known keys of rules that may accept all names of this rule."""
    marks = {("", "")}
    if rule is not None and rule.how != IS_NOT:
        first = rule.names[0].casefold()
        marks |= {(IS, first)}
        marks |= {(STARTS, first[:size]) for size in range(1, LONGEST_MARK + 1)}
        marks |= {
            (INCLUDES, first[at : at + size])
            for at in range(len(first))
            for size in range(1, LONGEST_MARK + 1)
        }
    return [pair for pair in marks if pair in known]


def _name(item: Json) -> str:
    return next((str(name) for _, name in places(item, "policy", "name")), "")


PRACTICES = (LintRule(code="L501", find=_never_reached),)
