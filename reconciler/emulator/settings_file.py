"""JSON files that say how the emulator is to behave."""

import json
import os
import stat
from pathlib import Path

from pydantic import ValidationError

_LARGEST = 2**20  # bytes


class UnreadableSettingsError(Exception):
    """A profile or a file of faults that cannot be used; the message names file and place."""

    @classmethod
    def from_model(cls, path: Path, problem: ValidationError) -> "UnreadableSettingsError":
        """Name the first fault."""
        first = problem.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        return cls(f"{path}: {place}: {first['msg']}")


def settings_in(path: Path) -> object:
    """Give the parsed content of a file."""
    try:
        # A pipe would be waited for.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            is_regular = stat.S_ISREG(os.fstat(descriptor).st_mode)
            raw = file.read(_LARGEST + 1) if is_regular else b""
    except OSError as problem:
        raise UnreadableSettingsError(f"{path}: {problem.strerror}") from None
    if not is_regular:
        raise UnreadableSettingsError(f"{path}: not a regular file")
    if len(raw) > _LARGEST:
        raise UnreadableSettingsError(f"{path}: larger than {_LARGEST} bytes")
    try:
        content: object = json.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError) as problem:
        raise UnreadableSettingsError(f"{path}: not JSON: {problem}") from None
    return content
