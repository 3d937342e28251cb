"""One file after another: text to documents, documents to manifests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

from reconciler.document import Json
from reconciler.errors import InvalidInput
from reconciler.expressions import may_stand_in
from reconciler.kinds.judging import Judged, judge
from reconciler.kinds.kind import Kind
from reconciler.manifests.envelope import (
    FIELDS,
    Envelope,
    has_id,
    read_envelope,
    record_finding,
)
from reconciler.manifests.expressions import Filled, Reference, Scope, fill
from reconciler.resource import API_VERSION, Manifest, Ref, Source
from reconciler.sealed import references_in
from reconciler.source.diagnostic import Complaint, Finding, Severity
from reconciler.source.files import File, Sources, display_name, read_file
from reconciler.source.parsed import Document, Reading, Text, complaints_of_text
from reconciler.source.reading import read_text


def read_rows(file: Path, fields: Sequence[str] | None) -> list[dict[str, Json]]:
    """Read a list of objects; `fields` are the only ones allowed, each a text.

    Raises InvalidInput naming file, line and column.
    """
    text = read_file(file, str(file), [file.resolve().parent])
    if isinstance(text, Complaint):
        raise InvalidInput(f"{file}: {text.message}")
    reading = read_text(text, is_json=file.suffix == ".json")
    if reading.has_errors:
        flaw = next(one for one in reading.flaws if one.severity is Severity.ERROR)
        raise InvalidInput(f"{file}:{flaw.line}:{flaw.column}: {flaw.message}")
    document = reading.documents[0] if len(reading.documents) == 1 else None
    if document is None or not isinstance(document.value, list) or not document.value:
        raise InvalidInput(f"{file} must hold one list that is not empty")
    places = (document.locate((index,)) for index in range(len(document.value)))
    return [
        _row(row, fields, f"{file}:{line}:{column}")
        for row, (line, column) in zip(document.value, places, strict=True)
    ]


def _row(row: Json, fields: Sequence[str] | None, where: str) -> dict[str, Json]:
    if not isinstance(row, dict):
        raise InvalidInput(f"{where}: an item must be a mapping")
    for name, value in row.items() if fields is not None else ():
        if name not in (fields or ()):
            raise InvalidInput(
                f"{where}: unknown field `{name}` (known: {', '.join(fields or ())})"
            )
        if not isinstance(value, str):
            raise InvalidInput(f"{where}: `{name}` must be text")
    return row


MOST_COMPLAINTS = 10_000
"""About one file, and ten times as many in all; a file can hold a million mistakes."""

_OF_VALUES = frozenset(("M301", "M304"))

References: TypeAlias = tuple[tuple[Text, Sequence[Reference]], ...]
"""Where each reference stands, file by file."""


@dataclass(slots=True)
class Declared:
    """A manifest, and where its parts stand: `spec` is where findings about its `spec` are placed.

    That is in the manifest itself, or in the file that `spec.file` names.
    """

    manifest: Manifest
    kind: Kind
    text: Text
    spec: Text
    references: References


@dataclass(frozen=True, slots=True)
class _Spec:
    document: dict[str, Json]
    text: Text
    references: References = ()


@dataclass(slots=True)
class Loader:
    """Reads files one by one and collects what they declare and what is wrong."""

    root: Path
    sources: Sources[Judged]
    scope: Scope
    environments: Mapping[str, object]
    complaints: list[Complaint] = field(default_factory=list)
    declared: list[Declared] = field(default_factory=list)
    elsewhere: list[Ref] = field(default_factory=list)
    exports: set[Path] = field(default_factory=set)
    strays: list[File] = field(default_factory=list)
    unusable: list[Ref] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    _flawed: set[tuple[int, int]] = field(default_factory=set)

    def load(self, file: File) -> None:
        """Read one file and take in what it declares."""
        reading = self.sources.read(file.path, file.name, is_json=file.is_json)
        if isinstance(reading, Complaint):
            self.complaints.append(reading)
            return
        if file.is_json and not file.named and not _looks_declared(reading):
            self.strays.append(file)
            return
        self._note_text(file, reading)
        if file.is_json and any(flaw.code == "M101" for flaw in reading.flaws):
            # YAML reads more than JSON: what it made of this is not what was meant.
            return
        documents = [one for one in reading.documents if one.value is not None]
        for document in documents:
            self._declare(file, document)
        if not documents and not reading.has_errors:
            said = "this file holds no manifest: write one, remove it, or `exclude:` it"
            self.complaints.append(Complaint(file.name, 1, 1, "M113", said, "", Severity.WARNING))

    def _note_text(self, file: File, reading: Reading) -> None:
        """Note what is wrong with the text, and where it cannot be read."""
        self._flawed = {
            (flaw.line, flaw.column) for flaw in reading.flaws if flaw.severity is Severity.ERROR
        }
        all(map(self._keep, complaints_of_text(file.name, reading)))

    def complain_of_strays(self) -> None:
        """Note the JSON files that are no manifests, and that none of these names."""
        for file in self.strays:
            if file.path.resolve() in self.exports:
                continue
            said = "this file is not a manifest, and no manifest's spec.file names it"
            stray = Complaint(file.name, 0, 0, "M113", said, "", Severity.WARNING)
            # Most are named, so only the others are looked at, once more.
            reading = self.sources.read(file.path, file.name, is_json=True)
            if isinstance(reading, Reading) and len(reading.documents) == 1:
                value = reading.documents[0].value
                found = record_finding(file, value, "M113", Severity.WARNING)
                if found is not None:
                    stray = replace(stray, message=found.message, suggestion=found.suggestion)
            self.complaints.append(stray)

    def complain(self, text: Text, findings: Iterable[Finding]) -> bool:
        """Note findings; tell whether one of them is an error."""
        failed = False
        for finding in findings:
            failed |= finding.severity is Severity.ERROR
            complaint = text.complaint(finding)
            # What cannot be read has its complaint, and is not judged.
            place = (complaint.line, complaint.column)
            if finding.code in _OF_VALUES and place in self._flawed:
                continue
            if not self._keep(complaint):
                return True
        return failed

    def _keep(self, complaint: Complaint) -> bool:
        """Keep a complaint; tell whether there may be more, and say so where not."""
        self.counts[complaint.file] += 1
        full = len(self.complaints) >= 10 * MOST_COMPLAINTS
        if self.counts[complaint.file] <= MOST_COMPLAINTS and not full:
            self.complaints.append(complaint)
            return True
        if self.counts[complaint.file] == MOST_COMPLAINTS + 1 or self.counts[""] == 0:
            said = "there is too much to complain of: the rest of this file is unchecked"
            self.complaints.append(Complaint(complaint.file, 0, 0, "M115", said))
        self.counts[""] += full
        return False

    def _declare(self, file: File, document: Document) -> None:
        here = Text(file.name, document)
        if not isinstance(document.value, dict):
            said = f"a manifest is a mapping that begins with `apiVersion: {API_VERSION}`"
            self.complain(here, [Finding("M201", (), said)])
            return
        if document.value.keys().isdisjoint(FIELDS):
            record = record_finding(file, document.value, "M201", Severity.ERROR)
            if record is not None:
                self.complain(here, [record])
                return
        filled = self._fill(document)
        envelope = read_envelope(
            _object(filled.document), self.environments, self.scope.environment
        )
        kind = envelope.kind
        if kind is None or not envelope.name:
            self.complain(here, (*envelope.findings, *filled.findings))
            return
        ref = Ref(kind.name, envelope.name)
        here = Text(file.name, document, ref=str(ref))
        if envelope.spec is None:
            self.complain(here, (*envelope.findings, *filled.findings))
            self.unusable.append(ref)
            return
        if (
            envelope.environments is not None
            and self.scope.environment not in envelope.environments
        ):
            # Its variables may be those of other environments only.
            self.complain(here, envelope.findings)
            self.elsewhere.append(ref)
            return
        self.complain(here, filled.findings)
        is_own = filled.document is not document.value
        spec = self._spec(kind, file, envelope, here, is_own=is_own)
        # What another tool calls by the same kind declares nothing here.
        if spec is None or document.value.get("apiVersion") != API_VERSION:
            self.unusable.append(ref)
            return
        line, column = document.locate(())
        source = Source(file.name, line, column)
        references = references_in(spec.document)
        manifest = Manifest(
            ref,
            spec.document,
            source,
            envelope.remote_id,
            envelope.labels,
            references,
            envelope.protect,
        )
        places = ((here, filled.references), *spec.references)
        self.declared.append(Declared(manifest, kind, here, spec.text, places))

    def _fill(self, document: Document) -> Filled:
        """Read the expressions of a document; most hold none, and are not walked."""
        if not may_stand_in(document.text):
            # A key may also stand there as it is.
            found = self.scope.withheld.stands_in(document.text)
            findings = self.scope.withheld.findings(document.value) if found else ()
            return Filled(document.value, [*findings])
        return fill(document.value, self.scope)

    def _spec(
        self, kind: Kind, file: File, envelope: Envelope, here: Text, *, is_own: bool
    ) -> _Spec | None:
        """Judge a `spec`; one that is its environment's own is so each time."""
        inside = replace(here, prefix=("spec",))
        spec, written = envelope.spec or {}, _object(here.document.value)
        judging = partial(judge, kind, spec, written["spec"], has_id=has_id(written))
        judged = judging() if is_own else self.sources.judge(here.document, judging)
        self.complain(here, _still_missing(envelope, judged))
        failed = self.complain(inside, judged.findings)
        if spec.get("file") is not None and kind.from_export is not None:
            return None if failed else self._expand(kind.from_export, kind, file, spec, inside)
        return _Spec(judged.spec, inside)

    def _expand(
        self,
        from_export: Callable[[dict[str, Json]], dict[str, Json]],
        kind: Kind,
        file: File,
        declared: dict[str, Json],
        inside: Text,
    ) -> _Spec | None:
        """Put the content of `spec.file` in its place."""
        named = str(declared["file"])
        name = display_name(file.path.parent / named, self.root)
        content = self._export(file.path.parent / named, name, named, inside)
        if content is None:
            return None
        filled = self._fill(content)
        exported = Text(name, content, ref=inside.ref)
        self.complain(exported, filled.findings)
        whole = _object(filled.document)
        rest = {key: value for key, value in declared.items() if key != "file"}
        spec = {**from_export(whole), **rest}
        written = {**from_export(_object(content.value)), **rest}
        # A bare dashboard stands one level higher in its file than in `spec`.
        dropped = 0 if spec.keys() & whole.keys() - rest.keys() else 1
        place = replace(exported, dropped=dropped)
        judged = judge(kind, spec, written, has_id=True)
        self.complain(place, judged.findings)
        return _Spec(judged.spec, place, ((exported, filled.references),))

    def _export(self, path: Path, name: str, named: str, inside: Text) -> Document | None:
        """Read the one object of a `spec.file`; complain where there is none."""
        if Path(named).is_absolute():
            said = "this file must be relative to the manifest"
            reading: Reading | Complaint = Complaint(name, 0, 0, "", said)
        else:
            reading = self.sources.read(path, name, is_json=True)
        if isinstance(reading, Complaint):
            said = f"`{named}`: {reading.message}"
            self.complain(inside, [Finding("M404", ("file",), said)])
            return None
        self.exports.add(path.resolve())
        all(map(self._keep, complaints_of_text(name, reading)))
        if len(reading.documents) == 1 and isinstance(reading.documents[0].value, dict):
            return reading.documents[0]
        if not reading.has_errors:
            said = f"`{named}` does not hold one JSON object"
            self.complain(inside, [Finding("M404", ("file",), said)])
        return None


def _still_missing(envelope: Envelope, judged: Judged) -> Iterator[Finding]:
    """Yield what is wrong around `spec`, but for an id that stands in there."""
    for finding in envelope.findings:
        is_there = judged.moves_id and finding.code == "M206" and finding.path == ("metadata",)
        if not is_there:
            yield finding


def _object(document: Json) -> dict[str, Json]:
    assert isinstance(document, dict)  # noqa: S101 - filling expressions keeps the form
    return document


def _looks_declared(reading: Reading) -> bool:
    """Tell a manifest from a stray JSON file, though it may be too broken to be read."""
    if reading.has_errors:
        return '"apiVersion"' in reading.lines.text
    return any(
        isinstance(document.value, dict) and "apiVersion" in document.value
        for document in reading.documents
    )
