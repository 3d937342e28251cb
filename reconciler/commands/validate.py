"""`reconciler validate`: everything that can be known offline."""

from __future__ import annotations

import click

from reconciler.commands import options
from reconciler.commands.checking import Checked, check
from reconciler.commands.opening import Asked
from reconciler.commands.output import data, stdout_style, words
from reconciler.errors import InvalidInput
from reconciler.report.complaints.document import complaints_json, complaints_jsonl
from reconciler.report.complaints.text import complaints_summary, complaints_text


@click.command
@options.reading
@options.formats("text", "json", "jsonl", "sarif", "junit")
def validate(*, asked: Asked, form: str) -> int:
    """Check manifests offline: syntax, fields, names, references.

    Without PATH, the manifests of the project file are checked, else those in
    this folder. Without -e, they are checked in every environment. No service,
    key or secret is needed.
    """
    checked = check(asked, in_all=True)
    workspace = checked.workspace
    if form == "text":
        shown = workspace.errors if asked.quiet else workspace.complaints
        data(complaints_text(shown, stdout_style(verbose=asked.verbose)))
    else:
        data(rendered(checked, form))
    if not asked.quiet:
        count = len(workspace.manifests)
        summary = complaints_summary(workspace.complaints, count, workspace.files)
        words("\n".join(filter(None, (summary, checked.advice))))
    return InvalidInput.exit_code if workspace.errors else 0


def rendered(checked: Checked, form: str) -> str:
    """Give what was found in a machine's format by its name: all of it, never cut."""
    # Each of the last two is loaded only where it is asked for.
    workspace = checked.workspace
    match form:
        case "jsonl":
            return complaints_jsonl(workspace.complaints)
        case "sarif":
            from reconciler.report.complaints.sarif import complaints_sarif  # noqa: PLC0415 - rare

            return complaints_sarif(workspace.complaints, checked.folder, checked.environment)
        case "junit":
            from reconciler.report.complaints.junit import complaints_junit  # noqa: PLC0415 - rare

            return complaints_junit(workspace.complaints, workspace.manifests, workspace.elsewhere)
        case _:
            return complaints_json(workspace.complaints, len(workspace.manifests), workspace.files)
