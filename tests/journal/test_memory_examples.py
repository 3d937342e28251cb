"""What a few entries add up to, told by example: ids, the last write, and what is in doubt."""

from __future__ import annotations

from dataclasses import replace

import pytest
from journals import AT, RUN, VIEW, refused, started, written

from reconciler.document import Json
from reconciler.journal.entries import (
    Compacted,
    Entry,
    IdentifiedEntry,
    ImportedEntry,
    LastWrite,
    Settled,
    Stored,
)
from reconciler.journal.history import History, Memory, compacted
from reconciler.journal.line_fields import Rewritten
from reconciler.model import ServerInfo

BODY: dict[str, Json] = {"name": "Errors"}
FIRST, SECOND, THIRD = (started(declared={"name": name}) for name in ("1", "2", "3"))
CREATE = started(create=True)
PAIRS = (Rewritten(("name",), "a", "b"),)


@pytest.mark.parametrize(
    ("entries", "memory"),
    [
        ([], Memory()),
        ([CREATE], Memory(pending=CREATE)),
        ([replace(FIRST, remote_id=7)], Memory(remote_id=7, pending=replace(FIRST, remote_id=7))),
        (
            [written(), FIRST],
            Memory(remote_id=7, last=None, pending=FIRST, attempts=1, exists=True),
        ),
        (
            [
                CREATE,
                ImportedEntry(run=RUN, at=AT, ref=VIEW, remote_id=7, origin="live", declared=BODY),
            ],
            Memory(
                remote_id=7,
                last=LastWrite(remote_id=7, declared=BODY, at=AT, rewritten=(), origin="live"),
                attempts=1,
                exists=True,
            ),
        ),
        (
            [
                FIRST,
                ImportedEntry(
                    run=RUN, at=AT, ref=VIEW, remote_id=7, origin="export", declared=BODY
                ),
            ],
            Memory(
                remote_id=7,
                last=LastWrite(remote_id=7, declared=BODY, at=AT, rewritten=(), origin="export"),
                pending=FIRST,
                exists=True,
            ),
        ),
        (
            [CREATE, written()],
            Memory(
                remote_id=7,
                last=LastWrite(remote_id=7, declared=BODY, at=AT, rewritten=()),
                attempts=1,
                exists=True,
            ),
        ),
        (
            [replace(CREATE, protect=True), written()],
            Memory(
                remote_id=7,
                last=LastWrite(remote_id=7, declared=BODY, at=AT, rewritten=()),
                attempts=1,
                exists=True,
                protected=True,
            ),
        ),
        (
            [CREATE, IdentifiedEntry(run=RUN, at=AT, ref=VIEW, remote_id=7)],
            Memory(
                remote_id=7, pending=replace(CREATE, operation="replace", remote_id=7), exists=True
            ),
        ),
        (
            [IdentifiedEntry(run=RUN, at=AT, ref=VIEW, remote_id=7)],
            Memory(remote_id=7, exists=True),
        ),
        ([FIRST, SECOND, THIRD], Memory(pending=THIRD, earlier=(FIRST, SECOND))),
        (
            [FIRST, SECOND, THIRD, CREATE, refused()],
            Memory(pending=THIRD, earlier=(FIRST, SECOND), attempts=1),
        ),
        ([written(), written()], Memory(remote_id=7, attempts=2, exists=True)),
        ([FIRST, refused(), refused()], Memory(attempts=2)),
        (
            [FIRST, SECOND, written()],
            Memory(
                remote_id=7,
                last=LastWrite(remote_id=7, declared={"name": "2"}, at=AT, rewritten=()),
                attempts=1,
                exists=True,
            ),
        ),
        (
            [CREATE, written(), Stored(run=RUN, at=AT, ref=VIEW, rewritten=PAIRS)],
            Memory(
                remote_id=7,
                last=LastWrite(remote_id=7, declared=BODY, at=AT, rewritten=PAIRS),
                attempts=1,
                exists=True,
            ),
        ),
        ([Stored(run=RUN, at=AT, ref=VIEW, rewritten=PAIRS)], Memory()),
        (
            [CREATE, written(), FIRST, SECOND, Settled(at=AT, ref=VIEW, remote_id=8)],
            Memory(
                remote_id=8,
                last=LastWrite(remote_id=7, declared=BODY, at=AT, rewritten=()),
                attempts=2,
                exists=True,
            ),
        ),
        (
            [
                replace(CREATE, protect=True),
                written(),
                FIRST,
                SECOND,
                Settled(at=AT, ref=VIEW, remote_id=None),
            ],
            Memory(attempts=2),
        ),
        (
            [
                SECOND,
                Compacted(at=AT, ref=VIEW, remote_id=7, exists=True, attempts=3, protect=True),
            ],
            Memory(remote_id=7, last=None, pending=SECOND, attempts=3, exists=True, protected=True),
        ),
        (
            [
                Compacted(
                    at=AT,
                    ref=VIEW,
                    remote_id=7,
                    exists=True,
                    attempts=3,
                    protect=False,
                    last=LastWrite(remote_id=6, at="then", declared=BODY, rewritten=PAIRS),
                )
            ],
            Memory(
                remote_id=7,
                last=LastWrite(remote_id=6, declared=BODY, at="then", rewritten=PAIRS),
                attempts=3,
                exists=True,
            ),
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
    last = LastWrite(remote_id=7, declared={"last": 0}, at=AT, rewritten=())
    memory = Memory(remote_id=7, last=last, pending=THIRD, earlier=(FIRST, SECOND))

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
    settled: list[Entry] = [
        protected,
        written(remote_id=7),
        Stored(run=RUN, at=AT, ref=VIEW, rewritten=PAIRS),
    ]
    kept = Compacted(
        at="later",
        ref=VIEW,
        remote_id=8,
        exists=True,
        attempts=1,
        protect=True,
        last=LastWrite(remote_id=7, at=AT, declared=BODY, rewritten=PAIRS),
    )

    short = compacted([*settled, FIRST, replace(SECOND, remote_id=8)], "later")

    assert short[1:] == [FIRST, replace(SECOND, remote_id=8), kept]
    assert compacted([CREATE], "later")[1:] == [
        CREATE,
        Compacted(at="later", ref=VIEW, remote_id=None, exists=False, attempts=0, protect=False),
    ]


def test_what_an_answer_reports() -> None:
    """The last write has the revision and all else that the service reported of it."""
    told = ServerInfo(version="3", updated=AT)
    history = History()
    history.add([CREATE, replace(written(), revision="r3", told=told)])
    last = history.of(VIEW).last

    assert last is not None
    assert (last.revision, last.told) == ("r3", told)
