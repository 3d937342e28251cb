"""Why a change is as it is: values with a code, and with words. Pure.

`words` is a template over the fields of a reason; how fields are written, as `{paths:places}`,
is decided in reconciler/report/reasons.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from reconciler.document import Path
from reconciler.model.manifest import Ref, RemoteId
from reconciler.model.observation import LastEdit


@dataclass(frozen=True, slots=True)
class CannotBeAsked:
    """The API has no way to ask for it; `said` is what the kind knows of that."""

    code: ClassVar[str] = "cannot-be-asked"
    words: ClassVar[str] = "{said}"
    said: str


@dataclass(frozen=True, slots=True)
class CouldNotBeRead:
    """It was asked for, and the answer is of no use."""

    code: ClassVar[str] = "unread"
    words: ClassVar[str] = "it could not be read: {said}"
    said: str
    exit_code: int


@dataclass(frozen=True, slots=True)
class CannotBeCreated:
    """It is not there, and creating it is no way to make it so."""

    code: ClassVar[str] = "cannot-be-created"
    words: ClassVar[str] = "{said}"
    said: str


@dataclass(frozen=True, slots=True)
class Objected:
    """The service was asked about the write, and this is what it objects to."""

    code: ClassVar[str] = "objected"
    words: ClassVar[str] = "{said}"
    said: str


@dataclass(frozen=True, slots=True)
class DependsOn:
    """What it refers to is blocked."""

    code: ClassVar[str] = "depends-on"
    words: ClassVar[str] = "depends on {refs:listed}, which is blocked"
    refs: tuple[Ref, ...]


@dataclass(frozen=True, slots=True)
class NotSelected:
    """What it refers to was left out by `--select` or `--exclude`, and nobody knows its id yet."""

    code: ClassVar[str] = "not-selected"
    words: ClassVar[str] = (
        "refers to {refs:listed}, which is not selected and has no id yet: "
        "it must exist or be selected"
    )
    refs: tuple[Ref, ...]


@dataclass(frozen=True, slots=True)
class CreateLost:
    """The answer to its create was lost; `became` is what is known of that by now.

    `unknown` where nobody can be asked, `another` where something else stands in its place.
    """

    code: ClassVar[str] = "create-lost"
    at: str
    became: Literal["happened", "never-happened", "unknown", "another"]

    @property
    def words(self) -> str:
        """What is known of it by now, and how to settle it."""
        lost = "the answer to its create ({at}) was lost"
        match self.became:
            case "happened":
                return f"{lost}; it did happen"
            case "never-happened":
                return f"{lost}; it did not happen"
            case "another":
                return (
                    f"{lost}, and what is live now is not what was sent: look at it, "
                    "then run `{settle}`"
                )
            case "unknown":
                return (
                    f"{lost}, and the API cannot be asked: look for it, then run `{{settle}}` "
                    "or `--never-happened`"
                )


@dataclass(frozen=True, slots=True)
class WriteLost:
    """The answer to an earlier write was lost."""

    code: ClassVar[str] = "write-lost"
    words: ClassVar[str] = (
        "the answer to an earlier write ({at}) was lost, or no read showed what it did"
    )
    at: str


@dataclass(frozen=True, slots=True)
class GoneSince:
    """It was written, and is there no longer."""

    code: ClassVar[str] = "gone-since"
    words: ClassVar[str] = "written {at} and gone since: it will be created again"
    at: str


@dataclass(frozen=True, slots=True)
class NeverSeen:
    """It was sent, be it acknowledged or not, and no read has shown it."""

    code: ClassVar[str] = "never-seen"
    words: ClassVar[str] = "sent {at} and never seen since: it will be created again"
    at: str


@dataclass(frozen=True, slots=True)
class EditedBy:
    """Someone else changed it after our last write."""

    code: ClassVar[str] = "edited-by"
    words: ClassVar[str] = "live was last changed {edit}"
    edit: LastEdit


@dataclass(frozen=True, slots=True)
class OverwritesEdit:
    """The write would undo what someone else changed in these fields since our last write."""

    code: ClassVar[str] = "overwrites-edit"
    words: ClassVar[str] = (
        "undoes what someone changed since our last write{edit:by}: {paths:places}"
    )
    paths: tuple[Path, ...]
    edit: LastEdit


@dataclass(frozen=True, slots=True)
class OverwrittenSince:
    """Someone wrote it again since our last write, and these fields are not in the answer."""

    code: ClassVar[str] = "overwritten-since"
    words: ClassVar[str] = (
        "overwritten by someone since our last write{edit:by}: "
        "{paths:fields} cannot be seen, and are sent again"
    )
    paths: tuple[Path, ...]
    edit: LastEdit


@dataclass(frozen=True, slots=True)
class TakesOver:
    """It is there, and this journal never wrote it; `differs` unless what may cannot be seen."""

    code: ClassVar[str] = "takes-over"
    edit: LastEdit
    differs: bool = True

    @property
    def words(self) -> str:
        """That it was not ours, and whether it differs."""
        if self.differs:
            return "it is there, differs, and this journal never wrote it{edit:last}"
        return (
            "it is there, and this journal never wrote it; "
            "whether it differs cannot be seen{edit:last}"
        )


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

    @property
    def words(self) -> str:
        """That it was not ours, and what incidents and events call it."""
        said = "this journal neither wrote nor imported what has its id"
        if self.is_another:
            return (
                f"{said}: incidents and events call that {{names:quoted}}, and the manifest "
                "{declared:quoted}: make sure that the id is the right one"
            )
        known = ", and incidents and events call that by the declared name" if self.names else ""
        return f"{said}{known}"


@dataclass(frozen=True, slots=True)
class UndoesRollback:
    """These fields are declared as they were before `actor` rolled them back at that time."""

    code: ClassVar[str] = "undoes-rollback"
    words: ClassVar[str] = (
        "would bring back what {actor:someone} rolled back at {at}: {paths:places}"
    )
    paths: tuple[Path, ...]
    actor: str
    at: str


@dataclass(frozen=True, slots=True)
class Recalled:
    """These fields are not in the answer, and are compared with the journal."""

    code: ClassVar[str] = "recalled"
    words: ClassVar[str] = "{paths:fields}: not in the answer, compared with the journal"
    paths: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Imported:
    """It cannot be asked for, and is compared with what an import took for it at that time."""

    code: ClassVar[str] = "imported"
    words: ClassVar[str] = "compared with what was imported at {at}; it cannot be asked for"
    at: str


@dataclass(frozen=True, slots=True)
class NotInAnswer:
    """These fields are not in the answer, and the journal has nothing of them either."""

    code: ClassVar[str] = "not-in-answer"
    words: ClassVar[str] = "{paths:fields}: not in the answer, and the journal has none"
    paths: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class NeededUnseen:
    """Every write has to send these fields, and the one that is planned would not."""

    code: ClassVar[str] = "needed-unseen"
    words: ClassVar[str] = (
        "every write needs these, and the manifest leaves them out: declare "
        "them in the manifest: {paths:places}"
    )
    paths: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class LostUnseen:
    """It destroys what nobody can keep whole: these fields of these members cannot be seen."""

    code: ClassVar[str] = "lost-unseen"
    words: ClassVar[str] = (
        "{fields:listed} of what is destroyed: not in the answer, and the journal "
        "has none, so they cannot be restored: {names:listed}"
    )
    names: tuple[str, ...]
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RenamedFrom:
    """The same object was declared under another name at its last apply."""

    code: ClassVar[str] = "renamed-from"
    words: ClassVar[str] = "renamed: until its last apply it was {ref}"
    ref: Ref


@dataclass(frozen=True, slots=True)
class LooksLike:
    """It would be created, and is much like what is no longer declared."""

    code: ClassVar[str] = "looks-like"
    words: ClassVar[str] = "much like what was {refs:listed} at its last apply"
    refs: tuple[Ref, ...]


@dataclass(frozen=True, slots=True)
class AnotherObject:
    """Until now the manifest was about the object of this id."""

    code: ClassVar[str] = "another-object"
    words: ClassVar[str] = "until now this was about {remote_id}"
    remote_id: RemoteId


@dataclass(frozen=True, slots=True)
class AnotherId:
    """There is nothing with the declared id, and the journal or a slug leads to another object."""

    code: ClassVar[str] = "another-id"
    words: ClassVar[str] = (
        "the service has nothing with the declared id {declared}, and the journal or the "
        "slug leads to {found}: declare that id, or correct or remove the declared one"
    )
    declared: RemoteId
    found: RemoteId


@dataclass(frozen=True, slots=True)
class SameObject:
    """Other manifests are about the same object of the service; `remote_id` is None for a list."""

    code: ClassVar[str] = "same-object"
    refs: tuple[Ref, ...]
    remote_id: RemoteId | None

    @property
    def words(self) -> str:
        """What the manifests are about."""
        thing = "list" if self.remote_id is None else "object {remote_id}"
        return f"about the same {thing} as {{refs:listed}}: declare it once"


@dataclass(frozen=True, slots=True)
class ProtectionTurns:
    """It is protected from this apply on, or no longer."""

    code: ClassVar[str] = "protection"
    begins: bool

    @property
    def words(self) -> str:
        """From when on it is protected, or no longer."""
        if self.begins:
            return "it is protected from this apply on"
        return "its protection ends with this apply; from the next one on it may be changed"


@dataclass(frozen=True, slots=True)
class IncidentsUnread:
    """It would be silenced, and whether it has open incidents could not be found out."""

    code: ClassVar[str] = "incidents-unread"
    words: ClassVar[str] = "its incidents could not be listed ({said}): it may have open ones"
    said: str


@dataclass(frozen=True, slots=True)
class RuleWarns:
    """A rule of the team's own, by its code, has something against the change that stops none."""

    code: ClassVar[str] = "rule-warns"
    words: ClassVar[str] = "{said} [{rule}]"
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

    @property
    def words(self) -> str:
        """As what it is put back, and what goes with it."""
        was = "declared" if self.state == "declared" else "live, right before the run wrote it,"
        runs = "run" if len(self.later) == 1 else "runs"
        more = f"; what was written since goes too ({runs} {{later:short}})" if self.later else ""
        return f"as it was {was} {{at}}{more}"


@dataclass(frozen=True, slots=True)
class MadeByRun:
    """The run that is rolled back created it, and the API has no delete."""

    code: ClassVar[str] = "made-by-run"
    remote_id: RemoteId | None

    @property
    def words(self) -> str:
        """How to remove it."""
        known = "" if self.remote_id is None else " as {remote_id}"
        return f"the run created it{known}, and the API has no delete: remove it by hand"


@dataclass(frozen=True, slots=True)
class NothingBefore:
    """Nothing is known of it from before the run that is rolled back.

    `compacted` says that the journal was made short since; else nothing was declared then.
    `live` says that what was live is kept.
    """

    code: ClassVar[str] = "nothing-before"
    compacted: bool
    live: bool

    @property
    def words(self) -> str:
        """Why nothing is known, and what can be put back."""
        said = (
            "the journal was compacted since, so what was declared before the run is not known"
            if self.compacted
            else "nothing was declared before the run, which took it over"
        )
        return f"{said}; --live puts back what was live then" if self.live else said


@dataclass(frozen=True, slots=True)
class SecretsLost:
    """What it was held secrets that have another value by now, or none.

    Without names it is one that nobody declared, so that it was not kept.
    """

    code: ClassVar[str] = "secrets-lost"
    names: tuple[str, ...]

    @property
    def words(self) -> str:
        """Which secrets, and where to set them."""
        if not self.names:
            return "it held a secret that no manifest declared, which is not kept"
        return (
            "it held other values of {names:listed}, which are not kept: set those in the "
            "environment, where they are known"
        )


@dataclass(frozen=True, slots=True)
class NotSeenThen:
    """What was live is kept without these fields: no answer had them, and nobody knew them."""

    code: ClassVar[str] = "not-seen-then"
    words: ClassVar[str] = (
        "{paths:fields}: not in the answer then, and the journal had none, so "
        "what was live is not known whole: make it by hand"
    )
    paths: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class FailsChecks:
    """What it was has errors at these paths, with which no manifest is accepted."""

    code: ClassVar[str] = "fails-checks"
    words: ClassVar[str] = (
        "what it was has errors, as `reconciler validate` finds them in a manifest: "
        "{said:first}: declare it without them, and apply"
    )
    paths: tuple[Path, ...]
    said: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MadeAnew:
    """These members are gone, and come back as others with the same content: with other ids."""

    code: ClassVar[str] = "made-anew"
    words: ClassVar[str] = "gone, and made anew with other ids: {names:listed}"
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
