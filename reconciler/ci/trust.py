"""Trust of a checkout: one rule, from event, checkout and settings to what may be used.

| checked out | used from it | all else from |
|---|---|---|
| a commit of the default branch | files and the two of the fourth row | the newest commit |
| the event's commit on a branch in `trustedBranches:` | the same | the newest commit |
| anything else, on `pull_request_target` | nothing, without `allow-untrusted-manifests` | |
| anything else | manifests, `manifests:`, `variables:` | the newest commit |
| anything, outside of the forge | all, except paths outside the project | the checkout |

The first two rows need files that are as committed. The newest commit is that of the default
branch: only its project file decides where a key goes, what needs consent, and the sources of
secrets. A change under review is data: it decides none of these, nor where files are written.
`checkout.py` examines the checkout. The event is read from the runner's variables and its payload
file; outside of the forge there is neither. Source: docs/ci.md.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self, TypeAlias

from reconciler.document import Json
from reconciler.project import (
    Environment,
    Project,
    ProjectFile,
    with_settings_of,
)
from reconciler.project.project import shown_url
from reconciler.project.settings import parse_journal_place
from reconciler.runtime import regular_files
from reconciler.syntax.files import PROJECT_FILE

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
    def of(cls, document: object) -> Self:
        """Return a document as an object, an empty object for any other document."""
        return cls(document if isinstance(document, dict) else {})

    def part(self, *names: str) -> Self:
        """Return the object at a path."""
        here = self
        for name in names:
            here = self.of(here.fields.get(name))
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


SHOWN_DIGITS = 12
_OF_THE_CHANGE = ("manifests", "variables")


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkout:
    """State of a checkout. `commit` is "" where there is no repository.

    `is_contained` means that the default branch, as the remote has it, contains the commit;
    `unknown` is why that is uncertain. `differs` is a file that is not as committed, and that is
    read, or tracked below the project. `nested` is why the project file belongs to another commit.
    """

    commit: str = ""
    is_contained: bool = False
    unknown: str = ""
    differs: str = ""
    nested: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseProject:
    """The project file of the default branch's newest commit, and that commit.

    Without such a file, the settings are those of an empty file.
    """

    commit: str
    settings: ProjectFile


@dataclass(frozen=True, slots=True, kw_only=True)
class Barred:
    """Nothing may be used; `why` has the reason and the remedy."""

    why: str


BaseFile: TypeAlias = BaseProject | Barred
"""The settings that decide; `Barred` where those of the base branch are not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of the job and of the two branches.

    `trusted_branches` are those in the default branch's project file. `base_commit` is the commit
    of the branch that a change is for, "" for the commit of `base`.
    """

    own: Project
    base: BaseFile
    base_commit: str = ""
    trusted_branches: tuple[str, ...] = ()
    allow_untrusted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """A reviewed project. `anywhere` allows it absolute paths.

    `outdated` are settings where the checkout differs from the newest commit of the default branch,
    and that are not used.
    """

    project: Project
    anywhere: bool
    outdated: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OverBase:
    """The change's manifests and variables with the base branch's settings.

    `commit` is the commit that the change is compared with, and `postponed` are the other settings
    that the change edits.
    """

    project: Project
    commit: str
    why: str
    postponed: tuple[str, ...]


ProjectTrust: TypeAlias = Whole | OverBase | Barred


def _why_untrusted(event: Event, checkout: Checkout, trusted_branches: tuple[str, ...]) -> str:
    """Return why a checkout is not known to be reviewed, "" where it was. Trust is of a commit."""
    if not checkout.commit:
        return "git shows no commit of this checkout"
    if checkout.nested:
        return checkout.nested
    own = bool(event.commit) and checkout.commit == event.commit and not event.is_try
    reviewed = own and (event.is_on_default or event.named_branch in trusted_branches)
    if not reviewed and not checkout.is_contained:
        where = f"on `{event.named_branch}`, " if own and event.named_branch else ""
        known = f" as far as is known: {checkout.unknown}" if checkout.unknown else ""
        return f"commit {checkout.commit[:SHOWN_DIGITS]} is {where}not on the default branch{known}"
    if checkout.differs:
        return f"`{checkout.differs}` is not as commit {checkout.commit[:SHOWN_DIGITS]} has it"
    return ""


def may_use(event: Event, checkout: Checkout, settings: Settings) -> ProjectTrust:
    """Return what a run may use, by the rule of this module in its table."""
    own = settings.own
    if not event.name:
        return Whole(project=own, anywhere=False)
    untrusted = _why_untrusted(event, checkout, settings.trusted_branches)
    if untrusted and event.name == "pull_request_target" and not settings.allow_untrusted:
        return Barred(
            why="on pull_request_target secrets would meet the manifests of a change that "
            f"anyone can open ({untrusted}): use pull_request, or say "
            "`allow-untrusted-manifests: true` if that is meant"
        )
    base = settings.base
    if isinstance(base, Barred):
        why = untrusted or f"commit {checkout.commit[:SHOWN_DIGITS]} was reviewed"
        return Barred(why=f"{why}, and {base.why}")
    others = tuple(edits(own.settings, base.settings))
    # A change that removes the project file keeps its settings until the merge.
    file = own.file or own.root / PROJECT_FILE
    over = replace(own, file=file, settings=with_settings_of(base.settings, own.settings))
    if not untrusted:
        # Equal settings are used as written here, so that complaints name the lines of this file.
        return Whole(project=over if others else own, anywhere=True, outdated=others)
    commit = settings.base_commit or base.commit
    return OverBase(project=over, commit=commit, why=untrusted, postponed=others)


def edits(own: ProjectFile, base: ProjectFile) -> Iterator[str]:
    """Yield the dotted names of settings that a change edits and that are not used."""
    mine, theirs = (
        settings.model_dump(mode="json", by_alias=True, exclude_unset=True)
        for settings in (own, base)
    )
    yield from _edits(mine, theirs, ())


def _edits(own: Json, base: Json, path: tuple[str, ...]) -> Iterator[str]:
    if path and path[-1] in _OF_THE_CHANGE and len(path) in (1, 3):
        return
    here = own if own is not None or len(path) >= _NAMED_WHOLE else {}
    there = base if base is not None or len(path) >= _NAMED_WHOLE else {}
    if isinstance(here, dict) and isinstance(there, dict):
        for key in sorted(here.keys() | there.keys()):
            yield from _edits(here.get(key), there.get(key), (*path, key))
    elif own != base:
        yield ".".join(path)


_NAMED_WHOLE = len(("environments", "production", "baseUrl"))


def barred_target(
    event: Event, use: Whole | OverBase, name: str, environment: Environment, base_url: str
) -> str:
    """Return why a run may not use the target of its environment, "" where it may.

    `base_url` is the job's own, "" where it has none. Outside of the forge it is the only allowed
    target; on the forge it must equal the environment's, if it is set.
    """
    own = (environment.base_url or "").rstrip("/")
    if own and base_url and own != base_url:
        return (
            f"environment `{name}` leads to {shown_url(own)}, and this job may only talk to "
            f"{shown_url(base_url)} (`base-url`)"
        )
    if own and not base_url and not event.name:
        return (
            "outside of the forge the base branch is unknown, so the workflow itself has to "
            "say which service the key may go to: set RECONCILER_BASE_URL"
        )
    if isinstance(use, OverBase) and not (own or base_url or environment.emulator):
        return (
            f"on the base branch environment `{name}` leads nowhere: merge its `baseUrl` first, "
            "or say in the workflow which service the key may go to with `base-url`"
        )
    return ""


def barred_paths(use: Whole | OverBase, name: str, environment: Environment) -> str:
    """Return why files may not be kept where the environment says, "" where they may."""
    if not isinstance(use, Whole) or use.anywhere:
        return ""
    data = environment.emulator.data if environment.emulator is not None else ""
    setting = environment.journal
    journal = parse_journal_place(setting).file if setting else None
    for path in (data, str(journal or "")):
        if path.startswith("/"):
            return (
                f"environment `{name}` keeps {path} outside of the project, and outside of the "
                "forge it is unknown whether that was reviewed: keep it inside, in a git ref or "
                "in a bucket, or run the plain commands"
            )
    return ""
