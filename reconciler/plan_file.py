"""What `plan --out` writes, known by how it begins wherever it lies and whatever it is called."""

from __future__ import annotations

import os
import re
from pathlib import Path

# The first fields of the JSON of a plan, which no manifest and no export begins with.
_BEGINS = re.compile(rb'\{\n  "formatVersion": [0-9]+,\n  "environment": "')
HEAD = 64
"""How much of a file tells whether it is a plan."""

_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def begins_plan(head: bytes) -> bool:
    """Tell by its first bytes what `plan --out` wrote."""
    return _BEGINS.match(head) is not None


def is_plan_file(path: Path) -> bool:
    """Tell a file that `plan --out` wrote; a link is none, wherever it leads."""
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
