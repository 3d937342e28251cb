"""`reconciler emulator serve`: the management API on this machine."""

from __future__ import annotations

import os
from pathlib import Path

import click

from reconciler.api.secret import API_KEY
from reconciler.commands.output import words
from reconciler.errors import InvalidInput, UsageError


@click.group
def emulator() -> None:
    """Run the management API on this machine."""


@emulator.command
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    default=8080,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="The port to listen on; 0 takes any that is free.",
)
@click.option(
    "--data", type=click.Path(path_type=Path), metavar="FILE", help="Keep all in this SQLite file."
)
@click.option(
    "--alert-id",
    "alert_ids",
    multiple=True,
    metavar="UUID",
    help="Begin with a bare alert definition of this id; may be repeated.",
)
def serve(*, host: str, port: int, data: Path | None, alert_ids: tuple[str, ...]) -> int:
    """Serve until stopped. The key is RECONCILER_API_KEY, else any that is not empty."""
    from reconciler.emulator import UnreadableDataError  # noqa: PLC0415 - brings the server
    from reconciler.emulator import serve as serve_emulator  # noqa: PLC0415 - brings the server

    try:
        serve_emulator(
            host,
            port,
            data,
            alert_ids=alert_ids,
            api_key=os.environ.get(API_KEY) or None,
            announce=words,
        )
    except UnreadableDataError as error:
        raise InvalidInput(str(error)) from error
    except ValueError as error:
        raise UsageError(str(error)) from error
    except OSError as error:
        raise UsageError(f"cannot serve on {host}:{port}: {error.strerror or error}") from error
    return 0
