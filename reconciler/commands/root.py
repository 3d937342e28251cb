"""The command tree, loaded as far as it is used, and errors to exit codes."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from types import FrameType

import click

from reconciler import __version__
from reconciler.commands.overview import ABOUT, COMMANDS
from reconciler.errors import ReconcilerError

USAGE = 64
INTERNAL = 1
SIGINT_CODE = 130
SIGTERM_CODE = 143
SIGPIPE_CODE = 141


class LazyGroup(click.Group):
    """A group that imports a command's module when the command is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's interface
        """Give the names in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's interface
        """Import and give a command."""
        if cmd_name not in COMMANDS:
            return None
        module, function, _ = COMMANDS[cmd_name]
        command = getattr(import_module(f"reconciler.commands.{module}"), function)
        assert isinstance(command, click.Command)  # noqa: S101 - the table names commands
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's interface
        """Write the list of commands without importing one."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, words) for name, (_, _, words) in COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command; suggest a near one."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from reconciler.finding import nearest  # noqa: PLC0415 - only for a mistake

            near = nearest(args[0], COMMANDS)
            hint = f" Did you mean `{near}`?" if near else ""
            ctx.fail(f"No such command `{args[0]}`.{hint}")
        return super().resolve_command(ctx, args)


@click.group(
    cls=LazyGroup,
    help=ABOUT,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    no_args_is_help=False,
    invoke_without_command=True,
)
@click.version_option(__version__, message="%(prog)s %(version)s", prog_name="reconciler")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Run nothing: a command is needed."""
    if ctx.invoked_subcommand is None:
        ctx.fail("a command is needed: try --help")


def run(arguments: Sequence[str]) -> int:
    """Run one command line and give its exit code (design.md, part 5)."""
    terminated: list[int] = []

    def on_terminate(number: int, _: FrameType | None) -> None:
        # An event loop ends in good order by an interrupt, and by nothing else raised here.
        terminated.append(number)
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
            raise SystemExit(SIGTERM_CODE)
        signal.raise_signal(signal.SIGINT)

    signal.signal(signal.SIGTERM, on_terminate)
    code = _run(arguments)
    return SIGTERM_CODE if terminated and code == SIGINT_CODE else code


def _run(arguments: Sequence[str]) -> int:
    try:
        # Not `cli.main`: that answers a closed pipe itself, with 1, and an interrupt with a line.
        with cli.make_context("reconciler", list(arguments)) as context:
            result = cli.invoke(context)
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else INTERNAL
    except BaseException as error:  # noqa: BLE001 - the last line of defence: never a traceback
        return tell_error(error)
    return result if isinstance(result, int) else 0


def tell_error(error: BaseException) -> int:
    """Say what went wrong, and give the code for it."""
    error = first_of(error)
    match error:
        case click.ClickException():
            _show_usage(error)
            return USAGE
        case click.Abort() | KeyboardInterrupt():
            sys.stderr.write("\n")
            return SIGINT_CODE
        case BrokenPipeError():
            return _closed_pipe()
        case _:
            return _report(error)


def _show_usage(error: click.ClickException) -> None:
    from reconciler.commands.output import words  # noqa: PLC0415 - only for an error
    from reconciler.report.safe import safe  # noqa: PLC0415 - only for an error

    context = getattr(error, "ctx", None)
    if context is not None:
        words(f"{context.get_usage()}\nTry `{context.command_path} --help` for help.\n")
    # A glob may give the name of a hostile file for an option.
    words(f"error: {safe(error.format_message())}")


def _further(line: str) -> str:
    """Keep a further line of a message from being a command of a CI runner."""
    return f"| {line}" if line.lstrip().startswith("::") else line


def _closed_pipe() -> int:
    import os  # noqa: PLC0415 - only here

    # Python would complain again when it flushes stdout at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return SIGPIPE_CODE


def first_of(raised: BaseException) -> BaseException:
    """Give the error of a group that says most: one of ours before any other."""
    leaves: list[BaseException] = []
    stack: list[BaseException] = [raised]
    while stack:
        error = stack.pop()
        if isinstance(error, BaseExceptionGroup):
            stack.extend(error.exceptions)
        else:
            leaves.append(error)
    return next((one for one in leaves if isinstance(one, ReconcilerError)), leaves[0])


def _report(error: BaseException) -> int:
    from reconciler.commands.output import words  # noqa: PLC0415 - only for an error
    from reconciler.report.safe import safe  # noqa: PLC0415 - only for an error

    if isinstance(error, ReconcilerError):
        first, *rest = str(error).splitlines() or [""]
        words("\n".join((f"error: {safe(first)}", *(_further(safe(line)) for line in rest))))
        return error.exit_code
    words(f"internal error: {type(error).__name__}: {safe(str(error), 500)}")
    words(
        "this is a bug of reconciler; the journal tells what was written: `reconciler journal show`"
    )
    return INTERNAL
