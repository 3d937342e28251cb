"""What each refusal says, whole: the figures, the limit and the ways out."""

from __future__ import annotations

from typing import Any

import pytest
from harness.golden import Golden

from reconciler.document import ABSENT, Difference, Json, Operation
from reconciler.model import (
    Action,
    Change,
    Evidence,
    GuardViolation,
    Manifest,
    Observation,
    Plan,
    Ref,
    Remembered,
    Seen,
    Source,
)
from reconciler.planning.guards import Agreed, objections, unmet
from reconciler.planning.guards.plan_limits import (
    OpenIncidents,
    adopting,
    reviewing,
    reviewing_file,
)
from reconciler.project import Guards
from reconciler.runtime.advice import is_added

BOARD = Ref("Dashboard", "checkout")
POLICIES = Ref("LogPolicySet", "all")
TITLE = Difference(("dashboard", "title"), "old", "new")
LAYOUT = Difference(("dashboard", "layout"), {}, {"rows": []})
OTHERS = "those that this journal did not write"
OVERRIDE = "apply with `--override-guard {}=REASON`, which the journal keeps"


def change(ref: Ref, *found: Difference, live: Json = None, **fields: Any) -> Change:
    """Give an update of what is live."""
    seen = Seen("id", live if isinstance(live, dict) else {})
    whole = {"observation": seen, "declared": {}, "body": {}, **fields}
    manifest = Manifest(ref, {}, Source("a.yaml", 1))
    return Change(
        ref=ref,
        manifest=manifest,
        action=Action.UPDATE,
        evidence=Evidence.LIVE,
        differences=found,
        **whole,
    )


def said(
    *changes: Change, incidents: OpenIncidents | None = None, **guards: Any
) -> list[GuardViolation]:
    """Give what a plan of these would need consent for."""
    plan = Plan(environment="local", target="emulator", digest="", changes=changes)
    return list(objections(plan, Guards.model_validate(guards), incidents))


@pytest.mark.parametrize(
    ("found", "fields"), [([TITLE], "1 field"), ([TITLE, LAYOUT], "2 fields"), ([], "0 fields")]
)
def test_protected(found: list[Difference], fields: str) -> None:
    """A protected resource is named with how much of it would change, and how to lift that."""
    assert said(change(BOARD, *found, protected=True)) == [
        GuardViolation(
            ref=BOARD,
            said=f" is protected since its last apply, and {fields} of it would change",
            remedies=(
                f"split the change: leave `{BOARD}` as it is, and apply the rest",
                "take `metadata.protect` away in an earlier merge, apply that, and change it then",
                OVERRIDE.format("protected"),
            ),
            code="protected",
        )
    ]


@pytest.mark.parametrize(
    ("destroys", "foreign", "body", "words", "code"),
    [
        (("a",), (), {"policies": [{}]}, "1: `a`", "destroys"),
        (("a", "b"), ("b",), {}, "2 (1 made by hand): `a`, `b`", "destroys"),
        (("a", "b"), ("a", "b"), {}, "2 (2 made by hand): `a`, `b`", "destroys"),
        (
            ("a",),
            (),
            {"policies": []},
            "1: `a`; the list that it declares is empty, so none would be left",
            "destroys-all",
        ),
    ],
)
def test_destroying(
    destroys: tuple[str, ...],
    foreign: tuple[str, ...],
    body: dict[str, Json],
    words: str,
    code: str,
) -> None:
    """What is destroyed is named one by one, with how much of it others wrote."""
    planned = change(POLICIES, live=policies(4), destroys=destroys, foreign=foreign, body=body)

    assert said(planned, maxChangePercent=100, minimum=99) == [
        GuardViolation(
            ref=POLICIES,
            said=f" destroys {words}",
            remedies=(
                "keep them: declare them in the list",
                *([adopting(POLICIES, OTHERS)] if foreign and is_added("adopt") else []),
                f"split the change: leave `{POLICIES}` as it is, and apply the rest",
                "apply with `--allow-destroy`, which prints whole what is lost",
            ),
            code=code,
            destroys=planned.destroys,
        )
    ]


def updates(changed: int, known: int, observation: Observation | None = None) -> list[Change]:
    """Give dashboards of which some would change."""
    found = observation or Seen("id", {})
    return [
        Change(
            ref=Ref("Dashboard", f"b{number}"),
            manifest=Manifest(Ref("Dashboard", f"b{number}"), {}, Source("a.yaml", 1)),
            action=Action.UPDATE if number < changed else Action.KEEP,
            evidence=Evidence.LIVE,
            observation=found,
            declared={},
            body={},
        )
        for number in range(known)
    ]


@pytest.mark.parametrize(
    ("counts", "guards", "figures", "limit", "setting"),
    [
        ((4, 10, 3), {}, "40 %", "30 %, so 3", "maxChangePercent"),
        ((4, 13, 3), {}, "30.77 %", "30 %, so 3", "maxChangePercent"),
        ((4, 10, 2), {"maxChanges": 2}, "40 %", "2", "maxChanges"),
        ((4, 10, 3), {"maxChanges": 3}, "40 %", "3", "maxChanges"),
        ((5, 10, 3), {"maxChanges": 4}, "50 %", "30 %, so 3", "maxChangePercent"),
        ((2, 3, 1), {"maxChanges": 1}, "66.67 %", "1", "maxChanges"),
        ((1, 1, 0), {"maxChanges": 0}, "100 %", "0", "maxChanges"),
        ((5, 5, 1), {"minimum": 5}, "100 %", "30 %, so 1", "maxChangePercent"),
    ],
)
def test_too_many(
    counts: tuple[int, int, int], guards: dict[str, Any], figures: str, limit: str, setting: str
) -> None:
    """Too many changes are told with the figures, and with the limit that was met first."""
    changed, known, allowed = counts

    wanted = f"`guards: {{{setting}: N}}`"

    assert said(*updates(changed, known), **guards) == [
        GuardViolation(
            said=f"{changed} of {known} known Dashboard resources would change ({figures}): "
            f"{changed} updated; the guard allows {limit} in one apply",
            remedies=(
                reviewing(),
                f"split the change, so that at most {allowed} change at once",
                f"in an earlier merge, set {wanted} of `local` in reconciler.yaml",
                OVERRIDE.format("too-many-changes"),
            ),
            code="too-many-changes",
        )
    ]


def test_remembered(golden: Golden) -> None:
    """What the journal remembers counts among the known, in the same words."""
    (found,) = said(*updates(4, 10, Remembered("id", {})))

    golden(found.message)


def member(name: str, *inside: str, operation: Operation = "change") -> Difference:
    """Give a difference at a member of the list, or inside it."""
    return Difference(("policies", name, *inside), 1, 2, operation)


def policies(number: int) -> Json:
    """Give a live list of so many."""
    return {"policies": [{"policy": {"name": f"p{one}"}} for one in range(number)]}


@pytest.mark.parametrize(
    ("found", "destroys", "words"),
    [
        ([member("a", "x"), member("a", "y"), member("b", "x")], (), "2 updated"),
        ([member("a", operation="move"), member("a", "x")], (), "1 updated"),
        ([member("a", "x"), member("c", operation="remove")], ("c",), "1 destroyed, 1 updated"),
        (
            [member("c", operation="remove"), member("d", operation="remove")],
            ("c", "d"),
            "2 destroyed",
        ),
        ([member("c", operation="remove")], ("c", "number 2 of the list"), "2 destroyed"),
        ([Difference(("policies",), [1], [2]), member("a", "x")], (), "1 updated"),
        ([member("e", operation="add"), member("a", "x")], (), "1 updated"),
    ],
)
def test_members(found: list[Difference], destroys: tuple[str, ...], words: str) -> None:
    """Members count once each, however much of them changes; what is new does not count."""
    planned = change(POLICIES, *found, live=policies(4), destroys=destroys)
    count = sum(int(part.split(" ")[0]) for part in words.split(", "))

    (first, *_) = said(planned, maxChanges=0)

    assert first.code == "too-many-changes"
    assert first.message.startswith(f"{count} of 4 known ")
    assert f" ({count * 25} %): {words}; " in first.message


def test_unreadable_members() -> None:
    """A list that is none holds nothing that is known; nor does one that only the journal has."""
    kept = change(POLICIES, live={"policies": None})
    remembered = change(POLICIES, observation=Remembered("id", {"policies": [{}]}))

    assert said(kept, maxChanges=0) == said(remembered, maxChanges=0) == []


ALERT = Ref("AlertDefinition", "errors")
SILENCED = change(
    ALERT,
    Difference(("enabled",), before=True, after=False),
    observation=Remembered("id", {"name": "Errors", "enabled": True}),
    declared={"name": "Errors", "enabled": False},
    body={"name": "Errors", "enabled": False},
)


@pytest.mark.parametrize("ids", [["i1"], ["i1", "i2"]])
def test_silenced(ids: list[str], golden: Golden) -> None:
    """An alert with open incidents is named with how many it has, and how to allow it."""
    incidents, setting = (
        OpenIncidents(found={ALERT: frozenset(ids)}),
        "`guards: {allow: [alert-silenced]}`",
    )

    (found,) = said(SILENCED, incidents=incidents)

    assert found.ref == ALERT
    golden(found.message)
    assert found.remedies == (
        reviewing_file(),
        f"split the change: leave `{ALERT}` as it is, and apply the rest",
        f"in an earlier merge, set {setting} of `local` in reconciler.yaml",
        OVERRIDE.format("alert-silenced"),
    )
    assert said(SILENCED, incidents=incidents, allow=["alert-silenced"]) == []


def test_silenced_quietly() -> None:
    """Without open incidents of its own, or where none are known, an alert may be silenced."""
    others = OpenIncidents(found={Ref("AlertDefinition", "other"): frozenset(["i1"])})

    assert said(SILENCED) == said(SILENCED, incidents=others) == []
    assert others.of(ALERT) == frozenset()


def test_order() -> None:
    """What is about many comes first, then each resource in the order of the plan."""
    protected = [change(update.ref, TITLE, protected=True) for update in updates(5, 5)]
    destroyed = change(POLICIES, live=policies(4), destroys=("a",), protected=True)

    found = said(*protected, *updates(0, 10), destroyed)

    assert [(violation.ref, violation.code) for violation in found] == [
        (None, "too-many-changes"),
        *((one.ref, "protected") for one in protected),
        (POLICIES, "protected"),
        (POLICIES, "destroys"),
    ]


@pytest.mark.parametrize("action", [Action.KEEP, Action.BLOCKED])
def test_not_written(action: Action) -> None:
    """What is not written needs no consent, whatever it would be."""
    planned = change(BOARD, TITLE, protected=True)
    kept = Change(
        ref=planned.ref,
        manifest=planned.manifest,
        action=action,
        evidence=Evidence.LIVE,
        observation=planned.observation,
        declared={},
        body={},
        protected=True,
    )

    assert [violation.ref for violation in said(kept, planned)] == [BOARD]


def test_flags() -> None:
    """Each flag lifts what is its own, and nothing else."""
    destroys, empty, protected, many = (
        GuardViolation(ref=BOARD, said="", remedies=(), code=code)
        for code in ("destroys", "destroys-all", "protected", "too-many-changes")
    )
    guarded = (destroys, empty, protected, many)

    assert unmet(guarded, Agreed(override=False)) == guarded
    assert unmet(guarded, Agreed(flags={"allow-destroy"}, override=False)) == (protected, many)
    assert unmet(guarded, Agreed(override=True)) == (destroys, empty)
    assert unmet(guarded, Agreed(flags={"allow-destroy"}, override=True)) == ()


def test_absent_is_no_update() -> None:
    """A member that is new is not among those that change, though a limit of none holds."""
    new = Difference(("policies", "new"), ABSENT, {}, "add")

    assert said(change(POLICIES, new, live=policies(4)), maxChanges=0) == []
