"""Foreign text as the name of a file. Pure."""

from __future__ import annotations

import re
from hashlib import sha256

LONGEST_FILE_NAME = 100
_KEPT_DIGITS = 16
_PLAIN = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,98}[a-z0-9_-])?")
# Names that are devices on some systems, whatever follows a dot.
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?")
_OTHER = re.compile(r"[^a-z0-9_-]+")


def for_file_name(text: str) -> str:
    """Give one part of a path: lower-case ASCII, at most 100 characters, different for each text.

    A plain name stays as it is. Any other keeps what it can and gets `~` and a
    digest, so that no two fall together where case or a cut makes them alike.
    """
    if _PLAIN.fullmatch(text) and not _DEVICE.fullmatch(text):
        return text
    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_KEPT_DIGITS]
    kept = _OTHER.sub("-", text.lower()).strip("-_")[: LONGEST_FILE_NAME - _KEPT_DIGITS - 1]
    return f"{kept or 'x'}~{digest}"
