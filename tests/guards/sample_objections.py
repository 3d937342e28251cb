"""Plans that need each consent which others, names and a lost journal ask for."""

from __future__ import annotations

from dataclasses import replace

from reconciler.document import Json
from reconciler.features.policy_samples.policy_impact import (
    Met,
    PolicyImpact,
    PolicySample,
    SampleAnswer,
)
from reconciler.features.policy_samples.sample_impact import failing_samples
from reconciler.model import (
    Absent,
    Action,
    Change,
    Evidence,
    GuardViolation,
    LastEdit,
    LooksLike,
    Manifest,
    NoJournal,
    OverwritesEdit,
    OverwrittenSince,
    Plan,
    Reason,
    Ref,
    Seen,
    Source,
    TakesOver,
)
from reconciler.planning.guards import objections
from reconciler.project import Guards

ANN = LastEdit(who="Ann", at="2025-01-31T09:00:00Z")
UNTOLD = LastEdit()
TITLE = ("dashboard", "title")
SEVERITIES = ("policies", "info", "severities")
BOARD = Ref("Dashboard", "checkout")
VIEWS = [Ref("SavedView", f"view-{number}") for number in range(1, 8)]
LAYOUT: dict[str, Json] = {"title": "Checkout"}


def planned(ref: Ref, action: Action, *reasons: Reason) -> Change:
    """Give a change with these reasons, of something that is live unless it is created."""
    live = Absent() if action is Action.CREATE else Seen("id", LAYOUT)
    return Change(
        ref=ref,
        manifest=Manifest(ref, LAYOUT, Source("a.yaml", 1)),
        action=action,
        evidence=Evidence.LIVE,
        observation=live,
        declared=LAYOUT,
        body=LAYOUT,
        reasons=reasons,
    )


def plan(*changes: Change, without_journal: bool = False, beside: tuple[Ref, ...] = ()) -> Plan:
    """Give a plan of `production`."""
    remarks = (NoJournal(),) if without_journal else ()
    return Plan(
        environment="production",
        target="https://api",
        digest="",
        changes=changes,
        remarks=remarks,
        beside=beside,
    )


def created(*refs: Ref) -> tuple[Change, ...]:
    """Give creates."""
    return tuple(planned(ref, Action.CREATE) for ref in refs)


FAILING = SampleAnswer(
    PolicySample("shop", "ledger", "SEVERITY_DEBUG", "audit", expects=True),
    Met("audit", "PRIORITY_TYPE_HIGH"),
    Met("noise", "PRIORITY_TYPE_BLOCK"),
)
NOBODYS = SampleAnswer(
    PolicySample("x" * 80, "y", "SEVERITY_INFO", "", expects=True), None, Met("all")
)
UNTAKEN = SampleAnswer(
    PolicySample("x" * 60, "y" * 61, "SEVERITY_INFO", "z" * 61, expects=True), None, Met()
)


def sampled(*answers: SampleAnswer, writes: bool = True) -> Plan:
    """Give a plan of which samples tell this."""
    impact = PolicyImpact(answers=answers, writes=writes)
    return plan().with_section(impact)


UPDATE = Action.UPDATE
PLANS = {
    "one field of others": plan(planned(BOARD, UPDATE, OverwritesEdit((TITLE,), ANN))),
    "two fields, by nobody knows whom": plan(
        planned(BOARD, UPDATE, OverwritesEdit((TITLE, SEVERITIES), UNTOLD))
    ),
    "fields that cannot be seen": plan(
        planned(BOARD, UPDATE, OverwrittenSince((SEVERITIES, TITLE, SEVERITIES), ANN))
    ),
    "unseen, by nobody knows whom": plan(
        planned(BOARD, UPDATE, OverwrittenSince((SEVERITIES,), UNTOLD))
    ),
    "taken over": plan(planned(BOARD, UPDATE, TakesOver(ANN))),
    "taken over unseen": plan(planned(BOARD, UPDATE, TakesOver(UNTOLD, differs=False))),
    "all that one change can ask": plan(
        planned(
            BOARD,
            UPDATE,
            *(TakesOver(ANN), OverwritesEdit((TITLE,), ANN), OverwrittenSince((TITLE,), ANN)),
        )
    ),
    "a rename of one": plan(planned(BOARD, Action.CREATE, LooksLike((Ref("Dashboard", "old"),)))),
    "a rename of one of two": plan(
        planned(
            BOARD,
            Action.CREATE,
            LooksLike((Ref("Dashboard", "old"), Ref("Dashboard", "older"))),
        )
    ),
    "one create without a journal": plan(*created(VIEWS[0]), without_journal=True),
    "five creates without a journal": plan(*created(*VIEWS[:5]), without_journal=True),
    "seven creates without a journal": plan(*created(*VIEWS), without_journal=True),
    "what can be found, without a journal": plan(
        *created(BOARD), planned(VIEWS[0], UPDATE), without_journal=True
    ),
    "a create with a journal": plan(*created(VIEWS[0])),
    "a sample that fails": sampled(FAILING),
    "seven samples that fail": sampled(*[FAILING] * 6, NOBODYS),
    "five samples that fail": sampled(*[FAILING] * 5),
    "a sample that is nobody's": sampled(NOBODYS),
    "a sample that nobody takes": sampled(UNTAKEN),
    "a sample that nobody can tell of": sampled(replace(FAILING, after=None)),
    "a sample that fails already": sampled(FAILING, writes=False),
}


def asked(one: Plan, *allow: str) -> list[GuardViolation]:
    """Give what a plan would need consent for."""
    guards = Guards.model_validate({"allow": list(allow)})
    return [*objections(one, guards), *failing_samples(one, guards)]


def said_of_plans() -> str:
    """Give every objection to each plan, with its code, its resource and its ways out."""
    lines = []
    for name, one in PLANS.items():
        lines.append(f"# {name}")
        for objection in asked(one):
            lines.append(f"{objection.code} ({objection.ref}): {objection.message}")
            lines.extend(f"  - {way}" for way in objection.remedies)
    return "\n".join(lines) + "\n"
