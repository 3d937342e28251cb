"""`reconciler validate`: all checks that are possible offline, and automatic repairs."""

from collections.abc import Sequence

import click

from reconciler.cli import options
from reconciler.cli.console import data, stderr_style, stdout_style, words
from reconciler.errors import InvalidInput, UsageError
from reconciler.operations.check_project import Checked, after_check, check, remarks_on
from reconciler.operations.open_project import Options, read_project
from reconciler.operations.open_session import counts_of
from reconciler.report.complaints.document import (
    FixDocument,
    complaints_json,
    complaints_jsonl,
    complaints_text,
)
from reconciler.report.counts import describe_selection, describe_unheeded
from reconciler.report.safe import safe
from reconciler.runtime.advice import on_manifests
from reconciler.runtime.progress import Deed
from reconciler.syntax.diagnostic import Severity

DIFFS = ("text", "json")


@click.command
@options.reading
@options.selecting
@options.formats("text", "json", "jsonl", "sarif", "junit")
@click.option(
    "--fix", is_flag=True, help="Write into the files each repair that is the only possible one."
)
@click.option(
    "--unsafe-fixes",
    is_flag=True,
    help="As --fix, and also write repairs that are only likely: read the diff afterwards.",
)
@click.option(
    "--diff", is_flag=True, help="With --fix: print the repairs as a diff, and write nothing."
)
@click.option(
    "--fail-on",
    type=click.Choice([severity.value for severity in Severity]),
    default=Severity.ERROR.value,
    show_default=True,
    help="Exit with 4 if a complaint has this severity; `warning` includes errors.",
)
@options.of_features("validate")
def validate(
    *,
    options: Options,
    form: str,
    fix: bool,
    unsafe_fixes: bool,
    diff: bool,
    fail_on: str,
    **asked: object,
) -> int:
    """Check manifests offline: syntax, fields, names, references.

    Without PATH, the manifests of the project file are checked, else those in
    this folder. Without -e, they are checked in every environment. No service,
    key or secret is needed.
    """
    fix = fix or unsafe_fixes
    if diff and not fix:
        raise UsageError("--diff shows what --fix would do: give both")
    if diff and form not in DIFFS:
        raise UsageError(f"--diff has the formats {' and '.join(DIFFS)}")
    wanted = [name for name, value in asked.items() if value not in (None, False)]
    if fix and wanted:
        raise UsageError("--fix repairs and reports all: give it alone")
    if len(wanted) > 1:
        flags = " and ".join(f"--{name.replace('_', '-')}" for name in wanted)
        raise UsageError(f"{flags}: give one of them")
    if fix:
        return _fix(options, form, fail_on, diff=diff, guess=unsafe_fixes)
    whole = check(options, in_all=True)
    checked = after_check(whole, options, asked)
    with options.waits.step(Deed.REPORTING):
        _tell(options, checked, form)
    code = _exit_code(checked, fail_on)
    if form == "text" and not options.quiet:
        _advise(options, checked, whole)
    elif form == "text" and code and not checked.workspace.errors:
        # Without an error, nothing else would say why it fails.
        words(counts_of(checked.workspace))
    return code


def _advise(options: Options, checked: Checked, whole: Checked) -> None:
    if checked.workspace.complaints:
        _count_repairs(options, whole)
    for remark in remarks_on(checked, options):
        words(remark)


def _count_repairs(options: Options, checked: Checked) -> None:
    from reconciler.operations.repair_manifests import count_repairs  # noqa: PLC0415 - rare
    from reconciler.report.complaints.document import describe_repairs  # noqa: PLC0415 - rare

    commands = [on_manifests("validate", flag) for flag in ("--fix", "--unsafe-fixes")]
    if counts := describe_repairs(commands, *count_repairs(checked, options)):
        words(counts)


def _exit_code(checked: Checked, fail_on: str) -> int:
    workspace = checked.workspace
    severe = workspace.complaints if fail_on == Severity.WARNING.value else workspace.errors
    return InvalidInput.exit_code if severe else 0


def _fix(options: Options, form: str, fail_on: str, *, diff: bool, guess: bool) -> int:
    from reconciler.operations.repair_manifests import repair  # noqa: PLC0415 - for --fix only
    from reconciler.report.complaints.document import fix_diff, fix_summary  # noqa: PLC0415 - rare

    project, _ = read_project(options)
    if project is None:
        _tell(options, check(options, in_all=True), form)
        return InvalidInput.exit_code
    repaired = repair(project, options, guess=guess, only_shown=diff)
    fixes, checked = repaired.fixes, repaired.checked
    shown = [
        FixDocument(
            file=fix.name, repairs=fix.repairs, diff=fix_diff(fix.name, fix.before, fix.after)
        )
        for fix in fixes
    ]
    if not options.quiet:
        count = sum(fix.repairs for fix in fixes)
        left = repaired.unrepaired, repaired.likely
        words(fix_summary(count, len(fixes), *left, is_done=not diff))
    if diff and form == "text":
        data("".join(fix["diff"] for fix in shown))
        others = checked.workspace.errors if options.quiet else checked.workspace.complaints
        if others:
            words(complaints_text(others, stderr_style(verbose=options.verbose)))
        _summarise(options, checked)
    else:
        _tell(options, checked, form, shown)
    return _exit_code(checked, fail_on)


def _tell(
    options: Options, checked: Checked, form: str, fixes: Sequence[FixDocument] | None = None
) -> None:
    workspace = checked.workspace
    if form == "text":
        shown = workspace.errors if options.quiet else workspace.complaints
        data(complaints_text(shown, stdout_style(verbose=options.verbose)))
    else:
        data(rendered(checked, form, fixes))
    _summarise(options, checked)


def _summarise(options: Options, checked: Checked) -> None:
    if not options.quiet:
        workspace, selected = checked.workspace, checked.selected
        left = safe(describe_selection(selected)) if selected is not None else ""
        unheeded = describe_unheeded(workspace.unheeded)
        words("\n".join(filter(None, (counts_of(workspace), left, unheeded, checked.advice))))


def rendered(checked: Checked, form: str, fixes: Sequence[FixDocument] | None = None) -> str:
    """Return all complaints in a machine-readable format by its name."""
    # Two of the formats are imported only when they are used.
    workspace = checked.workspace
    match form:
        case "jsonl":
            return complaints_jsonl(workspace.complaints)
        case "sarif":
            from reconciler.report.complaints.for_ci import complaints_sarif  # noqa: PLC0415 - rare

            where = checked.folder, checked.environment
            return complaints_sarif(
                workspace.complaints,
                *where,
                len(workspace.suppressed),
                selected=checked.selected,
            )
        case "junit":
            from reconciler.report.complaints.for_ci import complaints_junit  # noqa: PLC0415 - rare

            skipped = [ref for ref in workspace.elsewhere if ref not in workspace.unselected]
            return complaints_junit(workspace.complaints, workspace.manifests, skipped)
        case _:
            return complaints_json(
                workspace.complaints,
                len(workspace.manifests),
                workspace.files,
                fixes,
                ignored=len(workspace.suppressed),
                selected=checked.selected,
            )
