"""All that a profile of the emulator leaves to a deployment, to be drawn from.

Read off the profile itself, so that a new switch is drawn the day it is there.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st
from pydantic import TypeAdapter
from pydantic.alias_generators import to_snake

from reconciler.emulator import Profile

ADAPTER = TypeAdapter(Profile)
NOT_A_SWITCH = "description"
NUMBERS = {"staleReads": (0, 1, 2)}
"""What is drawn where a switch takes any number."""

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
    default = schema["default"]
    if "enum" in schema:
        return (default, *(value for value in schema["enum"] if value != default))
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


def profile(switches: Mapping[str, Any]) -> Profile:
    """Give the profile that a file with these switches would."""
    return Profile(**{to_snake(name): value for name, value in switches.items()})


def profiles(waiting: Mapping[Position, str]) -> st.SearchStrategy[Profile]:
    """Draw from all positions but those that wait."""
    drawn = {to_snake(name): st.sampled_from(values) for name, values in left(waiting).items()}
    return st.builds(Profile, **drawn)


def each_in_turn(waiting: Mapping[Position, str], seed: int) -> tuple[dict[str, Any], ...]:
    """Give the usual profile, each position alone, and as many mixtures again."""
    chance = random.Random(seed)  # noqa: S311 - choices of a test
    switches = left(waiting)
    alone = [{name: value} for name, (_, *others) in switches.items() for value in others]
    mixed = [
        {name: chance.choice(values) for name, values in switches.items() if chance.random() < 0.3}
        for _ in alone
    ]
    return ({}, *(one for pair in zip(alone, mixed, strict=True) for one in pair))


def positions(switches: Mapping[str, Any]) -> set[Position]:
    """Give where every switch stands in a profile that names some."""
    return {(name, switches.get(name, values[0])) for name, values in SWITCHES.items()}
