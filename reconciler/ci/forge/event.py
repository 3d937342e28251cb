"""Event that started a job, as far as it decides what is allowed: change and branches.

It is read from the runner's variables and its payload file. Outside of the forge there is neither.
Source: docs/ci.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reconciler.runtime import regular_files

LARGEST_PAYLOAD = 32 << 20

_QUEUED = re.compile(r"refs/heads/gh-readonly-queue/.+/pr-([1-9][0-9]{0,17})-[0-9a-f]+")
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
_BOT = "[bot]"
_BRANCHES = "refs/heads/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event. Commits are "" where there is none, or where its form is invalid.

    `commit` is the commit that the runner checks out, and `ref` is its branch or tag. `head` and
    `base` are the two sides of a change. `pull_request` is a number, None where there is none.
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
        """Return whether its commit is a trial merge that is not on a branch yet."""
        return self.name in ("pull_request", "merge_group")

    @property
    def named_branch(self) -> str:
        """Return the branch with a newest commit that the forge names, "" for none."""
        if self.is_try:
            return self.branch
        return self.ref.removeprefix(_BRANCHES) if self.ref.startswith(_BRANCHES) else ""

    @property
    def named_commit(self) -> str:
        """Return the newest commit of that branch, as the forge names it."""
        return self.base if self.is_try else self.commit

    @property
    def is_on_default(self) -> bool:
        """Return whether that branch is the default branch."""
        return bool(self.named_branch) and self.named_branch == self.default_branch

    @property
    def has_no_secrets(self) -> bool:
        """Return whether the forge withholds secrets: for a change of a fork or of a bot."""
        return self.name == "pull_request" and (self.is_fork or self.is_bot)


@dataclass(frozen=True, slots=True)
class JsonObject:
    """A JSON object of the forge; every field may be missing, or have another type."""

    fields: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, document: object) -> JsonObject:
        """Return a document as an object, an empty object for any other document."""
        return cls(document if isinstance(document, dict) else {})

    def part(self, *names: str) -> JsonObject:
        """Return the object at a path."""
        here = self
        for name in names:
            here = JsonObject.of(here.fields.get(name))
        return here

    def text(self, name: str) -> str:
        """Return a text, "" for none."""
        found = self.fields.get(name)
        return found if isinstance(found, str) else ""

    def commit(self, name: str) -> str:
        """Return the name of a commit, "" for none."""
        found = self.text(name)
        return found if _COMMIT.fullmatch(found) else ""

    def number(self, name: str) -> int | None:
        """Return a positive number, None for none."""
        found = self.fields.get(name)
        return found if type(found) is int and found > 0 else None


def read_event(environ: Mapping[str, str]) -> Event:
    """Read the event of this job; its name is "" where there is no forge."""
    name = environ.get("GITHUB_EVENT_NAME", "")
    payload = _read_payload(environ.get("GITHUB_EVENT_PATH", ""))
    repository = environ.get("GITHUB_REPOSITORY", "")
    run = environ.get("GITHUB_RUN_ID", "")
    server = environ.get("GITHUB_SERVER_URL", "").rstrip("/")
    is_known = bool(_REPOSITORY.fullmatch(repository))
    commit = JsonObject(environ).commit("GITHUB_SHA")
    head, base, branch, number, is_fork = _change(name, payload)
    # These two events run on the branch that a change is for, whatever their payload names.
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
        # A schedule runs only on the default branch, and its payload may lack that name.
        default_branch=here if name == "schedule" and not default else default,
        pull_request=number,
        is_fork=is_fork,
        is_bot=environ.get("GITHUB_ACTOR", "").endswith(_BOT),
        run=int(run) if re.fullmatch(r"[0-9]{1,18}", run) else 0,
        run_url=f"{server}/{repository}/actions/runs/{run}" if server and is_known and run else "",
    )


def _change(name: str, payload: JsonObject) -> tuple[str, str, str, int | None, bool]:
    """Return head, base, base branch, number, and whether the change comes from a fork."""
    match name:
        case "pull_request" | "pull_request_target":
            pull = payload.part("pull_request")
            head, base = pull.part("head"), pull.part("base")
            # The head repository is missing where the fork was deleted; the change is still
            # foreign.
            is_fork = _name_of(head.part("repo")) != _name_of(base.part("repo"))
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
            is_fork = _name_of(there) != _name_of(here)
            return run.commit("head_sha"), "", "", None, is_fork
        case "push":
            return payload.commit("after"), "", "", None, False
        case _:
            return "", "", "", None, False


def _name_of(repository: JsonObject) -> str | int | None:
    return repository.text("full_name") or repository.number("id")


def _read_payload(file: str) -> JsonObject:
    try:
        return JsonObject.of(json.loads(regular_files.read(Path(file), LARGEST_PAYLOAD)))
    except (OSError, ValueError, RecursionError):
        return JsonObject()
