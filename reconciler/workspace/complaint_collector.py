"""Collector of complaints about the files of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from reconciler.syntax.diagnostic import Complaint, Finding, Severity
from reconciler.syntax.files import File
from reconciler.syntax.parsed_text import DocumentText, Reading, complaints_of_text

MOST_COMPLAINTS = 10_000
"""Limit for one file; the limit in all is ten times as high. A file can have a million mistakes."""

_OF_VALUES = frozenset(("M301", "M304"))


@dataclass(slots=True)
class Complaining:
    """Collector of complaints, limited for each file and in all so that a person can read them."""

    complaints: list[Complaint] = field(default_factory=list, init=False)
    counts: Counter[str] = field(default_factory=Counter, init=False)
    again: int = field(default=0, init=False)
    _of_items: set[Complaint] = field(default_factory=set, init=False)
    _flawed: set[tuple[int, int]] = field(default_factory=set, init=False)

    @property
    def is_full(self) -> bool:
        """Return whether the limits are reached, so that further checks are useless."""
        return self.counts[""] > 0 or self.again > 10 * MOST_COMPLAINTS

    def note_text(self, file: File, reading: Reading) -> None:
        """Record the complaints about a text, and the places that cannot be read."""
        self._flawed = {
            (flaw.line, flaw.column) for flaw in reading.flaws if flaw.severity is Severity.ERROR
        }
        all(map(self.keep, complaints_of_text(file.name, reading)))

    def complain(self, text: DocumentText, findings: Iterable[Finding]) -> bool:
        """Record findings; return whether one of them is an error."""
        failed = False
        for finding in findings:
            failed |= finding.severity is Severity.ERROR
            complaint = text.complaint(finding)
            # A value that cannot be read already has its complaint, and is not validated.
            place = (complaint.line, complaint.column)
            if finding.code in _OF_VALUES and place in self._flawed:
                continue
            if not self.keep(complaint):
                return True
        return failed

    def keep(self, complaint: Complaint) -> bool:
        """Keep a complaint; return whether more may follow.

        At the limit, one complaint says that the rest of the file is unchecked.
        """
        if complaint.item is not None and complaint in self._of_items:
            # A complaint that repeats for other items is shown once, but counted.
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
            message = "there is too much to complain of: the rest of this file is unchecked"
            self.complaints.append(Complaint.of_file(complaint.file, "M115", message))
        self.counts[""] += full
        return False
