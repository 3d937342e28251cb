"""Names of files in reports."""

from __future__ import annotations

import os
from pathlib import Path


def display_name(path: Path, root: Path) -> str:
    """Return a path relative to the root, or unchanged if it is outside."""
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow links
    if not absolute.is_relative_to(root):
        real = Path(os.path.realpath(absolute.parent), absolute.name)
        absolute = real if real.is_relative_to(root) else absolute
    shown = (absolute.relative_to(root) if absolute.is_relative_to(root) else absolute).as_posix()
    return printable_name(shown)


def printable_name(name: str) -> str:
    """Return a name that is UTF-8: another could not be part of a report."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")
