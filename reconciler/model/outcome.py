"""Outcomes of a write. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from reconciler.document import Difference, Json
from reconciler.errors import ExitCode
from reconciler.model.manifest import Ref, RemoteId
from reconciler.model.observation import NO_SERVER_INFO, LastEdit, ServerInfo
from reconciler.model.reason import Reason

CommentState: TypeAlias = Literal[
    "planned",
    "no-changes",
    "offline",
    "failed",
    "applying",
    "applied",
    "partial",
    "in-doubt",
    "not-applied",
    "superseded",
]
"""The state of a comment on a pull request."""


@dataclass(frozen=True, slots=True)
class Written:
    """The service acknowledged the write.

    `stored` is the document that it returns as the new one. `revision` is the revision that a read
    shows until the next write, if the answer has it.
    """

    ref: Ref
    remote_id: RemoteId | None
    message: str = ""
    stored: dict[str, Json] | None = None
    revision: str = ""
    told: ServerInfo = NO_SERVER_INFO
    """Further facts in the answer that are needed later."""


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The service saw nothing to change."""

    ref: Ref
    remote_id: RemoteId | None
    message: str = ""


@dataclass(frozen=True, slots=True)
class Refused:
    """The service, or this program for it, refused this one resource: nothing changed.

    `reasons` are those of a plan that could not do it; then there is no `message`. `ways_out` are
    the remedies, if any are known.
    """

    ref: Ref
    message: str
    exit_code: int = ExitCode.PARTIAL
    reasons: tuple[Reason, ...] = ()
    remedies: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unconfirmed:
    """Sent, and may have happened: the next plan will show it."""

    ref: Ref
    message: str
    exit_code: int = ExitCode.PARTIAL


@dataclass(frozen=True, slots=True)
class Skipped:
    """Not sent, because of something else."""

    ref: Ref
    message: str


@dataclass(frozen=True, slots=True)
class InDoubt:
    """A create that may have happened, and cannot be looked up."""

    ref: Ref
    message: str


Outcome: TypeAlias = Written | Unchanged | Refused | Unconfirmed | Skipped | InDoubt


@dataclass(frozen=True, slots=True)
class Overtaken:
    """Another writer changed a resource between our write and our read of it.

    In `differences`, `before` is what was sent and `after` what is live.
    """

    edit: LastEdit
    differences: tuple[Difference, ...]
