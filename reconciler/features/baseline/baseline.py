"""The file of accepted complaints, and what it hides. Source: docs/baseline.md.

A line of the file is one JSON object: code, resource, field, and how many such complaints are
accepted. Fields are without indexes, so that an entry outlives a moved list item.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from reconciler.project import Project
from reconciler.project.levels import Level
from reconciler.report.markdown import LONGEST_NAME, code
from reconciler.report.words import first_few, plural
from reconciler.syntax.diagnostic import Advice, Complaint, Finding, Lines, Suppressed, complaint_at
from reconciler.syntax.files import read_file
from reconciler.workspace.workspace import Workspace

MALFORMED = "M119"
_REMEDY = Advice(
    "repair the line, or remove the file and run `reconciler validate --update-baseline`"
)


class AcceptedComplaint(NamedTuple):
    """A code, a resource, and a field without indexes.

    The resource is a file where the text itself is wrong.
    """

    code: str
    resource: str
    field: str


AcceptedCounts: TypeAlias = Mapping[AcceptedComplaint, int]


def entry_of(complaint: Complaint) -> AcceptedComplaint:
    """Return the entry of the baseline that covers a complaint."""
    steps = (step for step in complaint.path if isinstance(step, str))
    return AcceptedComplaint(complaint.code, complaint.ref or complaint.file, ".".join(steps))


def can_be_accepted(complaint: Complaint, levels: Mapping[str, Level]) -> bool:
    """Return whether a complaint may be hidden: a warning, or a check that `checks:` raised."""
    return not complaint.is_error or levels.get(complaint.code) == "error"


def without_accepted(project: Project, workspace: Workspace) -> Workspace:
    """Return the workspace with the accepted complaints suppressed, the first of each entry."""
    accepted, malformed = read_baseline(project)
    left, reason = Counter(accepted), reason_of(project)
    hidden: list[Suppressed] = []

    def shown(complaints: Iterable[Complaint]) -> Iterator[Complaint]:
        for complaint in complaints:
            entry = entry_of(complaint)
            if left[entry] > 0 and can_be_accepted(complaint, project.settings.checks):
                left[entry] -= 1
                hidden.append(Suppressed(complaint, reason))
            else:
                yield complaint

    return replace(
        workspace,
        complaints=(*malformed, *shown(workspace.complaints)),
        idle=tuple(shown(workspace.idle)),
        suppressed=(*workspace.suppressed, *hidden),
    )


def reason_of(project: Project) -> str:
    """Return the reason of what is hidden because the baseline has it."""
    return f"accepted in {name_of(project)}"


def name_of(project: Project) -> str:
    """Return the name of the baseline, relative to the project's folder; "" where it has none."""
    return project.settings.setting("baseline", str) or ""


def read_baseline(project: Project) -> tuple[AcceptedCounts, tuple[Complaint, ...]]:
    """Read the baseline of a project: its entries, and the complaints about malformed lines.

    A file that does not exist yet accepts nothing.
    """
    name = name_of(project)
    path = project.root / name
    if not path.exists():
        return {}, ()
    text = read_file(path, name, (project.root.resolve(),))
    if isinstance(text, Complaint):
        return {}, (text,)
    entries = [*map(_entry, text.rstrip("\n").split("\n"))] if text else []
    if None in entries:
        message = "this line of the baseline is no accepted complaint"
        finding = Finding(MALFORMED, (), message, suggestion=_REMEDY)
        return {}, (complaint_at(name, Lines(text), entries.index(None) + 1, 1, finding),)
    return _counted(entries), ()


def _counted(entries: Iterable[tuple[AcceptedComplaint, int] | None]) -> Counter[AcceptedComplaint]:
    counts: Counter[AcceptedComplaint] = Counter()
    for entry, count in filter(None, entries):
        counts[entry] += count
    return counts


def _entry(line: str) -> tuple[AcceptedComplaint, int] | None:
    with suppress(ValueError, RecursionError):
        match json.loads(line):
            case {
                "code": str(code),
                "resource": str(resource),
                "field": str(field),
                "count": count,
            } if type(count) is int and count > 0:
                return AcceptedComplaint(code, resource, field), count
    return None


def baseline_text(complaints: Iterable[Complaint]) -> str:
    """Return the content of a baseline that accepts these complaints, in a stable order."""
    counts = sorted(Counter(map(entry_of, complaints)).items())
    entries = ({**entry._asdict(), "count": count} for entry, count in counts)
    return "".join(f"{json.dumps(entry, ensure_ascii=False)}\n" for entry in entries)


MOST_NAMED = 5


def growth(project: Project, text_before: Callable[[str], str | None]) -> str:
    """Return a line on the complaints that a change accepts in addition, as Markdown; "" for none.

    `text_before` returns the text of a file of the project before the change: "" where there was
    none, and None where that is unknown.
    """
    before = text_before(name_of(project))
    if before is None:
        return ""
    accepted, _ = read_baseline(project)
    # Malformed lines of then accepted nothing.
    added = Counter(accepted) - _counted(map(_entry, before.split("\n")))
    if not added:
        return ""
    listed = [*dict.fromkeys(f"{entry.code} {entry.resource}" for entry in sorted(added))]
    shown = first_few(listed, MOST_NAMED, lambda name: code(name, LONGEST_NAME))
    return f"The baseline grows by {plural(added.total(), 'complaint')}: {shown}."
