"""Real payloads, forgotten and imported: what comes of them is kept, and imported once."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from harness.doors import Ran, typed
from harness.workspaces import Workspace
from test_samples import FILES, FOLDERS, manifest_of

pytestmark = pytest.mark.skipif(not FILES, reason="the samples are not beside this checkout")

PROJECT = """\
manifests: [.]
exclude: [exports]
environments:
  local:
    emulator: {data: .reconciler/local.db}
    journal: .reconciler/local.journal.jsonl
"""
READ_LIVE = {"SLO": "slo", "Dashboard": "dashboard", "LogPolicySet": "policies"}


def applied(workspace: Workspace, files: list[Path]) -> dict[Path, Any]:
    """Apply samples, and give the ids that they got."""
    for file in files:
        workspace.write(f"{file.parent.name}-{file.stem}.json", json.dumps(manifest_of(file)))
    assert workspace.apply().code == 0
    known = {change["ref"]: change["remoteId"] for change in workspace.plan()["changes"]}
    return {file: known[f"{FOLDERS[file.parent.name]}/{file.stem}"] for file in files}


def forget(workspace: Workspace) -> None:
    """Lose all manifests and the journal; the service keeps what it has."""
    for file in workspace.root.glob("*.json"):
        file.unlink()
    (workspace.root / ".reconciler" / "local.journal.jsonl").unlink()


def exported(workspace: Workspace, file: Path, remote_id: Any) -> str:
    """Write a sample as it came, with its id where it tells none; gives the file."""
    content = json.loads(file.read_text(encoding="utf-8"))
    told = content if "id" in content else {"id": remote_id, **content}
    name = f"exports/{file.parent.name}-{file.name}"
    workspace.write(name, json.dumps(told))
    return name


def imported(workspace: Workspace, ids: dict[Path, Any], *words: str) -> list[Ran]:
    """Import each sample: live where it can be read, else from its export."""
    exports: list[str] = []
    ran: list[Ran] = []
    for file, remote_id in ids.items():
        noun = READ_LIVE.get(FOLDERS[file.parent.name])
        if noun is None:
            exports.append(exported(workspace, file, remote_id))
        else:
            named = [] if noun == "policies" else ["--", str(remote_id)]
            ran.append(typed("import", *words, noun, *named))
    if exports:
        ran.append(typed("import", *words, "--from", *exports))
    return ran


def kept(workspace: Workspace) -> dict[str, bytes]:
    """Give every file but the data of the service, and locks."""
    return {
        str(file): file.read_bytes()
        for file in workspace.root.rglob("*")
        if file.is_file() and "local.db" not in file.name and file.suffix != ".lock"
    }


def round_trip(workspace: Workspace, files: list[Path], *words: str) -> None:
    ids = applied(workspace, files)
    forget(workspace)

    first = imported(workspace, ids, *words)
    planned = typed("plan", "--format", "json").json["changes"]
    before = kept(workspace)
    again = imported(workspace, ids, *words)

    assert [one.code for one in first] == [0] * len(first), [one.err for one in first]
    assert [value["action"] for value in planned] == ["keep"] * len(files)
    assert {value["remoteId"] for value in planned} == set(ids.values())
    assert [(one.code, one.out) for one in again] == [(0, "")] * len(again)
    assert kept(workspace) == before


@pytest.fixture
def here(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """Give a workspace, gone to."""
    monkeypatch.chdir(workspace.root)
    # The exports lie beside the manifests, and are none.
    workspace.settle(PROJECT)
    return workspace


@pytest.mark.parametrize("sample", FILES, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_sample_comes_back(sample: Path, here: Workspace) -> None:
    """A sample that is forgotten is imported, kept by the next plan, and imported only once."""
    round_trip(here, [sample])


def test_all_samples_come_back(here: Workspace) -> None:
    """All samples that are forgotten are imported together, under names of their own."""
    sets = [file for file in FILES if FOLDERS[file.parent.name] == "LogPolicySet"]
    round_trip(here, [file for file in FILES if file not in sets[1:]])


@pytest.mark.promise("S36")
def test_all_samples_come_back_without_zeros(here: Workspace) -> None:
    """An import without zeros is kept by the next plan too, and no such zero is in a file."""
    sets = [file for file in FILES if FOLDERS[file.parent.name] == "LogPolicySet"]
    round_trip(here, [file for file in FILES if file not in sets[1:]], "--minimal")
    texts = [file.read_text(encoding="utf-8") for file in here.root.glob("*/*.yaml")]

    assert len(texts) == len(FILES) - len(sets[1:])
    for text in texts:
        assert re.findall(r"deleted: false|actions: \[\]|entityLabels: \{\}", text) == []
