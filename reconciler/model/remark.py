"""Remarks about a plan as a whole: values with a code, like reasons of changes. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from reconciler.model.manifest import Ref


@dataclass(frozen=True, slots=True)
class NoJournal:
    """Nothing was ever applied from here, or its journal is lost."""

    code: ClassVar[str] = "no-journal"


@dataclass(frozen=True, slots=True)
class OldJournal:
    """The journal is an old copy: later applies are missing in it."""

    code: ClassVar[str] = "old-journal"


@dataclass(frozen=True, slots=True)
class NotPermitted:
    """The target exists and knows the key; the key may not read what would prove more."""

    code: ClassVar[str] = "not-permitted"
    said: str


@dataclass(frozen=True, slots=True)
class FreezeUnknown:
    """It is unknown whether the environment is frozen, and the environment allows that."""

    code: ClassVar[str] = "freeze-unknown"
    said: str


@dataclass(frozen=True, slots=True)
class ClockUnchecked:
    """No freeze applies by this machine's clock, and the service reported no time to check it."""

    code: ClassVar[str] = "clock-unchecked"


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
    refs: tuple[Ref, ...]


@dataclass(frozen=True, slots=True)
class OnlyLiveKnows:
    """Resources with an id from the service that the revision does not contain: they may exist."""

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
"""A remark about a plan as a whole."""
