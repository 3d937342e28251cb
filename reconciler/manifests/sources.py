"""The files of a run, each read and parsed once, for however many environments they are judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from reconciler.complaint import Complaint
from reconciler.kinds.judging import Judged
from reconciler.manifests.files import LARGEST_WORKSPACE, read_file
from reconciler.manifests.parsed import Document, Reading
from reconciler.manifests.reading import read_text


@dataclass(slots=True)
class Sources:
    """Texts and what was found in them. What is `kept` is not read a second time.

    `paths` are all that was asked for, `instead` are texts that files would have once
    they are repaired.
    """

    roots: tuple[Path, ...]
    kept: bool = False
    instead: Mapping[Path, str] = field(default_factory=dict)
    size: int = 0
    first_unread: str = ""
    readings: dict[tuple[Path, bool], Reading | Complaint] = field(default_factory=dict)
    paths: set[Path] = field(default_factory=set)
    judged: dict[int, tuple[Document, Judged]] = field(default_factory=dict)

    def begin(self) -> None:
        """Begin with another environment, in which the workspace may be as large again."""
        self.size, self.first_unread = 0, ""

    def read(self, path: Path, name: str, *, is_json: bool) -> Reading | Complaint:
        """Give what a file holds, as long as the workspace is not too large.

        A file counts each time that it is asked for, as each time it is judged.
        """
        if self.size > LARGEST_WORKSPACE:
            self.first_unread = self.first_unread or name
            said = (
                f"the files are larger than {LARGEST_WORKSPACE >> 20} MB in all: from here, unread"
            )
            return Complaint(self.first_unread, 0, 0, "M115", said)
        self.paths.add(path)
        reading = self.readings.get((path, is_json))
        if reading is None:
            text = self.text_of(path, name)
            reading = text if isinstance(text, Complaint) else read_text(text, is_json=is_json)
            if self.kept:
                self.readings[path, is_json] = reading
        if isinstance(reading, Reading):
            self.size += len(reading.lines.text)
        return reading

    def text_of(self, path: Path, name: str) -> str | Complaint:
        """Give the text of a file, or of what it would be."""
        own = self.instead.get(path.resolve()) if self.instead else None
        return read_file(path, name, self.roots) if own is None else own

    def judge(self, document: Document, judging: Callable[[], Judged]) -> Judged:
        """Give what is wrong with a document that is the same in every environment."""
        known = self.judged.get(id(document))
        if known is not None:
            return known[1]
        judged = judging()
        if self.kept:
            # The document is kept too, so that no other takes its place in memory.
            self.judged[id(document)] = document, judged
        return judged
