"""Whom a run may believe: the change under review is data, and never says where a key goes.

Source: pr-experience.md, part 5.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from reconciler.commands.ci.inputs import Inputs
from reconciler.errors import GuardRefused
from reconciler.forge.event import Event
from reconciler.manifests.project_file import load_project
from reconciler.project import Environment, Project
from reconciler.project.base_url import shown_url
from reconciler.project.journal_place import InObjects, parse_journal_place

GIT_SECONDS = 30

_SAY_SERVICE = (
    "say in the workflow which service the key may go to with `base-url`, or check out with "
    "`fetch-depth: 0`"
)
_SAY_BUCKET = (
    "check out with `fetch-depth: 0`, as the journal's bucket has to be the one that it names"
)
LARGEST_PROJECT_FILE = 8 << 20

# The runner's own variables are none of a manifest's business: `${secret:NAME}` reads them all.
_RUNNER_OWN = ("INPUT_", "ACTIONS_", "GITHUB_", "RUNNER_")
# What is public anyway, and tells the journal who applied what.
_FACTS = frozenset(
    (
        *("GITHUB_ACTIONS", "GITHUB_ACTOR", "GITHUB_SHA", "GITHUB_REF", "GITHUB_REPOSITORY"),
        *("GITHUB_RUN_ID", "GITHUB_SERVER_URL", "GITHUB_WORKFLOW"),
    )
)


@contextmanager
def without_runner(environ: MutableMapping[str, str], instead: Mapping[str, str]) -> Iterator[None]:
    """Take the runner's own variables, tokens among them, from the process for a while."""
    before = dict(environ)
    for name in before:
        if name.startswith(_RUNNER_OWN) and name not in _FACTS:
            del environ[name]
    environ.update(instead)
    try:
        yield
    finally:
        for name in set(environ) - set(before):
            del environ[name]
        environ.update(before)


def refuse_foreign_checkout(event: Event, inputs: Inputs, folder: Path) -> None:
    """Refuse an event that brings secrets together with a stranger's change (exit 11).

    What was checked out by itself is the base branch, and that is fine.
    """
    if event.name != "pull_request_target" or inputs.allow_untrusted:
        return
    here = _git(folder, "rev-parse", "HEAD").decode("ascii", "replace").strip()
    if here and here == event.commit:
        return
    raise GuardRefused(
        "on pull_request_target secrets would meet the manifests of a change that anyone can "
        "open: use pull_request, or say `allow-untrusted-manifests: true` if that is meant"
    )


def refuse_elsewhere(
    event: Event, inputs: Inputs, project: Project, name: str, environment: Environment
) -> None:
    """Refuse to talk to a service or a bucket that only the change itself names (exit 11).

    The service must be that of `base-url`, or without it that of the project
    file on the base branch, and the bucket of the journal always that one; no
    key was read yet.
    """
    own = (environment.base_url or "").rstrip("/")
    if own and inputs.base_url and own != inputs.base_url:
        raise GuardRefused(
            f"environment `{name}` leads to {shown_url(own)}, and this job may only talk to "
            f"{shown_url(inputs.base_url)} (`base-url`)"
        )
    if event.is_trusted:
        return
    if own and not inputs.base_url:
        _refuse_other_service(name, own, _reviewed(event, project, name, _SAY_SERVICE))
    bucket = _bucket(environment)
    # Outside of the forge nothing tells what was reviewed, so the job itself is believed.
    if bucket and event.name:
        _refuse_other_bucket(name, bucket, _reviewed(event, project, name, _SAY_BUCKET))


def _refuse_other_service(name: str, own: str, reviewed: Environment) -> None:
    before = (reviewed.base_url or "").rstrip("/")
    if own != before:
        was = f"leads to {shown_url(before)}" if before else "leads nowhere"
        raise GuardRefused(
            f"environment `{name}` leads to {shown_url(own)} here, and on the base branch it "
            f"{was}: merge a new `baseUrl` first, or say it in the workflow with `base-url`"
        )


def _refuse_other_bucket(name: str, own: str, reviewed: Environment) -> None:
    """Refuse a bucket of the change's own: it would be read with the credentials of this job.

    A journal in a file or a git ref is no more than the change can write by itself.
    """
    before = _bucket(reviewed)
    if own != before:
        raise GuardRefused(
            f"environment `{name}` keeps its journal at {own} here, and on the base branch "
            f"{f'at {before}' if before else 'in no bucket'}: merge a new `journal` first"
        )


def _bucket(environment: Environment) -> str:
    """Give the address of the bucket that keeps the journal, "" for any other place."""
    place = parse_journal_place(environment.journal) if environment.journal else None
    return place.url if isinstance(place, InObjects) else ""


def _reviewed(event: Event, project: Project, name: str, way_out: str) -> Environment:
    """Give the environment as it is on the base branch, an empty one where it is not there.

    Raises GuardRefused with the way out where that branch cannot be read.
    """
    folder = project.root
    if not event.name:
        raise GuardRefused(
            "outside of the forge nothing tells the base branch, so the workflow itself has to "
            "say which service the key may go to: set RECONCILER_BASE_URL"
        )
    commit = event.base or _default_branch(event, folder)
    file = project.file
    top = _git(folder, "rev-parse", "--show-toplevel").decode("utf-8", "surrogateescape").strip()
    if not commit or not top or not _git(folder, "cat-file", "-t", commit) or file is None:
        raise GuardRefused(
            f"the base branch's project file cannot be read from this checkout: {way_out}"
        )
    inside = os.path.relpath(file.resolve(), Path(top).resolve())
    settings = _project_at(folder, f"{commit}:{inside}")
    found = settings.settings.environments.get(name) if settings is not None else None
    return found if found is not None else Environment()


def _default_branch(event: Event, folder: Path) -> str:
    ref = f"refs/remotes/origin/{event.default_branch}"
    found = _git(folder, "rev-parse", "--verify", f"{ref}^{{commit}}")
    return found.decode("ascii", "replace").strip()


def _project_at(folder: Path, blob: str) -> Project | None:
    """Read a project file of a commit; the tree is not touched, and no filter runs."""
    text = _git(folder, "cat-file", "blob", blob)
    if not text or len(text) > LARGEST_PROJECT_FILE:
        return None
    with TemporaryDirectory() as place:
        file = Path(place) / "reconciler.yaml"
        file.write_bytes(text)
        return load_project(file)[0]


def _git(folder: Path, *arguments: str) -> bytes:
    """Ask git, which only reads here; b"" where it has no answer."""
    # The owner of a container's checkout is often another.
    command = ["git", "-c", "safe.directory=*", "-C", str(folder), *arguments]
    try:
        ran = subprocess.run(  # noqa: S603 - fixed words, and commits of known form
            command, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=GIT_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired):
        return b""
    return ran.stdout if ran.returncode == 0 else b""
