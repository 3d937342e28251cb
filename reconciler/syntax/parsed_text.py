"""What reading a text gives: documents with positions, flaws, and complaints at their lines."""

from __future__ import annotations

import re
from array import array
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from yaml import MarkedYAMLError

from reconciler.document import Json, Missing, Path, value_at
from reconciler.expressions import OPEN, Spot
from reconciler.model import Member
from reconciler.syntax.characters import (
    NO_COMMENTS,
    departure_from_json,
    described,
    is_begun_earlier,
    spoken_collection_key,
    spoken_problem,
)
from reconciler.syntax.diagnostic import Advice, Complaint, Finding, Lines, Severity, complaint_at
from reconciler.syntax.unquoted import braced, marked, misplaced, never_closed, unquoted


@dataclass(slots=True)
class Positions:
    """The offset of every node in document order; keys are nodes too.

    What is needed to find a child is counted when first asked for, as few
    documents are, and kept, as one mapping may have many complaints.
    """

    marks: array[int] = field(default_factory=lambda: array("I"))
    sizes: dict[int, int] = field(default_factory=dict)
    children: dict[int, Mapping[str | int, int]] = field(default_factory=dict)

    def offset(self, document: Json, path: Path, *, at_key: bool) -> int:
        """Give the offset of the nearest place on `path` that was written.

        A path that ends in nothing, as that of a missing field, gives its parent.
        """
        return self._mark(self._node(document, path, at_key=at_key))

    def scalar(self, document: Json, path: Path) -> tuple[int, int | None]:
        """Give where a scalar begins, and where the next node does, None where that is not told."""
        node = self._node(document, path, at_key=False)
        start, following = self._mark(node), node + 1
        # After an alias comes what it stands for, which was written before it.
        is_told = following < len(self.marks) and self.marks[following] > start
        return start, self.marks[following] if is_told else None

    def _node(self, document: Json, path: Path, *, at_key: bool) -> int:
        node = key = 0
        for step in path:
            child = self._children(document, node).get(step)
            if child is None:
                break
            if isinstance(document, dict):
                key, node, document = child - 1, child, document[str(step)]
            elif isinstance(document, list):
                key, node, document = child, child, document[int(step)]
        return key if at_key else node

    def _children(self, document: Json, node: int) -> Mapping[str | int, int]:
        """Map each key or index of a container to the node of its value."""
        known = self.children.get(node)
        if known is not None:
            return known
        found: dict[str | int, int] = {}
        after = node + 1
        if isinstance(document, dict):
            for name, value in document.items():
                found[name] = after + 1
                after += 1 + self._size(value)
        elif isinstance(document, list):
            for index, value in enumerate(document):
                found[index] = after
                after += self._size(value)
        self.children[node] = found
        return found

    def _size(self, document: Json) -> int:
        if not isinstance(document, dict | list):
            return 1
        known = self.sizes.get(id(document))
        if known is None:
            known = 1
            if isinstance(document, dict):
                known += len(document) + sum(map(self._size, document.values()))
            else:
                known += sum(map(self._size, document))
            self.sizes[id(document)] = known
        return known

    def _mark(self, node: int) -> int:
        return self.marks[node] if node < len(self.marks) else 0


@dataclass(frozen=True, slots=True)
class ParseProblem:
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
    _spots: dict[tuple[int, str], list[int]] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The text of the whole file."""
        return self.lines.text

    def locate(self, path: Path = (), *, at_key: bool = False) -> tuple[int, int]:
        """Give line and column, from 1, of the nearest place on `path` that was written."""
        return self.lines.place(self.positions.offset(self.value, path, at_key=at_key))

    def locate_spot(self, path: Path, spot: Spot) -> tuple[int, int]:
        """Give line and column of a part of a text; where the text begins if it is not found.

        An escape may hide it, and it may stand where an alias was written.
        """
        start, following = self.positions.scalar(self.value, path)
        begin = self.lines.in_text(start)
        # What is made of many items has its mistakes there once for each of them.
        places = self._spots.get((begin, spot.written))
        if places is None:
            end = begin + WIDEST_SEARCH if following is None else self.lines.in_text(following)
            written = written_scalar(self.text, begin, end)
            places = [match.start() for match in re.finditer(re.escape(spot.written), written)]
            self._spots[begin, spot.written] = places
        found = places[spot.nth] if -1 < spot.nth < len(places) else 0
        return self.lines.place_in_text(begin + found)


def written_scalar(text: str, begin: int, end: int) -> str:
    """Give a scalar as it stands in a text, at most up to `end`, so without a comment after it."""
    window = text[begin : min(end, begin + WIDEST_SEARCH)]
    form = _WRITTEN.get(window[:1], _PLAIN)
    found = form.match(window)
    return found.group() if found is not None else window


WIDEST_SEARCH = 1 << 16
"""Characters of a file: a text of some thousands may be written with escapes and indentation."""

_WRITTEN = {
    '"': re.compile(r'"(?:[^"\\]+|\\.)*"', re.DOTALL),
    "'": re.compile(r"'(?:[^']+|'')*'"),
    "*": re.compile(r"\*[^\s,\]}]*"),
    "|": re.compile(r".*", re.DOTALL),
    ">": re.compile(r".*", re.DOTALL),
}
_PLAIN = re.compile(r"(?:[^#]+|(?<!\s)#)*")


@dataclass(slots=True)
class Reading:
    """Everything one file gave. What was read before a syntax error is kept."""

    lines: Lines
    documents: list[Document] = field(default_factory=list)
    flaws: list[ParseProblem] = field(default_factory=list)

    @property
    def has_errors(self) -> bool:
        """Whether something in the text itself stops a run."""
        return any(flaw.severity is Severity.ERROR for flaw in self.flaws)


MOST_FLAWS = 1_000


_FIRST = frozenset(("apiVersion", "kind"))
_LATER = frozenset(("metadata", "spec"))
"""Keys of a manifest, and of what other tools call so: none stands in a project file."""


class Stop(Exception):
    """The rest of the file cannot be read; the flaw is noted."""


class Flaws:
    """The flaws of one reading; offsets are in `text`, which is what the parser reads."""

    def __init__(self, text: str, reading: Reading) -> None:
        self.text = text
        self.lines = reading.lines
        self.noted = reading.flaws

    def note(self, code: str, offset: int, message: str, suggestion: str = "") -> None:
        """Note an error at an offset. Raises Stop where there are too many."""
        place = self.lines.place(offset)
        self.noted.append(ParseProblem(code, *place, message, suggestion))
        if len(self.noted) >= MOST_FLAWS:
            said = f"more than {MOST_FLAWS:,} mistakes: the rest of the file is not read"
            self.noted.append(ParseProblem("M115", *place, said))
            raise Stop

    def stop(self, code: str, event: Any, message: str) -> Stop:
        """Note an error after which nothing more of the file can be read."""
        self.note(code, event.start_mark.index, message)
        return Stop()

    def stop_at_key(self, event: Any) -> Stop:
        """Note a list or a mapping that stands where a key does."""
        offset = event.start_mark.index
        meant = braced(self.text, offset)
        if meant is None:
            said = spoken_collection_key(self.text[max(0, offset - 3) : offset])
            return self.stop("M107", event, said)
        self.note("M107", meant.offset, meant.message, meant.text)
        return Stop()

    def stop_at_next(self, key: str, document: Collection[str], offset: int) -> None:
        """Note a document that begins without the line before it. Raises Stop where one does."""
        if key in _FIRST and not _LATER.isdisjoint(document):
            said = "a second manifest begins here: write a line `---` above it"
            self.note("M102", offset, said)
            raise Stop

    def stop_at_alias(self, event: Any) -> Stop:
        """Note an alias of nothing, which may be a text that begins with `*`."""
        offset = event.start_mark.index
        meant = marked(self.text, offset)
        said = f"the alias `*{event.anchor}` has no anchor before it"
        said += ": quote the text, if `*` begins it" if meant else ""
        self.note("M101", offset, said, meant)
        return Stop()

    def note_character(self, offset: int, character: str) -> None:
        """Note a character that may not stand here by its number, never as itself."""
        self.note("M111", offset, f"{described(character)} is not allowed here: remove it")

    def note_syntax(self, error: MarkedYAMLError, *, is_json: bool = False) -> None:
        """Note what the parser found; of a comment in JSON it says something else."""
        departure = departure_from_json(self.lines.text) if is_json else None
        if departure is not None and departure.message.startswith(NO_COMMENTS):
            self.note_departure_from_json()
            return
        mark = error.problem_mark or error.context_mark
        offset = mark.index if mark else 0
        here = self.text[offset : offset + 2]
        begun = error.context_mark
        meant = unquoted(self.text, offset, error.problem or "")
        wrong = (
            meant
            or never_closed(self.text, offset)
            or misplaced(self.text, offset, error.problem or "")
        )
        if wrong is not None:
            self.note("M101", wrong.offset, wrong.message, wrong.text)
            return
        if begun and is_begun_earlier(error.problem or ""):
            # All up to the end is inside the quotes: what is to blame is where they open.
            self.note("M101", begun.index, spoken_problem(error.problem or "", "", here))
            return
        before = self.text[begun.index : offset] if begun else ""
        said = spoken_problem(error.problem or "", error.context or "", here, before)
        line = self.lines.place(begun.index)[0] if begun else 0
        self.note("M101", offset, said.replace("{line}", str(line)))

    def note_tag(self, event: Any) -> None:
        """Note a tag; types come from the field, never from the file."""
        offset = event.start_mark.index
        meant = marked(self.text, offset)
        reason = "or quote the text that it begins" if meant else "fields have types of their own"
        said = f"the tag `{event.tag}` is not supported: remove it, {reason}"
        self.note("M104", offset, said, meant)

    def note_leading_zero(self, text: str, value: Json, offset: int) -> None:
        """Warn of a number that looks octal, unless a warning more would hide an error."""
        if len(self.noted) < MOST_FLAWS // 2:
            said = f"`{text}` is the number {value} in YAML 1.2: drop the zero, or quote it"
            place = self.lines.place(offset)
            self.noted.append(ParseProblem("M114", *place, said, "", Severity.WARNING))

    def note_departure_from_json(self) -> None:
        """Note where a file departs from JSON, of which YAML takes more."""
        departure = departure_from_json(self.lines.text)
        if departure is not None:
            place = self.lines.place_in_text(departure.offset)
            self.noted.append(ParseProblem(departure.code, *place, departure.message))


OF_VARIABLE = Advice("write another value of the variable in the project file")


@dataclass(frozen=True, slots=True)
class DocumentText:
    """A document and the file it stands in, where complaints are placed.

    `prefix` leads from the document's root to what findings are relative to,
    `ref` is the resource that the document declares, as far as it can be told, and `item`
    the one of a `forEach` that it is made of. What stands elsewhere is in `grafts`, by the
    path that findings have for it, and `note` is added to what is said of it.
    """

    file: str
    document: Document
    prefix: Path = ()
    dropped: int = 0
    ref: str = ""
    item: Member | None = None
    note: str = ""
    grafts: Mapping[Path, Graft] = field(default_factory=dict)

    def origin(self, path: Path, *, at_key: bool = False) -> tuple[DocumentText, Path]:
        """Give where a place was written: the text, and the path that this one has for it."""
        for length in range(len(path), -1, -1) if self.grafts else ():
            graft = self.grafts.get(path[:length])
            if graft is not None and (not at_key or graft.keyed or length < len(path)):
                text = replace(graft.text, ref=self.ref, item=self.item)
                return text.origin((*graft.path, *path[length:]), at_key=at_key)
        return self, path

    def inside(self, step: str) -> DocumentText:
        """Give the same text for findings whose paths lead from the value of a key on."""
        grafts = {path[1:]: graft for path, graft in self.grafts.items() if path[:1] == (step,)}
        return replace(self, prefix=(*self.prefix, step), grafts=grafts)

    def complaint(self, finding: Finding) -> Complaint:
        """Place a finding in the file."""
        text, place = self.origin(finding.path, at_key=finding.at_key)
        return text._placed(replace(finding, path=place) if text is not self else finding)  # noqa: SLF001 - its own class

    def _placed(self, finding: Finding) -> Complaint:
        path = (*self.prefix, *finding.path[self.dropped :])
        line, column = (
            self.document.locate(path, at_key=finding.at_key)
            if finding.spot is None
            else self.document.locate_spot(path, finding.spot)
        )
        if finding.suggestion and not finding.at_key and self._is_filled(path, finding):
            finding = replace(finding, suggestion=OF_VARIABLE)
        placed = complaint_at(self.file, self.document.lines, line, column, finding)
        said = placed.message + self.note
        return replace(placed, message=said, ref=self.ref, path=path, item=self.item)

    def _is_filled(self, path: Path, finding: Finding) -> bool:
        """Tell a value that expressions gave, so that another one cannot be written here."""
        written: Json | Missing = self.document.value
        for step in path:
            if isinstance(written, str):
                break
            written = value_at(written, (step,))
        return finding.spot is None and isinstance(written, str) and OPEN in written


@dataclass(frozen=True, slots=True)
class Graft:
    """Where a part of a document was written: a path of another text.

    `keyed` tells that the key which it has stands there too.
    """

    text: DocumentText
    path: Path
    keyed: bool = False


def complaints_of_text(file: str, reading: Reading) -> Iterator[Complaint]:
    """Yield what is wrong with the text itself."""
    for flaw in reading.flaws:
        finding = Finding(flaw.code, (), flaw.message, flaw.severity, flaw.suggestion)
        yield complaint_at(file, reading.lines, flaw.line, flaw.column, finding)
