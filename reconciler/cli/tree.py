"""Command tree as data, so that completion imports no command.

`scripts/write_tree.py` writes the file next to this module from the commands themselves, and a test
compares them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NotRequired, TypedDict

from reconciler.cli.overview import COMMANDS

FILE = Path(__file__).with_name("tree.json")


class CommandParameter(TypedDict):
    """An option or an argument; `gives` is the kind of its values, "" if unknown."""

    name: str
    gives: str
    words: NotRequired[list[str]]
    choices: NotRequired[list[str]]
    flag: NotRequired[bool]
    several: NotRequired[bool]
    help: NotRequired[str]


class Command(TypedDict):
    """A command with its parameters, or a group with commands."""

    help: str
    options: list[CommandParameter]
    arguments: list[CommandParameter]
    commands: NotRequired[Mapping[str, Command]]


def read_tree() -> Command:
    """Read and return the whole tree, without commands that the program no longer has."""
    read: Any = json.loads(FILE.read_text(encoding="utf-8"))
    tree: Command = read
    tree["commands"] = {
        name: value for name, value in tree.get("commands", {}).items() if name in COMMANDS
    }
    return tree
