"""`journal move`: to another store, and along to another address."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from unittest import mock

import pytest
from harness.doors import APPLY, Ran, in_a_process, in_this_process
from harness.golden import Golden
from harness.repositories import ISOLATED, repository
from harness.served import Served
from harness.workspaces import WORKSPACE, workspace

from reconciler.journal.git_store import GitRemote

pytestmark = pytest.mark.promise("P17")

FILE, REF = ".reconciler/journal.jsonl", "git:refs/reconciler/test"
SECRETS = {"HOOK": "s3cret-hook-value", "TOKEN": "s3cret-token-value"}
WITH_SECRETS = WORKSPACE.replace("description: first", 'description: "${secret:HOOK}"').replace(
    "description: Whoever is on call looks at the checkout.", 'description: "${secret:TOKEN}"'
)


@pytest.fixture
def folder(tmp_path: Path, service: Served) -> Path:
    """Give a checkout whose workspace was applied, with a journal in a file."""
    folder = workspace(repository(tmp_path / "git"))
    assert run(folder, service, *APPLY, "--yes").code == 0
    return folder


def run(folder: Path, service: Served, *arguments: str, **more: str) -> Ran:
    """Run one command on the workspace."""
    return in_this_process(folder, service.base_url, *arguments, more={**ISOLATED, **more})


def keep_in(folder: Path, place: str) -> None:
    """Let the project file lead to another journal."""
    text = f"environments: {{default: {{journal: '{place}'}}}}"
    (folder / "reconciler.yaml").write_text(text, encoding="utf-8")


def continued(folder: Path, service: Served) -> tuple[str, str]:
    """Give what `verify` says a journal goes on from."""
    ended = run(folder, service, "journal", "verify", "--format", "json")
    (found,) = json.loads(ended.out)["findings"]
    return found["finding"], found["message"]


def test_what_verify_says_of_a_move(folder: Path, service: Served) -> None:
    """`verify` tells a journal that arrived from another place from one that was made short."""
    other = ".reconciler/other.jsonl"
    assert run(folder, service, "journal", "move", "--to", other).code == 0
    keep_in(folder, other)

    moved = continued(folder, service)
    run(folder, service, "journal", "compact")
    compacted = continued(folder, service)
    assert run(folder, service, "journal", "move", "--to", FILE).code == 0
    keep_in(folder, FILE)
    back = continued(folder, service)

    assert moved[0] == "moved"
    assert f"it arrived from {FILE} (" in moved[1]
    assert compacted[0] == "compacted"
    assert (back[0], f"it arrived from {other} (" in back[1]) == ("moved", True)


def test_to_git_and_back(folder: Path, service: Served, golden: Golden) -> None:
    """A journal goes from a file to git and back: no plan changes, and the old place refuses."""
    before = run(folder, service, "plan", "--format", "json")

    ended = run(folder, service, "journal", "move", "--to", REF, RECONCILER_ACTOR="alice")
    old = [run(folder, service, *element) for element in (["plan"], ["apply", "--yes"], ["drift"])]
    old += [run(folder, service, "journal", one) for one in ("init", "show", "verify", "compact")]
    keep_in(folder, REF)

    assert ended.code == 0, ended.err
    golden(ended.err)
    assert [one.code for one in old] == [4] * 7
    assert all(f"was moved to {REF}" in one.err for one in old)
    assert run(folder, service, "plan", "--format", "json") == before
    runs = json.loads(run(folder, service, "journal", "history", "--format", "json").out)
    assert [(value["command"], value["outcomes"]) for value in runs] == [
        ("apply", {"written": 5}),
        ("move", {}),
    ]
    assert runs[1]["actor"] == "alice"

    assert run(folder, service, "journal", "move", "--to", FILE).code == 0
    keep_in(folder, FILE)
    assert run(folder, service, "plan", "--format", "json") == before
    assert run(folder, service, "journal", "verify").code == 0
    shown = run(folder, service, "journal", "show").out
    assert "arrived     from git:refs/reconciler/test" in shown


def test_an_old_copy_stays_where_it_is(folder: Path, service: Served) -> None:
    """A journal whose newer end is missing is not moved: the new place would not show that."""
    file = folder / FILE
    old = b"".join(file.read_bytes().splitlines(keepends=True)[:-1])
    file.write_bytes(old)

    ran = run(folder, service, "journal", "move", "--to", ".reconciler/other.jsonl")

    assert ran.code == 8, ran.err
    assert file.read_bytes() == old
    assert not (folder / ".reconciler" / "other.jsonl").exists()


def test_moved_again(folder: Path, service: Served) -> None:
    """The same move again changes nothing, before and after the project file is edited."""
    run(folder, service, "journal", "move", "--to", REF)

    again = run(folder, service, "journal", "move", "--to", REF)
    keep_in(folder, REF)
    shown = run(folder, service, "journal", "show").out
    edited = run(folder, service, "journal", "move", "--to", REF)
    quiet = run(folder, service, "journal", "move", "--to", REF, "-q")

    assert [one.code for one in (again, edited, quiet)] == [0, 0, 0], again.err + edited.err
    assert "already" in again.err
    assert "already" in edited.err
    assert quiet.err == ""
    assert run(folder, service, "journal", "show").out == shown


def test_next_to_it(folder: Path, service: Served) -> None:
    """A path is relative to the project file, and its folder is made, for the owner only."""
    ended = run(folder, service, "journal", "move", "--to", "kept/here/journal.jsonl")

    assert ended.code == 0, ended.err
    assert (folder / "kept" / "here" / "journal.jsonl").stat().st_mode & 0o777 == 0o600
    assert (folder / "kept" / "here").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ([], 64, "--to PLACE, --base-url URL, or both"),
        (["--to", "ftp://x/y"], 64, "is none of these"),
        (["--to", "git:refs/heads/main"], 64, "belongs to git"),
        (["--to", ""], 64, "must be a path"),
        (["--base-url", "http://far.example.com"], 4, "--base-url"),
        (["--base-url", "not a url"], 4, "--base-url"),
        (["--to", "all.yaml"], 8, "all.yaml"),
    ],
)
def test_refused(folder: Path, service: Served, arguments: list[str], code: int, said: str) -> None:
    """A move to no place, to no address or over another file is refused, and nothing changes."""
    files = {path: path.read_bytes() for path in (folder / FILE, folder / "all.yaml")}

    ended = run(folder, service, "journal", "move", *arguments)

    assert (ended.code, said in ended.err) == (code, True), ended.err
    assert {file: file.read_bytes() for file in files} == files
    assert not (folder / "all.yaml.lock").exists()


def test_without_a_project_file(tmp_path: Path, service: Served) -> None:
    """Without a project file nothing could lead to the new place: exit 64."""
    ended = in_a_process(tmp_path, service.base_url, "journal", "move", "--to", "x.jsonl")

    assert (ended.code, "no project file" in ended.err) == (64, True), ended.err


def test_the_embedded_emulator_has_no_address(tmp_path: Path) -> None:
    """The journal of an embedded emulator goes to no address, nor does one that was of it."""
    project = tmp_path / "reconciler.yaml"
    project.write_text("environments: {default: {emulator: {data: local.db}}}")
    (tmp_path / "all.yaml").write_text(WORKSPACE)
    unset = {"RECONCILER_BASE_URL": ""}
    address = ["journal", "move", "--base-url", "https://api.example.com"]
    assert in_this_process(tmp_path, "", "journal", "init", more=unset).code == 0

    embedded = in_this_process(tmp_path, "", *address, more=unset)
    project.write_text("environments: {default: {baseUrl: 'https://api.example.com'}}")
    served = in_this_process(tmp_path, "", *address, more=unset)

    assert (embedded.code, "no address" in embedded.err) == (64, True), embedded.err
    assert (served.code, "no address" in served.err) == (64, True), served.err


@pytest.fixture
def with_secrets(tmp_path: Path, service: Served) -> Path:
    """Give a workspace with secrets, in what can be read and in what cannot, that was applied."""
    folder = workspace(tmp_path / "work", WITH_SECRETS)
    ended = run(folder, service, *APPLY, "--yes", **SECRETS)
    assert ended.code == 0, ended.err
    return folder


@pytest.mark.parametrize("edited", [False, True])
def test_another_address(
    with_secrets: Path, service: Served, golden: Golden, *, edited: bool
) -> None:
    """At another address of the same service nothing is to do, secrets too, and none drifted."""
    folder = with_secrets
    moved = replace_host(service)
    refused = run_at(moved, folder, "plan", SECRETS)
    assert refused.code == 4
    assert re.search(rf"`reconciler journal move [^`]*--base-url {moved.base_url}`", refused.err)

    ended = run_at(
        moved if edited else service, folder, "journal", {}, "move", "--base-url", moved.base_url
    )
    assert ended.code == 0, ended.err
    assert ("write `baseUrl: " in ended.err) == (not edited)

    plan = run_at(moved, folder, "plan", SECRETS, "--format", "json")
    drift = run_at(moved, folder, "drift", SECRETS)
    assert {change["action"] for change in json.loads(plan.out)["changes"]} == {"keep"}
    assert drift.code == 0, drift.out
    verified = run_at(moved, folder, "journal", SECRETS, "verify")
    golden(verified.out)
    assert run_at(service, folder, "plan", SECRETS).code == 4
    changed = run_at(
        moved, folder, "plan", {**SECRETS, "TOKEN": "s3cret-token-changed"}, "--format", "json"
    )
    actions = {change["ref"]: change["action"] for change in json.loads(changed.out)["changes"]}
    assert actions["AlertDefinition/errors"] == "update"
    assert run_at(moved, folder, "journal", {}, "compact").code == 0
    assert run_at(moved, folder, "plan", SECRETS, "--format", "json").out == plan.out


def replace_host(service: Served) -> Served:
    """Give the same service at another address."""
    return Served(service.base_url.replace("127.0.0.1", "localhost"), service.switch)


def run_at(
    service: Served, folder: Path, command: str, more: Mapping[str, str], *arguments: str
) -> Ran:
    """Run one command at an address."""
    return in_this_process(folder, service.base_url, command, *arguments, more=more)


def test_one_read_of_the_journal(folder: Path, service: Served) -> None:
    """A plan of manifests with secrets fetches a shared journal no more often than one without."""
    run(folder, service, "journal", "move", "--to", REF)
    keep_in(folder, REF)
    plain = fetches(folder, service)
    (folder / "all.yaml").write_text(WITH_SECRETS)

    assert fetches(folder, service) == plain


def fetches(folder: Path, service: Served) -> int:
    """Count how often a plan fetches the journal."""
    with mock.patch.object(GitRemote, "fetch", autospec=True, side_effect=GitRemote.fetch) as fetch:
        assert run(folder, service, "plan", **SECRETS).code == 0
    return fetch.call_count
