"""Write reconciler/cli/tree.json again: the command tree as completion reads it."""

from __future__ import annotations

import json

import click

from reconciler.cli.complete import FILE, Command, CommandParameter
from reconciler.cli.root import cli
from reconciler.cli.schema import schemas

LONGEST_HELP = 80
_BY_NAME = {
    "environment": "environment",
    "ref": "ref",
    "refs": "ref",
    "old": "",
    "new": "ref",
    "run": "run",
    "select": "term",
    "exclude": "term",
}


def tree_text() -> str:
    """Give the text that the file should hold."""
    return json.dumps(_reported(cli, click.Context(cli)), indent=1, ensure_ascii=True) + "\n"


def _reported(command: click.Command, ctx: click.Context) -> Command:
    told: Command = {
        "help": command.get_short_help_str(LONGEST_HELP),
        "options": [
            _parameter(param, command)
            for param in command.params
            if isinstance(param, click.Option)
        ],
        "arguments": [
            _parameter(param, command)
            for param in command.params
            if isinstance(param, click.Argument)
        ],
    }
    if isinstance(command, click.Group):
        named = ((name, command.get_command(ctx, name)) for name in command.list_commands(ctx))
        told["commands"] = {name: _reported(one, ctx) for name, one in named if one is not None}
    return told


def _parameter(one: click.Parameter, command: click.Command) -> CommandParameter:
    told: CommandParameter = {"name": one.name or "", "gives": _gives(one)}
    if isinstance(one, click.Option):
        told["words"] = [*one.opts, *one.secondary_opts]
        told["help"] = (one.help or "").split("\n")[0]
        if one.is_flag:
            told["flag"] = True
    if isinstance(one.type, click.Choice):
        told["choices"] = [*map(str, one.type.choices)]
    elif command.name == "schema" and one.name == "name":
        told["choices"] = [*schemas()]
    elif command.name == "ci" and one.name == "command":
        told["choices"] = ["validate", "plan", "apply", "drift"]
    elif command.name == "explain" and one.name == "words":
        told["gives"] = "explained"
    if one.multiple or one.nargs != 1:
        told["several"] = True
    return told


def _gives(one: click.Parameter) -> str:
    if isinstance(one.type, click.Path):
        return "file" if one.type.file_okay else "folder"
    if one.name == "flag" and one.metavar == "REF":
        return "ref"
    return _BY_NAME.get(one.name or "", "")


def main() -> None:
    """Write the file."""
    FILE.write_text(tree_text(), encoding="utf-8")
    print(f"{FILE.name}: the command tree")


if __name__ == "__main__":
    main()
