"""A live document with its secrets sealed, by the places where they were sent. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from reconciler.document import (
    ABSENT,
    Json,
    Missing,
    Shape,
    aligned,
    at_home,
    by_identity,
    canonical_text,
    stored_name,
)
from reconciler.template import Template, as_sent, is_sealed_text, secrets_in

Elsewhere: TypeAlias = Mapping[str, Template]
"""What hides the text of a secret where nobody declared it."""


def conceal(live: Json, declared: Json, shape: Shape) -> Json:
    """Put each template back where a live document holds what was sent for it.

    Which template that is, the place tells: two secrets of one value, and a plain text
    that is also a secret's, are never taken for each other. Where none is declared, a
    text that is a secret's is hidden behind any template of that value, as it may have
    been put there by anyone; sent back, it is the same text again.
    """
    secrets = secrets_in(declared)
    if not secrets:
        return live
    # Whichever it is, it must be the same one each time: plans are compared by their digest.
    elsewhere = {str(as_sent(one)): one for one in sorted(secrets, reverse=True)}
    return _concealed(live, at_home(declared, live, shape), shape, elsewhere)


def _concealed(live: Json, declared: Json | Missing, shape: Shape, elsewhere: Elsewhere) -> Json:
    if isinstance(live, dict):
        fields = declared if isinstance(declared, dict) else {}
        return {
            key: _concealed(value, fields.get(key, ABSENT), shape.at(key), elsewhere)
            for key, value in live.items()
        }
    if isinstance(live, list):
        items = _partners(live, declared if isinstance(declared, list) else [], shape)
        return [
            _concealed(item, items.get(index, ABSENT), shape.item, elsewhere)
            for index, item in enumerate(live)
        ]
    if isinstance(declared, Template):
        if shape.are_one(live, as_sent(declared)):
            return declared
    elif isinstance(declared, str) and _is_it(live, declared):
        return live
    return elsewhere.get(live, live) if isinstance(live, str) else live


def _is_it(live: Json, declared: str) -> bool:
    """Tell a plain text that is live as declared, or was only trimmed: the name of an item, say."""
    return isinstance(live, str) and stored_name(live) == stored_name(declared)


def _partners(live: list[Json], declared: list[Json], shape: Shape) -> dict[int, Json]:
    """Give what was declared for the items of a live list, by their index there."""
    sent = [as_sent(item) for item in declared]
    theirs, ours = by_identity(live, shape), by_identity(sent, shape)
    if theirs is not None and ours is not None:
        named = dict(zip(ours, declared, strict=True))
        return {index: named[name] for index, name in enumerate(theirs) if name in named}
    pairs = {} if shape.unordered else dict(aligned(sent, live, shape.item))
    partners = {index: declared[place] for place, index in pairs.items()}
    free = [index for index in range(len(live)) if index not in partners]
    left = [place for place in range(len(sent)) if place not in pairs]
    partners.update(_equal(live, free, sent, left, declared))
    return partners


def _equal(
    live: list[Json],
    free: Sequence[int],
    sent: list[Json],
    left: Sequence[int],
    declared: list[Json],
) -> dict[int, Json]:
    """Pair what is equal among the items that have no partner yet."""
    places: dict[str, list[int]] = defaultdict(list)
    for place in reversed(left):
        places[canonical_text(sent[place])].append(place)
    return {
        index: declared[found.pop()]
        for index in free
        if (found := places.get(canonical_text(live[index])))
    }


def stands_for(live: Json | Missing, sealed: Json | Missing, salt: str) -> bool:
    """Tell whether a live value is what a journal keeps of it: plain text, or a seal of it.

    What hides it here may be another template of the same value, or nothing, where
    the secret has another value by now.
    """
    if isinstance(live, dict) and isinstance(sealed, dict):
        return live.keys() == sealed.keys() and all(
            stands_for(value, sealed[key], salt) for key, value in live.items()
        )
    if isinstance(live, list) and isinstance(sealed, list):
        return len(live) == len(sealed) and all(
            stands_for(one, other, salt) for one, other in zip(live, sealed, strict=True)
        )
    if isinstance(live, str) and isinstance(sealed, str):
        text = str(as_sent(live))
        return text == sealed or is_sealed_text(text, sealed, salt)
    return type(live) is type(sealed) and live == sealed
