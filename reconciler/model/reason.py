"""Reasons for changes: values with a code and a text. Pure.

`words` is a template over the fields of a reason; reconciler/report/reasons.py formats the fields,
as `{paths:places}`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final, Literal, TypeAlias, dataclass_transform

from reconciler.document import Path
from reconciler.model.manifest import Ref, RemoteId
from reconciler.model.observation import LastEdit


@dataclass_transform(frozen_default=True)
class _Coded:
    """A frozen dataclass with a code, which never changes, and words."""

    code: ClassVar[str]

    def __init_subclass__(cls, code: str = "") -> None:
        cls.code = code
        dataclass(frozen=True)(cls)

    @property
    def words(self) -> str:
        raise NotImplementedError


class Reason(_Coded):
    """A reason of a change. In the docstrings of reasons, "it" is the resource of the change."""


class Remark(_Coded):
    """A remark about a plan as a whole."""


class CannotBeAsked(Reason, code="cannot-be-asked"):
    """The API has no way to read it; `said` is the explanation of the kind."""

    words = "{said:ours}"
    said: str


class CouldNotBeRead(Reason, code="unread"):
    """It was read, and the answer cannot be used."""

    words = "it could not be read: {said}"
    said: str
    exit_code: int


class CannotBeCreated(Reason, code="cannot-be-created"):
    """It is absent, and a create cannot add it."""

    words = "{said}"
    said: str


class Objected(Reason, code="objected"):
    """The service was asked about the write and objects to it."""

    words = "{said}"
    said: str


class DependsOn(Reason, code="depends-on"):
    """It refers to a resource that is blocked."""

    words = "depends on {refs:listed}, which is blocked"
    refs: tuple[Ref, ...]


class NotSelected(Reason, code="not-selected"):
    """It refers to a resource that is not selected and has no known id yet."""

    words = (
        "refers to {refs:listed}, which is not selected and has no id yet: "
        "it must exist or be selected"
    )
    refs: tuple[Ref, ...]


_Became: TypeAlias = Literal["happened", "never-happened", "unknown", "another"]

_BECAME: Final[Mapping[_Became, str]] = {
    "happened": "; it did happen",
    "never-happened": "; it did not happen",
    "another": ", and what is live now is not what was sent: look at it, then run `{settle:ours}`",
    "unknown": (
        ", and the API cannot be asked: look for it, then run `{settle:ours}` or `--never-happened`"
    ),
}


class CreateLost(Reason, code="create-lost"):
    """The answer to its create was lost; `became` is what is known of the create by now.

    `unknown` if the API cannot be asked, `another` if something else is in its place.
    """

    at: str
    became: _Became

    @property
    def words(self) -> str:
        """The result of the create as known by now, and how to settle it."""
        return f"the answer to its create ({{at}}) was lost{_BECAME[self.became]}"


class WriteLost(Reason, code="write-lost"):
    """The answer to an earlier write was lost."""

    words = "the answer to an earlier write ({at}) was lost, or no read showed what it did"
    at: str


class GoneSince(Reason, code="gone-since"):
    """It was written, and no longer exists."""

    words = "written {at} and gone since: it will be created again"
    at: str


class NeverSeen(Reason, code="never-seen"):
    """It was sent, acknowledged or not, and no read has shown it."""

    words = "sent {at} and never seen since: it will be created again"
    at: str


class EditedBy(Reason, code="edited-by"):
    """Someone else changed it after our last write."""

    words = "live was last changed {edit:edit}"
    edit: LastEdit


class OverwritesEdit(Reason, code="overwrites-edit"):
    """The write would undo what someone else changed in these fields since our last write."""

    words = "undoes what someone changed since our last write{edit:by}: {paths:places}"
    paths: tuple[Path, ...]
    edit: LastEdit


class OverwrittenSince(Reason, code="overwritten-since"):
    """Someone wrote it again since our last write, and these fields are not in the answer."""

    words = (
        "overwritten by someone since our last write{edit:by}: "
        "{paths:fields} cannot be seen, and are sent again"
    )
    paths: tuple[Path, ...]
    edit: LastEdit


class TakesOver(Reason, code="takes-over"):
    """It exists, and this journal never wrote it.

    `differs` is False only if no visible field differs.
    """

    edit: LastEdit
    differs: bool = True

    @property
    def words(self) -> str:
        """A text: this journal never wrote it, and whether it differs."""
        if self.differs:
            return "it is there, differs, and this journal never wrote it{edit:last}"
        return (
            "it is there, and this journal never wrote it; "
            "whether it differs cannot be seen{edit:last}"
        )


class NeverWritten(Reason, code="never-written"):
    """It cannot be read, and this journal neither wrote nor imported the object with its id.

    `names` are the names that incidents and events have for the id, and `declared` is the name in
    the manifest; "" if none was looked up.
    """

    names: tuple[str, ...] = ()
    declared: str = ""

    @property
    def is_another(self) -> bool:
        """Return whether the object with the id has another name than the declared one."""
        return bool(self.names) and self.declared not in self.names

    @property
    def words(self) -> str:
        """A text: this journal did not write the object, and which name incidents have for it."""
        fact = "this journal neither wrote nor imported what has its id"
        if self.is_another:
            return (
                f"{fact}: incidents and events call that {{names:quoted}}, and the manifest "
                "{declared:quoted}: make sure that the id is the right one"
            )
        known = ", and incidents and events call that by the declared name" if self.names else ""
        return f"{fact}{known}"


class UndoesRollback(Reason, code="undoes-rollback"):
    """These fields are declared as they were before `actor` rolled them back, at `at`."""

    words = "undoes the rollback by {actor:someone} at {at}: {paths:places}"
    paths: tuple[Path, ...]
    actor: str
    at: str


class Recalled(Reason, code="recalled"):
    """These fields are not in the answer, and are compared with the journal."""

    words = "{paths:fields}: not in the answer, compared with the journal"
    paths: tuple[Path, ...]


class Imported(Reason, code="imported"):
    """It cannot be read, and is compared with the document imported at that time."""

    words = "compared with what was imported at {at}; it cannot be asked for"
    at: str


class NotInAnswer(Reason, code="not-in-answer"):
    """These fields are not in the answer, and the journal does not have them either."""

    words = "{paths:fields}: not in the answer, and the journal has none"
    paths: tuple[Path, ...]


class NeededUnseen(Reason, code="needed-unseen"):
    """Every write has to send these fields, and the planned write would not."""

    words = (
        "every write needs these, and the manifest leaves them out: declare "
        "them in the manifest: {paths:places}"
    )
    paths: tuple[Path, ...]


class LostUnseen(Reason, code="lost-unseen"):
    """It destroys members with fields that cannot be seen, so they cannot be restored."""

    words = (
        "{fields:listed} of what is destroyed: not in the answer, and the journal "
        "has none, so they cannot be restored: {names:listed}"
    )
    names: tuple[str, ...]
    fields: tuple[str, ...]


class RenamedFrom(Reason, code="renamed-from"):
    """The same object was declared under another name at its last apply."""

    words = "renamed: until its last apply it was {ref}"
    ref: Ref


class LooksLike(Reason, code="looks-like"):
    """It would be created, and resembles a resource that is no longer declared."""

    words = "much like what was {refs:listed} at its last apply"
    refs: tuple[Ref, ...]


class AnotherObject(Reason, code="another-object"):
    """Until now the manifest was about the object with this id."""

    words = "until now this was about {remote_id}"
    remote_id: RemoteId


class AnotherId(Reason, code="another-id"):
    """No object has the declared id, and the journal or a slug leads to another object."""

    words = (
        "the service has nothing with the declared id {declared}, and the journal or the "
        "slug leads to {found}: declare that id, or correct or remove the declared one"
    )
    declared: RemoteId
    found: RemoteId


class SameObject(Reason, code="same-object"):
    """Other manifests are about the same object; `remote_id` is None for a list."""

    refs: tuple[Ref, ...]
    remote_id: RemoteId | None

    @property
    def words(self) -> str:
        """A text that names the shared object and its manifests."""
        subject = "list" if self.remote_id is None else "object {remote_id}"
        return f"about the same {subject} as {{refs:listed}}: declare it once"


class ProtectionTurns(Reason, code="protection"):
    """It is protected from this apply on, or no longer."""

    begins: bool

    @property
    def words(self) -> str:
        """A text that says when the protection begins or ends."""
        if self.begins:
            return "it is protected from this apply on"
        return "its protection ends with this apply; from the next one on it may be changed"


class IncidentsUnread(Reason, code="incidents-unread"):
    """It would be silenced, and its open incidents could not be read."""

    words = "its incidents could not be listed ({said}): it may have open ones"
    said: str


class RuleWarns(Reason, code="rule-warns"):
    """A rule of the team's own, by its code, warns about the change without stopping it."""

    words = "{said} (rule {rule})"
    rule: str
    said: str


class PutBack(Reason, code="put-back"):
    """The resource is restored to an earlier state: the declared state, or the live state.

    `later` are the runs that wrote the resource after the run that is rolled back.
    """

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


class MadeByRun(Reason, code="made-by-run"):
    """The run that is rolled back created it, and the API has no delete."""

    remote_id: RemoteId | None

    @property
    def words(self) -> str:
        """A text that says how to remove it."""
        known = "" if self.remote_id is None else " as {remote_id}"
        return f"the run created it{known}, and the API has no delete: remove it by hand"


class NothingBefore(Reason, code="nothing-before"):
    """Nothing is known of it from before the run that is rolled back.

    `compacted` says that the journal was compacted since; otherwise nothing was declared then.
    `live` says that the journal has the live document from before the run.
    """

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


class SecretsLost(Reason, code="secrets-lost"):
    """It contained secrets that have another value by now, or none.

    Without names, it contained a secret that was not declared, so it was not kept.
    """

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


class NotSeenThen(Reason, code="not-seen-then"):
    """The live document from before the run is kept without these fields: they were unknown."""

    words = (
        "{paths:fields}: not in the answer then, and the journal had none, so "
        "what was live is not known whole: make it by hand"
    )
    paths: tuple[Path, ...]


class FailsChecks(Reason, code="fails-checks"):
    """The earlier document has errors at these paths, so no manifest could declare it."""

    words = (
        "what it was has errors, as `reconciler validate` finds them in a manifest: "
        "{said:first}: declare it without them, and apply"
    )
    paths: tuple[Path, ...]
    said: tuple[str, ...]


class MadeAnew(Reason, code="made-anew"):
    """These members are gone, and are created again with the same content and other ids."""

    words = "gone, and made again with other ids: {names:listed}"
    names: tuple[str, ...]


class NoJournal(Remark, code="no-journal"):
    """Nothing was ever applied from here, or its journal is lost; `was_there` if that is known."""

    words = (
        "this environment has no journal: nothing was applied from here yet, or its journal is lost"
    )
    was_there: bool = False


class OldJournal(Remark, code="old-journal"):
    """The journal is an old copy: later applies are missing in it."""

    words = "the journal of this environment is an old copy: what was applied since is not in it"


class UnconfirmedJournal(Remark, code="unconfirmed-journal"):
    """`command` began the journal, and no person confirmed since that no earlier one is lost."""

    words = (
        "the journal of this environment was begun by {command:quoted}, so it does not know what "
        "was applied before: an earlier one may be lost"
    )
    command: str


class NotPermitted(Remark, code="not-permitted"):
    """The target exists and knows the key, but the key may not list policies."""

    words = "the target answers, and the key may not list policies ({said})"
    said: str


class FreezeUnknown(Remark, code="freeze-unknown"):
    """It is unknown whether the environment is frozen, and the environment allows that."""

    words = "it is unknown whether this environment is frozen, and it allows that: {said}"
    said: str


class ClockUnchecked(Remark, code="clock-unchecked"):
    """No freeze applies by this machine's clock, and the service reported no time to check it."""

    words = (
        "no window of the freeze is active by the clock of this machine, and that clock is "
        "unchecked: the service gives no time (`Date`)"
    )


class RollsBack(Remark, code="rolls-back"):
    """It restores the state before a run, and changes no manifest.

    `commit` is the commit of the run, as journals keep it; "" if it had none. `live_kept` says that
    the journal also has the live state from before the run, which is not restored. `state` says
    what is restored. `commit_before` is the commit of the apply before, if it is known. `refs` are
    the restored resources. `files` are the files that declare them differently or cannot be read,
    relative to the project's folder. `places` are the values to change in them, as `file:line`;
    `by_hand` are the places that `--write` leaves as they are.
    """

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
    places: tuple[str, ...] = ()
    by_hand: tuple[str, ...] = ()


class SignalsUnread(Remark, code="signals-unread"):
    """Evidence that the platform was asked for and did not return; `why` has a reason for each."""

    what: tuple[str, ...]
    why: tuple[str, ...]


class BaseRefused(Remark, code="base-refused"):
    """Resources that the revision declares and an emulator refuses; they count as absent."""

    words = (
        "the revision declares these, and an emulator did not take them, so they count as "
        "not there: {refs:few}"
    )
    refs: tuple[Ref, ...]


class OnlyLiveKnows(Remark, code="only-live-knows"):
    """Resources with an id from the service that the revision does not contain: they may exist."""

    words = (
        "these are declared with an id of the service that the revision does not name: "
        "they may be there already, and are planned as new: {refs:few}"
    )
    refs: tuple[Ref, ...]
