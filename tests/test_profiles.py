"""The random services of campaigns, the model and convergence are all that a service may be."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from harness.profiles import ADAPTER, POSITIONS, Position, each_in_turn, positions, profiles
from hypothesis import Phase, given, settings

TESTS = Path(__file__).parent


def loaded(path: str) -> Any:
    """Load a module of another folder of tests, as its own tests see it."""
    file = TESTS / path
    sys.path.insert(0, str(file.parent))
    try:
        made = importlib.util.spec_from_file_location(f"profiles_of_{file.stem}", file)
        assert made is not None
        assert made.loader is not None
        module = importlib.util.module_from_spec(made)
        sys.modules[made.name] = module
        made.loader.exec_module(module)
    finally:
        sys.path.remove(str(file.parent))
    return module


def drawn(waiting: Mapping[Position, str]) -> set[Position]:
    """Draw many services, and give the positions in which their switches stood."""
    found: set[Position] = set()

    @settings(max_examples=400, database=None, derandomize=True, phases=[Phase.generate])
    @given(profiles(waiting))
    def draw(profile: Any) -> None:
        found.update(positions(ADAPTER.dump_python(profile, by_alias=True)))

    draw()
    return found


MODEL = "campaigns/test_model.py"
CONVERGENCE = "planning/test_convergence.py"
WORLDS = "campaigns/worlds.py"


WAITING = {MODEL: "WAITING", CONVERGENCE: "WAITING_HERE", WORLDS: "WAITING"}
"""What waits in each, by the name it has there."""


@pytest.mark.parametrize("path", [MODEL, CONVERGENCE])
def test_every_position_is_drawn(path: str) -> None:
    """Every value of every switch is drawn, but for those that wait with a reason."""
    waiting = getattr(loaded(path), WAITING[path])

    assert drawn(waiting) == POSITIONS - waiting.keys()


def test_every_position_has_a_world() -> None:
    """Campaigns meet every value of every switch, but for those that wait with a reason."""
    worlds = loaded(WORLDS)
    met = {
        position
        for number in range(len(worlds.PROFILES))
        for position in positions(worlds.world(number).profile)
    }

    assert met == POSITIONS - worlds.WAITING.keys()


@pytest.mark.parametrize("path", sorted(WAITING))
def test_what_waits(path: str) -> None:
    """What waits is a position that there is, never the usual one, and says why."""
    for position, reason in getattr(loaded(path), WAITING[path]).items():
        assert position in POSITIONS - positions({})
        assert reason


def test_mixtures() -> None:
    """Services differ from the usual one in one switch, or in several at once."""
    usual = positions({})
    counts = {len(positions(value) - usual) for value in each_in_turn({}, seed=1)}

    assert {0, 1} < counts
    assert max(counts) >= 4
