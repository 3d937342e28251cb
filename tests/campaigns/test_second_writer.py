"""The judge of added policies can fail: each thing that may become of one has its verdict."""

from __future__ import annotations

import pytest
from invariants import Step
from live_edits import OVERWRITE, POLICIES
from second_writer import NAME, PRINTED, verdict
from watched_emulator import API_ROOT, EDITED

from reconciler.emulator.database import Asked

READ = Asked("GET", API_ROOT + POLICIES, 200, None)
WRITTEN = Asked("POST", API_ROOT + OVERWRITE, 200, {"policies": []})
ADDED = Asked(EDITED, POLICIES, 200, None)
RUNS = {
    "window": ((READ, READ, ADDED, WRITTEN, READ), 0, ""),
    "silent loss": ((READ, ADDED, READ, WRITTEN, READ), 0, f"{NAME} was there"),
    "destroyed, told": ((ADDED, READ, READ, WRITTEN, READ), 0, PRINTED),
    "refused": ((ADDED, READ), 11, NAME),
    "caught": ((READ, ADDED, READ), 6, NAME),
    "told": ((READ, READ, WRITTEN, ADDED, READ), 6, NAME),
    "untold": ((READ, READ, WRITTEN, ADDED, READ), 0, ""),
    "not met": ((READ, READ, WRITTEN, READ, ADDED), 0, ""),
}


@pytest.mark.parametrize("name", RUNS)
def test_verdict(name: str) -> None:
    """What became of a policy follows from what was asked when, what was said, and the code."""
    log, code, said = RUNS[name]

    assert verdict(Step(code, "", said, log, b"", {}), allowed=True) == name


def test_unallowed() -> None:
    """A policy that was destroyed without consent counts as lost, whatever was printed."""
    log, code, said = RUNS["destroyed, told"]

    assert verdict(Step(code, "", said, log, b"", {}), allowed=False) == "silent loss"
