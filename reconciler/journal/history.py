"""The state of each resource, and the secrets that it ever held, from a journal's entries. Pure.

Of secrets a journal knows names and seals. A resource is the same under all names that it had, and
under all names that its id had.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias, assert_never

from reconciler.document import ABSENT, Json, Missing, overlay, texts_in
from reconciler.journal import entries as journaled
from reconciler.journal.line_fields import KnownVersion, SeenDrift, TakenBack, fold, held
from reconciler.model import Ref, RemoteId
from reconciler.redaction.templates import holds_seal
from reconciler.syntax.expressions import sealed_parts

Sealed: TypeAlias = frozenset[tuple[str, str]]
"""Names of secrets, and seals of values that they had."""

_NO_ID: Final = ""
"""The id of a resource that has none, or that is no longer known."""


def seals_in(documents: Iterable[Json]) -> Sealed:
    """Return the seals in documents as a journal keeps them."""
    return frozenset(
        pair
        for document in documents
        for text in texts_in(document)
        for pair in sealed_parts(text)
        if not isinstance(pair, str)
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


_Telling: TypeAlias = (
    journaled.Started
    | journaled.IdentifiedEntry
    | journaled.WrittenEntry
    | journaled.ImportedEntry
    | journaled.Settled
    | journaled.Backup
    | journaled.Compacted
)


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

    `pending` is a write without an answer: after a create the resource is unsettled, a replace
    counts as never acknowledged. `earlier` are writes before it that are still without an answer.
    `exists` means that the service or a person confirmed the resource. `protected` is
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
        """Return whether nothing is known of a resource but the number of attempts."""
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

    def fold(self) -> None:
        """Turn the documents that were parsed back into text of the journal."""
        for entry in self.doubted if self.last is None else (self.last, *self.doubted):
            fold(entry, "declared")

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

    `begun` means that there is a journal, even an empty one. `old` means that it is an old copy, or
    gone: an end that it had is missing. `seed` goes into the ids of requests: attempts are counted
    in the journal, and a lost or older journal may have counted the same. `looked` is when drift
    was last recorded, None for never, and `drifts` is the drift of that time.
    """

    memories: dict[Ref, Memory] = field(default_factory=dict)
    begun: bool = False
    old: bool = field(default=False, compare=False)
    seed: str = field(default="", compare=False)
    looked: str | None = None
    drifts: dict[Ref, SeenDrift] = field(default_factory=dict)

    def of(self, ref: Ref) -> Memory:
        """Return the memory of a resource; an empty memory where nothing is known."""
        return self.memories.get(ref) or Memory()

    def add(self, entries: Iterable[journaled.Entry]) -> None:
        """Add entries, in the order of the journal."""
        for entry in entries:
            if isinstance(entry, journaled.AboutWrites):
                _take(self.memories.setdefault(entry.ref, Memory()), entry)
            elif isinstance(entry, journaled.Drifted):
                self.looked = entry.at
                for ref in entry.over:
                    self.drifts.pop(ref, None)
                self.drifts.update((drift.ref, drift) for drift in entry.found)
            elif isinstance(entry, journaled.Renamed):
                self._rename(entry.was, entry.ref)
            elif isinstance(entry, journaled.Forgotten):
                self._forget(entry.ref)

    def _rename(self, was: Ref, ref: Ref) -> None:
        """Move the memory of one name to another."""
        memory = self.memories.get(was)
        if memory is None or was == ref:
            return
        drift = self.drifts.get(was)
        self._forget(was)
        self.memories[ref] = renamed_memory(memory, ref, self.of(ref).attempts)
        if drift is not None:
            self.drifts[ref] = replace(drift, ref=ref)

    def _forget(self, ref: Ref) -> None:
        """Remove the memory of a resource, except that there were attempts.

        Another resource of this name must not repeat their request ids: a service may answer those
        with the former resource.
        """
        self.drifts.pop(ref, None)
        memory = self.memories.get(ref)
        if memory is not None:
            self.memories[ref] = Memory(attempts=memory.attempts + 1)

    def unsettled(self) -> dict[Ref, journaled.Started]:
        """Return the creates without an answer, by resource."""
        found = ((ref, memory.unsettled_create) for ref, memory in self.memories.items())
        return {ref: started for ref, started in found if started is not None}


def renamed_memory(memory: Memory, ref: Ref, attempts: int) -> Memory:
    """Return a memory under another name, which had some attempts before."""
    pending = memory.pending
    return replace(
        memory,
        pending=None if pending is None else replace(pending, ref=ref),
        earlier=tuple(replace(started, ref=ref) for started in memory.earlier),
        attempts=memory.attempts + attempts,
    )


def _take(memory: Memory, entry: journaled.AboutWrites) -> None:
    match entry:
        case journaled.Started():
            _take_started(memory, entry)
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


def _take_started(memory: Memory, entry: journaled.Started) -> None:
    memory.earlier, memory.pending = memory.doubted, entry
    if entry.remote_id is not None:
        memory.remote_id = entry.remote_id


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
    """Yield the fields that rollbacks put back and that stay so once a write is acknowledged."""
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
    """Return the memory of a resource after an entry; the given memory stays as it is."""
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
