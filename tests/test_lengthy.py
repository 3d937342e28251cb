"""What a list costs as it grows: twice as long, at most a little over twice the work."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType

import pytest
from harness.doors import APPLY, typed

import reconciler
from benchmarks.lengthy import LISTS, write
from reconciler.document import Put, Within
from reconciler.model import Ref
from reconciler.syntax.read_text import read_text
from reconciler.workspace.manifest_edits import Original, Script, write_edits

OURS = str(Path(reconciler.__file__).parent)
EMULATOR = str(Path(OURS) / "emulator")
MOST = 2.2
SHORT = 20
PLANNED = 12
MISTAKEN = "mistakes in environments"


def forget() -> None:
    """Drop what is kept of texts: else a list that another test drew costs less."""
    for name, module in [*sys.modules.items()]:
        if name.startswith("reconciler."):
            for kept in [*vars(module).values()]:
                about = getattr(kept, "cache_info", None)
                # What has no bound is of our own models, and is made once in a process.
                if callable(about) and about().maxsize is not None:
                    kept.cache_clear()


def counted(deed: Callable[[], object]) -> int:
    """Count the calls of our own functions in a deed."""
    found = 0

    def note(frame: FrameType, event: str, _: object) -> None:
        nonlocal found
        file = frame.f_code.co_filename
        found += event == "call" and file.startswith(OURS) and not file.startswith(EMULATOR)

    forget()
    before = sys.getprofile()
    sys.setprofile(note)
    threading.setprofile(note)
    try:
        deed()
    finally:
        sys.setprofile(before)
        threading.setprofile(None)
    return found


def calls(count: int, name: str, *command: str, changed: tuple[str, str] | None = None) -> int:
    """Count the calls of our own functions in one command, where a list is so long.

    With `changed`, the list is applied, and each item of it is changed before the command.
    """
    with TemporaryDirectory() as folder:
        write(Path(folder), LISTS[name](count))
        if changed is not None:
            assert typed(*APPLY, "--yes", folder).code == 0
            files = {file: text.replace(*changed) for file, text in LISTS[name](count).items()}
            write(Path(folder), files)
        return counted(lambda: typed(*command, "--no-cache", folder))


@pytest.mark.slow
@pytest.mark.promise("S28")
@pytest.mark.parametrize("name", [name for name in LISTS if name != MISTAKEN])
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


@pytest.mark.promise("S28")
def test_validate_in_many_environments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice as many environments and mistakes in each cost at most 2.2 times the calls."""
    monkeypatch.setattr("reconciler.workspace.workspace.MOST_IN_ALL", 10 * SHORT)
    calls(2, MISTAKEN, "validate")

    assert calls(2 * SHORT, MISTAKEN, "validate") <= MOST * calls(SHORT, MISTAKEN, "validate")


@pytest.mark.promise("S28")
def test_environments_that_are_not_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where too much is wrong in some environments, the others are said to be unchecked."""
    monkeypatch.setattr("reconciler.workspace.workspace.MOST_IN_ALL", 4)
    with TemporaryDirectory() as folder:
        write(Path(folder), LISTS[MISTAKEN](3))
        ran = typed("validate", folder, "--no-cache", "--format", "json")

    assert ran.code == 4
    (unchecked,) = (
        complaint for complaint in ran.json["complaints"] if complaint["code"] == "M115"
    )
    assert unchecked["environments"] == ["e2"]


def refused(count: int) -> dict[Ref, str]:
    """Adopt for each document of a file a text that no manifest may hold."""
    (text,) = LISTS["documents"](count).values()
    script = Script(Path("a"), "a", read_text(text), is_json=False)
    edit = Within({"name": Put("\uffff")})
    originals = (Original(script=script, nth=nth, spec={}) for nth in range(count))
    edits = {Ref("SLO", f"c{nth}"): (original, edit) for nth, original in enumerate(originals)}
    return write_edits(edits)[1]


@pytest.mark.promise("S28")
def test_adopt_what_does_not_fit() -> None:
    """Twice as many edits that no file takes make `adopt` call at most 2.2 times as many."""
    assert len(refused(2)) == 2

    assert counted(lambda: refused(2 * SHORT)) <= MOST * counted(lambda: refused(SHORT))
