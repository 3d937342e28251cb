"""What a run does and waits for just now, noted by whoever does it.

A note costs next to nothing, so nobody asks whether anyone looks. Whoever shows the notes
makes the words (`report/wait_lines.py`), and may look from another thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TypeAlias, TypeVar

Item = TypeVar("Item")


class Deed(Enum):
    """What is done with many things, one after the other or side by side."""

    LOADING = auto()
    READING = auto()
    COMPARING = auto()
    JUDGING = auto()
    ASKING = auto()
    WRITING = auto()
    LISTING = auto()


@dataclass(slots=True)
class Progress:
    """How many of a number of things are done; `total` is None where nobody knows it.

    `things` are a kind's name or what a listing is of, "" where the deed says enough.
    """

    deed: Deed
    since: float
    things: str = ""
    total: int | None = None
    done: int = 0

    @property
    def is_over(self) -> bool:
        """Whether nothing of it is left to do."""
        return self.total is not None and self.done >= self.total


@dataclass(frozen=True, slots=True)
class Answering:
    """The service has been sent a request. `path` is without its query."""

    method: str
    path: str


@dataclass(frozen=True, slots=True)
class AskedAgain:
    """A request will be sent again at `until`; `status` is that of the answer, None for none."""

    method: str
    path: str
    until: float
    status: int | None
    why: str


@dataclass(frozen=True, slots=True)
class Locking:
    """Another run holds the journal; `said` is what its store says of that."""

    said: str


@dataclass(frozen=True, slots=True)
class Keeping:
    """What keeps the journal is asked for it, or told to keep more."""

    place: str


@dataclass(frozen=True, slots=True)
class Passing:
    """Time has to pass until `until`, by the clock of the notes."""

    until: float


@dataclass(frozen=True, slots=True)
class Thawing:
    """The environment is frozen; `said` is why."""

    said: str


Wait: TypeAlias = Answering | AskedAgain | Locking | Keeping | Thawing | Passing


@dataclass(frozen=True, slots=True)
class Noted:
    """Something that is waited for, and since when by the clock of the notes."""

    wait: Wait
    since: float


@dataclass(frozen=True, slots=True)
class Now:
    """What is done and waited for at one moment, each in the order in which it began."""

    at: float
    steps: tuple[Progress, ...] = ()
    waits: tuple[Noted, ...] = ()

    @property
    def since(self) -> float | None:
        """When the oldest of it began, None where nothing is done."""
        begun = [*(step.since for step in self.steps), *(wait.since for wait in self.waits)]
        return min(begun, default=None)


@dataclass(slots=True)
class Spent:
    """What went into one sort of thing: seconds in all, how often, and how much was done of it."""

    seconds: float = 0.0
    times: int = 0
    done: int = 0

    def add(self, seconds: float, done: int = 0) -> None:
        """Add one time."""
        self.seconds += seconds
        self.times += 1
        self.done += done


WaitKind: TypeAlias = (
    tuple[Deed, str] | type[Answering | AskedAgain | Locking | Keeping | Thawing | Passing]
)
"""What time is added up by: a deed and its things, or what was waited for."""


@dataclass(slots=True)
class Waits:
    """The notes of one run. `clock` never goes back.

    `spent` is what is over. What goes on side by side counts each for itself.
    """

    clock: Callable[[], float] = time.monotonic
    spent: dict[WaitKind, Spent] = field(default_factory=dict)
    _steps: dict[int, Progress] = field(default_factory=dict)
    _waits: dict[int, Noted] = field(default_factory=dict)
    _number: int = 0

    @contextmanager
    def on(self, wait: Wait) -> Iterator[None]:
        """Note that this is waited for until the end of the block."""
        self._number = number = self._number + 1
        self._waits[number] = noted = Noted(wait, self.clock())
        try:
            yield
        finally:
            del self._waits[number]
            self._spent(type(wait)).add(self.clock() - noted.since)

    def _spent(self, sort: WaitKind) -> Spent:
        return self.spent.setdefault(sort, Spent())

    @contextmanager
    def step(self, deed: Deed, things: str = "", total: int | None = None) -> Iterator[Progress]:
        """Note that this is done until the end of the block, which counts what is done of it."""
        self._number = number = self._number + 1
        self._steps[number] = step = Progress(deed, self.clock(), things, total)
        try:
            yield step
        finally:
            del self._steps[number]
            self._spent((deed, things)).add(self.clock() - step.since, step.done)

    def each(self, deed: Deed, items: Sequence[Item]) -> Iterator[Item]:
        """Yield items, and count those that are done."""
        with self.step(deed, total=len(items)) as step:
            for item in items:
                yield item
                step.done += 1

    def now(self) -> Now:
        """Give what is noted; safe beside the thread that makes the notes."""
        # A copy is made in one go, and a walk is not.
        steps, waits = self._steps.copy(), self._waits.copy()
        return Now(self.clock(), tuple(steps.values()), tuple(waits.values()))
