"""Loading of files: texts to documents, and documents to the manifests of one environment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias

from reconciler.document import Json
from reconciler.document import Path as Place
from reconciler.kinds import BY_NAME
from reconciler.kinds.checks import is_mappings
from reconciler.kinds.field_traits import MANIFEST_KEYS
from reconciler.kinds.judge_spec import SpecReport, judge
from reconciler.kinds.kind import Kind
from reconciler.model import API_VERSION, Manifest, Ref, Source
from reconciler.project import ProjectFile
from reconciler.redaction.templates import references_in
from reconciler.runtime.rows import Rows
from reconciler.syntax.diagnostic import Advice, Complaint, Finding, Severity, warning
from reconciler.syntax.expressions import is_allowed_in
from reconciler.syntax.files import File, display_name
from reconciler.syntax.parsed_text import Document, DocumentText, Graft, Reading, complaints_of_text
from reconciler.syntax.read_text import Sources
from reconciler.workspace.envelope import (
    REQUIRED_FIELDS,
    Around,
    Envelope,
    has_id,
    is_of_kubernetes,
    read_envelope,
    record_finding,
    stranger_in,
)
from reconciler.workspace.expression_scope import (
    Each,
    Filled,
    Includes,
    Inside,
    Reference,
    Scope,
    fill,
    too_much,
)
from reconciler.workspace.reuse import (
    FOR_EACH,
    OVERRIDES,
    ForEachItems,
    items_of,
    overridden,
    override_findings,
    uses_of,
    without_misplaced,
    written_items,
)
from reconciler.workspace.selection import SelectedNames
from reconciler.workspace.silence import Complaining, Silencing

NO_LIST = Advice("remove the `- ` before it, and write a line `---` between two manifests")

References: TypeAlias = tuple[tuple[DocumentText, Sequence[Reference]], ...]
"""The references of each file."""


@dataclass(slots=True)
class DeclaredManifest:
    """A manifest and the places of its parts.

    Findings about its `spec` are placed in the text `spec`: the manifest itself, or the file that
    `spec.file` names.
    """

    manifest: Manifest
    kind: Kind
    text: DocumentText
    spec: DocumentText
    references: References
    selected: bool = True


_Spec: TypeAlias = tuple[dict[str, Json], DocumentText, References]
"""A valid `spec`, the text that places its parts, and references from other files."""


@dataclass(frozen=True, slots=True)
class WrittenManifest:
    """A manifest as it is written, without its `forEach`, and the `forEach` item for it."""

    file: File
    here: DocumentText
    value: dict[str, Json]
    each: Each | None = None
    references: tuple[DocumentText, Sequence[Reference]] | None = None


@dataclass(frozen=True, slots=True)
class FilledManifest:
    """A manifest in one environment: its filled-in values, and the patch from its `overrides`."""

    written: WrittenManifest
    filled: Filled
    envelope: Envelope
    patch: Json
    scope: Scope
    selected: bool = True

    @property
    def kind(self) -> Kind:
        """Return the kind, which must be known."""
        assert self.envelope.kind is not None  # noqa: S101 - checked by `Loader.make` before
        return self.envelope.kind

    @property
    def is_own(self) -> bool:
        """Return whether it differs from the written text, so that its report is not shared."""
        return self.filled.document is not self.written.here.document.value

    def forget(self, gone: Sequence[Place]) -> None:
        """Remove findings and references of parts of `spec` that no longer exist."""
        filled, places = self.filled, [("spec", *path) for path in gone]
        filled.findings[:] = [
            finding for finding in filled.findings if not is_in(finding.path, places)
        ]
        filled.references[:] = [
            reference for reference in filled.references if not is_in(reference.path, places)
        ]


def is_in(path: Place, places: Sequence[Place]) -> bool:
    """Return whether a path leads to one of these places, or into it."""
    return any(path[: len(place)] == place for place in places)


@dataclass(slots=True)
class Loader(Complaining):
    """Reader of files that collects their manifests and errors.

    It fills in expressions, applies overrides, repeats and validates. `broken` has the texts of
    files with a manifest that cannot be read, by file; "" where there is no text.
    """

    root: Path
    sources: Sources[SpecReport]
    scope: Scope
    environments: Mapping[str, object]
    silencing: Silencing = field(default_factory=lambda: Silencing({}))
    declared: list[DeclaredManifest] = field(default_factory=list)
    elsewhere: list[Ref] = field(default_factory=list)
    exports: set[Path] = field(default_factory=set)
    unusable: list[Ref] = field(default_factory=list)
    uses: dict[str, ForEachItems] = field(default_factory=dict)
    taken: SelectedNames = field(default_factory=SelectedNames)
    strays: list[File] = field(default_factory=list)
    broken: dict[str, str] = field(default_factory=dict)
    side_files: int = 0
    includes: Includes = field(init=False)
    _strange: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Start without included files."""
        self.includes = Includes(self.root, self.sources, self.keep)

    def load(self, file: File) -> None:
        """Read one file and add what it declares; files of settings declare nothing."""
        if self.sources.aside is None:
            self.sources.aside = paths_of_side_files(self.root, self.environments)
        if self.sources.aside and file.path.resolve() in self.sources.aside:
            self.side_files += self.scope.selection.is_about(file.name)
            return
        reading = self.sources.read(file.path, file.name, is_json=file.is_json)
        if isinstance(reading, Complaint):
            self.complaints.append(reading)
            self.broken[file.name] = ""
            return
        if not (file.is_json and file.named) and not _looks_declared(reading):
            # Another file may name it.
            self.strays.append(file)
            return
        self._add_manifests(file, reading)

    def _add_manifests(self, file: File, reading: Reading) -> None:
        self.note_text(file, reading)
        if reading.has_errors:
            self.broken[file.name] = reading.lines.text
        if not file.is_json:
            self.complaints.extend(self.silencing.read(file.name, reading.lines))
        if file.is_json and any(flaw.code == "M101" for flaw in reading.flaws):
            # YAML accepts more than JSON, so the author meant something else.
            return
        documents = [document for document in reading.documents if document.value is not None]
        for document in documents:
            self._declare(file, document)
        if not documents and not reading.has_errors:
            message = "this file holds no manifest: write one, remove it, or `exclude:` it"
            self.complaints.append(
                Complaint(file.name, 1, 1, "M113", message, severity=Severity.WARNING)
            )

    def complain_of_strays(self) -> None:
        """Report the files that are no manifests, and that no manifest names or includes.

        A file that a broken file names is not reported: the broken file may include it.
        """
        for file in self.strays:
            if file.path.resolve() in self.exports | self.includes.real:
                continue
            if any(file.path.name in text for text in self.broken.values()):
                continue
            # Most are named, so only the others are read again.
            reading = self.sources.read(file.path, file.name, is_json=file.is_json)
            if not file.is_json or _lacks_version(reading):
                if isinstance(reading, Reading):
                    self._add_manifests(file, reading)
                continue
            message = "this file is not a manifest, and no manifest's spec.file names it"
            remedy = Advice(
                f"write `spec: {{file: {file.path.name}}}` in one, or `exclude:` it in "
                "reconciler.yaml"
            )
            found = warning("M113", (), message, remedy)
            if isinstance(reading, Reading) and len(reading.documents) == 1:
                value = reading.documents[0].value
                found = record_finding(file, value, "M113", Severity.WARNING) or found
            complaint = Complaint.of_file(file.name, found.code, found.message, found.suggestion)
            self.complaints.append(replace(complaint, severity=found.severity))

    def _declare(self, file: File, document: Document) -> None:
        here = DocumentText(file.name, document)
        if not isinstance(document.value, dict):
            message = f"a manifest is a mapping that begins with `apiVersion: {API_VERSION}`"
            remedy = NO_LIST if is_mappings(document.value) else ""
            self.complain(here, [Finding("M201", (), message, suggestion=remedy)])
            return
        if self._is_foreign(file, document.value, here):
            return
        if FOR_EACH in document.value:
            self.repeat(file, document, here)
            return
        self.check_overrides(document.value, here)
        self.make(WrittenManifest(file, here, document.value))

    def _is_foreign(self, file: File, value: dict[str, Json], here: DocumentText) -> bool:
        """Return whether a document is a bare record or of another tool; report it, if so."""
        is_bare = value.keys().isdisjoint(REQUIRED_FIELDS)
        is_ours = value.get("apiVersion") == API_VERSION
        if not is_bare and (is_ours or not (stranger_in(value) or is_of_kubernetes(value))):
            return False
        record = record_finding(file, value, "M201", Severity.ERROR)
        if record is None:
            return False
        # A file often has dozens of documents of another tool.
        if is_bare or file.name not in self._strange:
            self.complain(here, [record])
        self._strange.add(file.name)
        return True

    def repeat(self, file: File, document: Document, here: DocumentText) -> None:
        """Add the manifests that a document with `forEach` makes, one for each item."""
        value = _object(document.value)
        written: Json = {FOR_EACH: written_items(value[FOR_EACH])}
        items = items_of(self._fill(written, here, file.path, self.scope), here)
        self.complain(items.text, items.findings)
        rest = {key: member for key, member in value.items() if key != FOR_EACH}
        self.check_overrides(rest, here)
        uses = uses_of(self.uses, items, value[FOR_EACH])
        named = uses.note(rest)
        root = items.text.grafts.get((FOR_EACH,))
        grafts: dict[Place, Graft] = {} if root is None else {(FOR_EACH,): root}
        size = self.includes.size_of(rest)
        for item in items.each(uses.used, named):
            own = replace(here, item=item.member, grafts=grafts)
            if self.is_full:
                return
            if not self.includes.spend(size):
                self.complain(own, [too_much((FOR_EACH,))])
                return
            references = (item.text, items.references.get(item.member.number - 1, ()))
            self.make(WrittenManifest(file, own, rest, item, references))

    def complain_of_unused(self) -> None:
        """Report the fields of `forEach` items that no manifest uses."""
        for use in self.uses.values():
            all(map(self.keep, use.unused()))

    def check_overrides(self, value: dict[str, Json], here: DocumentText) -> None:
        """Report errors in `overrides`, including those of other environments."""
        if OVERRIDES in value:
            kind = BY_NAME.get(str(value.get("kind")))
            current = self.scope.environment
            found = override_findings(
                value[OVERRIDES], kind, self.environments, current, self.sources.patches
            )
            self.complain(here, found)

    def make(self, written: WrittenManifest) -> None:
        """Add one manifest, or report why it cannot be used."""
        made = self._read(written)
        filled, envelope, item = made.filled, made.envelope, written.each
        here = replace(written.here, grafts={**written.here.grafts, **filled.grafts})
        kind = envelope.kind
        if kind is None or not envelope.name:
            self.broken[here.file] = here.document.lines.text
            # A finding about an unfilled expression would repeat the error of that expression.
            reported = filled.unfilled | {finding.path for finding in filled.findings}
            around = [finding for finding in envelope.findings if finding.path not in reported]
            envelope = replace(envelope, findings=around)
            made = replace(made, envelope=envelope)
        # A manifest without a usable name is validated all the same, but not declared.
        ref = Ref(kind.name, envelope.name) if kind is not None and envelope.name else None
        here = replace(here, ref="" if ref is None else str(ref))
        if kind is None or envelope.spec is None:
            self.complain(here, (*envelope.findings, *filled.findings))
            self.unusable.extend(filter(None, [ref]))
            return
        if (
            envelope.environments is not None
            and self.scope.environment not in envelope.environments
        ):
            # Its variables may exist in other environments only.
            self.complain(here, envelope.findings)
            self.elsewhere.extend(filter(None, [ref]))
            return
        found = self._spec(made, here)
        # A manifest of another tool may have the same kind: it declares nothing here.
        if ref is None or found is None or written.value.get("apiVersion") != API_VERSION:
            self.unusable.extend(filter(None, [ref]))
            return
        spec, text, references = found
        added = self._read_added(kind, _object(filled.document), here)
        line, column = here.document.locate(())
        manifest = Manifest(
            ref,
            spec,
            Source(written.file.name, line, column, None if item is None else item.member),
            remote_id=envelope.remote_id,
            labels=envelope.labels,
            references=references_in(spec),
            protect=envelope.protect,
            exempt=envelope.exempt,
            added=added,
        )
        own = () if written.references is None else (written.references,)
        places = ((here, filled.references), *own, *references)
        self.declared.append(DeclaredManifest(manifest, kind, here, text, places, made.selected))

    def _read_added(
        self, kind: Kind, document: dict[str, Json], here: DocumentText
    ) -> dict[str, Json]:
        """Return what features read of their keys, and report what is wrong with the values."""
        added: dict[str, Json] = {}
        for key in MANIFEST_KEYS:
            if key not in document:
                continue
            row = MANIFEST_KEYS.load(key)
            if kind.name not in row.kinds:
                message = f"`{key}` is for {', '.join(sorted(row.kinds))} alone"
                self.complain(here, [Finding("M208", (key,), message, at_key=True)])
                continue
            findings, added[key] = row.read(document[key], here)
            self.complain(here, findings)
        return added

    def _read(self, written: WrittenManifest) -> FilledManifest:
        """Read expressions and envelope; secrets only if the manifest is selected."""
        if not self.scope.selection:
            return self._read_in(self.scope, written)
        read = self._read_in(self.scope.without_secrets, written)
        kind, name = read.envelope.kind, read.envelope.name
        if kind is not None and name:
            ref, labels = Ref(kind.name, name), read.envelope.labels
            if not self.scope.selection.takes(ref, written.file.name, labels):
                self.taken.left.add(str(ref))
                return replace(read, selected=False)
            self.taken.refs.add(str(ref))
        return self._read_in(self.scope, written)

    def _read_in(self, scope: Scope, written: WrittenManifest) -> FilledManifest:
        """Read a manifest with only this environment's patch, which is filled in with it."""
        value, name = written.value, scope.environment
        overrides = value.get(OVERRIDES)
        patch = overrides.get(name) if isinstance(overrides, dict) else None
        if OVERRIDES in value:
            value = {key: member for key, member in value.items() if key != OVERRIDES}
            value |= {} if patch is None else {OVERRIDES: {name: patch}}
        filled = self._fill(value, written.here, written.file.path, scope, written.each)
        if patch is not None:
            whole = dict(_object(filled.document))
            patch = _object(whole.pop(OVERRIDES))[name]
            filled.document = whole
        around = Around(
            environments=self.environments,
            environment=name,
            today=scope.today,
            rules=self.silencing.rules,
        )
        envelope = read_envelope(_object(filled.document), around)
        return FilledManifest(written, filled, envelope, patch, scope)

    def _fill(
        self, value: Json, here: DocumentText, path: Path, scope: Scope, item: Each | None = None
    ) -> Filled:
        """Fill in the expressions of a document. Most documents have none and are not walked."""
        if not is_allowed_in(here.document.lines.text):
            # A withheld key may also be written out in the text.
            found = scope.withheld.lies_in(here.document.lines.text)
            findings = scope.withheld.findings(value) if found else ()
            return Filled(value, [*findings])
        return fill(value, scope, Inside(text=here, trail=(path,), each=item, files=self.includes))

    def _spec(self, made: FilledManifest, here: DocumentText) -> _Spec | None:
        """Validate a `spec` with its overrides.

        A document that is the same in every environment is validated once for all.
        """
        kind, envelope, patch = made.kind, made.envelope, made.patch
        spec, raw = envelope.spec or {}, made.written.value
        written, inside = raw["spec"], here.inside("spec")
        is_export = spec.get("file") is not None and kind.from_export is not None
        if isinstance(patch, dict) and is_export:
            # The other fields override the content of that file.
            own = {key: value for key, value in patch.items() if key == "file"}
            patch = {key: value for key, value in patch.items() if key != "file"}
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
        return judged.spec, inside, ()

    def _patched(
        self,
        spec: dict[str, Json],
        patch: Json,
        made: FilledManifest,
        here: DocumentText,
        inside: DocumentText,
    ) -> tuple[dict[str, Json], DocumentText]:
        """Return a `spec` with a patch applied, and the text that places its parts."""
        root = (OVERRIDES, self.scope.environment)
        merged = overridden(spec, without_misplaced(_object(patch), made.kind), made.kind.shape)
        findings = (replace(finding, path=(*root, *finding.path)) for finding in merged.findings)
        self.complain(here, findings)
        made.forget(merged.gone)
        grafts = {
            path: Graft(here, (*root, *there), keyed=True) for path, there in merged.patched.items()
        }
        # Places of overridden parts are no longer valid.
        kept = {
            path: graft for path, graft in inside.grafts.items() if not is_in(path, merged.gone)
        }
        return _object(merged.document), replace(inside, grafts={**kept, **grafts})

    def _expand(
        self,
        from_export: Callable[[dict[str, Json]], dict[str, Json]],
        made: FilledManifest,
        declared: dict[str, Json],
        patch: Json,
        here: DocumentText,
    ) -> _Spec | None:
        """Return the `spec` with the content of `spec.file` in place of that field."""
        named, inside = str(declared["file"]), here.inside("spec")
        path = made.written.file.path.parent / named
        name = display_name(path, self.root)
        (self.taken.files if made.selected else self.taken.left_files).add(name)
        content = self._export(path, name, named, inside)
        if content is None:
            return None
        exported = DocumentText(name, content, ref=here.ref, item=here.item)
        filled = self._fill(content.value, exported, path, made.scope, made.written.each)
        exported = replace(exported, grafts=filled.grafts)
        self.complain(exported, filled.findings)
        whole = _object(filled.document)
        rest = {key: value for key, value in declared.items() if key != "file"}
        spec = {**from_export(whole), **rest}
        written: Json = {**from_export(_object(content.value)), **rest}
        # A bare dashboard is one level higher in its file than in `spec`.
        dropped = 0 if spec.keys() & whole.keys() - rest.keys() else 1
        place = replace(exported, dropped=dropped)
        if dropped and exported.grafts:
            first = next(iter(spec))
            place = replace(
                place, grafts={(first, *key): graft for key, graft in exported.grafts.items()}
            )
        if isinstance(patch, dict) and patch:
            spec, place = self._patched(spec, patch, made, here, place)
            written = {}
        judged = judge(made.kind, spec, written, has_id=True)
        self.complain(place, judged.findings)
        return judged.spec, place, ((exported, filled.references),)

    def _export(self, path: Path, name: str, named: str, inside: DocumentText) -> Document | None:
        """Read the one object of a `spec.file`; report an error where there is none."""
        if Path(named).is_absolute():
            message = "this file must be relative to the manifest"
            reading: Reading | Complaint = Complaint.of_file(name, "", message)
        else:
            reading = self.sources.read(path, name, is_json=True)
        if isinstance(reading, Complaint):
            message = f"`{named}`: {reading.message}"
            near = reading.suggestion and str(Path(named).with_name(reading.suggestion))
            if near:
                # This finding names the file, so it is not also reported as unused.
                self.exports.add(path.with_name(reading.suggestion).resolve())
            self.complain(inside, [Finding("M404", ("file",), message, suggestion=near)])
            return None
        self.exports.add(path.resolve())
        all(map(self.keep, complaints_of_text(name, reading)))
        if len(reading.documents) == 1 and isinstance(reading.documents[0].value, dict):
            return reading.documents[0]
        if not reading.has_errors:
            message = f"`{named}` does not hold one JSON object"
            self.complain(inside, [Finding("M404", ("file",), message)])
        return None


def _still_missing(envelope: Envelope, judged: SpecReport) -> Iterator[Finding]:
    """Yield the findings around `spec`, but not a missing id that is inside `spec`."""
    for finding in envelope.findings:
        is_there = judged.moves_id and finding.code == "M206" and finding.path == ("metadata",)
        if not is_there:
            yield finding


def _object(document: Json) -> dict[str, Json]:
    assert isinstance(document, dict)  # noqa: S101 - filling expressions keeps the form
    return document


def _looks_declared(reading: Reading) -> bool:
    """Return whether a JSON file looks like a manifest, even if it cannot be read."""
    if reading.has_errors:
        text = reading.lines.text
        return '"apiVersion"' in text or "'apiVersion'" in text
    return any(
        isinstance(document.value, dict) and "apiVersion" in document.value
        for document in reading.documents
    )


def _lacks_version(reading: Reading | Complaint) -> bool:
    """Return whether a JSON file is a manifest but for its `apiVersion`."""
    return isinstance(reading, Reading) and any(
        isinstance(document.value, dict)
        and document.value.get("kind") in BY_NAME
        and not document.value.keys().isdisjoint(("metadata", "spec"))
        for document in reading.documents
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SideFiles:
    """Files that the setting of a feature names, and how they are read.

    `names` returns the files of a setting, relative to the project's folder. `read` returns their
    content for the environment of a loader, which keeps the complaints. `packed` turns a content
    into JSON for the cache, and `unpacked` turns that back.
    """

    names: Callable[[Any], Iterable[str]]
    read: Callable[[Loader, ProjectFile, Any], Any]
    packed: Callable[[Any], Any]
    unpacked: Callable[[Any], Any]


SIDE_FILES: Final = Rows[SideFiles]("workspace-files")
"""The key is the name of the setting."""


def paths_of_side_files(root: Path, environments: Mapping[str, object]) -> frozenset[Path]:
    """Return the real paths of the files that the settings of all environments name."""
    return frozenset(
        (root / file).resolve()
        for environment in environments.values()
        for name, setting in _settings(environment)
        for file in SIDE_FILES.load(name).names(setting)
    )


def read_side_files(loader: Loader, settings: ProjectFile) -> dict[str, Any]:
    """Return what the files of the loader's environment hold, by the name of the setting."""
    environment = settings.environments.get(loader.scope.environment)
    return {
        name: SIDE_FILES.load(name).read(loader, settings, setting)
        for name, setting in _settings(environment)
    }


def _settings(environment: object) -> Iterator[tuple[str, Any]]:
    """Yield the name and value of each setting of an environment that names files."""
    for name in SIDE_FILES:
        setting = getattr(environment, name, None)
        if setting is not None:
            yield name, setting
