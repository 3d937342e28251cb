"""The file of accepted complaints, and what it hides. Source: docs/baseline.md.

A line of the file is one JSON object: code, resource, field, and how many such complaints are
accepted. Fields are without indexes, so that an entry outlives a moved list item.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import click

from reconciler.cli.options import Command
from reconciler.errors import InvalidInput, UsageError
from reconciler.model.quoting import quoted
from reconciler.operations.check_project import Checked
from reconciler.operations.open_project import Options, is_whole
from reconciler.project import Project
from reconciler.project.levels import Level
from reconciler.report.markdown import LONGEST_NAME, code
from reconciler.report.safe import safe
from reconciler.report.words import first_few, plural
from reconciler.runtime.advice import on_all_manifests
from reconciler.syntax.diagnostic import Advice, Complaint, Finding, Lines, Suppressed, complaint_at
from reconciler.syntax.files import GIT_FOLDER, PROJECT_FILE, read_file
from reconciler.workspace.workspace import Workspace
from reconciler.workspace.write_files import replace_file, write_new_files

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


def entry_of(complaint: Complaint) -> AcceptedComplaint:
    """Return the entry of the baseline that covers a complaint."""
    steps = (step for step in complaint.path if isinstance(step, str))
    return AcceptedComplaint(complaint.code, complaint.ref or complaint.file, ".".join(steps))


def can_be_accepted(complaint: Complaint, levels: Mapping[str, Level]) -> bool:
    """Return whether a complaint may be hidden: a warning, or a check that `checks:` raised."""
    return not complaint.is_error or levels.get(complaint.code) == "error"


def without_accepted(project: Project, workspace: Workspace) -> Workspace:
    """Return the workspace without the complaints that the baseline accepts.

    They are suppressed, as many for each entry as it accepts.
    """
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
    """Return the reason that is shown for complaints that the baseline hides."""
    return f"accepted in {name_of(project)}"


def name_of(project: Project) -> str:
    """Return the path of the baseline, relative to the project's folder; "" without one."""
    return project.settings.setting("baseline", str) or ""


def read_baseline(
    project: Project,
) -> tuple[Mapping[AcceptedComplaint, int], tuple[Complaint, ...]]:
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
    # Lines that were malformed before the change accepted nothing.
    added = Counter(accepted) - _counted(map(_entry, before.split("\n")))
    if not added:
        return ""
    listed = [*dict.fromkeys(f"{entry.code} {entry.resource}" for entry in sorted(added))]
    shown = first_few(listed, MOST_NAMED, lambda name: code(name, LONGEST_NAME))
    return f"The baseline grows by {plural(added.total(), 'complaint')}: {shown}."


_SETTING = "baseline: baseline.jsonl"

MANY = 20
"""From this number on, warnings are hardly read one by one."""


def remarks(checked: Checked, options: Options) -> Iterator[str]:
    """Yield that there could be a baseline, that it is gone, or how many lines are not needed."""
    project, workspace = checked.project, checked.workspace
    if project is None or workspace.errors:
        return
    name = name_of(project)
    if not name:
        if len(workspace.complaints) >= MANY:
            yield (
                f"to accept these for now, write `{_SETTING}` in {PROJECT_FILE}, then "
                f"`{on_all_manifests('validate --update-baseline')}`"
            )
        return
    if not (project.root / name).exists():
        yield (
            f"`baseline: {safe(name)}` names a file that is not there, so no complaint is "
            f"accepted: `{on_all_manifests('validate --update-baseline')}` writes it"
        )
        return
    if not _is_about_all(options, project):
        return
    reason = reason_of(project)
    needed = {
        entry_of(hidden.complaint) for hidden in workspace.suppressed if hidden.reason == reason
    }
    if idle := len(read_baseline(project)[0].keys() - needed):
        verb = "is" if idle == 1 else "are"
        needless = f"{plural(idle, 'line')} of {safe(name)} {verb} no longer needed"
        yield f"{needless}: `{on_all_manifests('validate --update-baseline')}`"


def _is_about_all(options: Options, project: Project) -> bool:
    is_one_of_many = options.environment is not None and len(project.settings.environments) > 1
    return not options.selection and not is_one_of_many and is_whole(options, project)


def update_option(command: Command) -> Command:
    """Add `--update-baseline`."""
    return click.option(
        "--update-baseline",
        is_flag=True,
        help="Accept all present warnings: write them into the file that `baseline:` "
        "in the project file names.",
    )(command)


def updated(checked: Checked, options: Options, _: object) -> Checked:
    """Write the baseline, and return the check without what it accepts.

    Nothing is written while a manifest has errors: its accepted complaints would be lost. Raises
    UsageError without a baseline in the project file or for a part of the manifests, and
    InvalidInput where the file cannot be written, or holds something else.
    """
    project = checked.project
    if project is None or not name_of(project):
        raise UsageError(f"--update-baseline needs a file: write `{_SETTING}` in {PROJECT_FILE}")
    if not _is_about_all(options, project):
        raise UsageError(
            "--update-baseline is about all manifests in all environments: "
            "give no PATH, -e, --select and --exclude"
        )
    name = name_of(project)
    workspace = checked.workspace
    path = _own_file(project)
    before, malformed = read_baseline(project)
    if malformed:
        raise InvalidInput(f"{malformed[0].message}: remove {name}, or name another file")
    reason = reason_of(project)
    hidden = [suppressed for suppressed in workspace.suppressed if suppressed.reason == reason]
    found: list[Complaint] = [suppressed.complaint for suppressed in hidden]
    left: list[Complaint] = []
    for complaint in workspace.complaints:
        is_accepted = can_be_accepted(complaint, project.settings.checks)
        (found if is_accepted else left).append(complaint)
    if any(complaint.is_error for complaint in left):
        options.reporter.say(f"{safe(name)} is left as it is: correct the errors first")
        return checked
    _write(path, name, baseline_text(found).encode())
    if not options.quiet:
        count = plural(len(found), "complaint")
        options.reporter.say(f"{safe(name)}: {count} accepted, before {sum(before.values()):,}")
    accepted = (Suppressed(complaint, reason) for complaint in found)
    others = (other for other in workspace.suppressed if other.reason != reason)
    return replace(
        checked,
        workspace=replace(
            workspace, complaints=tuple(left), suppressed=tuple(sorted((*others, *accepted)))
        ),
    )


def _write(path: Path, name: str, content: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            replace_file(path, content)
        else:
            write_new_files([(path, content)])
    except FileExistsError as error:
        raise InvalidInput(f"{name} cannot be written: {error.filename} is no folder") from error
    except OSError as error:
        raise InvalidInput(f"{name} cannot be written: {error.strerror}") from error


def _own_file(project: Project) -> Path:
    """Return the path of the baseline: in the project's folder, and behind no link."""
    root = project.root.resolve()
    path = Path(os.path.normpath(root / name_of(project)))
    if path.resolve() != path or not path.is_relative_to(root) or GIT_FOLDER in path.parts:
        raise UsageError(
            f"the baseline {quoted(name_of(project))} must be a file in the project's folder, "
            "behind no link"
        )
    return path
