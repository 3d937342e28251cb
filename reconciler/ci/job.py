"""One command of a job, step by step, and what people and the next steps are told of it.

A step gives what it came to, and raises what stands in the way. `Job` alone keeps what the
steps gave, so that a failure loses nothing of those before it. Source: docs/ci.md.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path

from reconciler.applying.applied import Applied
from reconciler.ci.bench import (
    admit,
    beside_base,
    check_and_judge,
    check_manifests,
    has_own_emulator,
    opened,
    opened_without_key,
)
from reconciler.ci.checkout import refuse_links
from reconciler.ci.conversation import Conversation, PlanNotFound, Said
from reconciler.ci.owning import with_owners
from reconciler.ci.proposing import propose
from reconciler.ci.result import (
    Compared,
    Failure,
    JobResult,
    counts_of,
    has_work,
    outputs_of,
    summary_of,
)
from reconciler.ci.trust import OverBase, Use
from reconciler.console import data, redacted, stdout_style, tell_applied, words
from reconciler.errors import SIGNALLED, ExitCode, GuardRefused, InvalidInput, worst
from reconciler.forge.pull_requests import Comment
from reconciler.journal.before import LAST
from reconciler.project import Project
from reconciler.report.adopting import adopted_markdown
from reconciler.report.complaints.junit import annotation_lines
from reconciler.report.complaints.sarif import begins_sarif, complaints_sarif
from reconciler.report.complaints.text import complaints_text
from reconciler.report.drift import drift_text
from reconciler.report.html import drift_html
from reconciler.report.html.page import begins_page
from reconciler.report.plan.document import plan_json
from reconciler.report.plan.text import plan_text
from reconciler.report.safe import safe
from reconciler.report.watched import watched_text
from reconciler.resource import Look, Plan
from reconciler.session.adopting import ToAdopt, adopt
from reconciler.session.applying import Consent, plan_and_apply
from reconciler.session.checking import Checked
from reconciler.session.noise import ToWatch, back_words, watch_now, way_back
from reconciler.session.opening import Bench
from reconciler.session.planning import (
    check_writable,
    drift_now,
    exit_code_of,
    failures_of,
    plan_now,
    write_private,
)
from reconciler.session.projects import Asked, made_now
from reconciler.session.signals import Evidence
from reconciler.session.thawing import wait_for_thaw
from reconciler.streams import lost_by, output_lost


@dataclass(slots=True, kw_only=True)
class Job:
    """The run of one command; `result` is what its steps came to so far."""

    talk: Conversation
    asked: Asked
    has_key: bool
    result: JobResult

    def carry_out(self) -> None:
        """Run the command. Raises what ends it early, when `result` holds what came before."""
        match self.result.command:
            case "validate":
                self._valid(check_manifests(self.asked, in_all=True))
            case "plan":
                self._plan()
            case "apply":
                self._apply()
            case "watch":
                self._watch()
            case _:
                self._drift()

    def fail(self, error: BaseException, code: int) -> None:
        """Note what ended the command early, which stands in the log."""
        lines = str(error).splitlines() or [type(error).__name__]
        if code in SIGNALLED:
            lines = ["stopped by a signal"]
        if isinstance(error, InvalidInput) and self.result.complaint_lines:
            lines = self.result.complaint_lines
        is_unreviewed = isinstance(error, PlanNotFound)
        self._failed(Failure(code=code, errors=lines, is_logged=True, is_unreviewed=is_unreviewed))

    def _failed(self, failure: Failure) -> None:
        self.result = replace(self.result, failure=failure)

    def _valid(self, checked: Checked) -> Project:
        """Show what was found in the manifests. Raises InvalidInput where there are errors."""
        self.result = replace(self.result, checked=checked)
        workspace, counts = checked.workspace, counts_of(checked)
        if workspace.errors or self.result.command == "validate":
            data(complaints_text(workspace.complaints, stdout_style(verbose=False)))
            words("\n".join(filter(None, (counts, checked.advice))))
        if workspace.errors or checked.project is None:
            raise InvalidInput(counts)
        return checked.project

    def _judged(self, secrets: Mapping[str, str] | None) -> tuple[Project, Use]:
        """Check the manifests, and decide what may be used of them. Raises as `_valid` does."""
        talk = self.talk
        checked, use = check_and_judge(talk.event, talk.inputs, self.asked, secrets)
        return self._valid(checked), use

    def _admitted(self, use: Use, *, may_lack: bool = False) -> AbstractContextManager[Bench]:
        """Open what may be used, as far as it may lead anywhere. Raises GuardRefused."""
        admitted = admit(use, self.talk.event, self.talk.inputs, self.asked)
        self.result = replace(self.result, postponed=admitted.postponed)
        return opened(admitted, self.asked, self.talk.event, may_lack=may_lack)

    def _plan(self) -> None:
        """Plan, show it, and keep it in its file."""
        file = self.talk.inputs.plan_file
        _remove_earlier(file)
        check_writable(file)
        made, compared = self._planned()
        self.result = replace(self.result, plan=made, compared=compared)
        write_private(file, redacted(plan_json(made)))
        data(plan_text(made, stdout_style(verbose=False)))
        if failures := failures_of(made):
            said = "the plan is not complete, or cannot be applied as it is"
            self._failed(Failure(code=worst(failures), errors=(said,)))
        if self.talk.event.name == "merge_group":
            self.talk.check_queued(self.result.environment, made)

    def _planned(self) -> tuple[Plan, Compared]:
        """Plan on the service, or on an emulator where there can be no key."""
        if not self.talk.event.has_no_secrets or self.has_key:
            _, use = self._judged(os.environ)
            return self._planned_live(use), Compared.LIVE
        own, use = self._judged(None)
        if has_own_emulator(use, self.asked):
            return self._planned_live(use), Compared.LIVE
        with opened_without_key(use, own, self.asked) as offline:
            made = self._owned(offline.plan(), offline.offline.bench.project)
            return made, offline.compared

    def _planned_live(self, use: Use) -> Plan:
        """Plan on the service, and say where that is not as the base branch declares it."""
        admitted = admit(use, self.talk.event, self.talk.inputs, self.asked)
        self.result = replace(self.result, postponed=admitted.postponed)
        with opened(admitted, self.asked, self.talk.event) as bench:
            wanted = Evidence(track_record=bench.environment.track_record)
            made = asyncio.run(plan_now(bench, bench.journal().history, wanted))
            made = self._owned(made, bench.project)
        return beside_base(made, admitted, self.asked)

    def _owned(self, made: Plan, project: Project) -> Plan:
        """Say whose what is touched is, and why nobody can tell that."""
        made, untold = with_owners(made, self.talk.event, project)
        if untold:
            words(safe(untold))
        return made

    def _apply(self) -> None:
        """Apply what was reviewed, planned again from here, and nothing else."""
        _, use = self._judged(os.environ)
        _refuse_to_write(use, "an apply is")
        with self._admitted(use) as bench:
            if self.talk.inputs.thaw.seconds:
                wait_for_thaw(bench, self.talk.inputs.thaw)
            made, applied = self._apply_reviewed(bench)
        self.result = replace(self.result, plan=made, applied=applied)
        tell_applied(applied, made, "text", verbose=False)
        if code := worst(applied.exit_codes):
            self._failed(Failure(code=code, errors=_what_stopped(applied)))

    def _apply_reviewed(self, bench: Bench) -> tuple[Plan, Applied]:
        review = self.talk.review(self.result.environment)
        self.result = replace(self.result, review=review.comment)

        def agree(made: Plan) -> Consent:
            self.result = replace(self.result, plan=made)
            return review.consent_to(made)

        def begin() -> None:
            plan = self.result.plan
            if plan is not None and has_work(plan):
                self._keep(self.talk.show_applying(self.result, plan))

        made, applied = plan_and_apply(
            bench, agree, "ci apply", verbose=False, quiet=False, begin=begin
        )
        assert applied is not None  # noqa: S101 - a job is never asked
        return made, applied

    def _drift(self) -> None:
        """Compare live with what was last applied; remember that, propose to adopt it, as asked."""
        _, use = self._judged(None)
        inputs = self.talk.inputs
        if inputs.remember:
            _refuse_to_write(use, "drift is remembered")
        if inputs.adopt:
            _refuse_to_write(use, "a proposal is")
        with self._admitted(use, may_lack=True) as bench:
            look = drift_now(bench, remember=inputs.remember)
            self.result = replace(self.result, look=look)
            data(drift_text(look, stdout_style(verbose=False)))
            if inputs.adopt:
                self._keep_page(bench, look)
                self._propose(bench)
        code = exit_code_of(look.found)
        if code not in (ExitCode.DONE, ExitCode.DIFFERENT):
            self._failed(Failure(code=code, errors=("some resources could not be read",)))

    def _watch(self) -> None:
        """Tell whether the alerts of the last apply are noisier since; plan the way back."""
        _, use = self._judged(None)
        inputs = self.talk.inputs
        if inputs.remember:
            _refuse_to_write(use, "noise is remembered")
        with self._admitted(use, may_lack=True) as bench:
            wanted = ToWatch(run=LAST, wait=inputs.watch_for, remember=inputs.remember)
            found = watch_now(bench, wanted)
            self.result = replace(self.result, watched=found)
            data(watched_text(found, stdout_style(verbose=False)))
            if (back := way_back(bench, found)) is not None:
                to_roll_back, made = back
                self.result = replace(self.result, way_back=back_words(to_roll_back))
                data(plan_text(made, stdout_style(verbose=False)))
                words(self.result.way_back)

    def _keep_page(self, bench: Bench, look: Look) -> None:
        """Keep the page of what drifted in its file. Raises InvalidInput."""
        file = self.talk.inputs.plan_file
        refuse_links(file)
        made = made_now(bench.project)
        page = drift_html(look, bench.name, bench.target.name, made)
        write_private(file, redacted(page), begins_page)

    def _propose(self, bench: Bench) -> None:
        """Propose to adopt what was edited live; nothing is merged, nor journaled."""
        talk = self.talk
        made = adopt(bench, self.asked, ToAdopt(every=True, only_shown=True))
        body = redacted(adopted_markdown(made, drift_page=talk.inputs.artifact))
        proposal = propose(made, bench.project.root, body, talk)
        if proposal.request is None and proposal.commit:
            words(f"pushed to the branch {safe(proposal.branch)}: {talk.missing}")
            data(body)
        elif proposal.request is not None:
            words(f"pull request {proposal.request.number}: {safe(proposal.request.url)}")
        self.result = replace(self.result, proposed=proposal.request)

    def tell(self) -> None:
        """Let comment, files and annotations say what the command came to.

        Raises InvalidInput where the outputs cannot be written.
        """
        self._note_loss()
        self._keep(self._comment())
        self._speak()
        for write in (self._write_sarif, self._write_summary):
            try:
                write()
            except InvalidInput as error:
                self._fail_too(error)
                self.talk.runner.say("error", str(error))
        self.talk.runner.write_outputs(outputs_of(self.talk.inputs, self.result))

    def _note_loss(self) -> None:
        """Fail a run that went well where its log was lost; comment and files still tell it."""
        why = lost_by(self.talk.runner.stream)
        if why is not None and self.result.failure is None:
            error = output_lost(why)
            self._failed(Failure(code=error.exit_code, errors=(str(error),)))

    def _fail_too(self, error: InvalidInput) -> None:
        """Fail a run that went well; one that failed has another error."""
        failure = self.result.failure or Failure(code=error.exit_code, errors=())
        self._failed(replace(failure, errors=(*failure.errors, str(error))))

    def _keep(self, said: Said) -> None:
        """Keep what became of a comment; one that had to work fails a run that went well."""
        match said:
            case Comment():
                self.result = replace(self.result, comment=said)
            case Failure():
                self.result = replace(self.result, failure=self.result.failure or said)
            case None:
                pass

    def _comment(self) -> Said:
        """Let the comment say what is so now; a queued merge leaves the reviewed one alone."""
        result, talk = self.result, self.talk
        if result.code in SIGNALLED and result.applied is None:
            return None
        if result.command == "apply":
            is_told = result.applied is None or (result.plan is not None and has_work(result.plan))
            return talk.show_applied(result) if is_told else None
        if result.command == "plan" and talk.event.name != "merge_group":
            return talk.show_plan(result)
        return talk.show_watched(result)

    def _speak(self) -> None:
        """Show beside the change what is wrong, why there is no comment, and what failed."""
        talk, result = self.talk, self.result
        inputs, runner = talk.inputs, talk.runner
        if inputs.annotations:
            runner.annotate(annotation_lines(result.complaints, folder=result.folder))
        if talk.missing and inputs.command in ("plan", "apply") and inputs.comment != "never":
            runner.say("notice", f"no comment: {talk.missing}")
        failure = result.failure
        if failure is not None and not self._is_said(failure):
            said = failure.errors[0] if failure.errors else failure.words
            runner.say("error", f"{inputs.command}: {said}")

    def _write_sarif(self) -> None:
        """Write the complaints where they are asked for. Raises InvalidInput."""
        file, result = self.talk.inputs.sarif_file, self.result
        if file is not None:
            refuse_links(file)
            ignored = len(result.checked.workspace.suppressed) if result.checked else 0
            where = result.folder, result.environment
            text = complaints_sarif(result.complaints, *where, ignored)
            write_private(file, redacted(text), begins_sarif)

    def _write_summary(self) -> None:
        """Write the summary, if it is asked for. Raises InvalidInput."""
        if self.talk.inputs.summary:
            self.talk.runner.write_summary(summary_of(self.result, self.talk.origin.whole))

    def _is_said(self, failure: Failure) -> bool:
        """Tell whether it stands where people look: beside the lines, or in a plain log."""
        beside_lines = self.talk.inputs.annotations and bool(self.result.complaint_lines)
        return beside_lines or (failure.is_logged and not self.talk.runner.is_forge)


def _remove_earlier(file: Path) -> None:
    """Remove an earlier plan, which must not be applied once a later one failed."""
    refuse_links(file)
    try:
        file.unlink(missing_ok=True)
    except OSError as error:
        raise InvalidInput(f"{file} cannot be written: {error.strerror}") from error


def _refuse_to_write(use: Use, deed: str) -> None:
    if isinstance(use, OverBase):
        raise GuardRefused(
            f"{deed} of what was merged, and this is an untrusted change ({use.why}): "
            "merge it, and run this on the default branch or one of `trustedBranches:`"
        )


def _what_stopped(applied: Applied) -> list[str]:
    if applied.stopped_by is not None:
        return str(applied.stopped_by).splitlines()
    return ["the run was stopped by a signal"] if applied.signal_code is not None else []
