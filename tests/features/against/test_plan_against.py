"""Laws of `plan --against REV`: a true difference, for which nothing is asked and nothing kept."""

from __future__ import annotations

import json
import os
import re
import socket
from pathlib import Path
from random import Random
from typing import Any

import pytest
from harness.doors import APPLY, KEY, Ran, environment, typed_at
from harness.random_workspaces import (
    ALERT_IDS,
    PROJECT,
    SECRET,
    RandomWorkspace,
)
from harness.repositories import begin, committed, git
from harness.served import served
from harness.workspaces import DASHBOARD, SLO, VIEW, WORKSPACE, Workspace

import reconciler.emulator
from reconciler.emulator import Profile, settings_of
from reconciler.emulator.alert_definition_endpoints import plant

VALUE = "https://hooks.example.com/very-secret"
SEAL = re.compile(r"sha256:[0-9a-f]{16}")
PATH = {"PATH": os.environ["PATH"]}
GIVEN = "3f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4a11"


@pytest.fixture
def repository(tmp_path: Path) -> Workspace:
    """Give the usual manifests in a repository, with no target anywhere."""
    made = Workspace(tmp_path / "repository")
    made.settle("environments: {local: {}}\n")
    made.write("all.yaml", WORKSPACE)
    begin(made.root)
    return made


def against(root: Path, *arguments: str, rev: str = "main", **environ: str) -> Ran:
    """Plan against a revision, in a process's environment that knows no target and no key."""
    return typed_at(root, {**PATH, **environ}, "plan", "--against", rev, *arguments)


def planned(root: Path, *arguments: str) -> Any:
    """Give the plan as JSON; the command must have gone well."""
    ran = against(root, "--format", "json", *arguments)
    assert ran.code == 0, ran.err
    return ran.json


def actions(plan: Any) -> dict[str, str]:
    """Map what is changed to its action."""
    return {
        change["ref"]: change["action"] for change in plan["changes"] if change["action"] != "keep"
    }


def files_below(folder: Path) -> dict[str, bytes]:
    """Give every file, those of git aside."""
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file() and ".git" not in file.parts
    }


def test_nothing_changed(repository: Workspace) -> None:
    """What is as it was is kept, whatever kind it is, and the commit stands at the top."""
    plan = planned(repository.root)

    assert (actions(plan), plan["summary"]["keep"]) == ({}, 5)
    assert plan["against"] == f"main {git(repository.root, 'rev-parse', 'HEAD')}"
    assert {change["evidence"] for change in plan["changes"]} == {"base"}


def test_exactly_what_changed(repository: Workspace) -> None:
    """An edited field is an update with that field, a removed manifest is left behind."""
    text = WORKSPACE.replace("first", "second").replace("---\n" + VIEW, "")
    repository.write("all.yaml", text)
    repository.write("new.yaml", SLO.replace("checkout", "new").replace("Checkout", "New"))
    plan = planned(repository.root)

    assert actions(plan) == {"Dashboard/checkout": "update", "SLO/new": "create"}
    (fields,) = (
        change["fields"] for change in plan["changes"] if change["ref"] == "Dashboard/checkout"
    )
    path = ["dashboard", "description"]
    assert fields == [{"path": path, "operation": "change", "before": "first", "after": "second"}]
    assert [orphan["ref"] for orphan in plan["orphans"]] == ["SavedView/errors"]


def test_lost_policies_are_destroyed(repository: Workspace) -> None:
    """A policy that the revision declares and this does not is named as destroyed."""
    text = WORKSPACE.replace("name: a, description: d", "name: b, description: d")
    repository.write("all.yaml", text)

    (one,) = (
        change for change in planned(repository.root)["changes"] if change["action"] != "keep"
    )
    assert (one["ref"], one["destroys"]) == ("LogPolicySet/all", ["a"])


def test_ids_that_the_service_gave(repository: Workspace) -> None:
    """An object with an id of the service keeps it under another name; an unknown id is said."""
    named = "metadata: {name: %s, id: " + GIVEN + "}"
    repository.write("all.yaml", SLO.replace("metadata: {name: checkout}", named % "old"))
    committed(repository.root)
    repository.write("all.yaml", SLO.replace("metadata: {name: checkout}", named % "new"))
    other = named.replace(GIVEN, GIVEN.replace("3f6a", "4f6a")) % "other"
    repository.write("more.yaml", SLO.replace("metadata: {name: checkout}", other))
    plan = planned(repository.root)

    assert actions(plan) == {"SLO/other": "create"}
    codes = {
        change["ref"]: [why["code"] for why in change["reasons"]] for change in plan["changes"]
    }
    assert "renamed-from" in codes["SLO/new"]
    assert [(remark["code"], remark["refs"]) for remark in plan["remarks"]] == [
        ("only-live-knows", ["SLO/other"])
    ]


def test_variables_are_those_of_the_revision(repository: Workspace) -> None:
    """A variable of the project file then is held against the one of now."""
    repository.settle("environments: {local: {variables: {team: payments}}}\n")
    repository.write("all.yaml", VIEW.replace("name: Errors", "name: ${var:team}"))
    committed(repository.root)
    repository.settle("environments: {local: {variables: {team: search}}}\n")

    (one,) = planned(repository.root)["changes"]
    assert [(field["before"], field["after"]) for field in one["fields"]] == [
        ("payments", "search")
    ]


@pytest.mark.parametrize("is_set", [False, True])
def test_no_secret_is_needed(repository: Workspace, is_set: bool) -> None:
    """A secret is the same on both sides, set or not; its value is nowhere, and its place seals."""
    named = "name: ${secret:CHANNEL}"
    repository.write("all.yaml", VIEW.replace("name: Errors", named) + "---\n" + SLO)
    committed(repository.root)
    assert actions(planned(repository.root)) == {}
    more = VIEW.replace("name: Errors", f"{named} of all").replace("{name: errors}", "{name: b}")
    repository.write("more.yaml", more)
    given = {"CHANNEL": VALUE} if is_set else {}
    ran = against(repository.root, "-v", **given)

    assert ran.code == 0, ran.err
    assert "stand-in" not in ran.out + ran.err


def test_no_secret_place_is_looked_at(repository: Workspace) -> None:
    """Neither a command nor a file of a secret is run or read."""
    marker = repository.root.parent / "ran"
    repository.settle(
        f"secrets: {{CHANNEL: {{command: [touch, {marker}]}}, OTHER: {{file: gone.txt}}}}\n"
        "environments: {local: {}}\n"
    )
    repository.write("all.yaml", VIEW.replace("Errors", "${secret:CHANNEL} ${secret:OTHER}"))
    committed(repository.root)

    assert actions(planned(repository.root)) == {}
    assert not marker.exists()


def test_nothing_is_touched(repository: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """No file is made or changed, the journal is not read, and nothing leaves the process."""
    repository.settle(
        "environments: {local: {baseUrl: 'https://nowhere.example.com', journal: kept/j.jsonl}}\n"
    )
    committed(repository.root)
    repository.write("kept/j.jsonl", "no journal at all")
    repository.write(".reconciler/local.db", "no data at all")
    before = files_below(repository.root)

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("something was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)

    assert actions(planned(repository.root)) == {}
    assert files_below(repository.root) == before


def test_the_emulator_of_the_environment_is_not_touched(repository: Workspace) -> None:
    """An environment that is an emulator gets neither data nor journal."""
    repository.settle("environments: {local: {emulator: {data: .reconciler/local.db}}}\n")
    before = files_below(repository.root)

    assert against(repository.root).code == 0
    assert files_below(repository.root) == before


def test_a_plan_against_a_revision_is_never_applied(repository: Workspace) -> None:
    """Its file is refused, and its digest is that of no plan of a service."""
    repository.settle("environments: {local: {emulator: {data: .reconciler/local.db}}}\n")
    repository.write("more.yaml", VIEW.replace("{name: errors}", "{name: more}"))
    file = repository.root.parent / "plan.json"
    digest = planned(repository.root, "--out", str(file))["digest"]
    by_file = typed_at(repository.root, PATH, "apply", "--plan", str(file))
    by_digest = typed_at(repository.root, PATH, "apply", "--expect", digest)

    assert (by_file.code, by_digest.code) == (64, 6)
    assert "--against" in by_file.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("--changed-since", "main"),
        ("--watch", "--format", "json"),
    ],
)
def test_what_does_not_go_together(repository: Workspace, arguments: tuple[str, ...]) -> None:
    """Two revisions, and watching what nobody reads along, are usage errors."""
    assert against(repository.root, *arguments).code == 64


@pytest.mark.parametrize("rev", ["nowhere", "-x", ""])
def test_no_revision(repository: Workspace, rev: str) -> None:
    """What is no revision is a usage error that names it."""
    ran = against(repository.root, rev=rev)

    assert (ran.code, f"`{rev}`" in ran.err) == (64, True)


def test_outside_of_git(tmp_path: Path) -> None:
    """Without a repository the flag is named."""
    Workspace(tmp_path).write("all.yaml", VIEW)
    ran = against(tmp_path, "all.yaml")

    assert (ran.code, "--against" in ran.err) == (64, True)


def test_the_last_commit_in_common(repository: Workspace) -> None:
    """What main got meanwhile is no change of this branch."""
    git(repository.root, "checkout", "--quiet", "-b", "change")
    git(repository.root, "checkout", "--quiet", "main")
    repository.write("all.yaml", WORKSPACE.replace("first", "second"))
    committed(repository.root)
    git(repository.root, "checkout", "--quiet", "change")

    assert actions(planned(repository.root)) == {}


def test_a_selection(repository: Workspace) -> None:
    """A selection limits what is planned, not what the revision declares."""
    repository.write("all.yaml", WORKSPACE.replace("first", "second").replace("99.9", "99.8"))
    plan = planned(repository.root, "--select", "kind=SLO")

    assert actions(plan) == {"SLO/checkout": "update"}
    assert plan["orphans"] == []


def test_what_an_emulator_does_not_take(
    repository: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What cannot be applied of the revision is said by name, and counts as not there."""
    create_app, strict = (
        reconciler.emulator.create_app,
        settings_of(Profile, {"duplicateNames": "conflict"}),
    )

    def create(data: Path, **options: Any) -> Any:
        return create_app(data, **{**options, "profile": strict})

    monkeypatch.setattr(reconciler.emulator, "create_app", create, raising=False)
    repository.write("all.yaml", SLO)
    repository.write("other.yaml", SLO.replace("{name: checkout}", "{name: other}"))
    committed(repository.root)
    plan = planned(repository.root)
    refused = [remark["refs"] for remark in plan["remarks"] if remark["code"] == "base-refused"]

    assert [actions(plan).keys()] == [set(value) for value in refused]
    assert len(refused) == 1


def _link(root: Path) -> None:
    (root / "link.yaml").symlink_to("/etc/passwd")


def _bomb(root: Path) -> None:
    levels = "\n".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9))
    (root / "bomb.yaml").write_text(f"a0: &a0 [x]\n{levels}\n")


def _huge(root: Path) -> None:
    (root / "huge.yaml").write_text("# " + "x" * (9 << 20))


def _bad(root: Path) -> None:
    (root / "bad.yaml").write_text("a: [\n")


def _wrong(root: Path) -> None:
    (root / "wrong.yaml").write_text(VIEW.replace("SavedView", "SavedViews"))


def _project(root: Path) -> None:
    (root / "reconciler.yaml").write_text("environments: 7\n")


def _variable(root: Path) -> None:
    (root / "variable.yaml").write_text(VIEW.replace("Errors", "${var:nowhere}"))


def _binary(root: Path) -> None:
    (root / "binary.yaml").write_bytes(b"\xff\xfe\x00\x01" * 50)


@pytest.mark.parametrize(
    ("spoil", "named"),
    [
        (_link, "link.yaml"),
        (_bomb, "bomb.yaml"),
        (_huge, "huge.yaml"),
        (_bad, "bad.yaml"),
        (_wrong, "wrong.yaml"),
        (_project, "reconciler.yaml"),
        (_variable, "variable.yaml"),
        (_binary, "binary.yaml"),
    ],
)
def test_a_hostile_revision(repository: Workspace, spoil: Any, named: str) -> None:
    """What cannot be relied on at the revision ends in an error that names it and the file."""
    spoil(repository.root)
    committed(repository.root)
    git(repository.root, "rm", "--quiet", "-r", "--force", named)
    repository.settle("environments: {local: {}}\n")
    ran = against(repository.root)

    assert (ran.code, ran.out) == (4, "")
    assert f"main ({git(repository.root, 'rev-parse', 'HEAD')[:12]})" in ran.err
    assert named in ran.err


def test_a_link_inside_the_revision(repository: Workspace) -> None:
    """A link to a file of the revision is that file, as it is in the working tree."""
    repository.write("exports/board.json", '{"name": "B", "layout": {"sections": []}}')
    (repository.root / "board.json").symlink_to("exports/board.json")
    text = DASHBOARD.split("  dashboard:")[0] + '  dashboard: "${file:board.json}"\n'
    repository.write("all.yaml", text)
    committed(repository.root)

    assert actions(planned(repository.root)) == {}


def test_a_submodule(repository: Workspace) -> None:
    """A submodule's files are in no object here: that is said, and hides no other manifest."""
    head = git(repository.root, "rev-parse", "HEAD")
    git(repository.root, "update-index", "--add", "--cacheinfo", f"160000,{head},vendor")
    git(repository.root, "commit", "--quiet", "--message", "Submodule")
    ran = against(repository.root)

    assert ran.code == 0
    assert "vendor" in ran.err


def test_a_project_file_that_is_new(repository: Workspace) -> None:
    """Where the revision has no project file, what it declares needs none."""
    git(repository.root, "rm", "--quiet", "--cached", "reconciler.yaml")
    git(repository.root, "commit", "--quiet", "--message", "None")

    assert actions(planned(repository.root)) == {}


def test_a_lost_object(repository: Workspace) -> None:
    """Objects that this repository lacks are told as that, without a traceback."""
    blob = git(repository.root, "rev-parse", "HEAD:all.yaml")
    (repository.root / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    ran = against(repository.root)

    assert (ran.code, ran.out) == (4, "")
    assert "all.yaml" in ran.err


def essence(plan: Any) -> str:
    """Give what a plan says of each resource, ids by their names, but for seals and evidence."""
    parts = ("ref", "action", "fields", "destroys", "source")
    told = [{name: change[name] for name in parts} for change in plan["changes"]]
    gone = [orphan["ref"] for orphan in plan["orphans"]]
    text = json.dumps((told, gone), ensure_ascii=False)
    for change in (*plan["changes"], *plan["orphans"]):
        # Those of saved views are counted, and stand in no text.
        if isinstance(change["remoteId"], str):
            text = text.replace(change["remoteId"], change["ref"])
    return SEAL.sub("SEAL", text)


@pytest.mark.parametrize("seed", range(int(os.environ.get("RECONCILER_PAIRS", "6"))))
def test_it_is_the_plan_of_a_service_that_has_the_base(tmp_path: Path, seed: int) -> None:
    """For random pairs it is, field by field, the plan on a server that the base was applied to."""
    random = RandomWorkspace(Random(seed))  # noqa: S311 - no secret
    root = tmp_path / "repository"
    root.mkdir()
    random.edit()
    random.write(root, PROJECT)
    begin(root)
    with served() as service:
        app = service.switch.app
        with app.state.store.writing():
            plant(app.state.store, ALERT_IDS, "2026-01-01T00:00:00Z")
        environ = {**environment(service.base_url), SECRET: VALUE}
        journal = {"RECONCILER_API_KEY": KEY}
        applied = typed_at(
            root, {**environ, **journal}, *APPLY, "--yes", "--override-guard", "all of it is new"
        )
        assert applied.code == 0, applied.err
        random.edit()
        random.write(root, PROJECT)
        there = typed_at(root, environ, "plan", "--format", "json")
        asked = service.switch.asked
        here = planned(root)

    assert there.code == 0, there.err
    assert service.switch.asked == asked
    assert essence(here) == essence(there.json)
    assert VALUE not in repr(here)
