"""Writing of files: where new ones may be, and atomic, permanent writes.

Readers find the complete new content or the old content. A file with several names is overwritten
in place, so that each name still leads to it.
"""

from __future__ import annotations

import fcntl
import os
import re
import tempfile
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path

from reconciler.document import ABSENT, Json, Within, overlay, towards, value_at
from reconciler.errors import InvalidInput, UsageError
from reconciler.model.quoting import quoted
from reconciler.project import ProjectVariable
from reconciler.runtime.failpoints import Point, reached
from reconciler.syntax.diagnostic import Complaint
from reconciler.syntax.files import (
    PROJECT_FILE,
    IgnoreRules,
    display_name,
    is_environment,
    is_installed,
    matches,
    opened,
    read_file,
    read_own_file,
)
from reconciler.syntax.read_text import read_text
from reconciler.syntax.syntax_tree import comments_lost
from reconciler.syntax.tidy import line_break
from reconciler.workspace.manifest_edits import Script, text_after

SYNCED_AT_ONCE = 16
BEGINS, ENDS = ".reconciler-", ".new"
"""Beginning and end of the temporary name of a file; such files are never read."""
KEPT = ".before"
"""Suffix of the copy of a file with several names; a run that is killed leaves the copy."""


def replace_file(real: Path, content: bytes) -> None:
    """Replace a file that exists and is no link; its mode stays.

    A file with several names is overwritten in place. Raises OSError.
    """
    status = real.stat()
    if status.st_nlink > 1:
        _overwrite(real, content)
        return
    descriptor, name = _begun(real.parent)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            if (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
                os.fchown(stream.fileno(), status.st_uid, status.st_gid)
            os.fchmod(stream.fileno(), status.st_mode & 0o7777)
            _write(stream.fileno(), content)
            reached(Point.FILE_KEPT)
            os.replace(name, real)  # noqa: PTH105 - a name, not a path
    except BaseException:
        _remove(name)
        raise


def write_new_files(contents: Sequence[tuple[Path, bytes]]) -> None:
    """Write files that do not exist yet, in their order, with the default rights of new files.

    All are on the disk before the first gets its name, so no partial file is ever visible. Raises
    FileExistsError with the file name if something is already there, even a link, and OSError. The
    names are permanent once `sync_folder` has returned.
    """
    temporary_names: list[str] = []
    descriptors: list[int] = []
    rights = 0o666 & ~_umask()
    with ExitStack() as open_files:
        try:
            for real, content in contents:
                descriptor, name = _begun(real.parent)
                open_files.callback(os.close, descriptor)
                temporary_names.append(name)
                descriptors.append(descriptor)
                os.fchmod(descriptor, rights)
                _put(descriptor, content)
            reached(Point.FILES_BESIDE)
            _sync(descriptors)
            for name, (real, _) in zip(temporary_names, contents, strict=True):
                _name_once(name, real)
                reached(Point.FILE_NAMED)
        finally:
            for name in temporary_names:
                _remove(name)


def remove_left(folders: Iterable[Path]) -> int:
    """Remove the temporary files of dead runs from folders; return how many.

    The files of a live run are locked, and stay.
    """
    left: set[Path] = set()
    for folder in folders:
        with suppress(OSError):
            left.update(path for path in folder.glob(f"{BEGINS}*{ENDS}") if not path.is_symlink())
    return sum(map(_removed, left))


def _removed(file: Path) -> bool:
    with suppress(OSError):
        with opened(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK) as descriptor:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            file.unlink()
        return True
    return False


def _begun(folder: Path) -> tuple[int, str]:
    """Create a file with a temporary name; it is locked as long as its descriptor is open."""
    while True:
        descriptor, name = tempfile.mkstemp(prefix=BEGINS, suffix=ENDS, dir=folder)
        try:
            # Some file systems have no locks; their files are never taken for those of dead runs.
            with suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            # Another run may have removed the file before it was locked.
            if os.path.exists(name):  # noqa: PTH110 - a name, not a path
                return descriptor, name
        except BaseException:
            os.close(descriptor)
            _remove(name)
            raise
        os.close(descriptor)


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk. Raises OSError."""
    with opened(folder, os.O_RDONLY | os.O_DIRECTORY) as descriptor:
        os.fsync(descriptor)


def _name_once(name: str, real: Path) -> None:
    """Name a file only if the name is free: a rename would replace the existing file."""
    try:
        os.link(name, real)
    except FileExistsError as error:
        raise FileExistsError(error.errno, error.strerror, str(real)) from error
    except OSError:
        # Some file systems have no second names: then the name is reserved, and replaced.
        os.close(os.open(real, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
        os.replace(name, real)  # noqa: PTH105 - a name, not a path


def _sync(descriptors: Sequence[int]) -> None:
    """Wait until files are on the disk, in parallel: one after another would take much longer."""
    with ThreadPoolExecutor(SYNCED_AT_ONCE) as pool:
        # Reading the results raises the errors.
        list(pool.map(os.fsync, descriptors))


def _put(descriptor: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _write(descriptor: int, content: bytes) -> None:
    _put(descriptor, content)
    os.fsync(descriptor)


def _overwrite(real: Path, content: bytes) -> None:
    """Overwrite a file in place; a copy of the old content is next to it until that is done."""
    before = real.read_bytes()
    descriptor, copy = tempfile.mkstemp(prefix=f".{real.name}.", suffix=KEPT, dir=real.parent)
    try:
        try:
            _write(descriptor, before)
        except BaseException:
            _remove(copy)
            raise
    finally:
        os.close(descriptor)
    reached(Point.FILE_KEPT)
    try:
        _write_over(real, content)
    except BaseException:
        _write_over(real, before)
        _remove(copy)
        raise
    _remove(copy)


def _write_over(real: Path, content: bytes) -> None:
    with opened(real, os.O_WRONLY | os.O_NOFOLLOW) as descriptor:
        _put(descriptor, content)
        os.ftruncate(descriptor, len(content))
        os.fsync(descriptor)


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _remove(name: str) -> None:
    with suppress(OSError):
        os.unlink(name)  # noqa: PTH108 - a name, not a path


FOLDER = ".vscode"
PROJECT_SCHEMA = f"{FOLDER}/reconciler-project.schema.json"
MANIFEST_SCHEMA = f"{FOLDER}/reconciler-manifest.schema.json"
_MODELINE = re.compile(r"^#[ \t]*yaml-language-server[ \t]*:", re.MULTILINE)


def has_schemas(root: Path) -> bool:
    """Return whether the schemas for modelines exist."""
    return all((root / name).is_file() for name in (PROJECT_SCHEMA, MANIFEST_SCHEMA))


def modeline(path: Path, root: Path) -> str:
    """Return the modeline of a file of the project, with its line break."""
    name = PROJECT_SCHEMA if path.name == PROJECT_FILE else MANIFEST_SCHEMA
    relative = os.path.relpath((root / name).resolve(), path.parent.resolve())
    return f"# yaml-language-server: $schema={Path(relative).as_posix()}\n"


def with_modeline(text: str, path: Path, root: Path) -> str:
    """Return YAML with a modeline as its first line, unless it already has one."""
    if _MODELINE.search(text):
        return text
    return modeline(path, root).replace("\n", line_break(text)) + text


def led(text: str, path: Path, root: Path) -> str:
    """Return the YAML of a new file, with a modeline if the schemas exist."""
    return with_modeline(text, path, root) if has_schemas(root) else text


def folder_inside(folder: Path, root: Path) -> Path:
    """Return a folder of the project with all links resolved; `root` is already resolved.

    Raises UsageError for a folder outside the project, or one where no manifests are read.
    """
    real = Path(os.path.realpath(folder))
    if not real.is_relative_to(root):
        raise UsageError(f"{folder} leads out of the project folder {root}")
    passed = next(filter(is_installed, real.relative_to(root).parts), "")
    if passed:
        raise UsageError(f"{folder}: no manifest is looked for in `{passed}`")
    return real


def passed_over(
    files: Sequence[Path], paths: Sequence[Path], root: Path, exclude: Sequence[str]
) -> Path | None:
    """Return the first new file that would not be read: outside `paths`, excluded or ignored.

    The files have all links resolved, as `folder_inside` returns their folders.
    """
    tops = [Path(os.path.realpath(path)) for path in paths]
    homes: dict[Path, list[Path]] = {}
    for file in files:
        place = display_name(file, root)
        top = next((top for top in tops if file.is_relative_to(top) and file != top), None)
        if top is None or any(matches(place, pattern) for pattern in exclude):
            return file
        homes.setdefault(top, []).append(file)
    return next((path for top, own in homes.items() for path in _ignored(top, own)), None)


def _ignored(top: Path, files: Sequence[Path]) -> list[Path]:
    """Return the files that git ignores, or that are in a Python environment below a folder."""
    rules, wrong = IgnoreRules(top), list[Path]()
    met: dict[Path, bool] = {}
    for file in files:
        between = [parent for parent in file.parents if parent.is_relative_to(top)]
        for folder in reversed(between):
            if folder not in met:
                names = os.listdir(folder) if folder.is_dir() else []  # noqa: PTH208 - names only
                rules.enter(folder, (), names)
                met[folder] = folder != top and is_environment(names)
        if any(met[folder] for folder in between):
            wrong.append(file)
    rules.look_around()
    ignored = rules.ignored(files)
    return [*wrong, *(file for file in files if file in ignored)]


def folder_like(folder: Path) -> Path:
    """Return an existing folder of this name in other capitals, or else the folder as given."""
    with suppress(OSError):
        if not folder.exists():
            named = sorted(path for path in folder.parent.iterdir() if path.is_dir())
            same = (path for path in named if path.name.casefold() == folder.name.casefold())
            return next(same, folder)
    return folder


def names_in(folder: Path) -> set[str]:
    """Return the names in a folder in folded case, as some file systems ignore capitals.

    Raises InvalidInput if it cannot be read.
    """
    try:
        return {name.casefold() for name in os.listdir(folder)}  # noqa: PTH208 - names only
    except FileNotFoundError:
        return set()
    except OSError as error:
        raise InvalidInput(f"{folder} cannot be read: {error.strerror}") from error


def holds(file: Path, text: str, root: Path) -> bool:
    """Return whether a file of the project has exactly this text."""
    found = read_file(file, display_name(file, root), [root])
    return not isinstance(found, Complaint) and found == text


def write_new(texts: Sequence[tuple[Path, str]], root: Path) -> None:
    """Write new files one after the other, with the folders that they need.

    They are permanent once `settle` has returned. Raises InvalidInput if one of them already
    exists, or cannot be written.
    """
    try:
        for folder in {file.parent for file, _ in texts}:
            if not folder.is_dir():
                folder.mkdir(parents=True, exist_ok=True)
            folder_inside(folder, root)
        write_new_files([(file, text.encode("utf-8")) for file, text in texts])
    except FileExistsError as error:
        name = display_name(Path(str(error.filename2 or error.filename)), root)
        raise InvalidInput(f"{name}: there by now, and nothing is written over it") from error
    except OSError as error:
        name = display_name(Path(str(error.filename or root)), root)
        raise InvalidInput(f"{name} cannot be written: {error.strerror}") from error


def replace_text(path: Path, name: str, roots: Sequence[Path], *, before: str, after: str) -> None:
    """Replace the text of a file; mode, byte-order mark and every comment stay.

    A link stays a link, and its target is written if it is inside the roots; `name` is for people.
    Raises InvalidInput if the file cannot be written, has another text than `before`, or would lose
    a comment.
    """
    found = read_file(path, name, roots)
    if isinstance(found, Complaint):
        raise InvalidInput(f"{name}: {found.message}")
    if found != before:
        raise InvalidInput(f"{name} was changed while this ran: it is left as it is")
    if path.suffix != ".json" and (lost := comments_lost(before, after)):
        raise InvalidInput(
            f"{name} would lose the comment {quoted(lost[0])}: it is left as it is, edit it by hand"
        )
    real = path.resolve()
    try:
        with real.open("rb") as stream:
            mark = BOM_UTF8 if stream.read(len(BOM_UTF8)) == BOM_UTF8 else b""
        replace_file(real, mark + after.encode("utf-8"))
    except OSError as error:
        raise InvalidInput(f"{name} cannot be written: {error.strerror}") from error


def settle(folders: set[Path], root: Path) -> None:
    """Wait until the names of new files and new folders are on disk."""
    try:
        for path in {above for folder in folders for above in (folder, *folder.parents)}:
            if path.is_relative_to(root):
                sync_folder(path)
    except OSError as error:
        raise InvalidInput(f"the folder cannot be written: {error.strerror}") from error


def add_variables(file: Path, variables: Mapping[str, Mapping[str, ProjectVariable]]) -> None:
    """Write variables into a project file, by environment; the rest of the file stays.

    Raises InvalidInput if they have to be added by hand.
    """
    listed = "; ".join(
        f"{name}: {', '.join(f'{key}: {value}' for key, value in more.items())}"
        for name, more in variables.items()
    )
    by_hand = f"{file.name} cannot be written: add these variables by hand ({listed})"
    _rewrite_project(file, lambda values: _with_variables(values, variables), by_hand)


def set_default_environment(file: Path, name: str) -> None:
    """Write the default environment into a project file; the rest of the file stays.

    Raises InvalidInput if it has to be written by hand.
    """
    by_hand = f"{file.name} cannot be edited: write `{default_environment(name)}` by hand"
    _rewrite_project(
        file,
        lambda values: (
            {**values[0], "defaultEnvironment": name}
            if len(values) == 1 and isinstance(values[0], dict)
            else None
        ),
        by_hand,
    )


def default_environment(name: str) -> str:
    """Return the line of a project file that says which environment is used without `-e`."""
    return f"defaultEnvironment: {name}"


def _rewrite_project(file: Path, wanted_of: Callable[[Sequence[Json]], Json], by_hand: str) -> None:
    """Edit a project file; `wanted_of` returns its document, None for what cannot be edited."""
    text = read_own_file(file, file.name)
    if isinstance(text, Complaint):
        raise InvalidInput(f"{by_hand}: {text.message}")
    script = Script(file, file.name, read_text(text, is_json=False), is_json=False)
    wanted = None if script.reading.has_errors else wanted_of(script.values)
    edit = None if wanted is None else towards(script.values[0], wanted) or Within({})
    made = None if edit is None else text_after(script, {0: edit})
    if made is None:
        raise InvalidInput(by_hand)
    try:
        replace_text(file, file.name, [file.parent], before=text, after=made[0])
    except InvalidInput as error:
        raise InvalidInput(f"{by_hand}: {error}") from error


def _with_variables(
    values: Sequence[Json], variables: Mapping[str, Mapping[str, ProjectVariable]]
) -> Json:
    """Return a project file with more variables, or None if it lacks one of the environments."""
    document = values[0] if len(values) == 1 else None
    environments = value_at(document, ("environments",))
    if not isinstance(environments, dict) or not environments.keys() >= variables.keys():
        return None
    added: Json = {name: {"variables": {**more}} for name, more in variables.items()}
    made = overlay(document, {"environments": added})
    return None if made is ABSENT else made
