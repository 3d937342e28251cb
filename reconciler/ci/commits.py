"""Commits and their files; each object is checked by the digest in its name.

So it does not matter who made the repository. The content of a commit is proved, whatever was
replaced, grafted or written in its place.
"""

import hashlib
import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO

from reconciler.ci.trust import Event
from reconciler.report.complaints.document import file_in_repository
from reconciler.runtime.git import Git, GitFailed, reading
from reconciler.syntax.diagnostic import Complaint
from reconciler.workspace.selection import reachable

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_PARENT = re.compile("^parent (.*)$", re.MULTILINE)
_DIGESTS = {40: hashlib.sha1, 64: hashlib.sha256}
_AT_ONCE = 1000
_CHUNK = 1 << 20
_DEEPEST = 64
_NO_NAMES = (b"", b".", b"..")

REGULAR = frozenset((0o100644, 0o100755, 0o100664))
LINK = 0o120000
FOLDER = 0o040000
SUBMODULE = 0o160000


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeEntry:
    """A file, link, folder or submodule of a commit; `path` is relative to the repository."""

    path: PurePosixPath
    mode: int
    name: str


@dataclass(slots=True, kw_only=True)
class Commits:
    """Commits of the repository with its working tree at `top`."""

    top: Path
    environ: Mapping[str, str] = field(repr=False)
    _known: dict[str, bytes] = field(default_factory=dict, repr=False)

    @property
    def is_shallow(self) -> bool:
        """Return whether ancestors of commits are missing."""
        return self._said("rev-parse", "--is-shallow-repository") == "true"

    def head(self) -> str:
        """Return the commit that git reports as checked out, "" where there is none."""
        return self._commit("rev-parse", "--verify", "--quiet", "HEAD^{commit}")

    def fetched(self, branch: str) -> str:
        """Return the commit of a branch of the remote `origin` at the last fetch, "" for none."""
        name = f"refs/remotes/origin/{branch}"
        return self._commit("show-ref", "--verify", "--hash", name) if branch else ""

    def origin(self) -> str:
        """Return the configured address of `origin`, "" for none."""
        return self._said("config", "--get", "remote.origin.url")

    def has(self, commit: str) -> bool:
        """Return whether a commit is in the repository and matches its name."""
        try:
            self._tree_of(commit)
        except GitFailed:
            return False
        return True

    def contains(self, tip: str, commit: str) -> bool:
        """Return whether a commit is `tip`, or an ancestor of it."""
        if not tip or not commit:
            return False
        if tip == commit:
            return self.has(tip)
        between = self._said("rev-list", "--ancestry-path", f"{commit}..{tip}").split()
        parents: dict[str, list[str]] = {}
        try:
            for start in range(0, len(between), _AT_ONCE):
                some = between[start : start + _AT_ONCE]
                for name, content in zip(some, self._read(some), strict=True):
                    head = content.partition(b"\n\n")[0]
                    parents[name] = _PARENT.findall(head.decode("ascii", "replace"))
        except GitFailed:
            return False
        return commit in reachable([tip], lambda name: parents.get(name, ()))

    def entry(self, commit: str, path: PurePosixPath) -> TreeEntry | None:
        """Return the entry at a path of a commit; None where there is none. Raises GitFailed."""
        here = TreeEntry(path=PurePosixPath(), mode=FOLDER, name=self._tree_of(commit))
        for part in path.parts:
            if here.mode != FOLDER:
                return None
            inside = _entries(self._read([here.name])[0], here)
            found = [entry for entry in inside if entry.path.name == part]
            if not found:
                return None
            here = found[0]
        return here

    def content(self, entry: TreeEntry) -> bytes:
        """Return the content of a file or link. Raises GitFailed."""
        return self._read([entry.name])[0]

    def entries(self, commit: str, below: PurePosixPath) -> Iterator[TreeEntry]:
        """Yield every file, link and submodule of a commit below a folder. Raises GitFailed."""
        top = self.entry(commit, below)
        folders = [top] if top is not None and top.mode == FOLDER else []
        for _ in range(_DEEPEST):
            inner: list[TreeEntry] = []
            trees = self._read([folder.name for folder in folders])
            for folder, tree in zip(folders, trees, strict=True):
                for entry in _entries(tree, folder):
                    if entry.mode == FOLDER:
                        inner.append(entry)
                    else:
                        yield entry
            if not inner:
                return
            folders = inner
        raise GitFailed(f"folders are nested deeper than {_DEEPEST}")

    def _tree_of(self, commit: str) -> str:
        if not _COMMIT.fullmatch(commit):
            raise GitFailed("there is no commit")
        first = self._read([commit])[0].split(b"\n", 1)[0]
        kind, _, tree = first.decode("ascii", "replace").partition(" ")
        if kind != "tree" or not _COMMIT.fullmatch(tree):
            raise GitFailed(f"{commit} is no commit")
        return tree

    def _read(self, names: Sequence[str]) -> list[bytes]:
        """Read and check objects, each only once. Raises GitFailed."""
        new = [name for name in dict.fromkeys(names) if name not in self._known]
        if new:
            self._known |= dict(zip(new, self._read_new(new), strict=True))
        return [self._known[name] for name in names]

    def _read_new(self, names: Sequence[str]) -> list[bytes]:
        given = "".join(f"{name}\n" for name in names).encode()
        answer = reading(self.top, self.environ).run("cat-file", "--batch", given=given)
        found = []
        start = 0
        for name in names:
            end = answer.find(b"\n", start)
            header = answer[start:end].split()
            if end < 0 or len(header) != 3 or not header[2].isdigit():  # noqa: PLR2004 - name, type, size
                raise GitFailed(f"{name} is not in this repository")
            size = int(header[2])
            content = answer[end + 1 : end + 1 + size]
            if name_of(header[1], BytesIO(content), size, name) != name:
                raise GitFailed(f"what this repository has for {name} is something else")
            found.append(content)
            start = end + size + 2
        return found

    def _commit(self, *arguments: str) -> str:
        commit = self._said(*arguments)
        return commit if _COMMIT.fullmatch(commit) else ""

    def _said(self, *arguments: str) -> str:
        try:
            return os.fsdecode(reading(self.top, self.environ).run(*arguments)).strip()
        except GitFailed:
            return ""


def name_of(kind: bytes, content: IO[bytes], size: int, like: str) -> str:
    """Return the name that git gives an object of this size; `like` decides the digest."""
    digest = _DIGESTS[len(like)](usedforsecurity=False)
    digest.update(b"%s %d\0" % (kind, size))
    while part := content.read(_CHUNK):
        digest.update(part)
    return digest.hexdigest()


def repositories_around(folder: Path) -> list[Path]:
    """Return the folders of all repositories that a folder is in, the nearest first.

    No link is followed. Anything named `.git` counts: a submodule has a file of that name.
    """
    return [place for place in (folder, *folder.parents) if os.path.lexists(place / ".git")]


def _entries(tree: bytes, folder: TreeEntry) -> Iterator[TreeEntry]:
    """Yield the entries of a tree: mode, blank, name, NUL, digest. Raises GitFailed."""
    size = len(folder.name) // 2
    start = 0
    while start < len(tree):
        end = tree.find(b"\0", start)
        mode, _, name = tree[start:end].partition(b" ")
        digest = tree[end + 1 : end + 1 + size]
        sound = end > 0 and len(digest) == size and mode.isdigit()
        if not sound or name in _NO_NAMES or b"/" in name:
            raise GitFailed(f"{folder.name} is no folder of a commit")
        yield TreeEntry(path=folder.path / os.fsdecode(name), mode=int(mode, 8), name=digest.hex())
        start = end + 1 + size


def is_regular(entry: TreeEntry) -> bool:
    """Return whether an entry is a regular file."""
    return entry.mode in REGULAR


def is_link(path: Path) -> bool:
    """Return whether a path is a link, even a broken one."""
    try:
        return stat.S_ISLNK(path.lstat().st_mode)
    except (OSError, ValueError):
        return False


_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_FILE, _OWN = "+++ ", "b/"
_OLD_FILE, _OLD, _NO_FILE = "--- ", "a/", "/dev/null"
_DIFF = (
    *("-c", "core.quotePath=false", "diff", "--unified=0", "--no-color", "--no-ext-diff"),
    *("--no-textconv", "--no-renames", "--src-prefix=a/", "--dst-prefix=b/"),
    "--ignore-submodules",
)

Lines = Mapping[str, Sequence[range]]
"""Lines that a change touches, by file, relative to the repository."""


def of_the_change(
    complaints: Sequence[Complaint], folder: str, touched: Lines
) -> tuple[list[Complaint], int]:
    """Return the errors and the warnings on touched lines, and how many warnings are elsewhere.

    `folder` is the path of the project in its repository, "" for the root.
    """
    shown = [
        complaint
        for complaint in complaints
        if complaint.is_error
        or any(
            complaint.line in lines
            for lines in touched.get(file_in_repository(complaint.file, folder), ())
        )
    ]
    return shown, len(complaints) - len(shown)


def touched_lines(event: Event, environ: Mapping[str, str]) -> Lines:
    """Return the lines of the checkout that differ from the base of an event.

    Empty where the base is unknown, or not in the checkout's history.
    """
    try:
        git, base = _base_of(event, environ)
        return lines_in(git.run(*_DIFF, base, "HEAD", "--").decode("utf-8", "replace"))
    except GitFailed:
        return {}


def text_before(file: str, event: Event, environ: Mapping[str, str]) -> str | None:
    """Return the text of a file, relative to the repository, at the base of an event.

    "" where the base has no such file, None where the base is unknown.
    """
    try:
        git, base = _base_of(event, environ)
        if not git.run("ls-tree", base, "--", file):
            return ""
        return git.run("show", f"{base}:{file}").decode("utf-8", "replace")
    except GitFailed:
        return None


def _base_of(event: Event, environ: Mapping[str, str]) -> tuple[Git, str]:
    """Return the job's repository, and the last commit of the base that the change has.

    Raises GitFailed where either is unknown.
    """
    around = repositories_around(Path.cwd())
    if not (around and event.base):
        raise GitFailed("the base of the change is unknown")
    # The outermost repository is the job's own: a change can add repositories inside it.
    git = reading(around[-1], environ)
    try:
        return git, git.text("merge-base", event.base, "HEAD")
    except GitFailed:
        return git, event.base


def lines_in(diff: str) -> Lines:
    """Return the new lines of a diff without context, by file."""
    found: dict[str, list[range]] = {}
    lines = iter(diff.split("\n"))
    file = before = ""
    for line in lines:
        hunk = _HUNK.match(line)
        if line.startswith(_OLD_FILE):
            before = line.removeprefix(_OLD_FILE).removeprefix(_OLD).removesuffix("\t")
        elif line == _FILE + _NO_FILE:
            # A removed file has no lines: its range is empty.
            file = before
        elif line.startswith(_FILE):
            # Git quotes a name with a quote or a control character; no manifest has such a name.
            file = line.removeprefix(_FILE).removeprefix(_OWN).removesuffix("\t")
        elif hunk is not None:
            old, start, new = int(hunk[1] or 1), int(hunk[2]), int(hunk[3] or 1)
            found.setdefault(file, []).append(range(start, start + new))
            # Lines of a hunk may look like the header of a file, so they are skipped by their
            # number.
            left = old + new
            while left > 0:
                # `\\ No newline at end of file` is not a line of either side.
                left -= not next(lines, "").startswith("\\")
    return found
