"""What the manifests declare. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from reconciler.document import Json
from reconciler.resource.naming import Ref, RemoteId


@dataclass(frozen=True, slots=True)
class Source:
    """Where a manifest stands: `file` relative to the project, lines and columns from 1."""

    file: str
    line: int
    column: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Manifest:
    """One declared resource: variables filled in, secrets sealed, references still open.

    `protect` asks that nothing changes it from its next apply on.
    """

    ref: Ref
    spec: dict[str, Json]
    source: Source
    remote_id: RemoteId | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    references: frozenset[Ref] = frozenset()
    protect: bool = False
