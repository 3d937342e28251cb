"""Applies differences, so that tests can prove they say all there is to say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import deepcopy

from reconciler.document import ABSENT, Difference, Json, Missing, Path, value_at


def patched(
    before: Json | Missing, found: Iterable[Difference], after: Json | Missing
) -> Json | Missing:
    """Give `before` with every difference applied.

    Only where an item that is new to a keyed list stands is read from `after`,
    as a report does: a difference does not say it.
    """
    before, found = deepcopy(before), list(found)
    # Where something comes from is told as it was, with what goes inside of it; the innermost
    # goes first. What goes from an item that only has another index by now is told by that one.
    homes = [difference.path_before for difference in found if difference.list_before is not None]
    gone = [
        difference
        for difference in found
        if difference.list_before is not None
        or (difference.operation == "remove" and _stands_in(difference.path, homes))
    ]
    gone.sort(key=lambda one: (len(one.path_before), _number(one.path_before[-1])), reverse=True)
    taken = {
        (difference.path, difference.operation): _taken_out(before, difference.path_before)
        for difference in gone
    }
    told = [
        Difference(difference.path, ABSENT, taken[difference.path, difference.operation], "add")
        if difference.list_before is not None
        else difference
        for difference in found
        if difference.operation != "remove" or (difference.path, difference.operation) not in taken
    ]
    return _patched(before, [(difference.path, difference) for difference in told], after)


def _stands_in(path: Path, homes: Sequence[Path]) -> bool:
    return any(path[: len(home)] == home for home in homes)


def _number(step: str | int) -> int:
    return step if isinstance(step, int) else -1


def _taken_out(document: Json | Missing, path: Path) -> Json:
    """Take what stands at a path out of a document, and give it."""
    *way, last = path
    for step in way:
        document = _entry(document, step)[1]
    place, value = _entry(document, last)
    if isinstance(document, dict):
        del document[str(place)]
    else:
        assert isinstance(document, list)
        del document[int(place)]
    return value


def _entry(document: Json | Missing, step: str | int) -> tuple[str | int, Json]:
    if isinstance(document, dict):
        return step, document[str(step)]
    assert isinstance(document, list)
    if isinstance(step, int):
        return step, document[step]
    names = [identity(item) for item in document]
    return names.index(step), document[names.index(step)]


def _patched(
    before: Json | Missing, found: Sequence[tuple[Path, Difference]], after: Json | Missing
) -> Json | Missing:
    if not found:
        return before
    if found[0][0] == ():
        # Behind a part that is new is only what came into it from elsewhere, and edits of that.
        came = [path for path, difference in found[1:] if difference.operation == "add"]
        assert all(
            difference.operation == "add" or any(path[: len(place)] == place for place in came)
            for path, difference in found[1:]
        )
        return _patched(found[0][1].after, found[1:], after)
    if before is ABSENT:
        before = [] if isinstance(after, list) else {}
    if isinstance(before, dict):
        return _patched_object(before, found, after)
    assert isinstance(before, list)
    if isinstance(found[0][0][0], int):
        return _patched_items(before, found, after)
    return _patched_keyed(before, found, after)


def _below(
    step: str | int, found: Sequence[tuple[Path, Difference]]
) -> list[tuple[Path, Difference]]:
    return [(path[1:], difference) for path, difference in found if path[0] == step]


def _patched_object(
    before: dict[str, Json], found: Sequence[tuple[Path, Difference]], end: Json | Missing
) -> Json:
    for key in dict.fromkeys(str(path[0]) for path, _ in found):
        value = _patched(before.get(key, ABSENT), _below(key, found), value_at(end, (key,)))
        if value is ABSENT:
            del before[key]
        else:
            before[key] = value
    return before


def _patched_items(
    before: list[Json], found: Sequence[tuple[Path, Difference]], end: Json | Missing
) -> Json:
    here = [difference for path, difference in found if len(path) == 1]
    gone = {difference.path[-1] for difference in here if difference.operation == "remove"}
    after = [item for index, item in enumerate(before) if index not in gone]
    for difference in here:
        if difference.operation == "add":
            index = difference.path[-1]
            assert isinstance(index, int)
            assert difference.after is not ABSENT
            after.insert(index, difference.after)
    for index, item in enumerate(after):
        inside = [
            (path, difference)
            for path, difference in _below(index, found)
            if path or difference.operation not in ("add", "remove")
        ]
        value = _patched(item, inside, value_at(end, (index,)))
        assert value is not ABSENT
        after[index] = value
    return after


def _patched_keyed(
    before: list[Json], found: Sequence[tuple[Path, Difference]], end: Json | Missing
) -> Json:
    """Put moved and new items where they belong; the others fill the rest in their order."""
    assert isinstance(end, list)
    wanted = {identity(item): item for item in end}
    here = [
        difference
        for path, difference in found
        if len(path) == 1 and difference.operation != "change"
    ]
    items: dict[str, Json] = {}
    for item in before:
        key = identity(item)
        inside = [(path, difference) for path, difference in _below(key, found) if path]
        value = _patched(item, inside, wanted.get(key, ABSENT))
        assert value is not ABSENT
        items[key] = value
    places: dict[int, Json] = {}
    for difference in here:
        key = str(difference.path[-1])
        if difference.operation == "move":
            assert isinstance(difference.after, int)
            places[difference.after] = items.pop(key)
        elif difference.operation == "remove":
            del items[key]
        else:
            assert difference.after is not ABSENT
            inside = [(path, difference) for path, difference in _below(key, found) if path]
            value = _patched(difference.after, inside, wanted[key])
            assert value is not ABSENT
            places[list(wanted).index(key)] = value
    rest = iter(items.values())
    size = len(items) + len(places)
    return [places[index] if index in places else next(rest) for index in range(size)]


def identity(item: Json) -> str:
    """Give what names an item of a keyed list in these tests."""
    assert isinstance(item, dict)
    inner = item["id"]
    return str(inner["value"] if isinstance(inner, dict) else inner)
