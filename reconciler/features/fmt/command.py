"""`reconciler fmt`: bring manifests, exports and the project file into the standard layout."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import click

from reconciler.cli import options
from reconciler.cli.console import data, stderr_style, words
from reconciler.document import Json, value_at
from reconciler.errors import ExitCode, InvalidInput, UsageError
from reconciler.kinds import BY_NAME
from reconciler.model import API_VERSION
from reconciler.operations.open_project import Options, manifest_paths, open_project
from reconciler.project import Project, choose_environment
from reconciler.report.complaints.document import complaints_text, fix_diff
from reconciler.report.safe import safe
from reconciler.report.words import plural
from reconciler.syntax.characters import departure_from_json
from reconciler.syntax.diagnostic import Complaint
from reconciler.syntax.files import PROJECT_FILE, decode, display_name, find_files
from reconciler.syntax.parsed_text import Reading, complaints_of_text
from reconciler.syntax.read_text import Sources, read_text
from reconciler.workspace.expression_scope import Scope, withheld_from
from reconciler.workspace.layout import tidied
from reconciler.workspace.workspace import files_taken, sources_of
from reconciler.workspace.write_files import FOLDER, has_schemas, replace_text, with_modeline

NOT_LAID_OUT = (
    "another layout would change what this file says, so it is left as it is: write what is odd "
    "in it another way"
)


@dataclass(frozen=True, slots=True)
class Tidy:
    """A file in another layout: path, display name, and text before and after.

    The file must be written inside one of `roots`.
    """

    path: Path
    name: str
    before: str
    after: str
    roots: tuple[Path, ...]


@dataclass(slots=True)
class Tidied:
    """The files that would change, complaints about unreadable files, and the number of files.

    `left_out` is the number of files that were not selected.
    """

    changed: list[Tidy] = field(default_factory=list)
    complaints: list[Complaint] = field(default_factory=list)
    files: int = 0
    left_out: int = 0


def find_untidy(
    paths: Sequence[Path],
    project: Project,
    *,
    modelines: bool = False,
    wanted: Callable[[str], bool] = lambda _: True,
) -> Tidied:
    """Return what the standard layout would change in manifests under `paths` and their exports.

    The project file is included if it is among the paths, or below one. With `modelines`, each YAML
    file gets the line by which editors find its schema. Files with a name that is not `wanted` are
    only counted.
    """
    root = project.root
    sources = Sources[None](sources_of(paths, root, project.settings.limits.size).roots)
    files = find_files(paths, root, project.settings.exclude, project.settings.limits.files)
    found = Tidied(complaints=[*files.complaints])
    waiting = [(path, display_name(path, root), False) for path in _project_files(paths, project)]
    waiting += [(file.path, file.name, file.is_json) for file in files.files]
    waiting.reverse()
    seen: set[Path] = set()
    while waiting:
        path, name, is_json = waiting.pop()
        if path.resolve() in seen:
            continue
        seen.add(path.resolve())
        reading = sources.read(path, name, is_json=is_json)
        waiting += [(file, display_name(file, root), True) for file in _exports(reading, path)]
        if not wanted(name):
            found.left_out += 1
            continue
        found.files += 1
        made = _formatted(reading, name, is_json=is_json)
        if not isinstance(made, str):
            found.complaints.extend(made)
            continue
        before = reading.lines.text if isinstance(reading, Reading) else ""
        made = with_modeline(made, path, root) if modelines and not is_json else made
        if made != before:
            found.changed.append(Tidy(path, name, before, made, sources.roots))
    return found


def text_in(content: bytes, name: str) -> tuple[str, str | Sequence[Complaint]]:
    """Return a text from outside a file, and its standard layout or its errors.

    A text that is valid JSON is read as JSON.
    """
    text = decode(content, name)
    if isinstance(text, Complaint):
        return "", [text]
    is_json = text.lstrip()[:1] in ("{", "[") and departure_from_json(text) is None
    return text, _formatted(read_text(text, is_json=is_json), name, is_json=is_json)


def _formatted(
    reading: Reading | Complaint, name: str, *, is_json: bool
) -> str | Sequence[Complaint]:
    if isinstance(reading, Complaint):
        return [reading]
    errors = [complaint for complaint in complaints_of_text(name, reading) if complaint.is_error]
    if errors:
        return errors
    after = tidied(reading, is_json=is_json)
    return [Complaint.of_file(name, "M118", NOT_LAID_OUT)] if after is None else after


def _project_files(paths: Sequence[Path], project: Project) -> Iterator[Path]:
    file = project.file
    for path in paths:
        if path.name == PROJECT_FILE:
            yield path
        elif file is not None and file.resolve().is_relative_to(path.resolve()):
            yield file


def _exports(reading: Reading | Complaint, path: Path) -> list[Path]:
    """Return the exports that the manifests of a file name, the last first."""
    documents = () if isinstance(reading, Complaint) else reading.documents
    named = (_export_of(document.value) for document in documents)
    # `validate` reports a file that does not exist.
    files = [path.parent / export for export in named if export]
    return [file for file in reversed(files) if file.is_file()]


def _export_of(document: Json) -> str:
    """Return the file of the export that a manifest names, or ""."""
    if not isinstance(document, dict) or document.get("apiVersion") != API_VERSION:
        return ""
    kind, named = document.get("kind"), value_at(document, ("spec", "file"))
    known = BY_NAME.get(kind) if isinstance(kind, str) else None
    is_export = known is not None and known.from_export is not None
    return named if is_export and isinstance(named, str) and not named.startswith("/") else ""


def find(options: Options, *, modeline: bool = False) -> Tidied:
    """Return which manifests need formatting, and the project file where no path was given.

    With a selection, files without a selected resource are only counted. Raises InvalidInput for a
    malformed project file, and UsageError where a modeline would lead to missing schemas.
    """
    project = open_project(options)
    if modeline and not has_schemas(project.root):
        raise UsageError(
            f"there are no schemas in {FOLDER}/ of the project: `reconciler init` writes them"
        )
    paths = manifest_paths(options, project)
    wanted = _wanted(options, project, paths) if options.selection else lambda _: True
    if not options.paths and project.file is not None:
        paths.append(project.file)
    return find_untidy(paths, project, modelines=modeline, wanted=wanted)


def _wanted(options: Options, project: Project, paths: Sequence[Path]) -> Callable[[str], bool]:
    """Return a check for files that hold a selected resource in an environment."""
    environments = project.settings.environments
    if options.environment is not None or not environments:
        environments = dict([choose_environment(project, options.environment)])
    withheld = withheld_from(os.environ)
    scopes = [
        Scope(name, environment.variables, None, withheld=withheld, selection=options.selection)
        for name, environment in environments.items()
    ]
    return files_taken(paths, project.root, scopes, project.settings, options.selection).has


def format_summary(changed: int, files: int, left_out: int = 0, *, is_done: bool) -> str:
    """Return the numbers of files that changed (or would), did not change, and were left out."""
    verb = "formatted" if is_done else "would format"
    rest = files - changed
    left = (
        f"{plural(rest, 'file')} left as it is" if rest == 1 else f"{rest:,} files left as they are"
    )
    if left_out:
        left += f"; {plural(left_out, 'file')} without a selected manifest"
    if not changed:
        return left
    return f"{verb} {plural(changed, 'file')}, {left}"


@click.command
@options.reading
@options.selecting
@click.option("--check", is_flag=True, help="Write nothing; exit 2 where something would change.")
@click.option("--diff", is_flag=True, help="Print the changes as a diff, and write nothing.")
@click.option(
    "--modeline",
    is_flag=True,
    help="Add a first line to each file that names its schema, for editors.",
)
def fmt(*, options: Options, check: bool, diff: bool, modeline: bool) -> int:
    """Bring manifests, exports and the project file into their one layout.

    Comments, anchors, quotes and block texts stay, and what a file says never
    changes. `-` reads stdin and writes stdout. Without PATH, the manifests of the
    project file are meant, else those in this folder.
    """
    if Path("-") in options.paths:
        if len(options.paths) > 1 or modeline or options.selection:
            raise UsageError("`-` is stdin, and takes no other argument")
        return _stdin(check=check, diff=diff)
    found = find(options, modeline=modeline)
    changed = found.changed
    for tidy in () if check or diff else changed:
        replace_text(tidy.path, tidy.name, tidy.roots, before=tidy.before, after=tidy.after)
    if found.complaints:
        words(
            complaints_text(found.complaints, stderr_style(verbose=options.verbose)), laid_out=True
        )
    if diff:
        data("".join(fix_diff(tidy.name, tidy.before, tidy.after) for tidy in changed))
    else:
        data("".join(f"{safe(tidy.name)}\n" for tidy in changed))
    if not options.quiet:
        is_done = not check and not diff
        words(format_summary(len(changed), found.files, found.left_out, is_done=is_done))
    return _ending(is_wrong=bool(found.complaints), would_change=check and bool(changed))


def _stdin(*, check: bool, diff: bool) -> int:
    """Format stdin; only the result, or the difference, is written to stdout."""
    before, after = text_in(sys.stdin.buffer.read(), "stdin")
    if not isinstance(after, str):
        words(complaints_text(after, stderr_style(verbose=False)), laid_out=True)
        return InvalidInput.exit_code
    if diff:
        data(fix_diff("stdin", before, after))
    elif not check:
        data(after)
    return _ending(is_wrong=False, would_change=check and before != after)


def _ending(*, is_wrong: bool, would_change: bool) -> int:
    if is_wrong:
        return InvalidInput.exit_code
    return ExitCode.DIFFERENT if would_change else 0
