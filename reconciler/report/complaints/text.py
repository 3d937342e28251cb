"""Complaints about manifests for a terminal: place, code frame, suggestion."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from reconciler.model.quoting import SHOWN_BY_VERBOSE, and_more
from reconciler.report.complaints.document import advice, worst_first
from reconciler.report.safe import columns, safe
from reconciler.report.table import Colour, Style, fitted
from reconciler.report.words import plural
from reconciler.runtime.advice import is_added, on_manifests
from reconciler.syntax.diagnostic import USUAL_EXCERPT, Complaint, Excerpt

MOST_SHOWN = 20
NARROWEST = 20


def complaints_text(complaints: Sequence[Complaint], style: Style) -> str:
    """Return the first twenty complaints, errors first, and the others by code.

    `verbose` shows them all.
    """
    ordered = worst_first(complaints)
    shown = ordered if style.verbose else ordered[:MOST_SHOWN]
    lines = [line for complaint in shown for line in (*_lines(complaint, style), "")]
    if more := and_more(len(ordered) - len(shown), hint=SHOWN_BY_VERBOSE):
        lines += [f"{more}:", *_by_code(ordered[MOST_SHOWN:], style), ""]
    return "\n".join((*lines, *_hint(shown, style), ""))


def _by_code(complaints: Sequence[Complaint], style: Style) -> Iterator[str]:
    """Yield a line for each code, with the number of its complaints and the place of the first."""
    from reconciler.report.explanations.pages import title_of  # noqa: PLC0415 - rare

    counts = Counter(complaint.code for complaint in complaints)
    digits = len(f"{max(counts.values()):,}")
    for code, count in counts.items():
        first = next(complaint for complaint in complaints if complaint.code == code)
        sign = style.paint(code, _colour(first), Colour.BOLD)
        said = safe(title_of(code) or first.message)
        where = f"at {_place(first)}" if count == 1 else f"first at {_place(first)}"
        yield fitted(f"  {sign} x {count:<{digits},}  {said}, {where}", style)


def _colour(complaint: Complaint) -> Colour:
    return Colour.RED if complaint.is_error else Colour.YELLOW


def warnings_in_short(warnings: int, where: str = "") -> str:
    """Return one line about warnings: many would hide the answer of a command."""
    return f"{plural(warnings, 'warning')}{where}: `{on_manifests('validate')}`"


def _hint(shown: Sequence[Complaint], style: Style) -> Iterator[str]:
    """Yield where a code is explained, on a terminal only: readers of a log know it."""
    code = next(
        (complaint.code for complaint in shown if complaint.code and "/" not in complaint.code), ""
    )
    if code and style.terminal and is_added("explain"):
        hint = f"`reconciler explain {code}` says what that means, with an example"
        yield style.paint(fitted(hint, style), Colour.DIM)
        yield ""


def complaints_summary(
    complaints: Sequence[Complaint], resources: int, files: int, ignored: int = 0
) -> str:
    """Return the counts in one line; `ignored` is the number of complaints that are not shown."""
    errors = sum(complaint.is_error for complaint in complaints)
    warnings = len(complaints) - errors
    found = f"{plural(resources, 'resource')} in {plural(files, 'file')}"
    counts = f"{found}: {plural(errors, 'error')}, {plural(warnings, 'warning')}"
    return f"{counts}, {ignored:,} ignored" if ignored else counts


def _lines(complaint: Complaint, style: Style) -> Iterator[str]:
    colour = _colour(complaint)
    head = style.paint(f"{complaint.severity.value}[{complaint.code}]", colour, Colour.BOLD)
    yield fitted(f"{head}: {safe(complaint.message)}", style)
    gutter = " " * len(str(complaint.line))
    yield f"{gutter}{style.paint('-->', Colour.DIM)} {_place(complaint)}"
    help_text = safe(advice(complaint))
    if complaint.excerpt is not None:
        room = (
            max(NARROWEST, style.width - len(gutter) - len(" | "))
            if style.terminal
            else USUAL_EXCERPT
        )
        yield from _frame(complaint.excerpt.within(room), len(gutter), colour, help_text, style)
    elif help_text:
        yield fitted(f"{gutter} {help_text}", style)


def _place(complaint: Complaint) -> str:
    place = safe(complaint.file)
    return f"{place}:{complaint.line}:{complaint.column}" if complaint.line else place


def _frame(
    excerpt: Excerpt, gutter: int, colour: Colour, help_text: str, style: Style
) -> Iterator[str]:
    """Yield the lines of the file, and a mark under the place, as wide as the place is shown."""
    bar = style.paint("|", Colour.DIM)
    for number, text in excerpt.lines:
        yield f"{style.paint(str(number).rjust(gutter), Colour.DIM)} {bar} {_shown(text)}".rstrip()
    text = excerpt.lines[-1][1]
    end = excerpt.start + excerpt.width
    under = " " * columns(_shown(text[: excerpt.start]))
    mark = "^" * max(1, columns(_shown(text[excerpt.start : end])))
    margin = f"{' ' * gutter} {bar} "
    wide = gutter + len(" | ") + columns(f"{under}{mark} {help_text}")
    if style.terminal and wide > style.width:
        # Next to the mark the terminal would break the help text in the middle of a word.
        yield f"{margin}{under}{style.paint(mark, colour)}"
        yield fitted(f"{' ' * gutter} {help_text}", style)
    else:
        yield f"{margin}{under}{style.paint(mark, colour)} {help_text}".rstrip()


def _shown(text: str) -> str:
    # It is printed after a bar, where it begins no command of a runner: it is escaped as such.
    return safe("|" + text.replace("\t", "    "))[1:]
