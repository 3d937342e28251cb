"""New files of a project: where they may be, which files exist, and permanent writes."""

from __future__ import annotations

import os
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from reconciler.document import Json, Within, towards
from reconciler.errors import InvalidInput, UsageError
from reconciler.model.quoting import quoted
from reconciler.project import ProjectVariable
from reconciler.syntax.diagnostic import Complaint
from reconciler.syntax.files import (
    PROJECT_FILE,
    IgnoreRules,
    display_name,
    is_environment,
    is_installed,
    matches,
    read_file,
    read_own_file,
)
from reconciler.syntax.read_text import read_text
from reconciler.syntax.syntax_tree import comments_lost
from reconciler.syntax.write_files import replace_file, sync_folder, write_new_files
from reconciler.workspace.manifest_edits import Script, text_after

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
    line = modeline(path, root)
    first_break = text.find("\n")
    return (
        line.replace("\n", "\r\n") if text[first_break - 1 : first_break] == "\r" else line
    ) + text


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
    environments = document.get("environments") if isinstance(document, dict) else None
    if not isinstance(document, dict) or not isinstance(environments, dict):
        return None
    if not environments.keys() >= variables.keys():
        return None
    changed: dict[str, Json] = {}
    for name, more in variables.items():
        settings = environments[name]
        settings = settings if isinstance(settings, dict) else {}
        present = settings.get("variables")
        kept = present if isinstance(present, dict) else {}
        changed[name] = {**settings, "variables": {**kept, **more}}
    return {**document, "environments": {**environments, **changed}}
