"""Notes on the current steps and waits of a run.

A note costs almost nothing, so notes are made even if they are not shown. The display writes the
messages (`report/wait_lines.py`), and may read the notes from another thread.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import ClassVar, TypeAlias, TypeVar

Item = TypeVar("Item")


class Deed(Enum):
    """Steps on many things, one after the other or in parallel."""

    OPENING = auto()
    REMEMBERING = auto()
    CONNECTING = auto()
    LOADING = auto()
    CHECKING = auto()
    READING = auto()
    COMPARING = auto()
    JUDGING = auto()
    ASKING = auto()
    WRITING = auto()
    LISTING = auto()
    REPORTING = auto()


@dataclass(slots=True)
class Progress:
    """How much of a step is done; `total` is None if it is not known.

    `things` is the name of a kind or of a listing, "" if the deed is clear enough.
    """

    deed: Deed
    since: float
    things: str = ""
    total: int | None = None
    done: int = 0

    @property
    def is_over(self) -> bool:
        """Return whether the step is finished."""
        return self.total is not None and self.done >= self.total


@dataclass(frozen=True, slots=True)
class Answering:
    """The service was sent a request, and has not answered yet. `path` is without its query."""

    method: str
    path: str


@dataclass(frozen=True, slots=True)
class AskedAgain:
    """A request will be sent again at `until`; `status` is from the answer, None without one."""

    method: str
    path: str
    until: float
    status: int | None
    why: str


@dataclass(frozen=True, slots=True)
class NamedWait:
    """The run waits for `what`; `said` is foreign text with the reason."""

    what: ClassVar[str]
    said: str


@dataclass(frozen=True, slots=True)
class Locking(NamedWait):
    """Another run has locked the journal; `said` is the message of its store."""

    what = "the journal's lock"


@dataclass(frozen=True, slots=True)
class Keeping:
    """The run waits while the store of the journal is read or written."""

    place: str


@dataclass(frozen=True, slots=True)
class Passing:
    """The run waits until `until`, by the clock of the notes."""

    until: float


Wait: TypeAlias = Answering | AskedAgain | NamedWait | Keeping | Passing


@dataclass(frozen=True, slots=True)
class Noted:
    """A wait and its beginning, by the clock of the notes."""

    wait: Wait
    since: float
    done: ClassVar[int] = 0


Note = TypeVar("Note", Noted, Progress)


@dataclass(frozen=True, slots=True)
class Now:
    """The steps and waits at one moment, each in the order in which they began."""

    at: float
    steps: tuple[Progress, ...] = ()
    waits: tuple[Noted, ...] = ()

    @property
    def since(self) -> float | None:
        """Return when the oldest step or wait began, or None if there is none."""
        begun = [*(step.since for step in self.steps), *(wait.since for wait in self.waits)]
        return min(begun, default=None)


@dataclass(slots=True)
class Spent:
    """The total of one kind of step or wait: seconds, how often, and how much was done."""

    seconds: float = 0.0
    times: int = 0
    done: int = 0


WaitKind: TypeAlias = tuple[Deed, str] | type[Wait]
"""The key of the totals: a deed and its things, or the type of a wait."""


@dataclass(slots=True)
class Waits:
    """The notes of one run. `clock` never goes back.

    `spent` are the totals of what has ended. In `spent`, parallel steps and waits each count in
    full. In `shares`, each moment counts once: for the newest step, or for the newest wait outside
    steps.
    """

    clock: Callable[[], float] = time.monotonic
    spent: dict[WaitKind, Spent] = field(default_factory=dict)
    shares: dict[Deed | type[Wait], float] = field(default_factory=dict)
    _steps: dict[int, Progress] = field(default_factory=dict)
    _waits: dict[int, Noted] = field(default_factory=dict)
    _number: int = 0
    _shared_to: float = 0.0

    def on(self, wait: Wait) -> AbstractContextManager[Noted]:
        """Note a wait until the end of the block."""
        return self._noting(self._waits, Noted(wait, self.clock()), type(wait))

    def step(
        self, deed: Deed, things: str = "", total: int | None = None
    ) -> AbstractContextManager[Progress]:
        """Note a step until the end of the block, which counts what is done."""
        step = Progress(deed, self.clock(), things, total)
        return self._noting(self._steps, step, (deed, things))

    @contextmanager
    def _noting(self, notes: dict[int, Note], note: Note, sort: WaitKind) -> Iterator[Note]:
        self._number = number = self._number + 1
        self._share(note.since)
        notes[number] = note
        try:
            yield note
        finally:
            ended = self.clock()
            self._share(ended)
            del notes[number]
            spent = self.spent.setdefault(sort, Spent())
            spent.seconds += ended - note.since
            spent.times += 1
            spent.done += note.done

    def _share(self, until: float) -> None:
        """Count the time since the last change for what is noted now."""
        since, self._shared_to = self._shared_to, until
        if self._steps:
            newest: Deed | type[Wait] = self._steps[next(reversed(self._steps))].deed
        elif self._waits:
            newest = type(self._waits[next(reversed(self._waits))].wait)
        else:
            return
        self.shares[newest] = self.shares.get(newest, 0.0) + until - since

    def each(self, deed: Deed, items: Sequence[Item]) -> Iterator[Item]:
        """Yield items, and count those that are done."""
        with self.step(deed, total=len(items)) as step:
            for item in items:
                yield item
                step.done += 1

    def now(self) -> Now:
        """Return the current notes; safe in another thread than the one that makes the notes."""
        # A copy is atomic, and an iteration is not.
        steps, waits = self._steps.copy(), self._waits.copy()
        return Now(self.clock(), tuple(steps.values()), tuple(waits.values()))
