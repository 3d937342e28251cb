"""Finding files, naming them in reports, and reading them safely."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from reconciler.runtime.git import GitStuck, ask
from reconciler.syntax.diagnostic import Advice, Complaint
from reconciler.syntax.suggestions import nearest


def display_name(path: Path, root: Path) -> str:
    """Return a path relative to the root, or unchanged if it is outside."""
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow links
    if not absolute.is_relative_to(root):
        real = Path(os.path.realpath(absolute.parent), absolute.name)
        absolute = real if real.is_relative_to(root) else absolute
    shown = (absolute.relative_to(root) if absolute.is_relative_to(root) else absolute).as_posix()
    return printable_name(shown)


def printable_name(name: str) -> str:
    """Return a name as valid UTF-8: any other name cannot be part of a report."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


INSTALLED = frozenset(("node_modules", "venv"))
"""Folders that tools fill with other people's files."""

ANY_STEPS = "**"
_MARK = "pyvenv.cfg"
_RULES = ".gitignore"


def is_installed(name: str) -> bool:
    """Return whether a folder is hidden or has files that a tool installed, by its name."""
    return name.startswith(".") or name in INSTALLED


def is_environment(names: Collection[str]) -> bool:
    """Return whether a folder with these names is a Python environment, whatever it is called."""
    return _MARK in names


def matches(path: str, pattern: str) -> bool:
    """Return whether a glob matches a path, or a folder around it.

    `*` stays within a folder, and `**` is any number of folders, or none.
    """
    steps = _steps(pattern)
    return bool(steps) and lead_to(_steps(path), steps)


@lru_cache(maxsize=1024)
def _steps(path: str) -> tuple[str, ...]:
    return tuple(step for step in path.split("/") if step not in ("", "."))


@lru_cache(maxsize=4096)
def lead_to(parts: tuple[str, ...], globs: tuple[str, ...]) -> bool:
    """Return whether globs match the parts of a path, or of a folder around it.

    `**` is any number of parts, or none; at the end it is at least one.
    """
    if not globs:
        return True
    if globs[0] == ANY_STEPS:
        if len(globs) == 1:
            return bool(parts)
        return lead_to(parts, globs[1:]) or (bool(parts) and lead_to(parts[1:], globs))
    return bool(parts) and fnmatchcase(parts[0], globs[0]) and lead_to(parts[1:], globs[1:])


@dataclass(slots=True)
class IgnoreRules:
    """The rules below a folder by which git ignores files.

    `homes` maps each folder to the repository inside it that the folder belongs to, if any. `odd`
    are rules that are no regular files: git would wait for data from a pipe.
    """

    top: Path
    seen: bool = False
    homes: dict[Path, Path | None] = field(default_factory=dict)
    odd: list[Path] = field(default_factory=list)

    def enter(self, place: Path, folders: Collection[str], names: Collection[str]) -> None:
        """Record a folder and its content; the folder around it was recorded before."""
        is_home = place != self.top and (_OWN in folders or _OWN in names)
        self.homes[place] = place if is_home else self.homes.get(place.parent)
        if _RULES in names:
            self.seen = True
            self._note(place / _RULES)

    def look_around(self) -> None:
        """Record the rules of the outer folders, up to the repository; call it before `ignored`."""
        for folder in _between(self.top.resolve()):
            self._note(folder / _RULES)

    def _note(self, rules: Path) -> None:
        with suppress(OSError):
            mode = rules.stat().st_mode
            if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
                self.odd.append(rules)

    def ignored(self, places: Sequence[Path]) -> set[Path]:
        """Return the files and folders that `.gitignore` ignores.

        A file that git tracks is never ignored. Nothing is ignored if the top folder itself would
        be, because the user asked for it. In a folder without a repository the rules apply as if it
        was one. Without git nothing is ignored, nor where git would wait for an odd file.
        """
        real = self.top.resolve()
        outer = (path / _RULES for path in (real, *_between(real)))
        if self.odd or not (self.seen or any(rules.is_file() for rules in outer)):
            return set()
        around = _repository_around(real)
        groups: dict[Path | None, list[Path]] = defaultdict(list)
        for place in places:
            groups[self.homes.get(place) or self.homes.get(place.parent)].append(place)
        found: set[Path] = set()
        with suppress(GitStuck):
            for home, group in groups.items():
                found |= _ignored(group, home or self.top, around if home is None else home)
        return found


def _repository_around(real: Path) -> Path | None:
    return next((parent for parent in (real, *real.parents) if (parent / _OWN).exists()), None)


def _between(real: Path) -> list[Path]:
    """Return the folders around a folder, up to its repository; none if it is in no repository."""
    around = _repository_around(real)
    return [folder for folder in real.parents if around and folder.is_relative_to(around)]


def _ignored(places: Sequence[Path], top: Path, repository: Path | None) -> set[Path]:
    """Return the ignored places below a folder, as git reports them, with or without a repository.

    After a leading `./` git reads no special meaning into the name of a file.
    """
    whole = Path() if repository is None else top.resolve().relative_to(repository.resolve())
    by_path = {f"./{whole / place.relative_to(top)}": place for place in places}
    given = b"\0".join(os.fsencode(path) for path in (*by_path, f"./{whole}"))
    if repository is not None:
        answer = ask(repository, os.environ, *_ASKING, given=given)
    else:
        with TemporaryDirectory(prefix="reconciler-") as own:
            ask(top, os.environ, "init", "--quiet", "--bare", "--template=", own)
            answer = ask(
                top, os.environ, f"--git-dir={own}", "--work-tree=.", *_ASKING, given=given
            )
    answered = set(os.fsdecode(answer or b"").split("\0"))
    return (
        set() if f"./{whole}" in answered else {by_path[path] for path in answered & by_path.keys()}
    )


_OWN = ".git"
_ASKING = ("check-ignore", "-z", "--stdin")


# The first fields of the JSON of a plan: no manifest and no export begins with them.
_BEGINS = re.compile(rb'\{\n  "formatVersion": [0-9]+,\n  "environment": "')
HEAD = 64
"""Number of bytes that are enough to recognise a plan."""

_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def begins_plan(head: bytes) -> bool:
    """Return whether these are the first bytes of a file from `plan --out`."""
    return _BEGINS.match(head) is not None


def is_plan_file(path: Path) -> bool:
    """Return whether a file is from `plan --out`; a link is not, wherever it leads."""
    with suppress(OSError, ValueError), opened(path, _FLAGS) as descriptor:
        return begins_plan(os.read(descriptor, HEAD))
    return False


@contextmanager
def opened(path: Path, flags: int) -> Iterator[int]:
    """Yield the descriptor of an open file or folder, then close it. Raises OSError."""
    descriptor = os.open(path, flags | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


LARGEST_FILE = 8 << 20
LARGEST_WORKSPACE = 2 << 30
MOST_FILES = 200_000
LARGEST_AGAIN = 256 << 20
"""Limit of what is read a second time, in bytes: no setting raises it."""
MOST_MADE = 1_000_000
"""Limit of values from `forEach`, variables and included files, in all environments of a run."""
LARGEST_MADE = 64 << 20
"""Limit of the characters in keys and texts of these values."""
LONGEST_LINE = 1 << 20
DEEPEST_FOLDER = 64
SUFFIXES = frozenset((".yaml", ".yml", ".json"))
PROJECT_FILE = "reconciler.yaml"
GIT_FOLDER = ".git"


@dataclass(frozen=True, slots=True)
class File:
    """A file of the workspace: its path, and its name relative to the project's root.

    `named` is set for files given one by one; others were found in a folder.
    """

    path: Path
    name: str
    named: bool = False

    @property
    def is_json(self) -> bool:
        """Return whether the file is read as JSON."""
        return self.path.suffix == ".json"


@dataclass(slots=True)
class Files:
    """The files found under the paths of a run."""

    root: Path
    exclude: Sequence[str] = ()
    files: list[File] = field(default_factory=list)
    complaints: list[Complaint] = field(default_factory=list)

    def kept(self, folder: Path, names: list[str]) -> list[str]:
        """Return the names in a folder that no glob of the project file excludes."""
        place = display_name(folder, self.root)
        return [
            name
            for name in names
            if not any(matches(f"{place}/{name}", pattern) for pattern in self.exclude)
        ]


def find_files(
    paths: Sequence[Path], root: Path, exclude: Sequence[str] = (), most: int = MOST_FILES
) -> Files:
    """List the manifest files under `paths`, each once, sorted by name in each folder.

    Skips the project file, hidden folders and other folders with no manifests
    (docs/manifests.md), and the matches of `exclude` from the root. Links to folders are not
    followed. A path itself is read, whatever it is.
    """
    found = Files(root, exclude)
    seen: set[str] = set()
    for path in paths:
        for file in _files_under(path, found):
            place = os.path.abspath(file.path)  # noqa: PTH100 - resolve() would follow links
            if place in seen:
                continue
            seen.add(place)
            if len(seen) > most:
                message = f"there are more than {most:,} files; this one and the rest are unread"
                repair = f"raise `limits: {{files: {most}}}` in reconciler.yaml, or exclude some"
                found.complaints.append(
                    Complaint.of_file(file.name, "M115", message, Advice(repair))
                )
                return found
            found.files.append(file)
    return found


_REF = re.compile(r"[A-Z][A-Za-z]+/[a-z0-9][a-z0-9._-]*")


def _files_under(path: Path, found: Files) -> Iterator[File]:
    name = display_name(path, found.root)
    if os.path.isdir(path):  # noqa: PTH112 - Path.is_dir() raises for a name that is too long
        yield from _files_in(path, found)
    elif not os.path.lexists(path):
        message = "there is no such file or folder"
        meant = Advice(f"`--select {name}` chooses a resource") if _REF.fullmatch(name) else ""
        found.complaints.append(Complaint.of_file(name, "M112", message, meant))
    elif path.name != PROJECT_FILE:
        yield File(path, name, named=True)


def _files_in(top: Path, found: Files) -> Iterator[File]:
    """Yield the files of a folder that git does not ignore, and record errors.

    Files written by `plan --out` are skipped: they declare nothing, and may be larger than any
    manifest.
    """
    walked = _Walked(found, IgnoreRules(top))
    walked.walk(top)
    walked.rules.look_around()
    for rules in walked.rules.odd:
        message = "this file is not a regular file, and git cannot read what to ignore: remove it"
        found.complaints.append(Complaint.of_file(display_name(rules, found.root), "M112", message))
    ignored = walked.rules.ignored((*walked.files, *walked.wrong)) if walked.files else set()
    found.complaints.extend(
        complaint for place, complaint in walked.wrong.items() if place not in ignored
    )
    for path, name in walked.files.items():
        if path not in ignored and not is_plan_file(path):
            yield File(path, name)


@dataclass(slots=True)
class _Walked:
    """The content of a folder: names of files by path, and folders that cannot be read whole."""

    found: Files
    rules: IgnoreRules
    files: dict[Path, str] = field(default_factory=dict)
    wrong: dict[Path, Complaint] = field(default_factory=dict)

    def walk(self, top: Path) -> None:
        is_root = display_name(top, self.found.root) == "."
        excluding = self.found.exclude and (is_root or self.found.kept(top.parent, [top.name]))
        for place, folders, names in os.walk(top, onerror=self.complain):
            folder = Path(place)
            self.rules.enter(folder, folders, names)
            if folder != top and is_environment(names):
                folders.clear()
                continue
            folders[:] = sorted(name for name in folders if not is_installed(name))
            kept = sorted(name for name in names if _may_declare(name))
            if excluding:
                folders[:] = self.found.kept(folder, folders)
                kept = self.found.kept(folder, kept)
            # The place of any file of the folder, found once for all of them.
            before = display_name(folder / "-", self.found.root)[:-1]
            self.files.update((folder / name, before + printable_name(name)) for name in kept)
            if folders and len(folder.parts) - len(top.parts) >= DEEPEST_FOLDER:
                # The walk recurses, and paths of 4,096 characters may contain 2,000 folders.
                message = (
                    f"the folders below are unread: they are nested deeper than {DEEPEST_FOLDER}"
                )
                name = display_name(folder, self.found.root)
                self.wrong[folder] = Complaint.of_file(name, "M115", message)
                folders.clear()

    def complain(self, error: OSError) -> None:
        folder = Path(error.filename)
        name = display_name(folder, self.found.root)
        message = f"the folder cannot be read: {_reason(error)}"
        self.wrong[folder] = Complaint.of_file(name, "M112", message)


def _may_declare(name: str) -> bool:
    return Path(name).suffix in SUFFIXES and name != PROJECT_FILE and name[0] != "."


def folder_in_repository(root: Path) -> str:
    """Return the project's folder in its repository, or "" at its root or without one.

    CI systems that show complaints next to the lines need file names from the repository's root.
    """
    for folder in (root, *root.parents):
        if os.path.exists(folder / ".git"):  # noqa: PTH110 - never raises
            return "" if folder == root else root.relative_to(folder).as_posix()
    return ""


def read_file(path: Path, name: str, roots: Sequence[Path]) -> str | Complaint:
    """Return the text of a file, or a complaint that says why it is not available.

    With all links followed, the file must be inside one of the roots, which contain no links
    themselves.
    """
    return text_of(content_of(path, name, roots), name)


def digest_of_file(path: Path, name: str, roots: Sequence[Path]) -> str:
    """Return a digest of the bytes that `read_file` reads, or "" if they cannot be read."""
    return digest_of(content_of(path, name, roots))


def digest_of(content: bytes | Complaint) -> str:
    """Return a digest of the bytes of a file, or "" if they are not available."""
    return "" if isinstance(content, Complaint) else hashlib.sha256(content).hexdigest()


def content_of(path: Path, name: str, roots: Sequence[Path]) -> bytes | Complaint:
    """Return the bytes of a file under the same conditions as `read_file`."""
    try:
        real = path.resolve(strict=True)
        inside = [real.relative_to(root) for root in roots if real.is_relative_to(root)]
        if not inside:
            message = "this file leads out of the project folder: put a copy inside"
            return Complaint.of_file(name, "M112", message)
        if all(GIT_FOLDER in map(str.lower, path.parts) for path in inside):
            # Git's settings contain the token of a CI job that used one for its checkout.
            return Complaint.of_file(name, "M112", "this file leads to what git keeps for itself")
        descriptor = os.open(real, _FLAGS)
    except FileNotFoundError:
        is_link = os.path.islink(path)  # noqa: PTH114 - is_symlink() raises
        message = (
            "this file is a link that leads nowhere" if is_link else "this file does not exist"
        )
        return Complaint.of_file(name, "M112", message, "" if is_link else _file_like(path, roots))
    except (OSError, RuntimeError, ValueError) as error:
        return Complaint.of_file(name, "M112", f"this file cannot be opened: {_reason(error)}")
    return _read_and_close(descriptor, name)


MOST_LISTED = 1_000


def _file_like(path: Path, roots: Sequence[Path]) -> str:
    """Return the probable name of the file in the same folder, or "" if there is none."""
    with suppress(OSError, RuntimeError, ValueError):
        folder = path.parent.resolve(strict=True)
        if any(folder.is_relative_to(root) for root in roots):
            with os.scandir(folder) as found:
                names = [entry.name for entry in islice(found, MOST_LISTED) if entry.is_file()]
            return nearest(path.name, sorted(names))
    return ""


def read_own_file(path: Path, name: str) -> str | Complaint:
    """Return the text of a file at its own place; a link is an error and not followed.

    The folders above it may be links.
    """
    try:
        descriptor = os.open(path, _FLAGS)
    except (OSError, ValueError) as error:
        is_link = os.path.islink(path)  # noqa: PTH114 - is_symlink() raises
        message = (
            "this file is a link, and is not followed: put the file itself here, or name the "
            "other one with --project"
        )
        message = message if is_link else f"this file cannot be opened: {_reason(error)}"
        return Complaint.of_file(name, "M112", message)
    return text_of(_read_and_close(descriptor, name), name)


def _read_and_close(descriptor: int, name: str) -> bytes | Complaint:
    try:
        return _content(descriptor, name)
    except OSError as error:
        return Complaint.of_file(name, "M112", f"this file cannot be read: {_reason(error)}")
    finally:
        os.close(descriptor)


def text_of(content: bytes | Complaint, name: str) -> str | Complaint:
    """Return the text of a file's bytes, or a complaint that says why it has none."""
    return content if isinstance(content, Complaint) else decode(content, name)


def _content(descriptor: int, name: str) -> bytes | Complaint:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        return Complaint.of_file(name, "M112", "this file is not a regular file")
    content = b""
    if status.st_size <= LARGEST_FILE:
        with os.fdopen(descriptor, "rb", closefd=False) as stream:
            content = stream.read(LARGEST_FILE + 1)
    if max(status.st_size, len(content)) > LARGEST_FILE:
        message = f"this file is larger than {LARGEST_FILE >> 20} MB: divide it, or `exclude:` it"
        return Complaint.of_file(name, "M110", message)
    return content


def _reason(error: Exception) -> str:
    if isinstance(error, RuntimeError):
        return "its links form a loop"
    if isinstance(error, ValueError):
        return "its name holds a NUL character"
    reason: str = getattr(error, "strerror", None) or type(error).__name__
    return reason[0].lower() + reason[1:]


def decode(content: bytes, name: str) -> str | Complaint:
    """Return the text of UTF-8 bytes; a byte-order mark is accepted, and counts as no column."""
    content = content.removeprefix(BOM_UTF8)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8")
        line = before.count("\n") + 1
        column = len(before) - before.rfind("\n")
        message = f"this file is not UTF-8: byte 0x{content[error.start]:02x} is not allowed here"
        if content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
            line = column = 0
            message = "this file is UTF-16, as some editors of Windows save"
        return Complaint(
            name, line, column, code="M111", message=message, suggestion=Advice("save it as UTF-8")
        )
    if len(text) > LONGEST_LINE and max(map(len, text.split("\n"))) > LONGEST_LINE:
        return Complaint.of_file(name, "M110", "this file has a line longer than 1 MB")
    return text
