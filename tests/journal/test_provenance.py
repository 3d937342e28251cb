"""Who runs, and from which commit."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.repositories import git, git_environ, repository

from reconciler.journal.provenance import actor_of, commit_of


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    return repository(tmp_path / "git")


@pytest.mark.parametrize(
    ("given", "actor"),
    [
        ({"RECONCILER_ACTOR": "told", "GITHUB_ACTOR": "octo"}, "told"),
        ({"RECONCILER_ACTOR": " ", "GITHUB_ACTOR": "octo"}, "octo"),
        ({"GITLAB_USER_LOGIN": "fox"}, "fox"),
        ({}, "alice@example.com"),
        ({"RECONCILER_ACTOR": "x" * 1000}, "x" * 200),
    ],
)
def test_actor(checkout: Path, given: dict[str, str], actor: str) -> None:
    """What was told counts before what the CI says, and that before the repository's settings."""
    git(checkout, "config", "user.email", "alice@example.com")

    assert actor_of({**git_environ(), **given}, checkout) == actor


def test_actor_without_a_repository(tmp_path: Path) -> None:
    """Elsewhere it is the user of the machine, and git is not asked."""
    assert "@" in actor_of({"PATH": "/nowhere"}, tmp_path)


def test_commit(checkout: Path) -> None:
    """The commit is the one checked out, and says where a manifest differs from it."""
    head = git(checkout, "rev-parse", "HEAD")
    (checkout / "notes.txt").write_text("not a manifest")

    assert commit_of(git_environ(), checkout, [checkout]) == head
    (checkout / "new.yaml").write_text("kind: SLO")
    assert commit_of(git_environ(), checkout, [checkout]) == f"{head}-dirty"
    assert commit_of(git_environ(), checkout, [checkout / "other"]) == head
    assert commit_of({**git_environ(), "GITHUB_SHA": "abc"}, checkout, [checkout]) == "abc"


def test_a_plan_makes_no_commit_dirty(checkout: Path) -> None:
    """A plan that lies beside the manifests is no change of these, wherever git was asked from."""
    head = commit_of(git_environ(), checkout, [checkout])
    folder = checkout / "deep"
    folder.mkdir()
    begins = '{\n  "formatVersion": 1,\n  "environment": "local",\n'
    (folder / "plan.json").write_text(begins)
    (checkout / "plan.json").write_text(begins)

    assert commit_of(git_environ(), checkout, [checkout]) == head
    assert commit_of(git_environ(), folder, [folder]) == head
    (folder / "board.json").write_text("{}")
    assert commit_of(git_environ(), folder, [folder]) == f"{head}-dirty"


def test_commit_without_one(tmp_path: Path) -> None:
    """Outside a repository, before its first commit, and without git, there is none."""
    assert commit_of(git_environ(), tmp_path, [tmp_path]) == ""
    git(tmp_path, "init", "--quiet")
    assert commit_of(git_environ(), tmp_path, [tmp_path]) == ""
    assert commit_of({"PATH": "/nowhere"}, tmp_path, [tmp_path]) == ""
