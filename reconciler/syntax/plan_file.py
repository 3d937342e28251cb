"""Recognition of files from `plan --out` by their first bytes, whatever their name and place."""

from __future__ import annotations

import os
import re
from pathlib import Path

# The first fields of the JSON of a plan: no manifest and no export begins with them.
_BEGINS = re.compile(rb'\{\n  "formatVersion": [0-9]+,\n  "environment": "')
HEAD = 64
"""Number of bytes that are enough to recognise a plan."""

_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def begins_plan(head: bytes) -> bool:
    """Return whether these are the first bytes of a file from `plan --out`."""
    return _BEGINS.match(head) is not None


def is_plan_file(path: Path) -> bool:
    """Return whether a file is from `plan --out`; a link is not, wherever it leads."""
    try:
        descriptor = os.open(path, _FLAGS)
    except (OSError, ValueError):
        return False
    try:
        return begins_plan(os.read(descriptor, HEAD))
    except OSError:
        return False
    finally:
        os.close(descriptor)
