"""What is to be said of a plan as a whole: values with a code, as reasons of changes are. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from reconciler.model.manifest import Ref


@dataclass(frozen=True, slots=True)
class NoJournal:
    """Nothing was ever applied from here, or the journal of it is lost."""

    code: ClassVar[str] = "no-journal"


@dataclass(frozen=True, slots=True)
class OldJournal:
    """The journal is an old copy, so what was applied since is not in it."""

    code: ClassVar[str] = "old-journal"


@dataclass(frozen=True, slots=True)
class NotPermitted:
    """The target is there and knows the key, which may not read what proves more."""

    code: ClassVar[str] = "not-permitted"
    said: str


@dataclass(frozen=True, slots=True)
class FreezeUnknown:
    """Nobody can tell whether the environment is frozen, and it lets that pass."""

    code: ClassVar[str] = "freeze-unknown"
    said: str


@dataclass(frozen=True, slots=True)
class ClockUnchecked:
    """No window holds by the clock of this machine, and the service told no time beside it."""

    code: ClassVar[str] = "clock-unchecked"


@dataclass(frozen=True, slots=True, kw_only=True)
class RollsBack:
    """It puts back what was before a run, and no manifest is changed by that.

    `commit` is the one that the run was of, as journals keep it; "" where it was of none.
    `live_kept` says that what was live then is kept, and is not what is put back. `state` says
    what is put back. `commit_before` is the commit of the last apply before, as far as that is
    known. `files` are those that seem to declare `refs`, which are what is put back, from the
    project's folder on.
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
    """What the platform was asked for as evidence, and did not tell; `why` says it for each."""

    code: ClassVar[str] = "signals-unread"
    what: tuple[str, ...]
    why: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BaseRefused:
    """What the revision declares and an emulator does not take, so that it counts as not there."""

    code: ClassVar[str] = "base-refused"
    refs: tuple[Ref, ...]


@dataclass(frozen=True, slots=True)
class OnlyLiveKnows:
    """Declared with an id that the service gave and the revision does not name: perhaps there."""

    code: ClassVar[str] = "only-live-knows"
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
"""What is to be said of a plan as a whole."""
