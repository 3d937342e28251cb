"""What `validate --fix` repairs, as a unified diff and in one line."""

from __future__ import annotations

from difflib import unified_diff

from reconciler.report.safe import safe
from reconciler.report.words import plural


def fix_diff(file: str, before: str, after: str) -> str:
    """Give what would change in one file, as `patch -p1` takes it.

    Unsafe characters are shown by their numbers; such a line cannot be patched.
    """
    lines = unified_diff(
        before.splitlines(keepends=True),
        after.splitlines(keepends=True),
        f"a/{file}",
        f"b/{file}",
    )
    return "".join(_shown(line) for line in lines)


def _shown(line: str) -> str:
    bare = line.rstrip("\r\n")
    shown = "\t".join(map(safe, bare.split("\t")))
    return f"{shown}\n" if line.endswith("\n") else f"{shown}\n\\ No newline at end of file\n"


def fix_summary(repairs: int, files: int, *, is_done: bool) -> str:
    """Say how much was repaired, or would be."""
    if not files:
        return "nothing to repair"
    count = f"{plural(repairs, 'field')} in {plural(files, 'file')}"
    return f"repaired {count}" if is_done else f"would repair {count}; nothing is written"
