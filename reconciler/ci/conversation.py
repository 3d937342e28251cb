"""The pull request of a job, with the reviewed plan and our comment on it, and requests of its own.

The comment is evidence of a review, not trust: its digest is only compared with the digest of a new
plan.

Edits of manifests are one pull request: a branch of ours with one commit, kept up to date. The
commit is made from git objects only: the checkout stays as it is, and nothing that the repository
configures is run, except its connection to the server. The journal is not touched, as nothing is
merged yet. The apply after the merge finds live as declared, and journals that. Source: docs/ci.md.
"""

import os
import posixpath
import re
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from reconciler.ci import forge
from reconciler.ci import result as results
from reconciler.ci.checkout import ProjectLocation, place_of, refuse_links
from reconciler.ci.runner import Inputs, Runner
from reconciler.ci.trust import Event
from reconciler.cli.console import data, redacted, words
from reconciler.errors import ExitCode, GuardRefused, InvalidInput, Stale
from reconciler.model import GuardViolation, Plan
from reconciler.model.plan import CommentState
from reconciler.operations.added_by_features import ProposedEdits
from reconciler.operations.apply_plan import Consent
from reconciler.operations.open_session import Session
from reconciler.operations.plan_and_drift import read_plan_file
from reconciler.planning.guards import listed_of, listing_of
from reconciler.project import unsafe_base_url
from reconciler.report.plan.document import PlanDocument, listed_in, unlisted
from reconciler.report.safe import safe
from reconciler.report.words import first_few
from reconciler.runtime.connection import is_part
from reconciler.runtime.git import NOTHING_OF_ITS_OWN, Git, GitFailed
from reconciler.syntax.files import PROJECT_FILE, folder_in_repository
from reconciler.workspace.manifest_edits import Edited

_WRITTEN: frozenset[CommentState] = frozenset(("applied", "partial", "in-doubt"))
_COMMIT = re.compile(r"[0-9a-f]{40,64}")

MOST_NAMED = 3
SHORT = 12
APPLYING = "> **Applying** this plan now."


class PlanNotFound(GuardRefused):
    """No plan was reviewed that could be compared with this one."""

    failure_reason = "plan-not-found"


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """The reviewed plan: our comment, or the file that plan wrote.

    `missing` says why there is no comment to compare with, and the remedy.
    """

    inputs: Inputs
    comment: forge.Standing | None
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
        inputs = self.inputs
        flags = Consent(flags=inputs.flags, overridden=inputs.overridden, files=inputs.files)
        if not results.has_work(made) or inputs.require_plan == "none":
            return replace(flags, yes=True)
        if self.file is not None:
            return replace(flags, reviewed=self.file)
        if self.comment is None or not self.comment.marker.digest:
            raise PlanNotFound(self.missing)
        reviewed = self.comment.marker.digest
        known = results.changes_in(self.comment.comment.body)
        if made.digest != reviewed and known is not None:
            named = results.changed_since_review(known, made)
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
    repository: forge.Repository | None = None
    missing: str = ""

    def origin(self, folder: str = "") -> results.Origin:
        """Return where a comment comes from; `folder` is the project's in its repository."""
        return results.Origin(self.event.run_url, self.inputs.artifact, folder)

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
        file = None
        if inputs.require_plan == "file":
            refuse_links(inputs.plan_file)
            if not os.path.isfile(inputs.plan_file):  # noqa: PTH113 - never raises
                name = inputs.plan_file.name
                raise PlanNotFound(f"there is no plan file {name}: download it first")
            file = read_plan_file(inputs.plan_file)
        try:
            comment, number = self._reviewed_comment(environment), self.pull_request
        except forge.ForgeError:
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
        """Compare the files that a plan relies on with the newest commit of the job's branch.

        A job that runs again has its old commit, and the review of an old plan. Without this check,
        a reverted change would come back. Return why the comparison failed, "" where it did not.
        Raises Stale where the branch has changed one of the files since, or lost the commit.
        """
        branch, commit = self.event.branch, self.event.head or self.event.commit
        place = place_of(session.project) if self.repository is not None else None
        if self.repository is None or place is None or not (commit and branch):
            return ""
        try:
            later = self.repository.later_than(commit, branch)
        except forge.ForgeError as error:
            return f"it is unknown whether `{branch}` has moved on since: {error}"
        if later is None:
            return ""
        if not later.contains:
            raise Stale(
                f"`{branch}` does not have commit {commit[:SHORT]} any more, so what it declares "
                "is not what was merged: run this on the newest commit"
            )
        rests_on = set(_rests_on(made, session, place))
        changed = [file for file in later.files if file in rests_on]
        if later.is_cut and not changed:
            changed = ["more files than the forge lists"]
        if changed:
            named = first_few(changed, MOST_NAMED, "`{}`".format)
            raise Stale(
                f"`{branch}` has moved on from {commit[:SHORT]} to {later.commit[:SHORT]}, which "
                f"changed {named}: what would be written is not what it declares any more. "
                "The job of the newest commit applies that"
            )
        return ""

    def check_queued(self, environment: str, made: Plan) -> None:
        """Compare the plan of a merge queue with the reviewed plan.

        Raises Stale where the plans differ, and PlanNotFound where there was none.
        """
        if self.repository is None or self.inputs.comment == "never" or not results.has_work(made):
            return
        reviewed = self._reviewed_comment(environment)
        if reviewed is None or not reviewed.marker.digest:
            raise PlanNotFound(
                "no plan of this pull request was reviewed: plan it before it is queued"
            )
        if reviewed.marker.digest != made.digest:
            raise Stale(
                f"the merge would not be what was reviewed: expected {reviewed.marker.digest}, "
                f"is {made.digest}"
            )

    def _reviewed_comment(self, environment: str) -> forge.Standing | None:
        if self.repository is None:
            return None
        return self._ours(self.repository, self.pull_request, environment)

    def _ours(
        self, repository: forge.Repository, number: int | None, environment: str
    ) -> forge.Standing | None:
        if number is None:
            return None
        key = (environment, self.inputs.root)
        return forge.standing(repository, number, key, newest=self.inputs.comment == "new")

    def show_plan(self, result: results.JobResult) -> results.CommentResult:
        """Show the plan, as far as the input `comment` asks for it, or why there is none."""
        plan, failure, environment = result.plan, result.failure, result.checked.environment
        if plan is None:
            # The new marker has no digest, so that the plan shown before cannot be applied.
            assert failure is not None  # noqa: S101 - else there is a plan
            marker, why = self._marker(environment, "failed"), (failure.words, failure.errors)
            return self._put(results.failed_comment(marker, *why, self.origin(), result.notes))
        state: CommentState = "planned" if results.has_work(plan) else "no-changes"
        marker = self._marker(environment, "offline" if result.is_offline else state)
        if not result.is_offline:
            marker = replace(marker, digest=plan.digest, guards=listing_of(plan.guarded))
        origin = self.origin(result.checked.folder)
        body = results.plan_comment(
            plan, marker, origin, result.notes, offline=result.compared.note
        )
        mode = self.inputs.comment
        quiet = mode == "on-error" or (mode == "changes" and not results.has_work(plan))
        return self._put(body, only_update=quiet)

    def show_applying(
        self, reviewed: forge.Standing | None, plan: Plan, folder: str
    ) -> results.CommentResult:
        """Write to the comment that the reviewed plan is being applied."""
        if reviewed is None:
            return None
        marker = self._next_marker(reviewed, "applying")
        origin = self.origin(folder)
        return self._edit(reviewed, results.plan_comment(plan, marker, origin, APPLYING))

    def show_applied(self, result: results.JobResult) -> results.CommentResult:
        """Write the result of the reviewed plan to the comment, or why nothing was written."""
        reviewed = result.review
        if reviewed is None:
            return None
        line = results.line_in(reviewed.comment.body)
        origin = self.origin(result.checked.folder)
        marker = self._next_marker(reviewed, result.state)
        if result.applied is None or result.plan is None:
            body = results.refused_comment(result.plan, marker, result.errors, origin, line)
        else:
            became = results.applied_result(result, result.plan, result.applied)
            body = results.applied_comment(became, marker, origin, line)
        return self._edit(reviewed, body)

    def show_report(self, result: results.JobResult) -> results.CommentResult:
        """Add the report of a feature's step to the comment of the applied plan."""
        found = result.report
        if found is None:
            return None

        def write(repository: forge.Repository) -> forge.Comment | None:
            branch = self.event.named_branch or self.event.default_branch
            is_commit = _COMMIT.fullmatch(found.commit) is not None
            number = repository.merged_from(found.commit, branch) if is_commit else None
            mine = self._ours(repository, number, result.checked.environment)
            if mine is None or mine.marker.state not in _WRITTEN:
                self.runner.say("notice", "no comment: no pull request has what was applied")
                return None
            return repository.edit(mine.comment, redacted(found.added_to(mine.comment.body)))

        return self._attempt(write)

    def _marker(self, environment: str, state: CommentState) -> forge.Marker:
        event = self.event
        return forge.Marker(
            environment=environment,
            root=self.inputs.root,
            head=event.head or event.commit,
            base=event.base,
            run=event.run,
            state=state,
        )

    def _next_marker(self, reviewed: forge.Standing, state: CommentState) -> forge.Marker:
        return replace(reviewed.marker, run=self.event.run, state=state)

    def _put(self, body: str, *, only_update: bool = False) -> results.CommentResult:
        def write(repository: forge.Repository) -> forge.Comment | None:
            if (number := self.pull_request) is None:
                return None
            is_new = self.inputs.comment == "new" and not only_update
            return forge.put(
                repository, number, redacted(body), only_update=only_update, is_new=is_new
            )

        return self._attempt(write)

    def _edit(self, reviewed: forge.Standing, body: str) -> results.CommentResult:
        return self._attempt(lambda repository: repository.edit(reviewed.comment, redacted(body)))

    def _attempt(
        self, write: Callable[[forge.Repository], forge.Comment | None]
    ) -> results.CommentResult:
        """Write a comment, where one is wanted and there is a forge.

        The input `comment-failure` decides how a failure counts.
        """
        if self.inputs.comment == "never" or self.repository is None:
            return None
        try:
            return write(self.repository)
        except forge.ForgeError as error:
            if error.is_forbidden and self.event.has_no_secrets:
                self.runner.say("notice", "no comment: the token of this change may only read")
            elif self.inputs.comment_must_work:
                self.runner.say("error", f"no comment: {error}")
                return results.Failure(code=ExitCode.UNAVAILABLE, errors=(f"no comment: {error}",))
            else:
                self.runner.say("warning", f"no comment: {error}")
            return None


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
    with forge.Client(api, graphql, inputs.token) as client:
        yield replace(talk, repository=forge.Repository(client, event.repository))


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


def _rests_on(made: Plan, session: Session, place: ProjectLocation) -> Iterator[str]:
    """Yield the files, relative to the repository, that decide the changes of a plan.

    These are all files that were read, except manifests in which nothing is written.
    """
    places = [(change.source, change.action.writes) for change in made.changes]
    sources = {source.file for source, writes in places if source is not None and writes}
    untouched = {source.file for source, _ in places if source is not None} - sources
    root = session.project.root.resolve()
    inputs = {os.path.relpath(path.resolve(), root) for path in session.workspace.read}
    for file in (inputs | sources | {PROJECT_FILE}) - untouched:
        yield posixpath.normpath(f"{place.folder}/{Path(file).as_posix()}")


AUTHOR = "reconciler"
ADDRESS = "reconciler@noreply.invalid"
"""Committer of the commits that may be overwritten on the branch; those of a person never are."""

_MARK = "\N{ZERO WIDTH NO-BREAK SPACE}".encode()
_FILE_MODES = (b"100644", b"100755")


def propose(
    made: ProposedEdits, name: str, session: Session, talk: Conversation
) -> forge.PullRequest | None:
    """Push the edited files as a branch, and open or update its pull request.

    `name` is the input or the command that asks for it. The pull request is for the branch that
    this job runs on; without a forge there is none, and the log has the edits. Raises InvalidInput
    where git or the forge refuses.
    """
    branch = branch_of(talk.inputs, name, session.name)
    request = None
    try:
        commit = _pushed(made, session.project.root, branch) if made.files else ""
        if talk.repository is not None and (commit or not made.undecided):
            into, wanted = talk.event.branch, bool(commit)
            request = talk.repository.requested(branch, made.title, made.body, into, wanted=wanted)
    except (GitFailed, forge.ForgeError) as error:
        raise InvalidInput(f"the {made.subject} cannot be proposed: {error}") from error
    if request is not None:
        words(f"pull request {request.number}: {safe(request.url)}")
    elif commit:
        words(f"pushed to the branch {safe(branch)}: {talk.missing}")
        data(made.body)
    return request


def branch_of(inputs: Inputs, name: str, environment: str) -> str:
    """Return the name of the branch of a proposal; it differs by environment, path and shard."""
    named = environment if is_part(environment) else "default"
    place = "" if inputs.path == "." else f"-{forge.root_of(inputs.path)}"
    shard = "" if inputs.shard is None else f"-{inputs.shard.key}"
    return f"reconciler/{name}-{named}{place}{shard}"


def _pushed(made: ProposedEdits, root: Path, branch: str) -> str:
    """Push one commit on top of the checkout, and return it; skip the push if it is there."""
    git = Git(root, os.environ, NOTHING_OF_ITS_OWN)
    commit = _committed(git, made, folder_in_repository(root))
    remote = _remote(git)
    ref = f"refs/heads/{branch}"
    listed = git.text("ls-remote", "--quiet", "--", remote, ref).split()
    tip = listed[0] if listed else ""
    if tip == commit:
        return commit
    if tip:
        git.run("fetch", "--quiet", "--depth=1", "--no-tags", "--", remote, ref)
        if git.text("show", "--no-patch", "--format=%ce", "FETCH_HEAD") != ADDRESS:
            raise GitFailed(f"the branch {branch} holds commits of others: merge it, or delete it")
    lease = f"--force-with-lease={ref}:{tip}"
    git.run("push", "--quiet", "--no-verify", lease, "--", remote, f"{commit}:{ref}")
    return commit


def _remote(git: Git) -> str:
    names = git.text("remote").split()
    if "origin" in names or len(names) == 1:
        return "origin" if "origin" in names else names[0]
    raise GitFailed("the repository has no remote `origin` to push to")


def _committed(git: Git, made: ProposedEdits, folder: str) -> str:
    with tempfile.TemporaryDirectory(prefix="reconciler-") as own:
        index = {"GIT_INDEX_FILE": str(Path(own) / "index")}
        git.run("read-tree", "HEAD", more=index)
        for file in made.files:
            place = f"{folder}/{file.name}" if folder else file.name
            mode, blob = _entry(git, place)
            cache_info = f"{mode},{_stored(git, file, blob)},{place}"
            git.run("update-index", "--cacheinfo", cache_info, more=index)
        tree = git.run("write-tree", more=index).decode().strip()
    # The same author and time, so that the same edits of the same commit are the same commit.
    moment = git.text("show", "--no-patch", "--format=%cI", "HEAD")
    author = {
        f"GIT_{role}_{name}": setting
        for role in ("AUTHOR", "COMMITTER")
        for name, setting in (("NAME", AUTHOR), ("EMAIL", ADDRESS), ("DATE", moment))
    }
    committed = git.run("commit-tree", "-p", "HEAD", "-m", made.title, tree, more=author)
    return committed.decode().strip()


def _entry(git: Git, place: str) -> tuple[str, str]:
    """Return mode and object of a file as committed. Raises GitFailed unless it is a file."""
    listed = git.run("ls-tree", "-z", "HEAD", "--", place).split(b"\0")[0]
    head, _, name = listed.partition(b"\t")
    parts = head.split()
    if name != os.fsencode(place) or len(parts) != 3 or parts[0] not in _FILE_MODES:  # noqa: PLR2004 - mode, type, object
        raise GitFailed(f"{place} is no file of the commit that is checked out")
    return parts[0].decode(), parts[2].decode()


def _stored(git: Git, file: Edited, blob: str) -> str:
    """Store an edited file, and return its object. Raises GitFailed unless it was as committed."""
    before = git.run("cat-file", "blob", blob)
    mark = _MARK if before.startswith(_MARK) else b""
    if before != mark + file.before.encode():
        raise GitFailed(f"{file.name} is not as it is committed")
    stored = git.run("hash-object", "-w", "--stdin", given=mark + file.after.encode())
    return stored.decode().strip()
