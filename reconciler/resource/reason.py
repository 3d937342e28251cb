"""Why a change is as it is: values with a code. Their words are made in `report`. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from reconciler.document import Path
from reconciler.resource.declared import Ref, RemoteId
from reconciler.resource.observation import LastEdit


@dataclass(frozen=True, slots=True)
class CannotBeAsked:
    """The API has no way to ask for it; `said` is what the kind knows of that."""

    code: ClassVar[str] = "cannot-be-asked"
    said: str


@dataclass(frozen=True, slots=True)
class CouldNotBeRead:
    """It was asked for, and the answer is of no use."""

    code: ClassVar[str] = "unread"
    said: str
    exit_code: int


@dataclass(frozen=True, slots=True)
class CannotBeCreated:
    """It is not there, and creating it is no way to make it so."""

    code: ClassVar[str] = "cannot-be-created"
    said: str


@dataclass(frozen=True, slots=True)
class Objected:
    """The service was asked about the write, and this is what it objects to."""

    code: ClassVar[str] = "objected"
    said: str


@dataclass(frozen=True, slots=True)
class DependsOn:
    """What it refers to is blocked."""

    code: ClassVar[str] = "depends-on"
    refs: tuple[Ref, ...]


@dataclass(frozen=True, slots=True)
class NotSelected:
    """What it refers to was left out by `--select` or `--exclude`, and nobody knows its id yet."""

    code: ClassVar[str] = "not-selected"
    refs: tuple[Ref, ...]


@dataclass(frozen=True, slots=True)
class CreateLost:
    """The answer to its create was lost; `became` is what is known of that by now.

    `unknown` where nobody can be asked, `another` where something else stands in its place.
    """

    code: ClassVar[str] = "create-lost"
    at: str
    became: Literal["happened", "never-happened", "unknown", "another"]


@dataclass(frozen=True, slots=True)
class WriteLost:
    """The answer to an earlier write was lost."""

    code: ClassVar[str] = "write-lost"
    at: str


@dataclass(frozen=True, slots=True)
class GoneSince:
    """It was written, and is there no longer."""

    code: ClassVar[str] = "gone-since"
    at: str


@dataclass(frozen=True, slots=True)
class NeverSeen:
    """It was sent, be it acknowledged or not, and no read has shown it."""

    code: ClassVar[str] = "never-seen"
    at: str


@dataclass(frozen=True, slots=True)
class EditedBy:
    """Someone else changed it after our last write."""

    code: ClassVar[str] = "edited-by"
    edit: LastEdit


@dataclass(frozen=True, slots=True)
class OverwritesEdit:
    """The write would undo what someone else changed in these fields since our last write."""

    code: ClassVar[str] = "overwrites-edit"
    paths: tuple[Path, ...]
    edit: LastEdit


@dataclass(frozen=True, slots=True)
class OverwrittenSince:
    """Someone wrote it again since our last write, and these fields are not in the answer."""

    code: ClassVar[str] = "overwritten-since"
    paths: tuple[Path, ...]
    edit: LastEdit


@dataclass(frozen=True, slots=True)
class TakesOver:
    """It is there, and this journal never wrote it; `differs` unless what may cannot be seen."""

    code: ClassVar[str] = "takes-over"
    edit: LastEdit
    differs: bool = True


@dataclass(frozen=True, slots=True)
class NeverWritten:
    """It cannot be read, and this journal neither wrote nor imported what has its id.

    `names` are those that incidents and events give for the id, and `declared` is the one of
    the manifest; "" where nothing was asked.
    """

    code: ClassVar[str] = "never-written"
    names: tuple[str, ...] = ()
    declared: str = ""

    @property
    def is_another(self) -> bool:
        """Whether what has the id bears another name than the declared one."""
        return bool(self.names) and self.declared not in self.names


@dataclass(frozen=True, slots=True)
class UndoesRollback:
    """These fields are declared as they were before `actor` rolled them back at that time."""

    code: ClassVar[str] = "undoes-rollback"
    paths: tuple[Path, ...]
    actor: str
    at: str


@dataclass(frozen=True, slots=True)
class Recalled:
    """These fields are not in the answer, and are compared with the journal."""

    code: ClassVar[str] = "recalled"
    paths: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Imported:
    """It cannot be asked for, and is compared with what an import took for it at that time."""

    code: ClassVar[str] = "imported"
    at: str


@dataclass(frozen=True, slots=True)
class NotInAnswer:
    """These fields are not in the answer, and the journal has nothing of them either."""

    code: ClassVar[str] = "not-in-answer"
    paths: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class NeededUnseen:
    """Every write has to send these fields, and the one that is planned would not."""

    code: ClassVar[str] = "needed-unseen"
    paths: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class LostUnseen:
    """It destroys what nobody can keep whole: these fields of these members cannot be seen."""

    code: ClassVar[str] = "lost-unseen"
    names: tuple[str, ...]
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RenamedFrom:
    """The same object was declared under another name at its last apply."""

    code: ClassVar[str] = "renamed-from"
    ref: Ref


@dataclass(frozen=True, slots=True)
class LooksLike:
    """It would be created, and is much like what is no longer declared."""

    code: ClassVar[str] = "looks-like"
    refs: tuple[Ref, ...]


@dataclass(frozen=True, slots=True)
class AnotherObject:
    """Until now the manifest was about the object of this id."""

    code: ClassVar[str] = "another-object"
    remote_id: RemoteId


@dataclass(frozen=True, slots=True)
class AnotherId:
    """There is nothing with the declared id, and the journal or a slug leads to another object."""

    code: ClassVar[str] = "another-id"
    declared: RemoteId
    found: RemoteId


@dataclass(frozen=True, slots=True)
class SameObject:
    """Other manifests are about the same object of the service; `remote_id` is None for a list."""

    code: ClassVar[str] = "same-object"
    refs: tuple[Ref, ...]
    remote_id: RemoteId | None


@dataclass(frozen=True, slots=True)
class ProtectionTurns:
    """It is protected from this apply on, or no longer."""

    code: ClassVar[str] = "protection"
    begins: bool


@dataclass(frozen=True, slots=True)
class IncidentsUnread:
    """It would be silenced, and whether it has open incidents could not be found out."""

    code: ClassVar[str] = "incidents-unread"
    said: str


@dataclass(frozen=True, slots=True)
class RuleWarns:
    """A rule of the team's own, by its code, has something against the change that stops none."""

    code: ClassVar[str] = "rule-warns"
    rule: str
    said: str


@dataclass(frozen=True, slots=True)
class PutBack:
    """It is put back as it was at that time: as it was declared, or as it was live.

    `later` are the runs that wrote it since the run that is rolled back.
    """

    code: ClassVar[str] = "put-back"
    state: Literal["declared", "live"]
    at: str
    later: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MadeByRun:
    """The run that is rolled back created it, and the API has no delete."""

    code: ClassVar[str] = "made-by-run"
    remote_id: RemoteId | None


@dataclass(frozen=True, slots=True)
class NothingBefore:
    """Nothing is known of it from before the run that is rolled back.

    `compacted` says that the journal was made short since; else nothing was declared then.
    `live` says that what was live is kept.
    """

    code: ClassVar[str] = "nothing-before"
    compacted: bool
    live: bool


@dataclass(frozen=True, slots=True)
class SecretsLost:
    """What it was held secrets that have another value by now, or none.

    Without names it is one that nobody declared, so that it was not kept.
    """

    code: ClassVar[str] = "secrets-lost"
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NotSeenThen:
    """What was live is kept without these fields: no answer had them, and nobody knew them."""

    code: ClassVar[str] = "not-seen-then"
    paths: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class FailsChecks:
    """What it was has errors at these paths, with which no manifest is accepted."""

    code: ClassVar[str] = "fails-checks"
    paths: tuple[Path, ...]
    said: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MadeAnew:
    """These members are gone, and come back as others with the same content: with other ids."""

    code: ClassVar[str] = "made-anew"
    names: tuple[str, ...]


Reason: TypeAlias = (
    CannotBeAsked
    | CouldNotBeRead
    | CannotBeCreated
    | Objected
    | DependsOn
    | NotSelected
    | CreateLost
    | WriteLost
    | GoneSince
    | NeverSeen
    | EditedBy
    | OverwritesEdit
    | OverwrittenSince
    | TakesOver
    | NeverWritten
    | UndoesRollback
    | Recalled
    | Imported
    | NotInAnswer
    | NeededUnseen
    | LostUnseen
    | RenamedFrom
    | LooksLike
    | AnotherObject
    | AnotherId
    | SameObject
    | ProtectionTurns
    | IncidentsUnread
    | RuleWarns
    | PutBack
    | MadeByRun
    | NothingBefore
    | SecretsLost
    | NotSeenThen
    | FailsChecks
    | MadeAnew
)
