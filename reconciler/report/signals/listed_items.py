"""Lists in a comment, which must stay below its limit whatever they contain. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

MOST_ITEMS = 20
MOST_BYTES = 6_000


def listed_items(title: str, items: Sequence[str]) -> Iterator[str]:
    """Yield a title, the items (already Markdown) that fit, and the number that does not fit.

    Nothing where there is no item.
    """
    if not items:
        return
    yield f"**{title}**"
    yield ""
    room, shown = MOST_BYTES, 0
    for item in items[:MOST_ITEMS]:
        room -= len(item.encode()) + 3
        if room < 0:
            break
        shown += 1
        yield f"- {item}"
    if shown < len(items):
        yield f"- and {len(items) - shown:,} more"
    yield ""
