"""The entries and the runs of a journal, for a terminal and as JSON."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Final, NotRequired, TypeAlias, cast

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from reconciler.journal import entries as entry_types
from reconciler.journal.content import entry_document
from reconciler.journal.history import History, RunSummary, describe_override
from reconciler.model import Ref
from reconciler.report.reasons import SHORT_RUN
from reconciler.report.safe import safe
from reconciler.report.table import Colour, Heading, Style, fits, table, wrapped
from reconciler.report.words import plural

SHORT_COMMIT = 12


@with_config(ConfigDict(extra="forbid"))
class JournalFindingDocument(TypedDict):
    """A finding about a journal, and its remedy."""

    finding: str
    message: str
    wayOut: str


@with_config(ConfigDict(extra="forbid"))
class VerifiedDocument(TypedDict):
    """Output of `journal verify --format json`."""

    place: str
    environment: str
    target: str
    entries: int
    findings: list[JournalFindingDocument]


@with_config(ConfigDict(extra="forbid"))
class RunDocument(TypedDict):
    """A run: who applied what, when, from which commit."""

    run: str
    at: str
    actor: str
    command: str
    commit: str
    digest: Annotated[str, Field(description="Of the plan.")]
    outcomes: Annotated[dict[str, int], Field(description="How many ended in which way.")]
    overrides: Annotated[
        list[str],
        Field(
            description="Reasons for guards that were lifted: of --override-guard, and of "
            "--break-glass for a write without approvals."
        ),
    ]
    unfrozen: Annotated[
        list[str], Field(description="Reasons of --break-glass for a write during a freeze.")
    ]
    approvedBy: Annotated[list[str], Field(description="Who approved its plan.")]
    outcome: NotRequired[
        Annotated[str, Field(description="Of the one resource that was asked for.")]
    ]


HistoryDocument: TypeAlias = Annotated[
    list[RunDocument],
    Field(description="What `journal history --format json` prints, oldest first."),
]


@with_config(ConfigDict(extra="allow"))
class EntryDocument(TypedDict):
    """An entry. See docs/journal-entries.md for the fields of each."""

    entry: Annotated[str, Field(json_schema_extra={"enum": [*entry_types.ENTRY_NAMES]})]
    at: str


EntriesDocument: TypeAlias = Annotated[
    list[EntryDocument],
    Field(description="What `journal show --format json` prints, oldest first."),
]


def history_document(runs: Sequence[RunSummary], wanted: Ref | None) -> HistoryDocument:
    """Return the JSON form of runs; with `wanted`, the outcome of that resource in each run."""
    return [_run_document(run, wanted) for run in runs]


def _run_document(run: RunSummary, wanted: Ref | None) -> RunDocument:
    document: RunDocument = {
        "run": run.entry.run,
        "at": run.entry.at,
        "actor": run.entry.actor,
        "command": run.entry.command,
        "commit": run.entry.commit,
        "digest": run.entry.digest,
        "outcomes": run.counts,
        "overrides": [override.reason for override in run.overrides],
        "unfrozen": [unfrozen.reason for unfrozen in run.unfrozen],
        "approvedBy": [approval.principal for approval in run.approvals],
    }
    if wanted is not None:
        document["outcome"] = run.outcomes[wanted]
    return document


def entries_document(entries: Sequence[entry_types.Entry]) -> EntriesDocument:
    """Return the JSON form of entries, which is the form of the journal's own lines."""
    return cast("EntriesDocument", [entry_document(entry) for entry in entries])


def journal_text(entries: Sequence[entry_types.Entry], history: History, style: Style) -> str:
    """Return a line for each entry, and the unsettled creates at the end."""
    lines = [f"{entry.at}  {safe(f'{entry.entry:10}  {_described(entry)}')}" for entry in entries]
    for ref, started in history.unsettled().items():
        line = f"unsettled since {started.at}: {ref}"
        lines.append(style.paint(safe(line), Colour.RED))
    lines.append(style.paint(f"{plural(len(entries), 'line')}.", Colour.DIM))
    return "\n".join(lines) + "\n"


def history_text(runs: Sequence[RunSummary], wanted: Ref | None, style: Style) -> str:
    """Return a line for each run, and the reasons of runs that lifted a guard.

    With `wanted`, the outcome of that resource replaces the counts. Where a terminal is too narrow,
    the outcome of a run is on the line below the run.
    """
    headings = [
        Heading("run", whole=True),
        Heading("at", whole=True),
        Heading("command", whole=True),
        Heading("actor"),
        Heading("commit", whole=True),
        Heading("outcome"),
    ]
    rows = [_row(run, wanted) for run in runs]
    closing = f"{plural(len(runs), 'run')}.\n"
    if fits(headings, rows, style):
        return table(headings, rows, style) + closing
    head, *lines = table(headings[1:-1], [row[1:-1] for row in rows], style).splitlines()
    below = ([*wrapped(row[-1], style, margin="  "), f"  run {row[0]}"] for row in rows)
    shown = (line for first, rest in zip(lines, below, strict=True) for line in (first, *rest))
    return "".join(f"{line}\n" for line in (head, *shown)) + closing


def _row(run: RunSummary, wanted: Ref | None) -> list[str]:
    entry = run.entry
    commit, *dirty = entry.commit.partition("-")
    return [
        entry.run[:SHORT_RUN],
        entry.at,
        entry.command or "apply",
        entry.actor or "unknown",
        "".join((commit[:SHORT_COMMIT], *dirty)),
        _became(run, wanted),
    ]


def _became(run: RunSummary, wanted: Ref | None) -> str:
    counts = [f"{number} {name}" for name, number in run.counts.items()]
    people = " and ".join(approval.principal for approval in run.approvals)
    parts = (
        *(counts if wanted is None else [run.outcomes[wanted]]),
        *(f"{describe_override(override)}: {override.reason}" for override in run.overrides),
        *(f"freeze broken: {unfrozen.reason}" for unfrozen in run.unfrozen),
        *([f"approved by {people}"] if people else ()),
    )
    return ", ".join(parts) or "nothing"


_WORDS: Final[Mapping[type[entry_types.Entry], str]] = {
    entry_types.Forgotten: "{0.ref}",
    entry_types.IdentifiedEntry: "{0.ref} as {0.remote_id}",
    entry_types.Moved: "to {0.to}",
    entry_types.MovedIn: "from {0.origin}",
    entry_types.RefusedEntry: "{0.ref}: {0.message}",
    entry_types.Renamed: "{0.ref}, which was {0.was}",
    entry_types.Started: "{0.ref} ({0.operation})",
    entry_types.Unfrozen: "{0.reason} ({0.frozen})",
}
"""The words of entries that always have the same parts; `_described` has the others."""


def _described(entry: entry_types.Entry) -> str:  # noqa: C901, PLR0912 - one case an entry
    match entry:
        case entry_types.OverrideEntry(reason=reason, codes=codes):
            words = f"{reason} [{', '.join(codes)}]" if codes else reason
        case entry_types.ApprovalEntry():
            words = f"by {entry.principal} until {entry.until} ({entry.fingerprint})"
        case entry_types.RunEntry():
            commit = f" from {entry.commit}" if entry.commit else ""
            words = f"{entry.command} by {entry.actor}{commit}"
        case entry_types.WatchedEntry(found=found):
            verdicts = ", ".join(f"{verdict.ref} {verdict.verdict}" for verdict in found)
            words = f"run {entry.run[:SHORT_RUN]}: {verdicts or 'no alerts'}"
        case entry_types.Drifted():
            looked = {"new:": [drift.ref for drift in entry.found], "over:": entry.over}
            parts = (f"{word} {', '.join(map(str, refs))}" for word, refs in looked.items() if refs)
            words = "; ".join(parts) or "nothing new"
        case entry_types.Backup(live=None, size=size):
            words = f"{entry.ref}: {plural(size, 'character')}, too many to be kept"
        case entry_types.Backup(size=size):
            words = f"{entry.ref}: what was live, {plural(size, 'character')}"
        case entry_types.WrittenEntry() | entry_types.ImportedEntry():
            words = f"{entry.ref}{_landed(entry)}"
        case entry_types.Stored(rewritten=rewritten):
            words = f"{entry.ref}: {plural(len(rewritten), 'field')} not as sent"
        case entry_types.Settled(remote_id=None):
            words = f"{entry.ref}: never happened"
        case entry_types.Settled(remote_id=remote_id):
            words = f"{entry.ref}: exists as {remote_id}"
        case entry_types.Compacted(remote_id=remote_id, exists=exists):
            known = f" as {remote_id}" if exists and remote_id is not None else ""
            words = f"{entry.ref}{known}"
        case _:
            words = _WORDS[type(entry)].format(entry)
    return words


def _landed(entry: entry_types.WrittenEntry | entry_types.ImportedEntry) -> str:
    known = f" ({entry.remote_id})" if entry.remote_id is not None else ""
    if isinstance(entry, entry_types.ImportedEntry):
        return f"{known}, as {'it is live' if entry.origin == 'live' else 'in an export'}"
    back = ", what was there before it was put back" if entry.put_back else ""
    return known + back + (f": {entry.message}" if entry.message else "")
