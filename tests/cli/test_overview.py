"""What `--help` and `--version` say before anything is imported."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import click
import pytest

from reconciler import __version__
from reconciler.__main__ import main
from reconciler.cli.overview import COMMANDS, grouped, overview
from reconciler.cli.root import cli


def test_help_is_what_the_parser_would_say() -> None:
    """The text that is printed without the parser is the parser's own."""
    context = click.Context(
        cli, info_name="reconciler", terminal_width=80, help_option_names=["-h", "--help"]
    )

    assert overview() == cli.get_help(context) + "\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_there(name: str) -> None:
    """Each name in the table leads to a command, and its line fits a terminal."""
    context = click.Context(cli, info_name="reconciler")

    command = cli.get_command(context, name)

    assert command is not None
    assert all(len(line) <= 80 for line in overview().splitlines())


def options_of(command: click.Command, path: str) -> Iterator[tuple[str, str]]:
    """Yield each option of a command and of those below it, with its help text."""
    context = click.Context(command, info_name=path)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from options_of(below, f"{path} {name}".strip())
    for option in command.params:
        if isinstance(option, click.Option):
            yield f"{path} {option.opts[-1]}", option.help or ""


def test_each_option_is_explained_in_a_sentence() -> None:
    """The help of each option is a sentence of at least four words, and of no more than 45."""
    terse = {
        name: text
        for name, text in options_of(cli, "")
        if not text.endswith(".") or not text[:1].isupper() or not 4 <= len(text.split()) <= 45
    }

    assert terse == {}


@pytest.mark.promise("S48")
def test_commands_have_groups() -> None:
    """Each command has a group that is its own, so that no list is longer than ten."""
    rows = [name.strip() for group in grouped().values() for name, _ in group]

    assert sorted(rows) == sorted(COMMANDS)
    assert max(map(len, grouped().values())) <= 10


@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        (["--help"], overview()),
        (["-h"], overview()),
        (["--version"], f"reconciler {__version__}\n"),
    ],
    ids=str,
)
def test_asked_alone_they_are_answered(
    arguments: list[str],
    printed: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Both go to stdout and exit with 0."""
    monkeypatch.setattr(sys, "argv", ["reconciler", *arguments])

    main()

    assert capsys.readouterr().out == printed


@pytest.mark.parametrize("flag", ["--help", "--version"])
def test_nothing_is_imported_for_them(flag: str) -> None:
    """Neither loads the parser of command lines, nor any other library."""
    script = (
        "import sys; sys.argv[1:] = [sys.argv[1]]; from reconciler.__main__ import main; main();"
        "loaded = {name.partition('.')[0] for name in sys.modules};"
        "sys.exit(sorted(loaded & {'click', 'pydantic', 'yaml', 'httpx', 'asyncio'}) or 0)"
    )

    ran = subprocess.run([sys.executable, "-c", script, flag], capture_output=True, check=False)

    assert (ran.returncode, ran.stderr) == (0, b"")
