"""What came of adopting: live edits, conflicts, and the files that are edited. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Literal, TypeAlias

from reconciler.document import ABSENT, Difference, Edit, Json, Missing, Path
from reconciler.errors import ExitCode, worst
from reconciler.model.manifest import Ref, RemoteId, Selected, Source
from reconciler.model.observation import NOBODY, LastEdit
from reconciler.model.plan import Change
from reconciler.model.reason import Reason

AdoptionState: TypeAlias = Literal[
    "adopted", "same", "conflict", "refused", "gone", "unseen", "unread", "blocked"
]


class Side(Enum):
    """Who is right where git and live changed the same field."""

    OURS = "ours"
    THEIRS = "theirs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """A field that git and live both changed, with all three values, secrets hidden.

    Of one that `holds_secret` only git can be right, as nothing else may be written there.
    `side` says how it was resolved.
    """

    path: Path
    base: Json | Missing
    git: Json | Missing
    live: Json | Missing
    holds_secret: bool = False
    side: Side | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Adopted:
    """A field that was edited live, what it was and what it is; `gave_way` is its expression.

    An item that `moves` in its list has its places there, from 0.
    """

    path: Path
    before: Json | Missing
    after: Json | Missing
    gave_way: str = ""
    moves: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NewBase:
    """What the journal is to know of a resource from here on: what is live of what was declared.

    `leftover` is what the service itself made of it.
    """

    declared: dict[str, Json]
    remote_id: RemoteId | None
    revision: str = ""
    seen: str = ""
    protect: bool = False
    leftover: tuple[Difference, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Adoption:
    """What adopting one resource comes to.

    `edit` is one of `spec`, and `base` what the journal takes up. `last` says who edited live
    last, and `why`, or `reasons` of a plan, what stands in the way. It is `settled` where git
    declared nothing that was not applied; `live` is the live document as it may be shown, `applied`
    what it was, and of what is `unseen` nobody can tell what it is. Of
    differences that were `ignored`, as the project file expects them, there is the number, and
    `elsewhere` are other environments in which its manifest says something else by the edit.
    """

    ref: Ref
    source: Source
    state: AdoptionState
    edit: Edit | None = None
    adopted: tuple[Adopted, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    base: NewBase | None = None
    last: LastEdit = NOBODY
    why: str = ""
    reasons: tuple[Reason, ...] = ()
    exit_code: int = ExitCode.DONE
    settled: bool = False
    unseen: tuple[Path, ...] = ()
    live: Json = None
    applied: Json | Missing = ABSENT
    ignored: int = 0
    elsewhere: tuple[str, ...] = ()
    change: Change | None = field(default=None, repr=False)

    @property
    def git_waits(self) -> bool:
        """Whether nobody edited it live, and what its manifest says otherwise is not applied."""
        return self.state == "same" and self.applied is not ABSENT and not self.settled

    @property
    def is_only_noted(self) -> bool:
        """Whether nothing of its manifest changes, and only the journal takes up what is live."""
        return self.state == "adopted" and self.edit is None


@dataclass(frozen=True, slots=True, order=True)
class Fork:
    """An alias that was written out, as the part which it repeats has another value there now."""

    line: int
    anchor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EditedText:
    """A file by its name, and its text before and after the edits of some resources."""

    name: str
    before: str
    after: str
    refs: tuple[Ref, ...]
    forks: tuple[Fork, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AdoptionRun:
    """What became of each resource, and the files that were edited, or would be if `only_shown`.

    `named` says that each was asked for by its name. `selected` is None for all that is declared.
    """

    environment: str
    target: str
    adoptions: tuple[Adoption, ...]
    files: tuple[EditedText, ...] = ()
    only_shown: bool = False
    named: bool = False
    selected: Selected | None = None

    @property
    def ignored(self) -> int:
        """How many differences were left alone, as the project file expects them."""
        return sum(adoption.ignored for adoption in self.adoptions)

    @property
    def exit_code(self) -> int:
        """The exit code: what could not be read comes first, then what is left to decide."""
        codes = {adoption.exit_code for adoption in self.adoptions if adoption.state == "unread"}
        left = {"conflict", "refused", "blocked", *(("gone", "unseen") if self.named else ())}
        if any(adoption.state in left for adoption in self.adoptions):
            codes.add(ExitCode.PARTIAL)
        return worst(codes) if codes else ExitCode.DONE
