"""What an import wrote, and what it did not, as `import --format json` prints it."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict


@with_config(ConfigDict(extra="forbid"))
class ManifestDocument(TypedDict):
    """One manifest that was written; `file` is seen from the project file."""

    ref: str
    file: str
    remoteId: str | int | None


@with_config(ConfigDict(extra="forbid"))
class SkippedDocument(TypedDict):
    """Something that has no new manifest."""

    what: str
    why: str


@with_config(ConfigDict(extra="forbid"))
class ImportDocument(TypedDict):
    """What `import --format json` prints."""

    imported: list[ManifestDocument]
    skipped: Annotated[
        list[SkippedDocument], Field(description="Declared already, refused, or only mentioned.")
    ]
