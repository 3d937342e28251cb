"""From a finding at a path to a complaint at a line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from reconciler.complaint import Complaint, complaint_at
from reconciler.document import Path
from reconciler.finding import Finding
from reconciler.manifests.parsed import Document, Reading


@dataclass(frozen=True, slots=True)
class Text:
    """A document and the file it stands in, where complaints are placed.

    `prefix` leads from the document's root to what findings are relative to,
    `ref` is the resource that the document declares, as far as it can be told.
    """

    file: str
    document: Document
    prefix: Path = ()
    dropped: int = 0
    ref: str = ""

    def complaint(self, finding: Finding) -> Complaint:
        """Place a finding in the file."""
        path = (*self.prefix, *finding.path[self.dropped :])
        line, column = self.document.locate(path, at_key=finding.at_key)
        placed = complaint_at(self.file, self.document.lines, line, column, finding)
        return replace(placed, ref=self.ref, path=path)


def complaints_of_text(file: str, reading: Reading) -> Iterator[Complaint]:
    """Yield what is wrong with the text itself."""
    for flaw in reading.flaws:
        finding = Finding(flaw.code, (), flaw.message, flaw.severity, flaw.suggestion)
        yield complaint_at(file, reading.lines, flaw.line, flaw.column, finding)
