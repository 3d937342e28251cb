"""Sentences that people read, kept in a file beside each file of tests.

`test_graph.py` has its sentences in `said/graph.txt`, a part for each test. `WRITE_GOLDEN=1`
writes anew what the tests that run say; read the difference before you keep it. What no two
runs have alike stands there in capitals: the folder, hashes, random ids, addresses, moments of
today, who runs it, and in which process.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from socket import gethostname
from typing import Final, TypeAlias

import pytest

HEAD: Final = "==== "
NOTHING: Final = "(nothing)"
_ID: Final = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\b")
_HASH: Final = re.compile(r"\b(?=[a-f]*[0-9])[0-9a-f]{12,64}\b")
_ADDRESS: Final = re.compile(r"(127\.0\.0\.1|localhost):[0-9]{4,5}")
_CLOCK: Final = r"[T ][0-9:.]+Z?( UTC)?"

Golden: TypeAlias = Callable[..., None]
"""Takes a text, and by name what stands in the file for texts that differ from run to run."""


def file_of(tests: Path) -> Path:
    """Give the file that keeps what a file of tests holds of sentences."""
    return tests.parent / "said" / f"{tests.stem.removeprefix('test_')}.txt"


def parts_of(file: Path) -> dict[str, str]:
    """Map the tests of a file to what is kept of each; nothing where there is no file.

    Tests that are told the same stand above it one after the other.
    """
    parts: dict[str, str] = {}
    names: list[str] = []
    lines: list[str] = []
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    for line in [*text.splitlines(), HEAD]:
        if not line.startswith(HEAD):
            lines.append(line)
            continue
        if lines:
            parts |= dict.fromkeys(names, "\n".join(lines))
            names, lines = [], []
        names.append(line.removeprefix(HEAD))
    return parts


def _without_chance(text: str) -> str:
    """Give a text as every run has it."""
    text = _ADDRESS.sub("ADDRESS", _HASH.sub("HASH", _ID.sub("ID", text)))
    host = re.escape(gethostname())
    text = re.sub(rf"\b[\w.-]+@{host}\b", "SOMEBODY", text)
    text = re.sub(rf"\bprocess [0-9]+ on {host}\b", "PROCESS", text)
    today = datetime.now(UTC)
    for days in (-1, 0, 1):
        day = f"{today + timedelta(days):%Y-%m-%d}"
        text = re.sub(rf"{day}({_CLOCK})?", "MOMENT", text)
    return text


def _write(file: Path, name: str, text: str) -> None:
    file.parent.mkdir(exist_ok=True)
    named: dict[str, list[str]] = {}
    for one, said in sorted({**parts_of(file), name: text}.items()):
        named.setdefault(said, []).append(one)
    heads = {said: "".join(f"{HEAD}{name}\n" for name in names) for said, names in named.items()}
    file.write_text("".join(f"{head}{said}\n" for said, head in heads.items()), encoding="utf-8")


@pytest.fixture
def golden(request: pytest.FixtureRequest, tmp_path: Path) -> Golden:
    """Hold what a test is told against what is kept of it, to the letter."""
    file, counts = file_of(request.path), Counter[str]()

    def holds(text: str, **names: str) -> None:
        test = str(request.node.name)
        counts[test] += 1
        name = test if counts[test] == 1 else f"{test} {counts[test]}"
        for word, found in names.items():
            text = text.replace(found, word)
        for folder in (tmp_path / "work", tmp_path):
            text = text.replace(str(folder), "HERE")
        lines = _without_chance(text).splitlines()
        shown = "\n".join(map(str.rstrip, lines)).strip("\n") or NOTHING
        if os.environ.get("WRITE_GOLDEN"):
            _write(file, name, shown)
        assert shown == parts_of(file).get(name)

    return holds
