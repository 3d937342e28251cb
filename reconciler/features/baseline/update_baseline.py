"""`validate --update-baseline`: accept all complaints of now that may be accepted."""

from __future__ import annotations

from dataclasses import replace

import click

from reconciler.cli.options import Command
from reconciler.errors import InvalidInput, UsageError
from reconciler.features.baseline.baseline import (
    baseline_text,
    can_be_accepted,
    name_of,
    read_baseline,
    reason_of,
)
from reconciler.operations.check_project import Checked
from reconciler.operations.open_project import Options, is_whole
from reconciler.report.safe import safe
from reconciler.report.words import plural
from reconciler.syntax.diagnostic import Complaint, Suppressed
from reconciler.syntax.write_files import replace_file, write_new_files


def update_option(command: Command) -> Command:
    """Add `--update-baseline`."""
    return click.option(
        "--update-baseline",
        is_flag=True,
        help="Accept all warnings of now: write them into the file of `baseline:`.",
    )(command)


def updated(checked: Checked, options: Options, _: object) -> Checked:
    """Write the baseline, and return the check without what it accepts.

    Raises UsageError without a baseline in the project file or for a part of the manifests, and
    InvalidInput where the file cannot be written.
    """
    project = checked.project
    if project is None or not name_of(project):
        raise UsageError(
            "--update-baseline needs a file: write `baseline: baseline.jsonl` in reconciler.yaml"
        )
    if options.selection or options.environment is not None or not is_whole(options, project):
        raise UsageError(
            "--update-baseline is about all manifests in all environments: "
            "give no PATH, -e, --select and --exclude"
        )
    name = name_of(project)
    workspace = checked.workspace
    before, malformed = read_baseline(project)
    reason = reason_of(project)
    hidden = [suppressed for suppressed in workspace.suppressed if suppressed.reason == reason]
    found: list[Complaint] = [suppressed.complaint for suppressed in hidden]
    left: list[Complaint] = []
    for complaint in workspace.complaints:
        if complaint in malformed:
            continue
        is_accepted = can_be_accepted(complaint, project.settings.checks)
        (found if is_accepted else left).append(complaint)
    path = project.root / name
    content = baseline_text(found).encode()
    try:
        if path.exists():
            replace_file(path.resolve(), content)
        else:
            write_new_files([(path, content)])
    except OSError as error:
        raise InvalidInput(f"{name} cannot be written: {error.strerror}") from error
    options.reporter.say(
        f"{safe(name)}: {plural(len(found), 'complaint')} accepted, before {sum(before.values()):,}"
    )
    accepted = (Suppressed(complaint, reason) for complaint in found)
    others = (other for other in workspace.suppressed if other.reason != reason)
    return replace(
        checked,
        workspace=replace(
            workspace, complaints=tuple(left), suppressed=tuple(sorted((*others, *accepted)))
        ),
    )
