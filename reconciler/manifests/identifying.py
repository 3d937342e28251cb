"""Ids of the service as edits of the manifests that declare what has them.

An id that cannot be written without a guess is not: its words say what to write by hand.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from reconciler.document import Edit, Gone, Item, Items, Json, Put, Within
from reconciler.expressions import Word, expression, whole
from reconciler.manifests.adopting import Script, text_after
from reconciler.manifests.repeating import FOR_EACH, keys_named, written_items
from reconciler.resource import Manifest, RemoteId

KEY = "id"


@dataclass(frozen=True, slots=True)
class Given:
    """A manifest without an id, and the one that the service gave it."""

    manifest: Manifest
    remote_id: RemoteId


@dataclass(slots=True)
class Identified:
    """A file's text with ids in it: those that were written, and words for those that were not."""

    text: str
    written: list[Given] = field(default_factory=list)
    by_hand: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Place:
    """Where ids go: among `ids` of an environment, or as the one `id` where that is `alone`."""

    environment: str
    alone: bool


def identified(script: Script, given: Sequence[Given], place: Place) -> Identified:
    """Return a text with the ids of its manifests, each document of it edited or left as it is."""
    numbers = {one.locate(()): nth for nth, one in enumerate(script.reading.documents)}
    by_document: dict[int | None, list[Given]] = defaultdict(list)
    for one in given:
        source = one.manifest.source
        by_document[numbers.get((source.line, source.column))].append(one)
    edits = {
        nth: edit
        for nth, ones in by_document.items()
        if nth is not None and (edit := _edit(script.values[nth], ones, place)) is not None
    }
    made = text_after(script, edits)
    if made is None:
        edits = {nth: edit for nth, edit in edits.items() if text_after(script, {nth: edit})}
        made = text_after(script, edits)
    found = Identified(script.text if made is None else made[0])
    for nth, ones in by_document.items():
        if made is not None and nth in edits:
            found.written.extend(ones)
        else:
            value = None if nth is None else script.values[nth]
            found.by_hand.append(_by_hand(value, ones, place))
    return found


def _edit(value: Json, given: Sequence[Given], place: Place) -> Edit | None:
    """Return the edit of a document; None where it would be a guess."""
    metadata = value.get("metadata") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(metadata, dict):
        return None
    if FOR_EACH not in value:
        edit = _metadata_edit(metadata, given[0].remote_id, place)
        return None if edit is None or len(given) > 1 else Within({"metadata": edit})
    items = value[FOR_EACH]
    known = {one.manifest.source.item.number - 1: one for one in given if one.manifest.source.item}
    if not isinstance(items, list) or not all(isinstance(one, dict) for one in items):
        return None
    named = expression(Word.EACH, _free_key(value, items, place))
    edit = _metadata_edit(metadata, named, place)
    # What one item has, and the manifest names, all items must have.
    if edit is None or known.keys() != set(range(len(items))):
        return None
    key = whole(named)
    assert key is not None  # noqa: S101 - made above
    each = (
        Item((FOR_EACH, nth), Within({key.name: Put(known[nth].remote_id)}))
        for nth in range(len(items))
    )
    return Within({"metadata": edit, FOR_EACH: Items(tuple(each))})


def _metadata_edit(metadata: Mapping[str, Json], written: RemoteId, place: Place) -> Edit | None:
    """Return the edit of `metadata`; None where an expression gives what would be edited."""
    ids = metadata.get("ids")
    if isinstance(ids, dict):
        if ids.get(place.environment) is not None:
            return None
        own = {place.environment: written}
        return Within({"ids": Within({place.environment: Put(written)}) if ids else Put({**own})})
    if ids is not None or metadata.get("id") is not None:
        return None
    key, other = ("id", "ids") if place.alone else ("ids", "id")
    fields: dict[str, Edit] = {key: Put(written if place.alone else {place.environment: written})}
    if other in metadata:
        fields[other] = Gone()
    return Within(fields)


def _free_key(value: Mapping[str, Json], items: Sequence[Json], place: Place) -> str:
    """Return a key that no item has and no manifest names: `id`, or one with the environment."""
    rest = {key: one for key, one in value.items() if key != FOR_EACH}
    taken = {key for one in items if isinstance(one, dict) for key in one} | {*keys_named(rest)}
    wanted = KEY if KEY not in taken else f"{KEY}_{re.sub(r'[^A-Za-z0-9]', '_', place.environment)}"
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}{number}"
    return name


def _by_hand(value: Json, given: Sequence[Given], place: Place) -> str:
    """Say what to write where, item by item."""
    source = given[0].manifest.source
    where = f"{source.file}:{source.line}"
    if source.item is None:
        known = given[0].remote_id
        said = f"id: {known}" if place.alone else f"ids: {{{place.environment}: {known}}}"
        return f"{where}: write `{said}` under `metadata` of {given[0].manifest.ref} by hand"
    items = written_items(value[FOR_EACH]) if isinstance(value, dict) else None
    listed = items if isinstance(items, list) else []
    key = _free_key(value if isinstance(value, dict) else {}, listed, place)
    named = expression(Word.EACH, key)
    said = f"id: {named}" if place.alone else f"ids: {{{place.environment}: {named}}}"
    head = f"{where}: {_why(items, given)}: once all have an id, write `{said}` under `metadata`"
    return "\n".join((f"{head}, and into the items by hand:", *_items_by_hand(given, key)))


def _why(items: Json, given: Sequence[Given]) -> str:
    if isinstance(items, str):
        return f"its items come from `{items}`"
    if isinstance(items, list) and len(items) != len(given):
        return f"{len(given)} of its {len(items)} items are to get an id"
    return "its text cannot be edited without a change of something else"


def _items_by_hand(given: Sequence[Given], key: str) -> Iterator[str]:
    for one in given:
        yield f"  {one.manifest.source.item}, {one.manifest.ref}: `{key}: {one.remote_id}`"
