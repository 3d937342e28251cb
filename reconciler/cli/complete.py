"""What a shell is offered while somebody types: click's protocol over the tree as data.

It answers whatever happens: a broken project, an unreadable file or an unknown shell gives fewer
words or none, and nothing on stderr. No service is asked, and no manifest is parsed.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
)

from reconciler.cli.tree import Command, CommandParameter, read_tree
from reconciler.workspace.completion_names import (
    CompletionProject,
    named_in,
    place_of,
    rules_in,
    runs_in,
)

PROGRAM = "reconciler"
VARIABLE = "_RECONCILER_COMPLETE"
MOST_OFFERED = 2000

# What a shell takes as one word, and expands no further; the scripts split and expand the rest.
_PLAIN = re.compile(r"[\w./@+=,-]+")


class Bash(BashComplete):
    """Bash, which takes `=` for the end of a word, and completes what stands behind it."""

    behind = ""

    def get_completion_args(self) -> tuple[list[str], str]:
        """Give the words before the cursor, and the one at it, each as it was typed."""
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
            # Of `--select=kind=S` click completes what stands behind the first.
            self.behind = behind.partition("=")[2] if behind.startswith("--") else behind
        return typed[:-1], typed[-1]

    def format_completion(self, item: CompletionItem) -> str:
        """Give a word without what stands before the last `=` already."""
        item.value = item.value.removeprefix(self.behind)
        return super().format_completion(item)


SHELLS: Mapping[str, type[ShellComplete]] = {
    "bash": Bash,
    "zsh": ZshComplete,
    "fish": FishComplete,
}


def source_of(shell: str) -> str:
    """Give the script that lets a shell ask for words."""
    made = SHELLS[shell](click.Group(PROGRAM), {}, PROGRAM, VARIABLE)
    # Bash's own would start bash, to find out its version.
    return ShellComplete.source(made)


def answer(instruction: str) -> int:
    """Print what a script asks for, as `bash_complete`; nothing where that cannot be told."""
    shell, _, _ = instruction.partition("_")
    try:
        made = SHELLS[shell](group_of(read_tree(), PROGRAM), {}, PROGRAM, VARIABLE)
        text = made.complete()
        sys.stdout.write(f"{text}\n" if text else "")
        sys.stdout.flush()
    except Exception:  # noqa: BLE001 - words of ours would stand in the middle of what is typed
        return 1
    return 0


def group_of(told: Command, name: str) -> click.Group:
    """Give a group of commands that do nothing, but for being completed."""
    commands = {word: _command(one, word) for word, one in told.get("commands", {}).items()}
    return click.Group(name, commands=commands, params=_parameters(told), help=told["help"])


def _command(told: Command, name: str) -> click.Command:
    if "commands" in told:
        return group_of(told, name)
    return click.Command(name, params=_parameters(told), help=told["help"])


def _parameters(told: Command) -> list[click.Parameter]:
    return [*map(_option, told["options"]), *map(_argument, told["arguments"])]


def _option(told: CommandParameter) -> click.Parameter:
    words = [*told.get("words", ()), told["name"]]
    said = told.get("help")
    if told.get("flag"):
        return click.Option(words, is_flag=True, help=said)
    return click.Option(
        words,
        multiple=told.get("several", False),
        help=said,
        type=_type(told),
        shell_complete=_offer(told),
    )


def _argument(told: CommandParameter) -> click.Parameter:
    nargs = -1 if told.get("several") else 1
    return click.Argument(
        [told["name"]], nargs=nargs, required=False, type=_type(told), shell_complete=_offer(told)
    )


def _type(told: CommandParameter) -> click.ParamType[Any] | None:
    if told["gives"] == "file":
        return click.Path()
    if told["gives"] == "folder":
        return click.Path(file_okay=False)
    return click.Choice(told["choices"]) if "choices" in told else None


def _offer(told: CommandParameter) -> Any:
    gives = _GIVING.get(told["gives"])
    if gives is None:
        return None

    def offer(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
        found = (one for one in gives(_place(ctx), ctx, incomplete) if one.startswith(incomplete))
        plain = dict.fromkeys(text for text in found if _PLAIN.fullmatch(text))
        return [CompletionItem(one) for one in list(plain)[:MOST_OFFERED]]

    return offer


def _place(ctx: click.Context) -> CompletionProject:
    file, paths = ctx.params.get("project"), ctx.params.get("paths") or ()
    if file:
        return place_of(Path(str(file)), Path(str(file)))
    return place_of(Path(str(paths[0])) if paths else Path())


def _environments(place: CompletionProject, _: click.Context, __: str) -> Iterable[str]:
    return place.environments


def _refs(place: CompletionProject, _: click.Context, __: str) -> Iterator[str]:
    return (f"{manifest_header.kind}/{manifest_header.name}" for manifest_header in named_in(place))


def _runs(place: CompletionProject, ctx: click.Context, _: str) -> Iterator[str]:
    yield "last"
    yield from runs_in(place, ctx.params.get("environment"))


def _terms(place: CompletionProject, _: click.Context, incomplete: str) -> Iterator[str]:
    """Yield what the last term of an expression may be, and what stands before it."""
    named = [*named_in(place)]
    before, comma, last = incomplete.rpartition(",")
    terms = [f"kind={kind}" for kind in sorted({manifest_header.kind for manifest_header in named})]
    terms += [
        f"label.{key}={value}"
        for manifest_header in named
        for key, value in manifest_header.labels.items()
    ]
    if last.startswith("f"):
        terms += [f"file={manifest_header.file}" for manifest_header in named]
    terms += [f"{manifest_header.kind}/{manifest_header.name}" for manifest_header in named]
    yield from (f"{before}{comma}{term}" for term in terms)


def _explained(place: CompletionProject, ctx: click.Context, incomplete: str) -> Iterable[str]:
    """Offer fields one step at a time and codes whole, or what can be expanded."""
    if ctx.params.get("expanded"):
        return _refs(place, ctx, incomplete)
    from reconciler.explaining.look_up import addresses  # noqa: PLC0415 - models, for this alone

    if incomplete.startswith("R"):
        return (f"R/{name}" for name in rules_in(place))
    depth = incomplete.count(".")
    return (address for address in addresses() if address.count(".") == depth)


_GIVING = {
    "environment": _environments,
    "ref": _refs,
    "run": _runs,
    "term": _terms,
    "explained": _explained,
}
