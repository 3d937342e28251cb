"""The request log in a file: one JSON object a line, and never a key in it."""

import errno
import json
import os
import weakref
from contextlib import suppress
from pathlib import Path

from starlette.datastructures import Headers
from starlette.types import Scope

from reconciler.emulator.models.wire import JsonObject

_BEGINS = b'{"at":"'


def _is_foreign(path: Path) -> bool:
    """Tell a file that begins as no log does: nothing is added to it."""
    with suppress(OSError):
        if path.is_file() and not path.is_symlink():
            with path.open("rb") as stream:
                return stream.read(len(_BEGINS)) not in (b"", _BEGINS)
    return False


class LogFile:
    """A file for the owner only, added to at its end; each request is one write."""

    def __init__(self, path: Path) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        # A pipe that comes in between would be waited for.
        flags |= os.O_NONBLOCK
        if path.is_fifo():
            raise OSError(errno.EINVAL, "it is a pipe: name a file", str(path))
        if _is_foreign(path):
            said = "it is there, and not such a log: remove it first, or name another file"
            raise OSError(errno.EEXIST, said, str(path))
        self._descriptor = os.open(path, flags, 0o600)
        weakref.finalize(self, os.close, self._descriptor)

    def write(self, line: JsonObject, scope: Scope) -> None:
        """Add a request; the key it came with is masked wherever it stands."""
        text = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
        key = Headers(scope=scope).get("authorization", "").strip()
        for secret in {key, key.partition(" ")[2].strip()} - {""}:
            # As it stands inside JSON text, without the quotes around it.
            text = text.replace(json.dumps(secret, ensure_ascii=False)[1:-1], "***")
        os.write(self._descriptor, text.encode("utf-8", "backslashreplace") + b"\n")
