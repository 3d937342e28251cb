"""Records as people paste them: what the service shows of good specs, written down as YAML or JSON.

`Paste` makes a good spec into a record; `Layout` writes any document down, with
comments that are counted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any, TypeAlias

UUID = "2f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4a11"
TIME = "2025-01-31T09:00:00Z"

Record: TypeAlias = dict[str, Any]

SPECS: dict[str, Record] = {
    "SLO": {
        "name": "Checkout",
        "targetThresholdPercentage": 99.5,
        "sloTimeFrame": "SLO_TIME_FRAME_28_DAYS",
        "windowBasedMetricSli": {
            "query": {"query": "up{job='a'} # no comment"},
            "window": "WINDOW_SLO_WINDOW_1_MINUTE",
            "comparisonOperator": "COMPARISON_OPERATOR_GREATER_THAN",
            "threshold": 3,
        },
        "labels": {"the_team": "a"},
    },
    "AlertDefinition": {
        "name": "Errors",
        "enabled": True,
        "type": "ALERT_DEF_TYPE_LOGS_IMMEDIATE_OR_UNSPECIFIED",
        "logsImmediate": {},
        "entityLabels": {"alert_type": "x"},
        "incidentsSettings": {"minutes": 10},
        "groupByKeys": ["a", "b"],
    },
    "Dashboard": {
        "dashboard": {
            "name": "Shop",
            "relativeTimeFrame": "900s",
            "layout": {
                "sections": [
                    {
                        "rows": [
                            {
                                "appearance": {"height": 19},
                                "widgets": [
                                    {
                                        "title": "${team} # all",
                                        "definition": {"markdown": {"markdown_text": "1"}},
                                        "appearance": {"width": 0},
                                    }
                                ],
                            }
                        ]
                    }
                ]
            },
        }
    },
    "LogPolicySet": {
        "policies": [
            {
                "logRules": {"severities": ["SEVERITY_ERROR"]},
                "policy": {
                    "name": name,
                    "description": "d",
                    "priority": "PRIORITY_TYPE_LOW",
                    "applicationRule": {"name": "prod", "ruleTypeId": "RULE_TYPE_ID_IS"},
                    "disabled": name == "two",
                },
            }
            for name in ("one", "two", "three")
        ]
    },
    "SavedView": {
        "name": "Errors",
        "timeSelection": {"quickSelection": {"seconds": 900, "caption": "x"}},
        "filters": {"filters": [{"name": "a", "selectedValues": {"is_set": True}}]},
    },
}

READ_ONLY: dict[str, Record] = {
    "SLO": {
        "creator": "me",
        "createTime": TIME,
        "updateTime": TIME,
        "revision": {"revision": 3, "updateTime": TIME},
        "type": "x",
    },
    "AlertDefinition": {
        "alertVersionId": "v",
        "createdTime": TIME,
        "updatedTime": TIME,
        "lastTriggeredTime": None,
        "status": "ALERT_DEF_STATUS_UNSPECIFIED",
    },
    "Dashboard": {
        "authorId": "a",
        "authorName": "b",
        "createdAt": TIME,
        "createdOriginType": "TOKEN_ORIGIN_TYPE_USER",
        "updatedAt": TIME,
        "lockerName": "",
        "requestId": "r",
    },
    "LogPolicySet": {
        "id": "i",
        "companyId": 7,
        "deleted": False,
        "createdAt": TIME,
        "updatedAt": TIME,
    },
    "SavedView": {},
}

IDS: dict[str, str | int] = {"SLO": UUID, "AlertDefinition": UUID, "SavedView": 12}
NUMBERS = ("targetThresholdPercentage", "threshold", "minutes", "height", "width", "seconds")
# What stands in these is data, whose keys are nobody's fields.
DATA = ("labels", "entityLabels", "definition", "selectedValues")


@dataclass
class Paste:
    """Makes records of good specs; they hold an id where one is given."""

    random: Random
    own_id: str | int | None = None

    def of(self, kind: str, spec: Record) -> Record:
        """Give a spec as somebody pasted it."""
        return self._shapes()[kind](kind, self._spelled(spec))

    def _shapes(self) -> dict[str, Callable[[str, Record], Record]]:
        return {
            "SLO": self._slo,
            "AlertDefinition": self._alert,
            "Dashboard": self._dashboard,
            "LogPolicySet": self._policies,
            "SavedView": self._with,
        }

    def _often(self) -> bool:
        return self.random.random() < 0.5

    def _with(self, kind: str, fields: Record) -> Record:
        """Add read-only fields in any order, some in snake case."""
        more = {key: value for key, value in READ_ONLY[kind].items() if self._often()}
        if self.own_id is not None:
            more["id"] = self.own_id
        entries = [*fields.items(), *((self._name(key), value) for key, value in more.items())]
        self.random.shuffle(entries)
        return dict(entries)

    def _slo(self, kind: str, spec: Record) -> Record:
        record = self._with(kind, spec)
        if not self._often():
            return record
        return {"slo": record, "effectedSloAlertIds": []} if self._often() else {"slo": record}

    def _alert(self, kind: str, spec: Record) -> Record:
        if not self._often():
            return self._with(kind, spec)
        record = self._with(kind, {"alertDefProperties": spec})
        if self._often():
            return {"alertDefs": [record], "notFoundIds": [], "skippedIds": []}
        return record

    def _dashboard(self, kind: str, spec: Record) -> Record:
        match self.random.randrange(3):
            case 0:
                return self._with(kind, dict(spec["dashboard"]))
            case 1:
                return {"dashboard": self._with(kind, spec)}
            case _:
                return self._with(kind, spec)

    def _policies(self, kind: str, spec: Record) -> Record:
        items = []
        for nth, item in enumerate(spec["policies"]):
            policy = {**item["policy"]}
            if self._often():
                policy = {**policy, "order": 4 * nth + 1}
            if self._often():
                policy["enabled"] = not policy.pop("disabled")
            items.append({**item, "policy": self._with(kind, policy)})
        if self._often():
            return {"createResponses": items}
        return {"policies": items}

    def _spelled(self, value: Any, name: str = "") -> Any:
        """Write some names in snake case and some numbers in quotes, but for what is data."""
        if name in NUMBERS and self._often():
            return str(value)
        if isinstance(value, list):
            return [self._spelled(item) for item in value]
        if not isinstance(value, dict) or name in DATA:
            return value
        return {self._name(key): self._spelled(member, key) for key, member in value.items()}

    def _name(self, name: str) -> str:
        snake = re.sub(r"([A-Z])", r"_\1", name).lower()
        return snake if snake != name and name not in _SHAPES and self._often() else name


_SHAPES = ("policies", "dashboard", "policy")


@dataclass
class Layout:
    """Writes documents down in YAML, in blocks and in braces, with `comments`."""

    random: Random
    end: str = "\n"
    comments: list[str] = field(default_factory=list)

    def yaml(self, document: Record) -> str:
        """Write a manifest down; apiVersion, kind and metadata stay at the head."""
        return "".join(f"{line}{self.end}" for line in self._mapping(document, ""))

    def _mapping(self, value: Record, indent: str) -> list[str]:
        lines: list[str] = []
        for key, inner in value.items():
            if self.random.random() < 0.2:
                lines.append(f"{indent}{self._comment()}")
            lines.extend(self._entry(key, inner, indent))
        return lines

    def _entry(self, key: str, value: Any, indent: str) -> list[str]:
        name = key if self.random.random() < 0.8 else json.dumps(key)
        in_line = not isinstance(value, dict | list) or not value or self.random.random() < 0.15
        if in_line:
            return [f"{indent}{name}: {self._scalar(value)}{self._after()}"]
        head = f"{indent}{name}:{self._after()}"
        if isinstance(value, dict):
            return [head, *self._mapping(value, f"{indent}  ")]
        inner = indent if self.random.random() < 0.5 else f"{indent}  "
        return [head, *(line for item in value for line in self._item(item, inner))]

    def _item(self, value: Any, indent: str) -> list[str]:
        if not isinstance(value, dict) or not value or self.random.random() < 0.2:
            return [f"{indent}- {self._scalar(value)}{self._after()}"]
        lines = self._mapping(value, f"{indent}  ")
        if lines[0].lstrip().startswith("#"):
            return [f"{indent}-", *lines]
        return [f"{indent}- {lines[0].removeprefix(f'{indent}  ')}", *lines[1:]]

    def _scalar(self, value: Any) -> str:
        if isinstance(value, str) and value.isalpha() and self.random.random() < 0.5:
            return value
        return json.dumps(value)

    def _after(self) -> str:
        return f"  {self._comment()}" if self.random.random() < 0.2 else ""

    def _comment(self) -> str:
        self.comments.append(f"# told {len(self.comments)}")
        return self.comments[-1]
