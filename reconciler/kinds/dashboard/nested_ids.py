"""Ids inside a dashboard that a manifest leaves out.

The service requires them for sections, rows, widgets, filters and variables, and may assign them to
actions and annotations. An item keeps its id: it is found in the journal's own copy of the
declaration, which no service rewrites (`match_items`). Only items that the copy does not have, or
that have another live id now, are searched for among the live items. A live item without an id
stays without one, and a new item gets an id derived from its place. So undeclared ids make no
difference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID, uuid5

from reconciler.document import ABSENT, Json, Missing, value_at
from reconciler.kinds.dashboard.items import DASHBOARD, Item, ItemId, ItemList, items_of
from reconciler.kinds.dashboard.match_items import Pairing, mostly_same

NAMESPACE = UUID("6f1d3c52-9a44-5a0e-8b0e-3f2b7f4c1d90")


def with_nested_ids(
    dashboard: dict[str, Json], written: Sequence[Json | Missing], live: Json | Missing, name: str
) -> dict[str, Json]:
    """Return the dashboard with every nested id filled in. Derived ids begin with `name`.

    `written` are the dashboards that the journal knows to have been declared, ids filled in, the
    latest first.
    """
    as_before = _as_before(dashboard, written, live)
    if as_before is not None:
        return as_before
    mine = items_of(dashboard)
    if all(item.item_id for item in mine.all_inside):
        return dashboard
    theirs, copies = items_of(live), [items_of(value) for value in written]
    found, bare = _found_ids(mine, copies, theirs)
    taken = {item.item_id for copy in (mine, theirs, *copies) for item in copy.all_inside}
    return _Filling(mine, found, bare, taken).filled(mine, name)


def _as_before(
    dashboard: dict[str, Json], written: Sequence[Json | Missing], live: Json | Missing
) -> dict[str, Json] | None:
    """Return the dashboard with the ids that it had, if it is as it was last written.

    Searching for each item would give the same result, as long as live has the same ids at the same
    places. This is the case for most of a plan. None if a search is needed.
    """
    if len(written) != 1:
        return None
    filled = _with_ids_of(DASHBOARD, dashboard, written[0], live, set())
    return filled if filled == written[0] else None


def _with_ids_of(
    known_by: ItemList,
    mine: dict[str, Json],
    copy: Json | Missing,
    live: Json | Missing,
    used: set[ItemId],
) -> dict[str, Json] | None:
    """Return the items with ids from a copy; None if the three documents differ in structure."""
    document = mine
    for item_list in known_by.inner:
        if value_at(mine, item_list.path) is ABSENT:
            continue
        found = (value_at(value, item_list.path) for value in (mine, copy, live))
        lists = [element for element in found if isinstance(element, list)]
        if len(lists) < 3 or len({*map(len, lists)}) > 1:  # noqa: PLR2004 - of the three
            return None
        items: list[Json] = []
        for item, other, stored in zip(*lists, strict=True):
            item_id = item_list.id_of(other)
            ids = {item_id, item_list.id_of(stored), item_list.id_of(item) or item_id}
            if (
                not item_id
                or len(ids) > 1
                or (item_list, item_id) in used
                or not isinstance(item, dict)
            ):
                return None
            used.add((item_list, item_id))
            inner = _with_ids_of(item_list, item, other, stored, used) if item_list.inner else item
            if inner is None:
                return None
            items.append(item_list.with_id(inner, item_id))
        document = _replaced(document, item_list.path, items)
    return document


def _found_ids(
    mine: Item, copies: Sequence[Item], theirs: Item
) -> tuple[dict[Item, str], set[Item]]:
    """Return the ids that items have, or had: their own, else the live one, else the journal's.

    The second result has the items that are live without an id.
    """
    declared = {item: item.item_id for item in mine.all_inside if item.item_id}
    ids, known = dict(declared), set[Item]()
    for copy in copies:
        partners = Pairing(mine, copy, ids).partner
        known |= partners.keys()
        ids = {**_ids_of(partners), **ids}

    def may_be(item: Item, other: Item) -> bool:
        """Return whether a live item may be an item that the journal does not know.

        Such items must be alike.
        """
        is_copy = item.label == other.label and item.leaves <= other.leaves
        return not copies or item in known or is_copy

    def is_seal_of(item: Item, other: Item) -> bool:
        """Return whether a live item at the same place may be this item, not a foreign one."""
        like = bool(item.known_by.inner) or item.label == other.label or mostly_same(item, other)
        return (not copies or item in known) and like

    partners = Pairing(mine, theirs, ids, alike=may_be, in_place=is_seal_of).partner
    ids = {**ids, **_ids_of(partners), **declared}
    return ids, {item for item in partners if item not in ids}


def _ids_of(partners: Mapping[Item, Item]) -> dict[Item, str]:
    return {item: partner.item_id for item, partner in partners.items() if partner.item_id}


class _Filling:
    """Writes ids into a dashboard, each once in its list."""

    def __init__(
        self, mine: Item, found: Mapping[Item, str], bare: set[Item], taken: set[str]
    ) -> None:
        """Store the items: `bare` items get no id, and a derived id must not be in `taken`."""
        self._found, self._bare, self._taken = found, bare, taken
        self._used: set[ItemId] = {(item.known_by, item.item_id) for item in mine.all_inside}

    def filled(self, item: Item, place: str) -> dict[str, Json]:
        """Return an item's document with the ids of all items inside."""
        document = item.document
        for items in item.inner:
            if not items:
                continue
            path = items[0].known_by.path
            members = value_at(document, path)
            assert isinstance(members, list)  # noqa: S101 - the items come from it
            members = list(members)
            for child in items:
                here = f"{place}/{path[-1]}/{child.index}"
                item_id = self._id_for(child, here)
                inner = self.filled(child, here)
                members[child.index] = child.known_by.with_id(inner, item_id) if item_id else inner
            document = _replaced(document, path, members)
        return document

    def _id_for(self, item: Item, place: str) -> str:
        if item.item_id:
            return item.item_id
        found = self._found.get(item, "")
        if (item.known_by, found) in self._used:
            found = ""
        if not found and item.known_by.made_up and item not in self._bare:
            found = _derived(place, self._taken)
        self._used.add((item.known_by, found))
        return found


def _derived(place: str, taken: set[str]) -> str:
    """Return an id for a place; another id if an item that moved away still has the first."""
    number = 1
    name = place
    while (derived := str(uuid5(NAMESPACE, name))) in taken:
        number += 1
        name = f"{place}#{number}"
    taken.add(derived)
    return derived


def _replaced(document: dict[str, Json], path: tuple[str, ...], value: Json) -> dict[str, Json]:
    first, *rest = path
    if not rest:
        return {**document, first: value}
    inner = document[first]
    assert isinstance(inner, dict)  # noqa: S101 - `path` was found before
    return {**document, first: _replaced(inner, tuple(rest), value)}
