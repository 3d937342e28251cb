"""docs/journal.md says what is so."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from harness.doors import typed
from harness.repositories import git, repository
from harness.workspaces import examples_at

from reconciler.document import Json
from reconciler.journal.entries import (
    Arrived,
    Entry,
    Forgotten,
    Identified,
    Kept,
    Moved,
    Override,
    RefusedEntry,
    Renamed,
    Rewritten,
    RunEntry,
    Settled,
    Started,
    Stored,
    WrittenEntry,
)
from reconciler.journal.entry_documents import NAMES, entry_document
from reconciler.resource import Ref

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "journal.md").read_text(encoding="utf-8")
REF = Ref("SLO", "a")
PAIR = (Rewritten(("name",), "a", "b"),)
ENTRIES: list[Entry] = [
    RunEntry("r", "at", "alice", "abc", "sha256:0", "apply", {"written": 1}),
    Started("r", "at", REF, "create", {}, "q", None, "", protect=True),
    Identified("r", "at", REF, 7),
    WrittenEntry("r", "at", REF, 7, "said", adopted=True, revision="3", instead_of=8),
    Stored("r", "at", REF, PAIR),
    RefusedEntry("r", "at", REF, "no"),
    Settled("at", REF, 7),
    Override("at", "because"),
    Renamed("at", REF, Ref("SLO", "b"), "r"),
    Forgotten("at", REF),
    Moved("at", "r", "git:refs/reconciler/local"),
    Arrived("at", "r", ".reconciler/local.journal.jsonl"),
    Kept("at", REF, 7, exists=True, attempts=1, declared={}, rewritten=PAIR, instead_of=8),
]


def keys(document: Json) -> set[str]:
    """Give every key of a document, at any depth."""
    if isinstance(document, dict):
        return set(document).union(*map(keys, document.values()))
    if isinstance(document, list):
        return set().union(*map(keys, document))
    return set()


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: NAMES[type(entry)])
def test_every_field_is_documented(entry: Entry) -> None:
    """The row of an entry names every field that it can have."""
    rows = {row[0]: row for row in re.findall(r"^\| `(\w+)` \|(.*)\|(.*)\|$", PAGE, re.MULTILINE)}
    _, when, fields = rows[NAMES[type(entry)]]

    said = set(re.findall(r"`(\w+)`", when + fields)) | {"entry", "at", "ref", "written"}
    assert keys(entry_document(entry)) - said == set()


def test_every_entry_is_documented() -> None:
    """No kind of entry is left out."""
    assert {type(entry) for entry in ENTRIES} == set(NAMES)


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
