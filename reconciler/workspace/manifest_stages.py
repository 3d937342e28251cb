"""A manifest on its way from a document to what it declares in one environment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reconciler.document import Json, Path
from reconciler.kinds.kind import Kind
from reconciler.syntax.files import File
from reconciler.syntax.parsed_text import DocumentText
from reconciler.workspace.envelope import Envelope
from reconciler.workspace.expression_scope import Filled, Reference, Scope
from reconciler.workspace.inserted_values import Each


@dataclass(frozen=True, slots=True)
class WrittenManifest:
    """A manifest as it is written, without its `forEach`, and one item of that."""

    file: File
    here: DocumentText
    value: dict[str, Json]
    each: Each | None = None
    references: tuple[DocumentText, Sequence[Reference]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FilledManifest:
    """A manifest in one environment: what is filled in, and the patch of its `overrides`.

    `is_own` tells that it is not as written, so that no other environment is judged with it.
    """

    written: WrittenManifest
    kind: Kind
    envelope: Envelope
    patch: Json
    filled: Filled
    scope: Scope
    is_own: bool
    selected: bool

    def forget(self, gone: Sequence[Path]) -> None:
        """Leave out what is said of parts of `spec` that are not there any more."""
        filled, places = self.filled, [("spec", *path) for path in gone]
        filled.findings[:] = [
            finding for finding in filled.findings if not is_in(finding.path, places)
        ]
        filled.references[:] = [
            reference for reference in filled.references if not is_in(reference.path, places)
        ]


def is_in(path: Path, places: Sequence[Path]) -> bool:
    """Tell whether a path leads to one of these places, or into it."""
    return any(path[: len(place)] == place for place in places)
