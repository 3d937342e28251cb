"""The newest commit of the remote's default branch: its settings bind, on a laptop too.

A branch could lower the number of approvals, add approvers, or remove the settings. So the project
file and the list of approvers are read from git's objects, never from the checkout. Where git or
its objects cannot be read, nothing is planned or written. The settings of the checkout are used
only if the remote gives no answer and the clone never fetched the default branch.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from reconciler.errors import GuardRefused, InvalidInput
from reconciler.features.approvals.approval_settings import count_of, is_bound
from reconciler.operations.open_project import Options
from reconciler.project import BASE_URL, Project, ProjectFile, with_settings_of
from reconciler.report.safe import safe
from reconciler.runtime.git import NOTHING_OF_ITS_OWN, Git, GitFailed
from reconciler.syntax.files import LARGEST_FILE, PROJECT_FILE
from reconciler.workspace.project_file import load_project

_TRACKED = ("HEAD", "main", "master")
_REGULAR = ("100644", "100755")


class UnknownBranch(Exception):
    """The newest commit of the default branch cannot be read; the text is why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewestCommit:
    """The newest commit of the default branch, and the settings of its project file."""

    git: Git
    commit: str
    project: Project
    settings: ProjectFile

    def text(self, name: str) -> str:
        """Return the text of a file below the project's folder. Raises UnknownBranch."""
        return _text_at(self.git, self.commit, _path_in_repository(self.project, name))


def newest_commit(project: Project) -> NewestCommit:
    """Ask the remote for the newest commit of its default branch, and read the project file there.

    Raises UnknownBranch, and InvalidInput for an invalid project file.
    """
    git = _git_of(project)
    try:
        remotes = git.text("remote").split()
    except GitFailed as error:
        raise UnknownBranch(f"the project is in no git repository ({error})") from error
    remote = "origin" if "origin" in remotes else next(iter(remotes), "")
    if not remote or ("origin" not in remotes and len(remotes) > 1):
        raise UnknownBranch("the repository has no remote `origin`")
    try:
        listed = git.text("ls-remote", "--symref", "--", remote, "HEAD").splitlines()
        branch, commit = _head_of(listed)
        if not _has(git, commit):
            git.run(
                "fetch", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules",
                "--", remote, branch,
            )  # fmt: skip
        if not _has(git, commit):
            raise UnknownBranch(f"`{remote}` does not hand out commit {commit}")
    except GitFailed as error:
        raise UnknownBranch(f"the remote `{remote}` cannot be asked: {error}") from error
    settings = _settings_in(_project_file_at(git, commit, project))
    return NewestCommit(git=git, commit=commit, project=project, settings=settings)


# A mirror also has the remote's refs/replace, which anyone who may push can write.
_AS_STORED = {"GIT_OPTIONAL_LOCKS": "0", "GIT_NO_REPLACE_OBJECTS": "1"}


def _git_of(project: Project) -> Git:
    return Git(_top_of(project), os.environ, NOTHING_OF_ITS_OWN, fixed=_AS_STORED)


def _top_of(project: Project) -> Path:
    """Return the folder of the repository of a project.

    If a branch put the files of a repository into a folder below it, git would use that repository.
    """
    folders = (project.root, *project.root.parents)
    return next((folder for folder in folders if (folder / ".git").exists()), project.root)


def _path_in_repository(project: Project, name: str) -> str:
    return (project.root.relative_to(_top_of(project)) / name).as_posix()


def _names_of(project: Project) -> list[str]:
    """Return the names that the project file may have on the default branch, its own first.

    A branch could bring another file next to it, without the settings that bind.
    """
    own = project.file.name if project.file is not None else PROJECT_FILE
    return list(dict.fromkeys((own, PROJECT_FILE)))


def _project_file_at(git: Git, commit: str, project: Project) -> str:
    flaws: list[str] = []
    for name in _names_of(project):
        try:
            return _text_at(git, commit, _path_in_repository(project, name))
        except UnknownBranch as error:
            flaws.append(str(error))
    raise UnknownBranch("; ".join(flaws))


def _head_of(listed: list[str]) -> tuple[str, str]:
    """Return the branch and the commit of a remote's HEAD. Raises UnknownBranch without one."""
    rows = [line.split("\t") for line in listed if line.endswith("\tHEAD")]
    branches = [row[0].removeprefix("ref: ") for row in rows if row[0].startswith("ref: ")]
    commits = [row[0] for row in rows if not row[0].startswith("ref: ")]
    if not branches or not commits:
        raise UnknownBranch("the remote names no default branch")
    return branches[0], commits[0]


def _has(git: Git, commit: str) -> bool:
    try:
        git.run("cat-file", "-e", f"{commit}^{{commit}}")
    except GitFailed:
        return False
    return True


def _text_at(git: Git, commit: str, name: str) -> str:
    """Return the text of a regular file of a commit, by its path. Raises UnknownBranch."""
    try:
        listed = git.text("ls-tree", "--long", commit, "--", f"./{name}")
        mode, _, blob, size = listed.partition("\t")[0].split()
        if mode not in _REGULAR or not size.isdigit() or int(size) > LARGEST_FILE:
            raise UnknownBranch(f"`{name}` on the default branch is no regular file")
        return git.run("cat-file", "blob", blob).decode()
    except (GitFailed, ValueError) as error:
        raise UnknownBranch(f"the default branch has no readable `{name}`") from error


def _settings_in(text: str) -> ProjectFile:
    """Return the settings of a project file. Raises InvalidInput for an invalid one.

    What a setting says about other files is not checked: they are on the default branch as well.
    """
    with tempfile.TemporaryDirectory(prefix="reconciler-") as folder:
        file = Path(folder) / PROJECT_FILE
        file.write_text(text, encoding="utf-8")
        project, complaints = load_project(file)
    if project is None:
        why = complaints[0].message
        raise InvalidInput(
            "approvals are settings of the default branch, and its project file is not valid: "
            f"{safe(why)}: correct it there, or use the version of reconciler that it is for"
        )
    return project.settings


def reviewed_project(options: Options, project: Project) -> Project:
    """Return the project with the settings of the default branch, if they need approvals.

    The remote is asked if this checkout or the last fetched default branch needs approvals, or if
    the default branch was never fetched. If it gives no answer, the last fetched settings are used
    if they need approvals, else those of the checkout. An apply that needs approvals then fails.
    Raises GuardRefused where git cannot read a checkout, and InvalidInput where the settings of the
    default branch are invalid.
    """
    own, fetched = project.settings, _fetched(project)
    known = fetched if isinstance(fetched, ProjectFile) else None
    if fetched is not None and not any(map(_binds, filter(None, (own, known)))):
        return project
    try:
        base = newest_commit(project).settings
    except UnknownBranch:
        base = known if known is not None and _binds(known) else own
    if not _binds(base):
        return project
    settings = _bound_by_address(with_settings_of(base, own))
    if settings.model_dump() != own.model_dump() and not options.quiet:
        options.reporter.say(
            "an environment needs approvals, so all settings but `manifests:` and `variables:` are "
            "those of the default branch's newest commit"
        )
    unmerged = frozenset(
        name
        for name, mine in own.environments.items()
        if mine.model_dump() != settings.environments[name].model_dump()
    )
    return replace(project, settings=settings, unmerged=unmerged)


def _binds(settings: ProjectFile) -> bool:
    return any(map(is_bound, settings.environments.values()))


def _bound_by_address(settings: ProjectFile) -> ProjectFile:
    """Return settings in which no environment without a target can be used to avoid the approvals.

    `RECONCILER_BASE_URL` can give such an environment the target of one that needs approvals.
    """
    if not os.environ.get(BASE_URL):
        return settings
    strictest = max(settings.environments.values(), key=count_of)
    binding = {name: getattr(strictest, name) for name in ("approvals", "approvers")}
    environments = {
        name: environment
        if is_bound(environment) or environment.base_url or environment.emulator
        else environment.model_copy(update=binding)
        for name, environment in settings.environments.items()
    }
    return settings.model_copy(update={"environments": environments})


def _fetched(project: Project) -> ProjectFile | Literal["unbound"] | None:
    """Return the settings of the default branch as last fetched; None where it never was.

    "unbound" means settings without the word `approvals`, or a folder that is no checkout. Raises
    as `reviewed_project` does.
    """
    names = [_path_in_repository(project, name) for name in _names_of(project)]
    wanted = [f"refs/remotes/origin/{branch}:./{name}" for branch in _TRACKED for name in names]
    git = _git_of(project)
    # A container often runs as another user; reading objects runs no program of the repository.
    git = replace(git, options=(*git.options, "-c", "safe.directory=*"))
    try:
        answer = git.run("cat-file", "--batch", given="\n".join(wanted).encode())
    except GitFailed as error:
        if (git.folder / ".git").exists():
            raise GuardRefused(
                f"git cannot read the repository in {git.folder}, so it is unknown whether its "
                f"default branch needs approvals: {safe(str(error))}: let `git status` work there"
            ) from error
        return "unbound"
    blobs = [*_blobs(answer)]
    for text in blobs:
        # Most projects need no approvals, and reading YAML takes longer than this.
        if b"approvals" in text:
            return _settings_in(text.decode("utf-8", "replace"))
    return "unbound" if blobs else None


def _blobs(answer: bytes) -> Iterator[bytes]:
    """Yield the content of the objects in the answer of `cat-file --batch`."""
    while answer:
        head, _, answer = answer.partition(b"\n")
        size = head.split()[-1]
        if head.split()[1:2] == [b"blob"] and size.isdigit():
            yield answer[: int(size)]
            answer = answer[int(size) + 1 :]
