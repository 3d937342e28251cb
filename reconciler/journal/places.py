"""Where a journal is that was moved: the old place refuses, and a copy waits for its turn.

Two stores have no write in common. So a copy that ends in `Arrived` counts only
once the journal it was made from ends in the `Moved` of the same run: that one
line is the moment at which the old journal stops and the new one begins.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from reconciler.errors import InvalidInput
from reconciler.journal.content import Content, read_content
from reconciler.journal.entries import Arrived, Moved
from reconciler.journal.store import Store

Look: TypeAlias = Callable[[str], Store]
"""Give the store at a place that is written as in the project file."""


def check_place(content: Content, place: str, environment: str, look: Look | None) -> None:
    """Raise InvalidInput where a journal goes on elsewhere, or is a copy whose turn it is not."""
    match content.entries[-1:]:
        case [Moved(at=at, to=to)]:
            raise InvalidInput(
                f"{place} was moved to {to} ({at}), and is not used any more: write "
                f"`journal: {to}` for the environment `{environment}` in the project file"
            )
        case [Arrived(origin=origin) as arrived] if not has_left(content_at(origin, look), arrived):
            raise InvalidInput(
                f"{place} is a copy of the journal at {origin}, and its move is not finished: "
                f"with `journal: {origin}` in the project file, run `reconciler journal move` "
                "again. Where that journal is gone for good, `reconciler journal move --to` the "
                "place of this copy makes it count"
            )
        case _:
            pass


def content_at(origin: str, look: Look | None) -> Content:
    """Read the journal at another place; an empty one where nobody knows how to look."""
    if look is None:
        return Content()
    return read_content(look(origin).read(), origin)


def has_left(content: Content, arrived: Arrived) -> bool:
    """Tell whether a journal ended with the move that a copy arrived by."""
    match content.entries[-1:]:
        case [Moved(run=run)]:
            return run == arrived.run
        case _:
            return False
