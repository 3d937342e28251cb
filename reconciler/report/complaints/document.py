"""Complaints and repairs as JSON, JSON Lines, diffs, and text with code frames.

Source: schemas/complaints.schema.json.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import unified_diff
from itertools import groupby, pairwise
from typing import Annotated, Literal, NotRequired

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from reconciler.model import Selected
from reconciler.model.guards import OWN_RULE
from reconciler.model.quoting import SHOWN_BY_VERBOSE, and_more
from reconciler.project.levels import PRACTICE, QUERIES
from reconciler.report.changes.document import Limited, selection_document
from reconciler.report.safe import columns, json_text, safe
from reconciler.report.table import Colour, Style, fitted
from reconciler.report.words import plural
from reconciler.runtime.advice import is_added, on_manifests
from reconciler.syntax import diagnostic


def worst_first(complaints: Iterable[diagnostic.Complaint]) -> list[diagnostic.Complaint]:
    """Return errors, then warnings, each with opinions last; each group by file and line."""
    return sorted(
        complaints,
        key=lambda complaint: (
            not complaint.is_error,
            _is_opinion(complaint.code),
            complaint,
        ),
    )


def _is_opinion(code: str) -> bool:
    """Return whether a code is of practice or of an own rule: the service has no objection."""
    return code.startswith((PRACTICE, OWN_RULE)) and not code.startswith(QUERIES)


def advice(complaint: diagnostic.Complaint) -> str:
    """Return what to write instead as a sentence; "" where that is not known."""
    suggestion = complaint.suggestion
    if not suggestion or isinstance(suggestion, diagnostic.Advice):
        return suggestion
    is_guess = complaint.code in diagnostic.GUESSED
    return f"did you mean {suggestion}?" if is_guess else f"write {suggestion}"


def message(complaint: diagnostic.Complaint) -> str:
    """Return the problem and what to write instead on one line."""
    help_text = advice(complaint)
    return f"{complaint.message}: {help_text}" if help_text else complaint.message


def file_in_repository(file: str, folder: str) -> str:
    """Return a complaint's file relative to the repository; `folder` is the project's folder."""
    return file if not folder or file.startswith("/") else f"{folder}/{file}"


def field_path(complaint: diagnostic.Complaint) -> list[str | int]:
    """Return the path of the field; a very long key is shortened."""
    return [
        step[: diagnostic.LONGEST_NAME - 1] + diagnostic.CUT
        if isinstance(step, str) and len(step) > diagnostic.LONGEST_NAME
        else step
        for step in complaint.path
    ]


@with_config(ConfigDict(extra="ignore"))
class ComplaintDocument(TypedDict):
    """A complaint: an object of `validate --format json`, a line of `--format jsonl`."""

    code: Annotated[str, Field(pattern="^([ALMPT][0-9]{3}|R/.+)$")]
    severity: Literal["error", "warning"]
    file: Annotated[str, Field(description="Relative to the project file.")]
    line: Annotated[int, Field(ge=0, description="From 1; 0 is the file as a whole.")]
    column: Annotated[int, Field(ge=0, description="From 1, in characters.")]
    message: str
    suggestion: Annotated[str, Field(description="What to write instead; may be empty.")]
    ref: Annotated[str, Field(description="Kind/name; empty where the text itself is wrong.")]
    path: Annotated[list[str | int], Field(description="Keys and indices from 0 to the field.")]
    environments: Annotated[
        list[str], Field(description="Those it holds in; empty where it holds in all.")
    ]


class FixDocument(TypedDict):
    """A file that `validate --fix` repairs, or would with `--diff`."""

    file: Annotated[str, Field(description="Relative to the project file.")]
    repairs: Annotated[int, Field(ge=1, description="Places that are repaired.")]
    diff: Annotated[str, Field(description="The repair as a unified diff.")]


class ComplaintsDocument(TypedDict):
    """Output of `validate --format json`."""

    valid: Annotated[bool, Field(description="Whether none of the complaints is an error.")]
    resources: int
    files: int
    complaints: list[ComplaintDocument]
    ignored: Annotated[
        int,
        Field(
            ge=0,
            description="Complaints that comments or `metadata.exempt` ignore.",
        ),
    ]
    selection: NotRequired[Limited]
    fixes: NotRequired[
        Annotated[
            list[FixDocument],
            Field(description="Only with --fix: the files that it repairs."),
        ]
    ]


def complaints_json(
    complaints: Sequence[diagnostic.Complaint],
    resources: int,
    files: int,
    fixes: Sequence[FixDocument] | None = None,
    *,
    ignored: int = 0,
    selected: Selected | None = None,
) -> str:
    """Return the JSON of schemas/complaints.schema.json, ending in a line break."""
    document: ComplaintsDocument = {
        "valid": not any(complaint.is_error for complaint in complaints),
        "resources": resources,
        "files": files,
        "complaints": [complaint_document(complaint) for complaint in complaints],
        "ignored": ignored,
    }
    if selected is not None:
        document["selection"] = selection_document(selected)
    if fixes is not None:
        document["fixes"] = [*fixes]
    return json_text(document)


def complaints_jsonl(complaints: Sequence[diagnostic.Complaint]) -> str:
    """Return each complaint as an object on a line of its own."""
    return "".join(
        json_text(complaint_document(complaint), one_line=True) for complaint in complaints
    )


def complaint_document(complaint: diagnostic.Complaint) -> ComplaintDocument:
    """Return the JSON form of a complaint."""
    return {
        "code": complaint.code,
        "severity": complaint.severity.value,
        "file": complaint.file,
        "line": complaint.line,
        "column": complaint.column,
        "message": complaint.message,
        "suggestion": complaint.suggestion,
        "ref": complaint.ref,
        "path": field_path(complaint),
        "environments": [*complaint.environments],
    }


def fix_diff(file: str, before: str, after: str) -> str:
    """Return the changes of a file as a diff for `patch -p1`.

    Unsafe characters are escaped; such a line cannot be patched.
    """
    lines = unified_diff(
        before.splitlines(keepends=True),
        after.splitlines(keepends=True),
        f"a/{file}",
        f"b/{file}",
    )
    return "".join(_document_shown(line) for line in lines)


def _document_shown(line: str) -> str:
    bare = line.rstrip("\r\n")
    shown = "\t".join(map(safe, bare.split("\t")))
    return f"{shown}\n" if line.endswith("\n") else f"{shown}\n\\ No newline at end of file\n"


def fix_summary(
    repairs: int, files: int, unrepaired: Mapping[str, int], likely: int = 0, *, is_done: bool
) -> str:
    """Return how much was repaired, or would be, and a line for each file that was not.

    `unrepaired` has the line of the file's syntax error, 0 where it has none. `likely` counts the
    repairs that were not made, as they are guesses.
    """
    left = [
        f"{safe(name)} not repaired: {f'correct line {line} first' if line else 'do it by hand'}"
        for name, line in unrepaired.items()
    ]
    if likely:
        left.append(
            f"left to `{on_manifests('validate', '--unsafe-fixes')}`: "
            f"{plural(likely, 'likely repair')}"
        )
    if not files:
        return "\n".join(left) or "nothing to repair"
    count = f"{plural(repairs, 'field')} in {plural(files, 'file')}"
    head = f"repaired {count}" if is_done else f"would repair {count}; nothing is written"
    return "\n".join((head, *left))


def describe_repairs(commands: Sequence[str], certain: int, likely: int) -> str:
    """Return how much each of two commands repairs; the second also makes the likely repairs.

    A repair can reveal another flaw, which a later round repairs.
    """
    fix, guess = commands
    if not certain:
        return f"`{guess}` repairs at least {plural(likely, 'field')}" if likely else ""
    more = f", `--unsafe-fixes` {likely:,} more" if likely else ""
    return f"`{fix}` repairs at least {plural(certain, 'field')}{more}"


MOST_SHOWN = 20
NARROWEST = 20


def complaints_text(complaints: Sequence[diagnostic.Complaint], style: Style) -> str:
    """Return up to twenty complaints in full, errors first, and the others by code.

    Of the warnings of one code in one file, only the first is shown in full. If there are more than
    twenty complaints, the first of each code is shown, then more errors while there is room. Rare
    codes come first, opinions last. `verbose` shows them all.
    """
    shown, others = worst_first(complaints), list[diagnostic.Complaint]()
    if len(shown) > MOST_SHOWN and not style.verbose:
        shown, others = _picked(shown)
    lines = [line for alike in _grouped(shown, style) for line in (*_alike_lines(alike, style), "")]
    if more := and_more(len(others), hint=SHOWN_BY_VERBOSE):
        lines += [f"{more}:", *_by_code(others, style), ""]
    return "\n".join((*lines, *_hint(shown, style), ""))


def _grouped(
    shown: Sequence[diagnostic.Complaint], style: Style
) -> Iterable[list[diagnostic.Complaint]]:
    """Return warnings of one code in one file, and errors with one message, as one group each."""
    groups: dict[tuple[object, ...], list[diagnostic.Complaint]] = {}
    for place, complaint in enumerate(shown):
        message = complaint.message if complaint.is_error else ""
        own = place if style.verbose else message
        groups.setdefault((complaint.file, complaint.code, own), []).append(complaint)
    return groups.values()


def _alike_lines(alike: Sequence[diagnostic.Complaint], style: Style) -> Iterator[str]:
    yield from _lines(alike[0], style)
    for before, other in pairwise(alike):
        is_same = message(other) == message(before)
        text = "the same" if is_same else safe(message(other))
        yield fitted(f"{style.paint('-->', Colour.DIM)} {_place(other)}  {text}", style)


def _picked(
    ordered: Sequence[diagnostic.Complaint],
) -> tuple[list[diagnostic.Complaint], list[diagnostic.Complaint]]:
    """Return the complaints that are shown, and the others."""
    counts = Counter((complaint.severity, complaint.code) for complaint in ordered)

    def rank(complaint: diagnostic.Complaint) -> tuple[bool, bool, int, str]:
        count = counts[complaint.severity, complaint.code]
        return not complaint.is_error, _is_opinion(complaint.code), count, complaint.code

    ranked = sorted(ordered, key=rank)
    firsts = [next(alike) for _, alike in groupby(ranked, rank)]
    further = [complaint for complaint in ranked if complaint.is_error and complaint not in firsts]
    picked = firsts[:MOST_SHOWN]
    picked += further[: MOST_SHOWN - len(picked)]
    shown = {id(complaint) for complaint in picked}
    return (
        sorted(picked, key=rank),
        [complaint for complaint in ranked if id(complaint) not in shown],
    )


def _by_code(complaints: Sequence[diagnostic.Complaint], style: Style) -> Iterator[str]:
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


def _colour(complaint: diagnostic.Complaint) -> Colour:
    return Colour.RED if complaint.is_error else Colour.YELLOW


def warnings_in_short(warnings: int, where: str = "", only: str = "") -> str:
    """Return one line about warnings: many would hide the answer of a command.

    `only` has the options with which `validate` shows no others.
    """
    return f"{plural(warnings, 'warning')}{where}: `{on_manifests('validate', only)}`"


def _hint(shown: Sequence[diagnostic.Complaint], style: Style) -> Iterator[str]:
    """Yield where a code is explained, on a terminal only: readers of a log know it."""
    code = next(
        (complaint.code for complaint in shown if complaint.code and "/" not in complaint.code), ""
    )
    if code and style.terminal and is_added("explain"):
        hint = f"`reconciler explain {code}` says what that means, with an example"
        yield style.paint(fitted(hint, style), Colour.DIM)
        yield ""


def complaints_summary(
    complaints: Sequence[diagnostic.Complaint], resources: int, files: int, ignored: int = 0
) -> str:
    """Return the counts in one line; `ignored` is the number of complaints that are not shown."""
    errors = sum(complaint.is_error for complaint in complaints)
    warnings = len(complaints) - errors
    found = f"{plural(resources, 'resource')} in {plural(files, 'file')}"
    counts = f"{found}: {plural(errors, 'error')}, {plural(warnings, 'warning')}"
    return f"{counts}, {ignored:,} ignored" if ignored else counts


def _lines(complaint: diagnostic.Complaint, style: Style) -> Iterator[str]:
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
            else diagnostic.USUAL_EXCERPT
        )
        yield from _frame(complaint.excerpt.within(room), len(gutter), colour, help_text, style)
    elif help_text:
        yield fitted(f"{gutter} {help_text}", style)


def _place(complaint: diagnostic.Complaint) -> str:
    place = safe(complaint.file)
    return f"{place}:{complaint.line}:{complaint.column}" if complaint.line else place


def _frame(
    excerpt: diagnostic.Excerpt, gutter: int, colour: Colour, help_text: str, style: Style
) -> Iterator[str]:
    """Yield the lines of the file, and a mark under the place, as wide as the place is shown."""
    bar = style.paint("|", Colour.DIM)
    for number, text in excerpt.lines:
        shown_number = style.paint(str(number).rjust(gutter), Colour.DIM)
        yield f"{shown_number} {bar} {_escaped(text)}".rstrip()
    text = excerpt.lines[-1][1]
    end = excerpt.start + excerpt.width
    under = " " * columns(_escaped(text[: excerpt.start]))
    mark = "^" * max(1, columns(_escaped(text[excerpt.start : end])))
    margin = f"{' ' * gutter} {bar} "
    wide = gutter + len(" | ") + columns(f"{under}{mark} {help_text}")
    if style.terminal and wide > style.width:
        # Next to the mark the terminal would break the help text in the middle of a word.
        yield f"{margin}{under}{style.paint(mark, colour)}"
        yield fitted(f"{' ' * gutter} {help_text}", style)
    else:
        yield f"{margin}{under}{style.paint(mark, colour)} {help_text}".rstrip()


def _escaped(text: str) -> str:
    # It is printed after a bar, where a runner reads no command, so it is escaped with the bar in
    # front.
    return safe("|" + text.replace("\t", "    "))[1:]
