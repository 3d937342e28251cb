"""Queries of a workspace: which cannot be parsed, told inside the text of their manifest."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from reconciler.document import Path, value_at
from reconciler.expressions import (
    LITERAL,
    OPEN,
    Expression,
    ExpressionKind,
    TextPart,
    expression,
    parts_of,
)
from reconciler.project import ProjectFile
from reconciler.queries import Language, Query, QueryProblem, mistake_in
from reconciler.syntax.diagnostic import Advice, Complaint, Finding, Lines, Severity
from reconciler.syntax.parsed_text import OF_VARIABLE, DocumentText
from reconciler.syntax.scalars import Scalars, complaint_inside
from reconciler.workspace.build import DeclaredManifest
from reconciler.workspace.expression_scope import Scope, spelled
from reconciler.workspace.inserted_values import along
from reconciler.workspace.loader import Loader

CODES = {Language.PROMQL: "L901", Language.LUCENE: "L902"}


def query_complaints(loader: Loader, _: ProjectFile) -> Iterator[Complaint]:
    """Yield a warning for each query that cannot be parsed, at the character that is to blame."""
    places = QueryPositions(loader.scope)
    # An expression that is malformed is text in a query, and told of once.
    told = {
        (complaint.file, complaint.path) for complaint in loader.complaints if complaint.is_error
    }
    for manifest in loader.declared:
        for query in manifest.kind.queries(manifest.manifest.spec):
            wrong = mistake_in(query.language, query.text)
            complaint = None if wrong is None else places.complaint(manifest, query, wrong)
            if complaint is not None and (complaint.file, complaint.path) not in told:
                yield complaint


@dataclass(frozen=True, slots=True)
class Filling:
    """A written text with expressions, and where each character of the filled one comes from.

    `origins` has one more, for the end. `filled` are the parts that expressions gave, with how
    each is written.
    """

    origins: array[int]
    filled: tuple[tuple[int, int, str], ...] = ()

    def expression_at(self, offset: int) -> str:
        """Give the expression that gave a character, "" where it stands in the manifest."""
        return next((text for start, end, text in self.filled if start <= offset < end), "")


def filling_of(written: str, text: str, scope: Scope) -> Filling | None:
    """Tell where a text comes from once expressions are filled in; None where that cannot be told.

    Source: docs/manifests.md.
    """
    if OPEN not in written:
        return Filling(array("L", range(len(written) + 1))) if written == text else None
    # Each piece that is filled in stands between two that stay as they are.
    pieces = [
        (part, *_pattern(part, scope, is_found=nth % 2 == 1))
        for nth, part in enumerate(parts_of(written))
    ]
    found = re.fullmatch("".join(pattern for _, _, pattern in pieces), text, re.DOTALL)
    if found is None:
        return None
    origins, filled, place = array("L"), [], 0
    for nth, (part, length, _) in enumerate(pieces, 1):
        start, end = found.span(nth)
        if isinstance(part, str) and length == end - start:
            origins.extend(range(place, place + length))
        else:
            origins.extend([place] * (end - start))
        if isinstance(part, Expression):
            filled.append((start, end, part.spot.written))
        place += length
    origins.append(place)
    return Filling(origins, tuple(filled))


def _pattern(part: TextPart, scope: Scope, *, is_found: bool) -> tuple[int, str]:
    """Give how long a piece is as it is written, and a pattern of what it becomes."""
    match part:
        case str():
            # The escape of an opening is given as what it means.
            return (len(LITERAL) if is_found else len(part)), f"({re.escape(part)})"
        case Expression(word=ExpressionKind.VARIABLE, name=name) if (
            _value_of(name, scope) is not None
        ):
            pattern = re.escape(_value_of(name, scope) or "")
        case Expression(word=ExpressionKind.SECRET, name=name):
            sealed = re.escape(expression(ExpressionKind.SECRET, name).removesuffix("}"))
            pattern = sealed + r"[^}]*\}"
        case _:
            pattern = re.escape(part.spot.written)
    return len(part.spot.written), f"({pattern})"


def _value_of(name: str, scope: Scope) -> str | None:
    """Give a variable as it stands inside a text; None where it cannot stand there."""
    found = along(scope.variables, name)
    value = None if found is None else found[1]
    return spelled(value) if isinstance(value, str | int | float) else None


@dataclass(slots=True)
class QueryPositions:
    """Where the characters of queries stand in their files."""

    scope: Scope
    scalars: dict[int, Scalars] = field(default_factory=dict)

    def complaint(self, one: DeclaredManifest, query: Query, wrong: QueryProblem) -> Complaint:
        """Place what is wrong with a query; at the query as a whole where no more can be told."""
        text, place = one.spec.origin(query.path)
        path = (*text.prefix, *place[text.dropped :])
        start, width = wrong.start, wrong.width
        said = f"this {query.language.value} cannot be parsed: {wrong.message}"
        meant = f"`{wrong.meant}`" if wrong.meant else ""
        finding = Finding(CODES[query.language], query.path, said, Severity.WARNING, wrong.meant)
        written = value_at(text.document.value, path)
        filling = filling_of(written, query.text, self.scope) if isinstance(written, str) else None
        places = self._places(text, path, written) if isinstance(written, str) else None
        if filling is None or places is None:
            shown = query.text[start : start + width]
            advice = Advice(f"write {meant} for `{shown}`") if meant else ""
            return one.spec.complaint(replace(finding, suggestion=advice))
        named = filling.expression_at(start)
        if named:
            said = f"{said} (this is in what `{named}` gives)"
            finding = replace(finding, message=said, suggestion=OF_VARIABLE)
            end = filling.origins[start] + len(named)
        else:
            end = filling.origins[min(start + width, len(filling.origins)) - 1] + 1
        begin = places[filling.origins[start]]
        placed = complaint_inside(text.file, text.document.lines, finding, begin, places[end])
        said = placed.message + text.note
        key, _ = text.document.locate(path, at_key=True)
        return replace(placed, message=said, ref=text.ref, path=path, item=text.item, begun=key)

    def place(self, text: DocumentText, path: Path, offset: int = 0) -> tuple[int, int]:
        """Give line and column of a query, or of one of its characters."""
        written = value_at(text.document.value, path)
        places = self._places(text, path, written) if isinstance(written, str) else None
        if places is None or not places:
            return text.document.locate(path)
        return text.document.lines.place_in_text(places[min(offset, len(places) - 1)])

    def _places(self, text: DocumentText, path: Path, written: str) -> array[int] | None:
        document = text.document
        lines: Lines = document.lines
        scalars = self.scalars.setdefault(id(lines), Scalars(lines))
        mark = document.positions.offset(document.value, path, at_key=False)
        return scalars.places(mark, written)
