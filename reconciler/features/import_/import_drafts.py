"""Manifests to import: rendered once, read back, checked, and stored until they are written."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from reconciler.document import Json
from reconciler.errors import ExitCode
from reconciler.features.import_.buffer import Buffer
from reconciler.features.import_.drafts import Draft, IdPlace, draft_of
from reconciler.features.import_.hide_secrets import Hiding
from reconciler.features.import_.match_declared import Matched, NamedImport, Stretch
from reconciler.features.import_.records import ImportRecord, Left
from reconciler.model import Ref
from reconciler.operations.open_session import Session
from reconciler.project import ProjectVariable, with_target
from reconciler.syntax.expressions import is_allowed_in
from reconciler.syntax.read_text import read_text
from reconciler.workspace.envelope import Around, read_envelope
from reconciler.workspace.expression_scope import Scope
from reconciler.workspace.modelines import led
from reconciler.workspace.new_files import holds
from reconciler.workspace.secret_scan import withheld_from
from reconciler.workspace.workspace import wrong_in


@dataclass(slots=True, kw_only=True)
class Drawings:
    """Texts of new manifests. Each is rendered once, when all names are known.

    `files` are their places, and `more` are variables that the project file will have.
    """

    session: Session
    spool: Buffer
    hiding: Hiding
    matched: Matched
    files: Mapping[Ref, Path]
    more: Mapping[str, Mapping[str, ProjectVariable]]
    keep_json: bool
    _root: Path = field(init=False)
    _scope: Scope = field(init=False)
    _place: IdPlace = field(init=False)
    _kept: dict[Ref, list[tuple[Path, Stretch]]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._root = self.session.project.root.resolve()
        name, environment = self.session.name, self.session.environment
        variables = {**environment.variables, **self.more.get(name, {})}
        withheld = withheld_from(os.environ)
        self._scope = Scope(
            name, variables, self.hiding.values, salt=self.hiding.salt, withheld=withheld
        )
        others = with_target(self.session.project) - {name}
        self._place = IdPlace(name, alone=not others)

    def draw(self, candidate: NamedImport) -> Left | None:
        """Render a manifest and check it as runs read it; return why it cannot be written."""
        record = self.record(candidate)
        drawn = self._drawn(candidate, record)
        if isinstance(drawn, Left):
            return drawn
        file = self.files[candidate.ref]
        exports = [] if drawn.export is None else [(file.with_suffix(".json"), drawn.export)]
        texts = [*exports, (file, led(drawn.manifest, file, self._root))]
        if not self._is_plain(candidate, record, drawn):
            settings = self.session.project.settings.environments
            known = {**settings, self.session.name: self.session.environment}
            error = wrong_in(dict(texts), file, self._root, self._scope, known)
            if error is not None:
                called = f"{record.called} ({record.where})"
                return Left(called, f"{error.message} [{error.code}]", ExitCode.INVALID)
        self._kept[candidate.ref] = [(path, self.spool.put(text.encode())) for path, text in texts]
        return None

    def record(self, candidate: NamedImport) -> ImportRecord:
        """Return the imported record, with seals in place of secrets."""
        return self.hiding.record(self.spool.record(candidate.brief))

    def texts(self, candidate: NamedImport) -> Iterator[tuple[Path, str]]:
        """Yield the files of a manifest with their texts; files that it names come first."""
        for path, stretch in self._kept[candidate.ref]:
            yield path, self.spool.get(stretch).decode()

    def files_of(self, candidate: NamedImport) -> list[Path]:
        """Return the files that a manifest needs, itself first."""
        file = self.files[candidate.ref]
        return [file, file.with_suffix(".json")] if self._keeps_json(candidate) else [file]

    def is_ours(self, file: Path, candidate: NamedImport) -> bool:
        """Return whether a file has the text that would be written, as after a stopped run."""
        return all(
            holds(path, text, self._root) for path, text in self.texts(candidate) if path == file
        )

    def _keeps_json(self, candidate: NamedImport) -> bool:
        return self.keep_json and candidate.brief.kind.from_export is not None

    def _drawn(self, candidate: NamedImport, record: ImportRecord) -> Draft | Left:
        json_name = f"{self.files[candidate.ref].stem}.json" if self._keeps_json(candidate) else ""
        known, mentions = self.matched.known, candidate.brief.mentions
        return draft_of(record, candidate.ref, mentions, known, self._place, json_name=json_name)

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
