"""`reconciler init`: create a workspace to start from."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import click

from reconciler.cli import options
from reconciler.cli.console import answered, data, is_terminal, json_data, words
from reconciler.kinds import KINDS
from reconciler.kinds.json_schema import schema_of, workspace_schema
from reconciler.operations import init_project
from reconciler.operations.open_project import Options
from reconciler.project.settings import project_schema
from reconciler.report.safe import safe
from reconciler.workspace.write_files import MANIFEST_SCHEMA, PROJECT_SCHEMA


@click.command
@click.argument("folder", default=".", metavar="[DIR]", type=click.Path(path_type=Path))
@click.option("--base-url", metavar="URL", help="The address of your service.")
@click.option(
    "-e",
    "--environment",
    metavar="NAME",
    help=f"The name of the first environment; by default `{init_project.ENVIRONMENT}`.",
)
@options.verbose
@options.quiet
@options.formats("text", "json")
def init(
    folder: Path,
    *,
    base_url: str | None,
    environment: str | None,
    verbose: bool,
    quiet: bool,
    form: str,
) -> None:
    """Make a workspace to start from: a project file, an example of each kind, CI, hooks, editor.

    What is there already stays as it is. On a terminal it asks for what is not given.
    """
    options = Options(paths=(folder,), environment=None, project=None, verbose=verbose, quiet=quiet)
    wanted = _wanted(folder, base_url, environment, asks=is_terminal() and not quiet)
    made, remarks = init_project.start(options, folder, wanted, _editor_schemas())
    if form == "json":
        json_data(made)
    else:
        data("".join(f"{safe(os.path.relpath(folder / text))}\n" for text in made["created"]))
    if not quiet:
        words(init_project.format_init(made, remarks), laid_out=True)


def _wanted(
    folder: Path, base_url: str | None, environment: str | None, *, asks: bool
) -> init_project.Start:
    if init_project.has_project(folder):
        known = init_project.known_target(folder)
        return init_project.Start(environment or known.environment, base_url or known.base_url)
    if base_url is None:
        base_url = _asked_for(
            "Base URL of your service (empty: later)", "", init_project.wrong_base_url, asks
        )
    if environment is None:
        asking = f"What is its environment called? [{init_project.ENVIRONMENT}]"
        environment = _asked_for(asking, init_project.ENVIRONMENT, init_project.wrong_name, asks)
    return init_project.Start(environment, base_url.strip().rstrip("/"))


def _asked_for(asking: str, default: str, wrong: Callable[[str], str], asks: bool) -> str:
    """Ask until the answer is valid; no answer means the default."""
    while asks and (answer := answered(asking)):
        why = wrong(answer)
        if not why:
            return answer
        words(safe(why))
    return default


def _editor_schemas() -> dict[str, str]:
    of = {
        PROJECT_SCHEMA: project_schema(),
        MANIFEST_SCHEMA: workspace_schema(map(schema_of, KINDS)),
    }
    return {name: json.dumps(schema, indent=2) + "\n" for name, schema in of.items()}
