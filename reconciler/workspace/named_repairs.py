"""Repairs that complaints name: the span of a text that is wrong, and what belongs there. Pure."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from reconciler.document import Path
from reconciler.syntax.characters import CONSTANTS
from reconciler.syntax.diagnostic import Advice, Complaint
from reconciler.syntax.expressions import ANY_PATTERN, OPEN
from reconciler.syntax.parsed_text import Reading
from reconciler.syntax.read_text import read_text
from reconciler.syntax.scalars import CURLY
from reconciler.syntax.syntax_tree import SyntaxNode, comments_lost, written
from reconciler.workspace.text_edits import Splice, edited

CERTAIN: Final = frozenset(
    ("M101", "M106", "M107", "M202", "M204", "M208", "M301", "M303", "M307", "M309", "M311")
)
"""Codes with one possible repair: a known field, a listed value, the form of a value, quotes."""

LIKELY: Final = frozenset(
    (
        *("M104", "M203", "M205", "M207", "M304", "M306", "M310"),
        *("M314", "M404", "M501", "M503", "M504", "M511"),
    )
)
"""Codes with a repair that is a guess: another name, or a value that the service may know."""

_OF_TEXT: Final = frozenset(("M101", "M104", "M106", "M107"))
"""Codes of places that the parser cannot read, or reads otherwise than meant."""

_AS_WRITTEN: Final = frozenset(("M204", "M301", "M311", "M314"))
"""Codes with suggestions that are YAML. Others are plain text, in the quotes of the place."""

_EXPRESSION: Final = re.compile(ANY_PATTERN)
_BARE: Final = re.compile(r"[A-Za-z_][\w./-]*|[0-9.]+s", re.ASCII)
_BLOCK: Final = ("|", ">")


@dataclass(frozen=True, slots=True)
class RepairedText:
    """A text after repairs, and how many places of it differ."""

    after: str
    repairs: int


def repair_text(
    text: str, complaints: Iterable[Complaint], codes: frozenset[str], *, is_json: bool
) -> RepairedText | None:
    """Return a text with the repairs that its complaints of some codes name; None without any.

    Comments stay, and so does every character elsewhere. A text that would become unreadable, or
    lose a comment, is not repaired.
    """
    reading = read_text(text, is_json=is_json)
    splices = _splices(reading, complaints, codes, is_json=is_json)
    after = edited(text, splices)
    if after == text or (not is_json and comments_lost(text, after)):
        return None
    gone = set(reading.flaws) - set(read_text(after, is_json=is_json).flaws)
    is_better = not reading.has_errors or bool(gone)
    if not is_better or (not reading.has_errors and read_text(after, is_json=is_json).has_errors):
        return None
    return RepairedText(after, len(splices))


def _splices(
    reading: Reading, complaints: Iterable[Complaint], codes: frozenset[str], *, is_json: bool
) -> list[Splice]:
    """Return the repairs of places with one suggestion."""
    text = reading.lines.text
    places: _Places | None = None
    found: dict[tuple[int, int], set[Splice]] = defaultdict(set)
    for complaint in complaints:
        if complaint.code not in codes or not complaint.line or not complaint.suggestion:
            continue
        if isinstance(complaint.suggestion, Advice):
            continue
        offset = reading.lines.offset(complaint.line, complaint.column)
        if complaint.code in _OF_TEXT:
            splice = None if is_json else _of_text(text, offset, complaint.suggestion)
        else:
            places = _Places.of(text) if places is None else places
            splice = places.splice(offset, complaint, is_json=is_json)
        if splice is not None:
            found[splice.start, splice.end].add(splice)
    return [splice for splices in found.values() if len(splices) == 1 for splice in splices]


def _of_text(text: str, offset: int, suggestion: str) -> Splice | None:
    """Return the splice that quotes a text, or writes the blank after its key."""
    if suggestion[0] in "\"'":
        inner = suggestion[1:-1].replace("''", "'") if suggestion[0] == "'" else suggestion[1:-1]
        form = f"[{CURLY}]*{re.escape(inner)}[{CURLY}]*"
    else:
        form = re.escape(suggestion.replace(": ", ":", 1))
    here = re.compile(form).match(text, offset)
    return None if here is None else Splice(*here.span(), suggestion)


@dataclass(frozen=True, slots=True)
class _Place:
    """A key or a value of a text, its path, and the other keys of its mapping if it is a key."""

    path: Path
    node: SyntaxNode
    others: Sequence[str] | None = None


@dataclass(frozen=True, slots=True)
class _Places:
    """The keys and values of a text by where they begin."""

    text: str
    by_start: Mapping[int, Sequence[_Place]]

    @classmethod
    def of(cls, text: str) -> _Places:
        by_start: dict[int, list[_Place]] = defaultdict(list)
        for document in written(text).documents:
            for place in _inside(document, ()):
                by_start[place.node.opening].append(place)
        return cls(text, by_start)

    def splice(self, offset: int, complaint: Complaint, *, is_json: bool) -> Splice | None:
        """Return the splice that writes the suggestion of a complaint; None where that is unclear.

        A value with an anchor stays, as other places repeat it.
        """
        meant = complaint.suggestion
        expression = _EXPRESSION.match(self.text, offset)
        if expression is not None and meant.startswith(OPEN):
            return Splice(*expression.span(), meant)
        for place in self.by_start.get(offset, ()):
            node = place.node
            if place.path != complaint.path or node.anchor or node.style in _BLOCK:
                continue
            if place.others is not None and meant in place.others:
                continue
            if node.values and not node.is_flow:
                continue
            is_yaml = complaint.code in _AS_WRITTEN or meant.startswith('"')
            shown = meant if is_yaml else _quoted_like(node, meant)
            return Splice(node.start, node.end, shown) if not is_json or _is_json(shown) else None
        return None


def _inside(node: SyntaxNode, path: Path) -> Iterator[_Place]:
    """Yield the keys and values of a node; what an alias repeats is written elsewhere."""
    names = [key.text for key in node.keys]
    for nth, (key, value) in enumerate(node.pairs()):
        inner = (*path, nth if key is None else key.text)
        # The key comes first: it is meant wherever both begin at one place.
        if key is not None:
            yield _Place(inner, key, names)
        yield _Place(inner, value)
        yield from _inside(value, inner)


def _quoted_like(node: SyntaxNode, text: str) -> str:
    """Return a text in the quotes of the place that it is written at; in quotes if it needs any."""
    if node.style == "'":
        return "'" + text.replace("'", "''") + "'"
    is_bare = node.style != '"' and _BARE.fullmatch(text)
    return text if is_bare and text not in CONSTANTS else json.dumps(text, ensure_ascii=False)


def _is_json(text: str) -> bool:
    with suppress(ValueError):
        json.loads(text)
        return True
    return False
