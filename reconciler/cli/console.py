"""Output of the process: data to stdout, messages to stderr, secrets to neither."""

from __future__ import annotations

import os
import select
import shutil
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, TextIO

from reconciler.errors import OutputLost, worst
from reconciler.operations.open_project import Reporter
from reconciler.report.complaints.document import complaints_text
from reconciler.report.safe import columns, hide_with, json_text, safe
from reconciler.report.table import DEFAULT_WIDTH, NARROWEST, Style, fitted
from reconciler.runtime.streams import write
from reconciler.syntax.diagnostic import Complaint

if TYPE_CHECKING:
    from reconciler.api.secret import Redaction
    from reconciler.applying.run import Applied
    from reconciler.model import Outcome, Plan
    from reconciler.project import Project

MOST_SKIPPED = 20

_redaction: list[Redaction] = []
_lines: list[Callable[[], AbstractContextManager[None]]] = []


def redact_with(redaction: Redaction) -> None:
    """Filter every text from now on."""
    if not _redaction:
        from reconciler.api.secret import Redaction  # noqa: PLC0415 - callers have loaded it

        _redaction.append(Redaction())
    # One filter with all secrets is applied once to each text, however many filters there were.
    _redaction[0].take(redaction)


@contextmanager
def giving_way(line: Callable[[], AbstractContextManager[None]]) -> Iterator[None]:
    """Enter `line()` around each print until the end of the block, so that the line gives way."""
    _lines.append(line)
    try:
        yield
    finally:
        _lines.remove(line)


def _write(stream: TextIO, text: str) -> OSError | None:
    with ExitStack() as away:
        for line in _lines:
            away.enter_context(line())
        return write(stream, redacted(text))


def data(text: str, *, ending: int = 0) -> int:
    """Print the data that the command was asked for, and return its exit code `ending`.

    Raises OutputLost if that is not possible, which ends commands that only read. All other work
    has to be done before.
    """
    lost = _write(sys.stdout, text) if text else None
    if lost is not None:
        raise OutputLost.by(lost, ending)
    return ending


def event(text: str) -> None:
    """Print a line about a step of a run; the run continues even if the line is lost.

    A loss is known at the end of the run, as it is for `data`.
    """
    _write(sys.stdout, text)


def json_data(document: object, *, one_line: bool = False, ending: int = 0) -> int:
    """Print a document as `data` does; characters that are unsafe in a terminal are escaped."""
    return data(json_text(document, one_line=one_line), ending=ending)


def words(text: str, *, laid_out: bool = False) -> None:
    """Print lines for a person; they are dropped if they cannot be written.

    On a terminal long lines are broken between words, unless the text is `laid_out` already.
    """
    # A secret that is broken over two lines would no longer be found.
    text = redacted(text if text.endswith("\n") else text + "\n")
    _write(sys.stderr, text if laid_out else fitted(text, stderr_style(verbose=False)))


def redacted(text: str) -> str:
    """Return the text without any secret."""
    for redaction in _redaction:
        text = redaction(text)
    return text


# Text is laid out before it is printed, and a secret may then be broken over lines.
hide_with(redacted)


def style_of(stream: TextIO, environ: Mapping[str, str], *, verbose: bool) -> Style:
    """Return colour and width: colour on a terminal or with FORCE_COLOR, never with NO_COLOR."""
    terminal = stream.isatty()
    plain = environ.get("NO_COLOR", "") != "" or environ.get("TERM") == "dumb"
    forced = environ.get("FORCE_COLOR", "") not in ("", "0")
    width = shutil.get_terminal_size((DEFAULT_WIDTH, 24)).columns if terminal else DEFAULT_WIDTH
    return Style((terminal or forced) and not plain, max(NARROWEST, width), verbose, terminal)


def stdout_style(*, verbose: bool) -> Style:
    """Return the style of stdout."""
    return style_of(sys.stdout, os.environ, verbose=verbose)


def stderr_style(*, verbose: bool) -> Style:
    """Return the style of stderr."""
    return style_of(sys.stderr, os.environ, verbose=verbose)


def is_terminal() -> bool:
    """Return whether a person can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def agreed(asking: str) -> bool:
    """Ask a question; return whether the answer is yes. No answer means no."""
    return _answer(f"{asking} [y/N]: ").lower() in ("y", "yes")


def answered(asking: str) -> str:
    """Ask a question; return the answer in any words, or ""."""
    return _answer(f"{asking}: ")


def _answer(asking: str) -> str:
    # Not `click.prompt`: it loses a signal that comes while the question is written, and writes to
    # stdout.
    _write(sys.stderr, asking)
    line = _line_or_signal(sys.stdin)
    # If the answer was typed ahead or comes from a pipe, the cursor is still on this line, which
    # cannot be detected; otherwise this prints a blank line.
    words("")
    return line.strip()


def _line_or_signal(stream: TextIO) -> str:
    """Return a line of a terminal, or "" at its end; a signal is handled at once.

    A signal right before a plain read would be handled only after the line.
    """
    reader, writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    before = signal.set_wakeup_fd(writer)
    try:
        # A signal writes to the pipe, and its own handler runs as soon as this returns.
        select.select([stream.fileno(), reader], [], [])
        return stream.readline()
    except OSError:
        # The terminal is gone.
        return ""
    finally:
        signal.set_wakeup_fd(before)
        os.close(reader)
        os.close(writer)


@dataclass(frozen=True)
class Console(Reporter):
    """The output of a run: messages on stderr, and questions to the user."""

    verbose: bool = False
    quiet: bool = False

    def say(self, text: str, *, laid_out: bool = False) -> None:
        """Print a message for a person."""
        words(text, laid_out=laid_out)

    def complain(self, complaints: Sequence[Complaint]) -> None:
        """Print complaints, each with its place."""
        words(complaints_text(complaints, stderr_style(verbose=True)), laid_out=True)

    def show(self, plan: Plan) -> None:
        """Print a plan on stderr."""
        from reconciler.report.plan.formats import plan_text  # noqa: PLC0415 - not for validate

        words(plan_text(plan, stderr_style(verbose=self.verbose)), laid_out=True)

    def confirm(self, plan: Plan) -> bool:
        """Show the plan; return whether the answer is `yes`."""
        self.show(plan)
        from reconciler.report.counts import summary  # noqa: PLC0415 - not for validate

        style = stderr_style(verbose=self.verbose)
        where = safe(f"{plan.environment} ({plan.target})")
        asking, taken = f"Apply to {where}: {summary(plan)}?", "Only `yes` is taken: "
        is_long = columns(asking) + 1 + columns(taken) > style.width
        between = "\n" if is_long else " "
        return _answer(f"{fitted(asking, style)}{between}{taken}") == "yes"

    def writing(self, plan: Plan) -> Callable[[Outcome], None]:
        """Return the function that prints each outcome as soon as it is known."""
        from reconciler.model import InDoubt, Refused, Skipped, Unconfirmed  # noqa: PLC0415 - not for validate
        from reconciler.report.applied_formats import outcome_line  # noqa: PLC0415 - with it

        total = sum(change.action.is_to_do for change in plan.changes)
        style, done, skipped = stderr_style(verbose=False), count(1), count(1)

        def tell(outcome: Outcome) -> None:
            shown = f"[{next(done):>{len(str(total))}}/{total}]"
            # Their reasons are reported nowhere else.
            is_needed = isinstance(outcome, Refused | Unconfirmed | InDoubt)
            # Of many skipped changes only the first are printed, as the summary names all.
            is_one_of_many = isinstance(outcome, Skipped) and next(skipped) > MOST_SKIPPED
            if is_needed or not (self.quiet or is_one_of_many):
                words(f"{shown}{outcome_line(outcome, style, plan.alerts)[1:]}")

        return tell

    def hide(self, redaction: Redaction) -> None:
        """Filter every text from now on."""
        redact_with(redaction)


class EventConsole(Console):
    """The output of a run with events as its data: each outcome is a line on stdout."""

    def writing(self, plan: Plan) -> Callable[[Outcome], None]:
        """Print that the writes begin; return the function that prints each outcome as a line."""
        from reconciler.report.applied_formats import begun_line, outcome_json  # noqa: PLC0415 - not for validate

        event(begun_line(plan))
        return lambda outcome: event(outcome_json(outcome, plan))


def describe_plan(made: Plan, form: str, project: Project, *, verbose: bool) -> str:
    """Return a plan in the format of this name."""
    from reconciler.report.plan import document, formats  # noqa: PLC0415 - not for validate

    forms = {
        "text": lambda: formats.plan_text(made, stdout_style(verbose=verbose)),
        "json": lambda: document.plan_json(made),
        "jsonl": lambda: document.plan_jsonl(made),
        "markdown": lambda: formats.plan_markdown(made),
        "html": lambda: _plan_page(made, project),
    }
    return forms[form]()


def _plan_page(made: Plan, project: Project) -> str:
    from reconciler.operations.open_project import made_now  # noqa: PLC0415 - for this format only
    from reconciler.report.html import plan_html  # noqa: PLC0415 - as above

    return plan_html(made, made_now(project))


def report_applied(
    applied: Applied | None, made: Plan, form: str, *, verbose: bool, command: str = ""
) -> int:
    """Print what an apply did, and return its exit code.

    `applied` is None where a person declined; `command` then applies the same plan later, "" for
    `apply`.
    """
    if applied is None:
        from reconciler.applying.run import Applied  # noqa: PLC0415 - not for validate
        from reconciler.report.counts import not_applied  # noqa: PLC0415 - with it

        words(not_applied(made.digest, command), laid_out=True)
        text = describe_applied(Applied(), made, form, verbose=False) if form != "text" else ""
        return data(text)
    code = worst(applied.exit_codes)
    try:
        return data(describe_applied(applied, made, form, verbose=verbose), ending=code)
    finally:
        if applied.stopped_by is not None:
            words(f"error: {safe(str(applied.stopped_by))}")


def describe_applied(applied: Applied, made: Plan, form: str, *, verbose: bool) -> str:
    """Return what an apply did, in the format of this name."""
    from reconciler.report import applied_formats as formats  # noqa: PLC0415 - not for validate

    style = stdout_style(verbose=verbose)
    forms = {
        "text": lambda: (
            formats.renamed_text(applied.renamed, style)
            + formats.applied_text(
                applied.outcomes,
                applied.rewritten,
                style,
                applied.overtaken,
                made,
                unproved=applied.unproved,
            )
        ),
        "json": lambda: formats.applied_json(applied.outcomes, made),
        "jsonl": lambda: formats.ended_line(applied.outcomes, made.digest, made.selected),
        "junit": lambda: formats.applied_junit(made, applied.outcomes),
    }
    return forms[form]()
