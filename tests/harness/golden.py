"""Sentences that people read, kept in a file beside each file of tests.

`test_graph.py` has its sentences in `said/graph.txt`, a part for each test. `WRITE_GOLDEN=1`
writes anew what the tests that run say; read the difference before you keep it.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeAlias

import pytest

HEAD: Final = "==== "
Golden: TypeAlias = Callable[..., None]
"""Takes a text, and by name what stands in the file for texts that differ from run to run."""


def file_of(tests: Path) -> Path:
    """Give the file that keeps what a file of tests holds of sentences."""
    return tests.parent / "said" / f"{tests.stem.removeprefix('test_')}.txt"


def parts_of(file: Path) -> dict[str, str]:
    """Map the tests of a file to what is kept of each; nothing where there is no file."""
    parts: dict[str, list[str]] = {}
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    name = ""
    for line in lines:
        if line.startswith(HEAD):
            name = line.removeprefix(HEAD)
            parts[name] = []
        else:
            parts[name].append(line)
    return {name: "\n".join(lines).rstrip("\n") for name, lines in parts.items()}


def _write(file: Path, name: str, text: str) -> None:
    file.parent.mkdir(exist_ok=True)
    parts = {**parts_of(file), name: text}
    whole = "".join(f"{HEAD}{one}\n{said}\n" for one, said in sorted(parts.items()))
    file.write_text(whole, encoding="utf-8")


@pytest.fixture
def golden(request: pytest.FixtureRequest, tmp_path: Path) -> Golden:
    """Hold what a test is told against what is kept of it, to the letter."""
    file, counts = file_of(request.path), Counter[str]()

    def holds(text: str, **names: str) -> None:
        test = str(request.node.name)
        counts[test] += 1
        name = test if counts[test] == 1 else f"{test} {counts[test]}"
        for word, found in {**names, "HERE": str(tmp_path)}.items():
            text = text.replace(found, word)
        shown = "\n".join(line.rstrip() for line in text.splitlines()).rstrip("\n")
        if os.environ.get("WRITE_GOLDEN"):
            _write(file, name, shown)
        assert shown == parts_of(file).get(name)

    return holds
