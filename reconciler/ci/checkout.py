"""Checkout of a job: its commit, whether files are as committed, and so what may be used."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

from reconciler.ci.commits import (
    LINK,
    SUBMODULE,
    Commits,
    TreeEntry,
    Unreadable,
    is_link,
    is_regular,
    name_of,
    repositories_around,
)
from reconciler.ci.forge.event import Event
from reconciler.ci.runner import Inputs
from reconciler.ci.trust import (
    BaseFile,
    BaseProject,
    Checkout,
    MissingProject,
    ProjectTrust,
    Settings,
    UnavailableProject,
    journal_file,
    may_use,
)
from reconciler.errors import InvalidInput
from reconciler.project import Project, Shard, in_shard
from reconciler.project.settings import parse_journal_place
from reconciler.syntax.files import LARGEST_FILE, PROJECT_FILE
from reconciler.workspace.project_file import load_project

FETCH_ALL = "check out with `fetch-depth: 0`"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectLocation:
    """Location of a project: the repository of the job, and the file's path inside it.

    `nested` says why its files belong to another repository or branch, "" if they do not.
    """

    commits: Commits
    path: PurePosixPath
    nested: str = ""

    @property
    def folder(self) -> PurePosixPath:
        """Return the folder of the project file."""
        return self.path.parent


def place_of(project: Project) -> ProjectLocation | None:
    """Return the location of a project file, None outside of any repository.

    The repository of a job is the outermost repository in its workspace: a change can add others
    inside it. Raises InvalidInput where a link leads to the file: on the base branch the same path
    may lead elsewhere.
    """
    file = project.file or project.root / PROJECT_FILE
    refuse_links(file)
    whole = _whole(file)
    workspace = _workspace_of(whole.parent)
    around = repositories_around(whole.parent)
    # Repositories above the workspace of the runner are not the job's.
    tops = [top for top in around if workspace is None or top.is_relative_to(workspace)]
    if not tops:
        return None
    nearest, top = tops[0], tops[-1]
    nested = ""
    if nearest != top:
        nested = (
            f"the project file is in `{nearest.relative_to(top)}`, a repository inside of another"
        )
    elif is_link(top / ".git") or not (top / ".git").is_dir():
        nested = "the checkout is a linked work tree"
    return ProjectLocation(
        commits=Commits(top=top, environ=os.environ),
        path=PurePosixPath(whole.relative_to(top).as_posix()),
        nested=nested,
    )


def refuse_links(path: Path) -> None:
    """Raise InvalidInput (exit 4) where a link inside the job's workspace redirects a path."""
    whole = _whole(path)
    # A repository that a link leads to is not the job's.
    tops = [repository for repository in repositories_around(whole) if not is_link(repository)]
    top = _workspace_of(whole) or (tops[-1] if tops else Path.cwd())
    if not whole.is_relative_to(top):
        return
    for parent in (whole, *whole.parents):
        if parent == top:
            return
        if is_link(parent):
            raise InvalidInput(
                f"{parent.relative_to(top)} is a link: under `ci` no link is followed, so that a "
                "path means the same in a change and on its base branch"
            )


def _whole(path: Path) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow links


def _workspace_of(path: Path) -> Path | None:
    """Return the job's workspace that a path is in, as the path spells it; None if in none."""
    workspace = os.environ.get("GITHUB_WORKSPACE", "")
    for place in (workspace, os.path.realpath(workspace)) if workspace else ():
        if path.is_relative_to(place):
            return Path(place)
    return None


def use_of(event: Event, inputs: Inputs, project: Project, read: Sequence[Path]) -> ProjectTrust:
    """Return what a job may use of a project after reading these files.

    Raises InvalidInput where a link leads to the project file.
    """
    settings = Settings(
        own=project,
        base=UnavailableProject(why="the base branch is unknown"),
        allow_untrusted=inputs.allow_untrusted,
    )
    place = place_of(project) if event.name else None
    if place is None:
        return may_use(event, Checkout(), settings)
    tips = tips_of(event, place)
    files = [*read, *([project.file] if project.file is not None else [])]
    checkout = examine(event, place, tips, files, _written(project, place, inputs.shard))
    # The project file of the newest known commit of the default branch decides.
    base = base_file_at(next(filter(place.commits.has, tips), ""), place)
    trusted = tuple(base.settings.trusted_branches) if isinstance(base, BaseProject) else ()
    is_known = event.is_on_default or event.named_branch in trusted
    known = event.named_commit if is_known and place.commits.has(event.named_commit) else ""
    settings = replace(settings, base=base, base_commit=known, trusted_branches=trusted)
    return may_use(event, checkout, settings)


def _written(project: Project, place: ProjectLocation, shard: Shard | None) -> Iterator[Path]:
    """Yield the files that runs write below the project's folder."""
    folder = place.commits.top / place.folder
    for name, environment in project.settings.environments.items():
        setting = in_shard(environment, shard).journal or f".reconciler/{name}.journal.jsonl"
        if journal := journal_file(parse_journal_place(setting)):
            yield folder / journal
            yield folder / f"{journal}.lock"
        if environment.emulator is not None:
            yield folder / environment.emulator.data


def examine(
    event: Event,
    place: ProjectLocation,
    tips: Iterable[str],
    files: Iterable[Path],
    written: Iterable[Path] = (),
) -> Checkout:
    """Examine the checkout; `tips` are commits of the default branch, `files` are read.

    Files are compared only where the commit itself could be trusted. Files that earlier runs have
    `written`, such as journals, may be committed and differ.
    """
    commits = place.commits
    head = commits.head()
    contained = any(commits.contains(tip, head) for tip in tips)
    unknown = "this checkout is shallow" if not contained and commits.is_shallow else ""
    if place.nested or not head or not (contained or head == event.commit):
        return Checkout(commit=head, unknown=unknown, nested=place.nested)
    try:
        differs = _difference(place, head, files, frozenset(map(os.path.abspath, written)))
    except Unreadable as error:
        differs = str(error)
    return Checkout(commit=head, is_contained=contained, unknown=unknown, differs=differs)


def tips_of(event: Event, place: ProjectLocation) -> list[str]:
    """Return the known last commits of the default branch, newest first.

    The forge names one with most events; a repeated job has an older one. The fetched commit counts
    too, unless `origin` is another repository, or a repository is nested in another: a change may
    have added one of the two.
    """
    commits = place.commits
    named = [event.named_commit] if event.is_on_default and event.named_commit else []
    fetched = commits.fetched(event.default_branch)
    if not fetched or place.nested or not _is_of(commits.origin(), event.repository):
        return named
    if named and named[0] != fetched and not commits.contains(fetched, named[0]):
        return [*named, fetched]
    return list(dict.fromkeys((fetched, *named)))


def base_file_at(commit: str, place: ProjectLocation) -> BaseFile:
    """Return the project file of a commit; it must be a regular file at the same place."""
    commits = place.commits
    if not commit or not commits.has(commit):
        return UnavailableProject(
            why=f"the base branch's project file is not in this checkout: {FETCH_ALL}"
        )
    try:
        found = commits.entry(commit, place.path)
        if found is None:
            return MissingProject(commit=commit, other=_others(commits, commit, place))
        if not is_regular(found):
            return UnavailableProject(why=f"{place.path} is no regular file on the base branch")
        text = commits.content(found)
    except Unreadable as error:
        return UnavailableProject(
            why=f"the base branch's project file cannot be read ({error}): {FETCH_ALL}"
        )
    with TemporaryDirectory() as folder:
        file = Path(folder) / PROJECT_FILE
        file.write_bytes(text[: LARGEST_FILE + 1])
        project, complaints = load_project(file)
    if project is None:
        complaint = complaints[0].message
        return UnavailableProject(
            why=f"the base branch's project file is not valid: {complaint}; merge its repair first"
        )
    return BaseProject(commit=commit, settings=project.settings)


def _others(commits: Commits, commit: str, place: ProjectLocation) -> str:
    """Return the project file that the base branch has in a parent folder, "" for none."""
    for folder in (place.folder, *place.folder.parents):
        if commits.entry(commit, folder / PROJECT_FILE) is not None:
            return str(folder / PROJECT_FILE)
    return ""


def is_brought(place: ProjectLocation, head: str, base: str, file: Path) -> bool:
    """Return whether a file outside the manifests is of the change, not of the base branch."""
    inside = _inside(file, place.commits.top)
    if inside is None or not file.exists():
        return False
    try:
        own = place.commits.entry(head, inside)
        return own is not None and not _is_same(file, place.commits.entry(base, inside))
    except Unreadable:
        return True


def _difference(
    place: ProjectLocation, commit: str, files: Iterable[Path], written: frozenset[str]
) -> str:
    """Return the first file that is not as committed, "" for none. Raises Unreadable."""
    commits = place.commits
    tracked: set[str] = set()
    for path, entry in _tracked(commits, commit, place.folder):
        if str(path) in written:
            continue
        if not _is_same(path, entry):
            return _named(path, commits.top)
        tracked.add(os.path.realpath(path))
    # Files that were read are compared in any case, even if runs write them.
    for file in sorted(files):
        real = os.path.realpath(file)
        if real in tracked:
            continue
        inside = _inside(Path(real), commits.top)
        if inside is None or not _is_same(Path(real), commits.entry(commit, inside)):
            return _named(file, commits.top)
    return ""


def _tracked(
    commits: Commits, commit: str, below: PurePosixPath
) -> Iterator[tuple[Path, TreeEntry]]:
    """Yield every file of a commit below a folder, with its place in the checkout."""
    for entry in commits.entries(commit, below):
        path = commits.top / entry.path
        if entry.mode != SUBMODULE:
            yield path, entry
        elif path.is_dir() and any(path.iterdir()):
            yield from _tracked(
                Commits(top=path, environ=commits.environ), entry.name, PurePosixPath()
            )


def _is_same(path: Path, entry: TreeEntry | None) -> bool:
    """Return whether a file is as committed; line ends may be those of another system."""
    if entry is None:
        return False
    try:
        if is_link(path):
            target = os.fsencode(os.readlink(path))  # noqa: PTH115 - bytes, as git has them
            return entry.mode == LINK and _is_blob(target, entry)
        if not path.is_file():
            return False
        with path.open("rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            if name_of(b"blob", stream, size, entry.name) == entry.name:
                return True
        return size <= LARGEST_FILE and _is_blob(path.read_bytes().replace(b"\r\n", b"\n"), entry)
    except OSError:
        return False


def _is_blob(content: bytes, entry: TreeEntry) -> bool:
    return name_of(b"blob", BytesIO(content), len(content), entry.name) == entry.name


def _inside(path: Path, top: Path) -> PurePosixPath | None:
    whole, around = os.path.realpath(path), os.path.realpath(top)
    if not Path(whole).is_relative_to(around):
        return None
    return PurePosixPath(Path(whole).relative_to(around).as_posix())


def _named(path: Path, top: Path) -> str:
    whole = _whole(path)
    return str(whole.relative_to(top)) if whole.is_relative_to(top) else str(whole)


def _is_of(origin: str, repository: str) -> bool:
    """Return whether an address is of the event's repository; true for one without a host."""
    parts = urlsplit(origin)
    # For example git@forge.example.com:team/shop.git
    host, colon, path = origin.partition(":") if not parts.scheme else ("", "", "")
    if parts.scheme and parts.scheme != "file":
        path = parts.path
    elif not colon or "/" in host:
        return True
    owner_and_name = path.strip("/").removesuffix(".git").split("/")[-2:]
    return "/".join(owner_and_name).lower() == repository.lower()
