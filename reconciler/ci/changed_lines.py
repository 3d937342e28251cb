"""Lines that a change touches; warnings on other lines are only counted. Source: docs/ci.md."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from reconciler.ci.commits import repositories_around
from reconciler.ci.forge.event import Event
from reconciler.report.complaints.document import file_in_repository
from reconciler.runtime.git import GitFailed, reading
from reconciler.syntax.diagnostic import Complaint

_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_FILE, _OWN = "+++ ", "b/"
_DIFF = (
    *("-c", "core.quotePath=false", "diff", "--unified=0", "--no-color", "--no-ext-diff"),
    *("--no-textconv", "--no-renames", "--src-prefix=a/", "--dst-prefix=b/"),
    "--ignore-submodules",
)

Lines = Mapping[str, Sequence[range]]
"""Lines that a change touches, by file, relative to the repository."""


def of_the_change(
    complaints: Sequence[Complaint], folder: str, touched: Lines
) -> tuple[list[Complaint], int]:
    """Return the errors and the warnings on touched lines, and how many warnings are elsewhere.

    `folder` is the path of the project in its repository, "" for the root.
    """

    def is_touched(complaint: Complaint) -> bool:
        ranges = touched.get(file_in_repository(complaint.file, folder), ())
        return any(complaint.line in lines for lines in ranges)

    shown = [complaint for complaint in complaints if complaint.is_error or is_touched(complaint)]
    return shown, len(complaints) - len(shown)


def touched_lines(event: Event, environ: Mapping[str, str]) -> Lines:
    """Return the lines of the checkout that differ from the base of an event.

    Empty where the base is unknown, or not in the checkout's history.
    """
    around = repositories_around(Path.cwd())
    if not (around and event.base):
        return {}
    # The outermost repository is the job's own: a change can add repositories inside it.
    git = reading(around[-1], environ)
    try:
        try:
            base = git.text("merge-base", event.base, "HEAD")
        except GitFailed:
            base = event.base
        return lines_in(git.run(*_DIFF, base, "HEAD", "--").decode("utf-8", "replace"))
    except GitFailed:
        return {}


def lines_in(diff: str) -> Lines:
    """Return the new lines of a diff without context, by file."""
    found: dict[str, list[range]] = {}
    lines = iter(diff.split("\n"))
    file = ""
    for line in lines:
        hunk = _HUNK.match(line)
        if line.startswith(_FILE):
            # Git quotes a name with a quote or a control character; no manifest has such a name.
            file = line.removeprefix(_FILE).removeprefix(_OWN).removesuffix("\t")
        elif hunk is not None:
            old, start, new = int(hunk[1] or 1), int(hunk[2]), int(hunk[3] or 1)
            found.setdefault(file, []).append(range(start, start + new))
            # Lines of a hunk may look like the header of a file, so they are skipped by their
            # number.
            left = old + new
            while left > 0:
                # `\\ No newline at end of file` is not a line of either side.
                left -= not next(lines, "").startswith("\\")
    return found
