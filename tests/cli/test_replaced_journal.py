"""A journal's folder that is taken away while a run writes, as by `git clean -fdx`."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from harness.doors import begun, environment, in_this_process
from harness.routes import VIEWS
from harness.served import Served
from harness.workspaces import WORKSPACE, journal, wait_for, workspace

SLOW = {"method": "POST", "path": "/v1/dashboards/*", "fault": {"delay": 1.5}}


@pytest.mark.promise("P44")
@pytest.mark.parametrize("another", [True, False], ids=["another-run", "nothing-else"])
def test_folder_taken_away(tmp_path: Path, service: Served, *, another: bool) -> None:
    """A run whose journal's folder is taken away sends nothing more, and ends with 8.

    What another run creates meanwhile in a journal of its own is there once.
    """
    parts = WORKSPACE.split("---\n")
    folder = workspace(tmp_path / "work", parts[2])
    (folder / "view.yaml").write_text(parts[4], encoding="utf-8")
    service.switch.misbehave(SLOW)
    with begun(folder, ("apply", "--yes", "--new-journal"), environment(service.base_url)) as first:
        wait_for(folder, '"ref":"Dashboard/checkout"', first)
        shutil.rmtree(folder / ".reconciler")
        if another:
            view = str(folder / "view.yaml")
            apply = ("apply", "--yes", "--new-journal", view)
            ran = in_this_process(folder, service.base_url, *apply)
            assert ran.code == 0, ran.err
        _, err = first.communicate(timeout=60)

    assert first.returncode == 8, err
    assert "removed or replaced" in err
    assert service.writes.count(f"POST {VIEWS}") == (1 if another else 0)
    if another:
        known = journal(folder, service.base_url).history
        assert [str(ref) for ref in known.memories] == ["SavedView/errors"]
