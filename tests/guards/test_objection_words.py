"""What is asked of a person about names, edits of others and a lost journal."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from harness.golden import Golden
from sample_objections import BOARD, PLANS, asked, plan, planned, said_of_plans

from reconciler.document import ABSENT, Difference, Json
from reconciler.model import (
    Action,
    Change,
    Evidence,
    GuardViolation,
    Manifest,
    NeverWritten,
    Plan,
    Ref,
    Seen,
    Source,
    Unknown,
)
from reconciler.planning.guards import Agreed, guards_of_part, unmet
from reconciler.planning.guards.plan_limits import exceeded_limits
from reconciler.project import Guards
from reconciler.runtime.advice import in_job

GOLDEN = Path(__file__).parent / "golden" / "objections.txt"
OF_OTHERS = ("overwrites-edit", "takes-over")
REVIEWED = (*OF_OTHERS, "policy-samples")


def test_words_of_each_objection() -> None:
    """Each objection reads to the letter as its golden text, with every way out of it.

    `WRITE_GOLDEN=1` writes it anew.
    """
    if os.environ.get("WRITE_GOLDEN"):
        GOLDEN.write_text(said_of_plans(), encoding="utf-8")
    assert said_of_plans() == GOLDEN.read_text(encoding="utf-8")


@pytest.mark.parametrize("allowed", [(), OF_OTHERS[:1], OF_OTHERS[1:], OF_OTHERS, REVIEWED])
def test_allowed(allowed: tuple[str, ...]) -> None:
    """A project file lifts what others did, or samples tell, by its code, and only that."""
    for one in PLANS.values():
        left = [objection for objection in asked(one) if objection.code not in allowed]

        assert asked(one, *allowed) == left


UNSEEN = plan(planned(Ref("AlertDefinition", "a"), Action.ASSERT, NeverWritten()))


@pytest.mark.parametrize("sample", [*PLANS.values(), UNSEEN], ids=[*PLANS, "never written"])
@pytest.mark.parametrize(("within", "sign"), [(nullcontext, " "), (in_job, ": ")])
def test_own_override(
    sample: Plan, within: Callable[[], AbstractContextManager[None]], sign: str
) -> None:
    """An override that an objection names is of its own code alone, in CI too."""
    with within():
        found = asked(sample)

    for objection in found:
        for remedy in objection.remedies:
            named = re.findall(r"override-guard(.*?)`", remedy)
            assert named == [f"{sign}{objection.code}=REASON"] * len(named)


@pytest.mark.parametrize("sample", PLANS.values(), ids=PLANS)
def test_objections_of_a_part(sample: Plan) -> None:
    """A part with the changes that are objected to keeps the objections, any other part none."""
    other = planned(Ref("SLO", "other"), Action.UPDATE)
    samples = planned(Ref("LogPolicySet", "all"), Action.UPDATE)
    changes = sample.changes or (samples,)
    whole = replace(sample, changes=(*changes, other), guarded=tuple(asked(sample)))

    assert guards_of_part(whole, replace(whole, changes=changes), Guards()) == whole.guarded
    assert guards_of_part(whole, replace(whole, changes=(other,)), Guards()) == ()


@pytest.mark.parametrize("code", [*REVIEWED, "looks-like-rename", "protected"])
def test_reviewed(code: str) -> None:
    """A review of the very plan lifts what it shows whole, and nothing else."""
    objection = GuardViolation(ref=BOARD, said="", remedies=(), code=code)

    assert Agreed(reviewed=True).to(objection) == (code in REVIEWED)
    assert unmet([objection], Agreed()) == (objection,)


@pytest.mark.parametrize("code", [*REVIEWED, "protected"])
def test_shown_in_a_file(code: str) -> None:
    """A reviewed plan lifts only what it lists with the same figures."""
    objection = GuardViolation(ref=BOARD, said=": one", remedies=(), code=code)
    other = replace(objection, said=": two")

    assert Agreed(reviewed=True, listed=[objection.key]).to(objection) == (code in REVIEWED)
    assert not Agreed(reviewed=True, listed=[other.key]).to(objection)
    assert not Agreed(listed=[objection.key]).to(objection)


def asserted(name: str, *, enabled: bool) -> Change:
    """Give an alert that is sent unseen, and silenced where it is not enabled."""
    spec: dict[str, Json] = {"name": name, "enabled": enabled}
    return Change(
        ref=Ref("AlertDefinition", name),
        manifest=Manifest(Ref("AlertDefinition", name), spec, Source("a.yaml", 1)),
        action=Action.ASSERT,
        evidence=Evidence.JOURNAL,
        observation=Unknown("id", "the journal is lost"),
        declared=spec,
        body=spec,
        differences=(Difference(("enabled",), ABSENT, enabled, "add"),),
    )


def test_unseen_losses(golden: Golden) -> None:
    """Unseen alerts that are silenced count on both sides, one by one; the others on none."""
    silenced = [asserted(f"silenced-{number}", enabled=False) for number in range(3)]
    kept = [asserted(f"kept-{number}", enabled=True) for number in range(9)]

    (found,) = exceeded_limits(plan(*silenced, *kept), Guards.model_validate({"maxChanges": 2}))

    golden(found.message)


def test_known_beside(golden: Golden) -> None:
    """What the journal knows beside a rollback is known, each of its own kind alone."""
    changes = [planned(Ref("Dashboard", f"c{n}"), Action.UPDATE) for n in range(4)]
    boards, others = (
        tuple(Ref(kind, f"b{n}") for n in range(10)) for kind in ("Dashboard", "LogPolicySet")
    )
    limits = Guards.model_validate({"minimum": 0})

    assert not [*exceeded_limits(plan(*changes, beside=boards), limits)]
    (found,) = exceeded_limits(plan(*changes, beside=others), limits)
    golden(found.message)


def test_members_beside(golden: Golden) -> None:
    """Lists beside a rollback are no members, so they leave the limit of members as it is."""
    seen = Seen("id", {"policies": [{"policy": {"name": f"p{n}"}} for n in range(2)]})
    one = planned(Ref("LogPolicySet", "all"), Action.UPDATE)
    lost = replace(one, observation=seen, destroys=("p0", "p1"))
    beside = (Ref("LogPolicySet", "old"),) * 30

    (found,) = exceeded_limits(plan(lost, beside=beside), Guards.model_validate({"minimum": 0}))

    golden(found.message)
