"""Git as a person would run it, without that person's own settings."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


def git(folder: Path, *arguments: str) -> str:
    """Run git in a folder; give what it printed."""
    ran = subprocess.run(
        ["git", *arguments],  # noqa: S607 - git of the PATH
        cwd=folder,
        env=git_environ(),
        capture_output=True,
        check=True,
        text=True,
    )
    return ran.stdout.strip()


def git_environ() -> dict[str, str]:
    """Give an environment for git in which only the repository's own settings count."""
    return {
        "PATH": os.environ["PATH"],
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        # A new repository has no samples of hooks.
        "GIT_TEMPLATE_DIR": "",
        "GIT_AUTHOR_NAME": "someone",
        "GIT_AUTHOR_EMAIL": "someone@example.com",
        "GIT_COMMITTER_NAME": "someone",
        "GIT_COMMITTER_EMAIL": "someone@example.com",
    }


ISOLATED = {name: git_environ()[name] for name in ("GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_GLOBAL")}
"""What keeps the settings of this machine from git where a command runs it."""


def begin(folder: Path, branch: str = "main") -> str:
    """Make a folder a repository, and commit what is in it; give the commit."""
    git(folder, "init", "--quiet", f"--initial-branch={branch}")
    return committed(folder, "Base")


def committed(folder: Path, message: str = "Change") -> str:
    """Commit all that stands in a repository, and give the commit."""
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", message)
    return git(folder, "rev-parse", "HEAD")


def repository(folder: Path) -> Path:
    """Make a bare remote and a checkout of it with one commit; give the checkout."""
    remote, checkout = folder / "remote.git", folder / "checkout"
    folder.mkdir(exist_ok=True)
    git(folder, "init", "--quiet", "--bare", str(remote))
    checkout.mkdir()
    (checkout / "reconciler.yaml").write_text("manifests: [.]\n")
    begin(checkout)
    git(checkout, "remote", "add", "origin", "../remote.git")
    git(checkout, "push", "--quiet", "origin", "main")
    return checkout
