"""What a list costs as it grows: twice as long, at most a little over twice the work."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType

import pytest
from harness.doors import APPLY, typed

import reconciler
from benchmarks.lengthy import LISTS, write

OURS = str(Path(reconciler.__file__).parent)
EMULATOR = str(Path(OURS) / "emulator")
MOST = 2.2
SHORT = 20
PLANNED = 12


def forget() -> None:
    """Drop what is kept of texts: else a list that another test drew costs less."""
    for name, module in [*sys.modules.items()]:
        if name.startswith("reconciler."):
            for kept in [*vars(module).values()]:
                about = getattr(kept, "cache_info", None)
                # What has no bound is of our own models, and is made once in a process.
                if callable(about) and about().maxsize is not None:
                    kept.cache_clear()


def calls(count: int, name: str, *command: str, changed: tuple[str, str] | None = None) -> int:
    """Count the calls of our own functions in one command, where a list is so long.

    With `changed`, the list is applied, and each item of it is changed before the command.
    """
    found = 0

    def note(frame: FrameType, event: str, _: object) -> None:
        nonlocal found
        file = frame.f_code.co_filename
        found += event == "call" and file.startswith(OURS) and not file.startswith(EMULATOR)

    with TemporaryDirectory() as folder:
        write(Path(folder), LISTS[name](count))
        if changed is not None:
            assert typed(*APPLY, "--yes", folder).code == 0
            files = {file: text.replace(*changed) for file, text in LISTS[name](count).items()}
            write(Path(folder), files)
        forget()
        before = sys.getprofile()
        sys.setprofile(note)
        threading.setprofile(note)
        try:
            typed(*command, "--no-cache", folder)
        finally:
            sys.setprofile(before)
            threading.setprofile(None)
    return found


@pytest.mark.slow
@pytest.mark.promise("S28")
@pytest.mark.parametrize("name", LISTS)
def test_validate_a_long_list(name: str) -> None:
    """A list twice as long makes `validate` call at most 2.2 times as many functions of ours."""
    calls(2, name, "validate")

    assert calls(2 * SHORT, name, "validate") <= MOST * calls(SHORT, name, "validate")


@pytest.mark.slow
@pytest.mark.promise("S28")
@pytest.mark.parametrize("form", ["text", "markdown", "html", "json"])
@pytest.mark.parametrize("name", ["sections", "widgets", "policies", "documents"])
def test_plan_a_long_list(name: str, form: str) -> None:
    """A list twice as long makes a plan and its report call at most 2.2 times as many of them."""
    plan = "plan", "--format", form
    calls(2, name, *plan)

    assert calls(2 * PLANNED, name, *plan) <= MOST * calls(PLANNED, name, *plan)


@pytest.mark.slow
@pytest.mark.promise("S28")
@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("documents", "query: good", "query: better"),
        ("policies", "description: d", "description: e"),
        ("widgets", "markdownText: hello", "markdownText: bye"),
    ],
)
def test_plan_changes_of_a_long_list(name: str, before: str, after: str) -> None:
    """A list of changes that is twice as long makes a plan call at most 2.2 times as many."""
    changed = before, after
    calls(2, name, "plan", changed=changed)

    longer = calls(2 * PLANNED, name, "plan", changed=changed)

    assert longer <= MOST * calls(PLANNED, name, "plan", changed=changed)
