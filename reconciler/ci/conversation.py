"""The pull request of a job: the plan that was reviewed there, and our comment on it.

The comment is evidence of a review, not trust: its digest is only compared with the digest of a new
plan. Source: docs/ci.md.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property

from reconciler.ci.checkout import refuse_links
from reconciler.ci.comment import (
    Origin,
    applied_comment,
    changed_since_review,
    changes_in,
    failed_comment,
    line_in,
    plan_comment,
    refused_comment,
)
from reconciler.ci.forge.event import Event
from reconciler.ci.forge.forge_client import Address, Client, ForgeError
from reconciler.ci.forge.own_comment import Marker, Standing, put, put_new, standing
from reconciler.ci.forge.pull_requests import Comment, Repository
from reconciler.ci.result import CommentResult, Failure, JobResult, applied_result, has_work
from reconciler.ci.runner import Inputs, Runner
from reconciler.ci.stale_check import check_not_moved_on
from reconciler.cli.console import redacted
from reconciler.errors import ExitCode, GuardRefused, Stale
from reconciler.model import GuardViolation, Plan
from reconciler.model.outcome import CommentState
from reconciler.operations.apply_plan import Consent
from reconciler.operations.open_session import Session
from reconciler.operations.plan_and_drift import read_plan_file
from reconciler.planning.guards.consent import listed_of, listing_of
from reconciler.project import unsafe_base_url
from reconciler.report.plan.document import PlanDocument, listed_in
from reconciler.report.plan.stale import unlisted

_WRITTEN: frozenset[CommentState] = frozenset(("applied", "partial", "in-doubt"))
_COMMIT = re.compile(r"[0-9a-f]{40,64}")

APPLYING = "> **Applying** this plan now."


class PlanNotFound(GuardRefused):
    """No plan was reviewed that could be compared with this one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """The reviewed plan: our comment, or the file that plan wrote.

    `missing` says why there is no comment to compare with, and the remedy.
    """

    inputs: Inputs
    comment: Standing | None
    file: PlanDocument | None
    missing: str

    def lists(self, guarded: Sequence[GuardViolation]) -> Collection[str]:
        """Return the keys of those objections that the reviewed plan listed."""
        if self.file is not None:
            return listed_in(self.file)
        marker = self.comment.marker if self.comment is not None else None
        return listed_of(guarded, marker.guards) if marker is not None else ()

    def consent_to(self, made: Plan) -> Consent:
        """Return what the review consents to for this plan.

        A plan without work needs no review: a job that runs again after its apply does not fail.
        Raises Stale and PlanNotFound.
        """
        flags = Consent(
            flags=self.inputs.flags,
            overridden=self.inputs.overridden,
        )
        if not has_work(made) or self.inputs.require_plan == "none":
            return replace(flags, yes=True)
        if self.file is not None:
            return replace(flags, reviewed=self.file)
        if self.comment is None or not self.comment.marker.digest:
            raise PlanNotFound(self.missing)
        reviewed = self.comment.marker.digest
        known = changes_in(self.comment.comment.body)
        if made.digest != reviewed and known is not None:
            named = changed_since_review(known, made)
            named += unlisted(made, listed_of(made.guarded, self.comment.marker.guards))
            headline = (
                f"the plan is no longer the reviewed one: expected {reviewed}, is {made.digest}"
            )
            raise Stale("\n".join((headline, *(f"  {line}" for line in named))))
        return replace(flags, expect=reviewed, listed=self.comment.marker.guards)


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """Comments of this job on its pull request. Without a forge, it writes none.

    `missing` says why there is no forge, "" where there is one.
    """

    inputs: Inputs
    event: Event
    runner: Runner
    repository: Repository | None = None
    missing: str = ""

    @property
    def origin(self) -> Origin:
        """Return where a comment comes from, for its last line."""
        return Origin(self.event.run_url, self.inputs.artifact)

    @cached_property
    def pull_request(self) -> int | None:
        """Return the number of the pull request of this job; None for none. Raises ForgeError."""
        event = self.event
        if self.repository is None:
            return None
        if event.pull_request is not None:
            return event.pull_request
        if event.name == "workflow_run":
            return self.repository.open_at(event.head) if event.head else None
        commit = event.head or event.commit
        if self.inputs.command == "apply" and commit and event.branch:
            return self.repository.merged_from(commit, event.branch)
        return None

    def review(self, environment: str) -> Review:
        """Return the review of this job's plan.

        Raises PlanNotFound where the plan file is missing, and ForgeError or InvalidInput where the
        reviewed plan cannot be read.
        """
        inputs = self.inputs
        file = _reviewed_file(inputs) if inputs.require_plan == "file" else None
        try:
            comment, number = self._reviewed(environment), self.pull_request
        except ForgeError:
            if inputs.require_plan == "comment":
                raise
            # The comment is then needed only for its text.
            comment, number = None, None
        if self.missing:
            missing = f"the reviewed plan is in a comment, and {self.missing}"
        elif number is None:
            missing = (
                "no pull request brought this commit here: open one with the change, and merge it "
                "once its plan is reviewed"
            )
        else:
            missing = f"pull request {number} has no plan of ours that could be applied"
        return Review(
            inputs=inputs,
            comment=comment,
            file=file,
            missing=f"{missing}; or use `require-plan: file` or `none`",
        )

    def check_newest(self, made: Plan, session: Session) -> str:
        """Raise Stale where the branch no longer declares the changes of a plan.

        Return why that is unknown, "" if it was checked.
        """
        if self.repository is None or not has_work(made):
            return ""
        read = session.workspace.read
        return check_not_moved_on(made, read, session.project, self.event, self.repository)

    def check_queued(self, environment: str, made: Plan) -> None:
        """Compare the plan of a merge queue with the reviewed plan.

        Raises Stale where the plans differ, and PlanNotFound where there was none.
        """
        if self.repository is None or self.inputs.comment == "never" or not has_work(made):
            return
        reviewed = self._reviewed(environment)
        if reviewed is None or not reviewed.marker.digest:
            raise PlanNotFound(
                "no plan of this pull request was reviewed: plan it before it is queued"
            )
        if reviewed.marker.digest != made.digest:
            raise Stale(
                f"the merge would not be what was reviewed: expected {reviewed.marker.digest}, "
                f"is {made.digest}"
            )

    def _reviewed(self, environment: str) -> Standing | None:
        """Return our reviewed comment, None where there is none. Raises ForgeError."""
        number = self.pull_request
        if number is None or self.repository is None:
            return None
        key = (environment, self.inputs.root)
        return standing(self.repository, number, key, newest=self.inputs.comment == "new")

    def show_plan(self, result: JobResult) -> CommentResult:
        """Show the plan, as far as the input `comment` asks for it, or why there is none."""
        note = result.notes
        if result.plan is None:
            return self._show_failure(result, note)
        plan, is_offline = result.plan, result.is_offline
        state: CommentState = "planned" if has_work(plan) else "no-changes"
        marker = replace(
            self._marker(result.environment, "offline" if is_offline else state),
            digest="" if is_offline else plan.digest,
            guards=() if is_offline else listing_of(plan.guarded),
        )
        body = plan_comment(plan, marker, self.origin, note, offline=result.compared.note)
        mode = self.inputs.comment
        quiet = mode == "on-error" or (mode == "changes" and not has_work(plan))
        return self._put(body, only_update=quiet)

    def _show_failure(self, result: JobResult, note: str) -> CommentResult:
        """Write to the comment that there is no plan, without the digest of the plan before."""
        failure = result.failure
        assert failure is not None  # noqa: S101 - else there is a plan
        marker = self._marker(result.environment, "failed")
        body = failed_comment(marker, failure.words, failure.errors, self.origin, note)
        return self._put(body, only_update=False)

    def show_applying(self, reviewed: Standing | None, plan: Plan) -> CommentResult:
        """Write to the comment that the reviewed plan is being applied."""
        if reviewed is None or self.inputs.comment == "never":
            return None
        marker = self._after(reviewed, "applying")
        return self._edit(reviewed, plan_comment(plan, marker, self.origin, APPLYING))

    def show_applied(self, result: JobResult) -> CommentResult:
        """Write the result of the reviewed plan to the comment, or why nothing was written."""
        reviewed = result.review
        if reviewed is None or self.inputs.comment == "never":
            return None
        line = line_in(reviewed.comment.body)
        marker = self._after(reviewed, result.state)
        if result.applied is None or result.plan is None:
            body = refused_comment(result.plan, marker, result.errors, self.origin, line)
        else:
            became = applied_result(result, result.plan, result.applied)
            body = applied_comment(became, marker, self.origin, line)
        return self._edit(reviewed, body)

    def show_report(self, result: JobResult) -> CommentResult:
        """Add the report of a feature's step to the comment of the applied plan."""
        found, repository = result.report, self.repository
        if found is None or repository is None or self.inputs.comment == "never":
            return None

        def say() -> Comment | None:
            branch = self.event.named_branch or self.event.default_branch
            number = repository.merged_from(found.commit, branch) if is_commit else None
            key = (result.environment, self.inputs.root)
            newest = self.inputs.comment == "new"
            mine = standing(repository, number, key, newest=newest) if number else None
            if mine is None or mine.marker.state not in _WRITTEN:
                self.runner.say("notice", "no comment: no pull request has what was applied")
                return None
            return repository.edit(mine.comment, redacted(found.added_to(mine.comment.body)))

        is_commit = _COMMIT.fullmatch(found.commit) is not None
        return self._attempt(say)

    def _marker(self, environment: str, state: CommentState) -> Marker:
        event = self.event
        return Marker(
            environment=environment,
            root=self.inputs.root,
            head=event.head or event.commit,
            base=event.base,
            run=event.run,
            state=state,
        )

    def _after(self, reviewed: Standing, state: CommentState) -> Marker:
        """Return the reviewed marker in its next state, and otherwise as it was."""
        return replace(reviewed.marker, run=self.event.run, state=state)

    def _put(self, body: str, *, only_update: bool) -> CommentResult:
        if self.inputs.comment == "never":
            return None

        def say() -> Comment | None:
            number = self.pull_request
            if number is None or self.repository is None:
                return None
            if self.inputs.comment == "new" and not only_update:
                return put_new(self.repository, number, redacted(body))
            return put(self.repository, number, redacted(body), only_update=only_update)

        return self._attempt(say)

    def _edit(self, reviewed: Standing, body: str) -> CommentResult:
        def say() -> Comment | None:
            assert self.repository is not None  # noqa: S101 - it gave us the comment
            shown = redacted(body)
            return self.repository.edit(reviewed.comment, shown)

        return self._attempt(say)

    def _attempt(self, say: Callable[[], Comment | None]) -> CommentResult:
        """Write a comment; the input `comment-failure` decides how a failure counts."""
        try:
            return say()
        except ForgeError as error:
            if error.is_forbidden and self.event.has_no_secrets:
                self.runner.say("notice", "no comment: the token of this change may only read")
            elif self.inputs.comment_must_work:
                self.runner.say("error", f"no comment: {error}")
                return Failure(code=ExitCode.UNAVAILABLE, errors=(f"no comment: {error}",))
            else:
                self.runner.say("warning", f"no comment: {error}")
            return None


def _reviewed_file(inputs: Inputs) -> PlanDocument:
    refuse_links(inputs.plan_file)
    if not os.path.isfile(inputs.plan_file):  # noqa: PTH113 - never raises
        raise PlanNotFound(f"there is no plan file {inputs.plan_file.name}: download it first")
    return read_plan_file(inputs.plan_file)


@contextmanager
def conversation(
    inputs: Inputs, event: Event, runner: Runner, environ: Mapping[str, str]
) -> Iterator[Conversation]:
    """Open a connection to the forge, if the variables of the job name one."""
    api = environ.get("GITHUB_API_URL", "").rstrip("/")
    graphql = environ.get("GITHUB_GRAPHQL_URL", "") or f"{api}/graphql"
    talk = Conversation(
        inputs=inputs, event=event, runner=runner, missing=_missing(inputs, event, api, graphql)
    )
    if talk.missing:
        yield talk
        return
    with Client(Address(api, graphql, inputs.token)) as client:
        yield replace(talk, repository=Repository(client, event.repository))


def _missing(inputs: Inputs, event: Event, api: str, graphql: str) -> str:
    """Return why there is no forge to connect to, "" where there is one."""
    if not event.name or not event.repository or not api:
        return "this is no job of the forge"
    if not inputs.token:
        return "there is no `token`"
    if any(not "!" <= character <= "~" for character in inputs.token):
        return "the `token` holds a character that no header can carry"
    for url in (api, graphql):
        if why := unsafe_base_url(url):
            return f"the address of the forge {why}"
    return ""
