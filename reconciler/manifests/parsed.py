"""What reading a text gives: documents with positions, and flaws of the text."""

from __future__ import annotations

from dataclasses import dataclass, field

from reconciler.complaint import Lines
from reconciler.document import Json, Path
from reconciler.finding import Severity
from reconciler.manifests.positions import Positions


@dataclass(frozen=True, slots=True)
class Flaw:
    """What is wrong with the text itself; line and column from 1."""

    code: str
    line: int
    column: int
    message: str
    suggestion: str = ""
    severity: Severity = Severity.ERROR


@dataclass(slots=True)
class Document:
    """One document of a file."""

    lines: Lines
    value: Json = None
    positions: Positions = field(default_factory=Positions)

    @property
    def text(self) -> str:
        """The text of the whole file."""
        return self.lines.text

    def locate(self, path: Path = (), *, at_key: bool = False) -> tuple[int, int]:
        """Give line and column, from 1, of the nearest place on `path` that was written."""
        return self.lines.place(self.positions.offset(self.value, path, at_key=at_key))


@dataclass(slots=True)
class Reading:
    """Everything one file gave. What was read before a syntax error is kept."""

    lines: Lines
    documents: list[Document] = field(default_factory=list)
    flaws: list[Flaw] = field(default_factory=list)

    @property
    def has_errors(self) -> bool:
        """Whether something in the text itself stops a run."""
        return any(flaw.severity is Severity.ERROR for flaw in self.flaws)
