"""Documents of an import, stored in a temporary file until their names are known."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from typing import IO

from reconciler.document import Json
from reconciler.features.import_.match_declared import Brief, ImportOrigin, Stretch
from reconciler.features.import_.names import content_mark
from reconciler.features.import_.records import ImportRecord
from reconciler.features.import_.references import mentions_in
from reconciler.model import Manifest, Ref, Source
from reconciler.model.assumptions import Assumptions
from reconciler.syntax.expressions import OPEN

# The documents were parsed from text, so they hold no circle.
_WRITER = json.JSONEncoder(check_circular=False)


class Buffer:
    """Documents in a temporary file until their names are known."""

    def __init__(self, stream: IO[bytes], assumptions: Assumptions) -> None:
        self._stream = stream
        self._assumptions = assumptions

    def keep(self, record: ImportRecord, origin: ImportOrigin, revision: str = "") -> Brief:
        """Store the document of a record, and return the record without it."""
        stretch = self.put(_WRITER.encode(record.spec).encode())
        nameless = Manifest(Ref(record.kind.name, ""), record.spec, Source("", 1))
        slugs = record.kind.identities(nameless)
        # Hashing the whole document is slow, and an id alone identifies its object.
        is_told_by_content = record.remote_id is None or record.elsewhere
        return Brief(
            record=replace(record, spec={}),
            title=record.title,
            mark=content_mark(record.spec if is_told_by_content else record.remote_id),
            mentions=tuple(mentions_in(record.spec, record.kind)),
            slugs=tuple((label, slug) for label, slug in slugs.items() if slug),
            origin=origin,
            can_be_read=record.kind.readable_by(self._assumptions),
            revision=revision,
            stretch=stretch,
        )

    def put(self, content: bytes) -> Stretch:
        """Append bytes to the file, and return where they are."""
        offset = self._stream.seek(0, os.SEEK_END)
        self._stream.write(content)
        return offset, len(content)

    def get(self, stretch: Stretch) -> bytes:
        """Return the stored bytes."""
        offset, length = stretch
        self._stream.seek(offset)
        return self._stream.read(length)

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
