"""Which files of a project stand in another layout than the one, and what they would be in it."""

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
    """A file that stands in another layout: its path, its name for people, before and after.

    Inside one of `roots` it has to be written.
    """

    path: Path
    name: str
    before: str
    after: str
    roots: tuple[Path, ...]


@dataclass(slots=True)
class Tidied:
    """What was found: the files that would change, what cannot be read, and how many were seen.

    `left_out` is how many were not selected.
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
    """Look at the manifests under `paths`, the exports that they name, and the project file.

    That one is looked at where it is among the paths, or below one. With `modelines`, each file
    of YAML gets the line by which editors find its schema. What is not `wanted`, by its name, is
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
    """Give a text that stands in no file, and what it is in the one layout or what is wrong.

    It is taken as JSON where it is that.
    """
    text = decode(content, name)
    if isinstance(text, Complaint):
        return "", [text]
    is_json = text.lstrip()[:1] in ("{", "[") and departure_from_json(text) is None
    reading = read_text(text, is_json=is_json)
    made = _made_of(reading, name, is_json=is_json)
    return text, made


def _made_of(reading: Reading, name: str, *, is_json: bool) -> str | Sequence[Complaint]:
    """Give a text in its one layout, or what is wrong with it."""
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
        """Note what one file would be, and look at the exports that it names."""
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
        """Hold one file against its layout."""
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
            # One that is not there is a matter of `validate`.
            if file.is_file():
                self.look_at(file, display_name(file, self.root), is_json=True)


def _exports(document: Json) -> Iterator[str]:
    """Yield the file of an export that a manifest names."""
    if not isinstance(document, dict) or document.get("apiVersion") != API_VERSION:
        return
    kind, spec = document.get("kind"), document.get("spec")
    known = BY_NAME.get(kind) if isinstance(kind, str) else None
    named = spec.get("file") if isinstance(spec, dict) else None
    is_export = known is not None and known.from_export is not None
    if is_export and isinstance(named, str) and named and not Path(named).is_absolute():
        yield named
