"""Manifests to import as they will be written: drawn once, read back, judged, and put aside."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from reconciler.document import Json
from reconciler.errors import ExitCode
from reconciler.expressions import may_stand_in
from reconciler.importing.drafts import Draft, IdPlace, draft_of
from reconciler.importing.hide_secrets import Hiding
from reconciler.importing.match_declared import Matched, NamedImport, Stretch
from reconciler.importing.records import ImportRecord, Left
from reconciler.model import Ref
from reconciler.operations.buffer import Buffer
from reconciler.operations.open_session import Session
from reconciler.project import ProjectVariable, with_target
from reconciler.syntax.read_text import read_text
from reconciler.workspace.envelope import Around, read_envelope
from reconciler.workspace.expression_scope import Scope
from reconciler.workspace.modelines import led
from reconciler.workspace.new_files import holds
from reconciler.workspace.secret_scan import withheld_from
from reconciler.workspace.workspace import wrong_in


@dataclass(slots=True, kw_only=True)
class Drawings:
    """The texts of new manifests, each drawn once for the names that all have by now.

    `files` is where they go, and `more` are variables that the project file will have.
    """

    bench: Session
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
        self._root = self.bench.project.root.resolve()
        name, environment = self.bench.name, self.bench.environment
        variables = {**environment.variables, **self.more.get(name, {})}
        withheld = withheld_from(os.environ)
        self._scope = Scope(
            name, variables, self.hiding.values, salt=self.hiding.salt, withheld=withheld
        )
        others = with_target(self.bench.project) - {name}
        self._place = IdPlace(name, alone=not others)

    def draw(self, one: NamedImport) -> Left | None:
        """Draw a manifest and judge it as any run would read it; give why it cannot be written."""
        record = self.record(one)
        drawn = self._drawn(one, record)
        if isinstance(drawn, Left):
            return drawn
        file = self.files[one.ref]
        exports = [] if drawn.export is None else [(file.with_suffix(".json"), drawn.export)]
        texts = [*exports, (file, led(drawn.manifest, file, self._root))]
        if not self._is_plain(one, record, drawn):
            settings = self.bench.project.settings.environments
            known = {**settings, self.bench.name: self.bench.environment}
            error = wrong_in(dict(texts), file, self._root, self._scope, known)
            if error is not None:
                called = f"{record.called} ({record.where})"
                return Left(called, f"{error.message} [{error.code}]", ExitCode.INVALID)
        self._kept[one.ref] = [(path, self.spool.put(text.encode())) for path, text in texts]
        return None

    def record(self, one: NamedImport) -> ImportRecord:
        """Give what is imported, in which seals stand for secrets."""
        return self.hiding.record(self.spool.record(one.brief))

    def texts(self, one: NamedImport) -> Iterator[tuple[Path, str]]:
        """Yield the files of what was drawn and their texts; first what the manifest names."""
        for path, stretch in self._kept[one.ref]:
            yield path, self.spool.get(stretch).decode()

    def files_of(self, one: NamedImport) -> list[Path]:
        """Give the files that a manifest needs, itself first."""
        file = self.files[one.ref]
        return [file, file.with_suffix(".json")] if self._keeps_json(one) else [file]

    def is_ours(self, file: Path, one: NamedImport) -> bool:
        """Tell whether a file is what would be written, as where a run was stopped."""
        return all(holds(path, text, self._root) for path, text in self.texts(one) if path == file)

    def _keeps_json(self, one: NamedImport) -> bool:
        return self.keep_json and one.brief.kind.from_export is not None

    def _drawn(self, one: NamedImport, record: ImportRecord) -> Draft | Left:
        json_name = f"{self.files[one.ref].stem}.json" if self._keeps_json(one) else ""
        known, mentions = self.matched.known, one.brief.mentions
        return draft_of(record, one.ref, mentions, known, self._place, json_name=json_name)

    def _is_plain(self, one: NamedImport, record: ImportRecord, drawn: Draft) -> bool:
        """Tell a text that says what was judged as it came, so that judging it tells nothing new.

        Whatever holds an expression, or may hold what is withheld, is judged as it is read.
        """
        text = drawn.manifest
        if drawn.export is not None or may_stand_in(text) or self._scope.withheld.stands_in(text):
            return False
        read = drawn.document if drawn.document is not None else _read_back(text)
        if read is None:
            return False
        known = {**self.bench.project.settings.environments, self.bench.name: None}
        around = Around(environments=known, environment=self.bench.name, today=self._scope.today)
        envelope = read_envelope(read, around)
        # Most are written as they are, and the same object needs no second look.
        as_judged = envelope.spec is record.spec or self.spool.holds(one.brief, envelope.spec)
        return as_judged and not envelope.findings and envelope.name == one.ref.name


def _read_back(text: str) -> dict[str, Json] | None:
    """Give what a manifest says that was drawn, None where it is read with a flaw."""
    reading = read_text(text)
    if reading.flaws or len(reading.documents) != 1:
        return None
    read = reading.documents[0].value
    assert isinstance(read, dict)  # noqa: S101 - as every manifest that is drawn
    return read
