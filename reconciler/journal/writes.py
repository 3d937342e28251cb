"""The writes of a journal by resource: what was declared when, through all renames.

Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

from reconciler.document import Json
from reconciler.journal.entries import (
    Compacted,
    Entry,
    Forgotten,
    ImportedEntry,
    Renamed,
    Settled,
    Started,
    WatchedEntry,
    WrittenEntry,
)
from reconciler.model import NO_SERVER_INFO, Ref, ServerInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """One write that the service acknowledged; `run` is "" where compacting dropped it.

    `declared` is None where it is unknown. `changed` means that the service changed something, as
    far as it said. `told` is what else it returned. `undone` means that the write was put back in
    the same run because of its samples, or is the write that put it back. `seen` means that nothing
    was sent: it was imported or adopted.
    """

    at: str
    run: str
    declared: dict[str, Json] | None
    changed: bool
    told: ServerInfo = NO_SERVER_INFO
    undone: bool = False
    seen: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseFinding:
    """A verdict on an alert, from a look at the time up to `until`."""

    until: str
    verdict: str


_Known = TypeVar("_Known")

Writes: TypeAlias = dict[Ref, list[Write]]
"""The writes of each resource by its current name, the oldest first."""


def writes_of(entries: Sequence[Entry]) -> Writes:
    """Return all known writes.

    Of a compacted journal only the last write of each resource is known. Writes of a forgotten
    resource are left out. An import is no write.
    """
    known = declared_in(entries).items()
    found = {ref: [write for write in several if not write.seen] for ref, several in known}
    return {ref: several for ref, several in found.items() if several}


def declared_in(entries: Sequence[Entry]) -> Writes:
    """Return all known writes, and between them the imports and adoptions."""
    found: Writes = {}
    sent: dict[Ref, dict[str, Json]] = {}
    for entry in entries:
        match entry:
            case Started(ref=ref):
                sent[ref] = entry.declared
            case WrittenEntry(ref=ref):
                _add(found.setdefault(ref, []), _write(entry, sent.pop(ref, None)))
            case Compacted(ref=ref):
                found[ref] = _kept(entry)
            case Renamed(ref=ref, was=was) if was != ref:
                _move(found, was, ref)
                _move(sent, was, ref)
            case Forgotten(ref=ref) | Settled(ref=ref, remote_id=None):
                found.pop(ref, None)
                sent.pop(ref, None)
            case ImportedEntry(ref=ref):
                sent.pop(ref, None)
                found.setdefault(ref, []).append(_seen(entry.at, entry.declared))
            case _:
                pass
    return found


def _write(entry: WrittenEntry, declared: dict[str, Json] | None) -> Write:
    changed = not (entry.adopted or entry.unchanged)
    return Write(
        at=entry.at,
        run=entry.run,
        declared=declared,
        changed=changed,
        told=entry.told,
        undone=entry.put_back,
    )


def _add(known: list[Write], write: Write) -> None:
    """Add a write to those before it; a write that put something back undoes the one before."""
    if write.undone and known and known[-1].run == write.run:
        known[-1] = replace(known[-1], undone=True)
    known.append(write)


def _kept(entry: Compacted) -> list[Write]:
    last = entry.last
    if last is None:
        return []
    if last.origin:
        return [_seen(last.at, last.declared)]
    return [Write(at=last.at, run="", declared=last.declared, changed=True)]


def _seen(at: str, declared: dict[str, Json]) -> Write:
    return Write(at=at, run="", declared=declared, changed=False, seen=True)


def _move(places: dict[Ref, _Known], was: Ref, ref: Ref) -> None:
    places.pop(ref, None)
    if was in places:
        places[ref] = places.pop(was)


def verdicts_of(entries: Sequence[Entry]) -> dict[tuple[str, Ref], list[NoiseFinding]]:
    """Return what was found about the noise of each alert since a run, by its current name."""
    found: dict[tuple[str, Ref], list[NoiseFinding]] = {}
    for entry in entries:
        match entry:
            case WatchedEntry():
                for alert in entry.found:
                    finding = NoiseFinding(until=entry.until, verdict=alert.verdict)
                    found.setdefault((entry.run, alert.ref), []).append(finding)
            case Renamed(ref=ref, was=was) if was != ref:
                found = {
                    (run, ref if of == was else of): findings
                    for (run, of), findings in found.items()
                }
            case _:
                pass
    return found
