"""The full text of one complaint of each code, as a person meets it in a terminal.

`WRITE_GOLDEN=1` writes the files anew; read the difference before you keep it.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from harness.workspaces import Workspace
from test_wrong_manifests import ALL, laid_out
from wrong import Wrong

from reconciler.syntax.diagnostic import CODES

GOLDEN = Path(__file__).parent / "golden"
EXAMPLES = {case.code: case for case in reversed(ALL)}


def block_of(case: Wrong, printed: str) -> str:
    """Give the complaint that a case is about, out of all that were printed."""
    blocks = printed.split("\n\n")
    named = [block for block in blocks if f"[{case.code}]" in block and f"--> {case.at}" in block]
    return named[0].strip("\n") + "\n"


@pytest.mark.parametrize("code", CODES)
def test_the_text_of_a_complaint(code: str, tmp_path: Path) -> None:
    """Each code has an example whose complaint reads, to the letter, as its golden text."""
    case = EXAMPLES[code]
    laid_out(case, tmp_path)

    ran = Workspace(tmp_path).run(case.command, "-v")

    assert ran.code == case.exits
    told = block_of(case, ran.out + ran.err)
    golden = GOLDEN / f"{code}.txt"
    if os.environ.get("WRITE_GOLDEN"):
        golden.write_text(told, encoding="utf-8")
    assert told == golden.read_text(encoding="utf-8")


def test_no_golden_text_is_left_over() -> None:
    """There is a golden text for each code, and for no other."""
    assert {file.stem for file in GOLDEN.iterdir()} == set(CODES)
