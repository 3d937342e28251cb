"""A journal of which an earlier run knows what it adds up to says what the whole one says."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from harness.golden import Golden
from harness.stores import journal_at
from hypothesis import given
from hypothesis import strategies as st
from journals import AT, VIEW, all_entries, filled, started, written

from reconciler.errors import JournalError
from reconciler.journal import content as contents
from reconciler.journal import journal as journals
from reconciler.journal.content import (
    Content,
    entry_document,
    header_document,
    line_of,
    read_content,
)
from reconciler.journal.entries import Entry, Header, RunEntry
from reconciler.journal.history import History
from reconciler.journal.journal import Journal, checkpoint, resumed, worth_it
from reconciler.journal.line_fields import LazyJson, held
from reconciler.model import Ref
from reconciler.runtime.cache import VARIABLE, Cache, open_cache

HEADER = Header(environment="default", target="https://example.com", created=AT)
CUT = b'{"entry":"wri'
SEAL = "sealed:v1:0123456789abcdef"


def text_of(entries: Sequence[Entry]) -> bytes:
    """Give the text of a journal."""
    lines, total = [], ""
    for document in [header_document(HEADER), *map(entry_document, entries)]:
        line, total = line_of(document, total)
        lines.append(line)
    return "".join(lines).encode()


def whole(text: bytes) -> tuple[Content, History]:
    """Read all of it."""
    content, history = read_content(text, "here"), History()
    history.add(content.entries)
    return content, history


def after(text: bytes, known: bytes) -> tuple[Content, History]:
    """Read what a checkpoint does not cover."""
    history = History()
    content = resumed(text, known, "here", history)
    assert content is not None
    return content, history


def same(mine: tuple[Content, History], all_read: tuple[Content, History]) -> None:
    """Hold what was resumed against what was read whole, the cheap questions first."""
    content, read = mine[0], all_read[0]
    assert (content.header, content.torn, content.end) == (read.header, read.torn, read.end)
    assert (content.count, content.last) == (read.count, read.last)
    assert mine[1] == all_read[1]
    assert list(mine[1].memories) == list(all_read[1].memories)
    assert (content.entries, content.sums) == (read.entries, read.sums)
    assert (content.count, content.last) == (read.count, read.last)


@given(
    st.lists(all_entries, max_size=20),
    st.lists(all_entries, max_size=8),
    st.lists(all_entries, max_size=8),
    st.sampled_from([b"", CUT]),
)
def test_same_as_the_whole(
    before: list[Entry], later: list[Entry], latest: list[Entry], cut: bytes
) -> None:
    """A checkpoint, and one made of it and more lines, add up to what all lines do."""
    text = text_of(before)
    known = checkpoint(text, *whole(text))
    same(after(text + cut, known), whole(text + cut))

    longer = text_of([*before, *later])
    again = checkpoint(longer, *after(longer, known))
    longest = text_of([*before, *later, *latest])
    same(after(longest, again), whole(longest))


@given(st.lists(all_entries, min_size=1, max_size=8), st.data())
def test_other_bytes(entries: list[Entry], data: st.DataObject) -> None:
    """Where one byte that it covers is another one, or is missing, it says nothing."""
    text = text_of(entries)
    known = checkpoint(text, *whole(text))
    at = data.draw(st.integers(0, len(text) - 1))
    other = text[:at] + bytes([text[at] ^ 1]) + text[at + 1 :]

    assert resumed(other, known, "here", History()) is None
    assert resumed(text[:-1], known, "here", History()) is None
    assert resumed(b"", known, "here", History()) is None
    assert resumed(text, None, "here", History()) is None


@given(st.lists(all_entries, max_size=8), st.lists(all_entries, max_size=8))
def test_every_end_that_it_had(before: list[Entry], later: list[Entry]) -> None:
    """A journal that is known by a checkpoint knows every end that it had, and no other."""
    text, longer = text_of(before), text_of([*before, *later])
    known = checkpoint(text, *whole(text))

    assert all(after(longer, known)[0].had(end) for end in whole(longer)[0].sums)
    assert not after(longer, known)[0].had("0" * 16)


def test_folded() -> None:
    """A memory whose documents are text again is the same memory."""
    text = text_of([started(), written(), started(declared={"title": "mine"})])
    history = after(text, checkpoint(text, *whole(text)))[1]
    memory, same_memory = history.of(VIEW), whole(text)[1].of(VIEW)
    assert memory == same_memory

    memory.fold()

    assert memory.last is not None
    assert memory.pending is not None
    assert isinstance(held(memory.last, "declared"), LazyJson)
    assert isinstance(held(memory.pending, "declared"), LazyJson)
    assert memory == same_memory


def test_no_document_in_it() -> None:
    """What it holds of a document is where that stands: no value, and no seal of a secret."""
    text = text_of([started(declared={"token": SEAL, "title": "mine"}), written()])
    known = checkpoint(text, *whole(text))

    assert b"mine" not in known
    assert SEAL.encode() not in known
    assert after(text, known)[1].of(VIEW).last is not None


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cache:
    """Give an empty cache in which even the shortest journal is worth a checkpoint."""
    monkeypatch.setattr(journals, "WORTH", 0)
    return open_cache({VARIABLE: str(tmp_path / "cache")}, tmp_path / "project")


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Give the numbers of the lines that are read."""
    numbers: list[int] = []
    parse_line = contents.parse_line

    def counted(line: str, previous_sum: str, number: int) -> object:
        numbers.append(number)
        return parse_line(line, previous_sum, number)

    monkeypatch.setattr(contents, "parse_line", counted)
    return numbers


def opened(file: Path, cache: Cache) -> Journal:
    """Give the journal in a file, read."""
    journal = journal_at(file)
    journal.cache = cache
    journal.load()
    return journal


def test_only_what_came_since(tmp_path: Path, cache: Cache, parsed: list[int]) -> None:
    """A second run reads none of the lines that a first one read, and a third what came since."""
    file = tmp_path / "journal.jsonl"
    filled(file, [started(), written()])
    parsed.clear()
    first = opened(file, cache)
    assert parsed == [1, 2, 3]

    parsed.clear()
    second = opened(file, cache)
    assert parsed == []
    assert second.history.of(VIEW) == first.history.of(VIEW)

    filled(file, [started()])
    parsed.clear()
    third = opened(file, cache)
    assert parsed == [4]
    assert third.history.of(VIEW).pending is not None
    parsed.clear()
    assert len(third.entries) == 3
    assert parsed == [1, 2, 3]


def test_append_behind_it(tmp_path: Path, cache: Cache) -> None:
    """A run that knows a journal by a checkpoint writes the lines that any other would write."""
    file, other = tmp_path / "journal.jsonl", tmp_path / "other.jsonl"
    filled(file, [started(), written()])
    other.write_bytes(file.read_bytes())
    opened(file, cache)
    for path in (file, other):
        journal = opened(path, cache if path is file else Cache())
        with journal.locked():
            journal.append([started(Ref("SavedView", "another"))])
            journal.append([written(Ref("SavedView", "another"), 8)])
        assert len(journal.entries) == 4

    assert file.read_bytes() == other.read_bytes()


def test_damage_is_still_told(tmp_path: Path, cache: Cache, golden: Golden) -> None:
    """A line that was changed since the checkpoint is told as ever."""
    file = tmp_path / "journal.jsonl"
    filled(file, [started(), written()])
    opened(file, cache)
    file.write_bytes(file.read_bytes().replace(b'"remoteId":7', b'"remoteId":8'))

    with pytest.raises(JournalError) as raised:
        opened(file, cache)
    golden(str(raised.value).replace(str(tmp_path), "TMP"))


def test_compacted_since(tmp_path: Path, cache: Cache) -> None:
    """A journal that was compacted since is read anew."""
    file = tmp_path / "journal.jsonl"
    filled(file, [started(), written(), started(), written()])
    before = opened(file, cache).history.of(VIEW)
    journal = journal_at(file)
    with journal.locked():
        run = RunEntry(run="r", at=AT, actor="a", commit="", digest="", command="compact")
        journal.compact(run)

    now = opened(file, cache)
    assert now.history.of(VIEW) == before
    assert now.content.before is None


def test_old_copy(tmp_path: Path, cache: Cache) -> None:
    """That a journal is an old copy, or was only added to, is told by all its sums."""
    file = tmp_path / "journal.jsonl"
    filled(file, [started(), written()])
    short = file.read_bytes()
    assert not opened(file, cache).is_old_copy
    filled(file, [started()])
    opened(file, cache)
    file.write_bytes(short)

    assert opened(file, cache).is_old_copy


def test_short_ones_make_none(tmp_path: Path) -> None:
    """What is read in a moment leaves nothing in the cache, and no cache asks for none."""
    cache = open_cache({VARIABLE: str(tmp_path / "cache")}, tmp_path / "project")
    file = tmp_path / "journal.jsonl"
    filled(file, [started(), written()])
    opened(file, cache)

    assert cache.held() == (0, 0)
    text = file.read_bytes()
    assert not worth_it(text, whole(text)[0])
