"""`validate --changed-since REV`: complaints of changed resources, and of those that refer to them.

A document is changed if no document of the same file had the same text at the revision.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

import click

from reconciler.cli.options import Command
from reconciler.operations.check_project import Checked
from reconciler.operations.open_project import Options
from reconciler.report.safe import safe
from reconciler.report.words import plural
from reconciler.syntax.diagnostic import Complaint
from reconciler.syntax.files import PROJECT_FILE, display_name
from reconciler.workspace.revision import Revision, branching_point, write_files

_NEXT_DOCUMENT = re.compile(r"^---(?=\s)", re.MULTILINE)


def since_option(command: Command) -> Command:
    """Add `--changed-since`."""
    return click.option(
        "--changed-since",
        metavar="REV",
        help="Report only complaints about resources that changed since the last "
        "commit in common with REV, as `origin/main`, and about those that refer "
        "to them.",
    )(command)


def only_changed(checked: Checked, options: Options, since: str) -> Checked:
    """Return a check with the complaints about what changed, and about what refers to it.

    Raises UsageError without git, or where the revision cannot be found or read.
    """
    assert checked.project is not None  # noqa: S101 - as `after_check` calls it
    root = checked.project.root
    revision = branching_point(root, since)
    workspace = checked.workspace
    changed = dict(_changed_lines(revision, root, checked))
    if PROJECT_FILE in changed:
        # Variables and levels of checks are about every manifest.
        options.reporter.say(f"{PROJECT_FILE} changed: everything is reported")
        return checked
    touched = {
        str(manifest.ref)
        for manifest in workspace.manifests
        if _covers(changed, manifest.source.file, manifest.source.line)
    }
    touched |= {
        str(found.ref)
        for found in workspace.manifests
        if any(str(ref) in touched for ref in found.references)
    }
    kept = tuple(found for found in workspace.complaints if _is_about(found, changed, touched))
    left = len(workspace.complaints) - len(kept)
    if not options.quiet:
        options.reporter.say(
            f"compared with {safe(str(revision))}, the last commit in common, as the files are: "
            f"{plural(left, 'complaint')} left out"
        )
    return replace(checked, workspace=replace(workspace, complaints=kept))


ChangedDocuments: TypeAlias = tuple[range, ...]
"""The lines of the changed documents of a file."""


def _changed_lines(
    revision: Revision, root: Path, checked: Checked
) -> Iterator[tuple[str, ChangedDocuments]]:
    named = {root / found.file for found in checked.workspace.complaints} | {root / PROJECT_FILE}
    with TemporaryDirectory(prefix="reconciler-") as folder:
        write_files(revision, Path(folder))
        for path in sorted({*checked.workspace.read, *named}):
            text = _text_of(path)
            real = path.resolve()
            inside = real.relative_to(revision.top) if real.is_relative_to(revision.top) else None
            before = _text_of(Path(folder, inside)) if inside is not None else ""
            if text != before:
                known = {document.strip() for _, document in _documents(before)}
                spans = tuple(
                    span for span, document in _documents(text) if document.strip() not in known
                )
                yield display_name(path, root), spans


def _text_of(path: Path) -> str:
    """Return the text of a file, "" where there is none that can be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _documents(text: str) -> Iterator[tuple[range, str]]:
    """Yield the lines, from 1, and the text of each document of a file."""
    line = 1
    for document in _NEXT_DOCUMENT.split(text):
        count = document.count("\n")
        yield range(line, line + count + 1), document
        line += count


def _covers(changed: dict[str, ChangedDocuments], file: str, line: int) -> bool:
    """Return whether a place changed; line 0 is the whole file."""
    return file in changed and (not line or any(line in span for span in changed[file]))


_LOST = "M503"
"""The code of a broken reference. Its cause, a removed or renamed resource, is in another file."""


def _is_about(
    complaint: Complaint, changed: dict[str, ChangedDocuments], touched: set[str]
) -> bool:
    is_touched = complaint.code == _LOST or complaint.ref in touched
    return is_touched or _covers(changed, complaint.file, complaint.line)
