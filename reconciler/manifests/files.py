"""Finding manifest files and reading them safely. Source: failure-cases.md, S3-S5.

Files of a change are hostile data: only regular files inside the root are
opened, without following a last link or blocking, and never more than a limit
is read.
"""

from __future__ import annotations

import os
import stat
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from reconciler.complaint import Complaint

LARGEST_FILE = 8 << 20
LARGEST_WORKSPACE = 256 << 20
MOST_FILES = 10_000
LONGEST_LINE = 1 << 20
DEEPEST_FOLDER = 64
SUFFIXES = frozenset((".yaml", ".yml", ".json"))
PROJECT_FILE = "reconciler.yaml"


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
        """Whether the file is read as JSON."""
        return self.path.suffix == ".json"


@dataclass(slots=True)
class Files:
    """What was found under the paths of a run."""

    root: Path
    files: list[File] = field(default_factory=list)
    complaints: list[Complaint] = field(default_factory=list)


def find_files(paths: Sequence[Path], root: Path) -> Files:
    """List the manifest files under `paths`, each once, sorted by name in each folder.

    Hidden folders and the project file itself are left out, and links to
    folders are not followed but where they are a path themselves.
    """
    found = Files(root)
    seen: set[str] = set()
    for path in paths:
        for file in _files_under(path, found):
            place = os.path.abspath(file.path)  # noqa: PTH100 - resolve() would follow links
            if place in seen:
                continue
            seen.add(place)
            if len(seen) > MOST_FILES:
                said = f"there are more than {MOST_FILES:,} files; this one and the rest are unread"
                found.complaints.append(Complaint(file.name, 0, 0, "M115", said))
                return found
            found.files.append(file)
    return found


def _files_under(path: Path, found: Files) -> Iterator[File]:
    name = display_name(path, found.root)
    if os.path.isdir(path):  # noqa: PTH112 - Path.is_dir() raises for a name that is too long
        yield from _files_in(path, found)
    elif not os.path.lexists(path):
        found.complaints.append(Complaint(name, 0, 0, "M112", "there is no such file or folder"))
    elif path.name != PROJECT_FILE:
        yield File(path, name, named=True)


def _files_in(top: Path, found: Files) -> Iterator[File]:
    def complain(error: OSError) -> None:
        name = display_name(Path(error.filename), found.root)
        said = f"the folder cannot be read: {_reason(error)}"
        found.complaints.append(Complaint(name, 0, 0, "M112", said))

    for place, folders, names in os.walk(top, onerror=complain):
        folder = Path(place)
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        if folders and len(folder.parts) - len(top.parts) >= DEEPEST_FOLDER:
            # The walk recurses, and paths of 4,096 characters hold 2,000 folders.
            said = f"the folders below are unread: they are nested deeper than {DEEPEST_FOLDER}"
            name = display_name(folder, found.root)
            found.complaints.append(Complaint(name, 0, 0, "M115", said))
            folders.clear()
        for name in sorted(names):
            inner = folder / name
            if inner.suffix in SUFFIXES and name != PROJECT_FILE and name[0] != ".":
                yield File(inner, display_name(inner, found.root))


def display_name(path: Path, root: Path) -> str:
    """Give a path relative to the root, or as it is where it lies elsewhere."""
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow links
    if not absolute.is_relative_to(root):
        real = Path(os.path.realpath(absolute.parent), absolute.name)
        absolute = real if real.is_relative_to(root) else absolute
    return (absolute.relative_to(root) if absolute.is_relative_to(root) else absolute).as_posix()


def folder_in_repository(root: Path) -> str:
    """Give where the project stands in the repository around it, "" at its root or without one.

    The CI systems that show complaints beside the lines want files named from there.
    """
    for folder in (root, *root.parents):
        if (folder / ".git").exists():
            return "" if folder == root else root.relative_to(folder).as_posix()
    return ""


def read_file(path: Path, name: str, roots: Sequence[Path]) -> str | Complaint:
    """Give a file's text, or the complaint that says why it cannot be had.

    The file must lie inside one of the roots, which hold no links themselves,
    once all links are followed.
    """
    try:
        real = path.resolve(strict=True)
        if not any(real.is_relative_to(root) for root in roots):
            return Complaint(name, 0, 0, "M112", "this file leads out of the project folder")
        descriptor = os.open(real, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        is_link = os.path.islink(path)  # noqa: PTH114 - is_symlink() raises
        said = "this file is a link that leads nowhere" if is_link else "this file does not exist"
        return Complaint(name, 0, 0, "M112", said)
    except (OSError, RuntimeError, ValueError) as error:
        return Complaint(name, 0, 0, "M112", f"this file cannot be opened: {_reason(error)}")
    try:
        content = _content(descriptor, name)
    except OSError as error:
        return Complaint(name, 0, 0, "M112", f"this file cannot be read: {_reason(error)}")
    finally:
        os.close(descriptor)
    return content if isinstance(content, Complaint) else decode(content, name)


def _content(descriptor: int, name: str) -> bytes | Complaint:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        return Complaint(name, 0, 0, "M112", "this file is not a regular file")
    content = b""
    if status.st_size <= LARGEST_FILE:
        with os.fdopen(descriptor, "rb", closefd=False) as stream:
            content = stream.read(LARGEST_FILE + 1)
    if max(status.st_size, len(content)) > LARGEST_FILE:
        said = f"this file is larger than {LARGEST_FILE >> 20} MB"
        return Complaint(name, 0, 0, "M110", said)
    return content


def _reason(error: Exception) -> str:
    if isinstance(error, RuntimeError):
        return "its links form a loop"
    if isinstance(error, ValueError):
        return "its name holds a NUL character"
    said: str = getattr(error, "strerror", None) or type(error).__name__
    return said[0].lower() + said[1:]


def decode(content: bytes, name: str) -> str | Complaint:
    """Give the text of UTF-8 bytes; a byte-order mark is tolerated, and counts as no column."""
    content = content.removeprefix(BOM_UTF8)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8")
        line = before.count("\n") + 1
        column = len(before) - before.rfind("\n")
        said = f"this file is not UTF-8: byte 0x{content[error.start]:02x} cannot stand here"
        return Complaint(name, line, column, "M111", said)
    if len(text) > LONGEST_LINE and max(map(len, text.split("\n"))) > LONGEST_LINE:
        return Complaint(name, 0, 0, "M110", "this file has a line longer than 1 MB")
    return text
