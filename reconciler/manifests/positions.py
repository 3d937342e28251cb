"""Where each node of a read document stands, at four bytes a node."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field

from reconciler.document import Json, Path


@dataclass(slots=True)
class Positions:
    """The offset of every node in document order; keys are nodes too.

    What is needed to find a child is counted when first asked for, as few
    documents are, and kept, as one mapping may have many complaints.
    """

    marks: array[int] = field(default_factory=lambda: array("I"))
    sizes: dict[int, int] = field(default_factory=dict)
    children: dict[int, Mapping[str | int, int]] = field(default_factory=dict)

    def offset(self, document: Json, path: Path, *, at_key: bool) -> int:
        """Give the offset of the nearest place on `path` that was written.

        A path that ends in nothing, as that of a missing field, gives its parent.
        """
        return self._mark(self._node(document, path, at_key=at_key))

    def scalar(self, document: Json, path: Path) -> tuple[int, int | None]:
        """Give where a scalar begins, and where the next node does, None where that is not told."""
        node = self._node(document, path, at_key=False)
        start, following = self._mark(node), node + 1
        # After an alias comes what it stands for, which was written before it.
        is_told = following < len(self.marks) and self.marks[following] > start
        return start, self.marks[following] if is_told else None

    def _node(self, document: Json, path: Path, *, at_key: bool) -> int:
        node = key = 0
        for step in path:
            child = self._children(document, node).get(step)
            if child is None:
                break
            if isinstance(document, dict):
                key, node, document = child - 1, child, document[str(step)]
            elif isinstance(document, list):
                key, node, document = child, child, document[int(step)]
        return key if at_key else node

    def _children(self, document: Json, node: int) -> Mapping[str | int, int]:
        """Map each key or index of a container to the node of its value."""
        known = self.children.get(node)
        if known is not None:
            return known
        found: dict[str | int, int] = {}
        after = node + 1
        if isinstance(document, dict):
            for name, value in document.items():
                found[name] = after + 1
                after += 1 + self._size(value)
        elif isinstance(document, list):
            for index, value in enumerate(document):
                found[index] = after
                after += self._size(value)
        self.children[node] = found
        return found

    def _size(self, document: Json) -> int:
        if not isinstance(document, dict | list):
            return 1
        known = self.sizes.get(id(document))
        if known is None:
            known = 1
            if isinstance(document, dict):
                known += len(document) + sum(map(self._size, document.values()))
            else:
                known += sum(map(self._size, document))
            self.sizes[id(document)] = known
        return known

    def _mark(self, node: int) -> int:
        return self.marks[node] if node < len(self.marks) else 0
