"""Moving a journal to another place, or to another address of its service."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

import click

from reconciler.cli import options
from reconciler.cli.console import words
from reconciler.cli.journal.maintenance import run_entry
from reconciler.cli.lock_wait import lock_timeout
from reconciler.errors import InvalidInput, UsageError
from reconciler.journal.entries import RunEntry
from reconciler.journal.journal import Journal
from reconciler.journal.relocate import Became, JournalMove, readdress, stay
from reconciler.journal.relocate import move as carry
from reconciler.journal.store import LockTimeout
from reconciler.operations.open_project import Options, open_project, warn_of_lost_end
from reconciler.operations.open_session import Session, open_environment
from reconciler.project import (
    Embedded,
    Project,
    Target,
    journal_place_at,
    journal_setting,
    unsafe_base_url,
)
from reconciler.project.settings import InFile, InGit, InObjects, JournalPlace
from reconciler.report.safe import safe


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A checked move: its way, the present journal, and the settings to change afterwards."""

    session: Session
    here: Journal
    way: JournalMove
    run: RunEntry
    settings: tuple[str, ...]


@click.command
@click.option("--to", metavar="PLACE", help="Where to, as `journal:` of the project file says it.")
@click.option("--base-url", metavar="URL", help="Another address of the same service.")
@options.remembering
@lock_timeout
def move(*, to: str | None, base_url: str | None, options: Options, patience: LockTimeout) -> int:
    """Carry the journal to another PLACE, or along to another address of its service.

    Run it before you edit the project file. The old journal ends with a line that
    refuses every later use. Stopped half-way, one of the two counts, and the same
    command finishes. PLACE must hold no other journal; a path is relative to the
    project file. The service is not asked.
    """
    wanted = _wanted(to, base_url, options)
    here, way = wanted.here, wanted.way
    project = wanted.session.project
    if _place(project, way.to) != _place(project, way.origin):
        there = wanted.session.journal_at(way.to, way.target)
        became = carry(here, there, way, wanted.run, patience)
    elif base_url is not None:
        became = readdress(here, way.target, wanted.run, patience)
    else:
        became = stay(here, wanted.run, patience)
    if not options.quiet:
        words(safe(_reported(became, wanted)))
    return 0


def _wanted(to: str | None, base_url: str | None, options: Options) -> _Wanted:
    """Return the move after checking its options, before any write.

    Raises UsageError and InvalidInput.
    """
    if to is None and base_url is None:
        raise UsageError("say where to: --to PLACE, --base-url URL, or both")
    project = open_project(options)
    if to is not None and project.file is None:
        raise UsageError(
            "there is no project file with a `journal:` that could name another place: "
            "write a reconciler.yaml first"
        )
    session = open_environment(options, project)
    target, here = session.target, session.unread_journal()
    address = _address(base_url, target)
    here.read()
    warn_of_lost_end(here, options.reporter)
    header = here.header
    if base_url is not None and header is not None:
        if "://" not in header.target:
            raise UsageError(f"{here.place} is of the {header.target}, which has no address")
        if target.name == address and header.environment == session.name:
            # The project file has the new address already.
            here.target = header.target
    origin = journal_setting(project, session.name, session.environment)
    way = JournalMove(origin, to if to is not None else origin, address)
    settings = [f"journal: {way.to}"] if way.to != origin else []
    if way.target != target.name:
        settings.append(f"baseUrl: {way.target}")
    return _Wanted(session, here, way, run_entry(options, here, "move"), tuple(settings))


def _address(base_url: str | None, target: Target) -> str:
    """Return the target after the move. Raises UsageError and InvalidInput."""
    if base_url is None:
        return target.name
    if isinstance(target, Embedded):
        raise UsageError("the embedded emulator has no address, so its journal goes to none")
    address = base_url.strip().rstrip("/")
    if why := unsafe_base_url(address):
        raise InvalidInput(f"--base-url {why}")
    return address


def _place(project: Project, setting: str) -> JournalPlace:
    """Return a place in a form that can be compared. Raises UsageError for an invalid place."""
    try:
        place = journal_place_at(project, setting)
    except ValueError as error:
        raise UsageError(f"--to {error}") from error
    match place:
        case InFile(path=path):
            return InFile(path.resolve())
        case InGit() | InObjects():
            return place
        case other:
            assert_never(other)


def _reported(became: Became, wanted: _Wanted) -> str:
    way, subject = wanted.way, f"the journal of `{wanted.here.environment}`"
    match became:
        case Became.MOVED:
            message = f"{subject} went from {way.origin} to {way.to}"
            if way.to == way.origin:
                message = f"{subject} at {way.to} is that of {way.target} now"
        case Became.FINISHED:
            message = f"{subject} is at {way.to}: an earlier move is finished"
        case Became.ALREADY:
            message = f"{subject} is at {way.to} already, for {way.target}"
        case _:
            assert_never(became)
    settings = " and ".join(f"`{setting}`" for setting in wanted.settings)
    return f"{message}; write {settings} in the project file" if settings else message
