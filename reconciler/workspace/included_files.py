"""Files that `${file:PATH}` includes: YAML or JSON inside the project, read as data.

Source: docs/reuse.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path as File

from reconciler.document import Path
from reconciler.kinds.judge_spec import SpecReport
from reconciler.syntax.diagnostic import Advice, Complaint, Finding
from reconciler.syntax.display_names import display_name
from reconciler.syntax.expressions import ExpressionKind, expression
from reconciler.syntax.files import LARGEST_MADE, MOST_MADE, SUFFIXES
from reconciler.syntax.parsed_text import Reading, complaints_of_text
from reconciler.syntax.sources import Sources
from reconciler.workspace.expression_scope import MOST_TRAILED, IncludedFile, Inside, Size

UNUSABLE = "M512"
MOST_INCLUDED = 50_000
"""Limit of inclusions in one run: a few files that include each other can make millions."""
_LESS = Advice("include fewer files, or one that holds what several of them hold")


@dataclass(frozen=True, slots=True)
class _Target:
    """The file that a path leads to from another file, and why it is not read, if so."""

    file: File
    real: File
    name: str
    why_not: str


@dataclass(slots=True)
class Includes:
    """Reader of included files that reads each file once and counts how much is made.

    `keep` receives the complaints about the text of a file, once for each file.
    """

    root: File
    sources: Sources[SpecReport]
    keep: Callable[[Complaint], bool]
    readings: dict[File, Reading | Complaint] = field(default_factory=dict)
    real: set[File] = field(default_factory=set)
    reals: dict[File, File] = field(default_factory=dict)
    targets: dict[tuple[File, str], _Target] = field(default_factory=dict)

    def spend(self, size: Size) -> bool:
        """Add a size to what is made; return whether the total is within the limits."""
        self.sources.nodes_made += size.nodes
        self.sources.text_made += size.text
        return self.sources.nodes_made <= MOST_MADE and self.sources.text_made <= LARGEST_MADE

    def content(self, named: str, inside: Inside, path: Path) -> IncludedFile | Finding | None:
        """Return the content of a file or the reason against it; None if it is already reported."""
        self.sources.included += 1
        if self.sources.included > MOST_INCLUDED:
            message = f"files are included more than {MOST_INCLUDED:,} times in this run"
            is_first = self.sources.included == MOST_INCLUDED + 1
            return replace(_wrong(path, named, message), suggestion=_LESS) if is_first else None
        target = self._target(named, inside)
        message = target.why_not or self._why_not(target, inside)
        if message:
            return _wrong(path, named, message)
        file, name = target.file, target.name
        reading = self._reading(file, name, inside)
        if isinstance(reading, Complaint):
            near = reading.suggestion and str(File(named).with_name(reading.suggestion))
            repair = near and expression(ExpressionKind.FILE, near)
            return replace(_wrong(path, named, reading.message), suggestion=repair)
        self.real.add(target.real)
        if reading.has_errors:
            return None
        documents = [document for document in reading.documents if document.value is not None]
        if len(documents) == 1:
            return IncludedFile(file, name, documents[0])
        return _wrong(path, named, f"it holds {len(documents) or 'no'} documents, and not one")

    def _target(self, named: str, inside: Inside) -> _Target:
        """Return the target of a path, which is looked up once for each including file."""
        key = inside.trail[-1], named
        known = self.targets.get(key)
        if known is None:
            file = key[0].parent / named
            real = self._real(file)
            why_not = _why_never(named, file, real, self.sources.roots)
            known = _Target(file, real, display_name(file, self.root), why_not)
            self.targets[key] = known
        return known

    def _real(self, file: File) -> File:
        known = self.reals.get(file)
        if known is None:
            known = self.reals[file] = _real(file)
        return known

    def _why_not(self, target: _Target, inside: Inside) -> str:
        """Return why a file is not read in this chain of inclusions, or "" if it is."""
        if target.real in map(self._real, inside.trail):
            names = (display_name(path, self.root) for path in (*inside.trail, target.file))
            return f"files include each other: {' → '.join(names)}"
        if len(inside.trail) > MOST_TRAILED:
            return f"files include one another deeper than {MOST_TRAILED}"
        return ""

    def _reading(self, file: File, name: str, inside: Inside) -> Reading | Complaint:
        """Read a file, and report the errors of its text once."""
        known = self.readings.get(file)
        if known is None:
            known = self.sources.read(file, name, is_json=file.suffix == ".json")
            self.readings[file] = known
            if isinstance(known, Reading):
                note = included_by(inside)
                for complaint in complaints_of_text(name, known):
                    self.keep(_noted(complaint, note))
        return known


def _why_never(named: str, file: File, real: File, roots: tuple[File, ...]) -> str:
    """Return why a file is never read, or "" if it may be."""
    if named.startswith(("/", "~")):
        return "it must be relative to the file that includes it"
    if file.suffix not in SUFFIXES:
        return "only YAML and JSON are included: write its text as YAML, after `|`"
    if not any(real.is_relative_to(root) for root in roots):
        return "this file leads out of the project folder"
    return ""


def included_by(inside: Inside) -> str:
    """Return the note that names the including file."""
    return f", included by {inside.text.file}"


def _real(file: File) -> File:
    try:
        return file.resolve()
    except (OSError, RuntimeError, ValueError):
        # A path that cannot be resolved cannot be read either, and the read reports that.
        return file


def _noted(complaint: Complaint, note: str) -> Complaint:
    return replace(complaint, message=complaint.message + note)


def _wrong(path: Path, named: str, reason: str) -> Finding:
    return Finding(UNUSABLE, path, f"`{named}` cannot be included: {reason}")
