"""Moving a journal to another place, or with its service to another address.

A move can be stopped between any two writes: at every moment exactly one journal counts (see
`check_place`), and repeating the move finishes it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from reconciler.errors import InvalidInput
from reconciler.journal.content import Content, check_place, content_at, has_left
from reconciler.journal.entries import Header, Moved, MovedIn, RunEntry
from reconciler.journal.journal import Journal
from reconciler.journal.store import LockTimeout


class Became(Enum):
    """The result of a move."""

    MOVED = "moved"
    FINISHED = "finished"
    ALREADY = "already"


@dataclass(frozen=True, slots=True)
class JournalMove:
    """Origin and destination, as the project file writes them, and the target after the move."""

    origin: str
    to: str
    target: str


def move(
    here: Journal, there: Journal, way: JournalMove, run: RunEntry, patience: LockTimeout
) -> Became:
    """Copy all entries to another store, and end this journal with a line that it moved.

    Raises Locked, JournalError, and InvalidInput where there is no journal here, or another journal
    there.
    """
    # A place that holds something else gets no lock file.
    there.read()
    with (
        here.locked(run.run, patience, as_it_is=True),
        there.locked(run.run, patience, as_it_is=True),
    ):
        header = _header(here)
        match here.entries[-1:]:
            case [Moved(run=left)]:
                return _finished(here, there, left, run)
            case _:
                here.check()
        if not _gives_way(there.content, here.content):
            raise InvalidInput(
                f"there is a journal of its own at {there.place} already: name a place where "
                "there is none, or take that one away first"
            )
        arrived = MovedIn(at=here.now(), run=run.run, origin=way.origin)
        there.replace(_at(header, way.target, here), [*here.entries, arrived])
        here.append([Moved(at=here.now(), run=run.run, to=way.to)])
        there.append([run])
        return Became.MOVED


def _finished(here: Journal, there: Journal, left: str, run: RunEntry) -> Became:
    """Finish a move that already has its last line here."""
    arrived = [entry for entry in there.entries if isinstance(entry, MovedIn) and entry.run == left]
    if not arrived:
        here.check()
    if there.entries[-1:] != arrived:
        return Became.ALREADY
    there.append([run])
    return Became.FINISHED


def stay(here: Journal, run: RunEntry, patience: LockTimeout) -> Became:
    """Activate a copy at its place, where its origin no longer exists.

    Raises InvalidInput where the journal at its origin is in use.
    """
    with here.locked(run.run, patience, as_it_is=True):
        _header(here)
        match here.entries[-1:]:
            case [MovedIn(origin=origin) as arrived]:
                left = content_at(origin, here.look)
                if left.header is not None and not has_left(left, arrived):
                    here.check()
                here.append([run])
                return Became.FINISHED
            case _:
                here.check()
                return Became.ALREADY


def readdress(here: Journal, target: str, run: RunEntry, patience: LockTimeout) -> Became:
    """Write into the journal that its target has another address, in one write."""
    with here.locked(run.run, patience, as_it_is=True):
        header = _header(here)
        check_place(here.content, here.place, here.environment, here.look)
        if (header.environment, header.target) == (here.environment, target):
            return Became.ALREADY
        here.check()
        here.replace(_at(header, target, here), [*here.entries, run])
        return Became.MOVED


def _header(journal: Journal) -> Header:
    if journal.header is None:
        raise InvalidInput(f"there is no journal at {journal.place}")
    return journal.header


def _at(header: Header, target: str, journal: Journal) -> Header:
    """Return the header after a move; seals of secrets stay valid."""
    sealed_for = header.sealed_for or header.target
    return replace(
        header,
        target=target,
        continues=journal.content.end,
        sealed_for="" if sealed_for == target else sealed_for,
    )


def _gives_way(there: Content, here: Content) -> bool:
    """Return whether a journal may replace what is there without any loss.

    That is: nothing at all; the same lines; the copy of an unfinished move from here; or the
    journal that this one was moved from.
    """
    if there.header is None:
        return True
    match there.entries[-1:]:
        case [MovedIn()]:
            return here.had(there.header.continues)
        case [Moved(run=run)]:
            return any(isinstance(entry, MovedIn) and entry.run == run for entry in here.entries)
        case _:
            return there.sums == here.sums
