"""The writes of a journal, resource by resource: what was declared when, through all renames.

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
from reconciler.model import NOTHING_TOLD, Ref, ServerInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """One write that the service acknowledged; `run` is "" where compacting dropped it.

    `declared` is None where nobody knows it. `changed` says that the service changed something,
    as far as it told, and `told` is what else it said. `undone` says that it was put back in the
    same run, as its samples came out otherwise, or is what put it back. `seen` says that nothing
    was sent: it was imported or adopted.
    """

    at: str
    run: str
    declared: dict[str, Json] | None
    changed: bool
    told: ServerInfo = NOTHING_TOLD
    undone: bool = False
    seen: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseFinding:
    """A verdict on an alert, from a look at the time up to `until`."""

    until: str
    verdict: str


_Known = TypeVar("_Known")

Writes: TypeAlias = dict[Ref, list[Write]]
"""The writes of each resource by its name by now, the oldest first."""


def writes_of(entries: Sequence[Entry]) -> Writes:
    """Give all writes that are known.

    Of a compacted journal only the last one before that is known of each resource. What was
    forgotten is no concern of the journal any more. An import is no write.
    """
    known = declared_in(entries).items()
    found = {ref: [write for write in several if not write.seen] for ref, several in known}
    return {ref: several for ref, several in found.items() if several}


def declared_in(entries: Sequence[Entry]) -> Writes:
    """Give all writes that are known, and between them what was imported or adopted."""
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
    """Add a write to those before it; one that put something back undid the one before."""
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
    """Give what was found of the noise of each alert since a run, by its name by now."""
    found: dict[tuple[str, Ref], list[NoiseFinding]] = {}
    for entry in entries:
        match entry:
            case WatchedEntry():
                for seen_verdict in entry.found:
                    told = NoiseFinding(until=entry.until, verdict=seen_verdict.verdict)
                    found.setdefault((entry.run, seen_verdict.ref), []).append(told)
            case Renamed(ref=ref, was=was) if was != ref:
                found = {(run, ref if of == was else of): told for (run, of), told in found.items()}
            case _:
                pass
    return found
