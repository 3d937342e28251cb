"""What the service told of a resource beside its fields, for later questions. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerInfo:
    """What an answer says of what the service has now, as far as it says it.

    `version` names this state of it: an alert's `alertVersionId`, an SLO's revision. `updated`
    is when that began, as the service writes it: all that a dashboard has of a version. `ids`
    maps the names of its parts to their ids: log policies. `alerts` are the ids of alerts that
    hang on it, None where nothing is said of that: `effectedSloAlertIds` of an SLO.
    """

    version: str = ""
    updated: str = ""
    ids: Mapping[str, str] = field(default_factory=dict)
    alerts: tuple[str, ...] | None = None

    def or_else(self, later: ServerInfo) -> ServerInfo:
        """Give what was told, filled up with what another answer about the same state told."""
        return ServerInfo(
            version=self.version or later.version,
            updated=self.updated or later.updated,
            ids=self.ids or later.ids,
            alerts=later.alerts if self.alerts is None else self.alerts,
        )

    def hiding(self, hide: Callable[[str], str]) -> ServerInfo:
        """Leave out each text that holds what has to be hidden."""

        def shown(text: str) -> bool:
            return hide(text) == text

        return ServerInfo(
            version=self.version if shown(self.version) else "",
            updated=self.updated if shown(self.updated) else "",
            ids={name: id_ for name, id_ in self.ids.items() if shown(name) and shown(id_)},
            alerts=None if self.alerts is None else tuple(filter(shown, self.alerts)),
        )


NOTHING_TOLD = ServerInfo()
