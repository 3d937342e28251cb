"""All that a profile of the emulator leaves to a deployment, to be drawn from.

Read off the profile itself, so that a new switch is drawn the day it is there.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st
from pydantic import TypeAdapter

from reconciler.emulator import Profile

ADAPTER = TypeAdapter(Profile)
NOT_A_SWITCH = "description"
NUMBERS = {"staleReads": (0, 1, 2)}
"""What is drawn where a switch takes any number."""

SHAPES: dict[str, dict[str, Any]] = {
    "reads": {
        "none": {},
        "wrapped": {
            "AlertDefinition": {
                "path": "/v3/alert-defs/{id}",
                "record": "data.alertDef",
                "spec": "alertDefProperties",
            },
            "SavedView": {"path": "/v3/views/{id}", "record": "view", "spec": "inner.view"},
        },
        "bare": {
            "AlertDefinition": {"path": "/alerts/alerts-general/v3/{id}"},
            "SavedView": {"path": "/data-exploration/saved-views/v1/{id}"},
        },
    },
    "lists": {
        "none": {},
        "some": {
            "AlertDefinition": {"path": "/v3/alert-defs", "items": "data.alertDefs"},
            "SLO": {"path": "/v1/slo/slos", "items": "slos", "id": "slo.id", "name": "slo.name"},
            "Dashboard": {"path": "/v1/dashboards/dashboards", "items": "items"},
            "SavedView": {"path": "/data-exploration/saved-views/v1"},
        },
    },
}
"""What is drawn where a switch takes an object: by the name that stands for it in a position."""

FILLS: dict[str, Any] = {
    "zeroValues": "rendered",
    "emptyObjects": "rendered",
    "keyOrder": "reversed",
    "int64": "text",
    "uuids": "lower_case",
    "sloTypes": "told",
    "sloTimeFrames": "defaulted",
    "dashboardSlugs": "made",
    "widgetTimes": "told",
    "requiredFields": "observed",
    "policyOrder": "reversed",
    "policySeverities": "returned",
}
"""The service that fills in, normalises and orders all that there is a switch for."""

Switches = dict[str, tuple[Any, ...]]
Position = tuple[str, Any]
"""A switch in lower camelCase, and one of its values."""

WAITING: dict[Position, str] = {
    **{
        ("staleReads", number): "an apply reads what it wrote, and here would read the old"
        for number in NUMBERS["staleReads"][1:]
    }
}
"""Positions that no random service has yet, each with its reason."""


def _values(name: str, schema: Mapping[str, Any]) -> tuple[Any, ...]:
    default = schema.get("default")
    if "enum" in schema:
        return (default, *(value for value in schema["enum"] if value != default))
    if name in SHAPES:
        return tuple(SHAPES[name])
    if schema["type"] == "boolean":
        return (default, not default)
    return NUMBERS[name]


SWITCHES: Switches = {
    name: _values(name, schema)
    for name, schema in ADAPTER.json_schema()["properties"].items()
    if name != NOT_A_SWITCH
}
"""Every switch with every value, its default first."""

POSITIONS: frozenset[Position] = frozenset(
    (name, value) for name, values in SWITCHES.items() for value in values
)


def left(waiting: Mapping[Position, str]) -> Switches:
    """Give the switches less the positions that wait, each for a reason."""
    return {
        name: tuple(value for value in values if (name, value) not in waiting)
        for name, values in SWITCHES.items()
    }


def as_file(switches: Mapping[str, Any]) -> dict[str, Any]:
    """Give what a file of a profile says of switches: objects whole, not by their names."""
    said = {
        name: SHAPES[name][value] if name in SHAPES else value for name, value in switches.items()
    }
    if said.get("reads") and said.get("errorBody", "json") != "json":
        # Where a 404 says nothing, only a list tells a thing that is gone from a wrong path.
        said["lists"] = SHAPES["lists"]["some"]
    return said


def reads_of(switches: Mapping[str, Any]) -> dict[str, Any]:
    """Give what a project file says under `api: reads:` of such a service; {} for nothing."""
    said = as_file(switches)
    lists = {"lists": said["lists"]} if said.get("lists") else {}
    return {**said.get("reads", {}), **lists}


def profile(switches: Mapping[str, Any]) -> Profile:
    """Give the profile that a file with these switches would."""
    return ADAPTER.validate_json(json.dumps(as_file(switches)))


FILLING = profile(FILLS)


def profiles(waiting: Mapping[Position, str]) -> st.SearchStrategy[Profile]:
    """Draw from all positions but those that wait."""
    drawn = {name: st.sampled_from(values) for name, values in left(waiting).items()}
    return st.fixed_dictionaries(drawn).map(profile)


def each_in_turn(waiting: Mapping[Position, str], seed: int) -> tuple[dict[str, Any], ...]:
    """Give the usual profile, each position alone, and as many mixtures again."""
    chance = random.Random(seed)  # noqa: S311 - choices of a test
    switches = left(waiting)
    alone = [{name: value} for name, (_, *others) in switches.items() for value in others]
    mixed = [
        {name: chance.choice(values) for name, values in switches.items() if chance.random() < 0.3}
        for _ in alone
    ]
    return ({}, *(element for pair in zip(alone, mixed, strict=True) for element in pair))


def positions(switches: Mapping[str, Any]) -> set[Position]:
    """Give where every switch stands in a profile that names some."""
    return {
        (name, _name_of(name, switches.get(name, values[0]))) for name, values in SWITCHES.items()
    }


def _name_of(switch: str, value: Any) -> Any:
    """Give the name of an object; any other value is its own."""
    if switch not in SHAPES or isinstance(value, str):
        return value
    whole = {name: profile({switch: name}) for name in SHAPES[switch]}
    dumped = {name: ADAPTER.dump_python(one, by_alias=True)[switch] for name, one in whole.items()}
    return next(name for name, member in dumped.items() if member == value)
