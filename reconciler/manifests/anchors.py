"""What anchors stand for, and what their aliases expand to: counted, and never endless."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass

from reconciler.document import Json


@dataclass(slots=True)
class Anchor:
    """An anchored node and the range of its marks; `end` is -1 until the node ends."""

    value: Json
    marks: array[int]
    start: int
    end: int

    @property
    def nodes(self) -> int:
        """How many values an alias of it adds."""
        return self.end - self.start

    def expand(self, marks: array[int], offset: int) -> Json:
        """Mark an alias at an offset with all that it stands for, and give that."""
        inner = self.marks[self.start + 1 : self.end]
        marks.append(offset)
        marks.extend(inner)
        return self.value


class Anchors:
    """The anchors of one document, whose marks they are ranges of."""

    def __init__(self, marks: array[int]) -> None:
        self.marks = marks
        self.named: dict[str, Anchor] = {}
        self.dropped = 0
        self._standing: list[Anchor] = []

    def begin(self, name: str, value: Json) -> Anchor:
        """Note an anchor whose node is the next to be marked, and goes on."""
        return self._keep(name, Anchor(value, self.marks, len(self.marks), -1))

    def note(self, name: str, value: Json) -> None:
        """Note an anchor whose node is the last that was marked, and a scalar."""
        end = len(self.marks)
        self._keep(name, Anchor(value, self.marks, end - 1, end))

    def _keep(self, name: str, anchor: Anchor) -> Anchor:
        self.named[name] = anchor
        self._standing.append(anchor)
        return anchor

    def drop(self, start: int) -> None:
        """Take the marks from an index on out of the document's.

        Anchors among them can still be meant by an alias, and keep theirs. What
        was dropped counts on, or repeated keys would be a way around the limit.
        """
        dropped = self.marks[start:]
        del self.marks[start:]
        self.dropped += len(dropped)
        while self._standing and self._standing[-1].start >= start:
            anchor = self._standing.pop()
            anchor.marks = dropped
            anchor.start -= start
            anchor.end -= start

    def count(self, more: int = 0) -> int:
        """Count the values of the document, dropped ones too, with some more."""
        return len(self.marks) + self.dropped + more


def height(value: Json, known: dict[int, int]) -> int:
    """Count the levels of a value, which is never deeper than what is read.

    What aliases repeat is counted once: an alias bomb is small until it is walked.
    """
    if isinstance(value, dict):
        inner: Iterable[Json] = value.values()
    elif isinstance(value, list):
        inner = value
    else:
        return 0
    if id(value) not in known:
        known[id(value)] = 1 + max((height(one, known) for one in inner), default=0)
    return known[id(value)]
