"""The rows of tests: those in the manifest, and those of files with one row a line."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from reconciler.document import Json
from reconciler.features.alert_tests.alert_test import AlertTest, RowError, rows_in_order
from reconciler.features.alert_tests.log_row import LogRow
from reconciler.syntax.diagnostic import Complaint, Excerpt

UNUSABLE: Final = "T103"
SUFFIXES: Final = (".jsonl", ".ndjson")
"""Other files of a project may hold keys, and complaints quote lines."""

MOST_ERRORS: Final = 20
"""Limit of wrong rows that are reported of a test; the rest of its file is not read."""

LONGEST_LINE: Final = 1 << 20
"""Bytes of a row."""

_SHOWN: Final = 240
_OUTSIDE: Final = "it leads out of the project folder"


class TooManyErrors(Exception):
    """The limit of reported rows is reached."""


@dataclass(slots=True)
class RowReader:
    """Reader of the rows of tests below a folder; `complaints` are about rows that it left out."""

    root: Path
    complaints: list[Complaint] = field(default_factory=list)

    def rows(self, test: AlertTest) -> Iterator[LogRow]:
        """Yield the rows of a test by time; there may be fewer where there are complaints."""
        if isinstance(test.logs, list):
            # Wrong rows were reported when the manifest was read.
            yield from rows_in_order(test.logs, test.start, lambda *_: None, sort=True)
            return
        folder = (self.root / test.place[0]).parent
        file = folder / test.logs
        why_not = self._why_not(test.logs, file)
        if why_not:
            self._complain(test, f"`{test.logs}` cannot be read: {why_not}")
            return
        name = Path(os.path.relpath(file, self.root)).as_posix()
        lines: list[tuple[int, str]] = [(0, "")]
        report = self._reporter(test, name, lines)
        try:
            values = _values(file, lines, report)
            yield from rows_in_order(values, test.start, lambda _, error: report(error), sort=False)
        except TooManyErrors:
            self._complain(test, f"`{test.logs}` has more wrong rows: it was not read to its end")
        except OSError as error:
            self._complain(test, f"`{test.logs}` cannot be read: {error.strerror}")

    def _why_not(self, named: str, file: Path) -> str:
        """Return why a file is never read, or "" if it may be."""
        if named.startswith(("/", "~")):
            return "it must be relative to the manifest"
        if not named.endswith(SUFFIXES):
            return f"rows are in files {' or '.join(SUFFIXES)}"
        if os.path.relpath(file, self.root).startswith(".."):
            return _OUTSIDE
        try:
            real = file.resolve(strict=True)
            mode = real.stat().st_mode
        except (OSError, RuntimeError, ValueError):
            return "there is no such file"
        if not real.is_relative_to(self.root.resolve()):
            return _OUTSIDE
        is_file = stat.S_ISREG(mode) and real.name.endswith(SUFFIXES)
        return "" if is_file else "it is no regular file of rows"

    def _reporter(
        self, test: AlertTest, name: str, lines: list[tuple[int, str]]
    ) -> Callable[[RowError], None]:
        """Return a function that reports an error in the last line that was read."""
        count = 0

        def report(error: RowError) -> None:
            nonlocal count
            if count == MOST_ERRORS:
                raise TooManyErrors
            count += 1
            number, text = lines[-1]
            shown = text[:_SHOWN]
            excerpt = Excerpt(((number, shown),), 0, 1)
            self.complaints.append(
                Complaint(
                    name, number, 1, code=UNUSABLE, message=str(error), suggestion=error.near,
                    excerpt=excerpt,
                )
            )  # fmt: skip

        del test
        return report

    def _complain(self, test: AlertTest, message: str) -> None:
        self.complaints.append(Complaint(*test.place, code=UNUSABLE, message=message))


def _values(
    file: Path, lines: list[tuple[int, str]], report: Callable[[RowError], None]
) -> Iterable[Json]:
    """Yield the value of each line that is not empty; `lines` gets the last one."""
    with file.open("rb") as opened:
        for number, line in enumerate(iter(lambda: opened.readline(LONGEST_LINE), b""), 1):
            if not line.strip():
                continue
            text = line.decode("utf-8", "replace").strip()
            lines[-1] = number, text
            try:
                value = json.loads(text)
            except (ValueError, RecursionError):
                report(
                    RowError("this line is no JSON: a row is a mapping of at, severity and text")
                )
            else:
                yield value
