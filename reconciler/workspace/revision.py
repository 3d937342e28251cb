"""Declarations of a revision: its files, read from git's objects as data, never checked out."""

from __future__ import annotations

import os
import posixpath
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from reconciler.document import canonical_text
from reconciler.errors import UsageError
from reconciler.model import Manifest, Ref
from reconciler.project import Project
from reconciler.runtime.git import GitStuck, ask
from reconciler.syntax.diagnostic import Complaint
from reconciler.syntax.files import (
    LARGEST_FILE,
    LARGEST_WORKSPACE,
    MOST_FILES,
    PROJECT_FILE,
    SUFFIXES,
)
from reconciler.workspace.expression_scope import LOST_REFERENCE, Scope
from reconciler.workspace.project_file import load_project
from reconciler.workspace.selection import reachable
from reconciler.workspace.workspace import Workspace, load_workspace

SHOWN_DIGITS = 12
_AT_ONCE = 500
_REGULAR = ("100644", "100755")
_LINK = "120000"
_SUBMODULE = "160000"


@dataclass(frozen=True, slots=True)
class Revision:
    """A commit of the repository at `top`; `asked` is the name that the user gave for it."""

    top: Path
    commit: str
    asked: str

    def __str__(self) -> str:
        return f"{self.asked} ({self.commit[:SHOWN_DIGITS]})"


def branching_point(folder: Path, asked: str, flag: str = "--changed-since") -> Revision:
    """Return the last common commit of a revision and the current checkout.

    That is what "since main" means: the changes made here, without the later changes of main.
    Raises UsageError if there is none; `flag` is the option to name in messages.
    """
    if not asked or asked.startswith("-"):
        raise UsageError(f"`{asked}` is not a revision")
    top = _said(folder, "rev-parse", "--show-toplevel")
    if not top:
        raise UsageError(f"{flag} needs a git repository, and {folder} is in none")
    wanted = _said(folder, "rev-parse", "--verify", "--quiet", f"{asked}^{{commit}}")
    shallow = _said(folder, "rev-parse", "--is-shallow-repository") == "true"
    hint = ": this clone is shallow, so fetch the whole history first" if shallow else ""
    if not wanted:
        raise UsageError(f"there is no revision `{asked}` in this repository{hint}")
    common = _said(folder, "merge-base", wanted, "HEAD")
    if not common:
        raise UsageError(f"`{asked}` has no commit in common with what is checked out{hint}")
    return Revision(Path(top), common, asked)


@dataclass(slots=True)
class Tree:
    """The files of a revision that may be manifests, by their paths from its top.

    `odd` says why the other paths cannot be read. The files of `submodules` are in no object of
    this repository.
    """

    blobs: dict[PurePosixPath, str] = field(default_factory=dict)
    odd: dict[PurePosixPath, str] = field(default_factory=dict)
    submodules: list[PurePosixPath] = field(default_factory=list)
    total: int = 0

    def add(self, mode: str, blob: str, size: str, name: PurePosixPath) -> None:
        """Add a regular file within the limits; record why another file is not added."""
        if mode == _SUBMODULE:
            self.submodules.append(name)
        elif name.suffix in SUFFIXES and not size.isdigit():
            self.odd[name] = "is not in this repository: fetch it first"
        elif name.suffix in SUFFIXES and mode in _REGULAR:
            self.total += int(size)
            if int(size) > LARGEST_FILE:
                self.odd[name] = f"is larger than {LARGEST_FILE >> 20} MB"
            elif self.total > LARGEST_WORKSPACE or len(self.blobs) >= MOST_FILES:
                self.odd[name] = "is one too many: the files are more than are read"
            else:
                self.blobs[name] = blob

    def follow(self, links: dict[PurePosixPath, str]) -> None:
        """Resolve links to files inside the tree; record the links that lead to none."""
        for name, target in links.items():
            place = PurePosixPath(posixpath.normpath(name.parent / target))
            if place in self.blobs and name not in self.blobs:
                self.blobs[name] = self.blobs[place]
            else:
                self.odd[name] = "is a link, and leads to no file of the revision that is read"


def write_files(revision: Revision, target: Path) -> Tree:
    """Write the files of a revision that may be manifests below a folder.

    Only regular files are made there. Raises UsageError if git cannot read them.
    """
    tree = _tree(revision)
    for name, content in _contents(revision, tree.blobs):
        file = target / name
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        except OSError as error:
            tree.odd[name] = f"cannot be kept: {error.strerror}"
    return tree


def _tree(revision: Revision) -> Tree:
    listed = _git(revision.top, "ls-tree", "-r", "-z", "--long", "--full-tree", revision.commit)
    if listed is None:
        raise UsageError(f"the files of {revision} cannot be listed from this repository")
    tree, links = Tree(), dict[PurePosixPath, str]()
    for line in os.fsdecode(listed).split("\0")[:-1]:
        fields, _, path = line.partition("\t")
        mode, _, blob, size = fields.split()
        name = PurePosixPath(path)
        # A tree object can have any name; files are written below the target only.
        if name.is_absolute() or ".." in name.parts:
            continue
        if mode == _LINK and name.suffix in SUFFIXES and len(links) < MOST_FILES:
            links[name] = blob
        tree.add(mode, blob, size, name)
    tree.follow({name: os.fsdecode(content) for name, content in _contents(revision, links)})
    return tree


def _contents(
    revision: Revision, blobs: Mapping[PurePosixPath, str]
) -> Iterator[tuple[PurePosixPath, bytes]]:
    """Yield the content of objects by name. Raises UsageError where git lacks one of them."""
    names = iter(blobs)
    while batch := [*islice(names, _AT_ONCE)]:
        wanted = "".join(f"{blobs[name]}\n" for name in batch).encode()
        answer = _git(revision.top, "cat-file", "--batch", given=wanted)
        if answer is None:
            raise UsageError(f"the files of {revision} cannot be read from this repository")
        start = 0
        # The answer has a line with the size, then that many bytes and a line break.
        for name in batch:
            end = answer.index(b"\n", start)
            size = answer[start:end].split()[-1]
            if not size.isdigit():
                raise UsageError(
                    f"the files of {revision} are not all in this repository: fetch them first"
                )
            yield name, answer[end + 1 : end + 1 + int(size)]
            start = end + int(size) + 2


def _said(folder: Path, *arguments: str) -> str:
    answer = _git(folder, *arguments)
    return "" if answer is None else os.fsdecode(answer).strip()


def _git(folder: Path, *arguments: str, given: bytes = b"") -> bytes | None:
    """Return the output of git, or None if it failed.

    Raises UsageError if git cannot be run, or takes too long.
    """
    try:
        return ask(folder, os.environ, *arguments, given=given)
    except GitStuck as error:
        raise UsageError(f"comparing with a revision needs git: {error}") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredRevision:
    """The declarations of a revision in one environment.

    Each line of `wrong` is a reason not to rely on them; `said` has further notes. Both contain
    untrusted text that is not escaped yet.
    """

    workspace: Workspace
    wrong: tuple[str, ...] = ()
    said: tuple[str, ...] = ()


def declared_at(
    revision: Revision, folder: Path, project: Project, scope: Scope, paths: Sequence[Path]
) -> DeclaredRevision:
    """Read the workspace of a revision, with its own project file and variables.

    Its files are written into an empty folder. Raises UsageError if the revision cannot be read.
    """
    tree = write_files(revision, folder)
    folder = folder.resolve()

    def then(path: Path) -> Path | None:
        real = path.resolve()
        inside = real.is_relative_to(revision.top)
        return folder / real.relative_to(revision.top) if inside else None

    root = then(project.root) or folder
    old, wrong = Project(root), list[str]()
    file = then(project.file or project.root / PROJECT_FILE)
    if file is not None and file.is_file():
        read, complaints = load_project(file)
        old = read or old
        errors = (complaint for complaint in complaints if complaint.is_error)
        wrong += map(_line_of, errors) if read is None else ()
    environment = old.settings.environments.get(scope.environment)
    variables = environment.variables if environment is not None else {}
    wanted = [moved for path in paths if (moved := then(path)) is not None]
    if not paths:
        wanted = [root / path for path in old.settings.manifests]
    found = [path for path in wanted if path.exists()]
    scope = replace(scope, variables=variables, ruled=False)
    workspace = load_workspace(found, root, scope, old.settings)
    inside = (path for path in wanted if path.is_relative_to(folder))
    places = [PurePosixPath(path.relative_to(folder)) for path in inside]
    wrong += [f"{name} {why}" for name, why in sorted(tree.odd.items()) if _is_below(name, places)]
    hidden = {
        submodule
        for submodule in tree.submodules
        if any(place.is_relative_to(submodule) for place in places)
    }
    wrong += [
        f"{submodule} is a submodule: git has its files elsewhere" for submodule in sorted(hidden)
    ]
    # With `paths`, only these are read, so a reference may have its target elsewhere.
    may_lack = LOST_REFERENCE if paths else ""
    wrong += [_line_of(error) for error in workspace.errors if error.code != may_lack]
    return DeclaredRevision(
        workspace=workspace,
        wrong=tuple(wrong),
        said=tuple(
            f"{submodule} is a submodule there, and what it declares is not compared"
            for submodule in tree.submodules
            if submodule not in hidden and _is_below(submodule, places)
        ),
    )


def _line_of(error: Complaint) -> str:
    return f"{error.file}:{error.line}:{error.column}: {error.code} {error.message}"


def _is_below(name: PurePosixPath, places: Sequence[PurePosixPath]) -> bool:
    return any(name.is_relative_to(place) for place in places)


@dataclass(frozen=True, slots=True)
class Changed:
    """Changed manifests, their dependents, and all resources that these refer to.

    `deleted` was declared in the revision and is no longer declared.
    """

    since: Revision
    manifests: tuple[Manifest, ...]
    not_examined: int
    deleted: tuple[Ref, ...]


def changed_since(
    revision: Revision, workspace: Workspace, project: Project, scope: Scope, paths: Sequence[Path]
) -> Changed:
    """Return what changed in a workspace since a revision.

    `paths` are the arguments of the run; without any, the project file says what to read. Raises
    UsageError where the revision cannot be read.
    """
    with TemporaryDirectory(prefix="reconciler-") as folder:
        old = declared_at(revision, Path(folder), project, scope, paths).workspace
    before = {manifest.ref: manifest for manifest in old.manifests}
    now = {manifest.ref: manifest for manifest in workspace.manifests}
    touched = {
        ref for ref, manifest in now.items() if ref not in before or _differ(before[ref], manifest)
    }
    part = _with_dependants(touched, now)
    part = reachable(part, lambda ref: now[ref].references & now.keys())
    known = (
        now.keys() | set(workspace.elsewhere) | {manifest.ref for manifest in workspace.left_out}
    )
    return Changed(
        revision,
        tuple(manifest for manifest in workspace.manifests if manifest.ref in part),
        len(now) - len(part),
        tuple(sorted(ref for ref in before if ref not in known)),
    )


def _differ(before: Manifest, now: Manifest) -> bool:
    """Return whether two manifests declare different things; their positions are ignored."""
    around = replace(before, spec=now.spec, source=now.source) != now
    return around or canonical_text(before.spec) != canonical_text(now.spec)


def _with_dependants(touched: set[Ref], now: Mapping[Ref, Manifest]) -> set[Ref]:
    dependants: dict[Ref, list[Ref]] = defaultdict(list)
    for ref, manifest in now.items():
        for wanted in manifest.references:
            dependants[wanted].append(ref)
    return reachable(touched, dependants.__getitem__)
