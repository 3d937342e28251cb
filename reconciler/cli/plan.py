"""`reconciler plan`: show what apply would do."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from reconciler.cli import options
from reconciler.cli.console import data, describe_plan, stdout_style, words
from reconciler.errors import ExitCode, ReconcilerError, UsageError, worst
from reconciler.operations.open_project import Options, manifest_paths, project_file, read_project
from reconciler.operations.open_session import begin_session
from reconciler.operations.plan_and_drift import (
    check_writable,
    failures_of,
    plan_changed,
    write_private,
)
from reconciler.report.plan.document import plan_json
from reconciler.report.safe import safe
from reconciler.report.words import plural
from reconciler.runtime.progress import Deed
from reconciler.runtime.rows import Rows
from reconciler.syntax.files import SUFFIXES, is_installed

if TYPE_CHECKING:
    from reconciler.model import Plan
    from reconciler.project import Project


CLEARED = "\x1b[H\x1b[2J"

PLANNERS: Final = Rows[Callable[[Options, Any], tuple["Plan", "Project"]]]("planners")
"""Functions that make a plan without a session; the key is an option of `plan`."""


@click.command
@options.reading
@options.selecting
@options.formats("text", "json", "jsonl", "markdown", "html")
@click.option(
    "--out",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Also write the plan to FILE, so that `apply --plan FILE` applies just that plan.",
)
@click.option(
    "--exit-code",
    is_flag=True,
    help="Exit with 2 if an apply would change something, with 0 if not.",
)
@click.option(
    "--watch", is_flag=True, help="Stay on the terminal, and plan again whenever a file is saved."
)
@click.option(
    "--changed-since",
    "since",
    metavar="REV",
    help="Plan only the resources whose files changed since the last commit in "
    "common with REV, as `origin/main`.",
)
@options.of_features("plan")
def plan(
    *,
    options: Options,
    form: str,
    out: Path | None,
    exit_code: bool,
    since: str | None,
    watch: bool,
    **asked: object,
) -> int:
    """Show what apply would do. Nothing is written, neither to the service nor to the journal."""
    planned = partial(_plan, options, form, out, since, asked, exit_code=exit_code)
    if not watch:
        return planned()
    if form != "text" or out is not None or exit_code:
        raise UsageError("--watch is for reading along: without --format, --out and --exit-code")
    if not sys.stdout.isatty():
        raise UsageError("--watch is for a terminal, and stdout is not one")
    return _watch(options, planned)


def _watch(options: Options, plan_again: Callable[[], int]) -> int:
    """Plan now and after every save, until a signal ends it."""

    def places() -> list[Path]:
        project, _ = read_project(options)
        file = project_file(options)
        named = [] if file is None else [file]
        if project is None:
            # Its `manifests:` is unknown, so a change of any file next to it may repair it.
            return [*named, *(options.paths or [(file or Path()).parent])]
        return [*named, *manifest_paths(options, project)]

    def planned() -> None:
        data(CLEARED if stdout_style(verbose=False).terminal else "")
        try:
            plan_again()
        except ReconcilerError as error:
            words(f"error: {safe(str(error))}", laid_out=True)
        except ExceptionGroup as group:
            for exception in group.exceptions:
                words(f"error: {safe(str(exception))}", laid_out=True)

    for count in watched(places, planned):
        words(f"watching {plural(count, 'file')}; Ctrl-C ends it")
    return 0


def _plan(
    options: Options,
    form: str,
    out: Path | None,
    since: str | None,
    asked: Mapping[str, object],
    *,
    exit_code: bool,
) -> int:
    """Print a plan, write it to a file if wanted, and return the exit code.

    `asked` are values of options of features, by their names.
    """
    for name in PLANNERS:
        if (value := asked.get(name)) is not None:
            if out is not None:
                check_writable(out)
            made, project = PLANNERS.load(name)(options, value)
            break
    else:
        session = begin_session(options, for_part=since is not None)
        project = session.project
        if out is not None:
            check_writable(out)
        made = plan_changed(session, options, since, asked)
    if out is not None:
        write_private(out, plan_json(made))
    code = worst(failures_of(made))
    if not code and exit_code and (made.has_changes or made.is_noted):
        code = ExitCode.DIFFERENT
    with options.waits.step(Deed.REPORTING):
        data(describe_plan(made, form, project, verbose=options.verbose), ending=code)
    if made.unsettled and not options.quiet:
        words("nothing can be applied before the unsettled creates are settled")
    return code


EVERY = 0.4
"""Seconds between two checks: a plan begins within one second after a save."""

_Stamp = tuple[int, int, int]
_GONE: _Stamp = (0, 0, 0)


def stamps(places: Sequence[Path]) -> dict[str, _Stamp]:
    """Return every file at some places, or with manifests below them, with what shows a save."""
    named = [*map(str, places)]
    files = [place for place in named if not os.path.isdir(place)]  # noqa: PTH112 - never raises
    files += (path for place in named for path in _manifests_below(place))
    return {path: _stamp(path) for path in files}


def _manifests_below(top: str) -> Iterator[str]:
    for folder, folders, names in os.walk(top):
        folders[:] = [folder for folder in folders if not is_installed(folder)]
        for name in names:
            if os.path.splitext(name)[1] in SUFFIXES:  # noqa: PTH122 - thousands of them
                yield f"{folder}{os.path.sep}{name}"


def _stamp(path: str) -> _Stamp:
    try:
        about = os.stat(path)  # noqa: PTH116 - thousands of them, several times a second
    except (OSError, ValueError):
        return _GONE
    return about.st_mtime_ns, about.st_size, about.st_ino


def watched(
    places: Callable[[], Sequence[Path]],
    work: Callable[[], None],
    pause: Callable[[float], None] = time.sleep,
) -> Iterator[int]:
    """Run `work` now and after every change, and yield each time how many files are watched.

    Files saved during the work are not missed: they are recorded before it begins.
    """
    while True:
        seen = places()
        before = stamps(seen)
        work()
        yield len(before)
        while stamps(seen) == before:
            pause(EVERY)
