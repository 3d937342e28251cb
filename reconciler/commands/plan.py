"""`reconciler plan`: what apply would do."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from reconciler.commands import options
from reconciler.console import data, plan_words, redacted, words
from reconciler.errors import ExitCode, worst
from reconciler.report.plan.document import plan_json
from reconciler.session.opening import open_bench
from reconciler.session.planning import (
    as_part,
    check_writable,
    failures_of,
    find_changed,
    part_of,
    plan_now,
    tell_part,
    write_private,
)
from reconciler.session.projects import Asked


@click.command
@options.reading
@options.selecting
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
        if not asked.quiet:
            tell_part(changed, asked.voice)
    if out is not None:
        write_private(out, redacted(plan_json(made)))
    code = worst(failures_of(made))
    if not code and exit_code and (made.has_changes or made.is_noted):
        code = ExitCode.DIFFERENT
    data(plan_words(made, form, bench.project, verbose=asked.verbose), ending=code)
    if made.unsettled and not asked.quiet:
        words("nothing can be applied before the unsettled creates are settled")
    return code
