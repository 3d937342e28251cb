"""Completion in a shell: click's protocol, with the command tree as data.

It answers in any case: a broken project, an unreadable file or an unknown shell gives fewer words
or none, and nothing on stderr. No requests are sent, and no manifest is parsed.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NotRequired, TypeAlias, TypedDict

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
)

from reconciler.cli.overview import COMMANDS
from reconciler.runtime.rows import Rows
from reconciler.workspace.completion_names import CompletionProject, named_in, place_of, runs_in

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


PROGRAM = "reconciler"
VARIABLE = "_RECONCILER_COMPLETE"
MOST_OFFERED = 2000

Gives: TypeAlias = Callable[[CompletionProject, click.Context, str], Iterable[str]]

COMPLETIONS: Final = Rows[Gives]("completions")
"""Functions that yield the values of a parameter; the key is `gives` of the parameter."""

# A shell takes such text as one word, without expansion; scripts split and expand any other.
_PLAIN = re.compile(r"[\w./@+=,-]+")


class Bash(BashComplete):
    """Completion in bash, which ends a word at `=`, and completes only what follows it."""

    behind = ""

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before the cursor, and the word at the cursor, each as it was typed."""
        args, incomplete = super().get_completion_args()
        words = [*args, incomplete]
        typed: list[str] = []
        for at, word in enumerate(words):
            follows = at and words[at - 1] == "=" and len(typed) > 1
            if typed and (word == "=" or follows):
                typed[-1] += word
            else:
                typed.append(word)
        if typed[-1] != incomplete:
            behind = typed[-1].removesuffix("" if incomplete == "=" else incomplete)
            # In `--select=kind=S` click completes only the part after the first `=`.
            self.behind = behind.partition("=")[2] if behind.startswith("--") else behind
        return typed[:-1], typed[-1]

    def format_completion(self, item: CompletionItem) -> str:
        """Return a completion without the part that is before the last `=` already."""
        item.value = item.value.removeprefix(self.behind)
        return super().format_completion(item)


SHELLS: Mapping[str, type[ShellComplete]] = {
    "bash": Bash,
    "zsh": ZshComplete,
    "fish": FishComplete,
}


def answer(instruction: str) -> int:
    """Print the answer to a script, such as `bash_complete`; nothing where there is none."""
    shell, _, _ = instruction.partition("_")
    try:
        text = SHELLS[shell](command_of(read_tree(), PROGRAM), {}, PROGRAM, VARIABLE).complete()
        sys.stdout.write(f"{text}\n" if text else "")
        sys.stdout.flush()
    except Exception:  # noqa: BLE001 - our output would appear inside the typed line
        return 1
    return 0


def command_of(tree: Command, name: str) -> click.Command:
    """Return a command, or a group of commands, that can only be completed."""
    parameters = [*map(_parameter, (*tree["options"], *tree["arguments"]))]
    if "commands" not in tree:
        return click.Command(name, params=parameters, help=tree["help"])
    commands = {word: command_of(command, word) for word, command in tree["commands"].items()}
    return click.Group(name, commands=commands, params=parameters, help=tree["help"])


def _parameter(about: CommandParameter) -> click.Parameter:
    name, several = about["name"], about.get("several", False)
    values, offer = _type(about), _offer(about)
    if "words" not in about:
        return click.Argument(
            [name],
            nargs=-1 if several else 1,
            required=False,
            type=values,
            shell_complete=offer,
        )
    return click.Option(
        [*about["words"], name],
        is_flag=about.get("flag", False),
        multiple=several,
        help=about.get("help"),
        type=values,
        shell_complete=offer,
    )


def _type(parameter: CommandParameter) -> click.ParamType[Any] | None:
    if parameter["gives"] == "file":
        return click.Path()
    if parameter["gives"] == "folder":
        return click.Path(file_okay=False)
    return click.Choice(parameter["choices"]) if "choices" in parameter else None


def _offer(parameter: CommandParameter) -> Any:
    name = parameter["gives"]
    gives = COMPLETIONS.load(name) if name in COMPLETIONS else _GIVING.get(name)
    if gives is None:
        return None

    def offer(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
        found = (
            name for name in gives(_place(ctx), ctx, incomplete) if name.startswith(incomplete)
        )
        plain = dict.fromkeys(text for text in found if _PLAIN.fullmatch(text))
        return [CompletionItem(text) for text in list(plain)[:MOST_OFFERED]]

    return offer


def _place(ctx: click.Context) -> CompletionProject:
    file, paths = ctx.params.get("project"), ctx.params.get("paths") or ()
    if file:
        return place_of(Path(str(file)), Path(str(file)))
    return place_of(Path(str(paths[0])) if paths else Path())


def refs(place: CompletionProject, _: click.Context, __: str) -> Iterator[str]:
    """Yield the names of the manifests of a project, each as Kind/name."""
    return (f"{manifest.kind}/{manifest.name}" for manifest in named_in(place))


def _runs(place: CompletionProject, ctx: click.Context, _: str) -> Iterator[str]:
    yield "last"
    yield from runs_in(place, ctx.params.get("environment"))


def _terms(place: CompletionProject, _: click.Context, incomplete: str) -> Iterator[str]:
    """Yield values for the last term of an expression, after its earlier terms."""
    named = [*named_in(place)]
    before, comma, last = incomplete.rpartition(",")
    terms = (
        *(f"kind={kind}" for kind in sorted({manifest.kind for manifest in named})),
        *(f"label.{key}={label}" for manifest in named for key, label in manifest.labels.items()),
        *(f"file={manifest.file}" for manifest in named if last.startswith("f")),
        *(f"{manifest.kind}/{manifest.name}" for manifest in named),
    )
    yield from (f"{before}{comma}{term}" for term in terms)


_GIVING: Mapping[str, Gives] = {
    "environment": lambda place, _context, _typed: place.environments,
    "ref": refs,
    "run": _runs,
    "term": _terms,
}
