"""One file after another: text to documents, documents to manifests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

from reconciler.document import Json
from reconciler.document import Path as Place
from reconciler.errors import InvalidInput
from reconciler.expressions import may_stand_in
from reconciler.kinds import BY_NAME
from reconciler.kinds.judging import Judged, judge
from reconciler.kinds.kind import Kind
from reconciler.manifests.envelope import (
    FIELDS,
    Envelope,
    has_id,
    read_envelope,
    record_finding,
)
from reconciler.manifests.expressions import Filled, Reference, Scope
from reconciler.manifests.filling import fill, too_much
from reconciler.manifests.including import Includes
from reconciler.manifests.inserting import Each, Inside, Measures, along
from reconciler.manifests.overriding import OVERRIDES, overridden, override_findings
from reconciler.manifests.repeating import (
    FOR_EACH,
    Items,
    Uses,
    items_of,
    keys_named,
    written_items,
)
from reconciler.resource import API_VERSION, Manifest, Ref, Source
from reconciler.sealed import references_in
from reconciler.source.diagnostic import Complaint, Finding, Severity
from reconciler.source.files import File, Sources, display_name, read_file
from reconciler.source.parsed import Document, Graft, Reading, Text, complaints_of_text
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


@dataclass(frozen=True, slots=True)
class _Written:
    """A manifest as it is written, without its `forEach`, and one item of that."""

    file: File
    here: Text
    value: dict[str, Json]
    each: Each | None = None
    references: tuple[Text, Sequence[Reference]] | None = None


@dataclass(frozen=True, slots=True)
class _Made:
    """A manifest in one environment: what is filled in, and the patch of its `overrides`."""

    written: _Written
    kind: Kind
    envelope: Envelope
    patch: Json
    filled: Filled
    is_own: bool

    def forget(self, gone: Sequence[Place]) -> None:
        """Leave out what is said of parts of `spec` that are not there any more."""
        filled, places = self.filled, [("spec", *path) for path in gone]
        filled.findings[:] = [one for one in filled.findings if not _is_in(one.path, places)]
        filled.references[:] = [one for one in filled.references if not _is_in(one.path, places)]


def _is_in(path: Place, places: Sequence[Place]) -> bool:
    return any(path[: len(place)] == place for place in places)


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
    measures: Measures = field(default_factory=Measures)
    uses: dict[str, Uses] = field(default_factory=dict)
    includes: Includes = field(init=False)
    _flawed: set[tuple[int, int]] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Begin without any file that is included."""
        self.includes = Includes(self.root, self.sources, self._keep)

    def load(self, file: File) -> None:
        """Read one file and take in what it declares."""
        reading = self.sources.read(file.path, file.name, is_json=file.is_json)
        if isinstance(reading, Complaint):
            self.complaints.append(reading)
            return
        if not (file.is_json and file.named) and not _looks_declared(reading):
            # It may be one that another file names.
            self.strays.append(file)
            return
        self._take(file, reading)

    def _take(self, file: File, reading: Reading) -> None:
        """Take in what a file declares."""
        self._note_text(file, reading)
        if file.is_json and any(flaw.code == "M101" for flaw in reading.flaws):
            # YAML reads more than JSON: what it made of this is not what was meant.
            return
        documents = [one for one in reading.documents if one.value is not None]
        for document in documents:
            self._declare(file, document)
        if not documents and not reading.has_errors:
            said = "this file holds no manifest"
            self.complaints.append(Complaint(file.name, 1, 1, "M113", said, "", Severity.WARNING))

    def _note_text(self, file: File, reading: Reading) -> None:
        """Note what is wrong with the text, and where it cannot be read."""
        self._flawed = {
            (flaw.line, flaw.column) for flaw in reading.flaws if flaw.severity is Severity.ERROR
        }
        all(map(self._keep, complaints_of_text(file.name, reading)))

    def complain_of_strays(self) -> None:
        """Note the files that are no manifests, and that none of these names or includes."""
        for file in self.strays:
            if file.path.resolve() in self.exports | self.includes.real:
                continue
            if not file.is_json:
                again = self.sources.read(file.path, file.name, is_json=False)
                if isinstance(again, Reading):
                    self._take(file, again)
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
        if FOR_EACH in document.value:
            self._repeat(file, document, here)
            return
        self._check_overrides(document.value, here)
        self._make(_Written(file, here, document.value))

    def _repeat(self, file: File, document: Document, here: Text) -> None:
        """Take in what is made of each item of a `forEach`."""
        value = _object(document.value)
        written: Json = {FOR_EACH: written_items(value[FOR_EACH])}
        items = items_of(self._fill(written, here, file.path), here)
        self.complain(items.text, items.findings)
        rest = {key: one for key, one in value.items() if key != FOR_EACH}
        self._check_overrides(rest, here)
        named = list(keys_named(rest))
        uses = self._uses_of(items, value[FOR_EACH])
        found = (along(_all(items), one) for one in named)
        uses.used |= {str(one[0][0]) for one in found if one is not None}
        root = items.text.grafts.get((FOR_EACH,))
        grafts: dict[Place, Graft] = {} if root is None else {(FOR_EACH,): root}
        size = self.measures.of(rest)[0]
        for each in items.each(uses.used, next(iter(named), "")):
            own = replace(here, item=each.member, grafts=grafts)
            if self.counts[""] or not self.includes.spend(size):
                self.complain(own, [] if self.counts[""] else [too_much((FOR_EACH,))])
                return
            references = (each.text, items.references.get(each.member.number - 1, ()))
            self._make(_Written(file, own, rest, each, references))

    def _uses_of(self, items: Items, value: Json) -> Uses:
        """Give what is known of the use of items: those of one file may be used by several."""
        shared = items.text.grafts.get((FOR_EACH,))
        if isinstance(value, list) or shared is None:
            key = f"{items.text.file} {len(self.uses)}"
            # The project file's own are for all manifests of all folders.
            own = Uses(items if isinstance(value, list) else replace(items, values=[]))
            return self.uses.setdefault(key, own)
        return self.uses.setdefault(shared.text.file, Uses(items))

    def complain_of_unused(self) -> None:
        """Note what no manifest names of the items that it is made of."""
        for one in self.uses.values():
            all(map(self._keep, one.unused()))

    def _check_overrides(self, value: dict[str, Json], here: Text) -> None:
        if OVERRIDES in value:
            kind = BY_NAME.get(str(value.get("kind")))
            current = self.scope.environment
            found = override_findings(value[OVERRIDES], kind, self.environments, current)
            self.complain(here, found)

    def _make(self, written: _Written) -> None:
        """Take in one manifest."""
        file, here, each = written.file, written.here, written.each
        value, patch = self._with_patch(written.value)
        filled = self._fill(value, here, file.path, each)
        document = _object(filled.document)
        if patch is not None:
            patch = _object(document.pop(OVERRIDES))[self.scope.environment]
        envelope = read_envelope(document, self.environments, self.scope.environment)
        here = replace(here, grafts={**here.grafts, **filled.grafts})
        kind = envelope.kind
        if kind is None or not envelope.name:
            self.complain(here, (*envelope.findings, *filled.findings))
            return
        ref = Ref(kind.name, envelope.name)
        here = replace(here, ref=str(ref))
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
        # What is filled in every environment alike is judged once for all.
        is_own = filled.document is not here.document.value
        made = _Made(written, kind, envelope, patch, filled, is_own=is_own)
        spec = self._spec(made, here)
        # What another tool calls by the same kind declares nothing here.
        if spec is None or written.value.get("apiVersion") != API_VERSION:
            self.unusable.append(ref)
            return
        line, column = here.document.locate(())
        manifest = Manifest(
            ref,
            spec.document,
            Source(file.name, line, column, None if each is None else each.member),
            envelope.remote_id,
            envelope.labels,
            references_in(spec.document),
            envelope.protect,
        )
        own = () if written.references is None else (written.references,)
        places = ((here, filled.references), *own, *spec.references)
        self.declared.append(Declared(manifest, kind, here, spec.text, places))

    def _with_patch(self, value: dict[str, Json]) -> tuple[dict[str, Json], Json]:
        """Give a manifest with the patch of this environment alone, and that; None for none."""
        if OVERRIDES not in value:
            return value, None
        overrides = value[OVERRIDES]
        patch = overrides.get(self.scope.environment) if isinstance(overrides, dict) else None
        rest = {key: one for key, one in value.items() if key != OVERRIDES}
        if patch is None:
            return rest, None
        return {**rest, OVERRIDES: {self.scope.environment: patch}}, patch

    def _fill(self, value: Json, here: Text, path: Path, each: Each | None = None) -> Filled:
        """Read the expressions of a document; most hold none, and are not walked."""
        if not may_stand_in(here.document.text):
            # A key may also stand there as it is.
            found = self.scope.withheld.stands_in(here.document.text)
            findings = self.scope.withheld.findings(value) if found else ()
            return Filled(value, [*findings])
        inside = Inside(
            text=here, trail=(path,), each=each, files=self.includes, measure=self.measures.of
        )
        return fill(value, self.scope, inside)

    def _spec(self, made: _Made, here: Text) -> _Spec | None:
        """Judge a `spec` with its overrides; one that is its environment's own is so each time."""
        kind, envelope, patch = made.kind, made.envelope, made.patch
        spec, raw = envelope.spec or {}, made.written.value
        written, inside = raw["spec"], here.inside("spec")
        is_export = spec.get("file") is not None and kind.from_export is not None
        if isinstance(patch, dict) and is_export:
            # The rest is for what the file holds.
            own = {key: one for key, one in patch.items() if key == "file"}
            patch = {key: one for key, one in patch.items() if key != "file"}
            spec = {**spec, **own}
        elif isinstance(patch, dict):
            spec, inside = self._patched(spec, patch, made, here, inside)
            written = {}
        self.complain(here, made.filled.findings)
        judging = partial(judge, kind, spec, written, has_id=has_id(raw))
        judged = judging() if made.is_own else self.sources.judge(here.document, judging)
        self.complain(here, _still_missing(envelope, judged))
        failed = self.complain(inside, judged.findings)
        if is_export and kind.from_export is not None:
            return None if failed else self._expand(kind.from_export, made, spec, patch, here)
        return _Spec(judged.spec, inside)

    def _patched(
        self, spec: dict[str, Json], patch: Json, made: _Made, here: Text, inside: Text
    ) -> tuple[dict[str, Json], Text]:
        """Give a `spec` with a patch in it, and where its parts stand then."""
        root = (OVERRIDES, self.scope.environment)
        merged = overridden(spec, patch, made.kind.shape)
        findings = (replace(one, path=(*root, *one.path)) for one in merged.findings)
        self.complain(here, findings)
        made.forget(merged.gone)
        grafts = {
            path: Graft(here, (*root, *there), keyed=True) for path, there in merged.patched.items()
        }
        # What stood in the place of a part that was overridden tells nothing of it any more.
        kept = {path: one for path, one in inside.grafts.items() if not _is_in(path, merged.gone)}
        return _object(merged.document), replace(inside, grafts={**kept, **grafts})

    def _expand(
        self,
        from_export: Callable[[dict[str, Json]], dict[str, Json]],
        made: _Made,
        declared: dict[str, Json],
        patch: Json,
        here: Text,
    ) -> _Spec | None:
        """Put the content of `spec.file` in its place."""
        named, inside = str(declared["file"]), here.inside("spec")
        path = made.written.file.path.parent / named
        name = display_name(path, self.root)
        content = self._export(path, name, named, inside)
        if content is None:
            return None
        exported = Text(name, content, ref=here.ref, item=here.item)
        filled = self._fill(content.value, exported, path, made.written.each)
        exported = replace(exported, grafts=filled.grafts)
        self.complain(exported, filled.findings)
        whole = _object(filled.document)
        rest = {key: value for key, value in declared.items() if key != "file"}
        spec = {**from_export(whole), **rest}
        written: Json = {**from_export(_object(content.value)), **rest}
        # A bare dashboard stands one level higher in its file than in `spec`.
        dropped = 0 if spec.keys() & whole.keys() - rest.keys() else 1
        place = replace(exported, dropped=dropped)
        if dropped and exported.grafts:
            first = next(iter(spec))
            place = replace(
                place, grafts={(first, *key): one for key, one in exported.grafts.items()}
            )
        if isinstance(patch, dict) and patch:
            spec, place = self._patched(spec, patch, made, here, place)
            written = {}
        judged = judge(made.kind, spec, written, has_id=True)
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


def _all(items: Items) -> dict[str, Json]:
    """Give the values of all items together, to know which keys lead somewhere."""
    return {key: value for _, values in items.values for key, value in values.items()}


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
