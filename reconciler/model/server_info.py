"""Facts that the service reported with a resource besides its fields, for later. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerInfo:
    """Facts of an answer about the current state of a resource, as far as it has them.

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
