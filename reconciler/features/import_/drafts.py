"""Documents of an import, stored until their names are known; then the texts of manifests."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path as File
from typing import IO

from reconciler.document import Json, Path, value_at
from reconciler.errors import ExitCode
from reconciler.features.import_.match_declared import (
    Brief,
    ImportOrigin,
    KnownRefs,
    Mention,
    NamedImport,
    Stretch,
    content_mark,
    mentions_in,
    with_references,
)
from reconciler.features.import_.records import Hiding, ImportRecord, Left, minimal
from reconciler.model import API_VERSION, Manifest, Ref, Source
from reconciler.model.assumptions import Assumptions
from reconciler.operations.open_session import Session
from reconciler.project import ProjectVariable, with_target
from reconciler.syntax.expressions import OPEN, is_allowed_in
from reconciler.syntax.read_text import read_text
from reconciler.workspace.compose import UnwritableError, composed_json, laid_out
from reconciler.workspace.envelope import Around, read_envelope
from reconciler.workspace.expression_scope import Scope, withheld_from
from reconciler.workspace.workspace import wrong_in
from reconciler.workspace.write_files import holds, led

# The documents were parsed from text, so they hold no circle.
_WRITER = json.JSONEncoder(check_circular=False)


@dataclass(frozen=True, slots=True)
class Buffer:
    """Documents in a temporary file until their names are known; `is_minimal` as in records."""

    stream: IO[bytes]
    assumptions: Assumptions
    is_minimal: bool

    def keep(self, record: ImportRecord, origin: ImportOrigin, revision: str = "") -> Brief:
        """Store the document of a record, and return the record without it."""
        record = minimal(record) if self.is_minimal else record
        stretch = self.put(_WRITER.encode(record.spec).encode())
        nameless = Manifest(Ref(record.kind.name, ""), record.spec, Source("", 1))
        slugs = record.kind.identities(nameless)
        # Hashing the whole document is slow, and an id alone identifies its object.
        is_told_by_content = record.remote_id is None or record.elsewhere
        return Brief(
            record=replace(record, spec={}),
            title=record.title,
            said=f"{record.called} ({record.where})",
            mark=content_mark(record.spec if is_told_by_content else record.remote_id),
            mentions=tuple(mentions_in(record.spec, record.kind)),
            slugs=tuple((label, slug) for label, slug in slugs.items() if slug),
            origin=origin,
            can_be_read=record.kind.readable_by(self.assumptions),
            revision=revision,
            stretch=stretch,
        )

    def put(self, content: bytes) -> Stretch:
        """Append bytes to the file, and return where they are."""
        offset = self.stream.seek(0, os.SEEK_END)
        self.stream.write(content)
        return offset, len(content)

    def get(self, stretch: Stretch) -> bytes:
        """Return the stored bytes."""
        offset, length = stretch
        self.stream.seek(offset)
        return self.stream.read(length)

    def spec(self, brief: Brief) -> dict[str, Json]:
        """Return the stored document of a record."""
        spec: dict[str, Json] = json.loads(self.get(brief.stretch))
        return spec

    def holds(self, brief: Brief, document: Json) -> bool:
        """Return whether a document equals the stored one, including the order of its fields."""
        return _WRITER.encode(document).encode() == self.get(brief.stretch)

    def record(self, brief: Brief) -> ImportRecord:
        """Return a record with its document."""
        content = self.get(brief.stretch)
        return replace(
            brief.record, spec=json.loads(content), is_literal=OPEN.encode() not in content
        )


SPEC: Path = ("spec",)
NOT_WATCHED = (
    "What the service fills in by itself is left out. What is not declared is not watched:\n"
    "an edit of it is no drift, and no apply changes it back."
)


@dataclass(frozen=True, slots=True)
class Draft:
    """The texts to write: the manifest, and its JSON file, if the content stays JSON.

    `document` is the content of the manifest, None where only reading the text can show it.
    """

    manifest: str
    export: str | None = None
    document: dict[str, Json] | None = None


def draft_of(
    record: ImportRecord,
    ref: Ref,
    mentions: Sequence[Mention],
    known: KnownRefs,
    environment: str,
    *,
    json_name: str = "",
) -> Draft | Left:
    """Return the texts of a record; with a `json_name`, its content stays JSON in that file.

    Its id is that in an `environment`, "" where the project has no other. A record that no file can
    hold is returned as Left with the reason.
    """
    spec, comments = (
        (record.spec, {})
        if record.is_literal and not mentions and not record.expressions
        else with_references(record.spec, ref, mentions, known, record.expressions)
    )
    comments = {**record.comments, **comments}
    export: str | None = None
    try:
        if json_name:
            bare = record.kind.spec.bare
            content = value_at(spec, (bare,))
            export = composed_json(content if isinstance(content, dict) else {})
            rest = {key: value for key, value in spec.items() if key != bare}
            spec, comments = {"file": json_name, **rest}, {}
        document: dict[str, Json] = {
            "apiVersion": API_VERSION,
            "kind": ref.kind,
            "metadata": _metadata(record, ref, environment),
            "spec": spec,
        }
        placed = {(*SPEC, *path): comment for path, comment in comments.items()}
        if record.is_minimal:
            placed["apiVersion",] = NOT_WATCHED
        if record.why_only:
            placed["metadata", "environments"] = record.why_only
        text = laid_out(document, placed)
    except UnwritableError as error:
        return Left(f"{record.called} ({record.where})", error.why, ExitCode.INVALID)
    # A text without escapes and comments reads back as it was.
    is_sure = export is None and not placed and text.isascii() and "\\" not in text
    return Draft(text, export, document if is_sure else None)


def _metadata(record: ImportRecord, ref: Ref, environment: str) -> dict[str, Json]:
    metadata: dict[str, Json] = {"name": ref.name}
    ids, only = dict(record.ids), record.only
    if record.remote_id is not None and not ids and environment:
        ids = {environment: record.remote_id}
    if ids:
        metadata["ids"] = {**ids}
        # Where it has no id it cannot be declared.
        only = only or (tuple(ids) if record.kind.id_form.required else ())
    elif record.remote_id is not None:
        metadata["id"] = record.remote_id
    if only:
        metadata["environments"] = list(only)
    return metadata


@dataclass(slots=True, kw_only=True)
class Drawings:
    """Texts of new manifests. Each is rendered once, when all names are known.

    `more` are variables that the project file will have.
    """

    session: Session
    spool: Buffer
    hiding: Hiding
    more: Mapping[str, Mapping[str, ProjectVariable]]
    keep_json: bool
    _root: File = field(init=False)
    _scope: Scope = field(init=False)
    _environment: str = field(init=False)
    _kept: dict[Ref, list[tuple[File, Stretch]]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._root = self.session.project.root.resolve()
        name, environment = self.session.name, self.session.environment
        variables = {**environment.variables, **self.more.get(name, {})}
        withheld = withheld_from(os.environ)
        self._scope = Scope(
            name, variables, self.hiding.values, salt=self.hiding.salt, withheld=withheld
        )
        self._environment = name if with_target(self.session.project) - {name} else ""

    def draw(self, candidate: NamedImport, known: KnownRefs) -> Left | None:
        """Render a manifest and check it as runs read it; return why it cannot be written."""
        record, ref, file = self.record(candidate), candidate.ref, candidate.file
        name = f"{file.stem}.json" if self._keeps_json(candidate) else ""
        mentions = candidate.brief.mentions
        drawn = draft_of(record, ref, mentions, known, self._environment, json_name=name)
        if isinstance(drawn, Left):
            return drawn
        exports = [] if drawn.export is None else [(file.with_suffix(".json"), drawn.export)]
        texts = [*exports, (file, led(drawn.manifest, file, self._root))]
        if not self._is_plain(candidate, record, drawn):
            settings = self.session.project.settings.environments
            environments = {**settings, self.session.name: self.session.environment}
            error = wrong_in(dict(texts), file, self._root, self._scope, environments)
            if error is not None:
                called = f"{record.called} ({record.where})"
                return Left(called, f"{error.message} [{error.code}]", ExitCode.INVALID)
        self._kept[candidate.ref] = [(path, self.spool.put(text.encode())) for path, text in texts]
        return None

    def record(self, candidate: NamedImport) -> ImportRecord:
        """Return the imported record, with seals in place of secrets.

        Where other environments have an only object of their own, this one is limited to its own.
        """
        record = self.hiding.record(self.spool.record(candidate.brief))
        kind = record.kind
        other = next(
            (ref for ref in self.session.workspace.elsewhere if ref.kind == kind.name), None
        )
        if not kind.singleton or other is None or record.only:
            return record
        why = f"other environments have {other} instead"
        return replace(record, only=(self.session.name,), why_only=why)

    def texts(self, candidate: NamedImport) -> Iterator[tuple[File, str]]:
        """Yield the files of a manifest with their texts; files that it names come first."""
        for path, stretch in self._kept[candidate.ref]:
            yield path, self.spool.get(stretch).decode()

    def files_of(self, candidate: NamedImport) -> list[File]:
        """Return the files that a manifest needs, itself first."""
        file = candidate.file
        return [file, file.with_suffix(".json")] if self._keeps_json(candidate) else [file]

    def is_ours(self, file: File, candidate: NamedImport) -> bool:
        """Return whether a file has the text that would be written, as after a stopped run."""
        return all(
            holds(path, text, self._root) for path, text in self.texts(candidate) if path == file
        )

    def _keeps_json(self, candidate: NamedImport) -> bool:
        return self.keep_json and candidate.brief.kind.from_export is not None

    def _is_plain(self, candidate: NamedImport, record: ImportRecord, drawn: Draft) -> bool:
        """Return whether the text declares exactly the document that was checked already.

        Text with an expression, or with values that may be withheld, is always checked as it is
        read.
        """
        text = drawn.manifest
        if drawn.export is not None or is_allowed_in(text) or self._scope.withheld.lies_in(text):
            return False
        read = drawn.document if drawn.document is not None else _read_back(text)
        if read is None:
            return False
        known = {**self.session.project.settings.environments, self.session.name: None}
        around = Around(environments=known, environment=self.session.name, today=self._scope.today)
        envelope = read_envelope(read, around)
        # Most specs come back as the same object, which needs no comparison.
        as_judged = envelope.spec is record.spec or self.spool.holds(candidate.brief, envelope.spec)
        return as_judged and not envelope.findings and envelope.name == candidate.ref.name


def _read_back(text: str) -> dict[str, Json] | None:
    """Return the document of a rendered manifest; None where reading it finds a flaw."""
    reading = read_text(text)
    if reading.flaws or len(reading.documents) != 1:
        return None
    read = reading.documents[0].value
    assert isinstance(read, dict)  # noqa: S101 - as every manifest that is drawn
    return read
