"""Whether a list that is read whole is whole, as far as its answer tells. Pure.

No such list is documented to come in pages, so nobody knows how a service would say that one
does: the names are those in use, in any spelling.
"""

from __future__ import annotations

from collections.abc import Iterator

from reconciler.document import Json, Missing, Path
from reconciler.errors import UnreadableReply

_MORE = frozenset(
    ("more", "hasmore", "hasnext", "hasnextpage", "truncated", "istruncated", "partial")
)
_PAGES = frozenset(("totalpages", "pagecount", "pages"))
_COUNTS = frozenset(
    ("total", "totalsize", "totalcount", "totalitems", "totalelements", "totalresults", "count")
)


def check_whole(reply: Json | Missing, member: str) -> None:
    """Raise UnreadableReply where an answer announces more than its list `member` holds."""
    items = reply.get(member) if isinstance(reply, dict) else None
    held = len(items) if isinstance(items, list) else 0
    for path, value in _told_beside(reply, member):
        name = str(path[-1]).replace("_", "").replace("-", "").lower()
        counted = name in _COUNTS or name == f"total{member}".lower()
        if (counted and _number(value) > held) or _tells_of_pages(name, value):
            said = f"the answer's list `{member}` holds {held}, and `{'.'.join(map(str, path))}`"
            raise UnreadableReply(f"{said} tells of more: a part of a list is no list")


def _told_beside(reply: Json | Missing, member: str) -> Iterator[tuple[Path, Json]]:
    """Yield what stands in an answer beside its list, objects and what is in them."""
    waiting: list[tuple[Path, Json]] = []
    if isinstance(reply, dict):
        waiting = [((key,), value) for key, value in reply.items() if key != member]
    while waiting:
        path, value = waiting.pop()
        yield path, value
        if isinstance(value, dict):
            waiting.extend(((*path, key), inner) for key, inner in value.items())


def _tells_of_pages(name: str, value: Json) -> bool:
    if name in _PAGES:
        return _number(value) > 1
    return (name.startswith("next") or name in _MORE) and bool(value)


def _number(value: Json) -> float:
    """Give a count; services write large ones as texts."""
    if isinstance(value, str):
        return float(value) if value.isascii() and value.isdigit() else 0
    return value if isinstance(value, int | float) and not isinstance(value, bool) else 0
