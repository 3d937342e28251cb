"""Random lists of log policies and logs, and what the emulator's own matching says of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from reconciler.document import Json
from reconciler.emulator.log_policy_endpoints import LogPolicy, MetaFieldsValues, PolicyRule, takes
from reconciler.features.policy_samples.policy_impact import PolicySample

LETTERS = "aaabbAB-ß İ."
HOWS = ("IS", "IS_NOT", "START_WITH", "INCLUDES", "UNSPECIFIED")
SEVERITIES = ("DEBUG", "VERBOSE", "INFO", "WARNING", "ERROR", "CRITICAL", "UNSPECIFIED")
PRIORITIES = ("BLOCK", "LOW", "MEDIUM", "HIGH")
MOST_POLICIES = 7
BARE = LogPolicy(
    id="",
    company_id=1,
    name="",
    description="",
    order=1,
    priority="PRIORITY_TYPE_LOW",
    enabled=True,
    created_at="2025-01-31T09:00:00Z",
    updated_at="2025-01-31T09:00:00Z",
)


@dataclass(frozen=True)
class Case:
    """A list as it is declared, a log, and whether capitals count."""

    policies: list[Json]
    sample: PolicySample
    any_case: bool


def random_case(random: Random) -> Case:
    """Give one case; names are short and of few letters, so that most rules let some in."""
    policies = [_policy(random, place) for place in range(random.randrange(MOST_POLICIES + 1))]
    sample = PolicySample(_names(random), _names(random), f"SEVERITY_{random.choice(SEVERITIES)}")
    return Case(policies, sample, random.random() < 0.3)


def _policy(random: Random, place: int) -> Json:
    policy: dict[str, Json] = {
        "name": f"p{place}",
        "priority": f"PRIORITY_TYPE_{random.choice(PRIORITIES)}",
    }
    if random.random() < 0.2:
        policy["disabled"] = random.random() < 0.7
    for name in ("applicationRule", "subsystemRule"):
        if random.random() < 0.6:
            policy[name] = _rule(random)
    severities: list[Json] = [
        f"SEVERITY_{one}" for one in random.sample(SEVERITIES, random.randrange(6))
    ]
    return {"logRules": {"severities": severities}, "policy": policy}


def _rule(random: Random) -> Json:
    if random.random() < 0.05:
        return None
    rule: dict[str, Json] = {}
    if random.random() < 0.95:
        rule["name"] = _names(random)
    if random.random() < 0.95:
        rule["ruleTypeId"] = f"RULE_TYPE_ID_{random.choice(HOWS)}"
    return rule


def _names(random: Random) -> str:
    names = (
        "".join(random.choices(LETTERS, k=random.choice((0, 1, 1, 2, 3))))
        for _ in range(random.choice((1, 1, 1, 2, 3)))
    )
    return random.choice((",", ", ", " ,")).join(names)


def emulated(case: Case) -> str:
    """Give the name of the policy that the emulator's matching says, "" for none."""
    log = MetaFieldsValues(
        application_name_values=case.sample.application,
        subsystem_name_values=case.sample.subsystem,
        severity_values=case.sample.severity,
    )
    for item in case.policies:
        assert isinstance(item, dict)
        policy, rules = item["policy"], item["logRules"]
        assert isinstance(policy, dict)
        assert isinstance(rules, dict)
        held = BARE.model_copy(
            update={
                "application_rule": _held(policy.get("applicationRule")),
                "subsystem_rule": _held(policy.get("subsystemRule")),
            }
        )
        severities = rules["severities"]
        assert isinstance(severities, list)
        is_met = takes(held, _texts(severities), log, any_case=case.any_case)
        if is_met and policy.get("disabled") is not True:
            return str(policy["name"])
    return ""


def _held(rule: Json) -> PolicyRule | None:
    return PolicyRule.model_validate(rule) if isinstance(rule, dict) else None


def _texts(values: Sequence[Json]) -> list[str]:
    return [str(value) for value in values]
