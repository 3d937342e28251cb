"""One command of a job, step by step, and its report to people and to later steps.

A step keeps its results as it goes on, and raises what prevents it, so that a failure loses nothing
of earlier steps. A plan fails for refusals that the change causes: guards that no review lifts, and
blocked resources. Refusals that the plan of the base branch has too do not count. Source:
docs/ci.md.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from reconciler.applying.applied import Applied
from reconciler.ci.change_owners import with_owners
from reconciler.ci.checkout import refuse_links
from reconciler.ci.commits import of_the_change, touched_lines
from reconciler.ci.conversation import Conversation, Review
from reconciler.ci.forge.event import Event
from reconciler.ci.job_session import (
    Admitted,
    admit,
    beside_base,
    check_and_judge,
    check_manifests,
    has_own_emulator,
    opened,
    opened_without_key,
)
from reconciler.ci.propose import propose
from reconciler.ci.result import CommentResult, Failure, JobResult, has_work, outputs_of, summary_of
from reconciler.ci.trust import OverBase, ProjectTrust
from reconciler.cli.console import data, redacted, report_applied, stdout_style, words
from reconciler.errors import (
    SIGNALLED,
    ExitCode,
    GuardRefused,
    InvalidInput,
    OutputLost,
    ReconcilerError,
    UsageError,
    worst,
)
from reconciler.model import Action, Change, GuardViolation, Plan
from reconciler.model.guard_levels import EXPLICIT_LEVEL, FROZEN
from reconciler.operations.added_by_features import PROPOSALS, STEPS, JobStep, wait_before_lock
from reconciler.operations.apply_plan import Consent, plan_and_apply
from reconciler.operations.check_project import Checked
from reconciler.operations.open_project import Options, made_now
from reconciler.operations.open_session import Session, counts_of
from reconciler.operations.plan_and_drift import (
    check_writable,
    drift_now,
    exit_code_of,
    failures_of,
    plan_now,
    wanted_by,
    write_private,
)
from reconciler.operations.reporter import Silent
from reconciler.planning.guards.consent import UnderReview
from reconciler.planning.guards.plan_limits import NEW_JOURNAL
from reconciler.project import Project
from reconciler.report.complaints.junit import annotation_lines
from reconciler.report.complaints.sarif import begins_sarif, complaints_sarif
from reconciler.report.complaints.text import complaints_text
from reconciler.report.drift_formats import drift_text
from reconciler.report.html import drift_html
from reconciler.report.html.page import begins_page
from reconciler.report.plan.document import plan_json
from reconciler.report.plan.text import plan_text
from reconciler.report.reasons import notes_of
from reconciler.report.safe import safe
from reconciler.report.words import plural
from reconciler.runtime.streams import lost_by
from reconciler.workspace.workspace import Workspace

DECIDED_AT_THE_APPLY: Final = (FROZEN, NEW_JOURNAL)
"""Guards that depend on the time of the apply, not on the change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusals:
    """Refusals of an apply after any review.

    `of_base` counts the refusals of the base branch; `is_base` is true where the plan is the base's
    own.
    """

    guards: Sequence[GuardViolation] = ()
    blocked: Sequence[Change] = ()
    of_base: int = 0
    is_base: bool = False

    @property
    def codes(self) -> set[int]:
        """Return the exit codes of an apply with these refusals."""
        guarded = {int(ExitCode.GUARDED)} if self.guards else set[int]()
        return guarded | ({int(ExitCode.PARTIAL)} if self.blocked else set[int]())

    @property
    def lines(self) -> tuple[str, ...]:
        """Return a line for each refusal; the text is foreign and not yet safe."""
        return (
            *(
                f"{guard.message} [{guard.code}]: no review consents to that"
                for guard in self.guards
            ),
            *(
                f"{change.ref} cannot be done: {'; '.join(notes_of(change))}"
                for change in self.blocked
            ),
        )

    @property
    def beside(self) -> str:
        """Return the line that counts the refusals of the base branch, "" for none."""
        if not self.of_base:
            return ""
        where = (
            "this plan, and no change brings it" if self.is_base else "the base branch's plan too"
        )
        return f"{plural(self.of_base, 'refusal')} in {where}"


NO_REFUSALS: Final = Refusals()


def refusals_of(made: Plan, session: Session, event: Event) -> Refusals:
    """Return the refusals of a plan that the plan of the base branch does not have.

    Without an event there is no base branch, and all count. On the default branch none counts.
    """
    found = _refusals_in(made)
    if not found.codes:
        return found
    if session.base is not None:
        base = _plan_of(session.base(), session)
        return without(found, _refusals_in(base)) if base is not None else found
    return replace(without(found, found), is_base=True) if event.name else found


def without(found: Refusals, base: Refusals) -> Refusals:
    """Return refusals without those that another plan has too."""
    keys = {guard.key for guard in base.guards}
    reasons = {change.ref: change.reasons for change in base.blocked}
    guards = tuple(guard for guard in found.guards if guard.key not in keys)
    blocked = tuple(change for change in found.blocked if reasons.get(change.ref) != change.reasons)
    gone = len(found.guards) + len(found.blocked) - len(guards) - len(blocked)
    return Refusals(guards=guards, blocked=blocked, of_base=gone)


def failure_of(made: Plan, refusals: Refusals, *, fails: bool) -> Failure | None:
    """Return why a job fails after its plan; None where it does not.

    It fails where the plan is not complete, and, with `fails`, where the change causes refusals.
    """
    unknown = failures_of(made)
    if unknown:
        reason = "the plan is not complete, or cannot be applied as it is"
        return Failure(code=worst(unknown | refusals.codes), errors=(reason, *refusals.lines))
    if not (refusals.codes and fails):
        return None
    reason = "the change brings what an apply would refuse"
    return Failure(code=worst(refusals.codes), errors=refusals.lines, said=reason)


def _refusals_in(made: Plan) -> Refusals:
    return Refusals(
        guards=tuple(
            guard
            for guard in made.guarded
            if guard.level == EXPLICIT_LEVEL and guard.code not in DECIDED_AT_THE_APPLY
        ),
        blocked=tuple(change for change in made.changes if change.action is Action.BLOCKED),
    )


def _plan_of(base: Workspace | None, session: Session) -> Plan | None:
    """Return the plan of what the base branch declares; None where it cannot be planned."""
    if base is None:
        return None
    session = replace(session, workspace=base, others=base.left_out, reporter=Silent())
    try:
        return asyncio.run(plan_now(session, session.journal().history))
    except ReconcilerError:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The run of one command, what it works with, and its `result` so far."""

    talk: Conversation
    options: Options
    has_key: bool
    result: JobResult

    def run(self) -> None:
        """Run the command, and keep the result of each step. Raises what ends it early."""
        match self.talk.inputs.command:
            case "validate":
                self._check_valid(check_manifests(self.options, in_all=True))
            case "plan":
                self._plan()
            case "apply":
                self._apply()
            case "drift":
                self._drift()
            case added if added in STEPS:
                self._run_added(STEPS.load(added))
            case other:
                raise UsageError(f"`command`: there is no step for `{other}`")

    def _check_valid(self, checked: Checked) -> Project:
        """Show the complaints about the manifests. Raises InvalidInput where there are errors."""
        self.result.checked = checked
        workspace, counts = checked.workspace, counts_of(checked.workspace)
        if workspace.errors or self.talk.inputs.command == "validate":
            data(complaints_text(workspace.complaints, stdout_style(verbose=False)))
            words("\n".join(filter(None, (counts, checked.advice))))
        if workspace.errors or checked.project is None:
            raise InvalidInput(counts)
        return checked.project

    def _judged(
        self, secrets: Mapping[str, str] | None, *, refused: str = ""
    ) -> tuple[Project, str, ProjectTrust]:
        """Return the checked project, its environment, and what may be used of it.

        Raises as `_check_valid` does, and GuardRefused where a change may not do what is `refused`
        to it; "" for nothing.
        """
        talk = self.talk
        checked, use = check_and_judge(talk.event, talk.inputs, self.options, secrets)
        project = self._check_valid(checked)
        if refused and isinstance(use, OverBase):
            raise GuardRefused(
                f"{refused} of what was merged, and this is an untrusted change ({use.why}): "
                "merge it, and run this on the default branch or one of `trustedBranches:`"
            )
        return project, checked.environment, use

    def _admitted(self, use: ProjectTrust) -> Admitted:
        """Decide which environment the key may be used for. Raises GuardRefused."""
        admitted = admit(use, self.talk.event, self.talk.inputs, self.options)
        self.result.postponed = admitted.postponed
        return admitted

    def _opened(
        self, use: ProjectTrust, *, may_lack: bool = False
    ) -> AbstractContextManager[Session]:
        admitted = self._admitted(use)
        return opened(admitted, self.options, self.talk.event, may_lack=may_lack)

    def _plan(self) -> None:
        """Plan, show the plan, and write it to its file."""
        result, file = self.result, self.talk.inputs.plan_file
        _remove_earlier(file)
        environment, refusals = self._keep_plan()
        made = result.plan
        assert made is not None  # noqa: S101 - it was made just now
        write_private(file, plan_json(made))
        data(plan_text(made, stdout_style(verbose=False)))
        if refusals.beside:
            words(refusals.beside)
        fails = self.talk.inputs.refusal_fails
        result.failure = failure_of(made, refusals, fails=fails)
        if self.talk.event.name == "merge_group":
            self.talk.check_queued(environment, made)

    def _keep_plan(self) -> tuple[str, Refusals]:
        """Plan on the service, or on an emulator where there can be no key.

        Return the environment of the plan, and its refusals.
        """
        has_key = not self.talk.event.has_no_secrets or self.has_key
        own, environment, use = self._judged(os.environ if has_key else None)
        if has_key or has_own_emulator(use, self.options):
            return environment, self._keep_live_plan(use)
        with opened_without_key(use, own, self.options) as (offline, compared):
            made = self._owned(offline.plan(), offline.session.project)
        self.result.plan, self.result.compared = made, compared
        return environment, NO_REFUSALS

    def _keep_live_plan(self, use: ProjectTrust) -> Refusals:
        """Plan on the service, with the differences between live and the base branch."""
        admitted = self._admitted(use)
        with opened(admitted, self.options, self.talk.event) as session:
            wanted = wanted_by(session.environment)
            made = asyncio.run(plan_now(session, session.journal().history, wanted))
            made = self._owned(made, session.project)
            refusals = refusals_of(made, session, self.talk.event)
        result = self.result
        result.plan = beside_base(made, admitted, self.options)
        result.refused, result.inherited = refusals.lines, refusals.beside
        return refusals

    def _owned(self, made: Plan, project: Project) -> Plan:
        """Return the plan with the owners of its resources; report why they are unknown."""
        made, untold = with_owners(made, self.talk.event, project)
        if untold:
            words(safe(untold))
        return made

    def _apply(self) -> None:
        """Apply the reviewed plan, after planning again, and nothing else."""
        result = self.result
        _, environment, use = self._judged(os.environ, refused="an apply is")
        with self._opened(use) as session:
            wait_before_lock(session, self.talk.inputs.waits)
            review = self.talk.review(environment)
            result.review = review.comment
            reviewed = replace(session, review=UnderReview(listed=review.lists))
            made, applied = self._apply_reviewed(reviewed, review)
        result.applied = applied
        report_applied(applied, made, "text", verbose=False)
        if code := worst(applied.exit_codes):
            result.failure = Failure(code=code, errors=_what_stopped(applied))

    def _apply_reviewed(self, session: Session, review: Review) -> tuple[Plan, Applied]:
        """Apply the plan if the review consents; keep the plan in any case."""

        def agree(made: Plan) -> Consent:
            self.result.plan = made
            consent = review.consent_to(made)
            if has_work(made) and (untold := self.talk.check_newest(made, session)):
                words(safe(untold))
            return consent

        def begin(made: Plan) -> None:
            self.result.plan = made
            if has_work(made):
                self.result.keep_comment(self.talk.show_applying(review.comment, made))

        made, applied = plan_and_apply(
            session, agree, "ci apply", verbose=False, quiet=False, begin=begin
        )
        assert applied is not None  # noqa: S101 - a job is never asked
        return made, applied

    def _drift(self) -> None:
        """Compare live with the last apply; remember and propose it, as the inputs say."""
        inputs, result = self.talk.inputs, self.result
        proposed = "a proposal is" if inputs.proposals else ""
        refused = "drift is remembered" if inputs.remember else proposed
        _, _, use = self._judged(None, refused=refused)
        with self._opened(use, may_lack=True) as session:
            result.look = look = drift_now(session, remember=inputs.remember)
            data(drift_text(look, stdout_style(verbose=False)))
            if inputs.proposals:
                refuse_links(inputs.plan_file)
                made = made_now(session.project)
                page = drift_html(look, session.name, session.target.name, made)
                write_private(inputs.plan_file, page, begins_page)
            for name in inputs.proposals:
                edits = PROPOSALS.load(name)(session, self.options, inputs.artifact)
                edits = replace(edits, body=redacted(edits.body))
                result.proposed = propose(edits, name, session, self.talk) or result.proposed
        code = exit_code_of(look.found)
        if code not in (ExitCode.DONE, ExitCode.DIFFERENT):
            result.failure = Failure(code=code, errors=("some resources could not be read",))

    def _run_added(self, step: JobStep) -> None:
        """Run the step of a feature."""
        inputs = self.talk.inputs
        _, _, use = self._judged(None, refused=step.deed if inputs.remember else "")
        with self._opened(use, may_lack=True) as session:
            for report in step.run(session, inputs.of_steps, remember=inputs.remember):
                self.result.report = report

    def tell(self) -> None:
        """Report the result in comment, files and annotations."""
        result, why = self.result, lost_by(self.talk.runner.stream)
        if why is not None and result.failure is None:
            error = OutputLost.by(why)
            result.failure = Failure(code=error.exit_code, errors=(str(error),))
        result.keep_comment(self._comment())
        self._speak()
        for write in (self._write_sarif, self._write_summary, self._write_outputs):
            try:
                write()
            except (InvalidInput, OutputLost) as lost:
                # A run without failure fails with the code of this one.
                failure = result.failure or Failure(code=lost.exit_code, errors=())
                result.failure = replace(failure, errors=(*failure.errors, str(lost)))
                self.talk.runner.say("error", str(lost))

    def _comment(self) -> CommentResult:
        """Write the present state to the comment; a queued merge does not change it."""
        talk, result = self.talk, self.result
        if result.code in SIGNALLED and result.applied is None:
            return None
        if result.command == "apply":
            has_news = result.applied is None or (result.plan is not None and has_work(result.plan))
            return talk.show_applied(result) if has_news else None
        if result.command == "plan" and talk.event.name != "merge_group":
            return talk.show_plan(result)
        return talk.show_report(result)

    def _speak(self) -> None:
        """Show errors next to the change, why there is no comment, and what failed."""
        talk, result = self.talk, self.result
        inputs, runner = talk.inputs, talk.runner
        if inputs.annotations:
            found, folder = result.checked.workspace.complaints, result.checked.folder
            touched = touched_lines(talk.event, os.environ) if found else {}
            shown, rest = of_the_change(found, folder, touched)
            runner.annotate(annotation_lines(shown, folder=folder))
            if rest:
                runner.say("notice", f"{plural(rest, 'warning')} not on lines of this change")
        for line in () if inputs.refusal_fails else result.refused:
            runner.say("warning", line)
        if talk.missing and inputs.command in ("plan", "apply") and inputs.comment != "never":
            runner.say("notice", f"no comment: {talk.missing}")
        if result.failure is not None and not self._is_said(result.failure):
            message = next(iter(result.errors), result.failure.words)
            runner.say("error", f"{inputs.command}: {message}")

    def _is_said(self, failure: Failure) -> bool:
        """Return whether a failure is visible already: next to the lines, or in a plain log."""
        beside_lines = self.talk.inputs.annotations and bool(self.result.complaint_lines)
        return beside_lines or (failure.is_logged and not self.talk.runner.is_forge)

    def _write_sarif(self) -> None:
        """Write the complaints to a SARIF file, if one is wanted. Raises InvalidInput."""
        file, checked = self.talk.inputs.sarif_file, self.result.checked
        if file is not None:
            refuse_links(file)
            found, ignored = checked.workspace.complaints, len(checked.workspace.suppressed)
            text = complaints_sarif(found, checked.folder, checked.environment, ignored)
            write_private(file, text, begins_sarif)

    def _write_summary(self) -> None:
        """Write the summary, if it is wanted. Raises OutputLost."""
        if self.talk.inputs.summary:
            self.talk.runner.write_summary(summary_of(self.result, self.talk.origin.whole))

    def _write_outputs(self) -> None:
        self.talk.runner.write_outputs(outputs_of(self.talk.inputs, self.result))


def _remove_earlier(file: Path) -> None:
    """Remove an earlier plan, so that it cannot be applied after a later failure.

    Raises InvalidInput where something else is there, or where no plan can be written.
    """
    refuse_links(file)
    check_writable(file)
    try:
        file.unlink(missing_ok=True)
    except OSError as error:
        raise InvalidInput(f"{file} cannot be written: {error.strerror}") from error


def _what_stopped(applied: Applied) -> list[str]:
    if applied.stopped_by is not None:
        return str(applied.stopped_by).splitlines()
    return ["the run was stopped by a signal"] if applied.signal_code is not None else []
