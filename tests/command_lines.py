"""Every command line with each of its formats, told from the commands themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click

from reconciler.commands.root import cli


def lines_with_formats(command: click.Command = cli, words: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield `journal show --format json` and the like, for each format of each command."""
    if isinstance(command, click.Group):
        within = click.Context(command)
        for name in command.list_commands(within):
            inner = command.get_command(within, name)
            assert inner is not None
            yield from lines_with_formats(inner, (*words, name))
    for option in command.params:
        if option.name == "form" and isinstance(option.type, click.Choice):
            for choice in option.type.choices:
                yield f"{' '.join(words)} --format {choice}"


def without_place(text: str) -> str:
    """Leave out of advised commands the options that lead them to the same place."""
    return re.sub(r" (?:-e|--project|--path) [^\s`]+", "", text)
