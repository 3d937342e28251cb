"""The runs of a journal (who applied what, when, from which commit), and compacting.

Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from reconciler.journal.entries import (
    AboutRuns,
    AboutWrites,
    Backup,
    Compacted,
    Drifted,
    Entry,
    Forgotten,
    IdentifiedEntry,
    ImportedEntry,
    Looked,
    Moved,
    MovedIn,
    OverrideEntry,
    RefusedEntry,
    Renamed,
    RunEntry,
    Settled,
    Started,
    Stored,
    Unfrozen,
    WatchedEntry,
    WrittenEntry,
)
from reconciler.journal.history import History, JournalSeals, Memory, Sealed, seals_in
from reconciler.journal.line_fields import KnownSeal
from reconciler.model import Ref
from reconciler.model.quoting import listed

OUTCOMES = (
    "written",
    "adopted",
    "imported",
    "put-back",
    "refused",
    "settled",
    "renamed",
    "forgotten",
    "unanswered",
)
"""The outcomes of a resource in a run, in the order of the counts."""


@dataclass(slots=True, kw_only=True)
class RunSummary:
    """One run, and its `entry`; one from before runs had names has no actor and no commit.

    Its entries are those from `begins` up to `ends`, counted from 0.
    """

    entry: RunEntry
    overrides: list[OverrideEntry] = field(default_factory=list)
    unfrozen: list[Unfrozen] = field(default_factory=list)
    outcomes: dict[Ref, str] = field(default_factory=dict)
    begins: int = 0
    ends: int = 0

    def count(self, outcome: str) -> int:
        """Return the number of resources with an outcome, including those that were compacted."""
        return self.entry.outcomes.get(outcome, 0) + list(self.outcomes.values()).count(outcome)

    @property
    def counts(self) -> dict[str, int]:
        """The counts of all outcomes that occur."""
        return {name: number for name in OUTCOMES if (number := self.count(name))}


_UNNAMED = RunEntry(run="", at="", actor="", commit="", digest="", command="")


def runs_of(entries: Sequence[Entry]) -> list[RunSummary]:
    """Return the runs in the order of the journal.

    A lock keeps runs apart, so everything after a run's own entry belongs to that run. The entries
    that compacting kept for memories are already in the counts of the runs.
    """
    folded = max(
        (at for at, entry in enumerate(entries) if isinstance(entry, Compacted)), default=-1
    )
    runs: list[RunSummary] = []
    for at, entry in enumerate(entries):
        if isinstance(entry, RunEntry):
            runs.append(RunSummary(entry=entry, begins=at))
        elif isinstance(entry, Backup | Looked | Moved | MovedIn):
            continue
        elif isinstance(entry, OverrideEntry | Unfrozen) or at > folded:
            own = _run_of(entry)
            if not runs or own not in (None, runs[-1].entry.run):
                unnamed = replace(_UNNAMED, run=own or "", at=entry.at)
                runs.append(RunSummary(entry=unnamed, begins=at))
            _take(runs[-1], entry)
        if runs:
            runs[-1].ends = at + 1
    return runs


def _run_of(entry: AboutWrites | AboutRuns) -> str | None:
    """Return the run that an entry names; None where it belongs to the run before it."""
    match entry:
        case OverrideEntry() | Unfrozen() | Settled() | Compacted() | Forgotten():
            return None
        case Renamed(run=""):
            return None
        case _:
            return entry.run


def _take(run: RunSummary, entry: AboutWrites | AboutRuns) -> None:
    match entry:
        case OverrideEntry():
            run.overrides.append(entry)
        case Unfrozen():
            run.unfrozen.append(entry)
        case Stored() | Compacted() | RunEntry():
            pass
        case WrittenEntry(adopted=True) | ImportedEntry(adopted=True):
            run.outcomes[entry.ref] = "adopted"
        case WrittenEntry(put_back=True):
            run.outcomes[entry.ref] = "put-back"
        case _:
            run.outcomes[entry.ref] = _BECAME[type(entry)]


_BECAME: dict[type[Entry], str] = {
    Started: "unanswered",
    IdentifiedEntry: "unanswered",
    WrittenEntry: "written",
    ImportedEntry: "imported",
    RefusedEntry: "refused",
    Settled: "settled",
    Renamed: "renamed",
    Forgotten: "forgotten",
}


def words_of(entries: Sequence[Entry]) -> str:
    """Return one line about an append, for people who read a store's own history."""
    return "; ".join((*_reported(entries), *_listed(entries))) or "journal"


def _reported(entries: Sequence[Entry]) -> Iterator[str]:
    for entry in entries:
        match entry:
            case RunEntry():
                yield f"{entry.command} by {entry.actor}".strip()
            case OverrideEntry() | Unfrozen() | Drifted() | WatchedEntry():
                yield _DID[type(entry)]
            case Moved():
                yield f"moved to {entry.to}"
            case MovedIn():
                yield f"arrived from {entry.origin}"
            case Renamed():
                yield f"renamed {entry.was} to {entry.ref}"
            case _:
                pass


_DID: dict[type[Entry], str] = {
    OverrideEntry: "guard overridden",
    Unfrozen: "freeze broken",
    Drifted: "looked for drift",
    WatchedEntry: "looked for noise",
}


def _listed(entries: Sequence[Entry]) -> Iterator[str]:
    for kind, verb in _VERBS.items():
        refs = [str(entry.ref) for entry in entries if isinstance(entry, kind)]
        if refs:
            yield f"{verb} {listed(refs, _SHOWN)}"


_VERBS: dict[type[AboutWrites | Forgotten], str] = {
    Started: "started",
    IdentifiedEntry: "identified",
    WrittenEntry: "written",
    Stored: "stored otherwise",
    ImportedEntry: "imported",
    RefusedEntry: "refused",
    Settled: "settled",
    Compacted: "kept",
    Forgotten: "forgotten",
}
_SHOWN = 5


def compacted(entries: Sequence[Entry], at: str) -> list[Entry]:
    """Return fewer entries with the same meaning.

    Kept are: the origin of a move; the runs with the counts of their outcomes, overrides and broken
    freezes; verdicts on noise; for each resource its last backup, the writes in doubt and one entry
    for the rest, with seals of its older secrets; and the drift at the last look.
    """
    history = History()
    history.add(entries)
    kept: list[Entry] = [entry for entry in entries if isinstance(entry, MovedIn)]
    kept.extend(_runs(entries))
    kept.extend(entry for entry in entries if isinstance(entry, WatchedEntry))
    kept.extend(last_backups(entries).values())
    seals = JournalSeals()
    seals.add(entries)
    for ref, memory in sorted(history.memories.items()):
        older = seals.of(ref, memory.remote_id) - seals_in(memory.candidates)
        kept.extend(resource_entries(ref, memory, at, older))
    if history.looked is not None:
        drifts = tuple(drift for _, drift in sorted(history.drifts.items()))
        kept.append(Drifted(at=history.looked, found=drifts))
    return kept


def last_backups(entries: Iterable[Entry], run: str = "") -> dict[Ref, Backup]:
    """Return the last backup of each resource by its current name; with `run`, of that run only."""
    last: dict[Ref, Backup] = {}
    for entry in entries:
        match entry:
            case Backup(ref=ref) if run in ("", entry.run):
                last[ref] = entry
            case Renamed(ref=ref, was=was):
                last.pop(ref, None)
                if was in last:
                    last[ref] = replace(last.pop(was), ref=ref)
            case Forgotten(ref=ref):
                last.pop(ref, None)
            case _:
                pass
    return last


def _runs(entries: Sequence[Entry]) -> Iterator[Entry]:
    for run in runs_of(entries):
        yield replace(run.entry, outcomes=run.counts)
        yield from run.overrides
        yield from run.unfrozen


def resource_entries(
    ref: Ref, memory: Memory, at: str, older: Sealed = frozenset()
) -> Iterator[Entry]:
    """Yield the entries of a memory: the writes in doubt, then one entry for the rest."""
    yield from memory.doubted
    yield Compacted(
        at=at,
        ref=ref,
        remote_id=memory.remote_id,
        exists=memory.exists,
        attempts=memory.attempts,
        protect=memory.protected,
        instead_of=memory.instead_of,
        last=memory.last,
        versions=memory.versions,
        seals=tuple(KnownSeal(name=name, seal=seal) for name, seal in sorted(older)),
        taken_back=memory.taken_back,
    )
