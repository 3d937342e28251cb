"""What started a job, as far as it decides what may be done: event, change, branches.

Read from the runner's variables and the payload that it keeps in a file. Outside
of the forge there is neither. Source: docs/ci.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reconciler import regular_files

LARGEST_PAYLOAD = 32 << 20

_QUEUED = re.compile(r"refs/heads/gh-readonly-queue/.+/pr-([1-9][0-9]{0,17})-[0-9a-f]+")
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
_BOT = "[bot]"
_BRANCHES = "refs/heads/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event. Commits are "" where there is none, or where it has an odd form.

    `commit` is what the runner checks out by itself, `ref` what that is the
    newest of, `head` and `base` are the two sides of a change. `pull_request`
    is a number, None where none is named.
    """

    name: str = ""
    repository: str = ""
    commit: str = ""
    ref: str = ""
    head: str = ""
    base: str = ""
    branch: str = ""
    default_branch: str = ""
    pull_request: int | None = None
    is_fork: bool = False
    is_bot: bool = False
    run: int = 0
    run_url: str = ""

    @property
    def is_try(self) -> bool:
        """Whether its own commit is what a merge would be, and on no branch yet."""
        return self.name in ("pull_request", "merge_group")

    @property
    def named_branch(self) -> str:
        """The branch of which the forge tells the newest commit, "" for none."""
        if self.is_try:
            return self.branch
        return self.ref.removeprefix(_BRANCHES) if self.ref.startswith(_BRANCHES) else ""

    @property
    def named_commit(self) -> str:
        """The commit that the forge tells to be the newest of that branch."""
        return self.base if self.is_try else self.commit

    @property
    def is_on_default(self) -> bool:
        """Whether that branch is the default one."""
        return bool(self.named_branch) and self.named_branch == self.default_branch

    @property
    def has_no_secrets(self) -> bool:
        """Whether the forge keeps secrets from it: a change of a fork or of a bot."""
        return self.name == "pull_request" and (self.is_fork or self.is_bot)


@dataclass(frozen=True, slots=True)
class _Payload:
    """A JSON object that may lack anything."""

    document: Mapping[str, Any] = field(default_factory=dict)

    def part(self, *names: str) -> _Payload:
        here: object = self.document
        for name in names:
            here = here.get(name) if isinstance(here, dict) else None
        return _Payload(here if isinstance(here, dict) else {})

    def text(self, name: str) -> str:
        found = self.document.get(name)
        return found if isinstance(found, str) else ""

    def commit(self, name: str) -> str:
        found = self.text(name)
        return found if _COMMIT.fullmatch(found) else ""

    @property
    def repository(self) -> str | int | None:
        return self.text("full_name") or self.number("id")

    def number(self, name: str) -> int | None:
        found = self.document.get(name)
        return found if type(found) is int and found > 0 else None


def read_event(environ: Mapping[str, str]) -> Event:
    """Read the event of this job; one without a name where there is no forge."""
    name = environ.get("GITHUB_EVENT_NAME", "")
    payload = _read_payload(environ.get("GITHUB_EVENT_PATH", ""))
    repository = environ.get("GITHUB_REPOSITORY", "")
    run = environ.get("GITHUB_RUN_ID", "")
    server = environ.get("GITHUB_SERVER_URL", "").rstrip("/")
    is_known = bool(_REPOSITORY.fullmatch(repository))
    commit = environ.get("GITHUB_SHA", "")
    commit = commit if _COMMIT.fullmatch(commit) else ""
    head, base, branch, number, is_fork = _change(name, payload)
    # These two run on the branch that a change is for, whatever their payload names.
    base = commit if name in ("pull_request_target", "workflow_run") else base
    ref = environ.get("GITHUB_REF", "")
    here = branch or ref.removeprefix(_BRANCHES)
    default = payload.part("repository").text("default_branch")
    return Event(
        name=name,
        repository=repository if is_known else "",
        commit=commit,
        ref=ref,
        head=head,
        base=base,
        branch=here,
        # A schedule runs on the default branch only, and its payload may not name that.
        default_branch=here if name == "schedule" and not default else default,
        pull_request=number,
        is_fork=is_fork,
        is_bot=environ.get("GITHUB_ACTOR", "").endswith(_BOT),
        run=int(run) if re.fullmatch(r"[0-9]{1,18}", run) else 0,
        run_url=f"{server}/{repository}/actions/runs/{run}" if server and is_known and run else "",
    )


def _change(name: str, payload: _Payload) -> tuple[str, str, str, int | None, bool]:
    """Give head, base, base branch, number, and whether the change comes from elsewhere."""
    match name:
        case "pull_request" | "pull_request_target":
            pull = payload.part("pull_request")
            head, base = pull.part("head"), pull.part("base")
            # The head repository is gone where the fork was deleted: foreign all the same.
            is_fork = head.part("repo").repository != base.part("repo").repository
            number = pull.number("number") or payload.number("number")
            return head.commit("sha"), base.commit("sha"), base.text("ref"), number, is_fork
        case "merge_group":
            group = payload.part("merge_group")
            queued = _QUEUED.fullmatch(group.text("head_ref"))
            branch = group.text("base_ref").removeprefix("refs/heads/")
            number = int(queued[1]) if queued else None
            return group.commit("head_sha"), group.commit("base_sha"), branch, number, False
        case "workflow_run":
            run = payload.part("workflow_run")
            here, there = payload.part("repository"), run.part("head_repository")
            return run.commit("head_sha"), "", "", None, there.repository != here.repository
        case "push":
            return payload.commit("after"), "", "", None, False
        case _:
            return "", "", "", None, False


def _read_payload(file: str) -> _Payload:
    if not file:
        return _Payload()
    try:
        document = json.loads(regular_files.read(Path(file), LARGEST_PAYLOAD))
    except (OSError, ValueError, RecursionError):
        return _Payload()
    return _Payload(document if isinstance(document, dict) else {})
