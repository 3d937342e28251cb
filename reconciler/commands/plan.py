"""`reconciler plan`: what apply would do."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import click

from reconciler.commands import options
from reconciler.commands.opening import Asked, Bench, open_api, open_bench
from reconciler.commands.output import data, redacted, stdout_style, words
from reconciler.errors import InvalidInput, Unsettled
from reconciler.journal.history import History
from reconciler.planning.plan import Place, make_plan
from reconciler.report.plan_document import plan_json
from reconciler.report.plan_markdown import plan_markdown
from reconciler.report.plan_text import plan_text
from reconciler.report.style import Style
from reconciler.resource import Plan

CHANGES = 2


@click.command
@options.reading
@options.formats("text", "json", "markdown")
@click.option(
    "--out",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Also write the plan as JSON, for `apply --plan FILE`.",
)
@click.option("--exit-code", is_flag=True, help="Exit with 2 where there are changes.")
def plan(  # noqa: PLR0913 - one parameter a flag
    *,
    paths: tuple[Path, ...],
    environment: str | None,
    project: Path | None,
    verbose: bool,
    quiet: bool,
    form: str,
    out: Path | None,
    exit_code: bool,
) -> int:
    """Show what apply would do. Nothing is written, neither to the service nor to the journal."""
    bench = open_bench(Asked(paths, environment, project, verbose, quiet))
    made = asyncio.run(plan_now(bench, bench.journal().history))
    if out is not None:
        write_private(out, plan_json(made))
    data(shown(made, form, stdout_style(verbose=verbose)))
    if made.unsettled:
        if not quiet:
            words("nothing can be applied before the unsettled creates are settled")
        return Unsettled.exit_code
    return CHANGES if exit_code and made.has_changes else 0


async def plan_now(bench: Bench, history: History) -> Plan:
    """Observe and decide, over a door of its own."""
    place = Place(bench.name, bench.target.name)
    async with open_api(bench) as api:
        return await make_plan(api, bench.workspace.manifests, history, place, whole=bench.whole)


def shown(made: Plan, form: str, style: Style) -> str:
    """Give a plan in a format by its name."""
    match form:
        case "json":
            return plan_json(made)
        case "markdown":
            return plan_markdown(made)
        case _:
            return plan_text(made, style)


def write_private(file: Path, text: str) -> None:
    """Write a file that only its owner can read (failure-cases.md, N9).

    Raises InvalidInput where it cannot be written.
    """
    try:
        descriptor = os.open(
            file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
        )
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            os.fchmod(descriptor, 0o600)
            stream.write(redacted(text))
    except OSError as error:
        raise InvalidInput(f"{file} cannot be written: {error.strerror}") from error
