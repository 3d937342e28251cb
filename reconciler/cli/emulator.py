"""`reconciler emulator`: run the management API on this machine."""

import json
import os
from pathlib import Path
from typing import Any

import click

from reconciler.cli import options
from reconciler.cli.console import words
from reconciler.cli.root import Group
from reconciler.errors import InvalidInput, UsageError
from reconciler.runtime import regular_files
from reconciler.runtime.connection import key_in

file_type = click.Path(path_type=Path)


@click.group(cls=Group)
def emulator() -> None:
    """Run the management API on this machine."""


@emulator.command
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    default=8080,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="The port to listen on; 0 takes any free port.",
)
@click.option(
    "--data",
    type=file_type,
    metavar="FILE",
    help="The SQLite file that keeps all data; by default the data is lost at the end.",
)
@click.option(
    "--alert-id",
    "alert_ids",
    multiple=True,
    metavar="UUID",
    help="Start with an alert definition that has this id and nothing else; repeat it for more.",
)
@click.option(
    "--seed",
    type=click.Choice(["demo"]),
    help="Fill an empty data file with the sample data of a company.",
)
@click.option("--live", is_flag=True, help="Let time pass: alerts fire, incidents open and close.")
@click.option(
    "--faults",
    type=file_type,
    metavar="FILE",
    help="A JSON file with rules for faults: slow, lost or wrong answers.",
)
@click.option(
    "--profile",
    type=file_type,
    metavar="FILE",
    help="A JSON file that chooses how the emulator behaves where the API document says nothing.",
)
@click.option(
    "--keys",
    type=file_type,
    metavar="FILE",
    help="A JSON file with the accepted keys and their permissions.",
)
@click.option(
    "--log",
    type=file_type,
    metavar="FILE",
    help="A file to which every request is appended, in JSON Lines.",
)
@options.verbose
@options.quiet
def serve(  # noqa: PLR0913 - one keyword for each option of the server
    *,
    host: str,
    port: int,
    data: Path | None,
    faults: Path | None,
    profile: Path | None,
    keys: Path | None,
    live: bool,
    quiet: bool,
    **others: Any,
) -> None:
    """Serve until stopped. The key is RECONCILER_API_KEY, else any that is not empty.

    docs/emulator.md describes the files for --faults, --profile and --keys.
    """
    del others["verbose"]
    from reconciler.emulator import (  # noqa: PLC0415 - brings the server
        Faults,
        Profile,
        UnreadableDataError,
        UnreadableSettingsError,
        create_app,
        load_settings,
    )
    from reconciler.emulator.serving import serve as serve_emulator  # noqa: PLC0415 - as above

    if data is not None:
        _begin_folder_of(data)
    try:
        app = create_app(
            data,
            api_key=key_in(os.environ) or None,
            keys=_read_keys(keys) if keys is not None else {},
            profile=load_settings(Profile, profile) if profile is not None else None,
            faults=load_settings(Faults, faults) if faults is not None else None,
            **others,
        )
        announce = (lambda _: None) if quiet else words
        serve_emulator(app, host, port, live=live, announce=announce)
    except (UnreadableDataError, UnreadableSettingsError) as error:
        raise InvalidInput(str(error)) from error
    except ValueError as error:
        raise UsageError(str(error)) from error
    except OSError as error:
        action = f"write {error.filename}" if error.filename else f"serve on {host}:{port}"
        raise UsageError(f"cannot {action}: {error.strerror or error}") from error


@emulator.command("tick")
@click.option(
    "--data",
    type=file_type,
    metavar="FILE",
    required=True,
    help="The SQLite file with the data of the emulator.",
)
@options.verbose
@options.quiet
def tick_once(*, data: Path, verbose: bool, quiet: bool) -> None:
    """Catch up with the time since the last tick: new events, incidents and cases."""
    del verbose
    from reconciler.emulator import (  # noqa: PLC0415 - brings the server
        UnreadableDataError,
        create_app,
        tick,
        utc_now,
    )

    if not os.path.isfile(data):  # noqa: PTH113 - never raises
        raise UsageError(f"there is no {data}")
    try:
        app = create_app(data)
        happened = tick(app.state.store, utc_now())
    except UnreadableDataError as error:
        raise InvalidInput(str(error)) from error
    app.state.store.close()
    if not quiet:
        words(
            f"events: {happened['events']}, incidents opened: {happened['incidents']}, "
            f"closed: {happened['closed']}, cases opened: {happened['cases']}"
        )


LARGEST_KEYS = 1 << 20


def _read_keys(file: Path) -> dict[str, frozenset[str]]:
    """Return the permissions of each key: `{"KEY": ["case:Read", …]}`.

    Raises InvalidInput, and never shows a key.
    """
    try:
        content = json.loads(regular_files.read(file, LARGEST_KEYS).decode("utf-8"))
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise InvalidInput(f"{file} is not JSON") from error
    # Without any key in the file, every key would be accepted.
    if (
        not isinstance(content, dict)
        or not content
        or not all(
            key.strip() and isinstance(names, list) and all(isinstance(name, str) for name in names)
            for key, names in content.items()
        )
    ):
        raise InvalidInput(f"{file} must hold an object of keys, each with a list of permissions")
    return {key: frozenset(permissions) for key, permissions in content.items()}


def _begin_folder_of(data: Path) -> None:
    from reconciler.journal.file_store import begin_folder  # noqa: PLC0415 - for this only

    try:
        begin_folder(data.parent)
    except OSError as error:
        raise InvalidInput(f"cannot keep data in {data}: {error.strerror}") from error
