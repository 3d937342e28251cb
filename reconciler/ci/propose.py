"""Edits of manifests as one pull request: a branch of ours with one commit, kept up to date.

The commit is made from git objects only: the checkout stays as it is, and nothing that the
repository configures is run, except its connection to the server. The journal is not touched, as
nothing is merged yet. The apply after the merge finds live as declared, and journals that. Source:
docs/ci.md.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from reconciler.ci.conversation import Conversation
from reconciler.ci.forge.forge_client import ForgeError
from reconciler.ci.forge.pull_requests import PullRequest, root_of
from reconciler.ci.runner import Inputs
from reconciler.cli.console import data, words
from reconciler.errors import InvalidInput
from reconciler.operations.added_by_features import ProposedEdits, TextEdit
from reconciler.operations.open_session import Session
from reconciler.report.safe import safe
from reconciler.runtime.connection import is_part
from reconciler.runtime.git import NOTHING_OF_ITS_OWN, Git, GitFailed
from reconciler.syntax.files import folder_in_repository

AUTHOR = "reconciler"
ADDRESS = "reconciler@noreply.invalid"
"""Committer of the commits that may be overwritten on the branch; those of a person never are."""

_MARK = "\N{ZERO WIDTH NO-BREAK SPACE}".encode()
_FILE_MODES = (b"100644", b"100755")


def propose(
    made: ProposedEdits, name: str, session: Session, talk: Conversation
) -> PullRequest | None:
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
    except (GitFailed, ForgeError) as error:
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
    place = "" if inputs.path == "." else f"-{root_of(inputs.path)}"
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


def _stored(git: Git, file: TextEdit, blob: str) -> str:
    """Store an edited file, and return its object. Raises GitFailed unless it was as committed."""
    before = git.run("cat-file", "blob", blob)
    mark = _MARK if before.startswith(_MARK) else b""
    if before != mark + file.before.encode():
        raise GitFailed(f"{file.name} is not as it is committed")
    stored = git.run("hash-object", "-w", "--stdin", given=mark + file.after.encode())
    return stored.decode().strip()
