"""Files of a project that are not in the standard layout, and their text in that layout."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from reconciler.document import Json
from reconciler.kinds import BY_NAME
from reconciler.model import API_VERSION
from reconciler.project import Project
from reconciler.syntax.characters import departure_from_json
from reconciler.syntax.diagnostic import Complaint
from reconciler.syntax.display_names import display_name
from reconciler.syntax.files import PROJECT_FILE, decode, find_files
from reconciler.syntax.parsed_text import Reading, complaints_of_text
from reconciler.syntax.read_text import read_text
from reconciler.syntax.sources import Sources
from reconciler.workspace.modelines import with_modeline
from reconciler.workspace.tidy_files import tidied
from reconciler.workspace.workspace import sources_of

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
    sources = Sources[None](sources_of(paths, project.root, project.settings.limits.size).roots)
    search = _Search(project.root, sources, wanted, modelines=modelines)
    found = find_files(paths, project.root, project.settings.exclude, project.settings.limits.files)
    search.found.complaints.extend(found.complaints)
    for path in _project_files(paths, project):
        search.look_at(path, display_name(path, project.root), is_json=False)
    for file in found.files:
        search.look_at(file.path, file.name, is_json=file.is_json)
    return search.found


def text_in(content: bytes, name: str) -> tuple[str, str | Sequence[Complaint]]:
    """Return a text from outside a file, and its standard layout or its errors.

    A text that is valid JSON is read as JSON.
    """
    text = decode(content, name)
    if isinstance(text, Complaint):
        return "", [text]
    is_json = text.lstrip()[:1] in ("{", "[") and departure_from_json(text) is None
    reading = read_text(text, is_json=is_json)
    made = _made_of(reading, name, is_json=is_json)
    return text, made


def _made_of(reading: Reading, name: str, *, is_json: bool) -> str | Sequence[Complaint]:
    """Return a text in the standard layout, or its errors."""
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


@dataclass(slots=True)
class _Search:
    root: Path
    sources: Sources[None]
    wanted: Callable[[str], bool]
    modelines: bool = False
    found: Tidied = field(default_factory=Tidied)
    seen: set[Path] = field(default_factory=set)

    def look_at(self, path: Path, name: str, *, is_json: bool) -> None:
        """Record the layout of one file, and of the exports that it names."""
        if path.resolve() in self.seen:
            return
        self.seen.add(path.resolve())
        reading = self.sources.read(path, name, is_json=is_json)
        if self.wanted(name):
            self.found.files += 1
            self._hold(path, name, reading, is_json=is_json)
        else:
            self.found.left_out += 1
        if isinstance(reading, Reading):
            for document in reading.documents:
                self._look_at_exports(path.parent, document.value)

    def _hold(self, path: Path, name: str, reading: Reading | Complaint, *, is_json: bool) -> None:
        """Compare one file with its layout."""
        if isinstance(reading, Complaint):
            self.found.complaints.append(reading)
            return
        made = _made_of(reading, name, is_json=is_json)
        if not isinstance(made, str):
            self.found.complaints.extend(made)
            return
        before = reading.lines.text
        if self.modelines and not is_json:
            made = with_modeline(made, path, self.root)
        if made != before:
            self.found.changed.append(Tidy(path, name, before, made, self.sources.roots))

    def _look_at_exports(self, folder: Path, document: Json) -> None:
        for named in _exports(document):
            file = folder / named
            # `validate` reports a file that does not exist.
            if file.is_file():
                self.look_at(file, display_name(file, self.root), is_json=True)


def _exports(document: Json) -> Iterator[str]:
    """Yield the file of the export that a manifest names."""
    if not isinstance(document, dict) or document.get("apiVersion") != API_VERSION:
        return
    kind, spec = document.get("kind"), document.get("spec")
    known = BY_NAME.get(kind) if isinstance(kind, str) else None
    named = spec.get("file") if isinstance(spec, dict) else None
    is_export = known is not None and known.from_export is not None
    if is_export and isinstance(named, str) and named and not Path(named).is_absolute():
        yield named
