"""The state of each resource and the runs, from the entries of a journal. Pure.

A journal has the names and seals of secrets, and not their values. A renamed resource stays the
same resource, even if only its id shows that it was renamed. A run records who applied what, when,
and from which commit. Compacting keeps the facts that later runs need.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias, assert_never

from reconciler.document import ABSENT, Json, Missing, overlay, texts_in
from reconciler.journal import entries as journaled
from reconciler.journal.line_fields import KnownSeal, KnownVersion, SeenDrift, TakenBack, held
from reconciler.model import Manifest, Ref, RemoteId
from reconciler.model.guards import NEW_JOURNAL, NOT_APPROVED
from reconciler.model.quoting import listed
from reconciler.redaction.templates import holds_seal
from reconciler.syntax.expressions import sealed_parts

Sealed: TypeAlias = frozenset[tuple[str, str]]
"""Pairs of a secret's name and the seal of a value that it had."""

_NO_ID: Final = ""
"""The id of a resource that has none, or that is no longer known."""


def seals_in(documents: Iterable[Json]) -> Sealed:
    """Return the seals in documents of a journal."""
    return frozenset(
        pair
        for document in documents
        for text in texts_in(document)
        for pair in sealed_parts(text)
        if not isinstance(pair, str)
    )


_Telling: TypeAlias = (
    journaled.Started
    | journaled.IdentifiedEntry
    | journaled.WrittenEntry
    | journaled.ImportedEntry
    | journaled.Settled
    | journaled.Backup
    | journaled.Compacted
)

_Alias: TypeAlias = Ref | tuple[str, str]
"""An identity of a resource: a name, or its kind and id."""


@dataclass(slots=True)
class _Thing:
    """One resource: all its identities, and its seals."""

    aliases: set[_Alias]
    seals: set[tuple[str, str]] = field(default_factory=set)


@dataclass(slots=True)
class JournalSeals:
    """The seals of each resource, from all entries."""

    _things: dict[_Alias, _Thing] = field(default_factory=dict)

    def add(self, entries: Iterable[journaled.Entry]) -> None:
        """Add entries; a former name still leads to the resource that it named."""
        for entry in entries:
            if isinstance(entry, journaled.Renamed):
                self._join(entry.ref, entry.was)
            elif isinstance(entry, _Telling):
                self._take(entry)

    def of(self, ref: Ref, remote_id: RemoteId | None) -> Sealed:
        """Return the seals of a resource that has the name `ref`, or this id."""
        known = (ref, _id_of(ref.kind, remote_id), (ref.kind, _NO_ID))
        resources = (self._things[pair] for pair in known if pair in self._things)
        return frozenset(seal for resource in resources for seal in resource.seals)

    def _take(self, entry: _Telling) -> None:
        document = _declared(entry)
        if holds_seal(document):
            self._thing(entry.ref).seals.update(seals_in([document]))
        if isinstance(entry, journaled.Compacted):
            self._thing(entry.ref).seals.update((seal.name, seal.seal) for seal in entry.seals)
        may_have_none = isinstance(entry, journaled.Started | journaled.Settled)
        if entry.remote_id is not None or not may_have_none:
            self._join(entry.ref, _id_of(entry.ref.kind, entry.remote_id))

    def _thing(self, alias: _Alias) -> _Thing:
        return self._things.setdefault(alias, _Thing({alias}))

    def _join(self, first: _Alias, second: _Alias) -> None:
        larger, smaller = self._thing(first), self._thing(second)
        if larger is smaller:
            return
        if len(larger.aliases) < len(smaller.aliases):
            larger, smaller = smaller, larger
        larger.aliases |= smaller.aliases
        larger.seals |= smaller.seals
        self._things.update(dict.fromkeys(smaller.aliases, larger))


def _declared(entry: _Telling) -> Json:
    """Return the document that an entry keeps, None where it has none."""
    match entry:
        case journaled.Started(declared=declared) | journaled.ImportedEntry(declared=declared):
            return declared
        case journaled.Compacted(last=journaled.LastWrite(declared=declared)):
            return declared
        case journaled.Backup(live=live):
            return live
        case (
            journaled.IdentifiedEntry()
            | journaled.WrittenEntry()
            | journaled.Settled()
            | journaled.Compacted()
        ):
            return None
        case other:
            assert_never(other)


def _id_of(kind: str, remote_id: RemoteId | None) -> _Alias:
    return kind, _NO_ID if remote_id is None else str(remote_id).casefold()


MOST_VERSIONS = 100
"""Newest versions that are remembered of one resource: a query asks for all of them."""


@dataclass(slots=True, kw_only=True)
class Memory:
    """The memory of one resource.

    `pending` is the last write if it has no answer: a create leaves the resource unsettled, and a
    replace counts as never acknowledged. `earlier` are the writes before it that have no answer
    either. `exists` means that the service or a person confirmed the resource. `protected` is
    `metadata.protect` of the last acknowledged write. `instead_of` is the declared id, where the
    service gave `remote_id` instead. `formerly` is the id that the name had before another id was
    declared. `versions` are the versions that writes made, as far as the service returned them, the
    oldest first. `taken_back` is what rollbacks undid and no later write declared again.
    """

    remote_id: RemoteId | None = None
    last: journaled.LastWrite | None = None
    pending: journaled.Started | None = None
    earlier: tuple[journaled.Started, ...] = ()
    attempts: int = 0
    exists: bool = False
    protected: bool = False
    instead_of: RemoteId | None = None
    formerly: RemoteId | None = None
    versions: tuple[KnownVersion, ...] = ()
    taken_back: tuple[TakenBack, ...] = ()

    @property
    def doubted(self) -> tuple[journaled.Started, ...]:
        """All writes without an answer, the oldest first."""
        return self.earlier if self.pending is None else (*self.earlier, self.pending)

    @property
    def rolled_back(self) -> tuple[TakenBack, ...]:
        """The fields that rollbacks put back, also where the answer was lost."""
        lost = (taken for started in self.doubted for taken in started.takes_back)
        return (*self.taken_back, *lost)

    @property
    def is_blank(self) -> bool:
        """Return whether nothing is known of a resource except the number of attempts."""
        return self == Memory(attempts=self.attempts)

    @property
    def candidates(self) -> tuple[dict[str, Json], ...]:
        """The declarations that live may have: the last write, and all writes in doubt since."""
        known = [self.last.declared] if self.last is not None else []
        return (*known, *(started.declared for started in self.doubted))

    @property
    def base(self) -> dict[str, Json] | None:
        """The last declaration; with writes in doubt, all declarations that may be live, merged."""
        joined: Json | Missing = ABSENT
        for declared in self.candidates:
            joined = overlay(joined, declared)
        return joined if isinstance(joined, dict) else None

    @property
    def acknowledged(self) -> journaled.LastWrite | None:
        """The last write, unless a later one is in doubt."""
        return self.last if self.pending is None else None

    @property
    def unsettled_create(self) -> journaled.Started | None:
        """The create with an unknown outcome."""
        if self.pending is not None and self.pending.operation == "create":
            return self.pending
        return None


@dataclass(slots=True)
class History:
    """All memories of a journal.

    `begun` means that there is a journal, even an empty one. `old` means that the journal is an old
    copy or was removed: an entry that it once ended with is missing. `seed` makes the ids of
    requests differ from those of a lost or older journal, which may have counted the same attempts.
    `begun_by` is that of the header, and `is_confirmed` means that a person confirmed since that no
    earlier journal is lost. `looked` is when drift was last recorded, None for never, and `drifts`
    is the drift of that time.
    """

    memories: dict[Ref, Memory] = field(default_factory=dict)
    begun: bool = False
    old: bool = field(default=False, compare=False)
    seed: str = field(default="", compare=False)
    begun_by: str = field(default="", compare=False)
    is_confirmed: bool = field(default=False, compare=False)
    looked: str | None = None
    drifts: dict[Ref, SeenDrift] = field(default_factory=dict)

    def of(self, ref: Ref) -> Memory:
        """Return the memory of a resource; an empty memory where nothing is known."""
        return self.memories.get(ref) or Memory()

    def add(self, entries: Iterable[journaled.Entry]) -> None:
        """Add entries, in the order of the journal."""
        for entry in entries:
            if isinstance(entry, journaled.AboutWrites):
                _remember(self.memories.setdefault(entry.ref, Memory()), entry)
            elif isinstance(entry, journaled.Drifted):
                self.looked = entry.at
                for ref in entry.over:
                    self.drifts.pop(ref, None)
                self.drifts.update((drift.ref, drift) for drift in entry.found)
            elif isinstance(entry, journaled.Renamed):
                self._rename(entry.was, entry.ref)
            elif isinstance(entry, journaled.Forgotten):
                self._forget(entry.ref)
            elif isinstance(entry, journaled.OverrideEntry):
                self.is_confirmed |= NEW_JOURNAL in entry.codes

    @property
    def begun_unasked(self) -> str:
        """The command that began the journal, "" where a person confirmed the beginning."""
        return "" if self.is_confirmed else self.begun_by

    def _rename(self, was: Ref, ref: Ref) -> None:
        memory = self.memories.get(was)
        if memory is None or was == ref:
            return
        drift = self.drifts.get(was)
        self._forget(was)
        self.memories[ref] = renamed_memory(memory, ref, self.of(ref).attempts)
        if drift is not None:
            self.drifts[ref] = replace(drift, ref=ref)

    def _forget(self, ref: Ref) -> None:
        """Remove the memory of a resource, except the number of its attempts.

        Another resource of this name must not repeat the request ids of these attempts: a service
        may answer them with the former resource.
        """
        self.drifts.pop(ref, None)
        memory = self.memories.get(ref)
        if memory is not None:
            self.memories[ref] = Memory(attempts=memory.attempts + 1)

    def unwritten_ids(self, manifests: Iterable[Manifest]) -> list[tuple[Manifest, RemoteId]]:
        """Return the manifests that lack an id which the journal has, each with that id."""
        known = ((manifest, self.of(manifest.ref).remote_id) for manifest in manifests)
        return [(it, found) for it, found in known if it.remote_id is None and found is not None]

    def unsettled(self) -> dict[Ref, journaled.Started]:
        """Return the creates without an answer, by resource."""
        found = ((ref, memory.unsettled_create) for ref, memory in self.memories.items())
        return {ref: started for ref, started in found if started is not None}


def renamed_memory(memory: Memory, ref: Ref, attempts: int) -> Memory:
    """Return a memory under the name `ref`, with the attempts that this name had before added."""
    pending = memory.pending
    return replace(
        memory,
        pending=None if pending is None else replace(pending, ref=ref),
        earlier=tuple(replace(started, ref=ref) for started in memory.earlier),
        attempts=memory.attempts + attempts,
    )


def _remember(memory: Memory, entry: journaled.AboutWrites) -> None:
    match entry:
        case journaled.Started():
            memory.earlier, memory.pending = memory.doubted, entry
            memory.remote_id = memory.remote_id if entry.remote_id is None else entry.remote_id
        case journaled.IdentifiedEntry():
            _take_id(memory, entry)
        case journaled.WrittenEntry():
            _take_written(memory, entry)
        case journaled.Stored():
            _take_stored(memory, entry)
        case journaled.ImportedEntry():
            _take_imported(memory, entry)
        case journaled.RefusedEntry() | journaled.Settled():
            _take_answer(memory, entry)
        case journaled.Compacted():
            _take_kept(memory, entry)


def _take_id(memory: Memory, entry: journaled.IdentifiedEntry) -> None:
    remote_id = entry.remote_id
    memory.remote_id, memory.exists, memory.instead_of = remote_id, True, entry.instead_of
    if memory.pending is not None:
        # The resource exists, so what is in doubt from here on is only a replace.
        memory.pending = replace(
            memory.pending,
            operation="replace",
            remote_id=remote_id,
            declared=held(memory.pending, "declared"),
        )


def _take_stored(memory: Memory, entry: journaled.Stored) -> None:
    if memory.last is not None:
        memory.last = replace(
            memory.last, rewritten=entry.rewritten, declared=held(memory.last, "declared")
        )


def _take_written(memory: Memory, entry: journaled.WrittenEntry) -> None:
    if memory.pending is not None:
        memory.last = journaled.LastWrite(
            remote_id=entry.remote_id,
            at=entry.at,
            declared=held(memory.pending, "declared"),
            rewritten=(),
            revision=entry.revision,
            told=entry.told,
        )
        memory.protected = memory.pending.protect
        memory.taken_back = tuple(_still_taken_back(memory, memory.pending))
    _take_version(memory, entry)
    memory.remote_id, memory.exists = entry.remote_id, True
    memory.instead_of = entry.instead_of
    memory.pending, memory.earlier = None, ()
    memory.attempts += 1


def _still_taken_back(memory: Memory, written: journaled.Started) -> Iterator[TakenBack]:
    """Yield the fields that rollbacks put back and that a write, once acknowledged, leaves so."""
    over = {*written.brings_back}
    over.update(field.path for taken in written.takes_back for field in taken.fields)
    for taken in memory.rolled_back:
        left = tuple(field for field in taken.fields if field.path not in over)
        if left:
            yield replace(taken, fields=left)
    yield from written.takes_back


def _take_version(memory: Memory, entry: journaled.WrittenEntry) -> None:
    version = entry.told.version
    if version and version not in [version.version for version in memory.versions]:
        known = (*memory.versions, KnownVersion(version=version, at=entry.at))
        memory.versions = known[-MOST_VERSIONS:]


def once_written(memory: Memory, entry: journaled.WrittenEntry) -> Memory:
    """Return the memory of a resource after an entry, as a new object."""
    later = replace(memory)
    _take_written(later, entry)
    return later


def _take_imported(memory: Memory, entry: journaled.ImportedEntry) -> None:
    """Add an import. One from live settles writes in doubt, one from an export does not."""
    memory.remote_id, memory.exists = entry.remote_id, True
    memory.instead_of, memory.formerly, memory.taken_back = None, None, ()
    memory.last = journaled.LastWrite(
        remote_id=entry.remote_id,
        at=entry.at,
        declared=held(entry, "declared"),
        rewritten=(),
        revision=entry.revision,
        origin=entry.origin,
    )
    if entry.origin == "live":
        # Another write must not repeat their request ids.
        memory.attempts += len(memory.doubted)
        memory.pending, memory.earlier = None, ()


def _take_answer(memory: Memory, entry: journaled.RefusedEntry | journaled.Settled) -> None:
    memory.attempts += 1
    if isinstance(entry, journaled.RefusedEntry):
        # This write changed nothing, so the write before it is still in doubt.
        memory.pending = memory.earlier[-1] if memory.earlier else None
        memory.earlier = memory.earlier[:-1]
    else:
        memory.pending, memory.earlier = None, ()
        memory.remote_id, memory.exists = entry.remote_id, entry.remote_id is not None
        memory.instead_of = None
        if entry.remote_id is None:
            memory.last, memory.protected, memory.taken_back = None, False, ()


def _take_kept(memory: Memory, entry: journaled.Compacted) -> None:
    """Add the entry of a compacted journal; the writes in doubt are in lines before it."""
    memory.remote_id, memory.exists = entry.remote_id, entry.exists
    memory.attempts, memory.protected = entry.attempts, entry.protect
    memory.instead_of, memory.versions = entry.instead_of, entry.versions
    memory.taken_back = entry.taken_back
    if entry.last is not None:
        memory.last = entry.last


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
    """One run, and its `entry`; a run of an old journal may have no actor and no commit.

    Its entries are those from `begins` up to `ends`, counted from 0.
    """

    entry: journaled.RunEntry
    overrides: list[journaled.OverrideEntry] = field(default_factory=list)
    unfrozen: list[journaled.Unfrozen] = field(default_factory=list)
    approvals: list[journaled.ApprovalEntry] = field(default_factory=list)
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


_REASONS = journaled.OverrideEntry | journaled.Unfrozen | journaled.ApprovalEntry
_UNNAMED = journaled.RunEntry(run="", at="", actor="", commit="", digest="", command="")


def runs_of(entries: Sequence[journaled.Entry]) -> list[RunSummary]:
    """Return the runs in the order of the journal.

    A lock keeps runs apart, so everything after a run's own entry belongs to that run. The entries
    that compacting kept for memories are already in the counts of the runs.
    """
    folded = max(
        (at for at, entry in enumerate(entries) if isinstance(entry, journaled.Compacted)),
        default=-1,
    )
    runs: list[RunSummary] = []
    for at, entry in enumerate(entries):
        if isinstance(entry, journaled.RunEntry):
            runs.append(RunSummary(entry=entry, begins=at))
        elif isinstance(
            entry, journaled.Backup | journaled.Looked | journaled.Moved | journaled.MovedIn
        ):
            continue
        elif isinstance(entry, _REASONS) or at > folded:
            own = _run_of(entry)
            if not runs or own not in (None, runs[-1].entry.run):
                unnamed = replace(_UNNAMED, run=own or "", at=entry.at)
                runs.append(RunSummary(entry=unnamed, begins=at))
            _count(runs[-1], entry)
        if runs:
            runs[-1].ends = at + 1
    return runs


def _run_of(entry: journaled.AboutWrites | journaled.AboutRuns) -> str | None:
    """Return the run that an entry names; None where it belongs to the run before it."""
    match entry:
        case journaled.OverrideEntry() | journaled.Unfrozen() | journaled.ApprovalEntry():
            return None
        case journaled.Settled() | journaled.Compacted() | journaled.Forgotten():
            return None
        case journaled.Renamed(run=""):
            return None
        case _:
            return entry.run


def _count(run: RunSummary, entry: journaled.AboutWrites | journaled.AboutRuns) -> None:
    match entry:
        case journaled.OverrideEntry():
            run.overrides.append(entry)
        case journaled.Unfrozen():
            run.unfrozen.append(entry)
        case journaled.ApprovalEntry():
            run.approvals.append(entry)
        case journaled.Stored() | journaled.Compacted() | journaled.RunEntry():
            pass
        case journaled.WrittenEntry(adopted=True) | journaled.ImportedEntry(adopted=True):
            run.outcomes[entry.ref] = "adopted"
        case journaled.WrittenEntry(put_back=True):
            run.outcomes[entry.ref] = "put-back"
        case _:
            run.outcomes[entry.ref] = _BECAME[type(entry)]


_BECAME: dict[type[journaled.Entry], str] = {
    journaled.Started: "unanswered",
    journaled.IdentifiedEntry: "unanswered",
    journaled.WrittenEntry: "written",
    journaled.ImportedEntry: "imported",
    journaled.RefusedEntry: "refused",
    journaled.Settled: "settled",
    journaled.Renamed: "renamed",
    journaled.Forgotten: "forgotten",
}


def words_of(entries: Sequence[journaled.Entry]) -> str:
    """Return one line about an append, for people who read a store's own history."""
    return "; ".join((*_reported(entries), *_listed(entries))) or "journal"


def describe_override(entry: journaled.OverrideEntry) -> str:
    """Return in a few words what a person did with guards."""
    is_emergency = NOT_APPROVED in entry.codes
    return "without approvals (break-glass)" if is_emergency else "guard overridden"


def _did(entry: journaled.Entry) -> str:
    if isinstance(entry, journaled.OverrideEntry):
        return describe_override(entry)
    return _DID[type(entry)]


def _reported(entries: Sequence[journaled.Entry]) -> Iterator[str]:
    for entry in entries:
        match entry:
            case journaled.RunEntry():
                yield f"{entry.command} by {entry.actor}".strip()
            case (
                journaled.OverrideEntry()
                | journaled.Unfrozen()
                | journaled.Drifted()
                | journaled.WatchedEntry()
            ):
                yield _did(entry)
            case journaled.ApprovalEntry():
                yield f"approved by {entry.principal}"
            case journaled.Moved():
                yield f"moved to {entry.to}"
            case journaled.MovedIn():
                yield f"arrived from {entry.origin}"
            case journaled.Renamed():
                yield f"renamed {entry.was} to {entry.ref}"
            case _:
                pass


_DID: dict[type[journaled.Entry], str] = {
    journaled.Unfrozen: "freeze broken",
    journaled.Drifted: "looked for drift",
    journaled.WatchedEntry: "looked for noise",
}


def _listed(entries: Sequence[journaled.Entry]) -> Iterator[str]:
    for kind, verb in _VERBS.items():
        refs = [str(entry.ref) for entry in entries if isinstance(entry, kind)]
        if refs:
            yield f"{verb} {listed(refs, _SHOWN)}"


_VERBS: dict[type[journaled.AboutWrites | journaled.Forgotten], str] = {
    journaled.Started: "started",
    journaled.IdentifiedEntry: "identified",
    journaled.WrittenEntry: "written",
    journaled.Stored: "stored otherwise",
    journaled.ImportedEntry: "imported",
    journaled.RefusedEntry: "refused",
    journaled.Settled: "settled",
    journaled.Compacted: "kept",
    journaled.Forgotten: "forgotten",
}
_SHOWN = 5


def compacted(entries: Sequence[journaled.Entry], at: str) -> list[journaled.Entry]:
    """Return fewer entries with the same meaning.

    Kept are: the origin of a move; the runs with the counts of their outcomes, overrides and broken
    freezes; verdicts on noise; for each resource its last backup, the writes in doubt and one entry
    for the rest, with seals of its older secrets; and the drift at the last look.
    """
    history = History()
    history.add(entries)
    seals = JournalSeals()
    seals.add(entries)
    kept = [
        *(entry for entry in entries if isinstance(entry, journaled.MovedIn)),
        *_runs(entries),
        *(entry for entry in entries if isinstance(entry, journaled.WatchedEntry)),
        *last_backups(entries).values(),
    ]
    for ref, memory in sorted(history.memories.items()):
        older = seals.of(ref, memory.remote_id) - seals_in(memory.candidates)
        rest = journaled.Compacted(
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
        kept += [*memory.doubted, rest]
    if history.looked is not None:
        drifts = tuple(drift for _, drift in sorted(history.drifts.items()))
        kept.append(journaled.Drifted(at=history.looked, found=drifts))
    return kept


def last_backups(entries: Iterable[journaled.Entry], run: str = "") -> dict[Ref, journaled.Backup]:
    """Return the last backup of each resource by its current name; with `run`, of that run only."""
    last: dict[Ref, journaled.Backup] = {}
    for entry in entries:
        match entry:
            case journaled.Backup(ref=ref) if run in ("", entry.run):
                last[ref] = entry
            case journaled.Renamed(ref=ref, was=was):
                last.pop(ref, None)
                if was in last:
                    last[ref] = replace(last.pop(was), ref=ref)
            case journaled.Forgotten(ref=ref):
                last.pop(ref, None)
            case _:
                pass
    return last


def _runs(entries: Sequence[journaled.Entry]) -> Iterator[journaled.Entry]:
    for run in runs_of(entries):
        yield replace(run.entry, outcomes=run.counts)
        yield from run.overrides
        yield from run.unfrozen
        yield from run.approvals
