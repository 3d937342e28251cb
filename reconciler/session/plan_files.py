"""The files that plans are kept in: written for their owner alone, read back as evidence."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from reconciler.errors import InvalidInput, UsageError
from reconciler.report.plan.document import PlanDocument, read_plan
from reconciler.report.words import plural

LARGEST_PLAN_FILE = 256 << 20
NO_FILE = "it is not a regular file"


def check_writable(file: Path) -> None:
    """Find out before the first request whether a file could be written.

    Raises InvalidInput where it could not.
    """
    folder = file.parent
    try:
        # What is there already must be a file of our own; nothing is written to it yet.
        descriptor = os.open(file, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
        os.close(descriptor)
    except FileNotFoundError:
        why = "" if folder.is_dir() else f"there is no folder {folder}"
        why = why or ("" if os.access(folder, os.W_OK) else "its folder is read-only")
    except OSError as error:
        why = error.strerror or "it cannot be opened"
    else:
        # A device such as /dev/null would get the rights of a private file.
        why = "" if is_file else NO_FILE
    if why:
        raise InvalidInput(f"{file} cannot be written: {why}")


def write_private(file: Path, text: str) -> None:
    """Write a file that only its owner can read (failure-cases.md, N9).

    Raises InvalidInput where it cannot be written.
    """
    try:
        descriptor = os.open(
            file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
        )
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise InvalidInput(f"{file} cannot be written: {NO_FILE}")
            os.fchmod(descriptor, 0o600)
            stream.write(text)
    except OSError as error:
        raise InvalidInput(f"{file} cannot be written: {error.strerror}") from error


def read_plan_file(file: Path) -> PlanDocument:
    """Read what `plan --out` wrote.

    Raises InvalidInput for anything else, and UsageError for the plan of a part.
    """
    read = _read_plan_file(file)
    if read.not_examined:
        raise UsageError(
            f"{file} is the plan of a part: {plural(read.not_examined, 'resource')} not examined. "
            "Make one without --changed-since to apply it"
        )
    return read


def _read_plan_file(file: Path) -> PlanDocument:
    try:
        with file.open("rb") as stream:
            content = stream.read(LARGEST_PLAN_FILE + 1)
        if len(content) > LARGEST_PLAN_FILE:
            raise InvalidInput(f"{file} is larger than {LARGEST_PLAN_FILE >> 20} MB")
        return read_plan(content.decode("utf-8"), str(file))
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{file} is not a plan: it is not UTF-8") from error
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read: {error.strerror}") from error
