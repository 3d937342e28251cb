"""Who may consent to which guard: every guard by every kind of consent, on a laptop and in CI."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from reconciler.errors import UsageError
from reconciler.model import FLAGS, GUARDS, GuardViolation, Plan, Ref
from reconciler.planning.guards import (
    MOST_LISTED,
    Agreed,
    listed_of,
    listing_of,
    read_overridden,
    unmet,
    with_levels,
)
from reconciler.project import Guards

PAGE = Path(__file__).parents[2] / "docs" / "guards.md"
BOARD = Ref("Dashboard", "checkout")

ROWS = re.findall(
    r"^\| \[`([a-z-]+)`\]\S+ \| (\w+) \| .* \| (.*) \|$", PAGE.read_text("utf-8"), re.MULTILINE
)
CONTRACT: Mapping[str, str] = {code: level for code, level, _ in ROWS} | {"R/agreed": "review"}
"""The level of each guard, as docs/guards.md promises it."""

ITS_FLAG: Mapping[str, str] = {
    code: lifted.split("`--")[1].split("`")[0]
    for code, _, lifted in ROWS
    if "`--override-guard`" not in lifted
}
"""Guards that nothing but a flag of their own lifts."""


def guard(code: str) -> GuardViolation:
    """Return an objection of a code."""
    return GuardViolation(ref=BOARD, said=": 1 of 2", remedies=(), code=code)


def listed(*objections: GuardViolation) -> Agreed:
    """Return the consent of a review whose plan listed these: a file, or a comment."""
    keys = listed_of([guard(code) for code in CONTRACT], listing_of(objections))
    return Agreed(reviewed=True, listed=keys)


def consents(code: str) -> dict[str, tuple[Agreed, bool]]:
    """Return every kind of consent, and whether the contract says that it lifts a guard."""
    other = next(name for name in CONTRACT if name != code and name not in ITS_FLAG)
    by_review = CONTRACT[code] == "review"
    by_override = code not in ITS_FLAG
    one = guard(code)
    return {
        "none, or --yes": (Agreed(), False),
        "reviewed before it appeared": (listed(), False),
        "reviewed with it": (listed(one), by_review),
        "reviewed with other figures": (listed(replace(one, said=": 2 of 2")), False),
        "reviewed of another resource": (listed(replace(one, ref=Ref("SLO", "a"))), False),
        "reviewed with another": (listed(guard(other)), False),
        "yes on a terminal": (Agreed(reviewed=True), by_review),
        "override by code": (Agreed(codes={code}), by_override),
        "override of another code": (Agreed(codes={other}), False),
        "override by reason": (Agreed(override=True), by_override),
        "its own flag": (Agreed(flags={ITS_FLAG.get(code, "")}), code in ITS_FLAG),
        "all other flags": (Agreed(flags={*FLAGS} - {ITS_FLAG.get(code)}), False),
    }


@pytest.mark.promise("S16")
@pytest.mark.parametrize("code", CONTRACT)
def test_who_may_consent(code: str) -> None:
    """A guard is lifted by what the contract says of its level, and by nothing else."""
    lifted = {how: given.to(guard(code)) for how, (given, _) in consents(code).items()}

    assert lifted == {how: expected for how, (_, expected) in consents(code).items()}


@pytest.mark.promise("S16")
@pytest.mark.parametrize("code", CONTRACT)
def test_raised(code: str) -> None:
    """What an environment raises no review lifts, and the ways out name none."""
    plan = planned(guard(code))
    raised = with_levels(plan, Guards.model_validate({"levels": {code: "explicit"}}))
    (objection,) = raised.guarded

    assert objection.level == "explicit"
    assert unmet([objection], Agreed(reviewed=True)) == (objection,)
    assert unmet([objection], listed(guard(code))) == (objection,)
    assert raised.digest == plan.digest


@pytest.mark.promise("S16")
def test_levels_on_the_page() -> None:
    """The table of docs/guards.md has each code with its level, and the program has the same."""
    assert {code: (guard.level, guard.flag) for code, guard in GUARDS.items()} == {
        code: (level, ITS_FLAG.get(code, "")) for code, level, _ in ROWS
    }


def planned(*guarded: GuardViolation) -> Plan:
    """Return a plan with these objections."""
    return Plan(
        environment="local", target="t", digest=f"sha256:{'1' * 64}", changes=(), guarded=guarded
    )


@pytest.mark.promise("S16")
@pytest.mark.parametrize("code", CONTRACT)
def test_the_digest_tells_guards(code: str) -> None:
    """A guard that a review consents to changes the digest, unless it depends on incidents."""
    made = planned(guard(code))
    covered = CONTRACT[code] == "review" and code != "alert-silenced"

    assert (with_levels(made, Guards()).digest != made.digest) is covered
    other = with_levels(planned(replace(guard(code), said=": 2 of 2")), Guards())
    assert (with_levels(made, Guards()).digest != other.digest) is covered


@pytest.mark.promise("S16")
def test_many_guards_in_a_comment() -> None:
    """Of many guards the list of a comment stays short, and consents to all of a code or none."""
    many = [replace(guard("takes-over"), ref=Ref("SLO", f"s{n}")) for n in range(MOST_LISTED)]
    lowered = guard("slo-target-lowered")

    short = listing_of([*many, lowered])

    assert len(short) == 2
    assert listed_of([*many, lowered], short) == {violation.key for violation in (*many, lowered)}
    assert listed_of([*many[1:], lowered], short) == {lowered.key}


@pytest.mark.promise("S16")
@pytest.mark.parametrize(
    ("texts", "codes", "reason"),
    [
        (["protected=asked Ann"], {"protected": "asked Ann"}, None),
        (["protected=a", "takes-over=b"], {"protected": "a", "takes-over": "b"}, None),
        (["protected=a", "agreed by phone"], {"protected": "a"}, "agreed by phone"),
        (["agreed: a=b"], {}, "agreed: a=b"),
        (["R/agreed=x=y"], {"R/agreed": "x=y"}, None),
        (["protected = asked Ann"], {"protected": "asked Ann"}, None),
        (["protected\n=a"], {"protected": "a"}, None),
        (["agreed"], {}, "agreed"),
        ([], {}, None),
    ],
)
def test_override_texts(texts: list[str], codes: dict[str, str], reason: str | None) -> None:
    """The text before the first `=` is a code if it has no blank inside; all else is a reason."""
    read = read_overridden(texts)

    assert (dict(read.codes), read.reason) == (codes, reason)


@pytest.mark.promise("S16")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("slo-target-lowerd=agreed", "did you mean `slo-target-lowered`?"),
        ("x=1", "no guard `x`"),
        ("=1", "no guard ``"),
        ("protected=", "needs a reason"),
        ("protected", "needs a reason"),
        ("R/owner", "needs a reason"),
        ("destroys protected=agreed", "one code"),
        ("PROTECTED", "did you mean `protected`?"),
        ("slo-target-lowerd", "did you mean `slo-target-lowered`?"),
        (" ", "needs a reason"),
    ],
)
def test_wrong_override_texts(text: str, said: str) -> None:
    """An unknown code is a usage error with the nearest one, and so is a missing reason."""
    with pytest.raises(UsageError, match=re.escape(said)):
        read_overridden([text])
