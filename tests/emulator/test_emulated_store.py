"""What the emulator keeps, and where."""

import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from harness.emulated import Emulated
from harness.routes import ALERTS, OVERWRITE, POLICIES, VIEWS

from reconciler.emulator import UnreadableDataError

ALERT = "2f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4a11"
VIEW = {"name": "v", "timeSelection": {}}


@contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_rights(tmp_path: Path) -> None:
    """Data is for the owner only, whatever the umask: 0600 in folders of 0700."""
    data = tmp_path / "new" / "deep" / "local.db"

    with umask(0):
        Emulated(data).post(VIEWS, VIEW)

    assert {path.name: mode_of(path) for path in data.parent.iterdir()} == {
        "local.db": 0o600,
        "local.db-shm": 0o600,
        "local.db-wal": 0o600,
    }
    assert [mode_of(folder) for folder in (data.parent, data.parent.parent)] == [0o700, 0o700]


def test_data_survives(tmp_path: Path) -> None:
    """What was answered is there for the next emulator, even when this one never closed."""
    data = tmp_path / "local.db"
    first = Emulated(data)
    first.post(VIEWS, VIEW)
    policy = {"name": "a", "description": "", "priority": "PRIORITY_TYPE_LOW"}
    first.post(OVERWRITE, {"policies": [{"logRules": {"severities": []}, "policy": policy}]})

    second = Emulated(data)

    assert second.get(POLICIES).body == first.get(POLICIES).body
    assert second.post(VIEWS, VIEW).body["id"] == 2


def test_planted_alert_is_not_planted_again(tmp_path: Path) -> None:
    """An alert that is there keeps its content when the emulator starts again."""
    data = tmp_path / "local.db"
    item = {"id": ALERT, "alertDefProperties": {"name": "Mine"}}
    Emulated(data, alert_ids=[ALERT]).put(ALERTS, {"alertDefsToReplace": [item]})

    answer = Emulated(data, alert_ids=[ALERT]).put(ALERTS, {"alertDefsToReplace": [item]})

    assert answer.body["skippedIds"] == [ALERT]


def test_memory_is_its_own() -> None:
    """Emulators without a file know nothing of each other."""
    Emulated().post(VIEWS, VIEW)

    assert Emulated().post(VIEWS, VIEW).body["id"] == 1


def test_not_a_database(tmp_path: Path) -> None:
    """A file that is no database is refused by name and left as it was."""
    data = tmp_path / "notes.txt"
    data.write_text("hello " * 1000)

    with pytest.raises(UnreadableDataError, match=r"notes\.txt"):
        Emulated(data)

    assert data.read_text() == "hello " * 1000


def test_database_of_another_program(tmp_path: Path) -> None:
    """A database that somebody else made is refused and left as it was."""
    data = tmp_path / "theirs.db"
    with closing(sqlite3.connect(data)) as theirs:
        theirs.execute("CREATE TABLE dashboards (title TEXT)")
    before = data.read_bytes()

    with pytest.raises(UnreadableDataError, match="another program"):
        Emulated(data)

    assert data.read_bytes() == before


def test_import_is_cheap() -> None:
    """Naming the package does not load the server, which only a port needs."""
    look = "import sys, reconciler.emulator; print('uvicorn' in sys.modules)"

    answer = subprocess.run(
        [sys.executable, "-c", look], capture_output=True, text=True, check=True
    )

    assert answer.stdout == "False\n"
