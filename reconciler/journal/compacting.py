"""A journal made short: what its memories need, and who ran what. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from reconciler.journal.entries import Arrived, Entry, Kept, RunEntry
from reconciler.journal.history import History, Memory
from reconciler.journal.runs import runs_of
from reconciler.resource import Ref


def compacted(entries: Sequence[Entry], at: str) -> list[Entry]:
    """Give fewer entries that add up to the same.

    Kept are where it came from, the runs with the counts of their outcomes and
    their overrides, and of each resource the writes in doubt and one entry for all
    the rest.
    """
    history = History()
    history.add(entries)
    kept: list[Entry] = [entry for entry in entries if isinstance(entry, Arrived)]
    kept.extend(_runs(entries))
    for ref, memory in sorted(history.memories.items()):
        kept.extend(_resource(ref, memory, at))
    return kept


def _runs(entries: Sequence[Entry]) -> Iterator[Entry]:
    for run in runs_of(entries):
        yield RunEntry(run.run, run.at, run.actor, run.commit, run.digest, run.command, run.counts)
        yield from run.overrides


def _resource(ref: Ref, memory: Memory, at: str) -> Iterator[Entry]:
    yield from memory.earlier
    if memory.pending is not None:
        yield memory.pending
    kept = Kept(
        at,
        ref,
        memory.remote_id,
        memory.exists,
        memory.attempts,
        memory.protected,
        instead_of=memory.instead_of,
    )
    last = memory.last
    if last is not None:
        kept = replace(
            kept,
            declared=last.declared,
            written_as=last.remote_id,
            written_at=last.at,
            rewritten=last.rewritten,
            revision=last.revision,
        )
    yield kept
