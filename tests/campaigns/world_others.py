"""What others do to the service, over raw HTTP: they make, edit and delete."""

from __future__ import annotations

import copy
import http.client
from dataclasses import dataclass
from typing import Any

from world_content import Content, Spec
from world_edits import Editor, with_ids
from world_laws import OWNED
from world_service import ALERTS, DASHBOARDS, OVERWRITE, SLOS, VIEWS, WEB, Service

BOARD_TIMES = frozenset(("createdAt", "updatedAt"))
POLICY_FIELDS = (
    "name",
    "description",
    "priority",
    "applicationRule",
    "subsystemRule",
    "archiveRetention",
)


@dataclass(frozen=True)
class Others:
    """Somebody who knows the service, and nothing of us."""

    service: Service
    content: Content

    def edit(self, kind: str, remote_id: str | None, word: str) -> bool:
        """Edit something in one to three ways; tells whether the service took it."""
        live = self.service.live()[kind]
        record = live.get("all" if kind == "LogPolicySet" else str(remote_id))
        if not record:
            return False
        before = self._in_write_form(kind, copy.deepcopy(record))
        after = Editor(self.content).edited(kind, before, word, [])
        if after == before:
            return False
        return self._put(kind, str(remote_id), after)

    @staticmethod
    def _in_write_form(kind: str, record: Any) -> Spec:
        if kind == "LogPolicySet":
            return {"policies": [_policy_input(value) for value in record]}
        if kind == "AlertDefinition":
            properties: Spec = record["alertDefProperties"]
            return properties
        if kind == "Dashboard":
            return {name: record[name] for name in ("dashboard", "isLocked") if name in record}
        return {name: value for name, value in record.items() if name not in OWNED}

    def _put(self, kind: str, remote_id: str, content: Spec) -> bool:
        match kind:
            case "LogPolicySet":
                status, _ = self.service.api("POST", OVERWRITE, content)
            case "AlertDefinition":
                item = {"id": remote_id, "alertDefProperties": content}
                _, answer = self.service.api("PUT", ALERTS, {"alertDefsToReplace": [item]})
                return bool((answer or {}).get("alertDefs"))
            case "Dashboard":
                board = with_ids(without_times(content["dashboard"]), self.content)
                body = {**content, "dashboard": board, "requestId": "theirs"}
                status, _ = self.service.api("PUT", DASHBOARDS, body)
            case "SLO":
                status, _ = self.service.api("PUT", SLOS, {"id": remote_id, **content})
            case _:
                status, _ = self.service.api("PUT", f"{VIEWS}/{remote_id}", content)
        return status < http.client.BAD_REQUEST

    def delete(self, kind: str, remote_id: str) -> bool:
        """Delete something in the web interface."""
        status, _ = self.service.ask("DELETE", f"/web/{WEB[kind]}/{remote_id}")
        return status == http.client.NO_CONTENT

    def make(self, kind: str, number: int) -> bool:
        """Make something of their own: of a kind, or of any."""
        chance = self.content.chance
        kinds = (
            [kind] if kind == "LogPolicySet" else ["SLO", "Dashboard", "SavedView", "LogPolicySet"]
        )
        chosen = chance.choice(kinds)
        spec = self.content.spec(chosen, f"T{number}x", [])
        match chosen:
            case "SLO":
                status, _ = self.service.api("POST", SLOS, spec)
            case "Dashboard":
                board = {**without_times(spec["dashboard"]), "slugName": f"theirs-{number}"}
                body = {"requestId": f"theirs {number}", "dashboard": with_ids(board, self.content)}
                status, _ = self.service.api("POST", DASHBOARDS, body)
            case "SavedView":
                spec.pop("isCompactMode", None)
                status, _ = self.service.api("POST", VIEWS, spec)
            case _:
                status = self._add_policies()
        return status < http.client.BAD_REQUEST

    def _add_policies(self) -> int:
        """Put policies of theirs among what is there; some have a name of ours."""
        chance = self.content.chance
        held = self.service.live()["LogPolicySet"]["all"]
        items = [_policy_input(value) for value in held]
        items += self.content.policies(chance.choice(("theirs", "theirs", "ours")))
        chance.shuffle(items)
        status, _ = self.service.api("POST", OVERWRITE, {"policies": items})
        return status


def _policy_input(record: Spec) -> Spec:
    policy = {name: record[name] for name in POLICY_FIELDS if name in record}
    return {"logRules": record["logRules"], "policy": {**policy, "disabled": not record["enabled"]}}


def without_times(value: Any) -> Any:
    """Leave out the times that a service keeps of widgets."""
    if isinstance(value, dict):
        return {
            name: without_times(inner) for name, inner in value.items() if name not in BOARD_TIMES
        }
    return [without_times(element) for element in value] if isinstance(value, list) else value
