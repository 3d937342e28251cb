"""What a few entries add up to, told by example: ids, the last write, and what is in doubt."""

from __future__ import annotations

from dataclasses import replace

import pytest
from journals import AT, RUN, VIEW, refused, started, written

from reconciler.document import Json
from reconciler.journal.entries import Entry, Identified, Kept, Rewritten, Settled, Stored
from reconciler.journal.history import History, LastWrite, Memory
from reconciler.journal.runs import compacted

BODY: dict[str, Json] = {"name": "Errors"}
FIRST, SECOND, THIRD = (started(declared={"name": name}) for name in ("1", "2", "3"))
CREATE = started(create=True)
PAIRS = (Rewritten(("name",), "a", "b"),)


@pytest.mark.parametrize(
    ("entries", "memory"),
    [
        ([], Memory()),
        ([CREATE], Memory(pending=CREATE)),
        ([replace(FIRST, remote_id=7)], Memory(7, pending=replace(FIRST, remote_id=7))),
        ([written(), FIRST], Memory(7, None, FIRST, attempts=1, exists=True)),
        ([CREATE, written()], Memory(7, LastWrite(7, BODY, AT), attempts=1, exists=True)),
        (
            [replace(CREATE, protect=True), written()],
            Memory(7, LastWrite(7, BODY, AT), attempts=1, exists=True, protected=True),
        ),
        (
            [CREATE, Identified(RUN, AT, VIEW, 7)],
            Memory(7, pending=replace(CREATE, operation="replace", remote_id=7), exists=True),
        ),
        ([Identified(RUN, AT, VIEW, 7)], Memory(7, exists=True)),
        ([FIRST, SECOND, THIRD], Memory(pending=THIRD, earlier=(FIRST, SECOND))),
        (
            [FIRST, SECOND, THIRD, CREATE, refused()],
            Memory(pending=THIRD, earlier=(FIRST, SECOND), attempts=1),
        ),
        ([written(), written()], Memory(7, attempts=2, exists=True)),
        ([FIRST, refused(), refused()], Memory(attempts=2)),
        (
            [FIRST, SECOND, written()],
            Memory(7, LastWrite(7, {"name": "2"}, AT), attempts=1, exists=True),
        ),
        (
            [CREATE, written(), Stored(RUN, AT, VIEW, PAIRS)],
            Memory(7, LastWrite(7, BODY, AT, PAIRS), attempts=1, exists=True),
        ),
        ([Stored(RUN, AT, VIEW, PAIRS)], Memory()),
        (
            [CREATE, written(), FIRST, SECOND, Settled(AT, VIEW, 8)],
            Memory(8, LastWrite(7, BODY, AT), attempts=2, exists=True),
        ),
        (
            [replace(CREATE, protect=True), written(), FIRST, SECOND, Settled(AT, VIEW, None)],
            Memory(attempts=2),
        ),
        (
            [SECOND, Kept(AT, VIEW, 7, exists=True, attempts=3, protected=True)],
            Memory(7, None, SECOND, attempts=3, exists=True, protected=True),
        ),
        (
            [
                Kept(
                    AT,
                    VIEW,
                    7,
                    exists=True,
                    attempts=3,
                    declared=BODY,
                    written_as=6,
                    written_at="then",
                    rewritten=PAIRS,
                )
            ],
            Memory(7, LastWrite(6, BODY, "then", PAIRS), attempts=3, exists=True),
        ),
    ],
)
def test_sums(entries: list[Entry], memory: Memory) -> None:
    """Each answer counts for what it is about, and nothing else changes with it."""
    history = History()
    history.add(entries)

    assert history.of(VIEW) == memory


def test_what_may_be_live() -> None:
    """Of what may be live the last write comes first, then all in doubt since, in order."""
    last = LastWrite(7, {"last": 0}, AT)
    memory = Memory(7, last, THIRD, (FIRST, SECOND))

    assert memory.candidates == (last.declared, FIRST.declared, SECOND.declared, THIRD.declared)
    assert memory.base == {"last": 0, "name": "3"}
    assert (memory.acknowledged, replace(memory, pending=None).acknowledged) == (None, last)
    assert (Memory().candidates, Memory().base, Memory().acknowledged) == ((), None, None)


def test_unsettled_creates() -> None:
    """Only a create without an answer is unsettled, and it is told by its resource."""
    history = History()
    history.add([CREATE])

    assert history.unsettled() == {VIEW: CREATE}
    assert Memory(pending=FIRST).unsettled_create is None
    assert Memory(pending=CREATE).unsettled_create == CREATE
    history.add([written()])
    assert history.unsettled() == {}


def test_compacted() -> None:
    """Of one resource a compacted journal keeps what is in doubt, then one entry for the rest."""
    protected = replace(CREATE, protect=True)
    settled: list[Entry] = [protected, written(remote_id=7), Stored(RUN, AT, VIEW, PAIRS)]
    kept = Kept(
        "later",
        VIEW,
        8,
        exists=True,
        attempts=1,
        protected=True,
        declared=BODY,
        written_as=7,
        written_at=AT,
        rewritten=PAIRS,
    )

    short = compacted([*settled, FIRST, replace(SECOND, remote_id=8)], "later")

    assert short[1:] == [FIRST, replace(SECOND, remote_id=8), kept]
    assert compacted([CREATE], "later")[1:] == [
        CREATE,
        Kept("later", VIEW, None, exists=False, attempts=0),
    ]
