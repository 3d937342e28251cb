"""A journal told by example: the line of each entry, their chain, and who holds it."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from harness.golden import Golden
from harness.stores import lease
from journals import AT, RUN, VIEW

from reconciler.document import ABSENT, Json
from reconciler.errors import JournalError
from reconciler.journal.content import (
    entry_document,
    header_document,
    line_of,
    parse_entry,
    parse_header,
    parse_line,
)
from reconciler.journal.entries import (
    ApprovalEntry,
    Backup,
    Compacted,
    Entry,
    Header,
    IdentifiedEntry,
    LastWrite,
    OverrideEntry,
    RefusedEntry,
    RunEntry,
    Settled,
    Started,
    Stored,
    WrittenEntry,
)
from reconciler.journal.line_fields import Rewritten
from reconciler.journal.store import (
    RENEWED_AFTER,
    TERM,
    Lease,
    LockRecord,
    parse_record,
    record_text,
)

ABOUT: dict[str, Json] = {"at": AT, "ref": "SavedView/errors"}
PAIRS = (
    Rewritten(("a", 0), "sent", "got"),
    Rewritten(("b",), ABSENT, None),
    Rewritten((), 1, ABSENT),
)
PAIRED: list[Json] = [
    {"path": ["a", 0], "sent": "sent", "got": "got"},
    {"path": ["b"], "got": None},
    {"path": [], "sent": 1},
]
LINES: list[tuple[Entry, dict[str, Json]]] = [
    (
        RunEntry(run=RUN, at=AT, actor="someone", commit="abc", digest="sha256:1", command="apply"),
        {
            "entry": "run",
            "at": AT,
            "run": RUN,
            "actor": "someone",
            "commit": "abc",
            "digest": "sha256:1",
            "command": "apply",
        },
    ),
    (
        RunEntry(
            run=RUN, at=AT, actor="", commit="", digest="", command="", outcomes={"written": 2}
        ),
        {
            "entry": "run",
            "at": AT,
            "run": RUN,
            "actor": "",
            "commit": "",
            "digest": "",
            "command": "",
            "outcomes": {"written": 2},
        },
    ),
    (
        Started(
            run=RUN,
            at=AT,
            ref=VIEW,
            operation="create",
            declared={"name": "x"},
            request_id="q",
            remote_id=None,
            seen="sha256:2",
        ),
        {
            **ABOUT,
            "entry": "started",
            "run": RUN,
            "operation": "create",
            "remoteId": None,
            "requestId": "q",
            "seen": "sha256:2",
            "declared": {"name": "x"},
        },
    ),
    (
        Started(
            run=RUN,
            at=AT,
            ref=VIEW,
            operation="replace",
            declared={},
            request_id="q",
            remote_id=7,
            seen="",
            protect=True,
        ),
        {
            **ABOUT,
            "entry": "started",
            "run": RUN,
            "operation": "replace",
            "remoteId": 7,
            "requestId": "q",
            "seen": "",
            "declared": {},
            "protect": True,
        },
    ),
    (
        IdentifiedEntry(run=RUN, at=AT, ref=VIEW, remote_id=7),
        {**ABOUT, "entry": "identified", "run": RUN, "remoteId": 7},
    ),
    (
        WrittenEntry(run=RUN, at=AT, ref=VIEW, remote_id=7),
        {**ABOUT, "entry": "written", "run": RUN, "remoteId": 7},
    ),
    (
        WrittenEntry(run=RUN, at=AT, ref=VIEW, remote_id=None, message="why"),
        {**ABOUT, "entry": "written", "run": RUN, "remoteId": None, "message": "why"},
    ),
    (
        Stored(run=RUN, at=AT, ref=VIEW, rewritten=PAIRS),
        {**ABOUT, "entry": "stored", "run": RUN, "rewritten": PAIRED},
    ),
    (
        WrittenEntry(run=RUN, at=AT, ref=VIEW, remote_id=7, instead_of=8),
        {**ABOUT, "entry": "written", "run": RUN, "remoteId": 7, "insteadOf": 8},
    ),
    (
        RefusedEntry(run=RUN, at=AT, ref=VIEW, message="no"),
        {**ABOUT, "entry": "refused", "run": RUN, "message": "no"},
    ),
    (Settled(at=AT, ref=VIEW, remote_id="id"), {**ABOUT, "entry": "settled", "remoteId": "id"}),
    (Settled(at=AT, ref=VIEW, remote_id=None), {**ABOUT, "entry": "settled", "remoteId": None}),
    (OverrideEntry(at=AT, reason="because"), {"entry": "override", "at": AT, "reason": "because"}),
    (
        ApprovalEntry(at=AT, principal="alice", fingerprint="SHA256:0", until=AT),
        {
            "entry": "approved",
            "at": AT,
            "principal": "alice",
            "fingerprint": "SHA256:0",
            "until": AT,
        },
    ),
    (
        Compacted(at=AT, ref=VIEW, remote_id=None, exists=False, attempts=3, protect=False),
        {
            **ABOUT,
            "entry": "kept",
            "remoteId": None,
            "exists": False,
            "attempts": 3,
            "protect": False,
        },
    ),
    (
        Compacted(
            at=AT, ref=VIEW, remote_id=7, exists=True, attempts=3, protect=False, instead_of=8
        ),
        {
            **ABOUT,
            "entry": "kept",
            "remoteId": 7,
            "exists": True,
            "attempts": 3,
            "protect": False,
            "insteadOf": 8,
        },
    ),
    (
        Backup(
            run=RUN,
            at=AT,
            ref=VIEW,
            remote_id=7,
            size=12,
            live={"name": "x"},
            unseen=(("a", "b"),),
        ),
        {
            **ABOUT,
            "entry": "backup",
            "run": RUN,
            "remoteId": 7,
            "size": 12,
            "live": {"name": "x"},
            "unseen": [["a", "b"]],
        },
    ),
    (
        Backup(run=RUN, at=AT, ref=VIEW, remote_id=None, size=2_000_000),
        {**ABOUT, "entry": "backup", "run": RUN, "remoteId": None, "size": 2_000_000},
    ),
    (
        Compacted(
            at=AT,
            ref=VIEW,
            remote_id=7,
            exists=True,
            attempts=1,
            protect=True,
            last=LastWrite(
                remote_id=6, at="2025-01-30T09:00:00Z", declared={"name": "x"}, rewritten=PAIRS
            ),
        ),
        {
            **ABOUT,
            "entry": "kept",
            "remoteId": 7,
            "exists": True,
            "attempts": 1,
            "protect": True,
            "last": {
                "remoteId": 6,
                "at": "2025-01-30T09:00:00Z",
                "declared": {"name": "x"},
                "rewritten": PAIRED,
            },
        },
    ),
]


@pytest.mark.parametrize(("entry", "document"), LINES)
def test_lines(entry: Entry, document: dict[str, Json]) -> None:
    """Each entry has the fields that docs/journal-entries.md gives, and is read back from them."""
    assert entry_document(entry) == document
    assert parse_entry(document, 2) == entry


LEFT_OUT = frozenset(("message", "outcomes", "protect", "last", "insteadOf", "live", "unseen"))
"""What an entry may lack, save that a refusal has a message."""


@pytest.mark.parametrize(
    ("document", "name"),
    [
        (document, name)
        for _, document in LINES
        for name in document
        if name not in LEFT_OUT or document["entry"] == "refused"
    ],
)
def test_missing_field(document: dict[str, Json], name: str) -> None:
    """An entry that lacks a field it must have is refused with its line."""
    cut = {key: value for key, value in document.items() if key != name}

    with pytest.raises(JournalError, match=r"^line 12 of the journal cannot be understood$"):
        parse_entry(cut, 12)


KEPT = LINES[-1][1]
RUNS = LINES[1][1]
BACKUP = next(document for _, document in LINES if document["entry"] == "backup")


@pytest.mark.parametrize(
    "wrong",
    [
        {**KEPT, "attempts": True},
        {**KEPT, "attempts": "1"},
        {**KEPT, "last": None},
        {**KEPT, "last": {}},
        {**KEPT, "last": {"remoteId": 1, "at": AT, "declared": None, "rewritten": []}},
        {**RUNS, "outcomes": {"written": True}},
        {**RUNS, "outcomes": []},
        {**LINES[4][1], "remoteId": None},
        {**LINES[5][1], "remoteId": True},
        {**LINES[5][1], "remoteId": 1.5},
        {**LINES[7][1], "rewritten": [{"path": "a"}]},
        {**LINES[7][1], "rewritten": ["a"]},
        {**BACKUP, "live": None},
        {**BACKUP, "live": []},
        {**BACKUP, "size": "12"},
        {**BACKUP, "unseen": ["a"]},
        {**BACKUP, "unseen": {}},
    ],
)
def test_wrong_value(wrong: dict[str, Json]) -> None:
    """A value of another type is refused, a boolean in the place of a number too."""
    with pytest.raises(JournalError, match="line 3 "):
        parse_entry(wrong, 3)


def test_what_is_left_out() -> None:
    """What older journals leave out of an entry is read as none of it."""
    begun = parse_entry({**LINES[3][1], "protect": 1}, 2)
    path = parse_entry({**LINES[7][1], "rewritten": [{"path": ["a", None, 0, {}]}]}, 2)

    assert isinstance(begun, Started)
    assert isinstance(path, Stored)
    assert begun.protect is False
    assert path.rewritten == (Rewritten(("a", 0), ABSENT, ABSENT),)
    assert parse_entry({**LINES[7][1], "rewritten": "x"}, 2) == Stored(
        run=RUN, at=AT, ref=VIEW, rewritten=()
    )


def test_headers() -> None:
    """A header names environment and target, and the journal that it continues if any."""
    plain, after = (
        Header(environment="local", target="emulator", created=AT),
        Header(environment="local", target="emulator", created=AT, continues="0123"),
    )
    document: dict[str, Json] = {
        "journal": 1,
        "environment": "local",
        "target": "emulator",
        "created": AT,
    }

    assert header_document(plain) == document
    assert header_document(after) == {**document, "continues": "0123"}
    assert parse_header(document) == plain
    assert parse_header(header_document(after)) == after
    assert parse_header({"journal": 1}) == Header(environment="", target="", created="")
    with pytest.raises(JournalError, match="not the header of a journal of this version"):
        parse_header({**document, "journal": 2})


def test_chain() -> None:
    """A line is compact, keeps its letters and ends in a sum of itself and the sum before."""
    line, total = line_of({"a": [1, "é"], "b": "\u2028"}, "before")
    escaped, _ = line_of({"a": "\ud83d"}, "")

    assert line == f'{{"a":[1,"é"],"b":"\u2028","sum":"{total}"}}\n'
    assert total == "26d8fe3c71b71256"
    assert escaped.startswith('{"a":"\\ud83d","sum":"')
    assert parse_line(line, "before", 1) == ({"a": [1, "é"], "b": "\u2028"}, total)


@pytest.mark.parametrize(
    ("line", "before", "said"),
    [
        ("", "", "line 5 of the journal is not JSON"),
        ("[]", "", "line 5 of the journal is not JSON"),
        ("[" * 100_000, "", "line 5 of the journal is not JSON"),
        ("{}", "", "line 5 of the journal was changed, or a line before it is missing"),
        (line_of({"a": 1}, "x")[0], "y", "line 5 of the journal was changed"),
    ],
    ids=["empty", "list", "deep", "unsummed", "other"],
)
def test_broken_chain(line: str, before: str, said: str) -> None:
    """A line that does not follow from the one before is refused, with its number and a way out."""
    with pytest.raises(JournalError, match=f"{said}.*\n.*from a whole copy"):
        parse_line(line, before, 5)


LEASE = lease(pid=7, run="run-1")


def test_lease_words(golden: Golden) -> None:
    """A lease says who holds it, since when, until when, and how to take it away."""
    golden(LEASE.words)
    golden(replace(LEASE, actor="").words)
    assert LEASE.remedy == (
        ", at least until 2025-01-31T09:15:00Z; if that run is gone, take its lock away with "
        "`reconciler journal unlock owner-1`"
    )
    assert LEASE.renewed(datetime(2025, 2, 1, tzinfo=UTC)) == replace(
        LEASE, expires="2025-02-01T00:15:00Z"
    )
    assert (timedelta(minutes=15), timedelta(minutes=5)) == (TERM, RENEWED_AFTER)


def test_lock_record() -> None:
    """A lock's record is one line of JSON, with the end of the journal, and the lease if any."""
    held, free = record_text(LockRecord(LEASE, "0123")), record_text(LockRecord(None, "0123"))

    assert json.loads(held) == {
        "owner": "owner-1",
        "host": "host",
        "pid": 7,
        "since": AT,
        "expires": "2025-01-31T09:15:00Z",
        "actor": "someone",
        "run": "run-1",
        "ended": "0123",
    }
    assert free == b'{"ended": "0123"}\n'
    assert held.endswith(b"}\n")


@pytest.mark.parametrize(
    ("text", "record"),
    [
        (b"", LockRecord()),
        (b"[]", LockRecord()),
        (b"\xff", LockRecord()),
        (b"[" * 100_000, LockRecord()),
        (b"{}", LockRecord()),
        (b'{"ended": "x"}', LockRecord(None, "x")),
        (b'{"pid": "7", "ended": "x"}', LockRecord(None, "x")),
        (b'{"pid": 7}', LockRecord(Lease(owner="", host="", pid=7, since="", expires=""))),
        (
            b'{"pid": 7, "owner": 5}',
            LockRecord(Lease(owner="5", host="", pid=7, since="", expires="")),
        ),
    ],
    ids=["none", "list", "bytes", "deep", "bare", "end", "text", "pid", "owner"],
)
def test_any_record(text: bytes, record: LockRecord) -> None:
    """A record that cannot be read holds nothing; what it leaves out is empty."""
    assert parse_record(text) == record
