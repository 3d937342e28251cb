"""What a process does to files, noted call by call, and when it sends a write."""

from __future__ import annotations

import json
import os
import socket
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# The calls as they were before any of them was replaced.
_open, _write, _mkdir = os.open, os.write, os.mkdir
_fsync, _ftruncate, _close = os.fsync, os.ftruncate, os.close
_send = socket.socket.send


@dataclass
class Recorder:
    """Stands in for the calls of this process, does each, and notes it: one line of JSON.

    `create PATH`, `write PATH PLACE TEXT`, `truncate PATH SIZE`, `fsync PATH`, `send WORDS`.
    """

    below: str
    notes: int
    names: dict[int, str] = field(default_factory=dict)

    def note(self, *what: object) -> None:
        """Add a line to the record."""
        _write(self.notes, json.dumps(what).encode() + b"\n")

    def open(self, path: Any, flags: int, mode: int = 0o777, **more: Any) -> int:
        """Open; a file that was not there is a new name in its folder."""
        new = bool(flags & os.O_CREAT) and not os.path.lexists(path)
        descriptor = _open(path, flags, mode, **more)
        if str(path).startswith(self.below):
            self.names[descriptor] = str(path)
            if new:
                self.note("create", str(path))
        return descriptor

    def write(self, descriptor: int, content: Any) -> int:
        """Write where the file stands."""
        name = self.names.get(descriptor)
        place = os.lseek(descriptor, 0, os.SEEK_CUR) if name else 0
        size = _write(descriptor, content)
        if name:
            self.note("write", name, place, bytes(content[:size]).decode("latin-1"))
        return size

    def fsync(self, descriptor: int) -> None:
        """Make a file, or the names in a folder, last."""
        _fsync(descriptor)
        if descriptor in self.names:
            self.note("fsync", self.names[descriptor])

    def ftruncate(self, descriptor: int, size: int) -> None:
        """Cut a file, or make it longer."""
        _ftruncate(descriptor, size)
        if descriptor in self.names:
            self.note("truncate", self.names[descriptor], size)

    def mkdir(self, path: Any, *more: Any, **others: Any) -> None:
        """Make a folder, a new name in another."""
        _mkdir(path, *more, **others)
        if str(path).startswith(self.below):
            self.note("create", str(path))

    def close(self, descriptor: int) -> None:
        """Close; the number will mean another file."""
        self.names.pop(descriptor, None)
        _close(descriptor)


def record(folder: Path, file: Path) -> None:
    """Note from now on, in a file, what this process does below a folder, and what it sends."""
    notes = _open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    recorder = Recorder(str(folder), notes)
    for name in ("open", "write", "fsync", "ftruncate", "mkdir", "close"):
        setattr(os, name, getattr(recorder, name))

    def sent(self: socket.socket, content: Any, *more: Any) -> int:
        line = bytes(content[:200]).split(b"\r\n")[0].decode("latin-1")
        if line.startswith(("PUT ", "POST ")) and "/validate" not in line:
            recorder.note("send", line)
        return _send(self, content, *more)

    socket.socket.send = sent  # type: ignore[method-assign,assignment]  # records, then sends
