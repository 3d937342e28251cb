"""Keys of people, and a repository of their own for each test."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from approving import Keys, Repository, made_keys, repository_at
from harness.repositories import ISOLATED


@pytest.fixture(autouse=True)
def _settings_of_git(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the settings of this machine from git, and its target from the commands."""
    for name, value in ISOLATED.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("RECONCILER_BASE_URL", raising=False)


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Keys:
    if shutil.which("ssh-keygen") is None:
        pytest.skip("needs Debian package openssh-client")
    return made_keys(tmp_path_factory.mktemp("keys"))


@pytest.fixture(scope="session")
def template(keys: Keys, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("approvals") / "template"
    repository_at(folder, keys)
    return folder


@pytest.fixture
def repository(
    template: Path, keys: Keys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Repository:
    shutil.copytree(template, tmp_path / "project", symlinks=True)
    root = tmp_path / "project" / "clone"
    monkeypatch.chdir(root)
    return Repository(root, keys)
