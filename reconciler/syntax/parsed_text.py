"""Results of reading a text: documents with positions, flaws, and complaints at their lines."""

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain
from typing import Any

from yaml import MarkedYAMLError

from reconciler.document import Json, Missing, Path, value_at
from reconciler.model import Member
from reconciler.model.quoting import listed
from reconciler.syntax.characters import (
    NO_COMMENTS,
    departure_from_json,
    described,
    is_begun_earlier,
    spoken_collection_key,
    spoken_problem,
)
from reconciler.syntax.diagnostic import Advice, Complaint, Finding, Lines, Severity, complaint_at
from reconciler.syntax.expressions import OPEN, Spot
from reconciler.syntax.scalars import (
    braced,
    left_open,
    marked,
    misplaced,
    never_closed,
    spell,
    unfinished_merge,
    unquoted,
)
from reconciler.syntax.syntax_tree import SyntaxNode, WrittenText, written


@dataclass(frozen=True, slots=True)
class ParseProblem:
    """An error of the text itself; line and column from 1."""

    code: str
    line: int
    column: int
    message: str
    suggestion: str = ""
    severity: Severity = Severity.ERROR


@lru_cache(maxsize=4)
def _tree_of(text: str) -> WrittenText:
    """Return the places in a text; only texts with complaints are parsed for them."""
    return written(text)


@dataclass(slots=True)
class Document:
    """One document of a file.

    `number` counts the documents from 0; `start` is the offset of its root in the parsed text.
    """

    lines: Lines
    number: int = 0
    value: Json = None
    start: int = 0
    _spots: dict[tuple[int, str], list[int]] = field(default_factory=dict)

    def node(self, path: Path, *, at_key: bool = False) -> SyntaxNode:
        """Return the nearest written node on a path: of a key, or of its value.

        If there is nothing at the path, such as a missing field, it is the parent.
        """
        key = node = _tree_of(self.lines.text).documents[self.number]
        for step in path:
            holder = node.itself
            place = holder.place_at(step)
            if place is None:
                break
            node = holder.values[place]
            key = holder.keys[place] if holder.keys else node
        return key if at_key else node

    def locate(self, path: Path = (), *, at_key: bool = False) -> tuple[int, int]:
        """Return line and column, from 1, of the nearest written place on `path`."""
        if not path:
            return self.lines.place(self.start)
        return self.lines.place_in_text(self.node(path, at_key=at_key).opening)

    def locate_spot(self, path: Path, spot: Spot) -> tuple[int, int]:
        """Return the line and column of a part of a text, or of the text if it has no such part.

        An escape may hide the part, or the text may be written at an anchor elsewhere.
        """
        node = self.node(path)
        # A manifest with many items has its mistakes at the same place, once for each item.
        places = self._spots.get((node.opening, spot.written))
        if places is None:
            shown = self.lines.text[node.opening : node.end]
            places = [match.start() for match in re.finditer(re.escape(spot.written), shown)]
            self._spots[node.opening, spot.written] = places
        found = places[spot.nth] if -1 < spot.nth < len(places) else 0
        return self.lines.place_in_text(node.opening + found)

    def places(self, path: Path, value: str) -> array[int] | None:
        """Return the places of each character of the scalar at a path, which has this value.

        An alias has the places of its anchor. None if they cannot be determined.
        """
        node = self.node(path).itself
        return spell(self.lines.text, node.opening, max(node.end, node.until), value)

    def locate_inside(self, path: Path, value: str, offset: int) -> tuple[int, int]:
        """Return line and column, from 1, of the character of a text at an offset or after it.

        Blanks are not counted. For an alias it is the place of the alias.
        """
        node = self.node(path)
        places = self.places(path, value) if node.means is None else None
        behind = min(len(value) - len(value[offset:].lstrip()), len(value.rstrip()))
        return self.lines.place_in_text(node.opening if places is None else places[behind])


@dataclass(slots=True)
class Reading:
    """The result of reading one file, with everything that comes before a syntax error."""

    lines: Lines
    documents: list[Document] = field(default_factory=list)
    flaws: list[ParseProblem] = field(default_factory=list)

    @property
    def has_errors(self) -> bool:
        """Return whether the text has a problem that is an error, and not a warning."""
        return any(flaw.severity is Severity.ERROR for flaw in self.flaws)


MOST_FLAWS = 1_000


_FIRST = frozenset(("apiVersion", "kind"))
_LATER = frozenset(("metadata", "spec"))
"""Keys of manifests, also of other tools' manifests, that a project file never has."""


class Stop(Exception):
    """The rest of the file cannot be read; the flaw is recorded."""


class Flaws:
    """The flaws of one reading; offsets are in `text`, the text that the parser reads."""

    def __init__(self, text: str, reading: Reading) -> None:
        self.text = text
        self.lines = reading.lines
        self.noted = reading.flaws

    def note(self, code: str, offset: int, message: str, suggestion: str = "") -> None:
        """Record an error at an offset. Raises Stop if there are too many."""
        place = self.lines.place(offset)
        self.noted.append(ParseProblem(code, *place, message, suggestion))
        if len(self.noted) >= MOST_FLAWS:
            limit_message = f"more than {MOST_FLAWS:,} mistakes: the rest of the file is not read"
            self.noted.append(ParseProblem("M115", *place, limit_message))
            raise Stop

    def stop(self, code: str, event: Any, message: str) -> Stop:
        """Record an error after which the file cannot be read; return the exception to raise."""
        self.note(code, event.start_mark.index, message)
        return Stop()

    def stop_at_key(self, event: Any) -> Stop:
        """Record a list or mapping in the place of a key; return the exception to raise."""
        offset = event.start_mark.index
        meant = braced(self.text, offset)
        if meant is None:
            message = spoken_collection_key(self.text[max(0, offset - 3) : offset])
            return self.stop("M107", event, message)
        self.note("M107", meant.offset, meant.message, meant.text)
        return Stop()

    def stop_at_next(self, key: str, document: Collection[str], offset: int) -> None:
        """Raise Stop if a second manifest begins here without a line `---`."""
        if key in _FIRST and not _LATER.isdisjoint(document):
            message = "a second manifest begins here: write a line `---` above it"
            self.note("M102", offset, message)
            raise Stop

    def stop_at_alias(self, event: Any) -> Stop:
        """Record an alias without an anchor, which may be a text that begins with `*`."""
        offset = event.start_mark.index
        meant = marked(self.text, offset)
        message = f"the alias `*{event.anchor}` has no anchor before it"
        message += ": quote the text, if `*` begins it" if meant else ""
        self.note("M101", offset, message, meant)
        return Stop()

    def note_character(self, offset: int, character: str) -> None:
        """Record a character that is not allowed here, by its number and never as itself."""
        self.note("M111", offset, f"{described(character)} is not allowed here: remove it")

    def note_syntax(self, error: MarkedYAMLError, *, is_json: bool = False) -> None:
        """Record the error of the parser; a comment in JSON gets a message of its own."""
        departure = departure_from_json(self.lines.text) if is_json else None
        if departure is not None and departure.message.startswith(NO_COMMENTS):
            self.note_departure_from_json()
            return
        mark = error.problem_mark or error.context_mark
        offset = mark.index if mark else 0
        marker = unfinished_merge(self.text)
        if marker is not None:
            self.note("M101", marker.offset, marker.message)
            return
        here = self.text[offset : offset + 2]
        begun = error.context_mark
        wrong = (
            left_open(self.text, offset)
            or unquoted(self.text, offset, error.problem or "")
            or never_closed(self.text, offset)
            or misplaced(self.text, offset, error.problem or "")
        )
        if wrong is not None:
            self.note("M101", wrong.offset, wrong.message, wrong.text)
            return
        if begun and is_begun_earlier(error.problem or ""):
            # The rest of the document is inside the quotes: the error is where they open.
            self.note("M101", begun.index, spoken_problem(error.problem or "", "", here))
            return
        before = self.text[begun.index : offset] if begun else ""
        message = spoken_problem(error.problem or "", error.context or "", here, before)
        line = self.lines.place(begun.index)[0] if begun else 0
        self.note("M101", offset, message.replace("{line}", str(line)))

    def note_tag(self, event: Any) -> None:
        """Record a tag; types come from the field, never from the file."""
        offset = event.start_mark.index
        meant = marked(self.text, offset)
        reason = "or quote the text that it begins" if meant else "fields have types of their own"
        message = f"the tag `{event.tag}` is not supported: remove it, {reason}"
        self.note("M104", offset, message, meant)

    def note_leading_zero(self, text: str, value: Json, offset: int) -> None:
        """Record a warning about a number that looks octal, unless it could hide an error."""
        if len(self.noted) < MOST_FLAWS // 2:
            message = f"`{text}` is the number {value} in YAML 1.2: drop the zero, or quote it"
            place = self.lines.place(offset)
            self.noted.append(ParseProblem("M114", *place, message, "", Severity.WARNING))

    def note_departure_from_json(self) -> None:
        """Record where a file departs from JSON, as YAML accepts more."""
        departure = departure_from_json(self.lines.text)
        if departure is not None:
            place = self.lines.place_in_text(departure.offset)
            self.noted.append(ParseProblem(departure.code, *place, departure.message))


_NUMBER = re.compile(r"[-+]?[0-9.][0-9A-Za-z_.+-]*", re.ASCII)
_QUOTED_NUMBER = re.compile(r'"[-+]?[0-9.][0-9.eE+-]*"')

MOST_RIVALS = 4
OF_VARIABLE = Advice("write another value of the variable in the project file")


@dataclass(frozen=True, slots=True)
class DocumentText:
    """A document and the file in which its complaints are placed.

    `prefix` is the path from the document's root to the place at which the paths of findings begin.
    `ref` is the resource that the document declares, as far as known, and `item` is the `forEach`
    item that makes it. `grafts` are parts that come from other texts, by their paths in findings.
    `note` is added to messages.
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
        """Return where a place was written: its text, and its path in that text."""
        for length in range(len(path), -1, -1) if self.grafts else ():
            graft = self.grafts.get(path[:length])
            if graft is not None and (not at_key or graft.keyed or length < len(path)):
                text = replace(graft.text, ref=self.ref, item=self.item)
                return text.origin((*graft.path, *path[length:]), at_key=at_key)
        return self, path

    def inside(self, step: str) -> DocumentText:
        """Return the same text for findings with paths that begin at the value of a key."""
        grafts = {path[1:]: graft for path, graft in self.grafts.items() if path[:1] == (step,)}
        return replace(self, prefix=(*self.prefix, step), grafts=grafts)

    def with_clear_names(self, findings: Iterable[Finding]) -> list[Finding]:
        """Return findings without suggestions that would give two fields one name.

        Advice that names the fields replaces these suggestions.
        """
        found = [*findings]
        rivals: dict[tuple[str, Path, str], dict[str, list[int]]] = defaultdict(dict)
        for nth, finding in enumerate(found):
            if finding.at_key and finding.suggestion and not isinstance(finding.suggestion, Advice):
                text, path = self.origin(finding.path, at_key=True)
                holder = (*text.prefix, *path[text.dropped :])[:-1]
                names = rivals[text.file, holder, finding.suggestion]
                names.setdefault(f"`{path[-1]}`", []).append(nth)
                around = value_at(text.document.value, holder)
                if isinstance(around, dict) and finding.suggestion in around:
                    names.setdefault(f"`{finding.suggestion}`", [])
        for (_, _, name), names in rivals.items():
            if len(names) > 1:
                meant = f"`{name}`"
                name_it = "" if meant in names else f", as {meant}"
                advice = Advice(f"keep one of {listed([*names], MOST_RIVALS)}{name_it}")
                for nth in chain.from_iterable(names.values()):
                    found[nth] = replace(found[nth], suggestion=advice)
        return found

    def complaint(self, finding: Finding) -> Complaint:
        """Return the complaint for a finding, at its place in the file."""
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
        lines = self.document.lines
        typed = _NUMBER.match(lines.text, lines.offset(line, column))
        if typed is not None and _QUOTED_NUMBER.fullmatch(finding.suggestion):
            # A number that becomes a text keeps its digits: `1.10`, `0123`.
            finding = replace(finding, suggestion=f'"{typed[0]}"')
        placed = complaint_at(self.file, lines, line, column, finding)
        message = placed.message + self.note
        return replace(placed, message=message, ref=self.ref, path=path, item=self.item)

    def _is_filled(self, path: Path, finding: Finding) -> bool:
        """Return whether expressions produced a value, so that no other can be written here."""
        written: Json | Missing = self.document.value
        for step in path:
            if isinstance(written, str):
                break
            written = value_at(written, (step,))
        return finding.spot is None and isinstance(written, str) and OPEN in written


@dataclass(frozen=True, slots=True)
class Graft:
    """The origin of a part of a document: a path of another text.

    `keyed` means that the key of the part comes from there too.
    """

    text: DocumentText
    path: Path
    keyed: bool = False


def complaints_of_text(file: str, reading: Reading) -> Iterator[Complaint]:
    """Yield complaints about the text itself."""
    for flaw in reading.flaws:
        finding = Finding(flaw.code, (), flaw.message, flaw.severity, flaw.suggestion)
        yield complaint_at(file, reading.lines, flaw.line, flaw.column, finding)
