"""Real payloads that nobody of this project wrote: each validates, applies and stays quiet."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import pytest
from harness.doors import Ran, typed
from harness.emulated import Emulated
from harness.profiles import FILLING
from harness.routes import ALERTS, DASHBOARDS, OVERWRITE, SLOS, VIEWS
from harness.workspaces import Workspace, project_at

import reconciler.emulator
from reconciler.emulator import Profile

SAMPLES = Path(__file__).parent.parent.parent / "shared" / "samples"
FOLDERS = {
    "alerts": "AlertDefinition",
    "dashboards": "Dashboard",
    "policies": "LogPolicySet",
    "slos": "SLO",
    "views": "SavedView",
}
FILES = sorted(file for file in SAMPLES.glob("*/*.json") if file.parent.name in FOLDERS)
EXPORTS = sorted(SAMPLES.glob("dashboards/*.json"))
PAIR = SAMPLES / "pairs"
LEAST = Profile(policy_severities="returned")
"""Without severities an import of policies is one with comments that say where to add them."""

# Every warning that a sample deserves: code, and what to write instead.
WARNINGS = {
    "alerts/metric-threshold-wrong-key.json": [
        ("L201", "say in `description` what is wrong, and where the runbook is"),
        ("L203", "add `notificationGroup: {router: {}}`, or a recipient; else lower it"),
        ("M304", "metricTimeWindowDynamicDuration"),
    ],
    "dashboards/canonical.json": [("M304", "")],
    "dashboards/client-example.json": [("M312", "")] * 3,
}

pytestmark = pytest.mark.skipif(not FILES, reason="the samples are not beside this checkout")


def manifest_of(file: Path) -> dict[str, Any]:
    kind = FOLDERS[file.parent.name]
    content = json.loads(file.read_text(encoding="utf-8"))
    metadata: dict[str, Any] = {"name": file.stem}
    if kind == "AlertDefinition":
        metadata["id"] = str(uuid5(NAMESPACE_URL, file.name))
        content = content["alertDefProperties"]
    if kind == "Dashboard":
        content = {"dashboard": content}
    return {"apiVersion": "reconciler/v1", "kind": kind, "metadata": metadata, "spec": content}


@pytest.fixture(params=FILES, ids=lambda file: f"{file.parent.name}/{file.name}")
def sample(request: pytest.FixtureRequest) -> Path:
    assert isinstance(request.param, Path)
    return request.param


def test_sample_stays_quiet(sample: Path, workspace: Workspace) -> None:
    """A sample gets the warnings it deserves, applies, and plans to keep afterwards."""
    workspace.write("sample.json", json.dumps(manifest_of(sample)))

    validated = workspace.run("validate", "--format", "json")
    applied = workspace.apply("--format", "json")
    plan = workspace.plan()

    found = [
        (complaint["code"], complaint["suggestion"]) for complaint in validated.json["complaints"]
    ]
    assert found == WARNINGS.get(f"{sample.parent.name}/{sample.name}", [])
    assert applied.code == 0, applied.err
    assert applied.json["summary"]["written"] == 1
    assert [change["action"] for change in plan["changes"]] == ["keep"]


@pytest.mark.parametrize("export", EXPORTS, ids=lambda file: file.name)
def test_sample_export(export: Path, workspace: Workspace) -> None:
    """A dashboard sample also goes through `spec.file`, as the export it is."""
    workspace.write("exports/one.json", export.read_text(encoding="utf-8"))
    workspace.write(
        "one.yaml",
        "apiVersion: reconciler/v1\nkind: Dashboard\nmetadata: {name: one}\n"
        "spec: {file: exports/one.json, isLocked: true}\n",
    )

    applied = workspace.apply("--format", "json")
    plan = workspace.plan()

    assert applied.code == 0, applied.err
    assert [change["action"] for change in plan["changes"]] == ["keep"]


def service_at(root: Path, chosen: Profile, monkeypatch: pytest.MonkeyPatch) -> Emulated:
    """Return the service of a project as another client has it; commands run on the same data."""
    monkeypatch.setattr(
        reconciler.emulator, "create_app", partial(reconciler.emulator.create_app, profile=chosen)
    )
    (root / ".reconciler").mkdir(mode=0o700)
    alert = str(uuid5(NAMESPACE_URL, "alert"))
    return Emulated(root / ".reconciler" / "local.db", alert_ids=[alert], profile=chosen)


def stored_by_others(service: Emulated, sample: Path) -> Any:
    """Let another client write a sample; returns what the web interface shows of it."""
    content = json.loads(sample.read_text(encoding="utf-8"))
    match sample.parent.name:
        case "alerts":
            item = {"id": str(uuid5(NAMESPACE_URL, "alert")), **content}
            service.put(ALERTS, {"alertDefsToReplace": [item]})
            return service.web("alerts")[0]
        case "dashboards":
            for number, element in enumerate(content.get("filters", [])):
                if service.app.state.profile.required_fields == "observed":
                    element.setdefault("id", {"value": str(number)})
            service.post(DASHBOARDS, {"requestId": "r", "dashboard": content})
            return service.web("dashboards")[0]
        case "policies":
            service.post(OVERWRITE, content)
            return service.web("policies")[0]
        case "slos":
            return service.post(SLOS, content).body["slo"]
        case _:
            service.post(VIEWS, content)
            return service.web("saved-views")[0]


def words_for(sample: Path, record: Any, root: Path) -> list[str]:
    """Return what is typed after `import` to have a stored record as a manifest."""
    match sample.parent.name:
        case "dashboards":
            return ["dashboard", "--", record["dashboard"]["id"]]
        case "policies":
            return ["policies"]
        case "slos":
            return ["slo", record["id"]]
        case _:
            (root / "exports").mkdir()
            export = root / "exports" / "one.json"
            export.write_text(json.dumps(record), encoding="utf-8")
            return ["--from", str(export)]


@pytest.mark.promise("S1", "S2", "S59")
@pytest.mark.parametrize("chosen", [LEAST, FILLING], ids=["least", "all"])
def test_stored_sample(
    sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chosen: Profile
) -> None:
    """A sample that another client stored is imported, kept, and applied without a difference."""
    project = project_at(tmp_path, MANIFESTS)
    (tmp_path / "manifests").mkdir()
    service = service_at(tmp_path, chosen, monkeypatch)
    record = stored_by_others(service, sample)
    service.app.state.store.close()

    def run(command: str, *words: str) -> Ran:
        return typed(command, "--project", str(project.root / "reconciler.yaml"), *words)

    imported = run("import", *words_for(sample, record, tmp_path))
    plan = run("plan", "--format", "json").json
    applied = run("apply", "--yes", "--format", "json")

    assert imported.code == 0, imported
    assert [change["action"] for change in plan["changes"]] == ["keep"], plan["changes"]
    assert (applied.code, applied.json["summary"]["written"]) == (0, 0), applied
    assert run("plan", "--format", "json").json["summary"] == plan["summary"]


MANIFESTS = """\
manifests: [manifests]
environments:
  local:
    emulator: {data: .reconciler/local.db}
    journal: .reconciler/local.journal.jsonl
"""


@pytest.mark.promise("S1")
@pytest.mark.skipif(not PAIR.exists(), reason="the captured pair is not beside this checkout")
def test_captured_pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a real service was sent is kept against what it stored, byte for byte: no slug."""
    sent = json.loads((PAIR / "dashboard-sent.json").read_text(encoding="utf-8"))
    stored = json.loads((PAIR / "dashboard-stored.json").read_text(encoding="utf-8"))
    service = service_at(tmp_path, Profile(), monkeypatch)
    own = stored["dashboard"]["id"]
    with service.app.state.store.writing():
        row = own, f"/{own}", json.dumps(stored)
        service.app.state.store.write("INSERT INTO dashboards VALUES (?, ?, ?)", *row)
    assert service.get(f"{DASHBOARDS}/{own}").body == stored
    service.app.state.store.close()
    spec = {name: sent[name] for name in ("dashboard", "isLocked")}
    project = project_at(tmp_path)
    project.write(
        "one.json",
        json.dumps(
            {
                "apiVersion": "reconciler/v1",
                "kind": "Dashboard",
                "metadata": {"name": "retry-pipeline"},
                "spec": spec,
            }
        ),
    )

    (change,) = project.plan()["changes"]
    drift = project.run("drift", "--format", "json")

    assert (change["action"], change["fields"]) == ("keep", [])
    assert drift.code == 0


def test_all_samples_together(workspace: Workspace) -> None:
    """All samples make one workspace, which applies at once and stays quiet."""
    for file in FILES:
        workspace.write(f"{file.parent.name}-{file.name}", json.dumps(manifest_of(file)))

    applied = workspace.apply("--format", "json")
    plan = workspace.plan()

    assert applied.code == 0, applied.err
    assert applied.json["summary"]["written"] == len(FILES)
    assert {change["action"] for change in plan["changes"]} == {"keep"}


# What the service adds to what it stores, and what it puts around it.
STORED: dict[str, Callable[[dict[str, Any], Any], dict[str, Any]]] = {
    "SLO": lambda spec, own: {"slo": {"id": own, "createTime": TIME, "creator": "x", **spec}},
    "AlertDefinition": lambda spec, own: {
        "id": own,
        "alertVersionId": "x",
        "createdTime": TIME,
        "alertDefProperties": spec,
    },
    "Dashboard": lambda spec, own: {
        "authorId": "x",
        "createdAt": TIME,
        "dashboard": {"id": own, **spec["dashboard"]},
    },
    "LogPolicySet": lambda spec, _: {
        "policies": [
            {**policy, "policy": {"id": "x", "order": nth, "createdAt": TIME, **policy["policy"]}}
            for nth, policy in enumerate(spec["policies"])
        ]
    },
    "SavedView": lambda spec, own: {"id": own, **spec},
}
TIME = "2025-01-31T09:00:00Z"


@pytest.mark.promise("P39")
def test_pasted_sample(sample: Path, workspace: Workspace) -> None:
    """A sample as the service shows it is one complaint a record, and is kept once repaired."""
    manifest = manifest_of(sample)
    workspace.write("sample.json", json.dumps(manifest))
    assert workspace.apply().code == 0
    own = workspace.plan()["changes"][0]["remoteId"]
    pasted = STORED[manifest["kind"]](manifest["spec"], own)
    workspace.write("sample.json", json.dumps({**manifest, "spec": pasted}, indent=2))

    told = workspace.run("validate", "--format", "json").json["complaints"]
    ran = workspace.run("validate", "--fix", "--format", "json")

    errors = [value["code"] for value in told if value["severity"] == "error"]
    assert errors == ["M305"] * len(pasted.get("policies", [1]))
    assert (ran.code, ran.json["valid"]) == (0, True), ran.out
    assert [change["action"] for change in workspace.plan()["changes"]] == ["keep"]


@pytest.mark.promise("P39")
def test_sample_as_it_is(sample: Path, workspace: Workspace) -> None:
    """A sample pasted under `spec` as it came is at most one complaint, and repaired it plans."""
    manifest = {**manifest_of(sample), "spec": json.loads(sample.read_text(encoding="utf-8"))}
    workspace.write("sample.json", json.dumps(manifest))

    told = workspace.run("validate", "--format", "json").json["complaints"]
    ran = workspace.run("validate", "--fix", "--format", "json")

    is_wrapped = manifest["kind"] in {"AlertDefinition", "Dashboard"}
    assert [value["code"] for value in told if value["severity"] == "error"] == [
        "M305"
    ] * is_wrapped
    assert ran.code == 0
    actions = [change["action"] for change in workspace.plan()["changes"]]
    assert actions in (["create"], ["assert"], ["update"])


@pytest.mark.promise("S33")
def test_a_workspace_of_all_samples(tmp_path: Path) -> None:
    """After `init` and an import of all samples, `validate` ends with 0."""
    assert typed("init", str(tmp_path)).code == 0
    project = ("--project", str(tmp_path / "reconciler.yaml"))
    names = [
        json.loads(file.read_text(encoding="utf-8"))["alertDefProperties"]["name"]
        for file in FILES
        if file.parent.name == "alerts"
    ]
    ids = [f"--id={name}={uuid5(NAMESPACE_URL, name)}" for name in names]
    for folder in FOLDERS:
        more = ids if folder == "alerts" else ()
        ran = typed("import", "--from", str(SAMPLES / folder), *project, *more)
        assert ran.code == 0, ran.err

    assert typed("validate", *project).code == 0
