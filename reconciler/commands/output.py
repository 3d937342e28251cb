"""Where text leaves the process: data to stdout, words to stderr, secrets to neither."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import TYPE_CHECKING, TextIO

from reconciler.commands.streams import output_lost, write
from reconciler.document import Json
from reconciler.report.safe import hide_with, safe_json
from reconciler.report.table import DEFAULT_WIDTH, NARROWEST, Style, fitted

if TYPE_CHECKING:
    from reconciler.api.secret import Redaction

_redaction: list[Redaction] = []
_lines: list[Callable[[], AbstractContextManager[None]]] = []


def redact_with(redaction: Redaction) -> None:
    """Pass every text from now on through a filter."""
    _redaction.append(redaction)


@contextmanager
def giving_way(line: Callable[[], AbstractContextManager[None]]) -> Iterator[None]:
    """Let what is printed until the end of the block be printed while `line()` gives way."""
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
    """Print what the command was asked for, and give the code that it ends with.

    Raises OutputLost where that is not possible, which ends what only reads. What
    is still to be done has to be done before.
    """
    lost = _write(sys.stdout, text) if text else None
    if lost is not None:
        raise output_lost(lost, ending)
    return ending


def json_data(document: Json, *, one_line: bool = False, ending: int = 0) -> int:
    """Print a document as `data` does, what is unsafe in a terminal escaped."""
    text = json.dumps(document, ensure_ascii=False, indent=None if one_line else 2)
    return data(safe_json(text) + "\n", ending=ending)


def words(text: str, *, laid_out: bool = False) -> None:
    """Print words for a person, a line each. Where nobody can read them, they are dropped.

    On a terminal long lines are broken between words, but where the text is `laid_out` already.
    """
    # A secret that is broken over two lines would be found no more.
    text = redacted(text if text.endswith("\n") else text + "\n")
    _write(sys.stderr, text if laid_out else fitted(text, stderr_style(verbose=False)))


def question(text: str) -> None:
    """Ask a person; what is typed stands on the same line."""
    _write(sys.stderr, text)


def redacted(text: str) -> str:
    """Give the text without any secret."""
    for redaction in _redaction:
        text = redaction(text)
    return text


# What is printed has been laid out by then, and a secret may be broken over its lines.
hide_with(redacted)


def style_of(stream: TextIO, environ: Mapping[str, str], *, verbose: bool) -> Style:
    """Decide colour and width: colour only on a terminal, and never with NO_COLOR."""
    terminal = stream.isatty()
    plain = environ.get("NO_COLOR", "") != "" or environ.get("TERM") == "dumb"
    forced = environ.get("FORCE_COLOR", "") not in ("", "0")
    width = shutil.get_terminal_size((DEFAULT_WIDTH, 24)).columns if terminal else DEFAULT_WIDTH
    return Style((terminal or forced) and not plain, max(NARROWEST, width), verbose, terminal)


def stdout_style(*, verbose: bool) -> Style:
    """Give the style of stdout."""
    return style_of(sys.stdout, os.environ, verbose=verbose)


def stderr_style(*, verbose: bool) -> Style:
    """Give the style of stderr."""
    return style_of(sys.stderr, os.environ, verbose=verbose)
