"""Repairs of the files of a run: of pasted records, and those that complaints name.

A complaint names the span of a text that is wrong, and what belongs there.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Final

from reconciler.document import Json
from reconciler.document import Path as Place
from reconciler.kinds import BY_NAME
from reconciler.kinds.judge_spec import SpecReport
from reconciler.kinds.kind import Kind
from reconciler.kinds.repairs import (
    MOST_ROUNDS,
    MoveId,
    Origins,
    PasteRepair,
    Round,
    Unquote,
    repaired,
)
from reconciler.model import API_VERSION
from reconciler.project import ProjectFile
from reconciler.queries import Language, mistake_in
from reconciler.syntax.characters import CONSTANTS
from reconciler.syntax.diagnostic import Advice, Complaint, Severity
from reconciler.syntax.expressions import ANY_PATTERN, OPEN
from reconciler.syntax.files import display_name, find_files
from reconciler.syntax.parsed_text import Reading
from reconciler.syntax.read_text import Sources, read_text
from reconciler.syntax.scalars import CURLY
from reconciler.syntax.syntax_tree import SyntaxNode, comments_lost, written
from reconciler.workspace.envelope import has_id
from reconciler.workspace.layout import Editor, Splice, says, spliced
from reconciler.workspace.workspace import NO_SETTINGS, sources_of

CERTAIN: Final = frozenset(
    ("M101", "M106", "M107", "M202", "M204", "M208", "M301", "M303", "M307", "M309", "M311")
)
"""Codes with one possible repair: a known field, a listed value, the form of a value, quotes."""

NO_VERSION: Final = "M202"
TWICE: Final = "M102"
UNSAID: Final = frozenset(("M101", TWICE))
"""Codes of complaints that may have a repair without a suggestion."""

LIKELY: Final = frozenset(
    (
        *("M102", "M104", "M203", "M205", "M207", "M304", "M306", "M310"),
        *("M314", "M404", "M501", "M503", "M504", "M511", "L901"),
    )
)
"""Codes with a repair that is a guess: another name, or a value that the service may know."""

_OF_QUERY: Final = "L901"

_OF_TEXT: Final = frozenset(("M101", "M104", "M106", "M107"))
"""Codes of places that the parser cannot read, or reads differently from what the author meant."""

_AS_WRITTEN: Final = frozenset(("M204", "M301", "M311", "M314"))
"""Codes with suggestions that are YAML. Others are plain text, in the quotes of the place."""

_EXPRESSION: Final = re.compile(ANY_PATTERN)
_OPENING: Final = re.compile(r"\{(\s*)(?=[^\s#}])")
_BARE: Final = re.compile(r"[A-Za-z_][\w./-]*|[0-9.]+s", re.ASCII)
_BLOCK: Final = ("|", ">")
_TABS: Final = re.compile(r"^\t+", re.MULTILINE)
_UNCERTAIN_INDENT: Final = re.compile(r"^\t* +\t*[^\s#]|[|>][0-9+-]*[ \t]*(?:#.*)?$", re.MULTILINE)
"""An indent with a space in it, or a text of several lines, which may hold tabs of its own."""


def repair_text(
    text: str, complaints: Iterable[Complaint], codes: frozenset[str], *, is_json: bool
) -> tuple[str, int] | None:
    """Return a text with the repairs that its complaints of some codes name, and their number.

    None without any. Comments stay, and so does every character elsewhere. A text that would become
    unreadable, or lose a comment, is not repaired.
    """
    reading = read_text(text, is_json=is_json)
    splices = _splices(reading, complaints, codes, is_json=is_json)
    after = spliced(text, sorted(splices))
    if after == text or (not is_json and comments_lost(text, after)):
        return None
    now = read_text(after, is_json=is_json)
    gone = set(reading.flaws) - set(now.flaws)
    is_better = bool(gone) if reading.has_errors else not now.has_errors
    return (after, len(splices)) if is_better else None


def _splices(
    reading: Reading, complaints: Iterable[Complaint], codes: frozenset[str], *, is_json: bool
) -> list[Splice]:
    """Return the repairs of places with one suggestion."""
    text = reading.lines.text
    places = cache(lambda: _Places.of(text))
    documents = cache(lambda: written(text).documents)
    found: dict[tuple[int, int], set[Splice]] = defaultdict(set)
    for complaint in complaints:
        if complaint.code in codes and complaint.line:
            offset = reading.lines.offset(complaint.line, complaint.column)
            for splice in _repairs_of(complaint, text, offset, places, documents, is_json=is_json):
                found[splice.start, splice.end].add(splice)
    return [splice for splices in found.values() if len(splices) == 1 for splice in splices]


def _repairs_of(
    complaint: Complaint,
    text: str,
    offset: int,
    places: Callable[[], _Places],
    documents: Callable[[], Sequence[SyntaxNode]],
    *,
    is_json: bool,
) -> Iterator[Splice]:
    suggestion, splice = complaint.suggestion, None
    if not suggestion:
        if complaint.code in UNSAID and not is_json:
            yield from _unsaid(text, offset, complaint.code, documents)
    elif complaint.code == NO_VERSION and not complaint.path:
        yield from _version(text, offset, is_json=is_json)
    elif isinstance(suggestion, Advice):
        return
    elif complaint.code in _OF_TEXT:
        splice = None if is_json else _of_text(text, offset, suggestion)
    else:
        splice = places().splice(offset, complaint, is_json=is_json)
    if splice is not None:
        yield splice


def _unsaid(
    text: str, offset: int, code: str, documents: Callable[[], Sequence[SyntaxNode]]
) -> Iterator[Splice]:
    """Yield the repairs of a complaint without a suggestion."""
    if code == TWICE:
        yield from _second(documents(), text, offset)
    elif text.startswith("\t", offset) and not _UNCERTAIN_INDENT.search(text):
        for tabs in _TABS.finditer(text):
            yield Splice(*tabs.span(), "  " * len(tabs[0]))


def _second(nodes: Iterable[SyntaxNode], text: str, offset: int) -> Iterator[Splice]:
    """Yield the splice that removes the lines of a key which is above with the same value."""
    for node in nodes:
        keys = [key.start for key in node.keys]
        if offset not in keys or node.is_flow:
            yield from _second(node.values, text, offset)
            continue
        second = keys.index(offset)
        first = node.place_of(node.keys[second].text)
        one, other = (text[node.values[at].opening : node.values[at].end] for at in (first, second))
        begin, end = text.rfind("\n", 0, offset) + 1, text.find("\n", node.values[second].end)
        around = text[begin:offset] + text[node.values[second].end : end]
        if first < second and one == other and end >= 0 and not around.strip():
            yield Splice(begin, end + 1, "")


def _version(text: str, offset: int, *, is_json: bool) -> Iterator[Splice]:
    """Yield the splice that writes `apiVersion` as the first key of the mapping at a place."""
    field = f'"apiVersion": "{API_VERSION}"' if is_json else f"apiVersion: {API_VERSION}"
    if opening := _OPENING.match(text, offset):
        yield Splice(opening.end(), opening.end(), f"{field},{opening[1] or ' '}")
        return
    indent = text[text.rfind("\n", 0, offset) + 1 : offset].lstrip("\ufeff")
    if not indent.strip(" "):
        end = "\r\n" if "\r\n" in text else "\n"
        yield Splice(offset, offset, f"{field}{end}{indent}")


def _of_text(text: str, offset: int, suggestion: str) -> Splice | None:
    """Return the splice that quotes a text, or writes the blank after its key."""
    if suggestion[0] in "\"'":
        inner = suggestion[1:-1].replace("''", "'") if suggestion[0] == "'" else suggestion[1:-1]
        form = f"[{CURLY}]*{re.escape(inner)}[{CURLY}]*"
    else:
        form = re.escape(suggestion.replace(": ", ":", 1)).replace(r"\.", "[.,]")
    here = re.compile(form).match(text, offset)
    return None if here is None else Splice(*here.span(), suggestion)


@dataclass(frozen=True, slots=True)
class _Place:
    """A key or a value of a text, its path, and the other keys of its mapping if it is a key."""

    path: Place
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
        if complaint.code == _OF_QUERY:
            return self._in_query(offset, complaint)
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
            fits = not is_json or not read_text(shown, is_json=True).has_errors
            return Splice(node.start, node.end, shown) if fits else None
        return None

    def _in_query(self, offset: int, complaint: Complaint) -> Splice | None:
        """Return the splice of the wrong part of a query, which is in the text as it is parsed."""
        for places in self.by_start.values():
            for place in places:
                node = place.node
                is_it = place.path == complaint.path and place.others is None and not node.values
                if not is_it or not node.start <= offset < node.end:
                    continue
                wrong = mistake_in(Language.PROMQL, node.text)
                end = offset + (wrong.width if wrong is not None else 0)
                part = wrong and node.text[wrong.start : wrong.start + wrong.width]
                if part == self.text[offset:end]:
                    return Splice(offset, end, complaint.suggestion)
        return None


def _inside(node: SyntaxNode, path: Place) -> Iterator[_Place]:
    """Yield the keys and values of a node; what an alias repeats is written elsewhere."""
    names = [key.text for key in node.keys]
    for nth, (key, value) in enumerate(node.pairs()):
        inner = (*path, nth if key is None else key.text)
        # The key comes first: where key and value begin at one place, the key is meant.
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


SPEC = ("spec",)


@dataclass(frozen=True, slots=True)
class Fix:
    """A file that can be repaired: path, display name, and text before and after.

    `repairs` counts the places that differ. The file must be written inside one of `roots`.
    """

    path: Path
    name: str
    before: str
    after: str
    repairs: int
    roots: tuple[Path, ...]


@dataclass(slots=True)
class Fixes:
    """Finder of the files that can be repaired, and of those that need a repair but cannot get it.

    `unrepaired` has the line of the first error in each text, by the name of the file; 0 means:
    edit by hand.
    """

    root: Path
    sources: Sources[SpecReport]
    left: Collection[tuple[str, int]] = ()
    found: list[Fix] = field(default_factory=list)
    unrepaired: dict[str, int] = field(default_factory=dict)
    exports: set[Path] = field(default_factory=set)
    noted: set[Path] = field(default_factory=set)

    def look_at(self, path: Path, name: str, *, is_json: bool) -> None:
        """Record the repairs of one file."""
        reading = self.sources.read(path, name, is_json=is_json)
        if not isinstance(reading, Reading):
            return
        text = reading.lines.text
        pasted = [
            None if (name, document.locate(())[0]) in self.left else _Pasted.read(document.value)
            for document in reading.documents
        ]
        places = [
            nth for nth, manifest in enumerate(pasted) if manifest is not None and manifest.rounds
        ]
        if reading.has_errors:
            if places:
                errors = (flaw.line for flaw in reading.flaws if flaw.severity is Severity.ERROR)
                self.unrepaired[name] = min(errors)
            return
        for manifest in filter(None, pasted):
            self._look_at_export(path.parent, manifest)
        found = _repaired_apart(text, places, is_json=is_json) if places else None
        if found is not None:
            self._note(path, name, text, *found)
        elif places:
            self.unrepaired[name] = 0

    def _note(self, path: Path, name: str, before: str, after: str, repairs: int) -> None:
        """Record a file once, even if several links lead to it."""
        if path.resolve() not in self.noted:
            self.noted.add(path.resolve())
            self.found.append(Fix(path, name, before, after, repairs, self.sources.roots))

    def _look_at_export(self, folder: Path, manifest: _Pasted) -> None:
        """Record the quoted numbers of an export; nothing else there is a mistake."""
        named = manifest.spec.get("file")
        if manifest.kind.from_export is None or not isinstance(named, str):
            return
        path = folder / named
        name = display_name(path, self.root)
        if Path(named).is_absolute() or path.resolve() in self.exports:
            return
        self.exports.add(path.resolve())
        reading = self.sources.read(path, name, is_json=True)
        if not isinstance(reading, Reading) or reading.has_errors:
            return
        values = [document.value for document in reading.documents]
        if len(values) == 1 and isinstance(values[0], dict):
            made = _in_export(values[0], manifest.kind)
            after = _edited(reading.lines.text, [(0, (), made)])
            if made and _keeps(
                after, [repaired(values[0], made)], reading.lines.text, is_json=True
            ):
                self._note(path, name, reading.lines.text, after, len(made))


def find_fixes(
    paths: Sequence[Path],
    root: Path,
    settings: ProjectFile = NO_SETTINGS,
    left: Collection[tuple[str, int]] = (),
) -> Fixes:
    """Return the repairs under `paths`, and in the files that the manifests there name.

    `left` are documents to leave unchanged, by file and first line.
    """
    fixes = Fixes(root, sources_of(paths, root, settings.limits.size), left)
    for file in find_files(paths, root, settings.exclude, settings.limits.files).files:
        fixes.look_at(file.path, file.name, is_json=file.is_json)
    return fixes


@dataclass(frozen=True, slots=True)
class _Pasted:
    """A manifest that may hold a pasted record."""

    kind: Kind
    document: dict[str, Json]
    spec: dict[str, Json]
    mould: PasteRepair

    @classmethod
    def read(cls, document: Json) -> _Pasted | None:
        if not isinstance(document, dict):
            return None
        if document.get("apiVersion", API_VERSION) != API_VERSION:
            return None
        name, metadata, spec = (document.get(key) for key in ("kind", "metadata", "spec"))
        kind = BY_NAME.get(name) if isinstance(name, str) else None
        is_named = isinstance(metadata, dict) and isinstance(metadata.get("name"), str)
        if kind is None or not is_named or not isinstance(spec, dict):
            return None
        return cls(kind, document, spec, PasteRepair(kind.spec, kind.id_form, has_id(document)))

    @property
    def rounds(self) -> list[Round]:
        """Return the repairs in the order in which they are made."""
        return self.mould.rounds(self.spec)

    def after(self, made: Round) -> dict[str, Json]:
        after: dict[str, Json] = {**self.document, "spec": repaired(self.spec, made)}
        metadata = after["metadata"]
        for repair in made:
            if isinstance(repair, MoveId) and isinstance(metadata, dict):
                place: Json = self.spec
                for step in repair.path:
                    assert isinstance(place, dict)  # noqa: S101 - an id is in mappings only
                    place = place[str(step)]
                after["metadata"] = {**metadata, "id": place}
        return after


def _repaired_apart(text: str, places: Sequence[int], *, is_json: bool) -> tuple[str, int] | None:
    """Repair the documents together, or one by one where one of them cannot be repaired."""
    found = _repaired(text, places, is_json=is_json)
    if found is None and len(places) > 1:
        for nth in places:
            alone = _repaired(text if found is None else found[0], [nth], is_json=is_json)
            if alone is not None:
                found = alone[0], alone[1] + (0 if found is None else found[1])
    return found


def _repaired(text: str, places: Sequence[int], *, is_json: bool) -> tuple[str, int] | None:
    """Return the repaired text and the number of repairs, or None if there are none."""
    before = text
    expected = [document.value for document in read_text(text, is_json=is_json).documents]
    count = 0
    for _ in range(MOST_ROUNDS):
        steps: list[tuple[int, tuple[str, ...], Round]] = []
        for nth in places:
            manifest = _Pasted.read(expected[nth])
            made = manifest.mould.next_round(manifest.spec) if manifest is not None else ()
            if manifest is not None and made:
                steps.append((nth, SPEC, made))
                expected[nth] = manifest.after(made)
                count += len(made)
        if not steps:
            break
        text = _edited(text, steps)
        if read_text(text, is_json=is_json).has_errors:
            return None
    return (text, count) if _keeps(text, expected, before, is_json=is_json) else None


def _edited(text: str, steps: Sequence[tuple[int, tuple[str, ...], Round]]) -> str:
    """Return a text after repairs; each step is a document's number, a path in it, and a round."""
    where = written(text)
    splices = {
        splice
        for nth, prefix, made in steps
        for splice in Editor(where, where.documents[nth], prefix).edits(made)
    }
    return spliced(text, sorted(splices))


def _keeps(text: str, expected: Sequence[Json], before: str, *, is_json: bool) -> bool:
    """Return whether a text holds these documents, and every comment that it had before."""
    return says(text, expected, is_json=is_json) and (
        sorted(written(text).comments()) == sorted(written(before).comments())
    )


def _in_export(content: dict[str, Json], kind: Kind) -> list[Unquote]:
    """Return the quoted numbers of an export, by their paths in it."""
    field_of_all = kind.spec.bare
    is_whole = isinstance(content.get(field_of_all), dict)
    record: Json = content if is_whole else {field_of_all: content}
    rounds = PasteRepair(kind.spec, kind.id_form, has_id=True).rounds(record)
    return [
        replace(repair, path=origin if is_whole else origin[1:])
        for nth, made in enumerate(rounds)
        for repair in made
        if isinstance(repair, Unquote)
        for origin in [Origins(rounds[:nth]).of(repair.path)]
    ]
