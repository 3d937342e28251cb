"""Writing a file anew, whole or not at all."""

from __future__ import annotations

import os
import tempfile
from codecs import BOM_UTF8
from contextlib import suppress
from pathlib import Path

from reconciler.complaint import Complaint
from reconciler.errors import InvalidInput
from reconciler.manifests.files import read_file
from reconciler.manifests.fixing import Fix


def replace_text(fix: Fix) -> None:
    """Write a repaired text in place of what it was; mode and byte-order mark stay.

    A link stays one, and what it leads to is written, inside the roots only. Raises
    InvalidInput where the file cannot be written, or holds another text by now.
    """
    found = read_file(fix.path, fix.name, fix.roots)
    if isinstance(found, Complaint):
        raise InvalidInput(f"{fix.name}: {found.message}")
    if found != fix.before:
        raise InvalidInput(f"{fix.name} was changed while it was repaired: it is left as it is")
    real = fix.path.resolve()
    try:
        with real.open("rb") as stream:
            mark = BOM_UTF8 if stream.read(len(BOM_UTF8)) == BOM_UTF8 else b""
        _replace(real, mark + fix.after.encode("utf-8"))
    except OSError as error:
        raise InvalidInput(f"{fix.name} cannot be written: {error.strerror}") from error


def _replace(real: Path, content: bytes) -> None:
    mode = real.stat().st_mode & 0o7777
    descriptor, name = tempfile.mkstemp(prefix=".", suffix=".new", dir=real.parent)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            os.fchmod(stream.fileno(), mode)
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(name, real)  # noqa: PTH105 - a name, not a path
    except BaseException:
        with suppress(OSError):
            os.unlink(name)  # noqa: PTH108 - a name, not a path
        raise
