"""One command of a job, step by step, and its report to people and to later steps.

A step yields its results as it goes on, and raises what prevents it. The caller of the steps keeps
the results, so that a failure loses nothing of earlier steps. Source: docs/ci.md.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path

from reconciler.applying.applied import Applied
from reconciler.ci.change_owners import with_owners
from reconciler.ci.checkout import refuse_links
from reconciler.ci.commits import of_the_change, touched_lines
from reconciler.ci.conversation import CommentResult, Conversation, Review
from reconciler.ci.forge.pull_requests import PullRequest
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
from reconciler.ci.refusals import failure_of, refusals_of
from reconciler.ci.result import (
    Failure,
    JobResult,
    counts_of,
    has_work,
    outputs_of,
    summary_of,
)
from reconciler.ci.steps import CiStep, Planned, Postponed, with_found, with_said
from reconciler.ci.trust import OverBase, ProjectTrust
from reconciler.cli.console import data, redacted, report_applied, stdout_style, words
from reconciler.errors import (
    SIGNALLED,
    ExitCode,
    GuardRefused,
    InvalidInput,
    OutputLost,
    UsageError,
    worst,
)
from reconciler.model import DriftReport, Plan
from reconciler.operations.added_options import wait_before_lock
from reconciler.operations.apply_plan import Consent, plan_and_apply
from reconciler.operations.check_project import Checked
from reconciler.operations.job_steps import PROPOSALS, STEPS, JobStep
from reconciler.operations.open_project import Options, made_now
from reconciler.operations.open_session import Session
from reconciler.operations.plan_and_drift import (
    check_writable,
    drift_now,
    exit_code_of,
    plan_now,
    wanted_by,
    write_private,
)
from reconciler.planning.guards.consent import UnderReview
from reconciler.project import Project
from reconciler.report.complaints.junit import annotation_lines
from reconciler.report.complaints.sarif import begins_sarif, complaints_sarif
from reconciler.report.complaints.text import complaints_text
from reconciler.report.drift_formats import drift_text
from reconciler.report.html import drift_html
from reconciler.report.html.page import begins_page
from reconciler.report.plan.document import plan_json
from reconciler.report.plan.text import plan_text
from reconciler.report.safe import safe
from reconciler.report.words import plural
from reconciler.runtime.streams import lost_by


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The run of one command, and what it works with.

    Results of its steps are yielded, not stored.
    """

    talk: Conversation
    options: Options
    has_key: bool

    def steps(self) -> CiStep[None]:
        """Run the command, and yield the result of each step. Raises what ends it early."""
        match self.talk.inputs.command:
            case "validate":
                yield from self._valid(check_manifests(self.options, in_all=True))
            case "plan":
                yield from self._plan()
            case "apply":
                yield from self._apply()
            case "drift":
                yield from self._drift()
            case added if added in STEPS:
                yield from self._added(STEPS.load(added))
            case other:
                raise UsageError(f"`command`: there is no step for `{other}`")

    def _valid(self, checked: Checked) -> CiStep[Project]:
        """Show the complaints about the manifests. Raises InvalidInput where there are errors."""
        yield checked
        workspace, counts = checked.workspace, counts_of(checked)
        if workspace.errors or self.talk.inputs.command == "validate":
            data(complaints_text(workspace.complaints, stdout_style(verbose=False)))
            words("\n".join(filter(None, (counts, checked.advice))))
        if workspace.errors or checked.project is None:
            raise InvalidInput(counts)
        return checked.project

    def _judged(self, secrets: Mapping[str, str] | None) -> CiStep[tuple[Checked, ProjectTrust]]:
        """Check the manifests, and decide what may be used of them. Raises as `_valid` does."""
        talk = self.talk
        checked, use = check_and_judge(talk.event, talk.inputs, self.options, secrets)
        yield from self._valid(checked)
        return checked, use

    def _admitted(self, use: ProjectTrust) -> CiStep[Admitted]:
        """Decide which environment the key may be used for. Raises GuardRefused."""
        admitted = admit(use, self.talk.event, self.talk.inputs, self.options)
        yield Postponed(admitted.postponed)
        return admitted

    def _opened(
        self, admitted: Admitted, *, may_lack: bool = False
    ) -> AbstractContextManager[Session]:
        return opened(admitted, self.options, self.talk.event, may_lack=may_lack)

    def _plan(self) -> CiStep[None]:
        """Plan, show the plan, and write it to its file."""
        file = self.talk.inputs.plan_file
        _remove_earlier(file)
        checked, planned = yield from self._planned()
        yield planned
        made = planned.plan
        write_private(file, redacted(plan_json(made)))
        data(plan_text(made, stdout_style(verbose=False)))
        if planned.refusals.beside:
            words(planned.refusals.beside)
        fails = self.talk.inputs.refusal_fails
        yield from filter(None, [failure_of(made, planned.refusals, fails=fails)])
        if self.talk.event.name == "merge_group":
            self.talk.check_queued(checked.environment, made)

    def _planned(self) -> CiStep[tuple[Checked, Planned]]:
        """Plan on the service, or on an emulator where there can be no key."""
        if not self.talk.event.has_no_secrets or self.has_key:
            checked, use = yield from self._judged(os.environ)
            return checked, (yield from self._planned_live(use))
        checked, use = yield from self._judged(None)
        own = checked.project
        assert own is not None  # noqa: S101 - else it is not valid
        if has_own_emulator(use, self.options):
            return checked, (yield from self._planned_live(use))
        with opened_without_key(use, own, self.options) as offline:
            made = self._owned(offline.plan(), offline.offline.session.project)
            return checked, Planned(made, offline.compared)

    def _planned_live(self, use: ProjectTrust) -> CiStep[Planned]:
        """Plan on the service, with the differences between live and the base branch."""
        admitted = yield from self._admitted(use)
        with self._opened(admitted) as session:
            wanted = wanted_by(session.environment)
            made = asyncio.run(plan_now(session, session.journal().history, wanted))
            made = self._owned(made, session.project)
            refusals = refusals_of(made, session, self.talk.event)
        return Planned(beside_base(made, admitted, self.options), refusals=refusals)

    def _owned(self, made: Plan, project: Project) -> Plan:
        """Return the plan with the owners of its resources; report why they are unknown."""
        made, untold = with_owners(made, self.talk.event, project)
        if untold:
            words(safe(untold))
        return made

    def _apply(self) -> CiStep[None]:
        """Apply the reviewed plan, after planning again, and nothing else."""
        checked, use = yield from self._judged(os.environ)
        _refuse_to_write(use, "an apply is")
        admitted = yield from self._admitted(use)
        with self._opened(admitted) as session:
            wait_before_lock(session, self.talk.inputs.waits)
            review = self.talk.review(checked.environment)
            yield review
            reviewed = replace(session, review=UnderReview(listed=review.lists))
            made, applied = yield from self._apply_reviewed(reviewed, review)
        yield applied
        report_applied(applied, made, "text", verbose=False)
        if code := worst(applied.exit_codes):
            yield Failure(code=code, errors=_what_stopped(applied))

    def _apply_reviewed(self, session: Session, review: Review) -> CiStep[tuple[Plan, Applied]]:
        """Apply the plan if the review consents; yield the plan in any case."""
        plans: list[Plan] = []
        comments: list[CommentResult] = []

        def agree(made: Plan) -> Consent:
            plans.append(made)
            consent = review.consent_to(made)
            if untold := self.talk.check_newest(made, session):
                words(safe(untold))
            return consent

        def begin(made: Plan) -> None:
            plans.append(made)
            if has_work(made):
                comments.append(self.talk.show_applying(review.comment, made))

        try:
            made, applied = plan_and_apply(
                session, agree, "ci apply", verbose=False, quiet=False, begin=begin
            )
        finally:
            yield from map(Planned, plans)
            yield from filter(None, comments)
        assert applied is not None  # noqa: S101 - a job is never asked
        return made, applied

    def _drift(self) -> CiStep[None]:
        """Compare live with the last apply; remember and propose it, as the inputs say."""
        _, use = yield from self._judged(None)
        inputs = self.talk.inputs
        if inputs.remember:
            _refuse_to_write(use, "drift is remembered")
        if inputs.proposals:
            _refuse_to_write(use, "a proposal is")
        admitted = yield from self._admitted(use)
        with self._opened(admitted, may_lack=True) as session:
            look = drift_now(session, remember=inputs.remember)
            yield look
            data(drift_text(look, stdout_style(verbose=False)))
            if inputs.proposals:
                self._keep_page(session, look)
            for name in inputs.proposals:
                yield from filter(None, [self._propose(session, name)])
        code = exit_code_of(look.found)
        if code not in (ExitCode.DONE, ExitCode.DIFFERENT):
            yield Failure(code=code, errors=("some resources could not be read",))

    def _added(self, step: JobStep) -> CiStep[None]:
        """Run the step of a feature."""
        _, use = yield from self._judged(None)
        inputs = self.talk.inputs
        if inputs.remember:
            _refuse_to_write(use, step.deed)
        admitted = yield from self._admitted(use)
        with self._opened(admitted, may_lack=True) as session:
            yield from step.run(session, inputs.of_steps, remember=inputs.remember)

    def _keep_page(self, session: Session, look: DriftReport) -> None:
        """Write the page of drifted resources to its file. Raises InvalidInput."""
        file = self.talk.inputs.plan_file
        refuse_links(file)
        made = made_now(session.project)
        page = drift_html(look, session.name, session.target.name, made)
        write_private(file, redacted(page), begins_page)

    def _propose(self, session: Session, name: str) -> PullRequest | None:
        """Propose edits of manifests in a pull request; nothing is merged or journaled."""
        talk = self.talk
        made = PROPOSALS.load(name)(session, self.options, talk.inputs.artifact)
        made = replace(made, body=redacted(made.body))
        proposal = propose(made, name, session, talk)
        if proposal.request is None and proposal.commit:
            words(f"pushed to the branch {safe(proposal.branch)}: {talk.missing}")
            data(made.body)
        elif proposal.request is not None:
            words(f"pull request {proposal.request.number}: {safe(proposal.request.url)}")
        return proposal.request

    def tell(self, result: JobResult) -> JobResult:
        """Report the result in comment, files and annotations, and return it."""
        result = self._with_loss(result)
        result = with_said(result, self._comment(result))
        self._speak(result)
        for write in (self._write_sarif, self._write_summary, self._write_outputs):
            try:
                write(result)
            except (InvalidInput, OutputLost) as error:
                result = _failed_too(result, error)
                self.talk.runner.say("error", str(error))
        return result

    def _write_outputs(self, result: JobResult) -> None:
        self.talk.runner.write_outputs(outputs_of(self.talk.inputs, result))

    def _with_loss(self, result: JobResult) -> JobResult:
        """Return the result, as failed where the log of a successful run was lost."""
        why = lost_by(self.talk.runner.stream)
        if why is None or result.failure is not None:
            return result
        error = OutputLost.by(why)
        return with_found(result, Failure(code=error.exit_code, errors=(str(error),)))

    def _comment(self, result: JobResult) -> CommentResult:
        """Write the present state to the comment; a queued merge does not change it."""
        talk = self.talk
        if result.code in SIGNALLED and result.applied is None:
            return None
        if result.command == "apply":
            is_finding = result.applied is None or (
                result.plan is not None and has_work(result.plan)
            )
            return talk.show_applied(result) if is_finding else None
        if result.command == "plan" and talk.event.name != "merge_group":
            return talk.show_plan(result)
        return talk.show_report(result)

    def _speak(self, result: JobResult) -> None:
        """Show errors next to the change, why there is no comment, and what failed."""
        talk = self.talk
        inputs, runner = talk.inputs, talk.runner
        if inputs.annotations:
            touched = touched_lines(talk.event, os.environ) if result.complaints else {}
            shown, rest = of_the_change(result.complaints, result.folder, touched)
            runner.annotate(annotation_lines(shown, folder=result.folder))
            if rest:
                runner.say("notice", f"{plural(rest, 'warning')} not on lines of this change")
        if result.refused and not inputs.refusal_fails:
            for line in result.refused:
                runner.say("warning", line)
        if talk.missing and inputs.command in ("plan", "apply") and inputs.comment != "never":
            runner.say("notice", f"no comment: {talk.missing}")
        failure = result.failure
        if failure is not None and not self._is_said(result, failure):
            message = failure.errors[0] if failure.errors else failure.words
            runner.say("error", f"{inputs.command}: {message}")

    def _write_sarif(self, result: JobResult) -> None:
        """Write the complaints to a SARIF file, if one is wanted. Raises InvalidInput."""
        file = self.talk.inputs.sarif_file
        if file is not None:
            refuse_links(file)
            ignored = len(result.checked.workspace.suppressed) if result.checked else 0
            where = result.folder, result.environment
            text = complaints_sarif(result.complaints, *where, ignored)
            write_private(file, redacted(text), begins_sarif)

    def _write_summary(self, result: JobResult) -> None:
        """Write the summary, if it is wanted. Raises InvalidInput."""
        if self.talk.inputs.summary:
            self.talk.runner.write_summary(summary_of(result, self.talk.origin.whole))

    def _is_said(self, result: JobResult, failure: Failure) -> bool:
        """Return whether a failure is visible already: next to the lines, or in a plain log."""
        beside_lines = self.talk.inputs.annotations and bool(result.complaint_lines)
        return beside_lines or (failure.is_logged and not self.talk.runner.is_forge)


def _failed_too(result: JobResult, error: InvalidInput | OutputLost) -> JobResult:
    """Return the result with an error added; a run without failure fails with its code."""
    failure = result.failure or Failure(code=error.exit_code, errors=())
    return with_found(result, replace(failure, errors=(*failure.errors, str(error))))


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


def _refuse_to_write(use: ProjectTrust, deed: str) -> None:
    if isinstance(use, OverBase):
        raise GuardRefused(
            f"{deed} of what was merged, and this is an untrusted change ({use.why}): "
            "merge it, and run this on the default branch or one of `trustedBranches:`"
        )


def _what_stopped(applied: Applied) -> list[str]:
    if applied.stopped_by is not None:
        return str(applied.stopped_by).splitlines()
    return ["the run was stopped by a signal"] if applied.signal_code is not None else []
