"""JSON document of `import --format json`: written manifests, and what was skipped."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict


@with_config(ConfigDict(extra="forbid"))
class ManifestDocument(TypedDict):
    """A manifest that was written; `file` is relative to the project file."""

    ref: str
    file: str
    remoteId: str | int | None


@with_config(ConfigDict(extra="forbid"))
class SkippedDocument(TypedDict):
    """An input without a new manifest."""

    what: str
    why: str


@with_config(ConfigDict(extra="forbid"))
class ImportDocument(TypedDict):
    """Output of `import --format json`."""

    imported: list[ManifestDocument]
    skipped: Annotated[
        list[SkippedDocument], Field(description="Declared already, refused, or only mentioned.")
    ]
