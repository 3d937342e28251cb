"""A journal in a bucket, each append an object of its own."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import obstore
import pytest
from harness.stores import BUCKET, Opening, journal_on, opening
from journals import WRITE, refused, started

from reconciler.errors import JournalError, Locked
from reconciler.journal.entries import RunEntry
from reconciler.journal.journal import Journal
from reconciler.journal.object_store import Bucket, ObjectStore

pytestmark = pytest.mark.usefixtures("in_s3")

RUN = RunEntry(
    run="run-1",
    at="2025-01-31T09:00:00Z",
    actor="someone",
    commit="abc",
    digest="",
    command="compact",
)


class Crash(BaseException):
    """The process is gone."""


@pytest.fixture
def place(tmp_path: Any) -> Opening:
    return opening("s3", tmp_path)


def bucket_of(place: Opening) -> Bucket:
    store = place()
    assert isinstance(store, ObjectStore)
    return store._bucket


def read(place: Opening) -> Journal:
    """Read the journal as another machine would."""
    journal = journal_on(place())
    journal.load()
    return journal


def filled(place: Opening, appends: int = 3) -> Journal:
    """Write a journal in some appends."""
    journal = journal_on(place())
    with journal.locked():
        for _ in range(appends):
            journal.append(WRITE)
    return journal


def crashing(
    monkeypatch: pytest.MonkeyPatch, point: int, moment: str, names: tuple[str, ...]
) -> list[str]:
    """Let the process die before or after its n-th request that writes."""
    asked: list[str] = []

    def dying(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            asked.append(name)
            here = len(asked) == point + 1
            if here and moment == "before":
                raise Crash
            answer = real(*arguments, **named)
            if here:
                raise Crash
            return answer

        return call

    for name in names:
        monkeypatch.setattr(obstore, name, dying(name, getattr(obstore, name)))
    return asked


@pytest.mark.parametrize("moment", ["before", "after"])
def test_death_while_compacting(
    place: Opening, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """Wherever compacting dies, the journal adds up to the same, and the next one ends the work."""
    asked: list[str] = []
    point = 0
    for point in range(20):
        filled(place)
        before = read(place)
        with monkeypatch.context() as context:
            asked = crashing(context, point, moment, ("put", "delete"))
            journal = journal_on(place())
            try:
                with journal.locked():
                    journal.compact(RUN)
            except Crash:
                pass
        left = place().holder()
        if left is not None:
            place().unlock(left.owner)
        assert read(place).history == before.history
        again = journal_on(place())
        with again.locked():
            again.compact(RUN)
            again.append([refused()])
        assert len(bucket_of(place).names("entries")) == 2
        if len(asked) <= point:
            break

    assert point == 4, asked  # lock, the lines, what is removed, and the lock


def test_death_while_appending(place: Opening, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever an append dies, all of its entries are there or none."""
    for point in range(20):
        before = read(place).entries
        with monkeypatch.context() as context:
            asked = crashing(context, point, "after", ("put",))
            journal = journal_on(place())
            try:
                with journal.locked():
                    journal.append(WRITE)
            except Crash:
                pass
        left = place().holder()
        if left is not None:
            place().unlock(left.owner)
        assert read(place).entries in (before, [*before, *WRITE])
        if len(asked) <= point:
            break

    assert point == 3  # lock, the lines, and the lock


def test_lost_answers(place: Opening, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write that came through, and whose answer was lost and asked for again, counts once."""
    real = obstore.put

    def twice(*arguments: Any, **named: Any) -> Any:
        real(*arguments, **named)
        return real(*arguments, **named)

    with monkeypatch.context() as context:
        context.setattr(obstore, "put", twice)
        filled(place, 2)

    assert read(place).entries == [*WRITE, *WRITE]
    assert place().holder() is None


def test_lock_lost_between_two_requests(place: Opening, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lock that is lost just before the entry is created lets no request follow."""
    journal = filled(place)
    real = obstore.put

    def paused(*arguments: Any, **named: Any) -> Any:
        if str(arguments[1]).startswith("entries/"):
            monkeypatch.setattr(obstore, "put", real)
            held = place().holder()
            assert held is not None
            place().unlock(held.owner)
        return real(*arguments, **named)

    with journal.locked():
        monkeypatch.setattr(obstore, "put", paused)
        with pytest.raises(Locked):
            journal.append([started()])


def test_stale_writer_after_compacting(place: Opening) -> None:
    """An entry that lands below a compacted journal is not part of it, and its writer is told."""
    filled(place, 3)
    late = journal_on(place())
    with late.locked():
        lease = place().holder()
        assert lease is not None
        place().unlock(lease.owner)
        with (again := journal_on(place())).locked():
            again.compact(RUN)
        kept = place().read()
        bucket_of(place).put("entries/0000000002.jsonl", b"stray\n")

        assert place().read() == kept
        with pytest.raises(Locked):
            late.append([started()])


@pytest.mark.parametrize("lost", [1, 2, 3])
def test_missing_object(place: Opening, lost: int) -> None:
    """An object that is missing in the middle is error 8, at the end it shows as an old copy."""
    filled(place, 3)
    bucket_of(place).delete([f"entries/{lost:010}.jsonl"])

    if lost == 3:
        assert read(place).is_old_copy
        return
    with pytest.raises(JournalError, match=r"missing|not a journal|line") as raised:
        read(place)
    assert raised.value.exit_code == 8


def test_foreign_objects(place: Opening) -> None:
    """Objects that are no appends of ours are left alone."""
    filled(place)
    foreign = ["entries/readme.txt", "entries/12.jsonl", "entries/000000000x.jsonl", "other"]
    for name in foreign:
        bucket_of(place).put(name, b"x")

    assert len(read(place).entries) == 6
    with (journal := journal_on(place())).locked():
        journal.compact(RUN)
    assert {name for name in bucket_of(place).names("") if name in foreign} == set(foreign)


@pytest.mark.parametrize(
    "text", [b"", b"{}", b"not json", b"[]", b'{"pid": "x"}', b"\xff", b"[" * 100_000]
)
def test_odd_lock(place: Opening, text: bytes) -> None:
    """A lock that cannot be read locks nothing, and the next run writes it anew."""
    bucket_of(place).put("lock.json", text)

    assert filled(place).entries == WRITE * 3


def test_no_bucket() -> None:
    """A bucket that is not there is error 8 that names it, before any write."""
    store = ObjectStore(Bucket("s3://no-such-bucket/x", os.environ))

    with pytest.raises(JournalError, match="no-such-bucket") as raised:
        store.read()
    assert "\n" not in str(raised.value)
    assert "canary" not in str(raised.value)


def test_no_service(unused_port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A service that does not answer is error 8, and shows no credential."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{unused_port}")

    with pytest.raises(JournalError) as raised:
        ObjectStore(Bucket(f"s3://{BUCKET}/x", os.environ)).read()
    assert "canary" not in str(raised.value)


@pytest.fixture
def hasty() -> Iterator[None]:
    """Let threads take turns as often as they can."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


@pytest.mark.usefixtures("hasty")
def test_opened_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Buckets that are opened at once all open, and leave the environment as it was."""
    monkeypatch.setenv("no_proxy", "a.test")
    monkeypatch.delenv("NO_PROXY", raising=False)

    def opened(number: int) -> bool:
        return Bucket(f"s3://{BUCKET}/at-once-{number}", os.environ)._opened is not None

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(opened, range(160)))

    assert os.environ["no_proxy"] == "a.test"
    assert "NO_PROXY" not in os.environ


def test_plain_http_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the usual variable, nothing is sent in the clear."""
    monkeypatch.delenv("AWS_ALLOW_HTTP")

    with pytest.raises(JournalError):
        ObjectStore(Bucket(f"s3://{BUCKET}/x", os.environ)).read()


def test_expiry_takes_nothing_over(place: Opening) -> None:
    """A lease that has ended long ago still locks: only a person takes it away."""
    journal = filled(place)
    journal.load()
    store = place()
    with journal.locked():
        lease = store.holder()
        assert lease is not None
        held = bucket_of(place).get("lock.json")
        assert held is not None
        old = replace(lease, expires="2001-01-01T00:00:00Z")
        text = held.content.replace(lease.expires.encode(), old.expires.encode())
        bucket_of(place).put("lock.json", text, held.version)

        with pytest.raises(Locked, match="2001-01-01"):
            store.lock(replace(lease, owner="other"))
