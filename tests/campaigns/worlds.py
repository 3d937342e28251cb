"""Random worlds: a deployment's choices, versions of manifests, and what belongs to others.

A world follows from its number alone, so that a failure names all that is needed
to see it again. Every text of ours begins with the resource's name, by which the
checker knows whose an object of the service is.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

from harness.profiles import WAITING, each_in_turn, reads_of

KEY = "canary-key-8d1f77"
SECRET = "canary-secret-5c2e"  # noqa: S105 - a canary, to be looked for
TOKEN = "TOKEN"  # noqa: S105 - the name of a variable
HOLE = "${secret:" + TOKEN + "}"

PROFILES = each_in_turn(WAITING, seed=1)

Spec = dict[str, Any]


@dataclass(frozen=True)
class Declared:
    """One resource of a version: what is written under `spec`, and what it waits for."""

    ref: str
    spec: Spec
    remote_id: str | None = None
    waits_for: frozenset[str] = frozenset()

    @property
    def text(self) -> str:
        """The manifest, as JSON, which is YAML too."""
        kind, _, name = self.ref.partition("/")
        metadata = {"name": name, **({"id": self.remote_id} if self.remote_id else {})}
        whole = {
            "apiVersion": "reconciler/v1",
            "kind": kind,
            "metadata": metadata,
            "spec": self.spec,
        }
        return json.dumps(whole)


@dataclass(frozen=True)
class World:
    """One deployment and the versions of what is declared for it, oldest first.

    `foreign` are requests by which somebody else made what is there before us.
    """

    number: int
    profile: Mapping[str, Any]
    versions: tuple[tuple[Declared, ...], ...]
    alert_ids: tuple[str, ...]
    foreign: tuple[tuple[str, str, Any], ...] = field(default=())

    def write(self, folder: Path, version: int, journal: str = ".reconciler/journal.jsonl") -> None:
        """Write the project and one version of its manifests into a folder."""
        environment: dict[str, Any] = {"journal": journal}
        if self.profile.get("authorization") == "bearer":
            environment["authorization"] = "bearer"
        api: dict[str, Any] = {}
        if self.profile.get("slis") == "documented":
            api["documentedSliOnly"] = True
        if self.profile.get("validation") == "documented":
            api["validateSlos"] = "none"
        if self.profile.get("queryObjects") == "json":
            api["queryStyle"] = "json"
        if reads := reads_of(self.profile):
            api["reads"] = reads
        if api:
            environment["api"] = api
        project = {"environments": {"default": environment}}
        (folder / "reconciler.yaml").write_text(json.dumps(project), encoding="utf-8")
        text = "\n---\n".join(one.text for one in self.versions[version])
        (folder / "all.yaml").write_text(text + "\n", encoding="utf-8")


def share(count: int) -> int:
    """Give how many cases of a campaign each world takes, so that all profiles have some.

    Making a world costs as much as two cases, so few is not one.
    """
    return max(6, count // len(PROFILES))


def drawing(seed: int) -> random.Random:
    """Give a source of chance that a seed repeats."""
    return random.Random(seed)  # noqa: S311 - worlds and faults, not secrets


WITHOUT: dict[str, str] = {}
"""Kinds that no campaign writes yet, each with its reason."""


def unreadable(profile: Mapping[str, Any]) -> frozenset[str]:
    """Give the kinds of which such a service tells nothing."""
    silent = profile.get("requiredLists") == "left_out"
    return frozenset(("AlertDefinition", "LogPolicySet") if silent else ())


def world(number: int) -> World:
    """Make the world of a number: every profile in turn, all else by chance."""
    chance = drawing(number)
    profile = PROFILES[number % len(PROFILES)]
    drawn = _Draw(chance, still_slos=profile.get("slis") == "documented")
    names = {kind: some for kind, some in drawn.names().items() if kind not in unreadable(profile)}
    versions = tuple(drawn.version(names, word) for word in ("one", "two"))
    alert_ids = tuple(one.remote_id or "" for one in versions[-1] if one.remote_id)
    return World(number, profile, versions, alert_ids, _foreign(chance, profile))


@dataclass(frozen=True)
class _Draw:
    """Draws what is declared. With `still_slos`, nothing about an SLO ever changes."""

    chance: random.Random
    still_slos: bool

    def names(self) -> dict[str, list[str]]:
        """Draw how many there are of each kind; what is last is new in the last version."""
        some = self.chance.randint
        return {
            "SLO": [f"slo{index}" for index in range(some(1, 2))],
            "AlertDefinition": [f"alert{index}" for index in range(some(1, 3))],
            "Dashboard": [f"board{index}" for index in range(some(1, 3))],
            "SavedView": [f"view{index}" for index in range(some(1, 2))],
            "LogPolicySet": ["all"],
        }

    def version(self, names: dict[str, list[str]], word: str) -> tuple[Declared, ...]:
        """Draw one version; the first one lacks some."""
        kept = {
            kind: [name for name in all_ if word != "one" or self.chance.random() < 0.7]
            for kind, all_ in names.items()
        }
        slos = [self._slo(name, word) for name in kept["SLO"]]
        known = [slo.ref for slo in slos]
        return (
            *slos,
            *(self._alert(name, word, known) for name in kept.get("AlertDefinition", ())),
            *(self._board(name, word, known) for name in kept["Dashboard"]),
            *(self._view(name, word) for name in kept["SavedView"]),
            *(self._policies(word) for _ in kept.get("LogPolicySet", ())),
        )

    def _slo(self, name: str, word: str) -> Declared:
        said = "still" if self.still_slos else word
        spec = {
            "name": f"{name} {said}",
            "description": f"{name} {said}",
            "targetThresholdPercentage": 99.5,
            "sloTimeFrame": "SLO_TIME_FRAME_28_DAYS",
            "requestBasedMetricSli": {
                "goodEvents": {"query": "good"},
                "totalEvents": {"query": "all"},
            },
        }
        return Declared(f"SLO/{name}", spec)

    def _alert(self, name: str, word: str, slos: list[str]) -> Declared:
        place = int(name.removeprefix("alert"))
        remote_id = str(UUID(int=(0x4A11 << 64) + place + 1))
        spec: Spec = {
            "name": f"{name} {word}",
            "enabled": True,
            "priority": "ALERT_DEF_PRIORITY_P2",
        }
        if slos and self.chance.random() < 0.5:
            spec["type"] = "ALERT_DEF_TYPE_SLO_THRESHOLD"
            spec["sloThreshold"] = {
                "sloDefinition": {"sloId": "${ref:" + slos[0] + "}"},
                "errorBudget": {"rules": [{"condition": {"threshold": 10}}]},
            }
            return Declared(f"AlertDefinition/{name}", spec, remote_id, frozenset(slos[:1]))
        spec["type"] = "ALERT_DEF_TYPE_LOGS_IMMEDIATE_OR_UNSPECIFIED"
        spec["logsImmediate"] = {}
        return Declared(f"AlertDefinition/{name}", spec, remote_id)

    def _board(self, name: str, word: str, slos: list[str]) -> Declared:
        waits = frozenset(slos[:1] if slos and self.chance.random() < 0.3 else ())
        secret = f" {HOLE}" if self.chance.random() < 0.3 else ""
        reference = "".join(" ${ref:" + wait + "}" for wait in waits)
        widget = {"title": f"{word}", "definition": {"markdown": {"markdownText": word}}}
        layout = {
            "sections": [{"rows": [{"appearance": {"height": 19}, "widgets": [widget]}]}],
        }
        board = {
            "name": f"{name} {word}",
            "description": f"{name} {word}{reference}{secret}",
            "layout": layout if self.chance.random() < 0.7 else {"sections": []},
        }
        return Declared(f"Dashboard/{name}", {"dashboard": board}, None, waits)

    def _view(self, name: str, word: str) -> Declared:
        spec: Spec = {
            "name": f"{name} {word}",
            "timeSelection": {"quickSelection": {"seconds": 900}},
            "searchQuery": {"query": f"level:{word}"},
        }
        if self.chance.random() < 0.5:
            spec["isCompactMode"] = True
        return Declared(f"SavedView/{name}", spec)

    def _policies(self, word: str) -> Declared:
        names = self.chance.sample("pqrst", self.chance.randint(1, 4))
        policies = [
            {
                "logRules": {"severities": ["SEVERITY_ERROR"]},
                "policy": {
                    "name": name,
                    "description": f"about {word}",
                    "priority": "PRIORITY_TYPE_HIGH",
                    "disabled": self.chance.random() < 0.3,
                },
            }
            for name in names
        ]
        return Declared("LogPolicySet/all", {"policies": policies})


def _foreign(chance: random.Random, profile: Mapping[str, Any]) -> tuple[tuple[str, str, Any], ...]:
    """Give what others made: one of each kind that can be made, and perhaps a policy."""
    slo = {
        "name": "foreign",
        "targetThresholdPercentage": 90,
        "requestBasedMetricSli": {"goodEvents": {"query": "g"}, "totalEvents": {"query": "a"}},
    }
    made: list[tuple[str, str, Any]] = [
        ("POST", "/v1/slo/slos", slo),
        (
            "POST",
            "/v1/dashboards/dashboards",
            {
                "requestId": "theirs",
                "dashboard": {"name": "foreign", "slugName": "foreign", "layout": {"sections": []}},
            },
        ),
        (
            "POST",
            "/data-exploration/saved-views/v1",
            {"name": "foreign", "timeSelection": {"quickSelection": {"seconds": 60}}},
        ),
    ]
    # Where an empty list is left out, a service without any policy cannot be read.
    if chance.random() < 0.4 or profile.get("requiredLists") == "empty_left_out":
        made.append(("POST", "/dataplans/policies/v1/atomicOverwriteLogPolicies", their_policies()))
    return tuple(made)


def their_policies(*names: str) -> dict[str, Any]:
    """Give a list of policies that somebody else would write."""
    policies = [
        {
            "logRules": {"severities": ["SEVERITY_INFO"]},
            "policy": {"name": name, "description": "theirs", "priority": "PRIORITY_TYPE_LOW"},
        }
        for name in names or ("foreign",)
    ]
    return {"policies": policies}
