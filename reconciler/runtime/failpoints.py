"""Named points of a run, at which a test may end the process.

They are in the production code, so that a campaign can enumerate every moment between two effects.
Source: docs/reliability.md.
"""

from collections.abc import Callable
from enum import Enum


class Point(Enum):
    """A moment between two effects; the value is its name in reports."""

    BEFORE_STARTED = "before_started"
    AFTER_STARTED = "after_started"
    BEFORE_SEND = "before_send"
    SENT_NO_REPLY = "sent_no_reply"
    REPLY_READ = "reply_read"
    BEFORE_WRITTEN = "before_written"
    AFTER_WRITTEN = "after_written"
    JOURNAL_OPENED = "journal_opened"
    JOURNAL_WRITTEN = "journal_written"
    JOURNAL_SYNCED = "journal_synced"
    FILE_BEGUN = "file_begun"
    FILES_BESIDE = "files_beside"
    FILE_NAMED = "file_named"
    FILE_WRITTEN = "file_written"
    FILES_SYNCED = "files_synced"
    FILE_KEPT = "file_kept"
    FILE_REPLACED = "file_replaced"


_watchers: list[Callable[[Point], None]] = []


def watch(watcher: Callable[[Point], None]) -> None:
    """Call `watcher` at every point from now on, in this process."""
    _watchers.append(watcher)


def reached(point: Point) -> None:
    """Report that the run is at a point; without a watcher this costs one look at a list."""
    for watcher in _watchers:
        watcher(point)
