"""Files that `${file:PATH}` puts in: YAML or JSON inside the project, read as data.

Source: docs/reuse.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path as File

from reconciler.document import Path
from reconciler.expressions import Word, expression
from reconciler.kinds.judging import Judged
from reconciler.manifests.inserting import MOST_TRAILED, Content, Inside
from reconciler.source.diagnostic import Complaint, Finding
from reconciler.source.files import LARGEST_AGAIN, SUFFIXES
from reconciler.source.parsed import Reading, complaints_of_text
from reconciler.source.shown import display_name
from reconciler.source.sources import Sources

UNUSABLE = "M512"
MOST_INCLUDED = 50_000
"""How often files are put in by one run: a few that include each other many times are millions."""


@dataclass(slots=True)
class Includes:
    """Reads what manifests include, each file once, and keeps account of how much is made.

    `keep` takes what is wrong with the text of a file, which is said once.
    """

    root: File
    sources: Sources[Judged]
    keep: Callable[[Complaint], bool]
    readings: dict[File, Reading | Complaint] = field(default_factory=dict)
    real: set[File] = field(default_factory=set)
    count: int = 0

    def spend(self, size: int) -> bool:
        """Tell whether as much more may be made."""
        self.sources.again += size
        return self.sources.again <= LARGEST_AGAIN

    def content(self, named: str, inside: Inside, path: Path) -> Content | Finding | None:
        """Give what a file holds, or why not; None where that is said already."""
        self.count += 1
        if self.count > MOST_INCLUDED:
            said = f"files are included more than {MOST_INCLUDED:,} times in this run"
            return _wrong(path, named, said) if self.count == MOST_INCLUDED + 1 else None
        file = inside.trail[-1].parent / named
        said = self._why_not(named, file, inside)
        if said:
            return _wrong(path, named, said)
        name = display_name(file, self.root)
        reading = self._reading(file, name, inside)
        if isinstance(reading, Complaint):
            near = reading.suggestion and str(File(named).with_name(reading.suggestion))
            repair = near and expression(Word.FILE, near)
            return replace(_wrong(path, named, reading.message), suggestion=repair)
        self.real.add(_real(file))
        if reading.has_errors:
            return None
        documents = [one for one in reading.documents if one.value is not None]
        if len(documents) == 1:
            return Content(file, name, documents[0])
        return _wrong(path, named, f"it holds {len(documents) or 'no'} documents, and not one")

    def _why_not(self, named: str, file: File, inside: Inside) -> str:
        """Say why a file is not even read, "" where it is."""
        if named.startswith(("/", "~")):
            return "it must be relative to the file that includes it"
        if file.suffix not in SUFFIXES:
            return "only YAML and JSON are included: write its text as YAML, after `|`"
        if not any(_real(file).is_relative_to(root) for root in self.sources.roots):
            return "this file leads out of the project folder"
        if _real(file) in map(_real, inside.trail):
            names = (display_name(one, self.root) for one in (*inside.trail, file))
            return f"files include each other: {' → '.join(names)}"
        if len(inside.trail) > MOST_TRAILED:
            return f"files include one another deeper than {MOST_TRAILED}"
        return ""

    def _reading(self, file: File, name: str, inside: Inside) -> Reading | Complaint:
        """Read a file, and say once what is wrong with its text."""
        known = self.readings.get(file)
        if known is None:
            known = self.sources.read(file, name, is_json=file.suffix == ".json")
            self.readings[file] = known
            if isinstance(known, Reading):
                said = included_by(inside)
                for complaint in complaints_of_text(name, known):
                    self.keep(_noted(complaint, said))
        return known


def included_by(inside: Inside) -> str:
    """Say which file includes what is complained of."""
    return f", included by {inside.text.file}"


def _real(file: File) -> File:
    try:
        return file.resolve()
    except (OSError, RuntimeError, ValueError):
        # What cannot be resolved cannot be read either, and is told so.
        return file


def _noted(complaint: Complaint, said: str) -> Complaint:
    return replace(complaint, message=complaint.message + said)


def _wrong(path: Path, named: str, said: str) -> Finding:
    return Finding(UNUSABLE, path, f"`{named}` cannot be included: {said}")
