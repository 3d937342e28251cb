"""Ids of sections, rows, widgets, filters and variables that a manifest leaves out.

The service requires them (api-facts.md, part 3). They are kept from the live
dashboard, or derived from the place, and so never make a difference themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from uuid import UUID, uuid5

from reconciler.document import ABSENT, Json, Missing, value_at

NAMESPACE = UUID("6f1d3c52-9a44-5a0e-8b0e-3f2b7f4c1d90")


@dataclass(frozen=True, slots=True)
class _Nested:
    """A list whose items have ids: where it stands, what people call its items, what is inside."""

    path: tuple[str, ...]
    label: tuple[str, ...]
    inner: tuple[_Nested, ...] = ()


_WIDGETS = _Nested(("widgets",), ("title",))
_ROWS = _Nested(("rows",), (), (_WIDGETS,))
_LISTS = (
    _Nested(("layout", "sections"), ("options", "custom", "name"), (_ROWS,)),
    _Nested(("filters",), ("displayName",)),
    _Nested(("variablesV2",), ("name",)),
)


@dataclass(slots=True)
class _Pool:
    """Live items that no declared item claims by its id."""

    by_label: dict[str, list[dict[str, Json]]] = field(default_factory=dict)
    in_order: list[dict[str, Json]] = field(default_factory=list)

    def take(self, label: Json | Missing) -> dict[str, Json] | None:
        """Give the live partner of an item without an id: of its label, else the next."""
        named = self.by_label.get(label, []) if isinstance(label, str) and label else []
        chosen = next((item for item in named if item in self.in_order), None)
        if chosen is None and not (isinstance(label, str) and label):
            chosen = next(iter(self.in_order), None)
        if chosen is not None:
            self.in_order.remove(chosen)
        return chosen


def with_nested_ids(dashboard: Json, live: Json | Missing, name: str) -> Json:
    """Give the dashboard with every nested id filled in. `name` roots derived ids."""
    taken = {*_ids_in(dashboard, _LISTS), *_ids_in(live, _LISTS)}
    for nested in _LISTS:
        dashboard = _fill_list(dashboard, live, nested, name, taken)
    return dashboard


def _ids_in(document: Json | Missing, lists: tuple[_Nested, ...]) -> Iterator[str]:
    for nested in lists:
        items = value_at(document, nested.path)
        for item in items if isinstance(items, list) else ():
            yield _id_of(item)
            yield from _ids_in(item, nested.inner)


def _fill_list(
    document: Json, live: Json | Missing, nested: _Nested, place: str, taken: set[str]
) -> Json:
    items = value_at(document, nested.path)
    if not isinstance(items, list) or not isinstance(document, dict):
        return document
    theirs = value_at(live, nested.path)
    pool, by_id = _pool(items, theirs if isinstance(theirs, list) else [], nested)
    filled: list[Json] = []
    for index, item in enumerate(items):
        here = f"{place}/{nested.path[-1]}/{index}"
        partner = _partner(item, nested, pool, by_id)
        item_id = _id_of(item) or (_id_of(partner) if partner is not None else "")
        whole = _with_id(item, item_id or _derived(here, taken))
        for inner in nested.inner:
            below: Json | Missing = ABSENT if partner is None else partner
            whole = _fill_list(whole, below, inner, here, taken)
        filled.append(whole)
    return _replaced(document, nested.path, filled)


def _pool(
    mine: list[Json], theirs: list[Json], nested: _Nested
) -> tuple[_Pool, Mapping[str, dict[str, Json]]]:
    claimed = {_id_of(item) for item in mine}
    by_id: dict[str, dict[str, Json]] = {}
    pool = _Pool()
    for item in theirs:
        if not isinstance(item, dict):
            continue
        by_id[_id_of(item)] = item
        if _id_of(item) not in claimed:
            pool.in_order.append(item)
            label = value_at(item, nested.label) if nested.label else ABSENT
            if isinstance(label, str):
                pool.by_label.setdefault(label, []).append(item)
    return pool, by_id


def _partner(
    item: Json, nested: _Nested, pool: _Pool, by_id: Mapping[str, dict[str, Json]]
) -> dict[str, Json] | None:
    """Give the live item that a declared one is: of its id, else as the pool finds it."""
    if not isinstance(item, dict):
        return None
    if _id_of(item):
        return by_id.get(_id_of(item))
    return pool.take(value_at(item, nested.label) if nested.label else ABSENT)


def _derived(place: str, taken: set[str]) -> str:
    """Give an id for a place, another one where an item that moved away still has that."""
    number = 1
    name = place
    while (derived := str(uuid5(NAMESPACE, name))) in taken:
        number += 1
        name = f"{place}#{number}"
    taken.add(derived)
    return derived


def _with_id(item: Json, item_id: str) -> Json:
    if not isinstance(item, dict) or _id_of(item):
        return item
    identity: dict[str, Json] = {"value": item_id}
    return {"id": identity, **{key: value for key, value in item.items() if key != "id"}}


def _id_of(item: Json) -> str:
    value = value_at(item, ("id", "value"))
    return value if isinstance(value, str) else ""


def _replaced(document: dict[str, Json], path: tuple[str, ...], value: Json) -> dict[str, Json]:
    first, *rest = path
    if not rest:
        return {**document, first: value}
    inner = document[first]
    assert isinstance(inner, dict)  # noqa: S101 - `path` was found before
    return {**document, first: _replaced(inner, tuple(rest), value)}
