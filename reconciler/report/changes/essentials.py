"""What a resource that is made, or written unseen, is: the fields its kind names. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reconciler.document import ABSENT, Json, Missing, Path, value_at
from reconciler.kinds import BY_NAME
from reconciler.kinds.essential import ANY_STEP, Essential
from reconciler.kinds.facts import facts_at
from reconciler.kinds.fields import Part
from reconciler.report.changes.spoken_value import spoken_value
from reconciler.report.safe import ELLIPSIS, columns, safe
from reconciler.report.words import name_of
from reconciler.resource import Action, Change

BETWEEN = " · "
MOST_NAMED = 3
LONGEST_BESIDE = 50


def essentials_of(change: Change) -> tuple[str, ...]:
    """Give `field: value` for each, safe, whole and on one line; none for what is compared.

    An update shows what differs, which says more.
    """
    kind = BY_NAME.get(change.ref.kind)
    if kind is None or change.action not in (Action.CREATE, Action.ASSERT):
        return ()
    said = ((one.called, _said(one, change.body, kind.spec)) for one in kind.essentials)
    return tuple(f"{name}: {text}" for name, text in said if text)


def packed(texts: Sequence[str], room: int) -> list[str]:
    """Put texts side by side into lines of `room` columns; one that is longer is cut.

    A long one, a query say, stands in a line of its own.
    """
    lines: list[str] = []
    full = True
    for text in texts:
        shown = text if columns(text) <= room else _cut(text, room)
        is_long = columns(text) > LONGEST_BESIDE
        joined = shown if full or is_long else f"{lines[-1]}{BETWEEN}{shown}"
        if full or is_long or columns(joined) > room:
            lines.append(shown)
        else:
            lines[-1] = joined
        full = is_long
    return lines


def _cut(text: str, room: int) -> str:
    while columns(text) >= room:
        text = text[: min(len(text) - 1, room)]
    return text + ELLIPSIS


def _said(essential: Essential, document: Json, model: type[Part]) -> str:
    found = [
        (path, value)
        for path, value in _places(document, essential.path)
        if value not in ("", []) and value is not essential.usual and value is not None
    ]
    lists = [value for _, value in found if isinstance(value, list)]
    items = [item for value in lists for item in value]
    if len(lists) == len(found) and any(isinstance(item, dict) for item in items):
        return _counted(items)
    words = (spoken_value(value, facts_at(model, path)) for path, value in found)
    return ", ".join(dict.fromkeys(words))


def _places(
    document: Json | Missing, path: Sequence[str], walked: Path = ()
) -> Iterator[tuple[Path, Json]]:
    """Yield each place that a path leads to, and what stands there."""
    if document is ABSENT:
        return
    if not path:
        yield walked, document
        return
    step, *rest = path
    if step != ANY_STEP:
        yield from _places(value_at(document, (step,)), rest, (*walked, step))
    elif isinstance(document, dict):
        for key, value in document.items():
            yield from _places(value, rest, (*walked, key))
    elif isinstance(document, list):
        for index, value in enumerate(document):
            yield from _places(value, rest, (*walked, index))


def _counted(items: Sequence[Json]) -> str:
    """Say how many parts there are, and what the first of them are called."""
    names = [spoken_value(name) for name in map(name_of, items) if name]
    more = [ELLIPSIS] if len(names) > MOST_NAMED else []
    said = ", ".join([*names[:MOST_NAMED], *more])
    return safe(f"{len(items):,} ({said})" if said else f"{len(items):,}")
