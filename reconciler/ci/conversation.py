"""Our comment on the pull request of this job. Source: docs/ci.md."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

from reconciler.ci.ended import WORDS, Compared, Ended, has_work
from reconciler.ci.runner import Inputs, Runner
from reconciler.console import redacted
from reconciler.errors import ExitCode
from reconciler.forge.client import Address, Client, ForgeError
from reconciler.forge.comments import Marker, Standing, State, put, put_new, standing
from reconciler.forge.event import Event
from reconciler.forge.pull_requests import Comment, Repository
from reconciler.project import unsafe_base_url
from reconciler.report.applied import Result
from reconciler.report.comment import (
    AGAINST_BASE,
    OFFLINE,
    Origin,
    applied_comment,
    failed_comment,
    line_in,
    plan_comment,
    postponed_note,
    refused_comment,
)
from reconciler.resource import Plan

COMPARED = {Compared.LIVE: "", Compared.BASE: AGAINST_BASE, Compared.NOTHING: OFFLINE}
"""What stands above a plan, by what it was compared with."""

APPLYING = "> **Applying** this plan now."


@dataclass(slots=True)
class Conversation:
    """What this job may say on its pull request. Without a forge, it says nothing.

    `missing` tells why there is no forge to talk to, "" where there is one.
    """

    inputs: Inputs
    event: Event
    runner: Runner
    repository: Repository | None = None
    missing: str = ""
    _number: int | None = None

    @property
    def origin(self) -> Origin:
        """Where a comment comes from, for its foot."""
        return Origin(self.event.run_url, self.inputs.artifact)

    def pull_request(self) -> int | None:
        """Give the number of the pull request that this job is about; None for none.

        Raises ForgeError.
        """
        if self._number is None and self.repository is not None:
            self._number = self._find(self.repository)
        return self._number

    def _find(self, repository: Repository) -> int | None:
        event = self.event
        if event.pull_request is not None:
            return event.pull_request
        if event.name == "workflow_run":
            return repository.open_at(event.head) if event.head else None
        commit = event.head or event.commit
        if self.inputs.command == "apply" and commit and event.branch:
            return repository.merged_from(commit, event.branch)
        return None

    def reviewed(self, environment: str) -> Standing | None:
        """Give our comment that was reviewed, None where there is none. Raises ForgeError."""
        number = self.pull_request()
        if number is None or self.repository is None:
            return None
        key = (environment, self.inputs.root)
        return standing(self.repository, number, key, newest=self.inputs.comment == "new")

    def show_plan(self, ended: Ended, plan: Plan) -> None:
        """Say what the plan is, as far as `comment` asks for it."""
        state: State = "planned" if has_work(plan) else "no-changes"
        marker = self._marker(ended.environment, "offline" if ended.is_offline else state)
        digest = "" if ended.is_offline else plan.digest
        note = postponed_note(ended.postponed)
        marker = replace(marker, digest=digest)
        offline = COMPARED[ended.compared]
        body = plan_comment(plan, marker, self.origin, note, offline=offline)
        mode = self.inputs.comment
        quiet = mode == "on-error" or (mode == "changes" and not has_work(plan))
        self._put(ended, body, only_update=quiet)

    def show_failure(self, ended: Ended) -> None:
        """Say that there is no plan, and take the digest of the one before away."""
        marker = self._marker(ended.environment, "failed")
        note = postponed_note(ended.postponed)
        body = failed_comment(marker, WORDS[ended.reason], ended.errors, self.origin, note)
        self._put(ended, body, only_update=False)

    def show_applying(self, ended: Ended, plan: Plan) -> None:
        """Say that the reviewed plan is being applied."""
        reviewed = ended.review
        if reviewed is None or self.inputs.comment == "never":
            return
        marker = self._after(reviewed, "applying")
        self._edit(ended, reviewed, plan_comment(plan, marker, self.origin, APPLYING))

    def show_applied(self, ended: Ended) -> None:
        """Say what became of the reviewed plan, or why nothing was written."""
        reviewed = ended.review
        if reviewed is None or self.inputs.comment == "never":
            return
        line = line_in(reviewed.comment.body)
        marker = self._after(reviewed, ended.state)
        if ended.applied is None or ended.plan is None:
            body = refused_comment(ended.plan, marker, ended.errors, self.origin, line)
        else:
            said = "\n".join(ended.errors)
            result = Result(ended.plan, ended.outcomes, ended.state, said)
            body = applied_comment(result, marker, self.origin, line)
        self._edit(ended, reviewed, body)

    def _marker(self, environment: str, state: State) -> Marker:
        event = self.event
        return Marker(
            environment,
            self.inputs.root,
            head=event.head or event.commit,
            base=event.base,
            run=event.run,
            state=state,
        )

    def _after(self, reviewed: Standing, state: State) -> Marker:
        """Give the reviewed marker in its next state; what was reviewed stays what it was."""
        return replace(reviewed.marker, run=self.event.run, state=state)

    def _put(self, ended: Ended, body: str, *, only_update: bool) -> None:
        if self.inputs.comment == "never":
            return

        def say() -> Comment | None:
            number = self.pull_request()
            if number is None or self.repository is None:
                return None
            if self.inputs.comment == "new" and not only_update:
                return put_new(self.repository, number, redacted(body))
            return put(self.repository, number, redacted(body), only_update=only_update)

        self._attempt(ended, say)

    def _edit(self, ended: Ended, reviewed: Standing, body: str) -> None:
        def say() -> Comment | None:
            assert self.repository is not None  # noqa: S101 - it gave us the comment
            shown = redacted(body)
            return self.repository.edit(reviewed.comment, shown)

        self._attempt(ended, say)

    def _attempt(self, ended: Ended, say: Callable[[], Comment | None]) -> None:
        """Comment; a failure is as bad as `comment-failure` says."""
        try:
            ended.comment = say() or ended.comment
        except ForgeError as error:
            if error.is_forbidden and self.event.has_no_secrets:
                self.runner.say("notice", "no comment: the token of this change may only read")
            elif self.inputs.comment_must_work:
                self.runner.say("error", f"no comment: {error}")
                if not ended.reason:
                    ended.fail(ExitCode.UNAVAILABLE, [f"no comment: {error}"])
            else:
                self.runner.say("warning", f"no comment: {error}")


@contextmanager
def conversation(
    inputs: Inputs, event: Event, runner: Runner, environ: Mapping[str, str]
) -> Iterator[Conversation]:
    """Open the way to the forge, as far as the variables of the job know one."""
    api = environ.get("GITHUB_API_URL", "").rstrip("/")
    graphql = environ.get("GITHUB_GRAPHQL_URL", "") or f"{api}/graphql"
    talk = Conversation(inputs, event, runner)
    talk.missing = _missing(inputs, event, api, graphql)
    if talk.missing:
        yield talk
        return
    with Client(Address(api, graphql, inputs.token)) as client:
        talk.repository = Repository(client, event.repository)
        yield talk


def _missing(inputs: Inputs, event: Event, api: str, graphql: str) -> str:
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
