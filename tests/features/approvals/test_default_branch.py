"""Which settings bind a run, when the remote is asked for them, and in jobs."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from unittest import mock

import pytest
from approving import PROJECT, Keys, Repository, needs_openssh, repository_at, signed, statement_of
from harness.doors import in_this_process, typed
from harness.jobs import Jobs
from harness.repositories import committed, git
from harness.served import Served

from reconciler.features.approvals import default_branch
from reconciler.runtime.git import Git

pytestmark = needs_openssh

PARTIAL, REFUSED = 3, 11
UNBOUND = """\
manifests: [manifests]
environments:
  production:
    emulator: {data: .reconciler/production.db}
    journal: .reconciler/production.jsonl
"""


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the commands of git that talk to a remote, as they are run."""
    commands: list[str] = []
    run = Git.run

    def noted(self: Git, *arguments: str, **more: object) -> bytes:
        commands.extend({"ls-remote", "fetch", "push"}.intersection(arguments))
        return run(self, *arguments, **more)  # type: ignore[arg-type]  # as it was called

    monkeypatch.setattr(Git, "run", noted)
    return commands


def test_without_approvals(
    keys: Keys, tmp_path: Path, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A project without approvals asks no remote for anything, and is applied as ever."""
    here = repository_at(tmp_path / "project", keys, UNBOUND)
    monkeypatch.chdir(here.root)

    ran = [here.run("plan"), here.run("apply", "--yes"), typed("rollback", "last", "--yes")]

    assert ([one.code for one in ran], asked) == ([0, 0, PARTIAL], [])


@pytest.mark.parametrize("lack", ["no git", "no answer"])
@pytest.mark.parametrize("project", [PROJECT, UNBOUND])
def test_without_git(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, lack: str, project: str
) -> None:
    """A checkout is not written where git is missing or stuck, with or without `approvals`."""
    repository.settle(project)
    monkeypatch.setenv("PATH", str(slow_git(repository.root / ".reconciler", lack)))
    options, _, *others = Git.__init__.__defaults__ or ()
    monkeypatch.setattr(Git.__init__, "__defaults__", (options, 0.2, *others))

    ran = repository.run("apply", "--yes", "--new-journal")

    assert ran.code == REFUSED, ran.err
    assert not (repository.root / ".reconciler" / "production.jsonl").exists()


def slow_git(folder: Path, lack: str) -> Path:
    """Return a folder of programs with a git that gives no answer, or without git."""
    folder.mkdir(exist_ok=True)
    if lack == "no answer":
        program = folder / "git"
        program.write_text("#!/bin/sh\nexec /bin/sleep 60\n", encoding="utf-8")
        program.chmod(0o755)
    return folder


def test_a_folder_that_is_no_checkout(
    keys: Keys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no repository is, no git is needed to apply a project without approvals."""
    here = repository_at(tmp_path / "project", keys, UNBOUND)
    shutil.rmtree(here.root / ".git")
    monkeypatch.setenv("PATH", str(tmp_path))

    ran = here.run("apply", "--yes")

    assert ran.code == 0, ran.err


def test_a_default_branch_that_was_never_fetched(repository: Repository) -> None:
    """Without the default branch, the remote binds if it answers, else the checkout goes."""
    repository.settle(UNBOUND)
    for ref in git(repository.root, "for-each-ref", "--format=%(refname)", "refs/remotes").split():
        git(repository.root, "update-ref", "--no-deref", "-d", ref)
    remote = repository.root.parent / "remote.git"

    asked = repository.run("apply", "--yes")
    remote.rename(remote.with_name("moved.git"))
    silent = repository.run("apply", "--yes")

    assert (asked.code, silent.code) == (REFUSED, 0), silent.err


def test_another_project_file(repository: Repository) -> None:
    """A project file that a branch puts next to that of the default branch binds no less."""
    repository.write("other.yaml", UNBOUND)

    ran = typed("apply", "--project", "other.yaml", "--yes")

    assert ran.code == REFUSED, ran.err


def test_with_approvals(repository: Repository, asked: list[str]) -> None:
    """Where approvals bind, the remote is asked for its newest commit, with no branch fetched."""
    assert repository.run("apply", "--yes").code == REFUSED

    assert {*asked} == {"ls-remote"}


def test_a_target_from_the_environment(keys: Keys, tmp_path: Path, service: Served) -> None:
    """An environment without a target is bound where RECONCILER_BASE_URL gives it one.

    Without that check it is written.
    """
    here = repository_at(tmp_path / "project", keys)
    here.settle(
        PROJECT.replace("defaultEnvironment: production", "defaultEnvironment: own").replace(
            "  staging:", "  own: {journal: .reconciler/own.jsonl}\n  staging:"
        )
    )

    ran = in_this_process(here.root, service.base_url, "apply", "-e", "own", "--yes")

    before = [*service.writes]
    with mock.patch.object(default_branch, "_bound_by_address", lambda settings: settings):
        without = in_this_process(
            here.root, service.base_url, "apply", "-e", "own", "--yes", "--new-journal"
        )

    assert (ran.code, before) == (REFUSED, []), ran.err
    assert without.code == 0, without.err
    assert service.writes


def moved_down(here: Repository, folder: str) -> Repository:
    """Return the repository with its project in a folder, on the default branch too."""
    names = ("reconciler.yaml", "approvers", "manifests")
    (here.root / folder).mkdir()
    for name in names:
        (here.root / name).rename(here.root / folder / name)
    here.merged()
    return Repository(here.root / folder, here.keys)


def test_a_repository_in_the_project(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files of a repository that a branch put into the project's folder lead to no other remote."""
    here = moved_down(repository, "shop")
    monkeypatch.chdir(here.root)
    here.planned()
    given = here.approved("mallory", "marvin")
    other = Repository(repository.root, repository.keys)
    forged = here.root.parent.parent / "forged.git"
    (here.root / "approvers").write_text(here.keys.listed("mallory", "marvin"), encoding="utf-8")
    committed(other.root, "A branch")
    git(other.root, "clone", "--quiet", "--bare", ".", str(forged))
    git(forged, "config", "remote.origin.url", str(forged))
    git(other.root, "reset", "--quiet", "--hard", "HEAD~1")
    shutil.copytree(forged, here.root, dirs_exist_ok=True)

    ran = here.run("apply", "--plan", str(here.plan_file), *given)

    assert ran.code == REFUSED, ran.err


def test_a_commit_of_another_clone(
    repository: Repository, asked: list[str], tmp_path: Path
) -> None:
    """A newest commit that this clone does not have is fetched, and its list is used."""
    repository.planned()
    old, new = repository.approved("alice", "bob"), repository.approved("alice", "carol")
    git(tmp_path, "clone", "--quiet", "project/remote.git", "other")
    other = Repository(tmp_path / "other", repository.keys)
    other.merged(approvers=repository.keys.listed("alice", "carol"))
    plan = ("apply", "--plan", str(repository.plan_file))

    refused, ran = repository.run(*plan, *old[:4]), repository.run(*plan, *new)

    assert (refused.code, ran.code) == (REFUSED, 0), ran.err
    assert "fetch" in asked


@pytest.fixture
def bound(jobs: Jobs, keys: Keys, tmp_path: Path) -> Jobs:
    """Return a repository whose jobs need two approvals, and a server to ask for them."""
    server = tmp_path / "server.git"
    git(tmp_path, "init", "--quiet", "--bare", "--initial-branch=main", str(server))
    git(jobs.root, "remote", "add", "origin", str(server))
    jobs.edit(
        "    journal: .reconciler/production.jsonl\n",
        "    journal: .reconciler/production.jsonl\n"
        "    approvals: {count: 2, breakGlass: true}\n    approvers: approvers\n",
        "reconciler.yaml",
    )
    (jobs.root / "approvers").write_text(keys.listed("alice", "bob", "carol"), encoding="utf-8")
    jobs.base = jobs.merge()
    git(jobs.root, "push", "--quiet", "origin", "main")
    return jobs


def folder_of(jobs: Jobs, keys: Keys, *people: str) -> str:
    """Sign the plan file of the last job; return the folder of the approvals."""
    (file,) = jobs.temporary.glob("plan-*.json")
    statement = statement_of(json.loads(file.read_text(encoding="utf-8")))
    folder = jobs.temporary / "approvals"
    folder.mkdir(exist_ok=True)
    for person in people:
        text = json.dumps(signed(statement, keys.of(person)))
        (folder / f"{person}.approval").write_text(text, encoding="utf-8")
    return str(folder)


def test_jobs(bound: Jobs, keys: Keys, monkeypatch: pytest.MonkeyPatch) -> None:
    """`ci apply` needs approvals in its folder; no other input, and no approval of one, will do."""
    assert bound.change().code == 0
    one = folder_of(bound, keys, "alice", "mallory")
    monkeypatch.setitem(bound.more, "INPUT_APPROVAL", "true")

    codes = [
        bound.merged(require_plan="none", override_guard="not-approved=now").code,
        bound.merged(require_plan="none", approvals=one).code,
    ]
    refused = [*bound.service.writes]
    ran = bound.merged(require_plan="none", approvals=folder_of(bound, keys, "bob"))

    assert (codes, refused) == ([REFUSED, REFUSED], [])
    assert (ran.code, ran.outputs["result"]) == (0, "applied"), ran.log
    assert bound.service.writes
    journal = (bound.root / ".reconciler" / "production.jsonl").read_text(encoding="utf-8")
    assert journal.count('"approved"') == 2


def paragraphs(jobs: Jobs) -> str:
    """Return the visible comment up to its first fold."""
    return jobs.comment.partition("<details")[0]


def test_the_comment_of_an_approved_apply(bound: Jobs, keys: Keys) -> None:
    """Above its folds the comment names who approved until when, and no guard as open."""
    bound.change()
    folder = folder_of(bound, keys, "alice", "carol")

    planned = bound.change(approvals=folder)
    before = bound.comment
    ran = bound.merged(approvals=folder)

    assert (planned.code, ran.code) == (0, 0), ran.log
    (line,) = [line for line in paragraphs(bound).splitlines() if line.startswith("✅")]
    until = re.findall(r"`(\w+)` until (\S+Z)", line)
    assert [name for name, _ in until] == ["alice", "carol"]
    assert line in before
    assert bound.comment.count("✅") == 1
    assert "not-approved" not in bound.comment + before
    assert ran.summary.count("✅") == 1


def test_the_steps_of_an_approver(bound: Jobs, keys: Keys) -> None:
    """The comment on a plan names approvers, artifact and command, and a folder to commit to."""
    without = bound.change()
    generic = bound.comment
    (bound.root / "signed").mkdir()
    inside = bound.change(approvals="signed")
    committed_to = bound.comment

    ran = bound.change(approvals=folder_of(bound, keys))

    assert "must consent by name" not in generic
    for text in (generic, committed_to, bound.comment):
        assert all(f"`{name}`" in text for name in ("alice", "bob", "carol"))
        assert f"`{ran.outputs['artifact-name']}`" in text
        assert f"reconciler approve {Path(ran.outputs['plan-path']).name}" in text
    assert (without.code, inside.code, ran.code) == (0, 0, 0)
    assert "--out approvals/production/" in generic
    assert "`approvals: approvals/production`" in generic
    assert "--out signed/" in committed_to
    assert "approve plan-default.json`" in bound.comment


def test_what_is_missing_before_an_apply(bound: Jobs, keys: Keys) -> None:
    """The first line of a comment has the signatures that are missing, and none that is there."""
    heads = []
    for people in ((), ("bob",), ("alice",)):
        bound.change(approvals=folder_of(bound, keys, *people) if people else "nowhere")
        heads += [
            line for line in bound.comment.splitlines() if line.startswith("**Before an apply**")
        ]

    none, one = heads
    assert "2 approvers sign it (`alice`, `bob`, `carol`)" in none
    assert "1 more approver signs it (`alice`, `carol`)" in one


def test_a_folder_without_its_first_approval(bound: Jobs) -> None:
    """A folder of approvals that does not exist yet is no approval that cannot be read."""
    bound.change(approvals="approvals/production")

    assert "read" not in paragraphs(bound)
    assert "--out approvals/production/" in bound.comment


def test_a_refusal_is_shown_once(bound: Jobs, keys: Keys) -> None:
    """An apply without enough approvals says once who approved, and who is missing."""
    bound.change()
    folder = folder_of(bound, keys, "alice")

    ran = bound.merged(approvals=folder)

    assert ran.code == REFUSED
    assert "The plan as it is now" in bound.comment
    for text in (bound.comment, ran.summary):
        assert text.count("not-approved") == 1
        assert text.count("`alice` until") == 1


def test_approvals_of_other_plans_are_counted(bound: Jobs, keys: Keys) -> None:
    """Of many files for other plans a refusal has one line, and no name of a file."""
    bound.change()
    folder = Path(folder_of(bound, keys, "alice", "bob", "carol"))
    for number, file in enumerate(sorted(folder.iterdir())):
        file.rename(folder / f"old-{number}.approval")
    bound.edit("name: Errors", "name: All errors")
    bound.change()

    ran = bound.merged(approvals=folder_of(bound, keys, "alice"))

    assert ran.code == REFUSED
    assert "old-" not in bound.comment
    assert len(re.findall(r"\b3 files\b", bound.comment)) == 1
    assert "`alice` until" in bound.comment


def test_an_approval_after_the_merge(bound: Jobs, keys: Keys) -> None:
    """A pull request that only adds the missing approval is planned alike, and applies it all."""
    bound.change()
    digest = bound.marker.digest
    inside = bound.root / "approvals" / "production"
    inside.mkdir(parents=True)
    given = {"approvals": str(inside)}
    shutil.copy(Path(folder_of(bound, keys, "alice")) / "alice.approval", inside)
    bound.change(**given)
    refused = bound.merged(**given)
    bound.base = bound.head

    shutil.copy(Path(folder_of(bound, keys, "bob")) / "bob.approval", inside)
    planned = bound.change(**given)
    ran = bound.merged(**given)

    assert (refused.code, planned.code, ran.code) == (REFUSED, 0, 0), ran.log
    assert planned.outputs["digest"] == digest
    assert ran.outputs["result"] == "applied"


def test_an_emergency_in_a_job(bound: Jobs) -> None:
    """A job with `break-glass` applies where that is permitted; the reason begins its comment."""
    assert bound.change().code == 0
    ran = bound.merged(break_glass="it burns", require_plan="none")

    assert ran.code == 0, ran.log
    heads = [line for line in bound.comment.splitlines() if line and not line.startswith("<!--")]
    assert "it burns" in heads[0]


def test_settings_that_do_not_count(repository: Repository) -> None:
    """A plan says that other settings than the checkout's bind, where they differ, if not quiet."""
    same = repository.run("plan")
    repository.settle(PROJECT.replace("count: 2", "count: 1"))

    ran = [same, repository.run("plan"), repository.run("plan", "--quiet")]

    assert ["`variables:`" in plan.err for plan in ran] == [False, True, False]
