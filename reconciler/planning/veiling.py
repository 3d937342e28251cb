"""What is live as it may be shown: hidden wherever a secret belongs, or did. Pure.

A manifest that no longer declares a secret does not make the old one public:
it still stands live, and reports quote what stands live.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from reconciler.document import (
    ABSENT,
    Difference,
    Home,
    Json,
    Key,
    Missing,
    Path,
    Shape,
    by_identity,
    homes_in,
    key_of,
    value_at,
)
from reconciler.template import HIDDEN, holds_seal

Elsewhere: TypeAlias = Mapping[Key, Sequence[Home]]
"""Where else an item stands: it may have been moved to another list since, or be about to be."""


def shown(
    found: Iterable[Difference], written: Sequence[Json], shape: Shape
) -> Iterator[Difference]:
    """Hide what stands live where a secret belongs, or did: it may be an older secret.

    `written` is all that live may hold of what was declared: with a write in doubt, several.
    """
    sealed = [(one, _with_seals(one, shape)) for one in written if holds_seal(one)]
    for difference in found:
        if difference.before is ABSENT or difference.operation == "move":
            yield difference
            continue
        before, path = difference.before, difference.path
        places = (
            place for one, elsewhere in sealed for place in _places(one, path, shape, elsewhere)
        )
        if holds_seal(difference.after) or any(map(holds_seal, places)):
            yield replace(difference, before=HIDDEN)
            continue
        for _, elsewhere in sealed:
            before = _veiled(before, ABSENT, shape.along(path), elsewhere)
        yield replace(difference, before=before)


def _places(
    document: Json | Missing, path: Path, shape: Shape, elsewhere: Elsewhere
) -> Iterator[Json | Missing]:
    """Yield what a document holds at the path of a difference; the whole of an unkeyed list."""
    for index, step in enumerate(path):
        if shape.identity and (document is ABSENT or isinstance(document, list)):
            named = by_identity([] if document is ABSENT else document, shape)
            if named is None:
                break
            if str(step) not in named:
                for home in elsewhere.get(key_of(shape, str(step)), ()):
                    yield from _places(home.item, path[index + 1 :], shape.item, elsewhere)
            document, shape = named.get(str(step), ABSENT), shape.item
        elif isinstance(step, str) and (document is ABSENT or isinstance(document, dict)):
            document = ABSENT if document is ABSENT else document.get(step, ABSENT)
            shape = shape.at(step)
        else:
            break
    yield document


def veiled(live: Json, written: Sequence[Json | Missing], shape: Shape) -> Json:
    """Give a live document with the hidden text where one of `written` holds a secret.

    `written` is all that live may hold of what was declared, secrets sealed.
    """
    for sealed in written:
        if holds_seal(sealed):
            live = _veiled(live, sealed, shape, _with_seals(sealed, shape))
    return live


def _with_seals(sealed: Json | Missing, shape: Shape) -> Elsewhere:
    """Give where the items stand that hold a secret."""
    return {
        key: secret
        for key, homes in homes_in(sealed, shape).items()
        if (secret := [home for home in homes if holds_seal(home.item)])
    }


def _veiled(live: Json, sealed: Json | Missing, shape: Shape, elsewhere: Elsewhere) -> Json:
    if not holds_seal(sealed):
        if not (elsewhere and shape.known):
            return live
        # No secret belongs here, and yet one may have come along with an item.
        sealed = ABSENT
    if isinstance(live, dict) and (sealed is ABSENT or isinstance(sealed, dict)):
        fields = {} if sealed is ABSENT else sealed
        return {
            key: _veiled(value, fields.get(key, ABSENT), shape.at(key), elsewhere)
            for key, value in live.items()
        }
    if isinstance(live, list) and (sealed is ABSENT or isinstance(sealed, list)):
        return _veiled_list(live, [] if sealed is ABSENT else sealed, shape, elsewhere)
    return live if sealed is ABSENT else HIDDEN


def _veiled_list(live: list[Json], sealed: list[Json], shape: Shape, elsewhere: Elsewhere) -> Json:
    named = by_identity(live, shape) is not None and by_identity(sealed, shape) is not None
    if not named and holds_seal(sealed):
        # Nobody can tell which item is which.
        return [HIDDEN for _ in live]
    return [_veiled_item(item, shape, elsewhere) for item in live]


def _veiled_item(item: Json, shape: Shape, elsewhere: Elsewhere) -> Json:
    name = value_at(item, shape.identity) if shape.identity else ABSENT
    homes = elsewhere.get(key_of(shape, name), ()) if isinstance(name, str) else ()
    for home in homes:
        item = _veiled(item, home.item, shape.item, elsewhere)
    return item if homes else _veiled(item, ABSENT, shape.item, elsewhere)
