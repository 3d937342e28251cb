"""What is known of the live side: one of four shapes. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from reconciler.document import Json, Path
from reconciler.resource.naming import RemoteId


@dataclass(frozen=True, slots=True)
class Seen:
    """Asked, and answered.

    `document` has the shape of `spec`; `version` is what moves with every edit
    (`updatedAt`, the SLO's revision) and `recalled` the paths the API does not
    return. `attribution` says who edited last and when, where the service tells,
    and `by_hand` that it was a person in the web interface. `revision` is told
    by the answer to a write too.
    """

    remote_id: RemoteId | None
    document: dict[str, Json]
    version: str = ""
    recalled: tuple[Path, ...] = ()
    attribution: str = ""
    by_hand: bool = False
    revision: str = ""


@dataclass(frozen=True, slots=True)
class Absent:
    """Asked, and the service has none. `why` is said on the plan's line."""

    why: str = ""


@dataclass(frozen=True, slots=True)
class Remembered:
    """Cannot be asked: the last write the service acknowledged."""

    remote_id: RemoteId
    document: dict[str, Json]
    written_at: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """Cannot be asked, and no write was ever acknowledged.

    With an `exit_code` the service was asked, and its answer about this one
    resource is of no use.
    """

    remote_id: RemoteId | None
    why: str
    exit_code: int = 0


Observation: TypeAlias = Seen | Absent | Remembered | Unknown
