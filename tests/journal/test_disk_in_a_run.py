"""A disk that fails at any moment of a run."""

from __future__ import annotations

import errno
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from harness.sites import ALERT_ID, ALERT_SPEC, SLO_SPEC, VIEW_SPEC, Site, dashboard, manifest

from reconciler.emulator import create_app
from reconciler.errors import JournalError
from reconciler.journal import file_store
from reconciler.model import Manifest, Written

# Every n-th point of a run, which CI has the time for; 1 is every one.
STRIDE = int(os.environ.get("RECONCILER_FAULT_STRIDE", "3"))
OPERATIONS = ("open", "ftruncate", "fchmod", "lseek", "write", "fsync")


class FailingDisk:
    """The system's calls, of which those on files fail from the n-th on."""

    def __init__(self, point: int, code: int) -> None:
        self.point, self.code, self.calls = point, code, 0

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        return self.failing(real) if name in OPERATIONS else real

    def failing(self, real: Any) -> Any:
        """Give a call that fails once it is time."""

        def call(*arguments: Any, **named: Any) -> Any:
            self.calls += 1
            if self.calls > self.point:
                raise OSError(self.code, os.strerror(self.code))
            return real(*arguments, **named)

        return call


def declared() -> list[Manifest]:
    """Give one resource of each way to write."""
    return [
        manifest("SLO/checkout", SLO_SPEC),
        manifest("AlertDefinition/errors", ALERT_SPEC, ALERT_ID),
        dashboard(),
        manifest("SavedView/errors", {**VIEW_SPEC, "isCompactMode": True}),
    ]


def stopped(site: Site) -> str:
    """Apply, and give the words of the journal's error; "" for none."""
    try:
        applied = site.apply(*declared())
    except JournalError as error:
        return str(error)
    found = applied.stopped_by
    if found is None:
        return ""
    assert 8 in applied.exit_codes
    return str(found)


def rescued_refs(folder: Path) -> set[str]:
    """Name what the emergency files tell of."""
    lines = [line for file in folder.glob("*.jsonl") for line in file.read_text().splitlines()]
    return {json.loads(line)["ref"] for line in lines if "ref" in json.loads(line)}


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EROFS])
def test_failing_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    """Wherever the disk begins to fail, nothing that was sent is forgotten, and no more is sent."""
    failed = silent = 0
    for point in range(0, 200, STRIDE):
        folder = tmp_path / str(point)
        folder.mkdir()
        site = Site(folder, create_app(alert_ids=[ALERT_ID]))
        with monkeypatch.context() as context:
            context.setattr(tempfile, "tempdir", str(folder))
            context.setattr(file_store, "os", disk := FailingDisk(point, code))
            said = stopped(site)
        if disk.calls <= point:
            assert said == ""
            break
        failed += bool(said)
        silent += not site.writes
        known = {str(ref) for ref in site.journal.history.memories} | rescued_refs(folder)
        for table, ref in (("slos", "SLO/checkout"), ("saved_views", "SavedView/errors")):
            if site.app.state.store.row(f"SELECT 1 FROM {table}") is not None:  # noqa: S608 - ours
                assert ref in known
        assert all(str(file) in said for file in folder.glob("*.jsonl"))

    assert failed * STRIDE >= point - 4 * STRIDE  # a new journal is not there to be read
    assert silent > 2


def test_two_in_one_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is told as written stands in the journal or in what was saved, each of a batch."""
    saved = 0
    for point in range(200):
        folder = tmp_path / str(point)
        folder.mkdir()
        site = Site(folder, create_app())
        site.apply(dashboard("old"))
        with monkeypatch.context() as context:
            context.setattr(tempfile, "tempdir", str(folder))
            context.setattr(file_store, "os", disk := FailingDisk(point, errno.ENOSPC))
            try:
                applied = site.apply(dashboard("old", description="new"), dashboard("new"))
            except JournalError:
                continue
        if disk.calls <= point:
            break
        rescued = rescued_refs(folder)
        told = {outcome.ref for outcome in applied.outcomes if isinstance(outcome, Written)}
        known = {ref for ref in told if site.journal.history.of(ref).pending is None}
        assert {str(ref) for ref in told - known} <= rescued
        saved += len(rescued) > 1

    assert saved > 0
