"""What a store keeps, read as a journal: its header, entries and their sums. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field

from reconciler.errors import JournalError
from reconciler.journal.chain import BEGINNING, parse_line
from reconciler.journal.entries import Entry, Header
from reconciler.journal.entry_documents import parse_entry, parse_header


@dataclass(slots=True)
class Content:
    """The lines of one journal. `torn` says that the last one was cut, and does not count."""

    header: Header | None = None
    entries: list[Entry] = field(default_factory=list)
    sums: list[str] = field(default_factory=list)
    torn: bool = False

    @property
    def end(self) -> str:
        """The sum of the last line; "" where there is none."""
        return self.sums[-1] if self.sums else ""

    @property
    def known_ends(self) -> set[str]:
        """The sums that this journal ends with, or ended with once."""
        return {*self.sums, *([self.header.continues] if self.header is not None else [])} - {""}


def read_content(text: bytes, place: str) -> Content:
    """Read lines. Raises JournalError, naming `place`, where they cannot be trusted."""
    whole, newline, tail = text.rpartition(b"\n")
    content = Content(torn=bool(tail))
    if not newline and not _may_begin_a_journal(tail):
        raise JournalError(f"{place} is not a journal")
    try:
        lines = whole.decode().split("\n") if newline else []
    except UnicodeDecodeError as error:
        raise JournalError(f"{place} is not UTF-8") from error
    try:
        for number, line in enumerate(lines, 1):
            document, total = parse_line(line, content.end, number)
            content.sums.append(total)
            if number == 1:
                content.header = parse_header(document)
            else:
                content.entries.append(parse_entry(document, number))
    except JournalError as error:
        raise JournalError(f"{place}: {error}") from error
    return content


def _may_begin_a_journal(torn: bytes) -> bool:
    """Tell a header that was cut from content that is something else."""
    return torn[: len(BEGINNING)] == BEGINNING[: len(torn)]
