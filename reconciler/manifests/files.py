"""Finding manifest files and reading them safely. Source: failure-cases.md, S3-S5.

Files of a change are hostile data: only regular files inside the root are
opened, without following a last link or blocking, and never more than a limit
is read.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from reconciler.complaint import Complaint

LARGEST_FILE = 8 << 20
LARGEST_WORKSPACE = 256 << 20
MOST_FILES = 10_000
LONGEST_LINE = 1 << 20
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

    Hidden folders and the project file itself are left out.
    """
    found = Files(root)
    seen: set[Path] = set()
    for path in paths:
        for file in _files_under(path, found):
            if file.path in seen:
                continue
            seen.add(file.path)
            found.files.append(file)
            if len(found.files) > MOST_FILES:
                said = f"more than {MOST_FILES:,} files"
                found.complaints.append(Complaint(file.name, 0, 0, "M115", said))
                return found
    return found


def _files_under(path: Path, found: Files) -> Iterator[File]:
    if path.is_dir():
        for folder, folders, names in os.walk(path):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                inner = Path(folder, name)
                if inner.suffix in SUFFIXES and name != PROJECT_FILE and name[0] != ".":
                    yield File(inner, display_name(inner, found.root))
    elif path.exists() or path.is_symlink():
        yield File(path, display_name(path, found.root), named=True)
    else:
        said = "no such file or folder"
        found.complaints.append(Complaint(display_name(path, found.root), 0, 0, "M112", said))


def display_name(path: Path, root: Path) -> str:
    """Give a path relative to the root, or as it is where it lies elsewhere."""
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow links
    try:
        return absolute.relative_to(root).as_posix()
    except ValueError:
        return absolute.as_posix()


def read_file(path: Path, name: str, roots: Sequence[Path]) -> str | Complaint:
    """Give a file's text, or the complaint that says why it cannot be had.

    The file must lie inside one of the roots once all links are followed.
    """
    try:
        real = path.resolve(strict=True)
        if not any(real.is_relative_to(root.resolve()) for root in roots):
            return Complaint(name, 0, 0, "M112", "leads out of the project folder")
        descriptor = os.open(real, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return Complaint(name, 0, 0, "M112", "no such file")
    except (OSError, RuntimeError, ValueError) as error:
        return Complaint(name, 0, 0, "M112", f"cannot be opened: {_reason(error)}")
    try:
        content = _content(descriptor, name)
    except OSError as error:
        return Complaint(name, 0, 0, "M112", f"cannot be read: {_reason(error)}")
    finally:
        os.close(descriptor)
    return content if isinstance(content, Complaint) else decode(content, name)


def _content(descriptor: int, name: str) -> bytes | Complaint:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        return Complaint(name, 0, 0, "M112", "is not a regular file")
    if status.st_size > LARGEST_FILE:
        said = f"is {status.st_size:,} bytes; at most {LARGEST_FILE:,} are read"
        return Complaint(name, 0, 0, "M110", said)
    with os.fdopen(descriptor, "rb", closefd=False) as stream:
        return stream.read(LARGEST_FILE + 1)


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or type(error).__name__


def decode(content: bytes, name: str) -> str | Complaint:
    """Give the text of UTF-8 bytes; a byte-order mark is tolerated."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        column = error.start - content.rfind(b"\n", 0, error.start)
        said = f"is not UTF-8: byte 0x{content[error.start]:02x}"
        return Complaint(name, line, column, "M111", said)
    if len(text) > LONGEST_LINE and max(map(len, text.split("\n"))) > LONGEST_LINE:
        return Complaint(name, 0, 0, "M110", "has a line longer than 1 MB")
    return text
