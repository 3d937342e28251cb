"""Redaction of what was decided: the last step, and the only one that hides anything. Pure.

Decisions are made on whole documents. What a plan or a drift report shows of a live document
passes through here once, after all of it is decided.

Older secrets are texts of live with a secret that the manifests no longer name, or not there. A
copy of a widget keeps the value that its secret had when it was copied, and the manifests declare
no secret at that place. Only the seals in the journal can identify such a value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from reconciler.document import ABSENT, Difference, Json, each_text, texts_in
from reconciler.journal.entries import Entry
from reconciler.journal.history import JournalSeals, Memory, Sealed, seals_in
from reconciler.kinds.kind import Kind
from reconciler.model import Action, Change, Ref, Remembered, RemoteId, Seen
from reconciler.planning.consequences import members_by_name
from reconciler.redaction.redact import shown, veiled
from reconciler.redaction.templates import HIDDEN, Template, holds_seal, seal, secret_values

SHORTEST: Final = 8
MOST_TRIED: Final = 500
"""Each takes some milliseconds; after this many, the rest is hidden untested."""

_WORD = re.compile(r"[^\s\"'`,;(){}\[\]<>]+")
_PART = re.compile(r"[^\s\"'`,;(){}\[\]<>=:/?&@]+")

Older: TypeAlias = Callable[[Ref, RemoteId | None], Sealed]
"""Returns the seals of all secrets that a resource ever held, by its name and its id."""


def no_seals(_: Ref, __: RemoteId | None) -> Sealed:
    """Return no seals, where there is no journal."""
    return frozenset()


@dataclass(slots=True)
class OlderSeals:
    """The seals in everything that a journal says was declared of a resource.

    `entries` are read once, on the first call.
    """

    entries: Callable[[], Iterable[Entry]]
    _reported: JournalSeals | None = field(init=False, default=None)

    def __call__(self, ref: Ref, remote_id: RemoteId | None) -> Sealed:
        """Return the seals of one resource, found by its name and by its id."""
        if self._reported is None:
            self._reported = JournalSeals()
            self._reported.add(self.entries())
        return self._reported.of(ref, remote_id)


@dataclass(slots=True)
class OlderSecrets:
    """The secrets that a live document of one resource must not show.

    `seals` are the seals of older values. The values of the secrets in `declared` are searched for
    inside texts. A text that is declared in the clear has been shown already, and is not hidden.
    """

    seals: Sealed
    declared: Json
    salt: str
    _tried: int = field(init=False, default=0)
    _values: frozenset[str] = field(init=False)
    _public: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self._values = frozenset(
            secret for secret in secret_values(self.declared) if len(secret) >= SHORTEST
        )
        self._public = frozenset(
            text for text in texts_in(self.declared) if not isinstance(text, Template)
        )
        self.seals = self.seals - seals_in([self.declared])

    def hidden(self, live: Json) -> Json:
        """Return a live document in which no text holds such a value."""
        if not self.seals and not self._values:
            return live
        return each_text(live, self._hidden)

    def unshown(self, difference: Difference) -> Difference:
        """Return a difference that shows no such value of live."""
        return (
            difference
            if difference.before is ABSENT
            else replace(difference, before=self.hidden(difference.before))
        )

    def _hidden(self, text: str) -> str:
        is_known = isinstance(text, Template) or text == HIDDEN
        return HIDDEN if not is_known and self._holds(text) else text

    def _holds(self, text: str) -> bool:
        if len(text) < SHORTEST or text in self._public:
            return False
        return any(value in text for value in self._values) or any(map(self._fits, _pieces(text)))

    def _fits(self, piece: str) -> bool:
        """Return whether a text has one of the seals, or too many texts were tried."""
        for name, sealed in self.seals:
            self._tried += 1
            if self._tried > MOST_TRIED or seal(piece, name, self.salt) == sealed:
                return True
        return False


def _pieces(text: str) -> Iterator[str]:
    """Yield what may be a secret in a text: the text, its lines, its words, parts of words."""
    found = (text, text.strip(), *text.splitlines(), *_WORD.findall(text), *_PART.findall(text))
    yield from dict.fromkeys(value for value in found if len(value) >= SHORTEST)


@dataclass(frozen=True, slots=True)
class LiveRedaction:
    """One live document, and what shows which of its values are or were secrets.

    `written` are all declarations that live may have; what was sent comes before what is about to
    be sent.
    """

    kind: Kind
    live: Json
    written: Sequence[Json]
    older: OlderSecrets

    def document(self) -> Json:
        """Return the document as it may be shown."""
        return self.older.hidden(veiled(self.live, self.written, self.kind.shape))

    def differences(self, found: Iterable[Difference]) -> Iterator[Difference]:
        """Yield the differences as they may be shown."""
        hidden = shown(found, self.live, self.written, self.kind.shape)
        return map(self.older.unshown, hidden)

    def lost(self, change: Change) -> Iterator[Json]:
        """Yield the members that a change destroys, as they may be shown."""
        members = members_by_name(self.kind, veiled(self.live, self.written, self.kind.shape))
        is_secret = any(map(holds_seal, self.written))
        for name, member in zip(change.destroys, change.lost, strict=True):
            # A member without a name cannot be found in the redacted list.
            yield self.older.hidden(members.get(name, HIDDEN if is_secret else member))


def redacted(kind: Kind, change: Change, memory: Memory, older: Older, salt: str) -> Change:
    """Return a change that shows no secret of what was there before, older secrets among them.

    What is kept shows nothing of live, so nothing of it has to be hidden.
    """
    written: Sequence[Json]
    match change.observation:
        case Seen(document=live) if change.differences or change.action is Action.BLOCKED:
            written = (*memory.candidates, change.declared)
            known = older(change.ref, memory.remote_id)
        case Remembered(document=live) if change.differences:
            written, known = (live,), frozenset()
        case _:
            return change
    secrets = OlderSecrets(known, change.declared, salt)
    redaction = LiveRedaction(kind, live, written, secrets)
    return replace(
        change,
        differences=tuple(redaction.differences(change.differences)),
        lost=tuple(redaction.lost(change)),
        before=None if change.before is None else redaction.document(),
    )
