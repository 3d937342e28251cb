"""What the runner of a job hears from us: its commands, its files, and a log that is none of them.

Foreign text could speak to the runner where a line begins with `::`. So all that
the plain commands print gets a prefix, and only this module writes the real
commands. Source: docs/security.md.
"""

from __future__ import annotations

import io
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TextIO, TypeAlias

from reconciler.api.secret import API_KEY
from reconciler.console import redacted
from reconciler.errors import InvalidInput
from reconciler.report.markdown import ANNOTATIONS_OF_A_LEVEL, LARGEST_OUTPUTS, SUMMARY_BYTES
from reconciler.report.safe import for_workflow_data, safe

Level: TypeAlias = Literal["error", "warning", "notice"]

PREFIX = "| "
LONGEST_LINE = 20_000
_SECRET_INPUTS = ("INPUT_API_KEY", API_KEY, "INPUT_TOKEN", "GITHUB_TOKEN")


class Log(io.TextIOBase):
    """A stream whose every line is foreign, and harmless with its prefix."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self._stream = stream
        self._rest = ""

    def writable(self) -> bool:
        """Tell that it can be written to."""
        return True

    def write(self, text: str) -> int:
        """Take text, and pass on its whole lines."""
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            self._stream.write(f"{PREFIX}{safe(line, LONGEST_LINE)}\n")
        return len(text)

    def flush(self) -> None:
        """Pass on what was written, whole lines only."""
        self._stream.flush()

    def end(self) -> None:
        """Pass on a last line that nobody ended."""
        if self._rest:
            self.write("\n")
        self.flush()


@dataclass(slots=True)
class Runner:
    """The runner of this job. Outside of the forge there is none, and words are plain.

    `output` and `summary` are its files, None where it has none.
    """

    stream: TextIO
    is_forge: bool
    output: Path | None = None
    summary: Path | None = None
    _said: dict[Level, int] = field(default_factory=dict)

    def mask(self, environ: Mapping[str, str]) -> None:
        """Let the runner hide the key and the token; nothing may be printed before."""
        if not self.is_forge:
            return
        for name in _SECRET_INPUTS:
            for line in environ.get(name, "").splitlines():
                if line.strip():
                    self._speak(f"::add-mask::{_escaped(line.strip())}")

    def say(self, level: Level, text: str) -> None:
        """Show a line to people: beside the change on the forge, else in the log."""
        text = redacted(text)
        self._said[level] = self._said.get(level, 0) + 1
        if self.is_forge and self._said[level] <= ANNOTATIONS_OF_A_LEVEL:
            self._speak(f"::{level} title=reconciler::{for_workflow_data(text)}")
        else:
            self._speak(f"{PREFIX}{level}: {safe(text, LONGEST_LINE)}")

    def annotate(self, lines: list[str]) -> None:
        """Pass on workflow commands that report/complaints/annotations.py made."""
        if not self.is_forge:
            return
        for line in lines:
            level: Level = "error" if line.startswith("::error") else "warning"
            self._said[level] = self._said.get(level, 0) + 1
            self._speak(redacted(line))

    @contextmanager
    def log(self) -> Iterator[None]:
        """Take all that is printed meanwhile for foreign text."""
        log = Log(self.stream)
        try:
            with redirect_stdout(log), redirect_stderr(log):
                yield
        finally:
            log.end()

    def write_outputs(self, outputs: Mapping[str, str]) -> None:
        """Append outputs in the form that no value can break out of.

        Raises InvalidInput for a value that holds its delimiter, or for too much.
        """
        if self.output is None:
            return
        parts = []
        for name, value in outputs.items():
            delimiter = secrets.token_hex(16)
            if delimiter in value:
                raise InvalidInput(f"the output {name} holds its own delimiter")
            parts.append(f"{name}<<{delimiter}\n{redacted(value)}\n{delimiter}\n")
        text = "".join(parts)
        if len(text.encode()) > LARGEST_OUTPUTS:
            raise InvalidInput("the outputs are larger than a job may give")
        _append(self.output, text)

    def write_summary(self, text: str) -> None:
        """Append to the job's summary the whole lines that fit: above its limit all is lost."""
        if self.summary is None:
            return
        raw = redacted(text).encode("utf-8", "replace")
        if len(raw) > SUMMARY_BYTES:
            raw = raw[:SUMMARY_BYTES].rpartition(b"\n")[0] + b"\n"
        _append(self.summary, raw.decode("utf-8"))

    def _speak(self, line: str) -> None:
        self.stream.write(line + "\n")
        self.stream.flush()


def _append(file: Path, text: str) -> None:
    try:
        with file.open("a", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
    except OSError as error:
        raise InvalidInput(f"{file} cannot be written: {error.strerror}") from error


def _escaped(text: str) -> str:
    """Give the data of a mask as it is: a cleaned one would hide something else."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
