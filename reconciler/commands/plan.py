"""`reconciler plan`: what apply would do."""

from __future__ import annotations

import asyncio
import os
import stat
from pathlib import Path

import click

from reconciler.commands import options
from reconciler.commands.journal_opening import made_now
from reconciler.commands.opening import Asked, Bench, open_api, open_bench
from reconciler.commands.output import data, redacted, stdout_style, words
from reconciler.commands.partial import as_part, find_changed, part_of, tell_part
from reconciler.errors import ExitCode, InvalidInput, Unsettled, worst
from reconciler.guards import with_guards
from reconciler.journal.history import History
from reconciler.planning.plan import Place, make_plan
from reconciler.project import Embedded
from reconciler.report.plan.document import plan_json
from reconciler.report.plan.markdown import plan_markdown
from reconciler.report.plan.text import plan_text
from reconciler.report.table import Style
from reconciler.resource import Plan

NO_FILE = "it is not a regular file"


@click.command
@options.reading
@options.formats("text", "json", "jsonl", "markdown", "html")
@click.option(
    "--out",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Also write the plan as JSON, for `apply --plan FILE`.",
)
@click.option("--exit-code", is_flag=True, help="Exit with 2 where there are changes.")
@click.option(
    "--changed-since",
    "since",
    metavar="REV",
    help="Examine only what changed since the last commit in common with REV.",
)
def plan(
    *,
    asked: Asked,
    form: str,
    out: Path | None,
    exit_code: bool,
    since: str | None,
) -> int:
    """Show what apply would do. Nothing is written, neither to the service nor to the journal."""
    bench = open_bench(asked)
    if out is not None:
        check_writable(out)
    changed = find_changed(bench, asked, since) if since is not None else None
    bench = part_of(bench, changed) if changed is not None else bench
    history = bench.journal().history
    made = asyncio.run(plan_now(bench, history))
    if changed is not None:
        made = as_part(made, changed, history)
        tell_part(changed, quiet=asked.quiet)
    if out is not None:
        write_private(out, plan_json(made))
    code = worst(failures_of(made))
    if not code and exit_code and (made.has_changes or made.is_noted):
        code = ExitCode.DIFFERENT
    data(shown(made, form, bench, stdout_style(verbose=asked.verbose)), ending=code)
    if made.unsettled and not asked.quiet:
        words("nothing can be applied before the unsettled creates are settled")
    return code


def failures_of(made: Plan) -> set[int]:
    """Give the exit codes of what a plan could not find out."""
    unread = {one.exit_code for one in made.unread}
    return unread | ({Unsettled.exit_code} if made.unsettled else set())


async def plan_now(bench: Bench, history: History) -> Plan:
    """Observe and decide, over a door of its own, and tell what an apply would refuse."""
    place = Place(
        bench.name,
        bench.target.name,
        embedded=isinstance(bench.target, Embedded),
        salt=bench.salt(),
    )
    async with open_api(bench) as api:
        made = await make_plan(
            api,
            bench.workspace.manifests,
            history,
            place,
            whole=bench.whole,
            others=bench.others,
        )
        return await with_guards(api, made, bench.environment.guards, bench.place)


def shown(made: Plan, form: str, bench: Bench, style: Style) -> str:
    """Give a plan in a format by its name."""
    match form:
        case "json":
            return plan_json(made)
        case "jsonl":
            from reconciler.report.plan.document import plan_jsonl  # noqa: PLC0415 - for this format only

            return plan_jsonl(made)
        case "markdown":
            return plan_markdown(made)
        case "html":
            from reconciler.report.html import plan_html  # noqa: PLC0415 - for this format only

            return plan_html(made, made_now(bench.project))
        case _:
            return plan_text(made, style)


def check_writable(file: Path) -> None:
    """Find out before the first request whether a file could be written.

    Raises InvalidInput where it could not.
    """
    folder = file.parent
    try:
        # What is there already must be a file of our own; nothing is written to it yet.
        descriptor = os.open(file, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
        os.close(descriptor)
    except FileNotFoundError:
        why = "" if folder.is_dir() else f"there is no folder {folder}"
        why = why or ("" if os.access(folder, os.W_OK) else "its folder is read-only")
    except OSError as error:
        why = error.strerror or "it cannot be opened"
    else:
        # A device such as /dev/null would get the rights of a private file.
        why = "" if is_file else NO_FILE
    if why:
        raise InvalidInput(f"{file} cannot be written: {why}")


def write_private(file: Path, text: str) -> None:
    """Write a file that only its owner can read.

    Raises InvalidInput where it cannot be written.
    """
    try:
        descriptor = os.open(
            file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
        )
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise InvalidInput(f"{file} cannot be written: {NO_FILE}")
            os.fchmod(descriptor, 0o600)
            stream.write(redacted(text))
    except OSError as error:
        raise InvalidInput(f"{file} cannot be written: {error.strerror}") from error
