"""What a journal says, entry by entry: one declaration, by which they are written and read.

The names and the order of the fields are those of the lines, in camel case. A field with a
default is left out of a line where it has that value. Source: docs/journal.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal, TypeAlias, get_args

from pydantic import GetPydanticSchema, model_validator

from reconciler.document.lazy_json import let_open
from reconciler.journal import line_fields as of
from reconciler.model import NOTHING_TOLD

FORMAT = 1
_ADOPTED_BEFORE = "live was already as declared"


@dataclass(frozen=True, slots=True, kw_only=True)
class Header(of.JournalLine):
    """The first line: what the journal is of.

    A journal that was compacted or moved `continues` one that ended with that sum.
    The digests of its secrets are salted with the name of the target, or with
    `sealed_for` where it was taken along from another address.
    """

    environment: str
    target: str
    created: str
    continues: str = ""
    sealed_for: str = ""


@dataclass(frozen=True, kw_only=True)
class LastWrite(of.JournalLine):
    """The last write that the service acknowledged.

    `revision` is what a read shows until somebody writes again, where it was told, and
    `origin` that of an `ImportedEntry`, where nothing was written. `told` is what else the
    service said of it.
    """

    remote_id: of.MaybeId
    at: of.Text
    declared: of.Object
    rewritten: of.Pairs
    revision: of.Said = ""
    origin: of.Said = ""
    told: of.ToldField = NOTHING_TOLD


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry(of.JournalLine):
    at: of.Text


@dataclass(frozen=True, slots=True, kw_only=True)
class _OfResource(_Entry):
    ref: of.NamedRef


@dataclass(frozen=True, slots=True, kw_only=True)
class _OfWrite(_OfResource):
    run: of.Text


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEntry(_Entry):
    """A run begins: who applies what, from which commit. First entry of all that it appends.

    `outcomes` are counts by entry, which compacting fills in for what it drops.
    """

    entry: Literal["run"] = "run"
    run: of.Text
    actor: of.Text
    commit: of.Text
    digest: of.Text
    command: of.Text
    outcomes: Mapping[of.Text, of.Count] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Started(_OfWrite):
    """About to be sent. `declared` is what the next merge starts from, secrets sealed.

    `seen` is the digest of the observation that the write rests on. A rollback says what it
    `takes_back`, and a later write which places of that it `brings_back`.
    """

    entry: Literal["started"] = "started"
    operation: of.Operation
    remote_id: of.MaybeId
    request_id: of.Text
    seen: of.Text
    declared: of.Object
    protect: of.Flag = False
    takes_back: of.AllTakenBack = ()
    brings_back: of.PathsField = ()


@dataclass(frozen=True, kw_only=True)
class Backup(_OfWrite):
    """What was live right before a write replaces it, secrets sealed or hidden.

    `live` has the form of `spec`, None where its text of `size` characters is more than is kept.
    `unseen` are the fields that were not in the answer and that nobody knew.
    """

    entry: Literal["backup"] = "backup"
    remote_id: of.MaybeId
    size: of.Count
    live: of.GivenObject = None
    unseen: of.PathsField = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentifiedEntry(_OfWrite):
    """The service has told the id, and the write is not finished yet, or not seen.

    `instead_of` is the id that was declared, where the service gave another.
    """

    entry: Literal["identified"] = "identified"
    remote_id: of.KnownId
    instead_of: of.MaybeId = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenEntry(_OfWrite):
    """The service acknowledged the write.

    `adopted` says that nothing was sent, as live was already as declared, and
    `revision` is what a read shows until somebody writes again, where it was told.
    `instead_of` is the id that was declared, where the service gave another, and `told` is
    what else the answer said that later questions need. `unchanged` says that the service saw
    nothing to change, and `put_back` that it undid the write before it, of the same run.
    """

    entry: Literal["written"] = "written"
    remote_id: of.MaybeId
    message: of.Said = ""
    adopted: of.Flag = False
    revision: of.Said = ""
    instead_of: of.MaybeId = None
    told: of.ToldField = NOTHING_TOLD
    unchanged: of.Flag = False
    put_back: of.Flag = False

    @model_validator(mode="before")
    @classmethod
    def _adopted(cls, document: of.LineDocument) -> of.LineDocument:
        """Read what told that it was adopted by its message, until that was a field of its own."""
        if "message" not in document:
            return document
        adopted = document.get("adopted") is True or document["message"] == _ADOPTED_BEFORE
        return {**document, "message": "", "adopted": True} if adopted else document


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored(_OfWrite):
    """What a read after the write showed: the fields that are not as they were sent."""

    entry: Literal["stored"] = "stored"
    rewritten: of.Pairs


@dataclass(frozen=True, kw_only=True)
class ImportedEntry(_OfWrite):
    """A manifest is about what was seen live, or stood in an export: nothing was sent.

    `origin` is "live" or "export"; `adopted` says that the manifest took over what is live.
    """

    entry: Literal["imported"] = "imported"
    remote_id: of.MaybeId
    origin: of.Text
    declared: of.Object
    adopted: of.Flag = False
    revision: of.Said = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedEntry(_OfWrite):
    """The service said no, so nothing changed."""

    entry: Literal["refused"] = "refused"
    message: of.Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled(_OfResource):
    """A person said what became of a create; `remote_id` is None where it never happened."""

    entry: Literal["settled"] = "settled"
    remote_id: of.MaybeId


@dataclass(frozen=True, slots=True, kw_only=True)
class OverrideEntry(_Entry):
    """A person applied more than a guard allows, and why; `codes` are the guards so lifted."""

    entry: Literal["override"] = "override"
    reason: of.Text
    codes: of.Names = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfrozen(_Entry):
    """A person applied what was frozen, and why; `frozen` says what stood against it."""

    entry: Literal["unfrozen"] = "unfrozen"
    reason: of.Text
    frozen: of.Said = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted(_OfResource):
    """What a compacted journal keeps of one resource, beside the writes in doubt before it.

    `last` is None where no write was ever acknowledged. `versions` are those that its
    writes made, the oldest first, and `seals` stand for older values of its secrets.
    `taken_back` is what rollbacks put back and nobody brought back since.
    """

    entry: Literal["kept"] = "kept"
    remote_id: of.MaybeId
    exists: of.Flag
    attempts: of.Count
    protect: of.Flag
    instead_of: of.MaybeId = None
    # What is left out is None here, and null is refused.
    last: Annotated[LastWrite | None, GetPydanticSchema(lambda _, read: read(LastWrite))] = None
    versions: of.Versions = ()
    seals: of.Seals = ()
    taken_back: of.AllTakenBack = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Renamed(_OfResource):
    """What was remembered as `was` is the memory of `ref` from here on.

    `run` is "" where a person said so, and not an apply.
    """

    entry: Literal["renamed"] = "renamed"
    was: of.NamedRef
    run: of.Text = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten(_OfResource):
    """A person said that a resource is no concern of this journal any more."""

    entry: Literal["forgotten"] = "forgotten"


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved(_Entry):
    """The last line of a journal that goes on at another place; nothing uses this one again.

    `run` is that of the `MovedIn` there.
    """

    entry: Literal["moved"] = "moved"
    run: of.Text
    to: of.Text


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedIn(_Entry):
    """The lines before this one were carried here from the place `origin`.

    As the last line it counts only once the journal at `origin` ends in the
    `Moved` of the same `run`: until then that one is the journal.
    """

    entry: Literal["arrived"] = "arrived"
    run: of.Text
    origin: of.Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Drifted(_Entry):
    """Somebody looked for drift, and what is not as it was at the look before.

    `found` is new or other drift, and `over` what has drifted no more, so that a night
    without news is one short line.
    """

    entry: Literal["drifted"] = "drifted"
    found: of.Drifts = ()
    over: of.Refs = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedEntry(_Entry):
    """Somebody looked whether the alerts that `run` wrote are noisier since.

    The look was at the time up to `until`.
    """

    entry: Literal["watched"] = "watched"
    run: of.Text
    until: of.Text
    found: of.Verdicts = ()


AboutWrites: TypeAlias = (
    Started
    | IdentifiedEntry
    | WrittenEntry
    | Stored
    | ImportedEntry
    | RefusedEntry
    | Settled
    | Compacted
)
AboutRuns: TypeAlias = Renamed | Forgotten | RunEntry | OverrideEntry | Unfrozen
Looked: TypeAlias = Drifted | WatchedEntry
Entry: TypeAlias = AboutWrites | Backup | AboutRuns | Looked | Moved | MovedIn
DOCUMENTS: Mapping[type, str] = {
    Started: "declared",
    ImportedEntry: "declared",
    Backup: "live",
    LastWrite: "declared",
}
"""The fields that hold whole documents, most of what a journal is: they may be packed."""

for _kind, _name in DOCUMENTS.items():
    let_open(_kind, _name)

ENTRY_NAMES: tuple[str, ...] = tuple(
    value.__dataclass_fields__["entry"].default for value in get_args(Entry)
)
"""What a line calls each, in the order of the union."""
