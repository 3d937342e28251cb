"""What is checked out: of which commit, whether as committed, and so what may be used of it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

from reconciler.ci.commits import (
    LINK,
    SUBMODULE,
    Commits,
    Entry,
    Unreadable,
    is_link,
    is_regular,
    name_of,
    repository_around,
)
from reconciler.ci.runner import Inputs
from reconciler.ci.trust import (
    BaseFile,
    Checkout,
    Found,
    Lost,
    Missing,
    Settings,
    Use,
    may_use,
)
from reconciler.errors import InvalidInput
from reconciler.forge.event import Event
from reconciler.manifests.project_file import load_project
from reconciler.project import Project, Shard, in_shard
from reconciler.project.settings import InFile, parse_journal_place
from reconciler.source.files import LARGEST_FILE, PROJECT_FILE

FETCH_ALL = "check out with `fetch-depth: 0`"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a project stands: its repository, and the path of its file seen from there."""

    commits: Commits
    path: PurePosixPath

    @property
    def folder(self) -> PurePosixPath:
        """The folder of the project file."""
        return self.path.parent


def place_of(file: Path, environ: Mapping[str, str]) -> Place | None:
    """Give the place of a project file, None outside of any repository.

    Raises InvalidInput where a link leads there: on the base branch the same
    path may lead elsewhere.
    """
    whole = Path(os.path.abspath(file))  # noqa: PTH100 - resolve() would follow links
    top = repository_around(whole.parent)
    if top is None:
        return None
    refuse_links(whole, top)
    return Place(
        commits=Commits(top=top, environ=environ),
        path=PurePosixPath(whole.relative_to(top).as_posix()),
    )


def refuse_links(path: Path, top: Path | None = None) -> None:
    """Refuse a path that a link below its repository leads elsewhere (exit 4)."""
    whole = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow links
    top = top or repository_around(whole)
    if top is None:
        return
    for one in (whole, *whole.parents):
        if one == top:
            return
        if is_link(one):
            raise InvalidInput(
                f"{one.relative_to(top)} is a link: under `ci` paths are taken as they stand, so "
                "that they mean the same in a change and on its base branch"
            )


def use_of(event: Event, inputs: Inputs, project: Project, read: Sequence[Path]) -> Use:
    """Tell what a job may use of a project, of which these files were read.

    Raises InvalidInput where a link leads to the project file.
    """
    settings = Settings(
        own=project,
        base=Lost(why="nothing tells the base branch"),
        base_url=inputs.base_url,
        allow_untrusted=inputs.allow_untrusted,
    )
    if not event.name:
        return may_use(event, Checkout(), settings)
    file = project.file or project.root / PROJECT_FILE
    place = place_of(file, os.environ)
    if place is None:
        return may_use(event, Checkout(), settings)
    tips = tips_of(event, place.commits)
    files = [*read, *([project.file] if project.file is not None else [])]
    checkout = examine(event, place, tips, files, _written(project, place, inputs.shard))
    default = _newest(tips, place)
    trusted = tuple(default.settings.trusted_branches) if isinstance(default, Found) else ()
    return may_use(
        event,
        checkout,
        Settings(
            own=project,
            base=_base_file(event, place, default, trusted),
            trusted_branches=trusted,
            base_url=inputs.base_url,
            allow_untrusted=inputs.allow_untrusted,
        ),
    )


def _written(project: Project, place: Place, shard: Shard | None) -> Iterator[Path]:
    """Yield the files that runs of a project write below its folder."""
    folder = place.commits.top / place.folder
    for name, environment in project.settings.environments.items():
        kept = parse_journal_place(
            in_shard(environment, shard).journal or f".reconciler/{name}.journal.jsonl"
        )
        if isinstance(kept, InFile):
            yield folder / kept.path
            yield folder / f"{kept.path}.lock"
        if environment.emulator is not None:
            yield folder / environment.emulator.data


def _newest(tips: Sequence[str], place: Place) -> BaseFile:
    """Read the project file of the default branch, as new as it is known."""
    lost: BaseFile = base_file_at("", place)
    for tip in tips:
        found = base_file_at(tip, place)
        if not isinstance(found, Lost):
            return found
        lost = found
    return lost


def _base_file(
    event: Event, place: Place, default: BaseFile, trusted_branches: Sequence[str]
) -> BaseFile:
    """Give the project file of the branch that a change is for, if that is a trusted one."""
    if event.named_branch in trusted_branches and not event.is_on_default:
        return base_file_at(event.named_commit, place)
    return default


def examine(
    event: Event,
    place: Place,
    tips: Iterable[str],
    files: Iterable[Path],
    written: Iterable[Path] = (),
) -> Checkout:
    """Find out what is checked out; `tips` are commits of the default branch, `files` are read.

    Files are compared only where the commit itself could be trusted, and those that
    earlier runs have `written`, as journals, may be committed and differ.
    """
    commits = place.commits
    head = commits.head()
    contained = any(commits.contains(tip, head) for tip in tips)
    unknown = "this checkout is shallow" if not contained and commits.is_shallow else ""
    if not head or not (contained or head == event.commit):
        return Checkout(commit=head, unknown=unknown)
    try:
        differs = _difference(place, head, files, frozenset(map(os.path.abspath, written)))
    except Unreadable as error:
        differs = str(error)
    return Checkout(commit=head, is_contained=contained, unknown=unknown, differs=differs)


def tips_of(event: Event, commits: Commits) -> list[str]:
    """Give the commits that the default branch is known to have had as its last.

    The forge names one with most events. What was fetched counts too, unless
    `origin` is another repository, or somebody may have brought this one along.
    """
    named = [event.named_commit] if event.is_on_default else []
    fetched = commits.fetched(event.default_branch)
    if fetched and not commits.is_nested and _is_of(commits.origin(), event.repository):
        return [*named, fetched]
    return named


def base_file_at(commit: str, place: Place) -> BaseFile:
    """Read the project file of a commit, at the same place and a regular file there too."""
    commits = place.commits
    if not commit or not commits.has(commit):
        return Lost(why=f"the base branch's project file is not in this checkout: {FETCH_ALL}")
    try:
        found = commits.entry(commit, place.path)
        if found is None:
            return Missing(commit=commit, other=_others(commits, commit, place))
        if not is_regular(found):
            return Lost(why=f"{place.path} is no regular file on the base branch")
        text = commits.content(found)
    except Unreadable as error:
        return Lost(why=f"the base branch's project file cannot be read ({error}): {FETCH_ALL}")
    with TemporaryDirectory() as folder:
        file = Path(folder) / PROJECT_FILE
        file.write_bytes(text[: LARGEST_FILE + 1])
        project, complaints = load_project(file)
    if project is None:
        said = complaints[0].message
        return Lost(
            why=f"the base branch's project file is not valid: {said}; merge its repair first"
        )
    return Found(commit=commit, settings=project.settings)


def _others(commits: Commits, commit: str, place: Place) -> str:
    """Give the project file that the base branch has above the place, "" for none."""
    for folder in (place.folder, *place.folder.parents):
        if commits.entry(commit, folder / PROJECT_FILE) is not None:
            return str(folder / PROJECT_FILE)
    return ""


def is_brought(place: Place, head: str, base: str, file: Path) -> bool:
    """Tell whether a file beside the project is the change's own and not the base branch's."""
    inside = _inside(file, place.commits.top)
    if inside is None or not file.exists():
        return False
    try:
        own = place.commits.entry(head, inside)
        return own is not None and not _is_same(file, place.commits.entry(base, inside))
    except Unreadable:
        return True


def _difference(place: Place, commit: str, files: Iterable[Path], written: frozenset[str]) -> str:
    """Give the first file that is not as committed, "" for none. Raises Unreadable."""
    commits = place.commits
    tracked: set[str] = set()
    for path, entry in _tracked(commits, commit, place.folder):
        if str(path) in written:
            continue
        if not _is_same(path, entry):
            return _named(path, commits.top)
        tracked.add(os.path.realpath(path))
    # What is read is compared in any case, whoever is said to have written it.
    for file in sorted(files):
        real = os.path.realpath(file)
        if real in tracked:
            continue
        inside = _inside(Path(real), commits.top)
        if inside is None or not _is_same(Path(real), commits.entry(commit, inside)):
            return _named(file, commits.top)
    return ""


def _tracked(commits: Commits, commit: str, below: PurePosixPath) -> Iterator[tuple[Path, Entry]]:
    """Yield every file of a commit below a folder, and where it should stand."""
    for entry in commits.entries(commit, below):
        path = commits.top / entry.path
        if entry.mode != SUBMODULE:
            yield path, entry
        elif path.is_dir() and any(path.iterdir()):
            yield from _tracked(
                Commits(top=path, environ=commits.environ), entry.name, PurePosixPath()
            )


def _is_same(path: Path, entry: Entry | None) -> bool:
    """Tell whether a file is there as committed; line ends may be those of another system."""
    if entry is None:
        return False
    try:
        if is_link(path):
            target = os.fsencode(os.readlink(path))  # noqa: PTH115 - bytes, as git has them
            return entry.mode == LINK and _is_blob(target, entry)
        return path.is_file() and _has_content(path, entry)
    except OSError:
        return False


def _has_content(path: Path, entry: Entry) -> bool:
    with path.open("rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        if name_of(b"blob", stream, size, entry.name) == entry.name:
            return True
    return size <= LARGEST_FILE and _is_blob(path.read_bytes().replace(b"\r\n", b"\n"), entry)


def _is_blob(content: bytes, entry: Entry) -> bool:
    return name_of(b"blob", BytesIO(content), len(content), entry.name) == entry.name


def _inside(path: Path, top: Path) -> PurePosixPath | None:
    whole, around = os.path.realpath(path), os.path.realpath(top)
    if not Path(whole).is_relative_to(around):
        return None
    return PurePosixPath(Path(whole).relative_to(around).as_posix())


def _named(path: Path, top: Path) -> str:
    whole = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow links
    return str(whole.relative_to(top)) if whole.is_relative_to(top) else str(whole)


def _is_of(origin: str, repository: str) -> bool:
    """Tell whether an address is that of the event's repository; one without a host may be."""
    parts = urlsplit(origin)
    # As in git@forge.example.com:team/shop.git
    host, colon, path = origin.partition(":") if not parts.scheme else ("", "", "")
    if parts.scheme and parts.scheme != "file":
        path = parts.path
    elif not colon or "/" in host:
        return True
    owner_and_name = path.strip("/").removesuffix(".git").split("/")[-2:]
    return "/".join(owner_and_name).lower() == repository.lower()
