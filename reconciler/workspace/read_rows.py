"""Lists of objects in a file of their own, outside the manifests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from reconciler.document import Json
from reconciler.errors import InvalidInput
from reconciler.syntax.diagnostic import Complaint, Severity
from reconciler.syntax.files import read_file
from reconciler.syntax.read_text import read_text


def read_rows(file: Path, fields: Sequence[str] | None, or_null: str = "") -> list[dict[str, Json]]:
    """Read a list of objects. With `fields`, only these fields are allowed, and each is a text.

    The field `or_null` may also be null.
    Raises InvalidInput with the file, line and column.
    """
    text = read_file(file, str(file), [file.resolve().parent])
    if isinstance(text, Complaint):
        raise InvalidInput(f"{file}: {text.message}")
    reading = read_text(text, is_json=file.suffix == ".json")
    if reading.has_errors:
        flaw = next(flaw for flaw in reading.flaws if flaw.severity is Severity.ERROR)
        raise InvalidInput(f"{file}:{flaw.line}:{flaw.column}: {flaw.message}")
    document = reading.documents[0] if len(reading.documents) == 1 else None
    if document is None or not isinstance(document.value, list) or not document.value:
        raise InvalidInput(f"{file} must hold one list that is not empty")
    places = (document.locate((index,)) for index in range(len(document.value)))
    return [
        _row(row, fields, or_null, f"{file}:{line}:{column}")
        for row, (line, column) in zip(document.value, places, strict=True)
    ]


def _row(row: Json, fields: Sequence[str] | None, or_null: str, where: str) -> dict[str, Json]:
    if not isinstance(row, dict):
        raise InvalidInput(f"{where}: an item must be a mapping")
    for name, value in row.items() if fields is not None else ():
        if name not in (fields or ()):
            raise InvalidInput(
                f"{where}: unknown field `{name}` (known: {', '.join(fields or ())})"
            )
        if not isinstance(value, str) and not (value is None and name == or_null):
            raise InvalidInput(f"{where}: `{name}` must be text")
    return row
