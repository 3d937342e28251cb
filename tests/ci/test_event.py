"""What started a job. The payloads are made by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from harness.forge import (
    BASE,
    FORK,
    HEAD,
    MERGE,
    NUMBER,
    merge_group,
    pull_request,
    push,
    variables,
    workflow_run,
)

from reconciler.ci.trust import Event, read_event


def read(folder: Path, name: str, payload: Any = None, **more: str) -> Event:
    """Read an event as a job would."""
    return read_event(variables(folder, name, payload or {}, **more))


def test_a_change(tmp_path: Path) -> None:
    """A change of the repository's own has a number, two sides, secrets, and no trust."""
    event = read(tmp_path, "pull_request", pull_request())

    assert (event.head, event.base, event.commit) == (HEAD, BASE, MERGE)
    assert (event.pull_request, event.branch) == (NUMBER, "main")
    assert event.run_url == "https://forge.example.com/team/shop/actions/runs/42"
    assert (event.named_branch, event.named_commit) == ("main", BASE)
    assert not event.has_no_secrets


@pytest.mark.parametrize("repository", [FORK, {"id": 3}], ids=["fork", "odd"])
def test_a_change_of_a_fork(tmp_path: Path, repository: Any) -> None:
    """A change from another repository comes without secrets."""
    event = read(tmp_path, "pull_request", pull_request(repository))

    assert event.has_no_secrets


def test_a_deleted_fork(tmp_path: Path) -> None:
    """A change whose repository is gone is foreign."""
    payload = pull_request()
    payload["pull_request"]["head"]["repo"] = None

    assert read(tmp_path, "pull_request", payload).is_fork


def test_a_change_of_a_bot(tmp_path: Path) -> None:
    """A bot's change comes without secrets too."""
    assert read(
        tmp_path, "pull_request", pull_request(), GITHUB_ACTOR="renovator[bot]"
    ).has_no_secrets


def test_the_base_is_what_runs(tmp_path: Path) -> None:
    """Where the forge runs the base branch, its commit is the base, whatever the payload says."""
    target = read(tmp_path, "pull_request_target", pull_request(FORK))
    after = read(tmp_path, "workflow_run", workflow_run())

    assert (target.base, after.base) == (MERGE, MERGE)
    assert (target.named_branch, target.named_commit) == ("main", MERGE)
    assert (after.named_branch, after.named_commit) == ("main", MERGE)
    assert (after.head, after.is_fork, after.pull_request) == (HEAD, True, None)


def test_a_queued_merge(tmp_path: Path) -> None:
    """A merge queue's trial names its pull request."""
    event = read(tmp_path, "merge_group", merge_group())

    assert (event.pull_request, event.base, event.branch) == (NUMBER, BASE, "main")
    assert (event.named_commit, event.is_on_default, event.is_try) == (BASE, True, True)


@pytest.mark.parametrize("name", ["push", "workflow_dispatch", "schedule"])
def test_the_default_branch(tmp_path: Path, name: str) -> None:
    """The forge names the newest commit of the default branch with what runs on it."""
    event = read(tmp_path, name, push())

    assert (event.is_on_default, event.named_commit) == (True, MERGE)
    assert event.branch == "main"


def test_a_schedule_without_a_branch(tmp_path: Path) -> None:
    """A schedule runs on the default branch only, though its payload may not name that."""
    assert read(tmp_path, "schedule", {}).is_on_default
    assert not read(tmp_path, "push", {}).is_on_default


@pytest.mark.parametrize("ref", ["refs/heads/try", "refs/tags/main", "refs/heads/", "main", ""])
@pytest.mark.parametrize("name", ["push", "workflow_dispatch", "release"])
def test_another_ref(tmp_path: Path, name: str, ref: str) -> None:
    """What runs on any other branch, or on a tag of that name, is not on the default branch."""
    protected = {"GITHUB_REF": ref, "GITHUB_REF_PROTECTED": "true"}

    assert not read(tmp_path, name, push(), **protected).is_on_default


def test_outside_of_the_forge() -> None:
    """Without the variables there is no event, no repository and no trust."""
    event = read_event({})

    assert event == Event()
    assert not event.is_on_default


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", "null", '{"pull_request": 7}', '{"pull_request": {"head": []}}', "[" * 10**5],
    ids=["empty", "list", "cut", "null", "number", "inner", "deep"],
)
def test_odd_payloads(tmp_path: Path, text: str) -> None:
    """A payload of any other form is one that says nothing."""
    environ = variables(tmp_path, "pull_request", {})
    Path(environ["GITHUB_EVENT_PATH"]).write_text(text, encoding="utf-8")
    event = read_event(environ)

    assert (event.head, event.base, event.pull_request) == ("", "", None)


def test_odd_variables(tmp_path: Path) -> None:
    """Commits, numbers and names of an odd form count as absent."""
    payload = pull_request(base="--upload-pack=x", head="HEAD")
    payload["pull_request"]["number"] = payload["number"] = True
    more = {"GITHUB_REPOSITORY": "a/b/../c", "GITHUB_SHA": "main", "GITHUB_RUN_ID": "x"}
    event = read(tmp_path, "pull_request", payload, **more)

    assert (event.head, event.base, event.commit, event.repository) == ("", "", "", "")
    assert (event.pull_request, event.run, event.run_url) == (None, 0, "")
