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
    homes = [one.path_before for one in found if one.list_before is not None]
    gone = [
        one
        for one in found
        if one.list_before is not None
        or (one.operation == "remove" and _stands_in(one.path, homes))
    ]
    gone.sort(key=lambda one: (len(one.path_before), _number(one.path_before[-1])), reverse=True)
    taken = {(one.path, one.operation): _taken_out(before, one.path_before) for one in gone}
    told = [
        Difference(one.path, ABSENT, taken[one.path, one.operation], "add")
        if one.list_before is not None
        else one
        for one in found
        if one.operation != "remove" or (one.path, one.operation) not in taken
    ]
    return _patched(before, [(one.path, one) for one in told], after)


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
        # Behind a part that is new stands only what came into it from elsewhere.
        assert all(one.operation == "add" or len(found) == 1 for _, one in found)
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
    return [(path[1:], one) for path, one in found if path[0] == step]


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
    here = [one for path, one in found if len(path) == 1]
    gone = {one.path[-1] for one in here if one.operation == "remove"}
    after = [item for index, item in enumerate(before) if index not in gone]
    for one in here:
        if one.operation == "add":
            index = one.path[-1]
            assert isinstance(index, int)
            assert one.after is not ABSENT
            after.insert(index, one.after)
    for index, item in enumerate(after):
        inside = [
            (path, one)
            for path, one in _below(index, found)
            if path or one.operation not in ("add", "remove")
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
    here = [one for path, one in found if len(path) == 1 and one.operation != "change"]
    items: dict[str, Json] = {}
    for item in before:
        key = identity(item)
        inside = [(path, one) for path, one in _below(key, found) if path]
        value = _patched(item, inside, wanted.get(key, ABSENT))
        assert value is not ABSENT
        items[key] = value
    places: dict[int, Json] = {}
    for one in here:
        key = str(one.path[-1])
        if one.operation == "move":
            assert isinstance(one.after, int)
            places[one.after] = items.pop(key)
        elif one.operation == "remove":
            del items[key]
        else:
            assert one.after is not ABSENT
            inside = [(path, one) for path, one in _below(key, found) if path]
            value = _patched(one.after, inside, wanted[key])
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
