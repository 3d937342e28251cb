"""The secrets that a resource ever held, as a journal knows them: their names, and seals. Pure.

A resource is the same under all names that it had, and under all names that its id had.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias, assert_never

from reconciler.document import Json
from reconciler.journal.entries import (
    Backup,
    Compacted,
    Entry,
    IdentifiedEntry,
    ImportedEntry,
    LastWrite,
    Renamed,
    Settled,
    Started,
    WrittenEntry,
)
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


def texts_in(document: Json) -> Iterator[str]:
    """Yield all texts of a document, except the names of its fields."""
    rest: list[Json] = [document]
    while rest:
        value = rest.pop()
        if isinstance(value, dict):
            rest.extend(value.values())
        elif isinstance(value, list):
            rest.extend(value)
        elif isinstance(value, str):
            yield value


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

    def add(self, entries: Iterable[Entry]) -> None:
        """Add entries; a former name still leads to the resource that it named."""
        for entry in entries:
            self._take(entry)

    def of(self, ref: Ref, remote_id: RemoteId | None) -> Sealed:
        """Return the seals of a resource that has the name `ref`, or this id."""
        known = (ref, _id_of(ref.kind, remote_id), (ref.kind, _NO_ID))
        resources = (self._things[pair] for pair in known if pair in self._things)
        return frozenset(seal for resource in resources for seal in resource.seals)

    def _take(self, entry: Entry) -> None:
        if isinstance(entry, Renamed):
            self._join(entry.ref, entry.was)
        elif isinstance(entry, _Telling):
            self._note(entry.ref, _declared(entry))
            if isinstance(entry, Compacted):
                self._thing(entry.ref).seals.update((seal.name, seal.seal) for seal in entry.seals)
            if entry.remote_id is not None or not isinstance(entry, Started | Settled):
                self._join(entry.ref, _id_of(entry.ref.kind, entry.remote_id))

    def _note(self, ref: Ref, document: Json) -> None:
        if holds_seal(document):
            self._thing(ref).seals.update(seals_in([document]))

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
    Started | IdentifiedEntry | WrittenEntry | ImportedEntry | Settled | Backup | Compacted
)


def _declared(entry: _Telling) -> Json:
    """Return the document that an entry keeps, None where it has none."""
    match entry:
        case Started(declared=declared) | ImportedEntry(declared=declared):
            return declared
        case Compacted(last=LastWrite(declared=declared)):
            return declared
        case Backup(live=live):
            return live
        case IdentifiedEntry() | WrittenEntry() | Settled() | Compacted():
            return None
        case other:
            assert_never(other)


def _id_of(kind: str, remote_id: RemoteId | None) -> _Alias:
    return kind, _NO_ID if remote_id is None else str(remote_id).casefold()
