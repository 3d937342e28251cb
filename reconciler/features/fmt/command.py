"""`reconciler fmt`: format manifests and exports."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from reconciler.cli import options
from reconciler.cli.console import data, stderr_style, words
from reconciler.errors import ExitCode, InvalidInput, UsageError
from reconciler.operations.open_project import Options
from reconciler.report.complaints.document import complaints_text, fix_diff
from reconciler.report.safe import safe
from reconciler.report.words import plural


def format_summary(changed: int, files: int, left_out: int = 0, *, is_done: bool) -> str:
    """Return the numbers of files that changed (or would), did not change, and were left out."""
    verb = "formatted" if is_done else "would format"
    rest = files - changed
    left = (
        f"{plural(rest, 'file')} left as it is" if rest == 1 else f"{rest:,} files left as they are"
    )
    if left_out:
        left += f"; {plural(left_out, 'file')} without a selected manifest"
    if not changed:
        return left
    return f"{verb} {plural(changed, 'file')}, {left}"


STDIN = Path("-")


@click.command
@options.reading
@options.selecting
@click.option("--check", is_flag=True, help="Write nothing; exit 2 where something would change.")
@click.option("--diff", is_flag=True, help="Print the changes as a diff, and write nothing.")
@click.option(
    "--modeline",
    is_flag=True,
    help="Add a first line to each file that names its schema, for editors.",
)
def fmt(*, options: Options, check: bool, diff: bool, modeline: bool) -> int:
    """Bring manifests, exports and the project file into their one layout.

    Comments, anchors, quotes and block texts stay, and what a file says never
    changes. `-` reads stdin and writes stdout. Without PATH, the manifests of the
    project file are meant, else those in this folder.
    """
    if STDIN in options.paths:
        if len(options.paths) > 1 or modeline or options.selection:
            raise UsageError("`-` is stdin, and takes no other argument")
        return _stdin(check=check, diff=diff)
    from reconciler.features.fmt.format_files import find, write  # noqa: PLC0415 - not for stdin

    found = find(options, modeline=modeline)
    changed = found.changed
    if not check and not diff:
        write(found)
    if found.complaints:
        words(
            complaints_text(found.complaints, stderr_style(verbose=options.verbose)), laid_out=True
        )
    if diff:
        data("".join(fix_diff(tidy.name, tidy.before, tidy.after) for tidy in changed))
    else:
        data("".join(f"{safe(tidy.name)}\n" for tidy in changed))
    if not options.quiet:
        is_done = not check and not diff
        words(format_summary(len(changed), found.files, found.left_out, is_done=is_done))
    return _ending(is_wrong=bool(found.complaints), would_change=check and bool(changed))


def _stdin(*, check: bool, diff: bool) -> int:
    """Format stdin; only the result, or the difference, is written to stdout."""
    from reconciler.features.fmt.format_files import text_in  # noqa: PLC0415 - not for files

    before, after = text_in(sys.stdin.buffer.read(), "stdin")
    if not isinstance(after, str):
        words(complaints_text(after, stderr_style(verbose=False)), laid_out=True)
        return InvalidInput.exit_code
    if diff:
        data(fix_diff("stdin", before, after))
    elif not check:
        data(after)
    return _ending(is_wrong=False, would_change=check and before != after)


def _ending(*, is_wrong: bool, would_change: bool) -> int:
    if is_wrong:
        return InvalidInput.exit_code
    return ExitCode.DIFFERENT if would_change else 0
