"""`.` and `..` never leave: no manifest, setting, journal or answer asks for another path."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from harness.doors import APPLY, KEY, Ran, in_this_process, typed
from harness.golden import Golden
from harness.ports import Answer, Asked, listening
from harness.stores import journal_on
from harness.workspaces import Workspace

from reconciler.api.client import Api
from reconciler.api.secret import Secret
from reconciler.errors import InvalidInput, JournalError
from reconciler.journal.entries import (
    Compacted,
    Entry,
    IdentifiedEntry,
    Settled,
    Started,
    WrittenEntry,
)
from reconciler.journal.file_store import FileStore
from reconciler.journal.journal import Journal
from reconciler.model import Ref
from reconciler.project import unsafe_base_url
from reconciler.runtime.connection import is_part, steps_in

STEPS = (".", "..", "%2e%2e", ".%2E", "a/../b", "..\\b", "../..")
ROOT = "/mgmt/openapi/latest"
SLO = Ref("SLO", "checkout")
DASHBOARD = """\
apiVersion: reconciler/v1
kind: Dashboard
metadata: {name: checkout}
spec:
  dashboard:
    name: Checkout
    layout: {sections: []}
"""
SLO_MANIFEST = """\
apiVersion: reconciler/v1
kind: SLO
metadata: {name: checkout}
spec:
  name: Checkout
  targetThresholdPercentage: 99
  requestBasedMetricSli: {}
"""
OTHER = DASHBOARD.replace("checkout", "other")


@contextmanager
def answering(answers: dict[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """Serve what stands below a path's ending, 404 else; give the base URL and what was asked."""
    paths: list[str] = []

    def answer(asked: Asked) -> Answer:
        paths.append(asked.path)
        request = f"{asked.method} {asked.path}"
        for ending, document in answers.items():
            if request.endswith(ending):
                return 200, {}, document
        return 404, {}, {"message": "Not Found: it"}

    with listening(answer) as url:
        yield url, paths


def planned(folder: Path, answers: dict[str, Any], *manifests: str) -> tuple[Ran, Any, list[str]]:
    """Plan manifests against a service; give the end, the plan and the paths that were asked."""
    (folder / "all.yaml").write_text("---\n".join(manifests), encoding="utf-8")
    (folder / "reconciler.yaml").write_text("environments: {production: {}}\n", encoding="utf-8")
    with answering({"policies/v1": {"policies": []}, **answers}) as (url, asked):
        ended = in_this_process(folder, url, "plan", "--format", "json")
    return ended, json.loads(ended.out) if ended.out else None, asked


def started(ref: Ref) -> Started:
    """Give the entry before a create."""
    return Started(
        run="run",
        at="now",
        ref=ref,
        operation="create",
        declared={"name": "Checkout"},
        request_id="request",
        remote_id=None,
        seen="",
    )


def filled(file: Path, *entries: Entry, target: str = "emulator") -> Journal:
    """Write entries into a new journal."""
    environment = file.name.partition(".")[0]
    journal = journal_on(FileStore(file), environment=environment, target=target)
    with journal.locked():
        journal.append(entries)
    return journal


@pytest.mark.promise("P9")
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("name", ["slugName", "id"])
def test_in_a_manifest(tmp_path: Path, name: str, step: str) -> None:
    """A slug or an id that leads elsewhere is an error with code, place and repair."""
    workspace = Workspace(tmp_path)
    workspace.write("all.yaml", f"{DASHBOARD}    {name}: '{step}'\n")
    ran = workspace.run("validate")

    assert ran.code == 4
    assert "error[M206]" in ran.out
    assert f"--> all.yaml:8:{len(name) + 7}" in ran.out
    assert f"`{name}` " in ran.out
    assert "remove it: " in ran.out


@pytest.mark.promise("P9")
def test_in_an_export(tmp_path: Path) -> None:
    """An export beside the manifest is looked at as the manifest is."""
    workspace = Workspace(tmp_path)
    export = {"name": "Checkout", "layout": {"sections": []}, "slugName": ".."}
    workspace.write("export.json", json.dumps(export))
    workspace.write(
        "all.yaml", DASHBOARD[: DASHBOARD.index("  dashboard:")] + "  file: export.json\n"
    )
    ran = workspace.run("validate")

    assert ran.code == 4
    assert "error[M206]" in ran.out
    assert "--> export.json:1:" in ran.out


@pytest.mark.promise("P9")
@pytest.mark.parametrize("step", STEPS)
def test_in_a_journal(tmp_path: Path, step: str) -> None:
    """A journal that holds such an id is one that cannot be trusted, and its line is named."""
    holding: list[Entry] = [
        WrittenEntry(run="run", at="now", ref=SLO, remote_id=step),
        IdentifiedEntry(run="run", at="now", ref=SLO, remote_id=step),
        Settled(at="now", ref=SLO, remote_id=step),
        Compacted(at="now", ref=SLO, remote_id=step, exists=True, attempts=1, protect=False),
    ]
    for number, entry in enumerate(holding):
        journal = filled(tmp_path / f"{number}.jsonl", started(SLO), entry)
        with pytest.raises(JournalError, match=r"line 3 of the journal .* cannot be an id"):
            journal.load()


@pytest.mark.promise("P9")
def test_a_journal_asks_for_nothing_else(tmp_path: Path) -> None:
    """With such a journal a plan ends before its first request."""
    file = tmp_path / ".reconciler" / "production.journal.jsonl"
    filled(file, started(SLO), WrittenEntry(run="run", at="now", ref=SLO, remote_id=".."))
    ended, _, asked = planned(tmp_path, {}, SLO_MANIFEST)

    assert (ended.code, asked) == (8, [])


@pytest.mark.promise("P9")
@pytest.mark.parametrize("kind", ["SLO", "Dashboard"])
@pytest.mark.parametrize("step", STEPS)
def test_settled_by_hand(tmp_path: Path, kind: str, step: str) -> None:
    """`journal settle --id` takes no such id."""
    workspace = Workspace(tmp_path)
    workspace.write("reconciler.yaml", "environments: {local: {emulator: {data: local.db}}}\n")
    ref = Ref(kind, "checkout")
    journal = filled(tmp_path / ".reconciler" / "local.journal.jsonl", started(ref))
    project = str(tmp_path / "reconciler.yaml")
    ran = typed("journal", "settle", str(ref), "--id", step, "--project", project)

    assert (ran.code, f"is not an id of {kind}" in ran.err) == (64, True)
    journal.load()
    assert ref in journal.history.unsettled()


@pytest.mark.promise("P9")
@pytest.mark.parametrize("step", STEPS)
def test_in_an_answer(tmp_path: Path, step: str) -> None:
    """An id that the service gives blocks its own resource; the others are planned all the same."""
    stored = {"dashboard": {"id": step, "name": "Checkout", "layout": {}}}
    ended, plan, asked = planned(tmp_path, {"by-slug/checkout": stored}, DASHBOARD, OTHER)

    actions = {change["name"]: change["action"] for change in plan["changes"]}
    assert actions == {"checkout": "blocked", "other": "create"}
    assert ended.code == 9
    assert not [path for path in asked if any(steps_in(path))]


POLICIES = "/dataplans/policies/v1?source_type=SOURCE_TYPE_LOGS"


@pytest.mark.promise("P9")
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize(
    ("manifest", "path", "answer"),
    [
        (SLO_MANIFEST, "POST /mgmt/openapi/latest/v1/slo/slos", {"slo": {"id": None}}),
        (DASHBOARD, "POST /mgmt/openapi/latest/v1/dashboards/dashboards", {"dashboardId": None}),
    ],
    ids=["SLO", "Dashboard"],
)
def test_in_the_answer_to_a_create(
    tmp_path: Path, manifest: str, path: str, answer: dict[str, Any], step: str
) -> None:
    """Such an id of something created is never journaled, and the create is in doubt."""
    said = json.loads(json.dumps(answer).replace("null", json.dumps(step)))
    (tmp_path / "all.yaml").write_text(manifest, encoding="utf-8")
    (tmp_path / "reconciler.yaml").write_text("environments: {production: {}}\n", encoding="utf-8")
    with answering({path: said, "/validate": {}, POLICIES: {"policies": []}}) as (url, asked):
        ended = in_this_process(tmp_path, url, *APPLY, "--yes", "--override-guard", "x")

    assert ended.code == 7, ended.err
    journal = (tmp_path / ".reconciler" / "production.journal.jsonl").read_text(encoding="utf-8")
    assert f'"remoteId": {json.dumps(step)}' not in journal
    assert '"started"' in journal
    assert not [text for text in asked if any(steps_in(text))]


@pytest.mark.promise("P9", "P3")
@pytest.mark.parametrize("step", STEPS)
def test_at_the_door(step: str) -> None:
    """Whoever asks, a path with such a part is not asked for."""
    api = Api("https://service.test", Secret(KEY))

    async def ask() -> None:
        async with api:
            await api.read(f"/v1/slo/slos/{step}")

    with pytest.raises(InvalidInput, match="cannot be a part of an address"):
        asyncio.run(ask())


@pytest.mark.promise("P3")
@pytest.mark.parametrize("path", ["/..", "/../../x", "/a/../b", "/.", "/a/./b", "/a/.."])
@pytest.mark.parametrize("command", ["validate", "plan", "apply", "drift"])
def test_in_the_base_path(tmp_path: Path, command: str, path: str, golden: Golden) -> None:
    """`basePath` holds no step to elsewhere, in any command: an error at its place."""
    workspace = Workspace(tmp_path)
    setting = (
        f"environments:\n  local:\n    emulator: {{data: x.db}}\n    api: {{basePath: {path}}}\n"
    )
    workspace.write("reconciler.yaml", setting)
    workspace.write("all.yaml", DASHBOARD)
    ran = workspace.run(command, *(["--yes"] if command == "apply" else []))

    assert ran.code == 4
    golden(ran.out + ran.err)
    assert "--> reconciler.yaml:4:" in ran.out + ran.err


@pytest.mark.promise("P3")
@pytest.mark.parametrize("path", ["/..", "/a/../b", "/.", "/%2e%2e/x", "/a/%2E"])
def test_in_the_base_url(path: str) -> None:
    """A base URL holds no step to elsewhere either."""
    assert "must not hold the part" in unsafe_base_url(f"https://api.example.com{path}")


@pytest.mark.parametrize("text", ["a", "...", "..a", "a.b", "_-", "é", "a b", "x" * 1024])
def test_ids(text: str) -> None:
    """What only looks like a step can be an id."""
    assert is_part(text)


@pytest.mark.parametrize("text", [*STEPS, "", "a\n", "\x00", "\u202e", "x" * 1025])
def test_no_ids(text: str) -> None:
    """What leads elsewhere, is empty, hidden or endless cannot be one."""
    assert not is_part(text)
