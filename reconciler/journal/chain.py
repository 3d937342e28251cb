"""Lines that hold together.

Each line carries `sum`, a digest of the line and of the sum before it, so that
an edit or a lost line in the middle shows.
"""

from __future__ import annotations

import hashlib
import json

from reconciler.document import Json
from reconciler.errors import JournalError

SUM_DIGITS = 16
BEGINNING = b'{"journal":'
"""What the header of a journal begins with, its first line."""


def line_of(document: dict[str, Json], previous_sum: str) -> tuple[str, str]:
    """Give a document's line and its sum, which the next line builds on."""
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    if not _is_encodable(text):
        text = json.dumps(document, separators=(",", ":"))
    total = hashlib.sha256(f"{previous_sum}\n{text}".encode()).hexdigest()[:SUM_DIGITS]
    return f'{text[:-1]},"sum":"{total}"}}\n', total


def _is_encodable(text: str) -> bool:
    """Tell whether a text holds no half characters, which only an escape can carry."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def parse_line(line: str, previous_sum: str, number: int) -> tuple[dict[str, Json], str]:
    """Read a line and check its sum. Raises JournalError naming the line."""
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise JournalError(f"line {number} of the journal is not JSON")
    said = document.pop("sum", None)
    _, total = line_of(document, previous_sum)
    if said != total:
        raise JournalError(
            f"line {number} of the journal was changed, or a line before it is missing"
        )
    return document, total
