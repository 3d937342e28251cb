"""Results of adopting live edits: adopted fields, conflicts, and the edited files. Pure."""

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
from reconciler.workspace.manifest_edits import Edited

AdoptionState: TypeAlias = Literal[
    "adopted", "same", "conflict", "refused", "gone", "unseen", "unread", "blocked"
]


class Side(Enum):
    """The side that is right if git and live changed the same field."""

    OURS = "ours"
    THEIRS = "theirs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """A field that git and live both changed, with all three values, secrets hidden.

    With `holds_secret` only git can win, as live may be a secret that must not get into a file.
    `side` is the side that won, None while the conflict is open.
    """

    path: Path
    base: Json | Missing
    git: Json | Missing
    live: Json | Missing
    holds_secret: bool = False
    side: Side | None = None


@dataclass(frozen=True, slots=True)
class Adopted(Difference):
    """A field that was edited live; `gave_way` is the expression that its value replaces."""

    gave_way: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewBase:
    """The new last declaration in the journal: the declared fields with their live values.

    `leftover` lists the differences that the service itself made.
    """

    declared: dict[str, Json]
    remote_id: RemoteId | None
    revision: str = ""
    seen: str = ""
    protect: bool = False
    leftover: tuple[Difference, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Adoption:
    """The result of adopting one resource.

    `edit` changes its `spec`, and `base` is recorded in the journal. `last` is the last live edit.
    `why`, or the `reasons` of a plan, is why it is blocked. `settled` means that the manifest has
    no unapplied changes. `live` is the live document as it may be shown, and `applied` the document
    at the last apply. `unseen` are paths with unknown live values. `ignored` counts differences
    that the project file expects. `elsewhere` lists other environments that the edit changes too.
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
        """Return whether only the manifest changed, and its changes are not applied yet."""
        return self.state == "same" and self.applied is not ABSENT and not self.settled

    @property
    def is_only_noted(self) -> bool:
        """Return whether the adoption only adds a journal entry; the manifest does not change."""
        return self.state == "adopted" and self.edit is None


@dataclass(frozen=True, slots=True, kw_only=True)
class AdoptionRun:
    """The result for each resource, and the files that were edited, or would be if `only_shown`.

    `named` says that each resource was requested by its name. `selected` is None if all resources
    were.
    """

    environment: str
    target: str
    adoptions: tuple[Adoption, ...]
    files: tuple[Edited, ...] = ()
    only_shown: bool = False
    named: bool = False
    selected: Selected | None = None

    @property
    def ignored(self) -> int:
        """The number of differences that were left alone, as the project file expects them."""
        return sum(adoption.ignored for adoption in self.adoptions)

    @property
    def exit_code(self) -> int:
        """The exit code: for unread resources first, then for what is left to decide."""
        codes = {adoption.exit_code for adoption in self.adoptions if adoption.state == "unread"}
        left = {"conflict", "refused", "blocked", *(("gone", "unseen") if self.named else ())}
        if any(adoption.state in left for adoption in self.adoptions):
            codes.add(ExitCode.PARTIAL)
        return worst(codes) if codes else ExitCode.DONE
