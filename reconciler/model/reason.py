"""Reasons for changes: values with a code and a text. Pure.

`words` is a template over the fields of a reason; reconciler/report/reasons.py formats the fields,
as `{paths:places}`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from reconciler.document import Path
from reconciler.model.manifest import Ref, RemoteId
from reconciler.model.observation import LastEdit


@dataclass(frozen=True, slots=True)
class CannotBeAsked:
    """The API has no way to read it; `said` is the explanation of the kind."""

    code: ClassVar[str] = "cannot-be-asked"
    words: ClassVar[str] = "{said}"
    said: str


@dataclass(frozen=True, slots=True)
class CouldNotBeRead:
    """It was read, and the answer cannot be used."""

    code: ClassVar[str] = "unread"
    words: ClassVar[str] = "it could not be read: {said}"
    said: str
    exit_code: int


@dataclass(frozen=True, slots=True)
class CannotBeCreated:
    """It is absent, and a create cannot add it."""

    code: ClassVar[str] = "cannot-be-created"
    words: ClassVar[str] = "{said}"
    said: str


@dataclass(frozen=True, slots=True)
class Objected:
    """The service was asked about the write and objects to it."""

    code: ClassVar[str] = "objected"
    words: ClassVar[str] = "{said}"
    said: str


@dataclass(frozen=True, slots=True)
class DependsOn:
    """It refers to a resource that is blocked."""

    code: ClassVar[str] = "depends-on"
    words: ClassVar[str] = "depends on {refs:listed}, which is blocked"
    refs: tuple[Ref, ...]


@dataclass(frozen=True, slots=True)
class NotSelected:
    """It refers to a resource that is not selected and has no known id yet."""

    code: ClassVar[str] = "not-selected"
    words: ClassVar[str] = (
        "refers to {refs:listed}, which is not selected and has no id yet: "
        "it must exist or be selected"
    )
    refs: tuple[Ref, ...]


@dataclass(frozen=True, slots=True)
class CreateLost:
    """The answer to its create was lost; `became` is what is known of the create by now.

    `unknown` if the API cannot be asked, `another` if something else is in its place.
    """

    code: ClassVar[str] = "create-lost"
    at: str
    became: Literal["happened", "never-happened", "unknown", "another"]

    @property
    def words(self) -> str:
        """The result of the create as known by now, and how to settle it."""
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
    """It was written, and no longer exists."""

    code: ClassVar[str] = "gone-since"
    words: ClassVar[str] = "written {at} and gone since: it will be created again"
    at: str


@dataclass(frozen=True, slots=True)
class NeverSeen:
    """It was sent, acknowledged or not, and no read has shown it."""

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
    """It exists, and this journal never wrote it.

    `differs` is False only if no visible field differs.
    """

    code: ClassVar[str] = "takes-over"
    edit: LastEdit
    differs: bool = True

    @property
    def words(self) -> str:
        """A text that it was not ours, and whether it differs."""
        if self.differs:
            return "it is there, differs, and this journal never wrote it{edit:last}"
        return (
            "it is there, and this journal never wrote it; "
            "whether it differs cannot be seen{edit:last}"
        )


@dataclass(frozen=True, slots=True)
class NeverWritten:
    """It cannot be read, and this journal neither wrote nor imported the object with its id.

    `names` are the names that incidents and events have for the id, and `declared` is the name in
    the manifest; "" if none was looked up.
    """

    code: ClassVar[str] = "never-written"
    names: tuple[str, ...] = ()
    declared: str = ""

    @property
    def is_another(self) -> bool:
        """Return whether the object with the id has another name than the declared one."""
        return bool(self.names) and self.declared not in self.names

    @property
    def words(self) -> str:
        """A text that it was not ours, and the name that incidents and events have for it."""
        fact = "this journal neither wrote nor imported what has its id"
        if self.is_another:
            return (
                f"{fact}: incidents and events call that {{names:quoted}}, and the manifest "
                "{declared:quoted}: make sure that the id is the right one"
            )
        known = ", and incidents and events call that by the declared name" if self.names else ""
        return f"{fact}{known}"


@dataclass(frozen=True, slots=True)
class UndoesRollback:
    """These fields are declared as they were before `actor` rolled them back, at `at`."""

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
    """It cannot be read, and is compared with the document imported at that time."""

    code: ClassVar[str] = "imported"
    words: ClassVar[str] = "compared with what was imported at {at}; it cannot be asked for"
    at: str


@dataclass(frozen=True, slots=True)
class NotInAnswer:
    """These fields are not in the answer, and the journal does not have them either."""

    code: ClassVar[str] = "not-in-answer"
    words: ClassVar[str] = "{paths:fields}: not in the answer, and the journal has none"
    paths: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class NeededUnseen:
    """Every write has to send these fields, and the planned write would not."""

    code: ClassVar[str] = "needed-unseen"
    words: ClassVar[str] = (
        "every write needs these, and the manifest leaves them out: declare "
        "them in the manifest: {paths:places}"
    )
    paths: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class LostUnseen:
    """It destroys members with fields that cannot be seen, so they cannot be restored."""

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
    """It would be created, and resembles a resource that is no longer declared."""

    code: ClassVar[str] = "looks-like"
    words: ClassVar[str] = "much like what was {refs:listed} at its last apply"
    refs: tuple[Ref, ...]


@dataclass(frozen=True, slots=True)
class AnotherObject:
    """Until now the manifest was about the object with this id."""

    code: ClassVar[str] = "another-object"
    words: ClassVar[str] = "until now this was about {remote_id}"
    remote_id: RemoteId


@dataclass(frozen=True, slots=True)
class AnotherId:
    """No object has the declared id, and the journal or a slug leads to another object."""

    code: ClassVar[str] = "another-id"
    words: ClassVar[str] = (
        "the service has nothing with the declared id {declared}, and the journal or the "
        "slug leads to {found}: declare that id, or correct or remove the declared one"
    )
    declared: RemoteId
    found: RemoteId


@dataclass(frozen=True, slots=True)
class SameObject:
    """Other manifests are about the same object; `remote_id` is None for a list."""

    code: ClassVar[str] = "same-object"
    refs: tuple[Ref, ...]
    remote_id: RemoteId | None

    @property
    def words(self) -> str:
        """A text that names the shared object and its manifests."""
        subject = "list" if self.remote_id is None else "object {remote_id}"
        return f"about the same {subject} as {{refs:listed}}: declare it once"


@dataclass(frozen=True, slots=True)
class ProtectionTurns:
    """It is protected from this apply on, or no longer."""

    code: ClassVar[str] = "protection"
    begins: bool

    @property
    def words(self) -> str:
        """A text that says when the protection begins or ends."""
        if self.begins:
            return "it is protected from this apply on"
        return "its protection ends with this apply; from the next one on it may be changed"


@dataclass(frozen=True, slots=True)
class IncidentsUnread:
    """It would be silenced, and its open incidents could not be read."""

    code: ClassVar[str] = "incidents-unread"
    words: ClassVar[str] = "its incidents could not be listed ({said}): it may have open ones"
    said: str


@dataclass(frozen=True, slots=True)
class RuleWarns:
    """A rule of the team's own, by its code, warns about the change without stopping it."""

    code: ClassVar[str] = "rule-warns"
    words: ClassVar[str] = "{said} [{rule}]"
    rule: str
    said: str


@dataclass(frozen=True, slots=True)
class PutBack:
    """It is restored as it was at that time: as it was declared, or as it was live.

    `later` are the runs that wrote it since the run that is rolled back.
    """

    code: ClassVar[str] = "put-back"
    state: Literal["declared", "live"]
    at: str
    later: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """A text that says what is restored, and what is lost with it."""
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
        """A text that says how to remove it."""
        known = "" if self.remote_id is None else " as {remote_id}"
        return f"the run created it{known}, and the API has no delete: remove it by hand"


@dataclass(frozen=True, slots=True)
class NothingBefore:
    """Nothing is known of it from before the run that is rolled back.

    `compacted` says that the journal was compacted since; otherwise nothing was declared then.
    `live` says that the live document of then is kept.
    """

    code: ClassVar[str] = "nothing-before"
    compacted: bool
    live: bool

    @property
    def words(self) -> str:
        """A text that says why nothing is known, and what can be restored."""
        fact = (
            "the journal was compacted since, so what was declared before the run is not known"
            if self.compacted
            else "nothing was declared before the run, which took it over"
        )
        return f"{fact}; --live puts back what was live then" if self.live else fact


@dataclass(frozen=True, slots=True)
class SecretsLost:
    """It contained secrets that have another value by now, or none.

    Without names, it contained a secret that was not declared, so it was not kept.
    """

    code: ClassVar[str] = "secrets-lost"
    names: tuple[str, ...]

    @property
    def words(self) -> str:
        """A text that says which secrets, and where to set them."""
        if not self.names:
            return "it held a secret that no manifest declared, which is not kept"
        return (
            "it held other values of {names:listed}, which are not kept: set those in the "
            "environment, where they are known"
        )


@dataclass(frozen=True, slots=True)
class NotSeenThen:
    """The live document of then is kept without these fields, as they were unknown."""

    code: ClassVar[str] = "not-seen-then"
    words: ClassVar[str] = (
        "{paths:fields}: not in the answer then, and the journal had none, so "
        "what was live is not known whole: make it by hand"
    )
    paths: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class FailsChecks:
    """The document that it had has errors at these paths; no manifest is accepted with them."""

    code: ClassVar[str] = "fails-checks"
    words: ClassVar[str] = (
        "what it was has errors, as `reconciler validate` finds them in a manifest: "
        "{said:first}: declare it without them, and apply"
    )
    paths: tuple[Path, ...]
    said: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MadeAnew:
    """These members are gone, and are created again with the same content and other ids."""

    code: ClassVar[str] = "made-anew"
    words: ClassVar[str] = "gone, and made again with other ids: {names:listed}"
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


@dataclass(frozen=True, slots=True)
class NoJournal:
    """Nothing was ever applied from here, or its journal is lost."""

    code: ClassVar[str] = "no-journal"
    words: ClassVar[str] = (
        "this environment has no journal: nothing was applied from here yet, or its journal is lost"
    )


@dataclass(frozen=True, slots=True)
class OldJournal:
    """The journal is an old copy: later applies are missing in it."""

    code: ClassVar[str] = "old-journal"
    words: ClassVar[str] = (
        "the journal of this environment is an old copy: what was applied since is not in it"
    )


@dataclass(frozen=True, slots=True)
class NotPermitted:
    """The target exists and knows the key; the key may not read what would prove more."""

    code: ClassVar[str] = "not-permitted"
    words: ClassVar[str] = "the target answers, and the key may not list policies ({said})"
    said: str


@dataclass(frozen=True, slots=True)
class FreezeUnknown:
    """It is unknown whether the environment is frozen, and the environment allows that."""

    code: ClassVar[str] = "freeze-unknown"
    words: ClassVar[str] = (
        "it is unknown whether this environment is frozen, and it allows that: {said}"
    )
    said: str


@dataclass(frozen=True, slots=True)
class ClockUnchecked:
    """No freeze applies by this machine's clock, and the service reported no time to check it."""

    code: ClassVar[str] = "clock-unchecked"
    words: ClassVar[str] = (
        "no window of the freeze is active by the clock of this machine, and that clock is "
        "unchecked: the service gives no time (`Date`)"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RollsBack:
    """It restores the state before a run, and changes no manifest.

    `commit` is the commit of the run, as journals keep it; "" if it had none. `live_kept` says that
    the live state of then is kept, and is not what is restored. `state` says what is restored.
    `commit_before` is the commit of the apply before, if it is known. `refs` are the restored
    resources, and `files` the files that seem to declare them, relative to the project's folder.
    """

    code: ClassVar[str] = "rolls-back"
    run: str
    at: str
    command: str
    actor: str
    commit: str
    live_kept: bool = False
    state: Literal["declared", "live"] = "declared"
    commit_before: str = ""
    files: tuple[str, ...] = ()
    refs: tuple[Ref, ...] = ()


@dataclass(frozen=True, slots=True)
class SignalsUnread:
    """Evidence that the platform was asked for and did not return; `why` has a reason for each."""

    code: ClassVar[str] = "signals-unread"
    what: tuple[str, ...]
    why: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BaseRefused:
    """Resources that the revision declares and an emulator refuses; they count as absent."""

    code: ClassVar[str] = "base-refused"
    words: ClassVar[str] = (
        "the revision declares these, and an emulator did not take them, so they count as "
        "not there: {refs:few}"
    )
    refs: tuple[Ref, ...]


@dataclass(frozen=True, slots=True)
class OnlyLiveKnows:
    """Resources with an id from the service that the revision does not contain: they may exist."""

    code: ClassVar[str] = "only-live-knows"
    words: ClassVar[str] = (
        "these are declared with an id of the service that the revision does not name: "
        "they may be there already, and are planned as new: {refs:few}"
    )
    refs: tuple[Ref, ...]


Remark: TypeAlias = (
    NoJournal
    | OldJournal
    | NotPermitted
    | FreezeUnknown
    | ClockUnchecked
    | RollsBack
    | SignalsUnread
    | BaseRefused
    | OnlyLiveKnows
)
"""A remark about a plan as a whole."""
