"""Complaints about manifests for a terminal: place, code frame, suggestion."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reconciler.complaint import Complaint
from reconciler.report.safe import safe
from reconciler.report.style import Colour, Style
from reconciler.report.words import plural

MOST_SHOWN = 20


def complaints_text(complaints: Sequence[Complaint], style: Style) -> str:
    """Give the first twenty complaints, errors first, and how many more there are.

    `verbose` shows them all.
    """
    ordered = sorted(complaints, key=lambda one: (not one.is_error, one))
    shown = ordered if style.verbose else ordered[:MOST_SHOWN]
    lines = [line for complaint in shown for line in (*_lines(complaint, style), "")]
    rest = len(ordered) - len(shown)
    if rest:
        lines.extend((f"and {rest:,} more (-v shows them)", ""))
    return "\n".join(lines)


def complaints_summary(complaints: Sequence[Complaint], resources: int, files: int) -> str:
    """Give the counts in one line."""
    errors = sum(complaint.is_error for complaint in complaints)
    warnings = len(complaints) - errors
    found = f"{plural(resources, 'resource')} in {plural(files, 'file')}"
    return f"{found}: {plural(errors, 'error')}, {plural(warnings, 'warning')}"


def _lines(complaint: Complaint, style: Style) -> Iterator[str]:
    colour = Colour.RED if complaint.is_error else Colour.YELLOW
    head = style.paint(f"{complaint.severity.value}[{complaint.code}]", colour, Colour.BOLD)
    yield f"{head}: {safe(complaint.message)}"
    place = safe(complaint.file)
    if complaint.line:
        place += f":{complaint.line}:{complaint.column}"
    gutter = len(str(complaint.line))
    yield f"{' ' * gutter}{style.paint('-->', Colour.DIM)} {place}"
    bar = style.paint("|", Colour.DIM)
    help_text = f"write {safe(complaint.suggestion)}" if complaint.suggestion else ""
    for number, text in complaint.excerpt:
        yield f"{style.paint(str(number).rjust(gutter), Colour.DIM)} {bar} {_shown(text)}"
    if complaint.excerpt:
        before = complaint.excerpt[-1][1][: complaint.column - 1 - complaint.shift]
        under = " " * len(_shown(before)) + style.paint("^" * complaint.width, colour)
        yield f"{' ' * gutter} {bar} {under} {help_text}".rstrip()
    elif help_text:
        yield f"{' ' * gutter} {help_text}"


def _shown(text: str) -> str:
    return safe(text.replace("\t", "    "))
