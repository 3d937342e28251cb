"""The guard `not-approved`: no valid approvals of enough people for exactly this plan.

Only approvals lift it. Where the environment permits it, --break-glass does so in an emergency. The
number of approvals, the list of approvers and the permission for emergencies come from the default
branch's newest commit. Source: docs/approvals.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from reconciler.errors import GuardRefused, InvalidInput, UsageError
from reconciler.features.approvals.approval_file import (
    MOST_CLOCKS_DIFFER,
    PlanToApprove,
    ValidApproval,
    content_of,
    files_in,
    read_approval,
    verify,
)
from reconciler.features.approvals.approval_settings import Approvals, Approvers, flaws_of
from reconciler.features.approvals.default_branch import UnknownBranch, newest_commit
from reconciler.features.approvals.remedies_in_job import remedies_in_job
from reconciler.features.approvals.signers import Signers, read_signers
from reconciler.journal.entries import ApprovalEntry, Entry, OverrideEntry
from reconciler.journal.history import History
from reconciler.model import GuardViolation, Plan, RollsBack
from reconciler.model.guards import APPROVAL, BREAK_GLASS, NOT_APPROVED
from reconciler.model.quoting import quoted
from reconciler.operations.added_by_features import EMERGENCY, AddedOption
from reconciler.operations.apply_plan import Consent
from reconciler.operations.open_project import now
from reconciler.operations.open_session import Session, known_secrets
from reconciler.planning.guards import PlanUnderGuard
from reconciler.planning.guards.plan_limits import consenting
from reconciler.project import Environment, Project
from reconciler.report.plan.document import PlanDocument, change_document, plan_document
from reconciler.report.reasons import SHORT_RUN
from reconciler.report.safe import safe
from reconciler.report.words import plural
from reconciler.runtime.advice import bring_back, is_in_job

APPROVAL_FILES: Final = AddedOption(
    help="A file that `reconciler approve` wrote, or a folder of them; repeat it for more.",
    in_job="The folder of the approvals.",
    flag="--approval",
)
BROKEN_GLASS: Final = EMERGENCY
NOT_PERMITTED: Final = (
    "--break-glass is not permitted here: `approvals:` on the default branch has no "
    "`breakGlass: true`"
)
_CLOCK: Final = "clock"


def check_folder(text: str) -> None:
    """Check the input `approvals`. Raises UsageError for a file.

    A missing folder has no approvals: git keeps no empty folder.
    """
    if Path(text).exists() and not Path(text).is_dir():
        raise UsageError(f"`approvals`: {text} is no folder")


async def with_approvals_needed(asked: PlanUnderGuard) -> Plan:
    """Return the plan with the approvals that its environment needs."""
    plan, needed = asked.plan, asked.environment.setting("approvals", Approvals)
    if needed is None:
        return plan
    violations = [_needed(plan, needed)]
    apart = asked.api.clock_difference
    if not asked.same_clock and apart is not None and abs(apart) > MOST_CLOCKS_DIFFER.seconds:
        minutes = round(abs(apart) / 60)
        said = f"this machine's clock and the service's are {minutes:,} minutes apart, so it is "
        said += "unknown which approvals have expired"
        violations.append(
            GuardViolation(
                said=said, remedies=("set the clock",), code=NOT_APPROVED, figures=_CLOCK
            )
        )
    return replace(plan, guarded=(*plan.guarded, *violations))


def _needed(
    plan: Plan,
    needed: Approvals,
    whom: str = "",
    folders: Sequence[Path] = (),
    *,
    awaited: str = "",
    has_file: bool = False,
) -> GuardViolation:
    """Return the violation; `whom` are the people who are missing, where they are known."""
    said = f"`{plan.environment}` needs {plural(needed.count, 'approval')} of exactly this plan"
    way = _way(plan, whom or plural(needed.count, "approver"), has_file=has_file)
    ways = remedies_in_job(plan.environment, folders) if is_in_job() else (way,)
    return GuardViolation(
        said=said,
        remedies=(*ways, *_emergency(needed)),
        code=NOT_APPROVED,
        figures=str(needed.count),
        awaited=awaited or f"{plural(needed.count, 'approver')} {_sign(needed.count)} it",
    )


def _sign(count: int) -> str:
    return "signs" if count == 1 else "sign"


def _way(plan: Plan, whom: str, *, has_file: bool) -> str:
    """Return the remedy: who must do what to give the plan its approvals."""
    making, applying = _plan_and_apply_commands(plan)
    file = "send the plan file" if has_file else f"`{making} --out FILE`; send FILE"
    return (
        f"{file} to {whom}: `reconciler approve FILE`; "
        f"then `{applying} --plan FILE --approval FILE…`"
    )


def _plan_and_apply_commands(plan: Plan) -> tuple[str, str]:
    runs = [remark.run[:SHORT_RUN] for remark in plan.remarks if isinstance(remark, RollsBack)]
    return (f"rollback {runs[0]} --dry-run", f"rollback {runs[0]}") if runs else ("plan", "apply")


def _emergency(needed: Approvals) -> Iterator[str]:
    if needed.break_glass:
        yield f"in an emergency, {consenting(BREAK_GLASS, 'REASON')}, which the journal keeps"


@dataclass(frozen=True, slots=True, kw_only=True)
class BindingSettings:
    """The settings that bind an environment: how many approvals it needs, and who may give them."""

    needed: Approvals
    signers: Signers


def binding_settings(project: Project, name: str, environment: Environment) -> BindingSettings:
    """Return the approval settings of an environment, from the default branch's newest commit.

    Raises GuardRefused where the default branch or its newest commit cannot be found, or these
    files are not in that commit yet. Raises InvalidInput where the project file or the list of
    approvers there is wrong.
    """
    try:
        newest = newest_commit(project)
        own = newest.settings.environments.get(name, environment)
        needed = own.setting("approvals", Approvals) or environment.setting("approvals", Approvals)
        file = own.setting("approvers", Approvers) or environment.setting("approvers", Approvers)
        assert needed is not None  # noqa: S101 - the caller's plan needs approvals
        text = newest.text(str(file))
    except UnknownBranch as error:
        raise GuardRefused(
            f"`{name}` needs approvals, and what binds is the default branch's newest commit: "
            f"{safe(str(error))}"
        ) from error
    if flaws := [*flaws_of(needed, str(file), text)]:
        raise InvalidInput("\n".join(f"approvals of `{name}`: {safe(flaw)}" for flaw in flaws))
    return BindingSettings(needed=needed, signers=read_signers(text))


def judged(session: Session, made: Plan, consent: Consent) -> tuple[Plan, Consent]:
    """Return a plan that says which approvals it has, and the consent that they give.

    A permitted emergency lifts the guard only where the approvals do not. Raises as
    `binding_settings` does, and GuardRefused for an old copy of the journal.
    """
    binding = binding_settings(session.project, session.name, session.environment)
    reason = consent.flags.get(BREAK_GLASS)
    if reason is None or not binding.needed.break_glass:
        return _by_approvals(session, made, consent, binding)
    with suppress(GuardRefused):
        approved = _by_approvals(session, made, consent, binding)
        if approved[1].approved is not None:
            return approved
    entry = emergency_entry(session, reason, session.journal().now())
    said = f"`{session.name}` was written without the approvals that it needs"
    needed = _needed(made, binding.needed)
    lifted = replace(needed, said=said, is_met=True, emergency=entry.reason)
    return _with_violation(made, lifted), _lifting(consent, (entry,))


def _by_approvals(
    session: Session, made: Plan, consent: Consent, binding: BindingSettings
) -> tuple[Plan, Consent]:
    reason, journal = consent.flags.get(BREAK_GLASS), session.journal()
    if journal.is_old_copy:
        raise GuardRefused(
            f"`{session.name}` needs approvals, and {safe(journal.place)} is an old copy that does "
            f"not know which of them were used: {bring_back('the newer one')}"
        )
    found = _find_approvals(made, consent, binding.signers, journal.history)
    missing = binding.needed.count - len(found.people)
    said = _describe(session.name, binding, found, missing)
    if reason is not None and missing > 0:
        said = f"{said}; {NOT_PERMITTED}"
    if session.name in session.project.unmerged:
        said += "; the settings of this branch differ, and those of the default branch bind"
    folders = [path for paths in consent.files.values() for path in paths]
    whom, has_file = _describe_missing(binding, found), consent.reviewed is not None
    awaited = _describe_awaited(binding, found)
    needed = _needed(made, binding.needed, whom, folders, awaited=awaited, has_file=has_file)
    given = f"approved by {', '.join(_given(found))}" if missing <= 0 else ""
    violation = replace(needed, said=said, is_met=missing <= 0, given=given)
    made = _with_violation(made, violation)
    if missing > 0 or any(guard.figures == _CLOCK for guard in made.guarded):
        return made, consent
    entries = tuple(_entry_of(approval, journal.now()) for approval in found.valid)
    shown = [
        guard.key
        for guard in made.guarded
        if all((guard.key, guard.message) in approval.guards for approval in found.valid)
    ]
    return made, replace(_lifting(consent, entries), approved=shown)


def emergency_entry(session: Session, reason: str, at: str) -> OverrideEntry:
    """Return the entry about a write without approvals, with the secrets in its reason hidden."""
    why = known_secrets(session)(reason.strip())
    return OverrideEntry(at=at, reason=why, codes=(NOT_APPROVED,))


def _entry_of(approval: ValidApproval, at: str) -> ApprovalEntry:
    return ApprovalEntry(
        at=at,
        principal=", ".join(sorted(approval.principals)),
        fingerprint=approval.fingerprint,
        until=approval.until,
    )


def _with_violation(made: Plan, violation: GuardViolation) -> Plan:
    guarded = (
        violation if guard.code == NOT_APPROVED and guard.figures != _CLOCK else guard
        for guard in made.guarded
    )
    return replace(made, guarded=tuple(guarded))


def _lifting(consent: Consent, entries: tuple[Entry, ...]) -> Consent:
    return replace(consent, flags={**consent.flags, APPROVAL: ""}, noted=entries)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundApprovals:
    """The valid approvals, one for each person, and why the others are not valid."""

    valid: Sequence[ValidApproval]
    wrong: Sequence[str]
    people: Sequence[frozenset[str]]


def _find_approvals(
    made: Plan, consent: Consent, signers: Signers, history: History
) -> FoundApprovals:
    plan, reviewed = _signed_plan(made, consent, history), consent.reviewed
    valid: list[ValidApproval] = []
    wrong: list[str] = []
    others: list[str] = []
    for file in files_in(_given_paths(consent)):
        about = wrong
        try:
            approval = read_approval(file)
            about = wrong if approval["statement"]["digest"] == plan.digest else others
            valid.append(verify(approval, plan, signers))
        except ValueError as error:
            about.append(f"{quoted(file.name)}: {error}")
    # A folder keeps the approvals of earlier plans. Without a reviewed plan each is named, as the
    # plan itself may be the wrong one.
    is_folder = reviewed is not None or is_in_job()
    if is_folder and len(others) > 1:
        others = [f"{len(others)} files are for other plans"]
    elif others and not is_folder:
        _, applying = _plan_and_apply_commands(made)
        others.append(f"for a part or the rest of a signed plan: `{applying} --plan FILE`")
    wrong += others
    people = signers.people_of({name for approval in valid for name in approval.principals})
    each = [
        next(approval for approval in valid if approval.principals & person) for person in people
    ]
    return FoundApprovals(valid=each, wrong=wrong, people=people)


def _given_paths(consent: Consent) -> list[Path]:
    """Return the paths of approvals. The folder of a job is not there before its first approval."""
    given = (path for paths in consent.files.values() for path in paths)
    return [path for path in given if path.exists() or not is_in_job()]


def _signed_plan(made: Plan, consent: Consent, history: History) -> PlanToApprove:
    """Return the plan that people signed: the reviewed plan, even if only a part is applied."""
    reviewed = consent.reviewed
    document = plan_document(made) if reviewed is None else reviewed
    # A file may name another place than the one that would be written.
    plan = replace(plan_to_approve(document), environment=made.environment, target=made.target)
    plan = replace(plan, last_write=_last_write(made, history))
    if reviewed is None or consent.part is not None or reviewed["digest"] != made.digest:
        return plan
    # The changes that a file shows may not match its digest.
    is_shown = content_of(map(change_document, made.declared)) == plan.content
    return plan if is_shown else replace(plan, content="")


def _last_write(made: Plan, history: History) -> tuple[str, str] | None:
    """Return the resource that was written last of those that a plan writes, and when."""
    writes = (
        (str(change.ref), last.at)
        for change in made.changes
        if change.action.writes and (last := history.of(change.ref).last) is not None
    )
    return max(writes, key=lambda write: write[1], default=None)


def plan_to_approve(document: PlanDocument) -> PlanToApprove:
    """Return what approvals of a plan must match, as of now."""
    return PlanToApprove(
        environment=document["environment"],
        target=document["target"],
        digest=document["digest"],
        content=content_of(document["changes"]),
        now=now(),
    )


def _describe(
    environment: str, binding: BindingSettings, found: FoundApprovals, missing: int
) -> str:
    given = _given(found)
    if missing <= 0:
        return f"`{environment}` has the approvals it needs: {', '.join(given)}"
    count = plural(binding.needed.count, "approval")
    said = f"`{environment}` needs {count} of exactly this plan, and has "
    said += ", ".join(given) or "none"
    said += f"; missing: {_describe_missing(binding, found)}"
    return "; ".join((said, *found.wrong))


def _given(found: FoundApprovals) -> list[str]:
    return [
        f"{quoted(min(approval.principals))} until {approval.until}"
        for approval in sorted(found.valid, key=lambda approval: min(approval.principals))
    ]


def _describe_awaited(binding: BindingSettings, found: FoundApprovals) -> str:
    missing = max(0, binding.needed.count - len(found.people))
    more = "more " if found.people else ""
    who = f"{missing} {more}{'approver' if missing == 1 else 'approvers'} {_sign(missing)} it"
    return f"{who} ({', '.join(_yet_to_approve(binding, found))})"


def _yet_to_approve(binding: BindingSettings, found: FoundApprovals) -> list[str]:
    people = binding.signers.people()
    return sorted(quoted(min(person)) for person in people if person not in found.people)


def _describe_missing(binding: BindingSettings, found: FoundApprovals) -> str:
    left = _yet_to_approve(binding, found)
    missing = binding.needed.count - len(found.people)
    return f"{missing} of {', '.join(left)}" if missing < len(left) else " and ".join(left)
