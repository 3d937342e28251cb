"""Redaction of what was decided: the last step, and the only one that hides anything. Pure.

Decisions are made on whole documents. What a plan or a drift report shows of a live document
passes through here once, after all of it is decided.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from reconciler.document import Difference, Json
from reconciler.journal.history import Memory
from reconciler.kinds.kind import Kind
from reconciler.model import Action, Change, Remembered, Seen
from reconciler.planning.consequences import members_by_name
from reconciler.planning.older_secrets import Older, OlderSecrets
from reconciler.redaction.redact import shown, veiled
from reconciler.redaction.templates import HIDDEN, holds_seal


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
