"""What other processes read ahead is what this one would have read, and none outlives the run."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from harness.workspaces import ALERT, DASHBOARD, PROJECT, SLO, Workspace
from wrong_texts import TEXTS

from reconciler.syntax import read_text as read_ahead
from reconciler.syntax.diagnostic import Complaint
from reconciler.syntax.files import File
from reconciler.syntax.read_text import ReadAhead, ReadResult, read_here, reading_ahead

SHORT = 3


@pytest.fixture(autouse=True)
def _eager(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_ahead, "WORTHWHILE", 0)
    monkeypatch.setattr(read_ahead, "FIRST", 0)
    monkeypatch.setattr(read_ahead, "_cores", lambda: 3)


def written(folder: Path) -> list[File]:
    """Write every text that is wrong in a way of its own, and some good ones."""
    contents = [content for case in TEXTS for content in case.files.values()]
    made = []
    for nth, content in enumerate([*contents, SLO, ALERT, DASHBOARD, f"{SLO}---\n{ALERT}"]):
        for suffix in ("yaml", "json"):
            path = folder / f"{nth:03}.{suffix}"
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
            made.append(File(path, path.name))
    return [*made, File(folder / "missing.yaml", "missing.yaml")]


def shown(arrived: ReadResult | None) -> Any:
    """Give all that is known of a file, in a form that can be compared."""
    assert arrived is not None
    if isinstance(arrived.reading, Complaint):
        return arrived
    lines = arrived.reading.lines
    documents = [
        (repr(document.value), document.start, document.lines.text)
        for document in arrived.reading.documents
    ]
    return arrived.digest, lines.text, [*lines.squeezed], documents, arrived.reading.flaws


def processes() -> set[str]:
    """Give the processes that this one has started and not ended."""
    own = str(os.getpid())
    found = (Path(path, "stat") for path in Path("/proc").iterdir() if path.name.isdigit())
    texts = {path.parent.name: _text_of(path).rpartition(")")[2].split() for path in found}
    return {number for number, words in texts.items() if words[1:2] == [own]}


def _text_of(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def taken(ahead: ReadAhead, files: list[File]) -> Iterator[ReadResult | None]:
    """Take every file in its turn."""
    return map(ahead.take, files)


@pytest.mark.slow
def test_as_it_is_read_here(tmp_path: Path) -> None:
    """Values, places, flaws, digests and complaints are those of reading here, file by file."""
    files = written(tmp_path)
    before = processes()

    with reading_ahead(files, [tmp_path]) as found:
        assert len(processes() - before) == read_ahead.MOST_PROCESSES
        told = [shown(read_result) for read_result in taken(found, files)]

    assert told == [shown(read_here(file, [tmp_path])) for file in files]
    assert processes() == before


@pytest.mark.parametrize(
    "start",
    [
        "raise SystemExit(1)",
        "import sys; sys.stdout.write('half')",
        "import sys; sys.stdout.buffer.write((99).to_bytes(8, 'big') + b'cut')",
    ],
)
def test_a_process_that_dies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, start: str) -> None:
    """A process that tells nothing, or only a part, leaves its files to be read here."""
    monkeypatch.setattr(read_ahead, "_START", start)
    files = written(tmp_path)[:SHORT]

    with reading_ahead(files, [tmp_path]) as found:
        assert [*taken(found, files)] == [None] * SHORT


def test_a_process_that_cannot_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no process can be started, everything is read here."""
    monkeypatch.setattr("sys.executable", str(tmp_path / "nothing"))
    files = written(tmp_path)[:SHORT]

    with reading_ahead(files, [tmp_path]) as found:
        assert [*taken(found, files)] == [None] * SHORT


def test_one_that_is_not_waited_for(tmp_path: Path) -> None:
    """A run that stops in the middle ends what it started."""
    files = written(tmp_path)
    before = processes()

    def stopped() -> None:
        with reading_ahead(files, [tmp_path]) as found:
            found.take(files[0])
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()

    assert processes() == before


def test_little_is_read_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is soon read starts no process, nor does a machine with one core."""
    files = written(tmp_path)[:SHORT]
    before = processes()

    monkeypatch.setattr(read_ahead, "_cores", lambda: 1)
    with reading_ahead(files, [tmp_path]):
        assert processes() == before
    monkeypatch.setattr(read_ahead, "_cores", lambda: 2)
    monkeypatch.setattr(read_ahead, "WORTHWHILE", 1_000_000)
    with reading_ahead(files, [tmp_path]):
        assert processes() == before


def test_names_of_another_encoding(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where names of files are not UTF-8, nothing is read ahead: another process has no locale."""
    monkeypatch.undo()
    assert read_ahead._cores() == len(os.sched_getaffinity(0))

    monkeypatch.setattr("sys.getfilesystemencoding", lambda: "iso8859-1")

    assert read_ahead._cores() == 1


def test_a_run_says_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A workspace that was read ahead is validated and planned as one that was read here."""
    project = Workspace(tmp_path)
    project.write("reconciler.yaml", PROJECT)
    project.write("good.yaml", f"{SLO}---\n{ALERT}")
    project.write("board.yaml", DASHBOARD.replace("    name:", "    nmae:"))
    project.write("named.yaml", DASHBOARD.partition("spec:")[0] + "spec: {file: board.json}\n")
    project.write("board.json", json.dumps({"name": "Board", "layout": {"sections": []}}))
    project.write("stray.json", "{}")
    project.write("torn.yaml", "a: [")

    def said() -> list[tuple[int, str]]:
        commands = (["validate", "--format", "json"], ["plan", "good.yaml", "--format", "json"])
        return [(ran.code, ran.out) for ran in (project.run(*command) for command in commands)]

    told = said()
    monkeypatch.setattr(read_ahead, "WORTHWHILE", 1 << 60)

    assert told == said()
    assert [code for code, _ in told] == [4, 4]
