"""Which resources differ from what an earlier revision declared, read from git as data."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from reconciler.document import canonical_text
from reconciler.errors import UsageError
from reconciler.git import GitStuck, ask
from reconciler.manifests.expressions import Scope
from reconciler.manifests.project_file import load_project
from reconciler.manifests.workspace import Workspace, load_workspace
from reconciler.project import Project
from reconciler.resource import Manifest, Ref
from reconciler.source.files import LARGEST_FILE, LARGEST_WORKSPACE, MOST_FILES, SUFFIXES

SHOWN_DIGITS = 12
_AT_ONCE = 500
_REGULAR = ("100644", "100755")


@dataclass(frozen=True, slots=True)
class Revision:
    """A commit of the repository at `top`; `asked` is how it was asked for."""

    top: Path
    commit: str
    asked: str

    def __str__(self) -> str:
        return f"{self.asked} ({self.commit[:SHOWN_DIGITS]})"


def branching_point(folder: Path, asked: str) -> Revision:
    """Give the last commit that a revision and what is checked out have in common.

    That is what people mean by "since main": what was done here, and not what
    main has got meanwhile. Raises UsageError where it cannot be told.
    """
    if not asked or asked.startswith("-"):
        raise UsageError(f"`{asked}` is not a revision")
    top = _said(folder, "rev-parse", "--show-toplevel")
    if not top:
        raise UsageError(f"--changed-since needs a git repository, and {folder} is in none")
    wanted = _said(folder, "rev-parse", "--verify", "--quiet", f"{asked}^{{commit}}")
    shallow = _said(folder, "rev-parse", "--is-shallow-repository") == "true"
    hint = ": this clone is shallow, so fetch the whole history first" if shallow else ""
    if not wanted:
        raise UsageError(f"there is no revision `{asked}` in this repository{hint}")
    common = _said(folder, "merge-base", wanted, "HEAD")
    if not common:
        raise UsageError(f"`{asked}` has no commit in common with what is checked out{hint}")
    return Revision(Path(top), common, asked)


def write_files(revision: Revision, target: Path) -> None:
    """Write what manifests may be made of, as the revision has it, below a folder.

    Raises UsageError where git cannot read them.
    """
    entries = list(_entries(revision))[:MOST_FILES]
    for start in range(0, len(entries), _AT_ONCE):
        some = entries[start : start + _AT_ONCE]
        wanted = "".join(f"{blob}\n" for blob, _ in some).encode()
        answer = _git(revision.top, "cat-file", "--batch", given=wanted)
        if answer is None:
            raise UsageError(f"the files of {revision} cannot be read from this repository")
        for (_, name), content in zip(some, _contents(answer), strict=True):
            file = target / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)


def _entries(revision: Revision) -> Iterator[tuple[str, PurePosixPath]]:
    """Yield object and path of each file that the reader of manifests would take."""
    listed = _git(revision.top, "ls-tree", "-r", "-z", "--long", "--full-tree", revision.commit)
    if listed is None:
        raise UsageError(f"the files of {revision} cannot be listed from this repository")
    total = 0
    for line in os.fsdecode(listed).split("\0")[:-1]:
        about, _, path = line.partition("\t")
        mode, _, blob, size = about.split()
        name = PurePosixPath(path)
        # A tree object can be made to hold any name; ours are below the target only.
        plain = not name.is_absolute() and ".." not in name.parts
        if mode in _REGULAR and plain and name.suffix in SUFFIXES and int(size) <= LARGEST_FILE:
            total += int(size)
            if total > LARGEST_WORKSPACE:
                return
            yield blob, name


def _contents(answer: bytes) -> Iterator[bytes]:
    """Yield the files of an answer: a line with the size, then so many bytes and a line break."""
    start = 0
    while start < len(answer):
        end = answer.index(b"\n", start)
        size = int(answer[start:end].split()[-1])
        yield answer[end + 1 : end + 1 + size]
        start = end + size + 2


def _said(folder: Path, *arguments: str) -> str:
    answer = _git(folder, *arguments)
    return "" if answer is None else os.fsdecode(answer).strip()


def _git(folder: Path, *arguments: str, given: bytes = b"") -> bytes | None:
    """Give what git prints; None where it says no.

    Raises UsageError where it cannot be run, or takes too long.
    """
    try:
        return ask(folder, os.environ, *arguments, given=given)
    except GitStuck as error:
        raise UsageError(f"--changed-since needs git: {error}") from error


@dataclass(frozen=True, slots=True)
class Changed:
    """A part of a workspace: what changed, what depends on that, and what all these refer to.

    `deleted` was declared in the revision and is declared no more.
    """

    since: Revision
    manifests: tuple[Manifest, ...]
    not_examined: int
    deleted: tuple[Ref, ...]


def changed_since(
    revision: Revision, workspace: Workspace, project: Project, scope: Scope, paths: Sequence[Path]
) -> Changed:
    """Compare a workspace, as it is in the working tree, with the same of a revision.

    `paths` are the arguments of the run, empty where the project file says what
    to read. Raises UsageError where the revision cannot be read.
    """
    with TemporaryDirectory(prefix="reconciler-") as folder:
        old = workspace_at(revision, Path(folder), project, scope, paths)
    before = {one.ref: one for one in old.manifests}
    now = {one.ref: one for one in workspace.manifests}
    touched = {ref for ref, one in now.items() if ref not in before or _differ(before[ref], one)}
    part = _with_dependants(touched, now)
    _add_all(part, lambda ref: now[ref].references & now.keys())
    known = now.keys() | set(workspace.elsewhere) | {one.ref for one in workspace.left_out}
    return Changed(
        revision,
        tuple(one for one in workspace.manifests if one.ref in part),
        len(now) - len(part),
        tuple(sorted(ref for ref in before if ref not in known)),
    )


def workspace_at(
    revision: Revision, folder: Path, project: Project, scope: Scope, paths: Sequence[Path]
) -> Workspace:
    """Read the workspace of a revision, with the project file and the variables of then.

    Its files are written into an empty folder. Raises UsageError where the
    revision cannot be read.
    """
    write_files(revision, folder)
    folder = folder.resolve()

    def then(path: Path) -> Path | None:
        real = path.resolve()
        inside = real.is_relative_to(revision.top)
        return folder / real.relative_to(revision.top) if inside else None

    root = then(project.root) or folder
    old = Project(root)
    file = then(project.file) if project.file is not None else None
    if file is not None and file.is_file():
        old = load_project(file)[0] or old
    environment = old.settings.environments.get(scope.environment)
    scope = replace(scope, variables=environment.variables if environment is not None else {})
    asked = [moved for path in paths if (moved := then(path)) is not None]
    if not paths:
        asked = [root / path for path in old.settings.manifests]
    found = [path for path in asked if path.exists()]
    return load_workspace(found, root, replace(scope, ruled=False), old.settings)


def _differ(before: Manifest, now: Manifest) -> bool:
    """Tell whether two manifests declare something else; where they stand does not matter."""
    around = replace(before, spec=now.spec, source=now.source) != now
    return around or canonical_text(before.spec) != canonical_text(now.spec)


def _with_dependants(touched: set[Ref], now: Mapping[Ref, Manifest]) -> set[Ref]:
    dependants: dict[Ref, list[Ref]] = {}
    for ref, one in now.items():
        for wanted in one.references:
            dependants.setdefault(wanted, []).append(ref)
    part = set(touched)
    _add_all(part, lambda ref: dependants.get(ref, ()))
    return part


def _add_all(part: set[Ref], beside: Callable[[Ref], Iterable[Ref]]) -> None:
    """Add what stands beside each member, and beside that, to the end."""
    waiting = list(part)
    while waiting:
        new = set(beside(waiting.pop())) - part
        part |= new
        waiting.extend(new)
