"""`validate --update-baseline`: accept all complaints of now that may be accepted."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import click

from reconciler.cli.options import Command
from reconciler.errors import InvalidInput, UsageError
from reconciler.features.baseline.baseline import (
    baseline_text,
    can_be_accepted,
    entry_of,
    name_of,
    read_baseline,
    reason_of,
)
from reconciler.model.quoting import quoted
from reconciler.operations.check_project import Checked
from reconciler.operations.open_project import Options, is_whole
from reconciler.project import Project
from reconciler.report.safe import safe
from reconciler.report.words import plural
from reconciler.runtime.advice import on_all_manifests
from reconciler.syntax.diagnostic import Complaint, Suppressed
from reconciler.syntax.files import GIT_FOLDER, PROJECT_FILE
from reconciler.workspace.write_files import replace_file, write_new_files

_SETTING = "baseline: baseline.jsonl"

MANY = 20
"""So many warnings are hardly read one by one."""


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
    """Write the file, in a new folder where there is none."""
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
