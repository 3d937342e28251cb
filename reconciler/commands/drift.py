"""`reconciler drift`: whether anyone changed what was applied."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from reconciler.commands import options
from reconciler.commands.opening import Asked, Bench, open_api, open_bench, salt_of
from reconciler.commands.output import data, stdout_style
from reconciler.journal.history import History
from reconciler.planning.drift import find_drift
from reconciler.report.drift_document import drift_json
from reconciler.report.drift_text import drift_text
from reconciler.resource import Drift

DRIFT = 2


@click.command
@options.reading
@options.formats("text", "json")
def drift(
    *,
    paths: tuple[Path, ...],
    environment: str | None,
    project: Path | None,
    verbose: bool,
    quiet: bool,
    form: str,
) -> int:
    """Compare live with what was last applied; exit with 2 where it differs.

    Edits of manifests that were not applied yet are no drift: `plan` shows
    those. Alert definitions and saved views cannot be read, and are counted.
    """
    bench = open_bench(Asked(paths, environment, project, verbose, quiet))
    found = asyncio.run(_drift_now(bench, bench.journal().history))
    if form == "json":
        data(drift_json(found, bench.name, bench.target.name))
    else:
        data(drift_text(found, stdout_style(verbose=verbose)))
    return DRIFT if any(one.drifted for one in found) else 0


async def _drift_now(bench: Bench, history: History) -> tuple[Drift, ...]:
    async with open_api(bench) as api:
        salt = salt_of(bench.name, bench.target)
        return await find_drift(api, bench.workspace.manifests, history, salt)
