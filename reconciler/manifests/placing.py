"""From a finding at a path to a complaint at a line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from reconciler.complaint import Complaint, complaint_at
from reconciler.document import Path, value_at
from reconciler.expressions import OPEN
from reconciler.finding import Finding
from reconciler.manifests.parsed import Document, Reading

OF_VARIABLE = "write another value of the variable in the project file"


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
        line, column = (
            self.document.locate(path, at_key=finding.at_key)
            if finding.spot is None
            else self.document.locate_spot(path, finding.spot)
        )
        if finding.suggestion and not finding.at_key and self._is_filled(path, finding):
            finding = replace(finding, suggestion=OF_VARIABLE)
        placed = complaint_at(self.file, self.document.lines, line, column, finding)
        return replace(placed, ref=self.ref, path=path)

    def _is_filled(self, path: Path, finding: Finding) -> bool:
        """Tell a value that expressions gave, so that another one cannot be written here."""
        written = value_at(self.document.value, path)
        return finding.spot is None and isinstance(written, str) and OPEN in written


def complaints_of_text(file: str, reading: Reading) -> Iterator[Complaint]:
    """Yield what is wrong with the text itself."""
    for flaw in reading.flaws:
        finding = Finding(flaw.code, (), flaw.message, flaw.severity, flaw.suggestion)
        yield complaint_at(file, reading.lines, flaw.line, flaw.column, finding)
