"""Jobs of a repository with a service and a forge, run in this process."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

from harness.doors import KEY, Ran, typed
from harness.forge import NUMBER, TOKEN, FakeForge, pull_request, push, served_forge, variables
from harness.repositories import begin, committed, git
from harness.served import Served, served
from harness.workspaces import edit, workspace
from reconciler.ci.forge import Marker, read_marker

OWN = ("RECONCILER_", "GITHUB_", "RUNNER_", "INPUT_", "ACTIONS_")
PROJECT = """\
defaultEnvironment: production
environments:
  production:
    baseUrl: "{url}"
    journal: .reconciler/production.jsonl
    guards: {{allow: [takes-over]}}
  local: {{emulator: {{data: .reconciler/local.db}}}}
"""


@dataclass(frozen=True)
class JobRan(Ran):
    """What one job did."""

    outputs: dict[str, str]
    summary: str

    @property
    def log(self) -> str:
        """What the runner shows."""
        return self.out

    @property
    def spoken(self) -> list[str]:
        """The lines that a runner takes as commands to itself, masks aside."""
        lines = (line for line in self.log.splitlines() if not line.startswith("| "))
        return [line for line in lines if not line.startswith("::add-mask::")]


def without_a_job() -> dict[str, str]:
    """Give the environment of this process without what a runner or a person set for a job."""
    return {name: text for name, text in os.environ.items() if not name.startswith(OWN)}


@dataclass
class Jobs:
    """A repository whose default branch is planned and applied by jobs."""

    root: Path
    temporary: Path
    service: Served
    forge: FakeForge
    base: str = ""
    key: str = KEY
    token: str = TOKEN
    run_number: int = 40
    more: dict[str, str] = field(default_factory=dict)

    def edit(self, before: str, after: str, name: str = "all.yaml") -> None:
        """Change a file of the repository."""
        edit(self.root, before, after, name)

    def change(self, command: str = "plan", repository: Any = None, **inputs: str) -> JobRan:
        """Run a job on the pull request."""
        payload = pull_request(repository, base=self.base)
        return self.job(command, "pull_request", payload, **inputs)

    def merge(self) -> str:
        """Commit what stands there to the default branch; give the commit."""
        return committed(self.root, "Merge")

    @property
    def head(self) -> str:
        """The commit that is checked out."""
        return git(self.root, "rev-parse", "HEAD")

    def merged(self, command: str = "apply", commit: str = "", **inputs: str) -> JobRan:
        """Run a job on the default branch, after the pull request was merged (as `commit`)."""
        commit = commit or self.merge()
        pull = {"number": NUMBER, "merged_at": "2026-01-02T00:00:00Z", "base": {"ref": "main"}}
        self.forge.pulls.setdefault(commit, [{**pull, "merge_commit_sha": commit}])
        return self.job(command, "push", push(commit), **inputs)

    def job(self, command: str, event: str, payload: Any, **inputs: str) -> JobRan:
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

    def run(self, command: str, environ: dict[str, str], **inputs: str) -> JobRan:
        """Run `reconciler ci` with these variables and inputs."""
        output, summary = self.temporary / "output", self.temporary / "summary"
        output.write_text("")
        summary.write_text("")
        given = {f"INPUT_{name.upper()}": value for name, value in inputs.items()}
        files = {
            "GITHUB_OUTPUT": str(output),
            "GITHUB_STEP_SUMMARY": str(summary),
            "RUNNER_TEMP": str(self.temporary),
        }
        environ = {**without_a_job(), **files, **environ, **given}
        with mock.patch.dict(os.environ, environ, clear=True):
            ran = typed("ci", command)
        assert ran.err == "", ran.err
        found = re.findall(r"([a-z-]+)<<(\w+)\n(.*?)\n\2\n", output.read_text("utf-8"), re.DOTALL)
        outputs = {name: value for name, _, value in found}
        return JobRan(ran.code, ran.out, ran.err, outputs, summary.read_text(encoding="utf-8"))

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
def open_jobs(tmp_path: Path) -> Iterator[Jobs]:
    """Begin a repository whose base branch holds the project file and the usual manifests."""
    with served() as service, served_forge() as forge:
        root, temporary = workspace(tmp_path / "shop"), tmp_path / "temporary"
        temporary.mkdir()
        project = PROJECT.format(url=service.base_url)
        (root / "reconciler.yaml").write_text(project, encoding="utf-8")
        (root / ".gitignore").write_text(".reconciler\n", encoding="utf-8")
        base = begin(root)
        begun = typed("journal", "init", "-q", "--project", str(root / "reconciler.yaml"))
        assert begun.code == 0
        yield Jobs(root, temporary, service, forge, base)
