"""The entries and the runs of a journal, for a terminal and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, NotRequired, TypeAlias, assert_never, cast

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from reconciler.journal.entries import (
    ENTRY_NAMES,
    AboutWrites,
    Backup,
    Compacted,
    Drifted,
    Entry,
    Forgotten,
    IdentifiedEntry,
    ImportedEntry,
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
from reconciler.journal.history import History
from reconciler.journal.lines import entry_document
from reconciler.journal.runs import RunSummary
from reconciler.model import Ref
from reconciler.report.reasons import SHORT_RUN
from reconciler.report.safe import safe
from reconciler.report.table import Colour, Heading, Style, fits, table, wrapped
from reconciler.report.words import plural

SHORT_COMMIT = 12


@with_config(ConfigDict(extra="forbid"))
class JournalFindingDocument(TypedDict):
    """Something to know of a journal, and what to do about it."""

    finding: str
    message: str
    wayOut: str


@with_config(ConfigDict(extra="forbid"))
class VerifiedDocument(TypedDict):
    """What `journal verify --format json` prints."""

    place: str
    environment: str
    target: str
    entries: int
    findings: list[JournalFindingDocument]


@with_config(ConfigDict(extra="forbid"))
class RunDocument(TypedDict):
    """One run: who applied what, when, from which commit."""

    run: str
    at: str
    actor: str
    command: str
    commit: str
    digest: Annotated[str, Field(description="Of the plan.")]
    outcomes: Annotated[dict[str, int], Field(description="How many ended in which way.")]
    overrides: Annotated[list[str], Field(description="Reasons of --override-guard.")]
    unfrozen: Annotated[list[str], Field(description="Reasons of --break-glass.")]
    outcome: NotRequired[
        Annotated[str, Field(description="Of the one resource that was asked for.")]
    ]


HistoryDocument: TypeAlias = Annotated[
    list[RunDocument],
    Field(description="What `journal history --format json` prints, oldest first."),
]


@with_config(ConfigDict(extra="allow"))
class EntryDocument(TypedDict):
    """One entry; docs/journal.md tells the fields of each."""

    entry: Annotated[str, Field(json_schema_extra={"enum": [*ENTRY_NAMES]})]
    at: str


EntriesDocument: TypeAlias = Annotated[
    list[EntryDocument],
    Field(description="What `journal show --format json` prints, oldest first."),
]


def history_document(runs: Sequence[RunSummary], wanted: Ref | None) -> HistoryDocument:
    """Give the JSON form of runs; with `wanted`, what became of that resource in each."""
    return [_run_document(run, wanted) for run in runs]


def _run_document(run: RunSummary, wanted: Ref | None) -> RunDocument:
    document: RunDocument = {
        "run": run.run,
        "at": run.at,
        "actor": run.actor,
        "command": run.command,
        "commit": run.commit,
        "digest": run.digest,
        "outcomes": run.counts,
        "overrides": [override.reason for override in run.overrides],
        "unfrozen": [unfrozen.reason for unfrozen in run.unfrozen],
    }
    if wanted is not None:
        document["outcome"] = run.outcomes[wanted]
    return document


def entries_document(entries: Sequence[Entry]) -> EntriesDocument:
    """Give the JSON form of entries, which is that of the journal's own lines."""
    return cast("EntriesDocument", [entry_document(entry) for entry in entries])


def journal_text(entries: Sequence[Entry], history: History, style: Style) -> str:
    """Give a line for each entry, and the unsettled creates at the end."""
    lines = [f"{entry.at}  {safe(_words(entry))}" for entry in entries]
    for ref, started in history.unsettled().items():
        said = f"unsettled since {started.at}: {ref}"
        lines.append(style.paint(safe(said), Colour.RED))
    lines.append(style.paint(f"{plural(len(entries), 'line')}.", Colour.DIM))
    return "\n".join(lines) + "\n"


def history_text(runs: Sequence[RunSummary], wanted: Ref | None, style: Style) -> str:
    """Give a line for each run, and the reasons of those that lifted a guard.

    With `wanted`, what became of that resource stands in place of the counts. Where a terminal
    is too narrow for all of it, what became of a run stands below the run.
    """
    headings = [Heading("run", whole=True), Heading("at", whole=True)]
    headings += [Heading("command", whole=True), Heading("actor")]
    headings += [Heading("commit", whole=True), Heading("outcome")]
    rows = [
        [
            run.run[:SHORT_RUN],
            run.at,
            run.command or "apply",
            run.actor or "unknown",
            _commit(run),
            _became(run, wanted),
        ]
        for run in runs
    ]
    closing = f"{plural(len(runs), 'run')}.\n"
    if fits(headings, rows, style):
        return table(headings, rows, style) + closing
    head, *lines = table(headings[1:-1], [row[1:-1] for row in rows], style).splitlines()
    below = ([*wrapped(row[-1], style, margin="  "), f"  run {row[0]}"] for row in rows)
    told = (line for first, rest in zip(lines, below, strict=True) for line in (first, *rest))
    return "".join(f"{line}\n" for line in (head, *told)) + closing


def _commit(run: RunSummary) -> str:
    commit, dash, dirty = run.commit.partition("-")
    return commit[:SHORT_COMMIT] + dash + dirty


def _became(run: RunSummary, wanted: Ref | None) -> str:
    told = [f"{number} {name}" for name, number in run.counts.items()]
    if wanted is not None:
        told = [run.outcomes[wanted]]
    told += [f"guard overridden: {override.reason}" for override in run.overrides]
    told += [f"freeze broken: {unfrozen.reason}" for unfrozen in run.unfrozen]
    return ", ".join(told) or "nothing"


def _words(entry: Entry) -> str:  # noqa: C901 - one case an entry
    match entry:
        case OverrideEntry(reason=reason, codes=codes):
            said = f"{reason} [{', '.join(codes)}]" if codes else reason
        case Unfrozen(reason=reason, frozen=frozen):
            said = f"{reason} ({frozen})"
        case RunEntry():
            commit = f" from {entry.commit}" if entry.commit else ""
            said = f"{entry.command} by {entry.actor}{commit}"
        case Moved():
            said = f"to {entry.to}"
        case MovedIn():
            said = f"from {entry.origin}"
        case Drifted() | WatchedEntry():
            said = _looked(entry)
        case Renamed():
            said = f"{entry.ref}, which was {entry.was}"
        case Forgotten():
            said = str(entry.ref)
        case _:
            said = f"{entry.ref}{_particulars(entry)}"
    return f"{entry.entry:10}  {said}"


def _looked(entry: Drifted | WatchedEntry) -> str:
    if isinstance(entry, WatchedEntry):
        verdicts = ", ".join(
            f"{seen_verdict.ref} {seen_verdict.verdict}" for seen_verdict in entry.found
        )
        return f"run {entry.run[:SHORT_RUN]}: {verdicts or 'no alerts'}"
    new = ", ".join(str(seen_drift.ref) for seen_drift in entry.found)
    over = ", ".join(map(str, entry.over))
    told = (f"{word} {refs}" for word, refs in (("new:", new), ("over:", over)) if refs)
    return "; ".join(told) or "nothing new"


def _particulars(entry: AboutWrites | Backup) -> str:  # noqa: C901 - one case an entry
    match entry:
        case Backup(live=None, size=size):
            said = f": {plural(size, 'character')}, too many to be kept"
        case Backup(size=size):
            said = f": what was live, {plural(size, 'character')}"
        case Started(operation=operation):
            said = f" ({operation})"
        case IdentifiedEntry(remote_id=remote_id):
            said = f" as {remote_id}"
        case WrittenEntry() | ImportedEntry():
            said = _landed(entry)
        case Stored(rewritten=rewritten):
            said = f": {plural(len(rewritten), 'field')} not as sent"
        case RefusedEntry(message=message):
            said = f": {message}"
        case Settled(remote_id=remote_id):
            said = f": {'never happened' if remote_id is None else f'exists as {remote_id}'}"
        case Compacted(remote_id=remote_id, exists=exists):
            said = f" as {remote_id}" if exists and remote_id is not None else ""
        case _:
            assert_never(entry)
    return said


def _landed(entry: WrittenEntry | ImportedEntry) -> str:
    known = f" ({entry.remote_id})" if entry.remote_id is not None else ""
    if isinstance(entry, ImportedEntry):
        return f"{known}, as {'it is live' if entry.origin == 'live' else 'in an export'}"
    back = ", what was there before it was put back" if entry.put_back else ""
    return known + back + (f": {entry.message}" if entry.message else "")
