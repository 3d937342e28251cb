"""The actor and the commit of a run, for journals and locks."""

import getpass
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path

from reconciler.runtime.git import NOTHING_OF_ITS_OWN, Git, GitFailed
from reconciler.syntax.files import is_plan_file

ACTOR = "RECONCILER_ACTOR"
# Set by the runners of the common CI systems.
_ACTORS = ("GITHUB_ACTOR", "GITLAB_USER_LOGIN", "CIRCLE_USERNAME", "BUILDKITE_BUILD_CREATOR")
_COMMITS = ("GITHUB_SHA", "CI_COMMIT_SHA", "CIRCLE_SHA1", "BUILDKITE_COMMIT", "BITBUCKET_COMMIT")
_RUNS = ("GITHUB_RUN_ID", "CI_PIPELINE_ID", "CIRCLE_WORKFLOW_ID", "BUILDKITE_BUILD_NUMBER")
_DECLARING = (".yaml", ".yml", ".json")
_UNTRACKED = "?? "
_LIMIT = 10.0
_LONGEST = 200


def actor_of(environ: Mapping[str, str], folder: Path) -> str:
    """Return the actor of a run: from the environment, else from CI or git, else user@host."""
    for name in (ACTOR, *_ACTORS):
        if actor := environ.get(name, "").strip():
            return actor[:_LONGEST]
    for key in ("user.email", "user.name"):
        if actor := _asked(folder, environ, "config", "--get", key):
            return actor[:_LONGEST]
    return f"{_user()}@{socket.gethostname()}"[:_LONGEST]


def commit_of(environ: Mapping[str, str], folder: Path, paths: Sequence[Path]) -> str:
    """Return the commit that is applied; "" where there is none.

    Outside CI it ends in `-dirty` where a manifest below `paths` is not as committed. An
    uncommitted plan file next to the manifests does not count.
    """
    for name in _COMMITS:
        if commit_name := environ.get(name, "").strip():
            return commit_name[:_LONGEST]
    commit = _asked(folder, environ, "rev-parse", "--verify", "HEAD")
    if not commit:
        return ""
    listed = _asked(
        *(folder, environ, "--no-optional-locks", "status", "--porcelain", "-z"),
        *("--untracked-files=all", "--", *(str(path.absolute()) for path in paths)),
    )
    top = Path(_asked(folder, environ, "rev-parse", "--show-toplevel"))
    changed = any(_declares(line, top) for line in listed.split("\0"))
    return f"{commit}-dirty" if changed else commit


def _declares(line: str, top: Path) -> bool:
    """Return whether a line of `git status` is about a possible manifest."""
    name = line.removeprefix(_UNTRACKED)
    is_own = name != line and is_plan_file(top / name)
    return line.endswith(_DECLARING) and not is_own


def run_of(environ: Mapping[str, str]) -> str:
    """Return the CI system's id of the run; "" outside of CI."""
    ids = (environ.get(name, "").strip() for name in _RUNS)
    return next(filter(None, ids), "")[:_LONGEST]


def _asked(folder: Path, environ: Mapping[str, str], *arguments: str) -> str:
    """Return an answer of git, where the folder is in a repository; "" where git has none."""
    if not any((place / ".git").exists() for place in (folder, *folder.parents)):
        return ""
    try:
        return Git(folder, environ, NOTHING_OF_ITS_OWN, _LIMIT).text(*arguments)
    except GitFailed:
        return ""


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "unknown"
