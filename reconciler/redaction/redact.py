"""Redaction: live documents as they may be shown and compared, hidden where secrets may be.

Pure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Final, TypeAlias

from reconciler.document import (
    ABSENT,
    Difference,
    ItemPosition,
    Json,
    Key,
    Missing,
    Path,
    Shape,
    aligned,
    at_home,
    by_identity,
    canonical_text,
    homes_in,
    key_of,
    stored_name,
    value_at,
)
from reconciler.redaction.templates import (
    HIDDEN,
    Template,
    as_sent,
    holds_seal,
    is_sealed_text,
    secrets_in,
)

Elsewhere: TypeAlias = Mapping[str, Template]
"""Templates by the text of their secret, for places where no secret is declared."""


def conceal(live: Json, declared: Json, shape: Shape) -> Json:
    """Return `live` with the value of each secret replaced by the template that sent it.

    The place decides the template, so two secrets with one value are never mixed up, nor are a
    secret and an equal plain text. Where no template is declared, a text equal to a secret is
    replaced by any template with that value: a person may have put it there. Filled in again, the
    template becomes the same text.
    """
    secrets = secrets_in(declared)
    if not secrets:
        return live
    # It must be the same template each time: plans are compared by their digest.
    elsewhere = {str(as_sent(secret)): secret for secret in sorted(secrets, reverse=True)}
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
    if isinstance(declared, Template) and shape.are_one(live, as_sent(declared)):
        return declared
    if not isinstance(live, str):
        return live
    # The service may have trimmed the declared text, as the name of an item.
    is_plain = isinstance(declared, str) and not isinstance(declared, Template)
    if is_plain and stored_name(live) == stored_name(str(declared)):
        return live
    return elsewhere.get(live, live)


def _partners(live: list[Json], declared: list[Json], shape: Shape) -> dict[int, Json]:
    """Return what was declared for the items of a live list, by their index in live."""
    sent = [as_sent(item) for item in declared]
    theirs, ours = by_identity(live, shape), by_identity(sent, shape)
    if theirs is not None and ours is not None:
        named = dict(zip(ours, declared, strict=True))
        return {index: named[name] for index, name in enumerate(theirs) if name in named}
    pairs = {} if shape.unordered else dict(aligned(sent, live, shape.item))
    partners = {index: declared[place] for place, index in pairs.items()}
    # Among those that have no partner yet, equal items are paired.
    left: dict[str, list[int]] = defaultdict(list)
    for place in reversed(range(len(sent))):
        if place not in pairs:
            left[canonical_text(sent[place])].append(place)
    for index, item in enumerate(live):
        if index not in partners and (found := left.get(canonical_text(item))):
            partners[index] = declared[found.pop()]
    return partners


def is_seal_of(live: Json | Missing, sealed: Json | Missing, salt: str) -> bool:
    """Return whether a live value equals what a journal keeps: plain text, or the seal of a value.

    In `live`, the value may be hidden by another template with the same value. It is not hidden
    where the secret has another value now.
    """
    if isinstance(live, dict) and isinstance(sealed, dict):
        return live.keys() == sealed.keys() and all(
            is_seal_of(value, sealed[key], salt) for key, value in live.items()
        )
    if isinstance(live, list) and isinstance(sealed, list):
        return len(live) == len(sealed) and all(
            is_seal_of(value, other, salt) for value, other in zip(live, sealed, strict=True)
        )
    if isinstance(live, str) and isinstance(sealed, str):
        text = str(as_sent(live))
        return text == sealed or is_sealed_text(text, sealed, salt)
    return type(live) is type(sealed) and live == sealed


OtherHomes: TypeAlias = Mapping[Key, Sequence[ItemPosition]]
"""Other places of an item, which may have been moved to another list, or is about to be moved."""


def shown(
    found: Iterable[Difference], live: Json, written: Sequence[Json], shape: Shape
) -> Iterator[Difference]:
    """Yield the differences, hidden where a secret is or was declared.

    Live may have an older secret. `written` are all declarations that live may have, several with a
    write in doubt: what was sent comes before what is about to be sent.
    """
    sealed = _sealed_homes(live, written, shape)
    for difference in found:
        if difference.before is ABSENT or difference.operation == "move":
            yield difference
            continue
        before, path = difference.before, difference.path
        places = (
            place for value, elsewhere in sealed for place in _places(value, path, shape, elsewhere)
        )
        if holds_seal(difference.after) or any(map(holds_seal, places)):
            yield replace(difference, before=HIDDEN)
            continue
        for _, elsewhere in sealed:
            before = _veiled(before, ABSENT, shape.along(path), elsewhere, _hidden)
        yield replace(difference, before=before)


def _places(
    document: Json | Missing, path: Path, shape: Shape, elsewhere: OtherHomes
) -> Iterator[Json | Missing]:
    """Yield the values at the path of a difference; a list without identities is one value."""
    for index, step in enumerate(path):
        if shape.identity and (document is ABSENT or isinstance(document, list)):
            named = by_identity([] if document is ABSENT else document, shape)
            if named is None:
                break
            if str(step) not in named:
                for home in _homes_at(step, shape, elsewhere):
                    yield from _places(home.item, path[index + 1 :], shape.item, elsewhere)
            document, shape = named.get(str(step), ABSENT), shape.item
        elif isinstance(step, str) and (document is ABSENT or isinstance(document, dict)):
            document = ABSENT if document is ABSENT else document.get(step, ABSENT)
            shape = shape.at(step)
        else:
            break
    yield document


def _homes_at(step: str | int, shape: Shape, elsewhere: OtherHomes) -> Iterator[ItemPosition]:
    """Yield the items that a path step may mean; a step that is an index may mean any item."""
    kind = id(shape)
    for key, homes in elsewhere.items():
        if key[0] == kind and (isinstance(step, int) or key == key_of(shape, step)):
            yield from homes


def veiled(live: Json, written: Sequence[Json | Missing], shape: Shape) -> Json:
    """Return a live document, hidden wherever one of `written` has a secret.

    `written` are all declarations that live may have, secrets sealed: what was sent comes before
    what is about to be sent.
    """
    return _all_veiled(live, written, shape, _hidden)


def resealed(live: Json, written: Sequence[Json | Missing], shape: Shape, salt: str) -> Json:
    """Return a live document as a journal may keep it: sealed where a secret belongs.

    A value at such a place that is not what was sent is hidden: it may be an older secret.
    """
    sent: list[Json] = []

    def as_sealed(live: Json, sealed: Json) -> Json:
        # A template is concealed already, and its text has the seals.
        if live != sealed and not is_seal_of(live, sealed, salt):
            return live
        sent.append(sealed)
        return sealed

    def unless_sent(live: Json, _sealed: Json) -> Json:
        return live if isinstance(live, Template) or live in sent else HIDDEN

    # With a write in doubt live may have any of the values, so all are tried before any is hidden.
    known = _all_veiled(live, written, shape, as_sealed)
    return _all_veiled(known, written, shape, unless_sent)


Veil: TypeAlias = Callable[[Json, Json], Json]
"""Returns what is shown of a live value where a sealed value is declared."""


def _hidden(_live: Json, _sealed: Json) -> Json:
    return HIDDEN


def _all_veiled(live: Json, written: Sequence[Json | Missing], shape: Shape, veil: Veil) -> Json:
    for sealed, elsewhere in _sealed_homes(live, written, shape):
        live = _veiled(live, sealed, shape, elsewhere, veil)
    return live


def _sealed_homes(
    live: Json, written: Sequence[Json | Missing], shape: Shape
) -> list[tuple[Json | Missing, OtherHomes]]:
    """Return each document that has a secret, with its items by the keys of matching live items."""
    found: list[tuple[Json | Missing, OtherHomes]] = []
    if not any(map(holds_seal, written)):
        return found
    there = homes_in(live, shape)
    known: set[Key] = set()
    for value in written:
        homes = homes_in(value, shape)
        known.update(homes)
        if holds_seal(value):
            found.append((value, _with_seals(homes, there, known)))
    return found


def _with_seals(homes: OtherHomes, there: OtherHomes, known: AbstractSet[Key]) -> OtherHomes:
    """Return the items with a secret, by the key of the live or declared item that matches them.

    A live item with an unknown key matches every item of its kind that is no longer live: a person
    may have deleted that item and made it again.
    """
    held = {
        key: secret
        for key, found in homes.items()
        if (secret := [home for home in found if holds_seal(home.item)])
    }
    gone: dict[int, list[ItemPosition]] = defaultdict(list)
    for key, secret in held.items():
        if key not in there:
            gone[key[0]].extend(secret)
    new = {key: gone[key[0]] for key in there if key not in known and key[0] in gone}
    nameless = {(kind, NAMELESS): secret for kind, secret in gone.items()}
    return {**nameless, **held, **new}


NAMELESS: Final = ""
"""The identity of items that have none."""


def _veiled(
    live: Json, sealed: Json | Missing, shape: Shape, elsewhere: OtherHomes, veil: Veil
) -> Json:
    if not holds_seal(sealed):
        if not (elsewhere and shape.known):
            return live
        # No secret belongs here, but one may have come with an item.
        sealed = ABSENT
    if isinstance(live, dict) and (sealed is ABSENT or isinstance(sealed, dict)):
        fields = {} if sealed is ABSENT else sealed
        return {
            key: _veiled(value, fields.get(key, ABSENT), shape.at(key), elsewhere, veil)
            for key, value in live.items()
        }
    if isinstance(live, list) and (sealed is ABSENT or isinstance(sealed, list)):
        return _veiled_list(live, [] if sealed is ABSENT else sealed, shape, elsewhere, veil)
    return live if sealed is ABSENT else veil(live, sealed)


def _veiled_list(
    live: list[Json], sealed: list[Json], shape: Shape, elsewhere: OtherHomes, veil: Veil
) -> Json:
    named = by_identity(live, shape) is not None and by_identity(sealed, shape) is not None
    if not named and holds_seal(sealed):
        # The items cannot be distinguished.
        shown = veil(live, sealed)
        return shown if isinstance(shown, list) else [shown for _ in live]
    return [_veiled_item(item, shape, elsewhere, veil) for item in live]


def _veiled_item(item: Json, shape: Shape, elsewhere: OtherHomes, veil: Veil) -> Json:
    name = value_at(item, shape.identity) if shape.identity else ABSENT
    key = key_of(shape, name if isinstance(name, str) else NAMELESS)
    homes = elsewhere.get(key, ()) if shape.identity else ()
    for home in homes:
        item = _veiled(item, home.item, shape.item, elsewhere, veil)
    return item if homes else _veiled(item, ABSENT, shape.item, elsewhere, veil)
