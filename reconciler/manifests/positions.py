"""Where each node of a read document stands, at four bytes a node."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

from reconciler.document import Json, Path


@dataclass(slots=True)
class Positions:
    """The offset of every node in document order; keys are nodes too.

    Sizes of containers are counted when first asked for, as few documents are.
    """

    marks: array[int] = field(default_factory=lambda: array("I"))
    sizes: dict[int, int] = field(default_factory=dict)

    def offset(self, document: Json, path: Path, *, at_key: bool) -> int:
        """Give the offset of the nearest place on `path` that was written.

        A path that ends in nothing, as that of a missing field, gives its parent.
        """
        node = key = 0
        for step in path:
            found = self._child(document, node, step)
            if found is None:
                return self._mark(key if at_key else node)
            key, node, document = found
        return self._mark(key if at_key else node)

    def _child(self, document: Json, node: int, step: str | int) -> tuple[int, int, Json] | None:
        index = node + 1
        if isinstance(document, dict):
            for name, value in document.items():
                if name == step:
                    return index, index + 1, value
                index += 1 + self._size(value)
        elif isinstance(document, list):
            for position, value in enumerate(document):
                if position == step:
                    return index, index, value
                index += self._size(value)
        return None

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
