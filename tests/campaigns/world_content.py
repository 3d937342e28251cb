"""What people declare at their oddest: texts, numbers and specs of the five kinds.

Everything follows from the source of chance it is given. Nothing here is of the
product: the shapes are those of the API document.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

Spec = dict[str, Any]

TEXTS = (
    "Kasse",
    "e\u0301 decomposed",
    "\u00e9 composed",
    "\ufb01 ligature",
    "\u0130stanbul",
    "stra\u00dfe",
    "\u65e5\u672c\u8a9e",
    "\u05e9\u05dc\u05d5\u05dd",
    "\U0001f469\u200d\U0001f469\u200d\U0001f467",
    "\U0001f5ff\ufe0f",
    "\ufeffmark",
    "zero\u200bwidth",
    "soft\u00adhyphen",
    "\u0301begins with an accent",
    "line\nbreak",
    "tab\there",
    "carriage\r\nreturn",
    "'quoted' \"twice\"",
    "back\\slash",
    "# no comment",
    "- no item",
    "key: value",
    "{{mustache}} $(shell) $x",
    "$${var:x} ${",
    "yes",
    "null",
    "~",
    "012",
    "1e21",
    "0x10",
    "2025-01-31",
    "<b>&amp;",
    "::stop-commands::",
    "-->",
    "%s %d {0}",
    "0",
    "false",
)
BLANKS = ("", "", "", " ", "  ", "\u00a0", "\t", "\n", "\u3000")
NUMBERS = (
    0,
    -0.0,
    1,
    1.0,
    -1,
    0.1 + 0.2,
    1e21,
    1e-7,
    5e-324,
    1.7976931348623157e308,
    3.4e38,
    99.9,
    30000,
    2**53,
    -(2**53),
    123456789012345680.0,
)
TARGETS = (0, -0.0, 0.1 + 0.2, 1e-7, 50, 99.0, 99.9, 99.99999999999999)
"""Below 100, which would leave the alerts of an SLO no budget to watch."""
KEYS = (
    "a",
    "camelCase",
    "snake_key",
    "with space",
    "dotted.key",
    "$dollar",
    "\u00fcmlaut",
    "e\u0301",
    "0",
    "",
    "UPPER",
    "true",
)
"""Keys of what is opaque and of maps: none is the name of a field."""

GROUPS = ("region", "Zone", "\u00e9tage", "with space ")
"""Labels that SLOs group by, and no alert, which could not lose them."""

LONG = {
    "SLO": 4000,
    "AlertDefinition": 512,
    "Dashboard": 4096,
    "LogPolicySet": 255,
    "SavedView": 250,
}
"""Characters of the longest name of each kind, as far as services are known to take it."""

FRAMES = tuple(f"SLO_TIME_FRAME_{days}_DAYS" for days in (7, 14, 21, 28))
SEVERITIES = tuple(
    f"SEVERITY_{one}" for one in ("DEBUG", "VERBOSE", "INFO", "WARNING", "ERROR", "CRITICAL")
)
PRIORITIES = tuple(f"PRIORITY_TYPE_{one}" for one in ("BLOCK", "LOW", "MEDIUM", "HIGH"))
RULES = tuple(f"RULE_TYPE_ID_{one}" for one in ("IS", "IS_NOT", "START_WITH", "INCLUDES"))
SECRET_HOLE = "${secret:TOKEN}"  # noqa: S105 - an expression of manifests


@dataclass(frozen=True)
class Content:
    """Draws content that a service of this profile takes."""

    chance: random.Random
    profile: Mapping[str, Any]
    plain_policies: bool = False
    """Whether policies have names that no service rewrites."""

    @property
    def _rewrites(self) -> bool:
        return {self.profile.get("texts"), self.profile.get("unicode")} & {
            "trimmed",
            "nfc",
        } != set()

    def sometimes(self, share: float) -> bool:
        """Say yes to a share of all questions."""
        return self.chance.random() < share

    def text(self, most: int = 300) -> str:
        """Give a text, empty at times and as long as may be at others."""
        drawn = self.chance.random()
        if drawn < 0.1:
            return ""
        if drawn < 0.15:
            return (self.chance.choice(TEXTS) * most)[:most].replace("$", "S")
        parts = self.chance.sample(TEXTS, self.chance.randint(1, 2))
        edge = self.chance.choice
        return (edge(BLANKS) + " ".join(parts) + edge(BLANKS))[:most]

    def name(self, kind: str, word: str) -> str:
        """Give what people call a thing: never empty, and its own where names may not repeat.

        `word` is a word that nothing else has.
        """
        if self.sometimes(0.1) and self.profile.get("duplicateNames") != "conflict":
            word = "Twin"
        if self.sometimes(0.08):
            return (word + "\u00e9" * LONG[kind])[: LONG[kind]]
        most = LONG[kind] - len(word) - 2
        around = self.text(min(most, 60)) if self.sometimes(0.6) else ""
        edge = self.chance.choice
        return f"{edge(BLANKS)}{word}{around}{edge(BLANKS)}"[: LONG[kind]]

    def opaque(self, depth: int = 3) -> Any:
        """Give any value, for where the document shows no shape."""
        drawn = self.chance.random()
        if depth and drawn < 0.25:
            return {key: self.opaque(depth - 1) for key in self._keys(3)}
        if depth and drawn < 0.4:
            return [self.opaque(depth - 1) for _ in range(self.chance.randint(0, 3))]
        if drawn < 0.65:
            return self.chance.choice(NUMBERS)
        return self.chance.choice((True, False, None, self.text(40), self.text(40)))

    def _keys(self, most: int) -> list[str]:
        return self.chance.sample(KEYS, self.chance.randint(0, most))

    def mapping(self) -> dict[str, str]:
        """Give a map of texts."""
        return {key: self.text(30) for key in self._keys(3)}

    def spec(self, kind: str, word: str, slos: list[str]) -> Spec:
        """Give what stands under `spec:` of a new resource; `slos` may be referred to."""
        match kind:
            case "SLO":
                return self._slo(word)
            case "AlertDefinition":
                return self._alert(word, slos)
            case "Dashboard":
                return self._dashboard(word, slos)
            case "SavedView":
                return self._view(word)
            case _:
                return {"policies": self.policies("ours")}

    def _optional(self, **fields: Any) -> Spec:
        return {name: value for name, value in fields.items() if self.sometimes(0.5)}

    def _slo(self, word: str) -> Spec:
        return {
            "name": self.name("SLO", word),
            "targetThresholdPercentage": self.chance.choice(TARGETS),
            **self._optional(
                description=self.text(1000),
                sloTimeFrame=self.chance.choice(FRAMES),
                labels=self.mapping(),
                grouping={"labels": self.chance.sample(GROUPS, self.chance.randint(0, 3))},
            ),
            **self._new_field(),
            **self._sli(),
        }

    def _sli(self) -> Spec:
        if self.profile.get("slis") == "documented" or self.sometimes(0.5):
            ends = {"goodEvents": self._query(), "totalEvents": self._query()}
            return {"requestBasedMetricSli": ends}
        window = {
            "query": self._query(),
            "window": self.chance.choice(
                ("WINDOW_SLO_WINDOW_1_MINUTE", "WINDOW_SLO_WINDOW_5_MINUTES")
            ),
            "comparisonOperator": "COMPARISON_OPERATOR_GREATER_THAN",
            "threshold": self.chance.choice(NUMBERS),
        }
        return {"windowBasedMetricSli": window}

    def _query(self) -> Spec:
        return {"query": "q" + self.text(200)}

    def _new_field(self) -> Spec:
        """Give a field that the document does not show, where a service keeps it or forgets it."""
        if self.profile.get("unknownFields") == "refused" or not self.sometimes(0.15):
            return {}
        return {"somethingNew": self.opaque()}

    def _alert(self, word: str, slos: list[str]) -> Spec:
        part: Spec = {
            "type": "ALERT_DEF_TYPE_LOGS_IMMEDIATE_OR_UNSPECIFIED",
            "logsImmediate": {key: self.opaque() for key in self._keys(3)},
        }
        if slos and self.sometimes(0.3):
            watched = {"sloDefinition": {"sloId": "${ref:" + self.chance.choice(slos) + "}"}}
            budget = {"rules": [{"condition": {"threshold": self.chance.choice(NUMBERS)}}]}
            part = {
                "type": "ALERT_DEF_TYPE_SLO_THRESHOLD",
                "sloThreshold": {**watched, "errorBudget": budget},
            }
        return {
            "name": self.name("AlertDefinition", word),
            **part,
            **self._optional(
                description=self.text(3000),
                enabled=self.sometimes(0.5),
                phantomMode=self.sometimes(0.5),
                priority=f"ALERT_DEF_PRIORITY_P{self.chance.randint(1, 4)}",
                entityLabels=self.mapping(),
                groupByKeys=self._keys(4),
                incidentsSettings={"minutes": self.chance.randint(1, 10_080)},
                activeOn={
                    "dayOfWeek": ["DAY_OF_WEEK_TUESDAY", "DAY_OF_WEEK_MONDAY_OR_UNSPECIFIED"],
                    "startTime": {"hours": 22, "minutes": 0},
                    "endTime": {"hours": 0, "minutes": 30},
                },
                notificationGroup={"router": {}, "groupByKeys": self._keys(2)},
            ),
            **self._new_field(),
        }

    def _dashboard(self, word: str, slos: list[str]) -> Spec:
        description = self.text(2000)
        if slos and self.sometimes(0.2):
            description += " ${ref:" + self.chance.choice(slos) + "}"
        if self.sometimes(0.2):
            description += f" {SECRET_HOLE}"
        board: Spec = {
            "name": self.name("Dashboard", word),
            **self._optional(
                description=description,
                layout={"sections": self.some("section", 2)},
                filters=self.some("filter", 2),
                variablesV2=self.some("variable", 2),
                relativeTimeFrame=self.chance.choice(("60s", "900s")),
            ),
            **self._new_field(),
        }
        if self.sometimes(0.3):
            board["slugName"] = f"slug-{word.lower()}"
        return {"dashboard": board, **self._optional(isLocked=False)}

    def some(self, item: str, most: int) -> list[Spec]:
        """Give a list of sections, rows, widgets, filters or variables."""
        return [self.item(item) for _ in range(self.chance.randint(0, most))]

    def item(self, item: str) -> Spec:
        """Give one of them, with an id of its own or without any."""
        own: Spec = {}
        if self.sometimes(0.4):
            number = str(UUID(int=self.chance.getrandbits(128)))
            own["id"] = {"value": self.chance.choice((number, f"by-hand-{number[:6]}"))}
        match item:
            case "section":
                options = self._optional(options={"internal": {}})
                return {**own, **options, "rows": self.some("row", 2)}
            case "row":
                height = {"appearance": {"height": self.chance.randint(1, 40)}}
                return {**own, **height, "widgets": self.some("widget", 3)}
            case "widget":
                shown = self._optional(title=self.text(60), description=self.text(60))
                return {**own, **shown, "definition": self._definition()}
            case "filter":
                shown = self._optional(displayName=self.text(40), enabled=self.sometimes(0.5))
                metrics = {"label": "l", "operator": {"equals": {"selection": {"all": {}}}}}
                return {**own, **shown, "source": {"metrics": metrics}}
            case _:
                called = f"v{self.chance.getrandbits(20):x}"
                return {**own, "name": called, **self._optional(displayName=self.text(40))}

    def _definition(self) -> Spec:
        kind = self.chance.choice(("markdown", "dynamic", "lineChart"))
        return {kind: {key: self.opaque() for key in self._keys(4)}}

    def _view(self, word: str) -> Spec:
        quick = {"quickSelection": {"seconds": self.chance.choice((0, 60, 900))}}
        custom = {
            "customSelection": {
                "fromTime": "2025-01-31T09:00:00.000Z",
                "toTime": "2025-02-01T09:00:00.000Z",
            }
        }
        ticked = {key: self.sometimes(0.5) for key in self._keys(3)}
        return {
            "name": self.name("SavedView", word),
            "timeSelection": self.chance.choice((quick, custom)),
            **self._optional(
                searchQuery={"query": self.text(200)},
                filters={"filters": [{"name": "level", "selectedValues": ticked}]},
                isCompactMode=self.sometimes(0.5),
                viewType=self.chance.choice(("VIEW_TYPE_LOGS", "VIEW_TYPE_ARCHIVE_LOGS")),
                folderId=str(UUID(int=self.chance.getrandbits(128))),
            ),
        }

    def policies(self, whose: str) -> list[Spec]:
        """Give a list of policies, whose names differ whatever a service does to them."""
        numbers = self.chance.sample(range(9), self.chance.randint(1, 4))
        return [self.policy(f"{whose}{number}") for number in numbers]

    def policy(self, word: str) -> Spec:
        """Give one item of the list."""
        description = self.text(255).encode("latin-1", "ignore").decode("latin-1")
        name = word
        if self.sometimes(0.3) and not (self.plain_policies and self._rewrites):
            name = f"{word}{self.text(30)}"
        rule = {"name": self.text(30) or "x", "ruleTypeId": self.chance.choice(RULES)}
        policy = {
            "name": name,
            "description": description,
            "priority": self.chance.choice(PRIORITIES),
            **self._optional(
                disabled=self.sometimes(0.5),
                applicationRule=rule,
                archiveRetention={"id": self.text(20)},
            ),
        }
        severities = self.chance.sample(SEVERITIES, self.chance.randint(1, 6))
        return {"logRules": {"severities": severities}, "policy": policy}
