"""What ends a run, what it leaves in the journal, and which exit code goes first."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import pytest
from harness.routes import DASHBOARDS
from harness.sites import (
    ALERT_ID,
    ALERT_SPEC,
    SLO_SPEC,
    VIEW_SPEC,
    Site,
    answer_with,
    assert_settled,
    codes_of,
    dashboard,
    manifest,
    outcomes,
    policy,
    policy_set,
)

from reconciler.applying.run import Applied
from reconciler.emulator import create_app
from reconciler.errors import PRECEDENCE, JournalError, Locked, NotAuthorised, Unavailable, worst
from reconciler.journal.journal import Journal
from reconciler.journal.store import Lease
from reconciler.model import NOBODY, InDoubt, Overtaken, Ref, Refused, Skipped

REF = Ref("Dashboard", "checkout")
EVERYTHING = [
    manifest("SLO/checkout", SLO_SPEC),
    manifest("AlertDefinition/errors", ALERT_SPEC, ALERT_ID),
    dashboard(),
    policy_set(policy("a")),
    manifest("SavedView/errors", {**VIEW_SPEC, "isCompactMode": True}),
]

# A run takes one signal as its end, and of two errors the first of the order.
UNORDERED: tuple[set[int], ...] = ({129, 130}, {129, 143}, {130, 143}, {10, 5})
TOLD = (74, 141)
"""What becomes of the words of a run, and not of the run itself."""

CAUSES: dict[int, Callable[[], Applied]] = {
    129: lambda: Applied(signal_code=129),
    130: lambda: Applied(signal_code=130),
    143: lambda: Applied(signal_code=143),
    8: lambda: Applied(unjournaled=True),
    7: lambda: Applied([InDoubt(REF, "lost")]),
    10: lambda: Applied(stopped_by=NotAuthorised("no")),
    9: lambda: Applied([Refused(REF, "no answer", Unavailable.exit_code)]),
    6: lambda: Applied(overtaken={REF: Overtaken(NOBODY, ())}),
    5: lambda: Applied(stopped_by=Locked("lost")),
    11: lambda: Applied([Refused(REF, "guarded", 11)]),
    3: lambda: Applied([Skipped(REF, "why")]),
}


def together(one: Applied, other: Applied) -> Applied:
    """Give a run to which both happened."""
    return Applied(
        [*one.outcomes, *other.outcomes],
        overtaken={**one.overtaken, **other.overtaken},
        stopped_by=one.stopped_by or other.stopped_by,
        signal_code=one.signal_code or other.signal_code,
        unjournaled=one.unjournaled or other.unjournaled,
    )


def test_every_code_has_a_cause() -> None:
    """The order of exit codes holds each code that a run can end with, and no other."""
    assert (*CAUSES, *TOLD) == PRECEDENCE
    assert {code: worst(cause().exit_codes) for code, cause in CAUSES.items()} == {
        code: code for code in CAUSES
    }


@pytest.mark.parametrize(("first", "second"), [*combinations(PRECEDENCE, 2)])
def test_precedence(first: int, second: int) -> None:
    """Of any two codes that apply, the first of the order is given, whichever came first."""
    assert worst({first, second}) == first
    for number, other in ((first, second), (second, first)):
        if {first, second}.isdisjoint(TOLD) and {first, second} not in UNORDERED:
            assert worst(together(CAUSES[number](), CAUSES[other]()).exit_codes) == first


def test_worst_stop() -> None:
    """Of two reasons to stop the one with the first code is kept, whichever came first."""
    for errors in ((Locked("l"), NotAuthorised("n")), (NotAuthorised("n"), Locked("l"))):
        applied = Applied()
        for error in errors:
            applied.stop(error)
        assert isinstance(applied.stopped_by, NotAuthorised)


def lose_the_lock(monkeypatch: pytest.MonkeyPatch, appends: int) -> None:
    """Let another run take the lock after so many appends."""
    held = Journal._held
    done: list[int] = []

    def lost(journal: Journal) -> Lease:
        done.append(1)
        if len(done) > appends:
            raise Locked("the lock is another's by now")
        return held(journal)

    monkeypatch.setattr(Journal, "_held", lost)


@pytest.mark.parametrize("appends", range(9))
def test_lost_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, appends: int) -> None:
    """After a lost lock nothing is sent, and what was in flight is saved elsewhere.

    5 where the journal knows all that happened, 8 where it does not.
    """
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    site = Site(tmp_path, create_app(alert_ids=[ALERT_ID]))
    made = site.plan(*EVERYTHING)
    site.forget()
    with monkeypatch.context() as context:
        lose_the_lock(context, appends)
        applied = site.apply(plan=made)

    answered = [entry for entry in site.entries() if entry.split()[0] in ("written", "stored")]
    code = worst(applied.exit_codes)
    rescued = [*tmp_path.glob("reconciler-journal-*.jsonl")]
    assert isinstance(applied.stopped_by, Locked)
    assert len(applied.outcomes) == len(EVERYTHING)
    assert code == (8 if rescued else 5)
    assert len(site.writes) in (len(answered), len(answered) + 1)
    if rescued:
        saved = [json.loads(line) for line in rescued[0].read_text().splitlines()]
        assert str(rescued[0]) in str(applied.stopped_by)
        assert {value["entry"] for value in saved} <= {"written", "identified", "stored"}
    known = site.journal.history.unsettled()
    assert len(known) <= 1


@pytest.mark.parametrize("appends", range(9))
def test_broken_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, appends: int) -> None:
    """A journal that cannot be written any more ends the run with 8, and all that was is told."""
    site = Site(tmp_path, create_app(alert_ids=[ALERT_ID]))
    done: list[int] = []
    append = Journal.append

    def failing(journal: Journal, entries: object, **_: object) -> None:
        done.append(1)
        if len(done) > appends:
            raise JournalError("full")
        append(journal, entries)  # type: ignore[arg-type]  # handed through

    made = site.plan(*EVERYTHING)
    with monkeypatch.context() as context:
        context.setattr(Journal, "append", failing)
        applied = site.apply(plan=made)

    assert worst(applied.exit_codes) == 8
    assert {outcome.ref for outcome in applied.outcomes} == {one.ref for one in EVERYTHING}
    told = [outcome for outcome in outcomes(applied).values() if outcome in ("written", "indoubt")]
    assert len({write.path for write in site.writes}) in (len(told), len(told) + 1)


def test_refusal_beside_a_stop(tmp_path: Path) -> None:
    """A refused resource and a refused key end with the code of the key."""
    site = Site(tmp_path)
    boards = [dashboard(f"board-{number}") for number in range(2)]
    site.meddle("POST", DASHBOARDS, answer_with(400, {"message": "no"}), answer_with(401))

    applied = site.apply(*boards)

    assert worst(applied.exit_codes) == 10
    site.wire.meddlers.clear()
    site.apply(*boards)
    assert_settled(site, *boards)


def test_one_unreadable_resource(tmp_path: Path) -> None:
    """One answer that cannot be read blocks that resource, with 9, and nothing else."""
    site = Site(tmp_path)
    boards = [dashboard(f"board-{number}") for number in range(3)]
    site.apply(*boards)
    edited = [dashboard(board.ref.name, description="new") for board in boards]
    broken = str(site.journal.history.of(boards[1].ref).remote_id)
    site.meddle("GET", f"{DASHBOARDS}/{broken}", answer_with(200, {"dashboard": 5}))

    made = site.plan(*edited)
    applied = site.apply(plan=made)

    assert [change.action.word for change in made.changes] == ["update", "blocked", "update"]
    assert codes_of(made.changes[1]) == ["unread"]
    assert [unread.exit_code for unread in made.unread] == [9]
    assert set(outcomes(applied).values()) == {"written", "refused"}
    assert worst(applied.exit_codes) == 9
    site.apply(*edited)
    assert_settled(site, *edited)


def test_unreadable_before_the_write(tmp_path: Path) -> None:
    """One resource that cannot be read again is not written, and the others are."""
    site = Site(tmp_path)
    boards = [dashboard(f"board-{number}") for number in range(3)]
    site.apply(*boards)
    made = site.plan(*(dashboard(board.ref.name, description="new") for board in boards))
    broken = str(site.journal.history.of(boards[1].ref).remote_id)
    site.meddle("GET", f"{DASHBOARDS}/{broken}", answer_with(200, {"dashboard": 5}))

    applied = site.apply(plan=made)

    assert list(outcomes(applied).values()) == ["refused", "written", "written"]
    assert worst(applied.exit_codes) == 9
    assert [write.method for write in site.writes[-2:]] == ["PUT", "PUT"]


def test_nothing_readable(tmp_path: Path) -> None:
    """Where no answer at all can be read, it is the service, and there is no plan."""
    site = Site(tmp_path)
    site.meddle("GET", "*", *[answer_with(200, {"dashboard": 5})] * 5)

    with pytest.raises(ExceptionGroup) as raised:
        site.plan(dashboard())

    assert isinstance(raised.value.exceptions[0], Unavailable)
