"""The entries of a journal: one declaration, by which they are written and read.

The names and the order of the fields are those of the lines, in camel case. A field with a default
is left out of a line where it has that value. Source: docs/journal.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal, TypeAlias, get_args

from pydantic import GetPydanticSchema, model_validator

from reconciler.journal import line_fields as of
from reconciler.journal.line_fields import LazyField
from reconciler.model import NO_SERVER_INFO

FORMAT = 1
_ADOPTED_BEFORE = "live was already as declared"


@dataclass(frozen=True, slots=True, kw_only=True)
class Header(of.JournalLine):
    """The first line: the environment and the target of the journal.

    After compacting or moving, `continues` is the last sum of the journal before that. The digests
    of its secrets are salted with the name of the target, or with `sealed_for` where the target
    moved to another address. `begun_by` is the command that began it, "" where a person had
    confirmed that no earlier journal is lost.
    """

    environment: str
    target: str
    created: str
    continues: str = ""
    sealed_for: str = ""
    begun_by: str = ""


@dataclass(frozen=True, kw_only=True)
class LastWrite(of.JournalLine):
    """The last write that the service acknowledged.

    `revision`, if the service returned it, is what a read shows until anyone writes again. `origin`
    is that of an `ImportedEntry`, where nothing was written. `told` is what else the service
    returned.
    """

    remote_id: of.MaybeId
    at: of.Text
    declared: of.Object
    rewritten: of.Pairs
    revision: of.Said = ""
    origin: of.Said = ""
    told: of.ToldField = NO_SERVER_INFO


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
    """The beginning of a run: who applies what, from which commit; it is the run's first entry.

    `outcomes` are counts by entry, which compacting fills in for the entries that it drops.
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
    """A write that is about to be sent. `declared` is the base of the next merge, secrets sealed.

    `seen` is the digest of the observation behind the write. `takes_back` is what this write
    undoes, if it is a rollback. `brings_back` are the fields that an earlier rollback undid and
    this write declares again.
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
    """The live document right before a write replaces it, with secrets sealed or hidden.

    `live` has the form of `spec`, None where its text of `size` characters is too long to keep.
    `unseen` are the fields that were not in the answer and are unknown.
    """

    entry: Literal["backup"] = "backup"
    remote_id: of.MaybeId
    size: of.Count
    live: of.GivenObject = None
    unseen: of.PathsField = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentifiedEntry(_OfWrite):
    """The service returned the id; the write is not finished or not seen yet.

    `instead_of` is the declared id, where the service gave another.
    """

    entry: Literal["identified"] = "identified"
    remote_id: of.KnownId
    instead_of: of.MaybeId = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenEntry(_OfWrite):
    """The service acknowledged the write.

    `adopted` means that nothing was sent, as live was already as declared. `revision`, if the
    service returned it, is what a read shows until anyone writes again. `instead_of` is the
    declared id, where the service gave another. `told` has the other facts of the answer that later
    runs use. `unchanged` means that the service found nothing to change, and `put_back` that the
    write undid the write before it, in the same run.
    """

    entry: Literal["written"] = "written"
    remote_id: of.MaybeId
    message: of.Said = ""
    adopted: of.Flag = False
    revision: of.Said = ""
    instead_of: of.MaybeId = None
    told: of.ToldField = NO_SERVER_INFO
    unchanged: of.Flag = False
    put_back: of.Flag = False

    @model_validator(mode="before")
    @classmethod
    def _adopted(cls, document: of.LineDocument) -> of.LineDocument:
        """Read old entries, in which the message meant `adopted`, before that was a field."""
        if "message" not in document:
            return document
        adopted = document.get("adopted") is True or document["message"] == _ADOPTED_BEFORE
        return {**document, "message": "", "adopted": True} if adopted else document


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored(_OfWrite):
    """The fields that a read after the write showed to be stored differently."""

    entry: Literal["stored"] = "stored"
    rewritten: of.Pairs


@dataclass(frozen=True, kw_only=True)
class ImportedEntry(_OfWrite):
    """A manifest for what was seen live, or was in an export: nothing was sent.

    `origin` is "live" or "export"; `adopted` means that the manifest took over what is live.
    """

    entry: Literal["imported"] = "imported"
    remote_id: of.MaybeId
    origin: of.Text
    declared: of.Object
    adopted: of.Flag = False
    revision: of.Said = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedEntry(_OfWrite):
    """The service refused the write, so nothing changed."""

    entry: Literal["refused"] = "refused"
    message: of.Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled(_OfResource):
    """A person settled a create; `remote_id` is None where it never happened."""

    entry: Literal["settled"] = "settled"
    remote_id: of.MaybeId


@dataclass(frozen=True, slots=True, kw_only=True)
class OverrideEntry(_Entry):
    """A person overrode guards, with the reason; `codes` are the overridden guards."""

    entry: Literal["override"] = "override"
    reason: of.Text
    codes: of.Names = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfrozen(_Entry):
    """A person applied during a freeze, with the reason; `frozen` is the freeze message."""

    entry: Literal["unfrozen"] = "unfrozen"
    reason: of.Text
    frozen: of.Said = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalEntry(_Entry):
    """A person approved the plan of the run: who, the fingerprint of the key, and until when."""

    entry: Literal["approved"] = "approved"
    principal: of.Text
    fingerprint: of.Text
    until: of.Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted(_OfResource):
    """The state of one resource in a compacted journal, besides the writes in doubt before it.

    `last` is None where no write was ever acknowledged. `versions` are those that its writes made,
    the oldest first. `seals` are the seals of older values of its secrets. `taken_back` is what
    rollbacks undid and no later write declared again.
    """

    entry: Literal["kept"] = "kept"
    remote_id: of.MaybeId
    exists: of.Flag
    attempts: of.Count
    protect: of.Flag
    instead_of: of.MaybeId = None
    # A field that is left out is None here, and null is refused.
    last: Annotated[LastWrite | None, GetPydanticSchema(lambda _, read: read(LastWrite))] = None
    versions: of.Versions = ()
    seals: of.Seals = ()
    taken_back: of.AllTakenBack = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Renamed(_OfResource):
    """From here on the memory of `was` is the memory of `ref`.

    `run` is "" where a person renamed it, and not an apply.
    """

    entry: Literal["renamed"] = "renamed"
    was: of.NamedRef
    run: of.Text = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten(_OfResource):
    """A person removed a resource from this journal."""

    entry: Literal["forgotten"] = "forgotten"


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved(_Entry):
    """The last line of a journal that moved to another place; this journal is not used again.

    `run` is the `run` of the `MovedIn` at the other place.
    """

    entry: Literal["moved"] = "moved"
    run: of.Text
    to: of.Text


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedIn(_Entry):
    """The lines before this one were copied from the place `origin`.

    As the last line it counts only once the journal at `origin` ends in the `Moved` of the same
    `run`. Until then the journal at `origin` is in use.
    """

    entry: Literal["arrived"] = "arrived"
    run: of.Text
    origin: of.Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Drifted(_Entry):
    """A check for drift, and what changed since the check before.

    `found` is new or other drift, and `over` is drift that ended, so that a night without news is
    one short line.
    """

    entry: Literal["drifted"] = "drifted"
    found: of.Drifts = ()
    over: of.Refs = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedEntry(_Entry):
    """A check whether the alerts that `run` wrote became noisier, up to the time `until`."""

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
AboutRuns: TypeAlias = Renamed | Forgotten | RunEntry | OverrideEntry | Unfrozen | ApprovalEntry
Looked: TypeAlias = Drifted | WatchedEntry
Entry: TypeAlias = AboutWrites | Backup | AboutRuns | Looked | Moved | MovedIn
DOCUMENTS: Mapping[type, str] = {
    Started: "declared",
    ImportedEntry: "declared",
    Backup: "live",
    LastWrite: "declared",
}
"""The fields that hold whole documents, most of a journal's text: they may be kept as text."""

for _kind, _name in DOCUMENTS.items():
    # Set outside the class, where it would be the default of the field.
    setattr(_kind, _name, LazyField(_name))

ENTRY_NAMES: tuple[str, ...] = tuple(
    value.__dataclass_fields__["entry"].default for value in get_args(Entry)
)
"""The name of each entry in lines, in the order of the union."""
