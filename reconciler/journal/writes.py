"""The writes of a journal by resource, and the state before a run, through all renames.

Pure.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias, TypeVar

from reconciler.document import Json
from reconciler.errors import JournalError, UsageError
from reconciler.journal import entries as journaled
from reconciler.journal.history import History, RunSummary, last_backups, runs_of
from reconciler.journal.journal import Journal
from reconciler.model import NO_SERVER_INFO, Ref, RemoteId, ServerInfo
from reconciler.model.quoting import listed
from reconciler.runtime.advice import on_journal


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """One write that the service acknowledged; `run` is "" where compacting dropped it.

    `declared` is None where it is unknown. `changed` means that the service changed something, as
    far as it said. `told` is what else it returned. `undone` means that the write was reverted in
    the same run because of its samples, or that it reverted another write. `seen` means that
    nothing was sent, because the resource was imported or adopted.
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


def writes_of(entries: Sequence[journaled.Entry]) -> Writes:
    """Return all known writes.

    Of a compacted journal only the last write of each resource is known. Writes of a forgotten
    resource are left out. An import is no write.
    """
    known = declared_in(entries).items()
    found = {ref: [write for write in several if not write.seen] for ref, several in known}
    return {ref: several for ref, several in found.items() if several}


def declared_in(entries: Sequence[journaled.Entry]) -> Writes:
    """Return all known writes, and between them the imports and adoptions."""
    found: Writes = {}
    sent: dict[Ref, dict[str, Json]] = {}
    for entry in entries:
        match entry:
            case journaled.Started(ref=ref):
                sent[ref] = entry.declared
            case journaled.WrittenEntry(ref=ref):
                write = Write(
                    at=entry.at,
                    run=entry.run,
                    declared=sent.pop(ref, None),
                    changed=not (entry.adopted or entry.unchanged),
                    told=entry.told,
                    undone=entry.put_back,
                )
                _add(found.setdefault(ref, []), write)
            case journaled.Compacted(ref=ref):
                found[ref] = _kept(entry)
            case journaled.Renamed(ref=ref, was=was) if was != ref:
                _move(found, was, ref)
                _move(sent, was, ref)
            case journaled.Forgotten(ref=ref) | journaled.Settled(ref=ref, remote_id=None):
                found.pop(ref, None)
                sent.pop(ref, None)
            case journaled.ImportedEntry(ref=ref):
                sent.pop(ref, None)
                found.setdefault(ref, []).append(_seen(entry.at, entry.declared))
            case _:
                pass
    return found


def _add(known: list[Write], write: Write) -> None:
    """Add a write to those before it; a write that put something back undoes the one before."""
    if write.undone and known and known[-1].run == write.run:
        known[-1] = replace(known[-1], undone=True)
    known.append(write)


def _kept(entry: journaled.Compacted) -> list[Write]:
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


def verdicts_of(entries: Sequence[journaled.Entry]) -> dict[tuple[str, Ref], list[NoiseFinding]]:
    """Return the findings about the noise of alerts since a run, by run and present alert name."""
    found: dict[tuple[str, Ref], list[NoiseFinding]] = {}
    for entry in entries:
        match entry:
            case journaled.WatchedEntry():
                for alert in entry.found:
                    finding = NoiseFinding(until=entry.until, verdict=alert.verdict)
                    found.setdefault((entry.run, alert.ref), []).append(finding)
            case journaled.Renamed(ref=ref, was=was) if was != ref:
                found = {
                    (run, ref if of == was else of): findings
                    for (run, of), findings in found.items()
                }
            case _:
                pass
    return found


LAST = "last"
"""The name of the last run that wrote something."""

MOST_NAMED = 5

_HEADER_LINES = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Before:
    """One resource that a run wrote, and what was known about it when the run began.

    `ref` is its current name. `last` is the last write that the service had acknowledged by then,
    None where there was none, and `line` is its line in the journal, from 1. `created` means that
    the run created it. `adopted` means that the run sent nothing and only recorded that live was as
    declared. `later` are the runs that wrote it after this run. `compacted` means that the earlier
    declaration is unknown. `backup` is what was live right before the run replaced it.
    """

    ref: Ref
    last: journaled.LastWrite | None = None
    line: int = 1
    created: bool = False
    adopted: bool = False
    later: tuple[str, ...] = ()
    compacted: bool = False
    backup: journaled.Backup | None = None

    @property
    def live(self) -> dict[str, Json] | None:
        """The document that was live right before the run, None where it is not kept."""
        return self.backup.live if self.backup is not None else None


@dataclass(slots=True)
class _Trace:
    """A resource through the renames since a run began; `origin` is its name before that."""

    origin: Ref | None
    written: bool = False
    created: bool = False
    adopted: bool = False
    later: list[str] = field(default_factory=list)


def runs_named(entries: Sequence[journaled.Entry], name: str) -> list[RunSummary]:
    """Return the runs with an id that begins with a text; for `last` the last run that wrote."""
    runs = runs_of(entries)
    if name == LAST:
        writing = [run for run in runs if run.count("written") or run.count("unanswered")]
        return writing[-1:]
    whole = [run for run in runs if run.entry.run == name]
    return whole or [run for run in runs if run.entry.run.startswith(name)]


def chosen_run(journal: Journal, name: str) -> RunSummary:
    """Return the only run that a name means. Raises UsageError for none, and for several."""
    if journal.why_missing:
        raise JournalError(journal.why_missing)
    found = runs_named(journal.entries, name)
    look = f"`{on_journal('history')}` lists the runs"
    if not found and name == LAST:
        raise UsageError(f"no run in the journal has written anything: {look}")
    if not found or not name:
        raise UsageError(f"there is no run `{name}` in the journal: {look}")
    if len(found) > 1:
        ids = listed([run.entry.run for run in found], MOST_NAMED)
        raise UsageError(f"several runs begin with `{name}`: {ids}; give more of the id")
    return found[0]


def is_apply(run: RunSummary) -> bool:
    """Return whether a run applied the manifests of its commit; an old run has no command."""
    return run.entry.command in ("", "apply")


def commit_before(entries: Sequence[journaled.Entry], run: RunSummary) -> str:
    """Return the commit of the last apply before a run; "" where none is known."""
    earlier = [
        apply for apply in runs_of(entries[: run.begins]) if is_apply(apply) and apply.entry.commit
    ]
    return earlier[-1].entry.commit if earlier else ""


def is_compacted(entries: Sequence[journaled.Entry], run: RunSummary) -> bool:
    """Return whether compacting has dropped what a run did, and everything before it."""
    return any(isinstance(entry, journaled.Compacted) for entry in entries[run.begins :])


def before_run(entries: Sequence[journaled.Entry], run: RunSummary) -> list[Before]:
    """Return the state before a run of each resource that it wrote.

    Refused writes are left out, as they changed nothing. So are resources that were forgotten
    since. Of a compacted run only the resources with a backup are known.
    """
    backups = last_backups(entries, run.entry.run)
    if is_compacted(entries, run):
        kept = sorted(backups.items())
        return [Before(ref=ref, compacted=True, backup=backup) for ref, backup in kept]
    history = History()
    history.add(entries[: run.begins])
    lines = _lines_of_writes(entries[: run.begins])
    found = []
    for ref, trace in sorted(_traces(entries, run).items()):
        if trace.written:
            origin = Ref("", "") if trace.origin is None else trace.origin
            last = history.of(origin).last
            found.append(
                Before(
                    ref=ref,
                    last=last,
                    line=lines.get(origin, 1),
                    created=trace.created and last is None,
                    adopted=trace.adopted,
                    later=tuple(dict.fromkeys(trace.later)),
                    backup=backups.get(ref),
                )
            )
    return found


def ids_since(entries: Sequence[journaled.Entry], run: RunSummary) -> dict[RemoteId, RemoteId]:
    """Map former ids to present ids of the resources that were created again since a run began."""
    then, now = History(), History()
    then.add(entries[: run.begins])
    now.add(entries)
    found = {}
    for ref, trace in _traces(entries, run).items():
        old = then.of(trace.origin).remote_id if trace.origin is not None else None
        new = now.of(ref).remote_id
        if old is not None and new is not None and old != new:
            found[old] = new
    return found


def _traces(entries: Sequence[journaled.Entry], run: RunSummary) -> dict[Ref, _Trace]:
    """Follow all names from the beginning of a run to the end of the journal."""
    names: dict[Ref, _Trace] = {}
    for at, entry in enumerate(entries[run.begins :], run.begins):
        match entry:
            case journaled.Renamed(ref=ref, was=was):
                names[ref] = names.setdefault(was, _Trace(was))
                # What has this name from here on is another resource.
                names[was] = _Trace(None)
            case journaled.Forgotten(ref=ref) | journaled.Settled(ref=ref, remote_id=None):
                names[ref] = _Trace(None)
            case (
                journaled.Started(ref=ref)
                | journaled.WrittenEntry(ref=ref)
                | journaled.RefusedEntry(ref=ref)
            ):
                trace = names.setdefault(ref, _Trace(ref))
                if at < run.ends:
                    _take(trace, entry)
                elif isinstance(entry, journaled.Started):
                    trace.later.append(entry.run)
            case _:
                pass
    return names


def _take(
    trace: _Trace, entry: journaled.Started | journaled.WrittenEntry | journaled.RefusedEntry
) -> None:
    match entry:
        case journaled.Started(operation=operation):
            trace.written, trace.created = True, operation == "create"
        case journaled.WrittenEntry(adopted=adopted):
            trace.adopted = adopted
        case journaled.RefusedEntry():
            trace.written = False


def _lines_of_writes(entries: Sequence[journaled.Entry]) -> dict[Ref, int]:
    """Map each resource to the line that has the declaration of its last acknowledged write."""
    sent: dict[Ref, int] = {}
    found: dict[Ref, int] = {}
    for line, entry in enumerate(entries, 1 + _HEADER_LINES):
        match entry:
            case journaled.Started(ref=ref):
                sent[ref] = line
            case journaled.WrittenEntry(ref=ref) if ref in sent:
                found[ref] = sent[ref]
            case journaled.Compacted(ref=ref):
                found[ref] = line
            case journaled.Renamed(ref=ref, was=was):
                for places in (sent, found):
                    if was in places:
                        places[ref] = places.pop(was)
            case _:
                pass
    return found
