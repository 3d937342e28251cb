"""Ids that begin with a hyphen, as every 64th dashboard id; click reads them as options."""

from __future__ import annotations

import re
from itertools import islice

import click

_ID = re.compile(r"-[A-Za-z0-9_-]{20}")
_LIKE_AN_OPTION = re.compile(r"--[a-z][a-z-]*")
_LIKE_A_VALUE = re.compile(r"[a-z][a-z0-9-]*")


def with_ids_last(command: click.Command, arguments: list[str]) -> list[str]:
    """Return the arguments of a command with ids that begin with a hyphen after a `--`.

    Arguments that are not options keep their order.
    """
    options = {
        name: option
        for option in command.params
        if isinstance(option, click.Option)
        for name in option.opts
    }
    end = arguments.index("--") if "--" in arguments else len(arguments)
    if not any(_is_id(word, options) for word in arguments[:end]):
        return arguments
    before: list[str] = []
    after: list[str] = []
    waiting = iter(arguments)
    for word in waiting:
        if word == "--":
            after.extend(waiting)
        elif not word.startswith("-") or word == "-" or _is_id(word, options):
            after.append(word)
        else:
            before.append(word)
            if _wants_value(word, options):
                before.extend(islice(waiting, 1))
    return [*before, "--", *after]


def _is_id(word: str, options: dict[str, click.Option]) -> bool:
    if _ID.fullmatch(word) is None or word in options or _LIKE_AN_OPTION.fullmatch(word):
        return False
    short = options.get(word[:2])
    has_value = short is not None and not _is_flag(short)
    return not (has_value and _LIKE_A_VALUE.fullmatch(word[2:]))


def _wants_value(word: str, options: dict[str, click.Option]) -> bool:
    """Return whether the next argument is the value of an option."""
    if word.startswith("--"):
        return word in options and not _is_flag(options[word])
    for nth, letter in enumerate(word[1:], 1):
        option = options.get(f"-{letter}")
        if option is not None and not _is_flag(option):
            return nth == len(word) - 1
    return False


def _is_flag(option: click.Option) -> bool:
    return option.is_flag or option.count
