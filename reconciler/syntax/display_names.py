"""Names of files in reports."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path


def display_name(path: Path, root: Path) -> str:
    """Return a path relative to the root, or unchanged if it is outside."""
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow links
    if not absolute.is_relative_to(root):
        real = Path(os.path.realpath(absolute.parent), absolute.name)
        absolute = real if real.is_relative_to(root) else absolute
    shown = (absolute.relative_to(root) if absolute.is_relative_to(root) else absolute).as_posix()
    # A name that is not UTF-8 could not be part of a report.
    return os.fsencode(shown).decode("utf-8", "backslashreplace")


@dataclass(slots=True)
class DisplayNames:
    """The names of the files of a walk, with each folder computed once."""

    root: Path
    folders: dict[Path, str | None] = field(default_factory=dict)

    def name(self, path: Path) -> str:
        """Return the same name as `display_name`."""
        folder = path.parent
        if folder not in self.folders:
            absolute = Path(os.path.abspath(folder))  # noqa: PTH100 - resolve() would follow links
            inside = absolute.is_relative_to(self.root)
            shown = display_name(folder, self.root) if inside else None
            self.folders[folder] = "" if shown == "." else shown and f"{shown}/"
        before = self.folders[folder]
        if before is None:
            return display_name(path, self.root)
        return before + os.fsencode(path.name).decode("utf-8", "backslashreplace")
