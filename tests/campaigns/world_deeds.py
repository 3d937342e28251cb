"""A world as a list of deeds, which follows from its number alone and can be cut shorter.

Each deed draws from a source of chance of its own, so that leaving one out changes
no other.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from harness.profiles import WAITING, each_in_turn

KINDS = ("SLO", "AlertDefinition", "Dashboard", "LogPolicySet", "SavedView")
PROFILES = each_in_turn(WAITING, seed=2)

DEEDS: dict[str, int] = {
    "edit": 30,
    "live": 25,
    "declare": 8,
    "move": 6,
    "rename": 6,
    "pin": 6,
    "remove": 5,
    "restore": 5,
    "delete": 5,
    "foreign": 5,
    "lose journal": 4,
    "move journal": 4,
    "roll back journal": 4,
}
"""What may happen between two applies, and how often beside the others."""

WAITING_DEEDS: dict[str, str] = {
    "severities": "severities that others changed are kept, though the ids of the list tell",
    "rewritten policy names": "a policy that others delete is kept, where its name is rewritten",
    "repeated request": "a create after a lost journal may repeat the requestId of what is gone",
}
"""What is left out of worlds until it is mended, each with its reason."""


@dataclass(frozen=True)
class Deed:
    """Something that happens to one thing, or to none; a thing is `Kind#number`."""

    what: str
    thing: str
    seed: int

    @property
    def kind(self) -> str:
        """The kind of what it happens to, "" where that is nothing."""
        return self.thing.partition("#")[0]

    @property
    def chance(self) -> random.Random:
        """The source of all that is drawn for it."""
        return random.Random(self.seed)  # noqa: S311 - worlds, not secrets

    def __str__(self) -> str:
        return f"{self.what} {self.thing}".strip()


@dataclass(frozen=True)
class World:
    """A service, and what happens before each apply."""

    number: int
    profile: Mapping[str, Any]
    steps: tuple[tuple[Deed, ...], ...]

    @property
    def alert_ids(self) -> list[str]:
        """The alerts that somebody has clicked together."""
        things = {one.thing for step in self.steps for one in step if one.kind == "AlertDefinition"}
        return [alert_id(thing) for thing in sorted(things)]


def alert_id(thing: str) -> str:
    """Give the id of an alert by its place among them."""
    return str(UUID(int=(0x4A11 << 64) + int(thing.partition("#")[2]) + 1))


def unlisted(profile: Mapping[str, Any]) -> frozenset[str]:
    """Give the kinds that cannot be told from an answer without lists."""
    silent = profile.get("requiredLists") == "left_out"
    return frozenset(("AlertDefinition", "LogPolicySet") if silent else ())


def world(number: int) -> World:
    """Make the world of a number: every profile in turn, all else by chance."""
    chance = random.Random(number)  # noqa: S311 - worlds, not secrets
    profile = PROFILES[number % len(PROFILES)]
    left_out = unlisted(profile)
    things = [
        f"{kind}#{index}"
        for kind in KINDS
        if kind not in left_out
        for index in range(1 if kind == "LogPolicySet" else chance.randint(0, 2))
    ]
    first = [Deed("foreign", "", chance.getrandbits(32)) for _ in range(chance.randint(0, 2))]
    if profile.get("requiredLists") == "empty_left_out":
        # Without any policy such a service cannot be read.
        first.append(Deed("foreign", "LogPolicySet#0", chance.getrandbits(32)))
    first += [Deed("declare", text, chance.getrandbits(32)) for text in things]
    steps = [tuple(first)]
    for _ in range(chance.randint(1, 3)):
        deeds = []
        for what in chance.choices(list(DEEDS), list(DEEDS.values()), k=chance.randint(1, 4)):
            if what == "declare":
                kind = chance.choice([kind for kind in KINDS if kind not in left_out])
                count = sum(text.startswith(kind) for text in things)
                thing = f"{kind}#{0 if kind == 'LogPolicySet' else count}"
                things.append(thing)
            else:
                thing = chance.choice(things or ["LogPolicySet#0"])
            deeds.append(Deed(what, thing, chance.getrandbits(32)))
        steps.append(tuple(deeds))
    return World(number, profile, tuple(steps))
