"""Command tree, with modules loaded when used; groups of commands; errors to exit codes."""

import errno
import os
import re
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from itertools import islice
from types import FrameType
from typing import Final

import click

from reconciler import __version__, errors
from reconciler.cli.overview import ABOUT, COMMANDS, grouped
from reconciler.operations.interrupts import ENDING, code_of, is_ignored
from reconciler.runtime.advice import Here, lead_to, on_journal
from reconciler.runtime.rows import Rows
from reconciler.runtime.streams import lost_by

_ID = re.compile(r"-[A-Za-z0-9_-]{20}")
_LIKE_AN_OPTION = re.compile(r"--[a-z][a-z-]*")
_LIKE_A_VALUE = re.compile(r"[a-z][a-z0-9-]*")


def with_ids_last(command: click.Command, arguments: list[str]) -> list[str]:
    """Return the arguments of a command, with ids that begin with a hyphen moved after a `--`.

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
    if word.startswith("--"):
        return word in options and not _is_flag(options[word])
    for nth, letter in enumerate(word[1:], 1):
        option = options.get(f"-{letter}")
        if option is not None and not _is_flag(option):
            return nth == len(word) - 1
    return False


def _is_flag(option: click.Option) -> bool:
    return option.is_flag or option.count


class UnknownCommand(click.UsageError):
    """A word that is not a command; `advice` is what to type instead, "" if unknown."""

    def __init__(self, word: str, advice: str, ctx: click.Context) -> None:
        super().__init__(f"No such command `{word}`.", ctx)
        self.advice = advice


SUBCOMMANDS: Final = Rows[click.Command]("subcommands")
"""The key is the name of a group, a blank, and the name of the command."""


class Group(click.Group):
    """A group of commands, including those that features add to it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in their order, without an import."""
        group = f"{self.name} "
        added = [key.removeprefix(group) for key in SUBCOMMANDS if key.startswith(group)]
        return sorted([*super().list_commands(ctx), *added])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command; that of a feature is imported."""
        key = f"{self.name} {cmd_name}"
        return SUBCOMMANDS.load(key) if key in SUBCOMMANDS else super().get_command(ctx, cmd_name)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse arguments; without any, list the commands in an error."""
        if not args:
            ctx.fail(f"a command is needed: {', '.join(self.list_commands(ctx))}")
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command of the arguments.

        Raises UnknownCommand, with advice, for any other word.
        """
        known = self.list_commands(ctx)
        if args and args[0] not in known and not args[0].startswith("-"):
            raise UnknownCommand(args[0], self.advice(args[0], known), ctx)
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None and not isinstance(command, click.Group):
            rest = with_ids_last(command, rest)
        return name, command, rest

    def advice(self, word: str, known: Sequence[str]) -> str:
        """Return what to type instead of a word that is not a command."""
        from reconciler.syntax.suggestions import nearest  # noqa: PLC0415 - only for a mistake

        near = nearest(word, known)
        return f"did you mean `{near}`?" if near else f"there are: {', '.join(known)}"


# Help is as wide as the terminal, and in a pipe as wide as click's default.
WIDEST_HELP = 1000
SIGINT_CODE = code_of(signal.SIGINT)


class LazyGroup(Group):
    """A group that imports a command's module when the command is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's interface
        """Return the names in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's interface
        """Import and return a command."""
        if cmd_name not in COMMANDS:
            return None
        module, function, _ = COMMANDS[cmd_name]
        command = getattr(import_module(module), function)
        assert isinstance(command, click.Command)  # noqa: S101 - the table names commands
        return command

    def advice(self, word: str, known: Sequence[str]) -> str:
        """Return what to type instead of a word, which may be from another tool."""
        from reconciler.cli.other_tools import about_word  # noqa: PLC0415 - for a mistake

        return about_word(word) or super().advice(word, known)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's interface
        """Write the list of commands without importing any."""
        for heading, rows in grouped().items():
            with formatter.section(heading):
                formatter.write_dl(rows)


@click.group(
    cls=LazyGroup,
    help=ABOUT,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": WIDEST_HELP},
    no_args_is_help=False,
)
@click.version_option(__version__, message="%(prog)s %(version)s", prog_name="reconciler")
def cli() -> None:
    """Run nothing: a command is needed."""


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code (docs/exit-codes.md)."""
    ended: list[int] = []

    def on_ending(number: int, _: FrameType | None) -> None:
        # Only SIGINT lets asyncio cancel its tasks cleanly; another exception raised here would
        # not.
        ended.append(code_of(number))
        if is_ignored(signal.SIGINT):
            raise SystemExit(ended[0])
        signal.raise_signal(signal.SIGINT)

    for number in ENDING:
        if not is_ignored(number):
            signal.signal(number, on_ending)
    try:
        code = _run(arguments)
    except KeyboardInterrupt:
        # A further signal came while the error was reported.
        code = SIGINT_CODE
    finally:
        lead_to(Here())
    return ended[0] if ended and code == SIGINT_CODE else code


def _run(arguments: Sequence[str]) -> int:
    try:
        _check_working_folder()
        # Not `cli.main`: it answers an interrupt with a line of its own.
        with cli.make_context("reconciler", list(arguments)) as context:
            result = cli.invoke(context)
    except click.exceptions.Exit as leaving:
        code = leaving.exit_code
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else errors.ExitCode.INTERNAL
    except BaseException as raised:  # noqa: BLE001 - the last line of defence: never a traceback
        error = first_of(raised)
        if isinstance(error, errors.OutputLost):
            return _tell_loss(error)
        code = report_error(error, arguments)
    else:
        code = result if isinstance(result, int) else 0
    return with_loss(code)


def _check_working_folder() -> None:
    """Raise UsageError where the working folder was removed: relative paths mean nothing then."""
    try:
        os.getcwd()  # noqa: PTH109 - only its existence matters
    except OSError as error:
        raise errors.UsageError(
            f"the working folder cannot be used: {error.strerror}. Change to one that exists"
        ) from None


def with_loss(code: int) -> int:
    """Return the exit code of a run, and report output that stdout did not accept."""
    why = lost_by(sys.stdout)
    return code if why is None else _tell_loss(errors.OutputLost.by(why, code))


def _tell_loss(error: errors.OutputLost) -> int:
    if not isinstance(error, errors.PipeClosed):
        report_error(error)
    return errors.worst({error.exit_code, error.ending})


def report_error(error: BaseException, arguments: Sequence[str] = ()) -> int:
    """Report an error, and return its exit code; `arguments` are the typed words."""
    from reconciler.cli.console import words  # noqa: PLC0415 - only for an error
    from reconciler.report.safe import safe  # noqa: PLC0415 - only for an error

    error = first_of(error)
    match error:
        case click.ClickException():
            _show_usage(error, arguments)
            return errors.ExitCode.USAGE
        case click.Abort() | KeyboardInterrupt():
            words("")
            return SIGINT_CODE
        case errors.ReconcilerError():
            for message in (
                error.refusals if isinstance(error, errors.GuardRefused) else (str(error),)
            ):
                first, *rest = message.splitlines() or [""]
                lines = (f"error: {safe(first)}", *(_further(safe(line)) for line in rest))
                words("\n".join(lines))
            return error.exit_code
        case OSError() if why := _lack_of_room(error):
            words(f"error: {safe(why)}")
            return errors.ExitCode.INVALID
    words(f"internal error: {type(error).__name__}: {safe(str(error), 500)}")
    words(
        f"this is a bug of reconciler; the journal shows what was written: `{on_journal('show')}`"
    )
    return errors.ExitCode.INTERNAL


def _show_usage(error: click.ClickException, arguments: Sequence[str]) -> None:
    from reconciler.cli.console import words  # noqa: PLC0415 - only for an error
    from reconciler.report.safe import safe  # noqa: PLC0415 - only for an error

    context = getattr(error, "ctx", None)
    if context is not None:
        words(f"{context.get_usage()}\nTry `{context.command_path} --help` for help.\n")
    # A glob may insert the name of a hostile file as an option.
    words(f"error: {safe(error.format_message())}")
    if advice := _advice(error, arguments):
        words(f"  {safe(advice)}")


def _advice(error: click.ClickException, arguments: Sequence[str]) -> str:
    match error:
        case UnknownCommand(advice=advice):
            return advice
        case click.NoSuchOption():
            from reconciler.cli.other_tools import about_option  # noqa: PLC0415 - as above

            return about_option(error, arguments)
        case _:
            return ""


def _further(line: str) -> str:
    """Return a further line of a message, so that it is no command for a CI runner."""
    return f"| {line}" if line.lstrip().startswith("::") else line


def first_of(raised: BaseException) -> BaseException:
    """Return the most informative error of a group: one of ours before any other."""
    leaves: list[BaseException] = []
    stack: list[BaseException] = [raised]
    while stack:
        error = stack.pop()
        if isinstance(error, BaseExceptionGroup):
            stack.extend(error.exceptions)
        else:
            leaves.append(error)
    return next((leaf for leaf in leaves if isinstance(leaf, errors.ReconcilerError)), leaves[0])


_NO_ROOM = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EROFS))


def _lack_of_room(error: OSError) -> str:
    """Return a message about missing disk space, "" for any other error."""
    if error.errno in _NO_ROOM:
        named = f"{error.filename} cannot be written" if error.filename else "a file is not written"
        return f"{named}: {error.strerror}. Make room there, or set TMPDIR to another folder"
    # The wording of the standard library; this error has no number of its own.
    if str(error.strerror).startswith("No usable temporary directory"):
        return "there is no folder for temporary files: set TMPDIR to one that can be written"
    return ""
