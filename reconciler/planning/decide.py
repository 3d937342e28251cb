"""Deciding: from one manifest and the knowledge about its live side to one change. Pure.

Decisions are made on whole documents. What a plan or a drift report shows of a live document is
redacted once, after all of it is decided.

An older secret is a value in live of a secret that the manifests no longer name, or name at another
place. A copy of a widget keeps the value that its secret had when it was copied, and the manifests
declare no secret at that place. Only the seals in the journal can identify such a value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias, assert_never
from uuid import UUID, uuid5

from reconciler.document import (
    ABSENT,
    Difference,
    Json,
    Path,
    covers,
    differences,
    digest,
    each_text,
    members_missing,
    merge,
    places_before,
    texts_in,
    value_at,
)
from reconciler.journal.entries import Entry
from reconciler.journal.history import JournalSeals, Memory, Sealed, seals_in
from reconciler.kinds import BY_NAME
from reconciler.kinds.kind import ConsentRule, Kind
from reconciler.model import (
    Absent,
    Action,
    AnotherId,
    CannotBeAsked,
    CannotBeCreated,
    Change,
    CouldNotBeRead,
    CreateLost,
    EditedBy,
    Evidence,
    GoneSince,
    Imported,
    Manifest,
    NeededUnseen,
    NeverSeen,
    NeverWritten,
    Observation,
    OverwritesEdit,
    Reason,
    Recalled,
    Ref,
    Remembered,
    RemoteId,
    Seen,
    TakesOver,
    Unknown,
    Unread,
    WriteLost,
)
from reconciler.planning.consequences import (
    blocked,
    lost_unseen,
    members_by_name,
    members_destroyed,
    needed_left_out,
    rollbacks_undone,
    sent_again_in,
    settled_wrongly,
    unexpected,
    unseen_fields,
    unseen_left_out,
    with_protection,
)
from reconciler.redaction.redact import conceal, is_seal_of, shown, veiled
from reconciler.redaction.templates import (
    HIDDEN,
    Template,
    holds_seal,
    references_in,
    resolve,
    seal,
    secret_values,
)

SHORTEST: Final = 8
MOST_TRIED: Final = 500
"""Each test takes some milliseconds; after this many, all other texts are hidden untested."""

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
        """Return a live document in which no text holds a secret."""
        return each_text(live, self._hidden) if self.seals or self._values else live

    def unshown(self, difference: Difference) -> Difference:
        """Return a difference that shows no secret of the live value."""
        return (
            difference
            if difference.before is ABSENT
            else replace(difference, before=self.hidden(difference.before))
        )

    def _hidden(self, text: str) -> str:
        is_public = isinstance(text, Template) or text == HIDDEN or text in self._public
        if is_public or len(text) < SHORTEST:
            return text
        # It may be a secret, or hold one: its lines, its words, parts of words.
        found = (text, text.strip(), *text.splitlines(), *_WORD.findall(text), *_PART.findall(text))
        pieces = dict.fromkeys(piece for piece in found if len(piece) >= SHORTEST)
        is_held = any(value in text for value in self._values) or any(map(self._fits, pieces))
        return HIDDEN if is_held else text

    def _fits(self, piece: str) -> bool:
        """Return whether a text has one of the seals, or too many texts were tried."""
        for name, sealed in self.seals:
            self._tried += 1
            if self._tried > MOST_TRIED or seal(piece, name, self.salt) == sealed:
                return True
        return False


@dataclass(frozen=True, slots=True)
class LiveRedaction:
    """One live document, and the declarations and seals that identify the secrets in it.

    `written` are all declarations that live may come from. Sent declarations come before the one
    that is about to be sent.
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

    A kept resource shows nothing of live, so nothing of it has to be hidden.
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


@dataclass(frozen=True, slots=True)
class PlanTarget:
    """The environment and the target of a plan, by name.

    `embedded` means that the target is the emulator in this process: there is no key to prove and
    no journal is missing. `salt` is the salt of the seals. `older` returns the seals of all secrets
    that a resource ever held, so that a plan shows no older secret.
    """

    environment: str
    target: str
    embedded: bool = False
    salt: str = ""
    older: Older = no_seals

    def __str__(self) -> str:
        return f"{self.environment} at {self.target}"


NAMESPACE = UUID("b1a0c3de-51f4-5d27-9a3e-7c1d2f60a4b8")


@dataclass(frozen=True, slots=True)
class Knowledge:
    """All inputs of a decision.

    `ids` are the remote ids known before any write. `seed` is the seed of the journal's request
    ids.
    """

    observation: Observation
    memory: Memory
    ids: Mapping[Ref, RemoteId]
    target: PlanTarget
    seed: str = ""


def decide(manifest: Manifest, knowledge: Knowledge) -> Change:
    """Return the change that makes live as declared, or a blocked change with the reason."""
    kind = BY_NAME[manifest.ref.kind]
    if manifest.references:
        manifest = replace(manifest, spec=resolve(manifest.spec, knowledge.ids))
    memory, observation = knowledge.memory, knowledge.observation
    declared = kind.remote.complete(manifest, observation, memory)
    undecided = Change(
        ref=manifest.ref,
        manifest=manifest,
        action=Action.KEEP,
        evidence=Evidence.NONE,
        observation=observation,
        declared=declared,
        body=declared,
        protected=memory.protected,
    )
    decided = with_protection(_decided(kind, undecided, manifest, knowledge))
    change = redacted(kind, decided, memory, knowledge.target.older, knowledge.target.salt)
    if not change.action.writes:
        return change
    return replace(
        change,
        reasons=(*change.reasons, *rollbacks_undone(kind, change, memory)),
        awaits=references_in(change.body),
        request_id=_request_id(change, knowledge),
    )


def _request_id(change: Change, knowledge: Knowledge) -> str:
    """Return the id of this attempt; a retry after a crash repeats the id in the journal.

    If the declaration has changed by then, it is another attempt with another id: a service that
    knows the id would drop the request, and may answer with a resource that no longer exists.
    """
    memory = knowledge.memory
    pending = memory.unsettled_create
    if pending is not None and pending.declared == change.declared:
        return pending.request_id
    attempt = memory.attempts + len(memory.earlier) + (memory.pending is not None)
    parts = knowledge.target, knowledge.seed, change.ref, digest(change.body), attempt
    return str(uuid5(NAMESPACE, "\n".join(map(str, parts))))


def _decided(kind: Kind, change: Change, manifest: Manifest, knowledge: Knowledge) -> Change:
    match knowledge.observation:
        case Seen() as seen:
            return _against_live(kind, change, seen, manifest, knowledge)
        case Absent():
            return _create(kind, change, manifest, knowledge.memory)
        case Remembered(document=document):
            return _against_memory(kind, change, document, knowledge.memory)
        case Unknown() as unknown:
            return _unseen(kind, change, unknown, knowledge)
        case Unread(why=why, exit_code=exit_code):
            return blocked(change, [CouldNotBeRead(why, exit_code)])
        case unknown_case:
            assert_never(unknown_case)


def _against_live(
    kind: Kind, change: Change, seen: Seen, manifest: Manifest, knowledge: Knowledge
) -> Change:
    """Merge, compare, and collect what follows from a write. Nothing is hidden yet."""
    memory, declared = knowledge.memory, change.declared
    live = conceal(seen.document, declared, kind.shape)
    assert isinstance(live, dict)  # noqa: S101 - concealing keeps the form
    seen = replace(seen, document=live)
    body: Json = live
    # Merged one after the other: a joined base would lose the list items that only one candidate
    # has.
    for base in memory.candidates or (ABSENT,):
        body = merge(base, declared, body, kind.shape)
    assert isinstance(body, dict)  # noqa: S101 - a merge of objects is one
    change = replace(change, evidence=Evidence.LIVE, observation=seen, body=body, before=live)
    recalled = [Recalled(seen.recalled)] if seen.recalled else []
    wrong = _what_is_wrong(kind, manifest, seen, memory)
    if wrong is not None:
        return blocked(replace(change, reasons=(*recalled,)), [wrong])
    compared = tuple(differences(live, body, kind.shape))
    found = tuple(unexpected(compared, memory, kind.shape))
    left_out = unseen_left_out(kind, seen, body)
    reasons = [
        *_lost_answers(memory),
        *recalled,
        *unseen_fields(seen, found),
        *sent_again_in(seen, left_out),
    ]
    change = replace(change, since_applied=tuple(_since_applied(kind, change, seen, knowledge)))
    if not found:
        is_risky = any(risk.consent is not ConsentRule.NEVER for risk in kind.weakens(change))
        kept = change.since_applied if is_risky or memory.protected else ()
        return replace(change, reasons=tuple(reasons), since_applied=kept)
    # The service restores its own rewrites after every write, so a write does not lose them.
    remade = {difference.path for difference in compared} - {
        difference.path for difference in found
    }
    destroyed = members_destroyed(kind, live, body, remade)
    ours = members_by_name(kind, memory.base)
    change = replace(
        change,
        action=Action.UPDATE,
        differences=found,
        destroys=tuple(destroyed),
        lost=tuple(destroyed.values()),
        foreign=tuple(name for name in destroyed if ours.get(name) is None),
        reasons=(
            *reasons,
            *_others(kind, seen, knowledge, found),
            *lost_unseen(kind, seen, destroyed),
        ),
    )
    needed = (*left_out, *needed_left_out(kind, seen, body))
    return blocked(change, [NeededUnseen(needed)]) if needed else change


def _what_is_wrong(kind: Kind, manifest: Manifest, seen: Seen, memory: Memory) -> Reason | None:
    """Return why the object found is not the declared one; None where it is."""
    created = memory.unsettled_create
    if created is not None:
        found = covers(seen.document, created.declared, kind.shape)
        return None if found else CreateLost(created.at, "another")
    declared = kind.declared_id(manifest)
    if declared is None or seen.remote_id is None or declared == memory.instead_of:
        return None
    if kind.id_form.normal(declared) == kind.id_form.normal(seen.remote_id):
        return None
    return AnotherId(declared, seen.remote_id)


def _others(
    kind: Kind, seen: Seen, knowledge: Knowledge, found: Sequence[Difference]
) -> Iterator[Reason]:
    """Yield the reasons why an update may overwrite the work of others.

    A value of our own write is no edit of others, even while that write is in doubt.
    """
    live, memory = seen.document, knowledge.memory
    # Live equals the document that a write in doubt began from, so no other has changed it.
    doubted = {started.seen for started in memory.doubted}
    if memory.last is None and (not memory.candidates or digest(live) in doubted):
        if not kind.singleton or value_at(live, kind.destroyable) != []:
            differs = not all(seen.cannot_tell(difference.path) for difference in found)
            yield TakesOver(seen.edit, differs)
        return
    edits = [edited_since(kind, seen, candidate, knowledge) for candidate in memory.candidates]
    if not all(edits):
        return
    written = set(places_before(found))
    fewest = min(edits, key=len)
    undone = tuple(path for path in fewest if any(_meet(path, place) for place in written))
    if undone:
        yield OverwritesEdit(undone, seen.edit)
    elif seen.edit.told:
        yield EditedBy(seen.edit)


def _since_applied(
    kind: Kind, change: Change, seen: Seen, knowledge: Knowledge
) -> Iterator[Difference]:
    """Yield the declared changes since the last apply in fields that were also edited live.

    A comparison with live alone would miss such a change, or show too small a change, where the
    live edit resembles it. Only the fields that a guard is about are compared.
    """
    memory = knowledge.memory
    if not memory.candidates or not (kind.risky or memory.protected):
        return
    applied = memory.candidates[-1]
    if applied == change.declared:
        return
    edited = edited_since(kind, seen, applied, knowledge)
    for difference in differences(applied, change.declared, kind.shape):
        is_guarded = memory.protected or difference.path in kind.risky
        if is_guarded and any(_meet(difference.path, path) for path in edited):
            yield difference


def edited_since(kind: Kind, seen: Seen, applied: Json, knowledge: Knowledge) -> list[Path]:
    """Return the fields that differ from the applied values, without our own unchanged secrets.

    Fields that the service does not return are no edits. While a write is in doubt, a missing
    member is no edit either: perhaps it was never stored.
    """
    doubted = knowledge.memory.pending is not None
    wanted = merge(ABSENT, applied, seen.document, kind.shape)
    compared = differences(seen.document, wanted, kind.shape)
    found = unexpected(compared, knowledge.memory, kind.shape)
    visible = (
        difference
        for difference in found
        if not seen.cannot_tell(difference.path)
        and not (doubted and any(members_missing(difference, kind.shape)))
    )
    return list(places_before(without_own_secrets(visible, knowledge.target.salt)))


def without_own_secrets(found: Iterable[Difference], salt: str) -> Iterator[Difference]:
    """Yield the differences, without those between a seal and the text that it seals."""
    for difference in found:
        if not is_seal_of(difference.before, difference.after, salt):
            yield difference


def _meet(one: Path, other: Path) -> bool:
    """Return whether two places are equal, or one is inside the other."""
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]


def _lost_answers(memory: Memory) -> list[Reason]:
    pending = memory.pending
    if pending is None:
        return []
    if pending.operation == "create":
        return [CreateLost(pending.at, "happened")]
    return [WriteLost(pending.at)]


def _create(kind: Kind, change: Change, manifest: Manifest, memory: Memory) -> Change:
    change = replace(change, evidence=Evidence.LIVE)
    cause = kind.cannot_create(manifest) or settled_wrongly(kind, manifest, memory)
    if cause:
        return blocked(change, [CannotBeCreated(cause)])
    reasons: list[Reason] = []
    if memory.last is not None:
        reasons.append(GoneSince(memory.last.at))
    elif memory.unsettled_create is not None:
        reasons.append(CreateLost(memory.unsettled_create.at, "never-happened"))
    if memory.pending is not None and memory.pending.operation == "replace":
        reasons.append(NeverSeen(memory.pending.at))
    return _written_whole(kind, change, Action.CREATE, reasons)


def _against_memory(kind: Kind, change: Change, before: Json, memory: Memory) -> Change:
    last = memory.last
    found = tuple(differences(before, change.declared, kind.exact_shape))
    # An imported resource was only seen, never written.
    return replace(
        change,
        action=Action.UPDATE if found else Action.KEEP,
        evidence=Evidence.JOURNAL,
        differences=found,
        reasons=(Imported(last.at),) if last is not None and last.origin else (),
    )


def _unseen(kind: Kind, change: Change, unknown: Unknown, knowledge: Knowledge) -> Change:
    memory = knowledge.memory
    if (created := memory.unsettled_create) is not None:
        return blocked(change, [CreateLost(created.at, "unknown")])
    reasons: list[Reason] = [CannotBeAsked(unknown.why), *_lost_answers(memory)]
    action = Action.CREATE if unknown.remote_id is None else Action.ASSERT
    is_ours = knowledge.target.embedded or bool(memory.candidates) or memory.exists
    if action is Action.ASSERT and not is_ours:
        reasons.append(NeverWritten())
    return _written_whole(kind, change, action, reasons)


def _written_whole(kind: Kind, change: Change, action: Action, reasons: Iterable[Reason]) -> Change:
    """Return a change that writes all that is declared, as no live document was compared."""
    found = tuple(differences({}, change.declared, kind.exact_shape))
    return replace(change, action=action, differences=found, reasons=tuple(reasons))
