"""Stages of a manifest on its way from a document to its declaration in one environment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reconciler.document import Json, Path
from reconciler.kinds.kind import Kind
from reconciler.syntax.files import File
from reconciler.syntax.parsed_text import DocumentText
from reconciler.workspace.envelope import Envelope
from reconciler.workspace.expression_scope import Each, Filled, Reference, Scope


@dataclass(frozen=True, slots=True)
class WrittenManifest:
    """A manifest as it is written, without its `forEach`, and the `forEach` item for it."""

    file: File
    here: DocumentText
    value: dict[str, Json]
    each: Each | None = None
    references: tuple[DocumentText, Sequence[Reference]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FilledManifest:
    """A manifest in one environment: its filled-in values, and the patch from its `overrides`.

    `is_own` means that it differs from the written text, so its report is not shared.
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
        """Remove findings and references of parts of `spec` that no longer exist."""
        filled, places = self.filled, [("spec", *path) for path in gone]
        filled.findings[:] = [
            finding for finding in filled.findings if not is_in(finding.path, places)
        ]
        filled.references[:] = [
            reference for reference in filled.references if not is_in(reference.path, places)
        ]


def is_in(path: Path, places: Sequence[Path]) -> bool:
    """Return whether a path leads to one of these places, or into it."""
    return any(path[: len(place)] == place for place in places)
