from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from imaging import copy_sources
from runner import ROOT

from reconciler.syntax.read_text import read_text

HOOKS = ROOT / ".pre-commit-hooks.yaml"
BIN = Path(sys.executable).parent
VIEW = """\
apiVersion: reconciler/v1
kind: SavedView
metadata: {name: errors}
spec:
  %s: Errors
  timeSelection: {quickSelection: {seconds: 900}}
"""


class Repository:
    """A git repository with a workspace in it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.git("init", "--quiet")
        self.write("reconciler.yaml", "manifests: [ops]\n")
        self.write("ops/view.yaml", VIEW % "name")

    def write(self, name: str, text: str) -> None:
        """Write a file and stage it."""
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        self.git("add", name)

    def git(self, *arguments: str) -> None:
        """Run git."""
        subprocess.run(["git", "-C", self.root, *arguments], check=True)  # noqa: S607 - git of the PATH

    def pre_commit(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        """Run pre-commit, with everything that it keeps inside this folder."""
        environ = {**os.environ, "PRE_COMMIT_HOME": str(self.root / ".git" / "kept")}
        environ["PATH"] = f"{BIN}:{os.environ['PATH']}"
        return subprocess.run(
            [BIN / "pre-commit", *arguments],
            cwd=self.root,
            env=environ,
            capture_output=True,
            check=False,
            text=True,
        )


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Give a repository that uses the hook of this project with the command that is installed."""
    made = Repository(tmp_path)
    (document,) = read_text(HOOKS.read_text(encoding="utf-8")).documents
    hooks: Any = document.value
    config = {
        "repos": [{"repo": "local", "hooks": [{**hook, "language": "system"} for hook in hooks]}]
    }
    made.write(".pre-commit-config.yaml", json.dumps(config))
    return made


def test_the_manifest_of_hooks(repository: Repository) -> None:
    """The file that offers the hook is valid."""
    checked = repository.pre_commit("validate-manifest", HOOKS)

    assert checked.returncode == 0, checked.stdout


def test_a_good_commit(repository: Repository) -> None:
    """A commit of good manifests passes."""
    ran = repository.pre_commit("run")

    assert ran.returncode == 0, ran.stdout
    assert "Passed" in ran.stdout


def test_a_wrong_commit(repository: Repository) -> None:
    """A commit that leaves anything wrong in the workspace fails, also where it is elsewhere."""
    repository.write("ops/wrong.yaml", VIEW.replace("errors", "wrong") % "nmae")
    repository.write("ops/view.yaml", VIEW % "name" + "# said again\n")
    ran = repository.pre_commit("run", "--files", "ops/view.yaml")

    assert ran.returncode == 1
    assert "error[M303]" in ran.stdout
    assert "ops/wrong.yaml:5:3" in ran.stdout


def test_a_commit_in_another_layout(repository: Repository) -> None:
    """A commit in another layout than the one fails, and shows what would change."""
    repository.write("ops/view.yaml", (VIEW % "name").replace("  ", "    "))
    ran = repository.pre_commit("run", "reconciler-fmt")

    assert ran.returncode == 1
    assert "+  name: Errors" in ran.stdout


def test_a_commit_of_something_else(repository: Repository) -> None:
    """A commit without YAML or JSON does not run the hook."""
    repository.write("notes.md", "x\n")
    ran = repository.pre_commit("run", "--files", "notes.md")

    assert "Skipped" in ran.stdout


@pytest.mark.skipif(not os.environ.get("TRY_REPO"), reason="it takes minutes: `make image` runs it")
def test_the_hook_as_it_is_installed(
    repository: Repository, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The hook installs itself from its repository, with what it needs, and finds a mistake."""
    offered = Repository(tmp_path_factory.mktemp("offered"))
    copy_sources(offered.root)
    shutil.copy(HOOKS, offered.root)
    offered.git("add", "--all")
    offered.git("-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "x")
    repository.write("ops/view.yaml", VIEW % "nmae")
    ran = repository.pre_commit("try-repo", offered.root, "reconciler-validate", "--all-files")

    assert ran.returncode == 1
    assert "error[M303]" in ran.stdout, ran.stdout + ran.stderr
