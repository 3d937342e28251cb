"""Writing of ids from the service into the manifests of their resources.

Where the place is not certain nothing is written, and a line says what to write by hand.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from reconciler.document import Edit, Gone, Json, ListItem, ListItems, Put, Within
from reconciler.model import Manifest, RemoteId
from reconciler.syntax.expressions import ExpressionKind, expression, parts_of, whole
from reconciler.workspace.for_each import FOR_EACH, keys_named, written_items
from reconciler.workspace.manifest_edits import Script, text_after

KEY = "id"
_NO_KEY = re.compile(r"[^A-Za-z0-9]")


@dataclass(frozen=True, slots=True)
class Given:
    """A manifest without an id, and the id that the service gave to its resource."""

    manifest: Manifest
    remote_id: RemoteId


@dataclass(slots=True)
class IdentifiedText:
    """The text of a file with the ids that were `written`, and what to write `by_hand`."""

    text: str
    written: list[Given] = field(default_factory=list)
    by_hand: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class IdTarget:
    """The place of an id: `metadata.ids` of the environment, or `metadata.id` if it is `alone`."""

    environment: str
    alone: bool


def identified(script: Script, given: Sequence[Given], place: IdTarget) -> IdentifiedText:
    """Return a text with the ids of its manifests; a document gets all of its ids or none."""
    documents = enumerate(script.reading.documents)
    numbers = {document.locate(()): nth for nth, document in documents}
    by_document: dict[int | None, list[Given]] = defaultdict(list)
    for new_id in given:
        source = new_id.manifest.source
        by_document[numbers.get((source.line, source.column))].append(new_id)
    edits = {
        nth: edit
        for nth, own in by_document.items()
        if nth is not None and (edit := _edit(script.values[nth], own, place)) is not None
    }
    made = text_after(script, edits)
    if made is None:
        edits = {nth: edit for nth, edit in edits.items() if text_after(script, {nth: edit})}
        made = text_after(script, edits)
    found = IdentifiedText(script.text if made is None else made[0])
    for nth, own in by_document.items():
        if made is not None and nth in edits:
            found.written.extend(own)
        else:
            value = None if nth is None else script.values[nth]
            found.by_hand.append(_by_hand(value, own, place))
    return found


def _edit(value: Json, given: Sequence[Given], place: IdTarget) -> Edit | None:
    """Return the edit of a document, or None if the place of an id is not certain."""
    metadata = value.get("metadata") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(metadata, dict):
        return None
    if FOR_EACH not in value:
        edit = _metadata_edit(metadata, given[0].remote_id, place)
        return None if edit is None or len(given) > 1 else Within({"metadata": edit})
    items = value[FOR_EACH]
    known = {
        new_id.manifest.source.item.number - 1: new_id
        for new_id in given
        if new_id.manifest.source.item
    }
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        return None
    named = expression(ExpressionKind.EACH, _free_key(KEY, value, items, place))
    edit = _metadata_edit(metadata, named, place)
    # An expression that uses a key of the items needs it in every item.
    if edit is None or known.keys() != set(range(len(items))):
        return None
    key = whole(named)
    assert key is not None  # noqa: S101 - made above
    edits = (
        ListItem((FOR_EACH, nth), Within({key.name: Put(known[nth].remote_id)}))
        for nth in range(len(items))
    )
    return Within({"metadata": edit, FOR_EACH: ListItems(tuple(edits))})


def _metadata_edit(metadata: Mapping[str, Json], written: RemoteId, place: IdTarget) -> Edit | None:
    """Return the edit of `metadata`, or None if it has an id or gets it from an expression."""
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


def _free_key(key: str, value: Mapping[str, Json], items: Sequence[Json], place: IdTarget) -> str:
    """Return a key that no item has and no manifest uses; the environment is added if needed."""
    rest = {key: inner for key, inner in value.items() if key != FOR_EACH}
    taken = {key for item in items if isinstance(item, dict) for key in item} | {*keys_named(rest)}
    wanted = key if key not in taken else f"{key}_{_NO_KEY.sub('_', place.environment)}"
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}{number}"
    return name


def _own_key(value: Json, given: Sequence[Given]) -> str:
    """Return a key for ids in items that manifests of other kinds or names may share."""
    metadata = value.get("metadata") if isinstance(value, dict) else None
    name = metadata.get("name") if isinstance(metadata, dict) else ""
    fixed = "".join(part for part in parts_of(str(name)) if isinstance(part, str))
    named = _NO_KEY.sub("_", fixed).strip("_")
    return "_".join(filter(None, (given[0].manifest.ref.kind, named, KEY)))


def _by_hand(value: Json, given: Sequence[Given], place: IdTarget) -> str:
    """Return what to write by hand and where, item by item."""
    source = given[0].manifest.source
    where = f"{source.file}:{source.line}"
    if source.item is None:
        known = given[0].remote_id
        field_text = f"id: {known}" if place.alone else f"ids: {{{place.environment}: {known}}}"
        return f"{where}: write `{field_text}` under `metadata` of {given[0].manifest.ref} by hand"
    items = written_items(value[FOR_EACH]) if isinstance(value, dict) else None
    listed = items if isinstance(items, list) else []
    wanted = _own_key(value, given) if isinstance(items, str) else KEY
    key = _free_key(wanted, value if isinstance(value, dict) else {}, listed, place)
    named = expression(ExpressionKind.EACH, key)
    field_text = f"id: {named}" if place.alone else f"ids: {{{place.environment}: {named}}}"
    head = (
        f"{where}: {_why(items, given)}: once all have an id, write `{field_text}` under `metadata`"
    )
    return "\n".join((f"{head}, and into the items by hand:", *_items_by_hand(given, key)))


def _why(items: Json, given: Sequence[Given]) -> str:
    if isinstance(items, str):
        return f"its items come from `{items}`"
    if isinstance(items, list) and len(items) != len(given):
        return f"{len(given)} of its {len(items)} items are to get an id"
    return "its text cannot be edited without a change of something else"


def _items_by_hand(given: Sequence[Given], key: str) -> Iterator[str]:
    for new_id in given:
        yield f"  {new_id.manifest.source.item}, {new_id.manifest.ref}: `{key}: {new_id.remote_id}`"
