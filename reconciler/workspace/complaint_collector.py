"""What is wrong with the files of a run, collected as they are read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from reconciler.syntax.diagnostic import Complaint, Finding, Severity
from reconciler.syntax.files import File
from reconciler.syntax.parsed_text import DocumentText, Reading, complaints_of_text

MOST_COMPLAINTS = 10_000
"""About one file, and ten times as many in all; a file can hold a million mistakes."""

_OF_VALUES = frozenset(("M301", "M304"))


@dataclass(slots=True)
class Complaining:
    """Collects complaints: of each file, and in all, so many that a person can read some."""

    complaints: list[Complaint] = field(default_factory=list, init=False)
    counts: Counter[str] = field(default_factory=Counter, init=False)
    again: int = field(default=0, init=False)
    _of_items: set[Complaint] = field(default_factory=set, init=False)
    _flawed: set[tuple[int, int]] = field(default_factory=set, init=False)

    @property
    def is_full(self) -> bool:
        """Whether so much is wrong that no more need be looked for."""
        return self.counts[""] > 0 or self.again > 10 * MOST_COMPLAINTS

    def note_text(self, file: File, reading: Reading) -> None:
        """Note what is wrong with the text, and where it cannot be read."""
        self._flawed = {
            (flaw.line, flaw.column) for flaw in reading.flaws if flaw.severity is Severity.ERROR
        }
        all(map(self.keep, complaints_of_text(file.name, reading)))

    def complain(self, text: DocumentText, findings: Iterable[Finding]) -> bool:
        """Note findings; tell whether one of them is an error."""
        failed = False
        for finding in findings:
            failed |= finding.severity is Severity.ERROR
            complaint = text.complaint(finding)
            # What cannot be read has its complaint, and is not judged.
            place = (complaint.line, complaint.column)
            if finding.code in _OF_VALUES and place in self._flawed:
                continue
            if not self.keep(complaint):
                return True
        return failed

    def keep(self, complaint: Complaint) -> bool:
        """Keep a complaint; tell whether there may be more, and say so where not."""
        if complaint.item is not None and complaint in self._of_items:
            # It is told once for all items, of which enough are counted.
            self.again += 1
            self.complaints.append(complaint)
            return self.again <= 10 * MOST_COMPLAINTS
        if complaint.item is not None:
            self._of_items.add(complaint)
        self.counts[complaint.file] += 1
        full = len(self.complaints) - self.again >= 10 * MOST_COMPLAINTS
        if self.counts[complaint.file] <= MOST_COMPLAINTS and not full:
            self.complaints.append(complaint)
            return True
        if self.counts[complaint.file] == MOST_COMPLAINTS + 1 or self.counts[""] == 0:
            said = "there is too much to complain of: the rest of this file is unchecked"
            self.complaints.append(Complaint.of_file(complaint.file, "M115", said))
        self.counts[""] += full
        return False
