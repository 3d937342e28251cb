"""The folding laws: what a sequence of entries adds up to."""

from __future__ import annotations

from typing import Literal

from hypothesis import given
from hypothesis import strategies as st
from journals import AT, RUN, VIEW, refused, started, written

from reconciler.document import Json
from reconciler.journal.entries import Entry, IdentifiedEntry, OverrideEntry, Settled, Stored
from reconciler.journal.history import History, Memory
from reconciler.journal.line_fields import Rewritten
from reconciler.model import Ref

Step = Literal["create", "replace", "identify", "write", "refuse", "settle", "never", "override"]


def remembered(*entries: Entry) -> Memory:
    """Give what the entries say of the one view."""
    history = History()
    history.add(entries)
    return history.of(VIEW)


def body(number: int) -> dict[str, Json]:
    """Give a document that no other number gives."""
    return {"name": f"v{number}", f"key{number}": number}


def entry(step: Step, number: int) -> Entry:
    """Give the entry of a step; its documents and ids carry the step's number."""
    entries: dict[Step, Entry] = {
        "create": started(create=True, declared=body(number)),
        "replace": started(declared=body(number)),
        "identify": IdentifiedEntry(run=RUN, at=AT, ref=VIEW, remote_id=number + 1),
        "write": written(remote_id=number + 1),
        "refuse": refused(),
        "settle": Settled(at=AT, ref=VIEW, remote_id=number + 1),
        "never": Settled(at=AT, ref=VIEW, remote_id=None),
        "override": OverrideEntry(at=AT, reason="because"),
    }
    return entries[step]


@st.composite
def legal_steps(draw: st.DrawFn) -> list[Step]:
    """Draw what a run can do: an answer follows a start, and a settlement a lost create."""
    steps: list[Step] = []
    pending = creating = False
    for _ in range(draw(st.integers(0, 12))):
        choices: list[Step] = ["create", "replace", "override"]
        if pending:
            choices += ["write", "refuse"]
        if creating:
            choices = ["write", "refuse", "settle", "never", "identify", "override"]
        step = draw(st.sampled_from(choices))
        steps.append(step)
        pending = pending if step == "override" else step in ("create", "replace", "identify")
        creating = creating if step == "override" else step == "create"
    return steps


@given(legal_steps())
def test_folding(steps: list[Step]) -> None:
    """A create without an answer is unsettled, and the last acknowledged document is kept."""
    memory = remembered(*(entry(step, number) for number, step in enumerate(steps)))
    told = [step for step in steps if step != "override"]
    open_create = bool(told) and told[-1] == "create"

    assert (memory.unsettled_create is not None) == open_create
    assert (memory.acknowledged is None) or memory.pending is None
    if told and told[-1] == "write":
        assert memory.pending is None
        assert memory.acknowledged is not None
        assert memory.earlier == ()
        assert memory.base == memory.acknowledged.declared
    if told and told[-1] in ("create", "replace"):
        assert memory.pending is not None
        base = memory.base
        assert base is not None
        assert all(base[key] == value for key, value in memory.pending.declared.items())


@given(legal_steps())
def test_base_forgets_nothing_in_doubt(steps: list[Step]) -> None:
    """Whatever may be live since the last certain answer is in the base of the next merge."""
    possible: list[int] = []
    certain: list[int] = []
    for number, step in enumerate(steps):
        if step in ("create", "replace"):
            possible.append(number)
        elif step == "write":
            certain, possible = possible[-1:], []
        elif step == "refuse":
            possible.pop()
        elif step in ("settle", "never"):
            possible = []
            certain = certain if step == "settle" else []
    base = remembered(*(entry(step, n) for n, step in enumerate(steps))).base or {}

    assert {key for key in base if key != "name"} == {f"key{n}" for n in certain + possible}


@given(st.lists(st.sampled_from([VIEW, Ref("SLO", "a"), Ref("Dashboard", "b")]), max_size=9))
def test_resources_apart(touched: list[Ref]) -> None:
    """Entries of one resource say nothing of another."""
    history = History()
    history.add(started(ref, create=True) for ref in touched)

    assert set(history.unsettled()) == set(touched)
    assert history.of(Ref("SLO", "never-touched")) == Memory()


def test_attempts() -> None:
    """Only a deliberate new attempt counts: a retry of a lost one repeats its request id."""
    lost = remembered(started(create=True), started(create=True))
    again = remembered(started(create=True), Settled(at=AT, ref=VIEW, remote_id=None))

    assert (lost.attempts, again.attempts) == (0, 1)


def test_identified_create() -> None:
    """Once the id is known, a create is in doubt no more; only its replace is."""
    memory = remembered(
        started(create=True), IdentifiedEntry(run=RUN, at=AT, ref=VIEW, remote_id=7)
    )

    assert memory.unsettled_create is None
    assert memory.pending is not None
    assert memory.acknowledged is None
    assert (memory.remote_id, memory.exists) == (7, True)


def test_refusal_after_the_id() -> None:
    """A view whose second request is refused exists all the same."""
    memory = remembered(
        started(create=True), IdentifiedEntry(run=RUN, at=AT, ref=VIEW, remote_id=7), refused()
    )

    assert (memory.remote_id, memory.exists, memory.last) == (7, True, None)


def test_refusal_after_a_lost_write() -> None:
    """A refusal says nothing about an earlier write whose answer was lost."""
    acknowledged: list[Entry] = [started(declared=body(0)), written()]
    memory = remembered(
        *acknowledged, started(declared=body(1)), started(declared=body(2)), refused()
    )

    assert memory.acknowledged is None
    assert memory.pending == started(declared=body(1))
    assert memory.base == {**body(0), **body(1)}


def test_refusal_alone() -> None:
    """After a refusal the last acknowledged write stands."""
    memory = remembered(started(declared=body(0)), written(), started(declared=body(1)), refused())

    assert memory.acknowledged is not None
    assert memory.acknowledged.declared == body(0)


def test_never_happened() -> None:
    """A create that never happened leaves no id, and nothing that was written before."""
    memory = remembered(
        started(), written(), started(create=True), Settled(at=AT, ref=VIEW, remote_id=None)
    )

    assert (memory.remote_id, memory.last, memory.exists) == (None, None, False)


def test_rewritten_fields() -> None:
    """Fields the service rewrote belong to the write before them, and go with the next."""
    pair = (Rewritten(("name",), "a", "b"),)
    first = remembered(started(), written(), Stored(run=RUN, at=AT, ref=VIEW, rewritten=pair))
    second = remembered(
        started(), written(), Stored(run=RUN, at=AT, ref=VIEW, rewritten=pair), started(), written()
    )

    assert first.last is not None
    assert second.last is not None
    assert (first.last.rewritten, second.last.rewritten) == (pair, ())
