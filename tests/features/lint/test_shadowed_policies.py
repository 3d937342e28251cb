"""Which log policies are never reached, against lines that are tried one by one."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from reconciler.document import Json
from reconciler.features.lint.log_policy_set import PRACTICES, shadowing, taken_by
from reconciler.kinds.log_policy_set import NameMatcher

HOW = ("IS", "IS_NOT", "START_WITH", "INCLUDES")
SEVERITIES = ("SEVERITY_DEBUG", "SEVERITY_INFO", "SEVERITY_ERROR")
LETTERS = "ab"
# One letter that no rule has, as names have more letters than rules do.
WORDS = [
    "".join(word) for length in range(6) for word in product(f"{LETTERS}z", repeat=length) if word
]
NAMES = st.text(LETTERS, min_size=1, max_size=2)
RULES = st.none() | st.builds(
    lambda how, names: {"ruleTypeId": f"RULE_TYPE_ID_{how}", "name": ", ".join(names)},
    st.sampled_from(HOW),
    st.lists(NAMES, min_size=1, max_size=2),
)
POLICIES = st.builds(
    lambda severities, application, subsystem, disabled: {
        "logRules": {"severities": severities},
        "policy": {
            "name": "x",
            "disabled": disabled,
            **({"applicationRule": application} if application else {}),
            **({"subsystemRule": subsystem} if subsystem else {}),
        },
    },
    st.lists(st.sampled_from(SEVERITIES), min_size=1, unique=True),
    RULES,
    RULES,
    st.sampled_from([False, False, False, True]),
)


def allowed(rule: Json, word: str) -> bool:
    """Tell whether a rule lets a name in, by trying; nothing here is shared with the check."""
    if not isinstance(rule, dict):
        return True
    names = str(rule["name"]).split(", ")
    match str(rule["ruleTypeId"]).removeprefix("RULE_TYPE_ID_"):
        case "IS":
            return word in names
        case "IS_NOT":
            return word not in names
        case "START_WITH":
            return any(word[: len(name)] == name for name in names)
        case _:
            return any(word.find(name) >= 0 for name in names)


def words_of(rule: Json) -> frozenset[str]:
    """Give the short names that a rule lets in."""
    return frozenset(word for word in WORDS if allowed(rule, word))


def lines_of(item: dict[str, Json]) -> set[tuple[str, str, str]]:
    """Give the lines that a policy takes, of names of at most three letters."""
    policy, rules = item["policy"], item["logRules"]
    assert isinstance(policy, dict)
    assert isinstance(rules, dict)
    if policy["disabled"]:
        return set()
    applications = sorted(words_of(policy.get("applicationRule")))
    subsystems = sorted(words_of(policy.get("subsystemRule")))
    severities = rules["severities"]
    assert isinstance(severities, list)
    short = [word for word in applications if len(word) <= 3]
    short_too = [word for word in subsystems if len(word) <= 3]
    return {
        (str(severity), first, second)
        for severity in severities
        for first in short
        for second in short_too
    }


@given(policies=st.lists(POLICIES, min_size=2, max_size=4))
def test_what_is_told_to_be_shadowed_takes_no_line(policies: list[dict[str, Json]]) -> None:
    """A policy that is told of takes no line that one before it does not take already."""
    (practice,) = PRACTICES
    assert practice.find is not None

    told = {found.path[1] for found in practice.find({"policies": [*policies]})}

    taken: set[tuple[str, str, str]] = set()
    for index, policy in enumerate(policies):
        own = lines_of(policy)
        if index in told:
            assert own <= taken, policies
        taken |= own


@given(first=POLICIES, second=POLICIES)
def test_one_that_takes_every_line_of_another_is_told_of(
    first: dict[str, Json], second: dict[str, Json]
) -> None:
    """Where one policy alone takes every line of the next, that one is told of."""
    whole, part = taken_by(first), taken_by(second)
    if whole is None or part is None:
        return

    covered = all(
        words_of(theirs) <= words_of(ours)
        for ours, theirs in (
            (rule_of(first, "applicationRule"), rule_of(second, "applicationRule")),
            (rule_of(first, "subsystemRule"), rule_of(second, "subsystemRule")),
        )
    )
    expected = covered and part.severities <= whole.severities

    assert (shadowing([whole], part) == [0]) == expected


def rule_of(item: dict[str, Json], which: str) -> Json:
    policy = item["policy"]
    assert isinstance(policy, dict)
    return policy.get(which)


def test_capitals_count_and_do_not() -> None:
    """A policy is told of only where it is covered with capitals as without them."""
    upper, lower = (
        NameMatcher("RULE_TYPE_ID_IS_NOT", ("X",)),
        NameMatcher("RULE_TYPE_ID_IS", ("x",)),
    )

    assert upper.covers(lower)
    assert not upper.folded().covers(lower.folded())
