"""Observations of the live side: one of five classes. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from reconciler.document import Json, Path
from reconciler.model.manifest import RemoteId


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerInfo:
    """The facts that an answer of the service has about the current state of a resource.

    `version` names this state: an alert's `alertVersionId`, an SLO's revision. `updated` is when
    this state began, as the service writes it; a dashboard has no other version. `ids` maps the
    names of its parts to their ids: log policies. `alerts` are the ids of alerts that depend on it,
    None if the answer does not say: `effectedSloAlertIds` of an SLO.
    """

    version: str = ""
    updated: str = ""
    ids: Mapping[str, str] = field(default_factory=dict)
    alerts: tuple[str, ...] | None = None

    def or_else(self, later: ServerInfo) -> ServerInfo:
        """Return these facts, completed by those of another answer about the same state."""
        return ServerInfo(
            version=self.version or later.version,
            updated=self.updated or later.updated,
            ids=self.ids or later.ids,
            alerts=later.alerts if self.alerts is None else self.alerts,
        )

    def hiding(self, hide: Callable[[str], str]) -> ServerInfo:
        """Return a copy without the texts that contain something to hide."""

        def shown(text: str) -> bool:
            return hide(text) == text

        return ServerInfo(
            version=self.version if shown(self.version) else "",
            updated=self.updated if shown(self.updated) else "",
            ids={name: id_ for name, id_ in self.ids.items() if shown(name) and shown(id_)},
            alerts=None if self.alerts is None else tuple(filter(shown, self.alerts)),
        )


NO_SERVER_INFO = ServerInfo()


@dataclass(frozen=True, slots=True, kw_only=True)
class LastEdit:
    """The last edit as the service reports it; "" for unreported parts."""

    who: str = ""
    at: str = ""
    how: str = ""
    revision: str = ""

    @property
    def told(self) -> bool:
        """Return whether the service reports anything of it."""
        return bool(self.who or self.at)

    def __str__(self) -> str:
        return self.marked(str)

    def marked(self, mark: Callable[[str], str]) -> str:
        """Return the edit in words, with each foreign value marked."""
        words = [
            f"by {mark(self.who)}" if self.who else "",
            f"at {mark(self.at)}" if self.at else "",
        ]
        words += [self.how, f"(revision {mark(self.revision)})" if self.revision else ""]
        return " ".join(filter(None, words))


NOBODY = LastEdit()


@dataclass(frozen=True, slots=True)
class Seen:
    """A resource that the service returned.

    `document` has the shape of `spec`; `version` changes with every edit (`updatedAt`, the SLO's
    revision). Some paths are not in the answer: of these, `recalled` are known from the journal and
    `unseen` are not; `overwritten` are the unseen paths that another writer wrote after us. `edit`
    is who edited last and when, if the service reports it; `by_hand` says that it was a person in
    the web interface. `revision` is also in the answer to a write.
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
    told: ServerInfo = NO_SERVER_INFO
    """Further facts that the service reported of this state, for later."""

    def cannot_tell(self, path: Path) -> bool:
        """Return whether the value at a place is unknown.

        The place is an unseen field, is in one, or is the object that would exist only for it.
        """
        return any(
            path[: len(field)] == field[: len(path)] and len(path) >= len(field) - 1
            for field in self.unseen
        )


@dataclass(frozen=True, slots=True)
class Absent:
    """The service was asked and has no such resource. `why` is shown in the plan."""

    why: str = ""


@dataclass(frozen=True, slots=True)
class Remembered:
    """A resource that was not read, or cannot be: the last write that the service acknowledged."""

    remote_id: RemoteId | None
    document: dict[str, Json]


@dataclass(frozen=True, slots=True)
class Unknown:
    """A resource that cannot be read, and no write was ever acknowledged."""

    remote_id: RemoteId | None
    why: str


@dataclass(frozen=True, slots=True)
class Unread:
    """A resource that was requested; the answer for it cannot be used."""

    remote_id: RemoteId | None
    why: str
    exit_code: int


Observation: TypeAlias = Seen | Absent | Remembered | Unknown | Unread
