"""What is known of the live side: one of five shapes. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from reconciler.document import Json, Path
from reconciler.model.manifest import RemoteId
from reconciler.model.server_info import NOTHING_TOLD, ServerInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class LastEdit:
    """The last edit as the service tells it; "" for what it does not tell."""

    who: str = ""
    at: str = ""
    how: str = ""
    revision: str = ""

    @property
    def told(self) -> bool:
        """Whether the service tells anything of it."""
        return bool(self.who or self.at)

    def __str__(self) -> str:
        words = [f"by {self.who}" if self.who else "", f"at {self.at}" if self.at else "", self.how]
        words.append(f"(revision {self.revision})" if self.revision else "")
        return " ".join(word for word in words if word)


NOBODY = LastEdit()


@dataclass(frozen=True, slots=True)
class Seen:
    """Asked, and answered.

    `document` has the shape of `spec`; `version` is what moves with every edit
    (`updatedAt`, the SLO's revision). Of the paths that are not in the answer, `recalled`
    are known from the journal, `unseen` are not, and of these `overwritten` were ours
    until somebody wrote again. `edit` says who edited last and when, where the service
    tells, and `by_hand` that it was a person in the web interface. `revision` is told
    by the answer to a write too. `told` is what else is known of this state, for later.
    """

    remote_id: RemoteId | None
    document: dict[str, Json]
    version: str = ""
    recalled: tuple[Path, ...] = ()
    edit: LastEdit = NOBODY
    by_hand: bool = False
    revision: str = ""
    unseen: tuple[Path, ...] = ()
    overwritten: tuple[Path, ...] = ()
    told: ServerInfo = NOTHING_TOLD

    def cannot_tell(self, path: Path) -> bool:
        """Tell whether nobody knows what is at a place.

        The place is that of the field, or of the object that would be there for it alone.
        """
        return any(_is_about(path, place) for place in self.unseen)

    def recalls(self, path: Path) -> bool:
        """Tell whether what is known of a place is known from the journal alone."""
        return any(_is_about(path, place) for place in self.recalled)


def _is_about(path: Path, field: Path) -> bool:
    """Tell whether a place is that of a field, in it, or the object that is there for it alone."""
    return path[: len(field)] == field[: len(path)] and len(path) >= len(field) - 1


@dataclass(frozen=True, slots=True)
class Absent:
    """Asked, and the service has none. `why` is said on the plan's line."""

    why: str = ""


@dataclass(frozen=True, slots=True)
class Remembered:
    """Cannot be asked: the last write the service acknowledged."""

    remote_id: RemoteId
    document: dict[str, Json]


@dataclass(frozen=True, slots=True)
class Unknown:
    """Cannot be asked, and no write was ever acknowledged."""

    remote_id: RemoteId | None
    why: str


@dataclass(frozen=True, slots=True)
class Unread:
    """Asked, and the answer about this one resource is of no use."""

    remote_id: RemoteId | None
    why: str
    exit_code: int


Observation: TypeAlias = Seen | Absent | Remembered | Unknown | Unread
