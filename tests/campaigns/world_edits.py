"""How people change what is declared, and what is live: one field, one item, or their order.

The same edits fit both, as what is live is written in the form in which it is declared.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from world_content import Content, Spec

LISTS = {"sections": "section", "rows": "row", "widgets": "widget"}
TOP_LISTS = {"filters": "filter", "variablesV2": "variable"}
IDENTITY = frozenset(("id", "slugName"))
"""What says which object is meant: to change it is not an edit."""


@dataclass(frozen=True)
class Editor:
    """Edits by chance."""

    content: Content

    def edited(self, kind: str, spec: Spec, word: str, slos: list[str]) -> Spec:
        """Give another version of a spec, one to three edits away."""
        made = copy.deepcopy(spec)
        for _ in range(self.content.chance.randint(1, 3)):
            made = self._once(kind, made, word, slos)
        return made

    def _once(self, kind: str, spec: Spec, word: str, slos: list[str]) -> Spec:
        fresh = self.content.spec(kind, word, slos)
        match kind:
            case "LogPolicySet":
                return {"policies": self._policies(spec["policies"], fresh["policies"])}
            case "Dashboard":
                return {**spec, "dashboard": self._board(spec["dashboard"], fresh["dashboard"])}
            case "AlertDefinition":
                return self._alert(spec, fresh)
            case _:
                kept = frozenset(("name", "targetThresholdPercentage", "timeSelection"))
                return self._field(spec, fresh, kept | SLIS)

    def _field(self, spec: Spec, fresh: Spec, kept: frozenset[str]) -> Spec:
        """Set one field as the fresh spec has it, or take one away that nothing needs."""
        chance = self.content.chance
        removable = sorted(spec.keys() - kept - IDENTITY)
        if removable and self.content.sometimes(0.25):
            gone = chance.choice(removable)
            return {name: value for name, value in spec.items() if name != gone}
        name = chance.choice(sorted(fresh.keys() - IDENTITY))
        if name in SLIS:
            rest = {key: value for key, value in spec.items() if key not in SLIS}
            return {**rest, name: fresh[name]}
        return {**spec, name: fresh[name]}

    def _alert(self, spec: Spec, fresh: Spec) -> Spec:
        """As of any, but that the type and its part go together."""
        parts = frozenset(("type", "logsImmediate", "sloThreshold"))
        if self.content.sometimes(0.3):
            rest = {name: value for name, value in spec.items() if name not in parts}
            return {**rest, **{name: fresh[name] for name in parts & fresh.keys()}}
        others = {name: value for name, value in fresh.items() if name not in parts}
        return self._field(spec, others, parts | {"name"})

    def _board(self, board: Spec, fresh: Spec) -> Spec:
        places = list(lists_in(board))
        if not places or self.content.sometimes(0.3):
            return self._field(board, fresh, frozenset(("name",)))
        holder, name = self.content.chance.choice(places)
        holder[name] = self._list(holder[name], (LISTS | TOP_LISTS)[name])
        return board

    def _list(self, items: list[Spec], item: str) -> list[Spec]:
        """Add, take away, move or change one item."""
        chance = self.content.chance
        if not items or self.content.sometimes(0.2):
            return [*items, self.content.item(item)]
        at = chance.randrange(len(items))
        deeds: list[Callable[[], list[Spec]]] = [
            lambda: [element for place, element in enumerate(items) if place != at],
            lambda: chance.sample(items, len(items)),
            lambda: [
                self._item(element, item) if at == place else element
                for place, element in enumerate(items)
            ],
            lambda: [
                self._item(element, item) if at == place else element
                for place, element in enumerate(items)
            ],
        ]
        return chance.choice(deeds)()

    def _item(self, before: Spec, item: str) -> Spec:
        """Change one field of an item: a title, a definition, a height."""
        fresh = self.content.item(item)
        inner = frozenset(("rows", "widgets", "id"))
        names = sorted(fresh.keys() - inner)
        if not names:
            return before
        name = self.content.chance.choice(names)
        return {**before, name: fresh[name]}

    def _policies(self, items: list[Spec], fresh: list[Spec]) -> list[Spec]:
        chance = self.content.chance
        at = chance.randrange(len(items)) if items else 0
        names = {value["policy"]["name"] for value in items}
        new = [
            value
            for value in fresh
            if value["policy"]["name"][:5] not in {name[:5] for name in names}
        ]
        if new and (not items or self.content.sometimes(0.3)):
            return [*items[:at], new[0], *items[at:]]
        if len(items) > 1 and self.content.sometimes(0.4):
            if self.content.sometimes(0.5):
                return chance.sample(items, len(items))
            return [element for place, element in enumerate(items) if place != at]
        if not items:
            return items
        changed = copy.deepcopy(items)
        policy, other = changed[at]["policy"], fresh[0]
        if self.content.sometimes(0.3):
            changed[at]["logRules"] = other["logRules"]
        else:
            name = chance.choice(sorted(other["policy"].keys() - {"name"}))
            policy[name] = other["policy"][name]
        return changed


SLIS = frozenset(("requestBasedMetricSli", "windowBasedMetricSli"))


def lists_in(board: Any) -> Iterator[tuple[Spec, str]]:
    """Yield every list of items of a dashboard, with what holds it."""
    for name in TOP_LISTS:
        if isinstance(board.get(name), list):
            yield board, name
    waiting = [board.get("layout")]
    while waiting:
        part = waiting.pop()
        for name in LISTS:
            if isinstance(part, dict) and isinstance(part.get(name), list):
                yield part, name
                waiting.extend(part[name])


def with_ids(board: Spec, content: Content) -> Spec:
    """Give every item an id that has none, as the web interface does."""
    for holder, name in lists_in(board):
        for value in holder[name]:
            value.setdefault("id", {"value": str(UUID(int=content.chance.getrandbits(128)))})
    return board
