"""`reconciler conformance`: compare a service with the API document, with reads only."""

from __future__ import annotations

import asyncio

import click

from reconciler.cli import options
from reconciler.cli.console import data, json_data, stdout_style, words
from reconciler.errors import ExitCode, InvalidInput, worst
from reconciler.features.doctor.api_conformance import ConformanceFinding, examine
from reconciler.features.doctor.permissions import ConformanceDocument
from reconciler.operations.open_project import Options, open_project
from reconciler.operations.open_session import Session, open_api, open_target
from reconciler.operations.secret_sources import named_secrets
from reconciler.project import Environment, Service, choose_environment, unsafe_base_url
from reconciler.report.safe import safe
from reconciler.report.table import Colour, Style
from reconciler.workspace.workspace import Workspace

_COLOURS = {"agrees": Colour.GREEN, "differs": Colour.RED, "untold": Colour.DIM}


@click.command
@click.option("--base-url", metavar="URL", help="The service; else that of the environment.")
@options.connected
@options.formats("text", "json")
def conformance(
    *,
    base_url: str | None,
    options: Options,
    form: str,
) -> int:
    """Ask a service what can be asked without changing it; exit with 2 where it differs.

    What its data cannot show is `untold`. Exits with 9 or 10 where a question got no answer.
    """
    session = _session(options, base_url)
    found = asyncio.run(_examined(session))
    differing = sum(finding.verdict == "differs" for finding in found)
    code = worst({finding.exit_code for finding in found} - {0}) or (
        ExitCode.DIFFERENT if differing else ExitCode.DONE
    )
    if form == "json":
        document: ConformanceDocument = [
            {
                "endpoint": finding.endpoint,
                "question": finding.question,
                "verdict": finding.verdict,
                "detail": finding.detail,
            }
            for finding in found
        ]
        json_data(document, ending=code)
    else:
        style = stdout_style(verbose=options.verbose)
        data("".join(_line(finding, style) for finding in found), ending=code)
    if not options.quiet:
        words(f"questions: {len(found)}, and {differing} differ")
    return code


def _line(finding: ConformanceFinding, style: Style) -> str:
    verdict = style.paint(finding.verdict.ljust(7), _COLOURS[finding.verdict])
    detail = f": {safe(finding.detail)}" if finding.detail else ""
    return f"{verdict}  {finding.endpoint or '-':>2}  {finding.question}{detail}\n"


def _session(options: Options, base_url: str | None) -> Session:
    if base_url is None:
        return open_target(options)
    why = unsafe_base_url(base_url)
    if why:
        raise InvalidInput(f"--base-url {why}")
    found = open_project(options)
    name, chosen = ("default", Environment())
    if options.environment is not None:
        name, chosen = choose_environment(found, options.environment)
    target = Service(base_url.rstrip("/"), chosen.authorization)
    named = named_secrets(options, found, name, chosen)
    return Session(
        project=found,
        name=name,
        environment=chosen,
        target=target,
        workspace=Workspace(),
        whole=False,
        named=named,
        waits=options.waits,
        reporter=options.reporter,
    )


async def _examined(session: Session) -> list[ConformanceFinding]:
    async with open_api(session) as api:
        return await examine(api)
