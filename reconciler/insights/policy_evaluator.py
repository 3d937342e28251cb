"""Which log policy a log meets, and which policies no log can: an evaluator of lists. Pure.

How a service compares is partly assumed (docs/assumptions.md, docs/policy-impact.md), so a plan
first holds this against the service on the list that is live.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import reduce
from operator import and_

from reconciler.document import Json, value_at
from reconciler.kinds.answers import text
from reconciler.kinds.log_policy_set.sample_answers import met_of
from reconciler.model.policy_impact import Met, PolicySample


class How(Enum):
    """How a rule compares the names it holds; the value is that of the API."""

    IS = "RULE_TYPE_ID_IS"
    IS_NOT = "RULE_TYPE_ID_IS_NOT"
    STARTS = "RULE_TYPE_ID_START_WITH"
    INCLUDES = "RULE_TYPE_ID_INCLUDES"
    ANY = "RULE_TYPE_ID_UNSPECIFIED"


@dataclass(frozen=True, slots=True)
class NameRule:
    """Which names a policy is for: all, or those that compare with one of `names`."""

    how: How = How.ANY
    names: tuple[str, ...] = ()

    def allows(self, name: str) -> bool:
        """Tell whether one name is let in."""
        match self.how:
            case How.IS:
                return name in self.names
            case How.IS_NOT:
                return name not in self.names
            case How.STARTS:
                return name.startswith(self.names)
            case How.INCLUDES:
                return any(part in name for part in self.names)
            case How.ANY:
                return True


@dataclass(frozen=True, slots=True)
class PolicyMatcher:
    """A policy as far as it decides about logs.

    `severities` are None where nobody knows them, and all where there are none.
    """

    met: Met
    severities: frozenset[str] | None
    application: NameRule = NameRule()
    subsystem: NameRule = NameRule()
    enabled: bool = True

    @property
    def takes_all_severities(self) -> bool:
        """Whether the severity of a log makes no difference."""
        return self.severities == frozenset()


@dataclass(frozen=True, slots=True)
class Policies:
    """A list of policies in its order.

    With `any_case` the service takes no notice of capitals in names, which are folded here then.
    """

    listed: tuple[PolicyMatcher, ...]
    any_case: bool = False

    def met(self, sample: PolicySample) -> Met | None:
        """Give the first policy that takes a log, None where an unknown severity leaves it open."""
        applications = self._several(sample.application)
        subsystems = self._several(sample.subsystem)
        for policy in self.listed:
            named = (
                policy.enabled
                and any(map(policy.application.allows, applications))
                and any(map(policy.subsystem.allows, subsystems))
            )
            if not named:
                continue
            if policy.severities is None:
                return None
            if not policy.severities or sample.severity in policy.severities:
                return policy.met
        return Met()

    def _several(self, value: str) -> list[str]:
        return parts_of(value, any_case=self.any_case)


def parts_of(joined: str, *, any_case: bool = False) -> list[str]:
    """Give the names that one text joins by commas; an empty text is one empty name."""
    folded = joined.casefold() if any_case else joined
    return [part.strip() for part in folded.split(",")]


def policies_in(document: Json, *, seen: bool = False, any_case: bool = False) -> Policies:
    """Read a `spec` of a log policy set.

    Severities that are left out are all where the list is declared, and nobody knows them where
    it was `seen`.
    """
    items = value_at(document, ("policies",))
    listed = items if isinstance(items, list) else []
    return Policies(tuple(_policies(listed, seen=seen, any_case=any_case)), any_case)


def _policies(items: list[Json], *, seen: bool, any_case: bool) -> Iterator[PolicyMatcher]:
    for item in items:
        policy = value_at(item, ("policy",))
        if not isinstance(policy, dict):
            continue
        severities = value_at(item, ("logRules", "severities"))
        known = severities if isinstance(severities, list) else []
        is_unknown = seen and not isinstance(severities, list)
        yield PolicyMatcher(
            met_of(text(policy, "name"), text(policy, "priority")),
            None if is_unknown else frozenset(one for one in known if isinstance(one, str)),
            _rule(policy.get("applicationRule"), any_case=any_case),
            _rule(policy.get("subsystemRule"), any_case=any_case),
            policy.get("disabled") is not True,
        )


_BY_VALUE = {how.value: how for how in How}


def _rule(rule: Json, *, any_case: bool) -> NameRule:
    """Read a rule; one that says no way to compare, or an unknown one, lets all in."""
    if not isinstance(rule, dict):
        return NameRule()
    how = _BY_VALUE.get(text(rule, "ruleTypeId"), How.ANY)
    return NameRule(how, tuple(parts_of(text(rule, "name"), any_case=any_case)))


SEVERITIES = tuple(
    f"SEVERITY_{name}" for name in ("DEBUG", "VERBOSE", "INFO", "WARNING", "ERROR", "CRITICAL")
)
MOST_COMBINED = 1_000_000
"""How many combinations of names are looked at for one policy; of more nothing is claimed."""


def shadowed(policies: Policies) -> list[int]:
    """Give the places of the policies that no log can meet, as those before take all of theirs.

    A log has one application, one subsystem and one severity. The infinitely many names come
    down to a few, of which one stands for each way to be compared (`_representatives`), so a
    policy is named only where this is proved. Disabled ones take nothing, and are not named.
    """
    found: list[int] = []
    known = _severities(policies)
    names_apart = (
        _compared_whole([policy.application for policy in policies.listed]),
        _compared_whole([policy.subsystem for policy in policies.listed]),
    )
    fresh = _fresh(policies)
    for place, policy in enumerate(policies.listed):
        if not policy.enabled or policy.severities is None:
            continue
        before = [
            policy
            for policy in policies.listed[:place]
            if policy.enabled and policy.severities is not None
        ]
        applications = _representatives(policy.application, names_apart[0], fresh)
        subsystems = _representatives(policy.subsystem, names_apart[1], fresh)
        takers = (
            _takers([policy.application for policy in before], applications),
            _takers([policy.subsystem for policy in before], subsystems),
            _takers_of_severities(before, policy.severities or known),
        )
        if _covered(takers):
            found.append(place)
    return found


def _severities(policies: Policies) -> frozenset[str]:
    """Give all severities that count, and one that none of the policies names."""
    named = (policy.severities or frozenset() for policy in policies.listed)
    return frozenset((*SEVERITIES, "")).union(*named)


def _compared_whole(rules: Sequence[NameRule]) -> frozenset[str]:
    """Give the names that some rule tells from all others."""
    return frozenset(
        name for rule in rules if rule.how in (How.IS, How.IS_NOT) for name in rule.names
    )


def _fresh(policies: Policies) -> str:
    """Give a character that no rule holds."""
    held = {
        letter
        for policy in policies.listed
        for rule in (policy.application, policy.subsystem)
        for name in rule.names
        for letter in name
    }
    # Of Unicode's last plane for anybody's use, in which nothing has capitals.
    return next(letter for letter in map(chr, range(0x100000, 0x10FFFE)) if letter not in held)


def _representatives(rule: NameRule, whole: frozenset[str], fresh: str) -> list[str]:
    """Give names that a rule lets in, one of which escapes all other rules where any name does.

    A name that is compared whole stands for itself. Of any other that is let in, the one given
    here begins with no more, and holds no more, of what rules look for: only what lets it in,
    and a character that no rule holds. So a rule that takes this one takes the other as well.
    """
    exact = [name for name in sorted(whole) if rule.allows(name)]
    match rule.how:
        case How.IS:
            return exact
        case How.STARTS:
            return [*(name + fresh for name in rule.names), *exact]
        case How.INCLUDES:
            return [*(fresh + name + fresh for name in rule.names), *exact]
        case How.IS_NOT | How.ANY:
            return [fresh, *exact]


def _takers(rules: Sequence[NameRule], names: Sequence[str]) -> list[int]:
    """Give, for each name, the rules that let it in as bits; the fewest first, each once."""
    masks = {sum(rule.allows(name) << bit for bit, rule in enumerate(rules)) for name in names}
    return _smallest(masks)


def _takers_of_severities(before: Sequence[PolicyMatcher], severities: frozenset[str]) -> list[int]:
    masks = {
        sum(
            (policy.takes_all_severities or severity in (policy.severities or ())) << bit
            for bit, policy in enumerate(before)
        )
        for severity in severities
    }
    return _smallest(masks)


def _smallest(masks: set[int]) -> list[int]:
    """Leave out what another is a part of: where that one is covered, so is this."""
    kept: list[int] = []
    for mask in sorted(masks, key=int.bit_count):
        if not any(mask & number == number for number in kept):
            kept.append(mask)
    return kept


def _covered(takers: tuple[list[int], list[int], list[int]]) -> bool:
    """Tell whether each combination of the three is taken by some policy before."""
    if reduce(and_, (mask for masks in takers for mask in masks), -1):
        # One policy takes all of it; with nothing to take, all of nothing.
        return True
    applications, subsystems, severities = takers
    if len(applications) * len(subsystems) * len(severities) > MOST_COMBINED:
        return False
    return all(
        application & subsystem & severity
        for application in applications
        for subsystem in subsystems
        for severity in severities
    )
