"""Jobs of a repository with a service and a forge, run in this process."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from fake_forge import TOKEN, FakeForge, served_forge
from forge_events import NUMBER, pull_request, push, variables
from processes import KEY, Served, served, workspace

from reconciler.commands.root import run
from reconciler.forge.comments import Marker, read_marker

OWN = ("RECONCILER_", "GITHUB_", "RUNNER_", "INPUT_", "ACTIONS_")
PROJECT = """\
defaultEnvironment: production
environments:
  production: {{baseUrl: "{url}", journal: .reconciler/production.jsonl}}
  local: {{emulator: {{data: .reconciler/local.db}}}}
"""


@dataclass(frozen=True)
class Ran:
    """What one job did."""

    code: int
    log: str
    outputs: dict[str, str]
    summary: str

    @property
    def spoken(self) -> list[str]:
        """The lines that a runner takes as commands to itself, masks aside."""
        lines = (line for line in self.log.splitlines() if not line.startswith("| "))
        return [line for line in lines if not line.startswith("::add-mask::")]


def git(folder: Path, *arguments: str) -> str:
    """Run git in a repository of a test, with nothing of this machine's settings."""
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    for role in ("AUTHOR", "COMMITTER"):
        environ |= {f"GIT_{role}_NAME": "alice", f"GIT_{role}_EMAIL": "alice@example.com"}
    ran = subprocess.run(  # git of the PATH
        ["git", "-C", str(folder), *arguments],  # noqa: S607 - see above
        env=environ,
        capture_output=True,
        check=True,
        text=True,
    )
    return ran.stdout.strip()


@dataclass
class Shop:
    """A repository whose default branch is planned and applied by jobs."""

    root: Path
    temporary: Path
    service: Served
    forge: FakeForge
    capsys: pytest.CaptureFixture[str]
    base: str = ""
    key: str = KEY
    token: str = TOKEN
    run_number: int = 40
    more: dict[str, str] = field(default_factory=dict)

    def edit(self, before: str, after: str, name: str = "all.yaml") -> None:
        """Change a file of the repository."""
        file = self.root / name
        text = file.read_text(encoding="utf-8")
        assert before in text
        file.write_text(text.replace(before, after), encoding="utf-8")

    def change(self, command: str = "plan", repository: Any = None, **inputs: str) -> Ran:
        """Run a job on the pull request."""
        payload = pull_request(repository, base=self.base)
        return self.job(command, "pull_request", payload, **inputs)

    def merge(self) -> str:
        """Commit what stands there to the default branch; give the commit."""
        git(self.root, "add", ".")
        git(self.root, "commit", "--quiet", "--allow-empty", "--message", "Merge")
        return self.head

    @property
    def head(self) -> str:
        """The commit that is checked out."""
        return git(self.root, "rev-parse", "HEAD")

    def merged(self, command: str = "apply", commit: str = "", **inputs: str) -> Ran:
        """Run a job on the default branch, after the pull request was merged (as `commit`)."""
        commit = commit or self.merge()
        pull = {"number": NUMBER, "merged_at": "2026-01-02T00:00:00Z", "base": {"ref": "main"}}
        self.forge.pulls.setdefault(commit, [{**pull, "merge_commit_sha": commit}])
        return self.job(command, "push", push(commit), **inputs)

    def job(self, command: str, event: str, payload: Any, **inputs: str) -> Ran:
        """Run one job, later than those before it."""
        self.run_number += 1
        more = {"GITHUB_RUN_ID": str(self.run_number), "GITHUB_SHA": self.head}
        about = variables(self.temporary, event, payload, **more)
        known = {
            "GITHUB_API_URL": self.forge.url,
            "GITHUB_GRAPHQL_URL": f"{self.forge.url}/graphql",
            "GITHUB_ACTIONS": "true",
            "INPUT_TOKEN": self.token,
            "RECONCILER_API_KEY": self.key,
        }
        return self.run(command, {**about, **known, **self.more}, **inputs)

    def run(self, command: str, environ: dict[str, str], **inputs: str) -> Ran:
        """Run `reconciler ci` with these variables and inputs."""
        output, summary = self.temporary / "output", self.temporary / "summary"
        output.write_text("")
        summary.write_text("")
        kept = {name: text for name, text in os.environ.items() if not name.startswith(OWN)}
        given = {f"INPUT_{name.upper()}": value for name, value in inputs.items()}
        files = {
            "GITHUB_OUTPUT": str(output),
            "GITHUB_STEP_SUMMARY": str(summary),
            "RUNNER_TEMP": str(self.temporary),
        }
        self.capsys.readouterr()
        with mock.patch.dict(os.environ, {**kept, **files, **environ, **given}, clear=True):
            code = run(["ci", command])
        captured = self.capsys.readouterr()
        assert captured.err == ""
        found = re.findall(r"([a-z-]+)<<(\w+)\n(.*?)\n\2\n", output.read_text("utf-8"), re.DOTALL)
        outputs = {name: value for name, _, value in found}
        return Ran(code, captured.out, outputs, summary.read_text(encoding="utf-8"))

    @property
    def comment(self) -> str:
        """The one visible comment of the pull request."""
        (found,) = self.forge.visible(NUMBER)
        body = found["body"]
        assert isinstance(body, str)
        return body

    @property
    def marker(self) -> Marker:
        """What the one visible comment says of itself."""
        marker = read_marker(self.comment)
        assert marker is not None
        return marker


@contextmanager
def a_shop(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Shop]:
    """Open a shop: its base branch holds the project file and the manifests of `processes`."""
    with served() as service, served_forge() as forge:
        root, temporary = workspace(tmp_path / "shop"), tmp_path / "temporary"
        temporary.mkdir()
        project = PROJECT.format(url=service.base_url)
        (root / "reconciler.yaml").write_text(project, encoding="utf-8")
        (root / ".gitignore").write_text(".reconciler\n", encoding="utf-8")
        git(root, "init", "--quiet", "--initial-branch=main")
        git(root, "add", ".")
        git(root, "commit", "--quiet", "--message", "Base")
        base = git(root, "rev-parse", "HEAD")
        assert run(["journal", "init", "-q", "--project", str(root / "reconciler.yaml")]) == 0
        yield Shop(root, temporary, service, forge, capsys, base)
