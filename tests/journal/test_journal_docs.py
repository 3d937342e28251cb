"""docs/journal.md and docs/journal-entries.md say what is so."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import get_args

import pytest
from harness.doors import typed
from harness.repositories import git, repository
from harness.workspaces import examples_at

from reconciler.document import Json
from reconciler.journal.content import entry_document
from reconciler.journal.entries import (
    ApprovalEntry,
    Backup,
    Compacted,
    Drifted,
    Entry,
    Forgotten,
    IdentifiedEntry,
    ImportedEntry,
    LastWrite,
    Moved,
    MovedIn,
    OverrideEntry,
    RefusedEntry,
    Renamed,
    RunEntry,
    Settled,
    Started,
    Stored,
    Unfrozen,
    WatchedEntry,
    WrittenEntry,
)
from reconciler.journal.line_fields import Rewritten, SeenDrift, SeenVerdict
from reconciler.model import Ref

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "journal.md").read_text(encoding="utf-8")
ENTRIES_PAGE = (ROOT / "docs" / "journal-entries.md").read_text(encoding="utf-8")
REF = Ref("SLO", "a")
PAIR = (Rewritten(("name",), "a", "b"),)
ENTRIES: list[Entry] = [
    RunEntry(
        run="r",
        at="at",
        actor="alice",
        commit="abc",
        digest="sha256:0",
        command="apply",
        outcomes={"written": 1},
    ),
    Started(
        run="r",
        at="at",
        ref=REF,
        operation="create",
        declared={},
        request_id="q",
        remote_id=None,
        seen="",
        protect=True,
    ),
    Backup(run="r", at="at", ref=REF, remote_id=7, size=2, live={}, unseen=(("a",),)),
    IdentifiedEntry(run="r", at="at", ref=REF, remote_id=7),
    WrittenEntry(
        run="r",
        at="at",
        ref=REF,
        remote_id=7,
        message="said",
        adopted=True,
        revision="3",
        instead_of=8,
    ),
    Stored(run="r", at="at", ref=REF, rewritten=PAIR),
    ImportedEntry(
        run="r",
        at="at",
        ref=REF,
        remote_id=7,
        origin="live",
        declared={},
        adopted=True,
        revision="3",
    ),
    RefusedEntry(run="r", at="at", ref=REF, message="no"),
    Settled(at="at", ref=REF, remote_id=7),
    OverrideEntry(at="at", reason="because"),
    Unfrozen(at="at", reason="because", frozen="it was"),
    ApprovalEntry(at="at", principal="alice", fingerprint="SHA256:0", until="at"),
    Renamed(at="at", ref=REF, was=Ref("SLO", "b"), run="r"),
    Forgotten(at="at", ref=REF),
    WatchedEntry(at="at", run="r", until="at", found=(SeenVerdict(ref=REF, verdict="same"),)),
    Drifted(at="at", found=(SeenDrift(ref=REF, how="sha256:0", since="at"),), over=(REF,)),
    Moved(at="at", run="r", to="git:refs/reconciler/local"),
    MovedIn(at="at", run="r", origin=".reconciler/local.journal.jsonl"),
    Compacted(
        at="at",
        ref=REF,
        remote_id=7,
        exists=True,
        attempts=1,
        protect=True,
        instead_of=8,
        last=LastWrite(
            remote_id=7, at="at", declared={}, rewritten=PAIR, revision="3", origin="live"
        ),
    ),
]


def keys(document: Json) -> set[str]:
    """Give every key of a document, at any depth."""
    if isinstance(document, dict):
        return set(document).union(*map(keys, document.values()))
    if isinstance(document, list):
        return set().union(*map(keys, document))
    return set()


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.entry)
def test_every_field_is_documented(entry: Entry) -> None:
    """The row of an entry names every field that it can have."""
    found = re.findall(r"^\| `(\w+)` \|(.*)\|(.*)\|$", ENTRIES_PAGE, re.MULTILINE)
    rows = {row[0]: row for row in found}
    _, when, fields = rows[entry.entry]

    said = set(re.findall(r"`(\w+)`", when + fields)) | {"entry", "at", "ref", "written"}
    assert keys(entry_document(entry)) - said == set()


def test_every_entry_is_documented() -> None:
    """No kind of entry is left out."""
    assert {type(entry) for entry in ENTRIES} == set(get_args(Entry))


def examples(folder: Path, place: str) -> Path:
    """Copy the examples into a checkout, with the journal of `local` in a place."""
    shop = repository(folder / "git")
    examples_at(shop)
    git(shop, "config", "user.email", "you@example.com")
    if place:
        text = (shop / "reconciler.yaml").read_text()
        text = text.replace("journal: .reconciler/local.journal.jsonl", f"journal: {place}")
        (shop / "reconciler.yaml").write_text(text)
    return shop


@pytest.mark.parametrize("place", ["", "git:refs/reconciler/local"])
def test_commands_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    """Every command line of the page runs, in order, with a journal in a file and in git."""
    shop = examples(tmp_path, place)
    monkeypatch.chdir(shop)

    blocks = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    assert len(lines) >= 8
    said = ""
    for line in lines:
        ran = typed(*shlex.split(line)[1:])
        assert ran.code == 0, (line, ran.err)
        said += ran.out
    assert "you@example.com" in said
    assert (shop / ".reconciler" / "local.journal.jsonl").exists() == (not place)


@pytest.mark.promise("P17")
@pytest.mark.parametrize("place", ["", "git:refs/reconciler/local"])
def test_moves_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    """The move that the page shows runs on a journal in a file and one in git."""
    shop = examples(tmp_path, place)
    monkeypatch.chdir(shop)
    (shown,) = re.findall(r"^reconciler (journal move --to .*)$", PAGE, re.MULTILINE)

    applied, moved, planned = (typed(*shlex.split(one)) for one in ("apply --yes", shown, "plan"))

    assert (applied.code, moved.code, planned.code) == (0, 0, 4)
    assert "write `journal: git:refs/reconciler/production`" in moved.err
