"""The evaluator of log policies: held against the emulator, and its proofs against brute force."""

from __future__ import annotations

from functools import partial
from itertools import product
from random import Random

from hypothesis import given
from hypothesis import strategies as st
from random_policies import emulated, random_case

from reconciler.document import Json
from reconciler.features.policy_samples.policy_impact import Met, PolicySample
from reconciler.features.policy_samples.sample_impact import Policies, policies_in, shadowed

CASES = 5_000
HOWS = ("IS", "IS_NOT", "START_WITH", "INCLUDES", "UNSPECIFIED")


def test_against_the_emulator() -> None:
    """Evaluator and emulator, which share no code, agree on random lists and logs."""
    random = Random(7)  # noqa: S311 - repeatable, not secret
    wrong = []
    for _ in range(CASES):
        case = random_case(random)
        told = policies_in({"policies": case.policies}, any_case=case.any_case).met(case.sample)
        if told is None or told.policy != emulated(case):
            wrong.append((case, told))
    assert wrong == []


def test_capitals_matter_where_they_do() -> None:
    """A list that is read for a service without capitals disagrees with one that has them."""
    random = Random(7)  # noqa: S311 - repeatable, not secret
    cases = [random_case(random) for _ in range(1_000)]
    wrong = sum(
        policies_in({"policies": case.policies}, any_case=not case.any_case).met(case.sample)
        != Met(emulated(case))
        for case in cases
    )
    assert wrong > 0


def _policy(name: str, severities: list[str], **rules: Json) -> Json:
    return {
        "logRules": {"severities": [f"SEVERITY_{severity}" for severity in severities]},
        "policy": {"name": name, **rules},
    }


def _rule(how: str, names: list[str]) -> Json:
    return {"name": ",".join(names), "ruleTypeId": f"RULE_TYPE_ID_{how}"}


def _rules(longest: dict[str, int]) -> st.SearchStrategy[Json]:
    """Give rules whose names are so short that four letters hold any way to meet them."""

    def rule(how: str) -> st.SearchStrategy[Json]:
        names = st.lists(st.text("ab", max_size=longest[how]), min_size=1, max_size=2)
        return st.builds(partial(_rule, how), names)

    return st.one_of(st.none(), *map(rule, HOWS))


RULES = _rules({"IS": 2, "IS_NOT": 2, "START_WITH": 2, "INCLUDES": 1, "UNSPECIFIED": 0})
LISTS = st.lists(
    st.tuples(
        st.lists(st.sampled_from(["INFO", "ERROR"]), unique=True, max_size=2),
        RULES,
        RULES,
        st.booleans() | st.none(),
    ),
    min_size=1,
    max_size=5,
)
UNIVERSE = ["".join(letters) for size in range(4) for letters in product("abz", repeat=size)]


def _met_by(policies: Policies, places: range) -> set[int]:
    """Give the places of the policies that some log of the universe meets."""
    applications = [
        [policy.application.lets_in(name) for name in UNIVERSE] for policy in policies.listed
    ]
    subsystems = [
        [policy.subsystem.lets_in(name) for name in UNIVERSE] for policy in policies.listed
    ]
    found: set[int] = set()
    for left, right in product(range(len(UNIVERSE)), repeat=2):
        named = [
            place
            for place in places
            if policies.listed[place].enabled
            and applications[place][left]
            and subsystems[place][right]
        ]
        for severity in ("SEVERITY_INFO", "SEVERITY_ERROR", "SEVERITY_DEBUG"):
            for place in named:
                severities = policies.listed[place].severities
                if not severities or severity in severities:
                    found.add(place)
                    break
    return found


@given(LISTS)
def test_shadowed_by_brute_force(
    drawn: list[tuple[list[str], Json, Json, bool | None]],
) -> None:
    """A policy is told to be out of reach exactly if no log of a small universe meets it."""
    items = [
        _policy(str(place), row[0], applicationRule=row[1], subsystemRule=row[2], disabled=row[3])
        for place, row in enumerate(drawn)
    ]
    policies = policies_in({"policies": items})
    enabled = {place for place, policy in enumerate(policies.listed) if policy.enabled}

    places = range(len(policies.listed))
    assert set(shadowed(policies)) == enabled - _met_by(policies, places)


def test_shadowed_by_several() -> None:
    """A policy is out of reach where two before it share out its names between them."""
    rule: dict[str, Json] = {"name": "shop", "ruleTypeId": "RULE_TYPE_ID_IS"}
    others: Json = {**rule, "ruleTypeId": "RULE_TYPE_ID_IS_NOT"}
    items = [
        _policy("shop", ["INFO"], applicationRule=rule),
        _policy("others", ["INFO"], applicationRule=others),
        _policy("never", ["INFO"]),
        _policy("errors", ["INFO", "ERROR"]),
    ]
    assert shadowed(policies_in({"policies": items})) == [2]


def test_unknown_severities() -> None:
    """Where nobody knows the severities of a policy, it leaves a log open and shadows nothing."""
    items: list[Json] = [{"policy": {"name": "seen"}}, _policy("after", ["INFO"])]
    seen = policies_in({"policies": items}, seen=True)

    assert seen.met(PolicySample("a", "b", "SEVERITY_INFO")) is None
    assert shadowed(seen) == []
    assert shadowed(policies_in({"policies": items})) == [1]
