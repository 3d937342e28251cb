"""The files of one run: each is read once, and results are kept if they are needed again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Generic, TypeVar

from reconciler.document import Json
from reconciler.syntax.diagnostic import Complaint, Finding
from reconciler.syntax.files import (
    LARGEST_AGAIN,
    LARGEST_WORKSPACE,
    File,
    content_of,
    digest_of,
    text_of,
)
from reconciler.syntax.parsed_text import Document, Reading
from reconciler.syntax.read_ahead import ReadResult
from reconciler.syntax.read_text import read_text

NOBODY_READ: Final = (File(Path(), ""), None)

Judged = TypeVar("Judged")


@dataclass(slots=True)
class Sources(Generic[Judged]):
    """Texts and their reports (`Judged`). With `kept`, nothing is read a second time.

    `arrived` is the next file and its reading from another process, used once. `paths` are all
    files that were read, `instead` are the texts that files would have after a repair. Values made
    and files `included` are counted over all environments, because all of them are in memory
    together.
    """

    roots: tuple[Path, ...]
    kept: bool = False
    instead: Mapping[Path, str] = field(default_factory=dict)
    largest: int = LARGEST_WORKSPACE
    size: int = 0
    again: int = 0
    nodes_made: int = 0
    text_made: int = 0
    included: int = 0
    met: set[Path] = field(default_factory=set)
    first_unread: str = ""
    readings: dict[tuple[Path, bool], Reading | Complaint] = field(default_factory=dict)
    paths: set[Path] = field(default_factory=set)
    arrived: tuple[File, ReadResult | None] = NOBODY_READ
    judged: dict[int, tuple[Document, Judged]] = field(default_factory=dict)
    patches: dict[tuple[int, str], tuple[Json, list[Finding], list[Finding]]] = field(
        default_factory=dict
    )
    """Findings about patches of environments, for the validation of `overrides`."""
    digests: dict[Path, tuple[str, str]] | None = None
    """The display name of each file and a digest of its bytes, by path; None if not needed."""

    def begin(self) -> None:
        """Start another environment, with the same size limit again."""
        self.size, self.again, self.first_unread = 0, 0, ""
        self.met = set()

    def read(self, path: Path, name: str, *, is_json: bool) -> Reading | Complaint:
        """Return the reading of a file, as long as the workspace is not too large.

        A file counts each time that it is used, because each use validates it. From the second time
        on it counts towards a limit that no setting raises.
        """
        if self.size > self.largest or self.again > LARGEST_AGAIN:
            self.first_unread = self.first_unread or name
            most = self.largest if self.size > self.largest else LARGEST_AGAIN
            message = f"the files are larger than {most >> 20} MB in all: from here, unread"
            return Complaint.of_file(self.first_unread, "M115", message)
        self.paths.add(path)
        reading = self.readings.get((path, is_json))
        if reading is None:
            reading = self._read(path, name, is_json=is_json)
            if self.kept:
                self.readings[path, is_json] = reading
        if isinstance(reading, Reading):
            if path in self.met:
                self.again += len(reading.lines.text)
            else:
                self.met.add(path)
                self.size += len(reading.lines.text)
        return reading

    def _read(self, path: Path, name: str, *, is_json: bool) -> Reading | Complaint:
        file, arrived = self.arrived
        if arrived is not None and (file.path, file.is_json) == (path, is_json):
            self.arrived = file, None
            self._note(path, name, arrived.digest)
            return arrived.reading
        text = self.text_of(path, name)
        return text if isinstance(text, Complaint) else read_text(text, is_json=is_json)

    def text_of(self, path: Path, name: str) -> str | Complaint:
        """Return the text of a file, or the text that replaces it."""
        own = self.instead.get(path.resolve()) if self.instead else None
        if own is not None:
            return own
        content = content_of(path, name, self.roots)
        if self.digests is not None:
            self._note(path, name, digest_of(content))
        return text_of(content, name)

    def _note(self, path: Path, name: str, digest: str) -> None:
        if self.digests is not None:
            # A file that changed between two reads gets a digest that never matches.
            known = self.digests.setdefault(path, (name, digest))
            if known[1] != digest:
                self.digests[path] = name, "changed"

    def judge(self, document: Document, judging: Callable[[], Judged]) -> Judged:
        """Return the report on a document that is the same in every environment."""
        known = self.judged.get(id(document))
        if known is not None:
            return known[1]
        judged = judging()
        if self.kept:
            # The document is kept too, so that no other document gets its id.
            self.judged[id(document)] = document, judged
        return judged
