"""Checks over all manifests of an environment: conflicts, queries, and those of features."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from reconciler.document import Json, Path, value_at
from reconciler.model import Ref
from reconciler.project import ProjectFile
from reconciler.queries import Language, Query, QueryProblem, mistake_in
from reconciler.runtime.rows import Rows
from reconciler.syntax.diagnostic import Advice, Complaint, Finding, Severity, warning
from reconciler.syntax.expressions import (
    LITERAL,
    OPEN,
    Expression,
    ExpressionKind,
    TextPart,
    expression,
    parts_of,
)
from reconciler.syntax.parsed_text import OF_VARIABLE, DocumentText
from reconciler.syntax.scalars import complaint_inside
from reconciler.workspace.build import DeclaredManifest, Loader
from reconciler.workspace.expression_scope import Scope, along, reference_findings, spelled

CODES = {Language.PROMQL: "L901", Language.LUCENE: "L902"}


def query_complaints(loader: Loader, _: ProjectFile) -> Iterator[Complaint]:
    """Yield a warning for each query that cannot be parsed, at the character of the error."""
    places = QueryPositions(loader.scope)
    # A malformed expression is text in a query, and is already reported.
    reported = {
        (complaint.file, complaint.path) for complaint in loader.complaints if complaint.is_error
    }
    for manifest in loader.declared:
        for query in manifest.kind.queries(manifest.manifest.spec):
            wrong = mistake_in(query.language, query.text)
            complaint = None if wrong is None else places.complaint(manifest, query, wrong)
            if complaint is not None and (complaint.file, complaint.path) not in reported:
                yield complaint


@dataclass(frozen=True, slots=True)
class Filling:
    """A text with expressions, and the origin of each character of the filled-in text.

    `origins` has one more entry, for the end. `filled` has the spans that expressions produced, and
    the text of each expression.
    """

    origins: array[int]
    filled: tuple[tuple[int, int, str], ...] = ()

    def expression_at(self, offset: int) -> str:
        """Return the expression that produced a character, or "" if the manifest contains it."""
        return next((text for start, end, text in self.filled if start <= offset < end), "")


def filling_of(written: str, text: str, scope: Scope) -> Filling | None:
    """Return the origins of a filled-in text, or None if they cannot be determined.

    Source: docs/manifests.md.
    """
    if OPEN not in written:
        return Filling(array("L", range(len(written) + 1))) if written == text else None
    # Each filled-in piece is between two pieces that stay as they are.
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
    """Return the length of a piece as written, and a pattern of its filled-in text."""
    match part:
        case str():
            # The escape of an opening is read as the opening itself.
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
    """Return the text of a variable, or None if it cannot be inside a text."""
    found = along(scope.variables, name)
    value = None if found is None else found[1]
    return spelled(value) if isinstance(value, str | int | float) else None


MOST_REPAIRS: Final = 8


def _is_repaired(query: Query, wrong: QueryProblem) -> bool:
    """Return whether a query can be parsed after one repair, or after a few repairs in turn."""
    text: str = query.text
    left: QueryProblem | None = wrong
    for _ in range(MOST_REPAIRS):
        if left is None or not left.meant:
            break
        text = f"{text[: left.start]}{left.meant}{text[left.start + left.width :]}"
        left = mistake_in(query.language, text)
    return left is None


@dataclass(slots=True)
class QueryPositions:
    """The positions of the characters of queries in their files."""

    scope: Scope

    def complaint(self, declared: DeclaredManifest, query: Query, wrong: QueryProblem) -> Complaint:
        """Return the complaint about a query at its exact place, or else at the whole query."""
        text, place = declared.spec.origin(query.path)
        path = (*text.prefix, *place[text.dropped :])
        start, width = wrong.start, wrong.width
        shown = query.text[start : start + width]
        message = f"this {query.language.value} cannot be parsed: {wrong.message}"
        meant = f"`{wrong.meant}`" if wrong.meant else ""
        advice = Advice(f"write {meant} for `{shown}`") if meant else ""
        finding = Finding(CODES[query.language], query.path, message, Severity.WARNING, advice)
        written = value_at(text.document.value, path)
        filling = filling_of(written, query.text, self.scope) if isinstance(written, str) else None
        places = text.document.places(path, written) if isinstance(written, str) else None
        if filling is None or places is None:
            return declared.spec.complaint(finding)
        named = filling.expression_at(start)
        if named:
            message = f"{message} (this is in what `{named}` gives)"
            finding = replace(finding, message=message, suggestion=OF_VARIABLE)
            end = filling.origins[start] + len(named)
        else:
            end = filling.origins[min(start + width, len(filling.origins)) - 1] + 1
        begin = places[filling.origins[start]]
        if meant and written == query.text and _is_repaired(query, wrong):
            raw = text.document.lines.text
            # The quotes of the scalar would end it.
            fitting = wrong.meant.replace('"', "'") if raw[places[0] - 1] == '"' else wrong.meant
            if raw[begin : places[end]] == shown:
                finding = replace(finding, suggestion=fitting)
        placed = complaint_inside(text.file, text.document.lines, finding, begin, places[end])
        message = placed.message + text.note
        key, _ = text.document.locate(path, at_key=True)
        return replace(placed, message=message, ref=text.ref, path=path, item=text.item, begun=key)

    def place(self, text: DocumentText, path: Path, offset: int = 0) -> tuple[int, int]:
        """Return the line and column of a query, or of one of its characters."""
        written = value_at(text.document.value, path)
        places = text.document.places(path, written) if isinstance(written, str) else None
        if places is None or not places:
            return text.document.locate(path)
        return text.document.lines.place_in_text(places[min(offset, len(places) - 1)])


def workspace_complaints(loader: Loader) -> Iterator[Complaint]:
    """Yield complaints about conflicts between the manifests of a workspace."""
    for check in (_twins, _shared_ids, _singletons, _cycles):
        yield from check(loader)


def _twins(loader: Loader) -> Iterator[Complaint]:
    """Yield complaints about manifests that share a name, id or other identity."""
    names: dict[Ref, DeclaredManifest] = {}
    identities: dict[tuple[str, str, str], DeclaredManifest] = {}
    for declared in loader.declared:
        manifest = declared.manifest
        other = names.setdefault(manifest.ref, declared)
        if other is not declared:
            message = f"`{manifest.ref}` is declared at {other.manifest.source} already"
            message += ": rename one, or remove it"
            path = ("metadata", "name")
            yield declared.text.complaint(Finding("M401", path, message))
            continue
        shared = dict(declared.kind.identities(manifest))
        if manifest.remote_id is not None:
            shared["id"] = str(manifest.remote_id)
        for what, value in shared.items():
            twin = identities.setdefault((manifest.ref.kind, what, value.casefold()), declared)
            if twin is not declared:
                message = f"`{twin.manifest.ref}` at {twin.manifest.source} has this {what} too"
                path = ("metadata", "id" if what == "id" else "name")
                message += f": `{value}`; remove one of the two"
                yield declared.text.complaint(Finding("M402", path, message))


def _shared_ids(loader: Loader) -> Iterator[Complaint]:
    """Yield a warning for each sequential id, such as 7, that several environments use."""
    for manifest in loader.declared:
        metadata = _written_metadata(manifest)
        value = metadata.get("id") if manifest.manifest.remote_id is not None else None
        limits = metadata.get("environments")
        names = limits if isinstance(limits, list) else sorted(loader.environments)
        if manifest.kind.id_form.counted and isinstance(value, int) and len(names) > 1:
            message = (
                f"the id {value} is used in {', '.join(map(str, names))}, and may be another "
                f"{manifest.kind.name} in each: write `ids: {{ENVIRONMENT: {value}}}`"
            )
            yield manifest.text.complaint(warning("M209", ("metadata", "id"), message))


def _written_metadata(declared: DeclaredManifest) -> dict[str, Json]:
    metadata = value_at(declared.text.document.value, ("metadata",))
    return metadata if isinstance(metadata, dict) else {}


def _singletons(loader: Loader) -> Iterator[Complaint]:
    first: dict[str, DeclaredManifest] = {}
    for manifest in loader.declared:
        if not manifest.kind.singleton:
            continue
        other = first.setdefault(manifest.kind.name, manifest)
        if other is not manifest:
            message = (
                f"there is one {manifest.kind.name} for the whole service, and "
                f"`{other.manifest.ref}` at {other.manifest.source} is it: put all in one manifest"
            )
            yield manifest.text.complaint(Finding("M403", ("kind",), message))


def complain_of_lost_references(loader: Loader) -> None:
    """Report the references that have no target in this environment."""
    known = dict.fromkeys(loader.elsewhere, False)
    known |= {manifest.manifest.ref: True for manifest in loader.declared}
    # A manifest that cannot be read has a complaint already, so a reference to it gets none.
    known |= dict.fromkeys(loader.unusable, True)
    errors: dict[str, Complaint] = {}
    for complaint in loader.complaints if loader.broken else ():
        if complaint.is_error and complaint.file in loader.broken:
            errors.setdefault(complaint.file, complaint)

    def error_around(ref: Ref) -> Complaint | None:
        name = re.compile(rf"(?<![\w.-]){re.escape(ref.name)}(?![\w-])")
        texts = ((text, errors[file]) for file, text in loader.broken.items() if file in errors)
        return next((error for text, error in texts if not text or name.search(text)), None)

    environment = loader.scope.environment
    for manifest in loader.declared:
        for text, references in manifest.references:
            found = reference_findings(references, known, environment, error_around)
            loader.complain(text, found)


def _cycles(loader: Loader) -> Iterator[Complaint]:
    """Yield one complaint for each cycle of references, at a manifest of it."""
    by_ref = {manifest.manifest.ref: manifest for manifest in loader.declared}
    done: set[Ref] = set()
    for start in by_ref:
        cycle = _cycle_from(start, by_ref, done)
        if cycle:
            message = "references form a cycle, so take one of them out: "
            message += " → ".join(map(str, (*cycle, cycle[0])))
            declared = by_ref[cycle[0]]
            text, reference = next(
                (text, reference)
                for text, references in declared.references
                for reference in references
                if reference.ref in cycle
            )
            yield text.complaint(Finding("M405", reference.path, message, spot=reference.spot))


def _cycle_from(start: Ref, by_ref: Mapping[Ref, DeclaredManifest], done: set[Ref]) -> list[Ref]:
    """Return the first cycle, depth first without recursion, or an empty list."""
    trail: dict[Ref, None] = {}
    stack: list[tuple[Ref, bool]] = [(start, False)]
    while stack:
        ref, left = stack.pop()
        if left:
            trail.popitem()
            done.add(ref)
            continue
        if ref in done or ref not in by_ref:
            continue
        if ref in trail:
            done.update(trail)
            walked = list(trail)
            return walked[walked.index(ref) :]
        trail[ref] = None
        stack.append((ref, True))
        stack.extend((inner, False) for inner in sorted(by_ref[ref].manifest.references))
    return []


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedWorkspace:
    """The input of a check. The key of cached workspaces covers all of it.

    `complaints` are those of earlier checks, `elsewhere` the resources of other environments.
    """

    declared: Sequence[DeclaredManifest]
    elsewhere: Sequence[Ref]
    complaints: Sequence[Complaint]
    scope: Scope
    settings: ProjectFile


WorkspaceCheck: TypeAlias = Callable[[CheckedWorkspace], Iterator[Complaint]]

ALWAYS: Final = "manifests"
"""The key of the checks that every project has."""

CHECKS: Final = Rows[WorkspaceCheck]("workspace-checks")
"""The key is the setting of the project file that a check is about, or `ALWAYS`."""


def wanted_checks(settings: ProjectFile) -> list[str]:
    """Return the keys of the checks that have something to check. Imports none of them.

    Those of every project come last: they skip the manifests with errors.
    """
    return sorted(
        (key for key in CHECKS if key == ALWAYS or getattr(settings, key)), key=ALWAYS.__eq__
    )


def complain_by_features(loader: Loader, settings: ProjectFile) -> None:
    """Add the complaints of the wanted checks, one check after another."""
    for key in wanted_checks(settings):
        checked = CheckedWorkspace(
            declared=loader.declared,
            elsewhere=loader.elsewhere,
            complaints=tuple(loader.complaints),
            scope=loader.scope,
            settings=settings,
        )
        loader.complaints.extend(CHECKS.load(key)(checked))
