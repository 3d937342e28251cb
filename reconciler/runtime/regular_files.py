"""Reading of files that an option names: regular files only, without waiting, up to a size."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

NOT_REGULAR = "it is not a regular file"
NO_NAME = "its name holds a NUL character"


@contextmanager
def opened(file: Path, flags: int = 0) -> Iterator[BinaryIO]:
    """Open a file for reading, with further flags of the system.

    Raises OSError for anything but a regular file: a pipe may block, and a device may be endless.
    """
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | flags)
    except ValueError:
        raise OSError(errno.EINVAL, NO_NAME, str(file)) from None
    with os.fdopen(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, NOT_REGULAR, str(file))
        yield stream


def read(file: Path, most: int) -> bytes:
    """Return the bytes of a file. Raises OSError as `opened` does, and for more than `most`."""
    with opened(file) as stream:
        content = stream.read(most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"it is larger than {most >> 20} MB", str(file))
    return content
