"""A job on a checkout that leads elsewhere than main, to be made worse by tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

import pytest
from harness.doors import KEY
from harness.ports import Stranger, stranger
from harness.repositories import git
from trust_cells import DASHBOARD, TRY, Places, Repository, kept_variables

from reconciler.commands.root import run

NOT_FOUND = {"message": "Not Found: it"}
GUARD = 11


@dataclass
class Job:
    """A checkout whose commit `change` leads elsewhere than `base`, which is main's newest."""

    root: Path
    folder: Path
    good: Stranger
    evil: Stranger
    capsys: pytest.CaptureFixture[str]
    base: str = ""
    change: str = ""
    environ: dict[str, str] = field(default_factory=dict)
    told: str = ""

    @property
    def places(self) -> Places:
        """Where the two project files lead."""
        return Places(self.good.url, self.evil.url, self.folder / "outside")

    def plan(self, name: str = "push", ref: str = TRY, commit: str = "", **inputs: str) -> str:
        """Run `ci plan` on an event; say where the key arrived: "good", "evil" or ""."""
        known = Repository("own", "edited", self.root, commit or self.change, self.base, "")
        given = {f"INPUT_{key.upper()}": value for key, value in inputs.items()}
        environ = {**kept_variables(), **known.variables(self.folder, name, ref), **given}
        environ |= {"RUNNER_TEMP": str(self.folder), "RECONCILER_API_KEY": KEY, **self.environ}
        before = Path.cwd()
        os.chdir(self.root)
        try:
            with mock.patch.dict(os.environ, environ, clear=True):
                self.code = run(["ci", "plan"])
        finally:
            os.chdir(before)
        self.told = self.capsys.readouterr().out
        arrived = [
            name
            for name, service in (("good", self.good), ("evil", self.evil))
            if any(KEY in key for key in service.keys)
        ]
        self.good.asked.clear()
        self.evil.asked.clear()
        assert len(arrived) < 2
        return arrived[0] if arrived else ""


@contextmanager
def a_job(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Job]:
    """Give a job on the change, with the whole history."""
    root, folder = tmp_path / "work", tmp_path / "temporary"
    for made in (root, folder):
        made.mkdir()
    with stranger(404, NOT_FOUND) as good, stranger(404, NOT_FOUND) as evil:
        one = Job(root, folder, good, evil, capsys)
        (root / "reconciler.yaml").write_text(one.places.reviewed, encoding="utf-8")
        (root / "all.yaml").write_text(DASHBOARD.format(said="x"), encoding="utf-8")
        git(root, "init", "--quiet", "--initial-branch=main")
        git(root, "add", ".")
        git(root, "commit", "--quiet", "--message", "Base")
        one.base = git(root, "rev-parse", "HEAD")
        git(root, "checkout", "--quiet", "-b", "try")
        (root / "reconciler.yaml").write_text(one.places.edited, encoding="utf-8")
        git(root, "commit", "--quiet", "--all", "--message", "Change")
        one.change = git(root, "rev-parse", "HEAD")
        git(root, "update-ref", "refs/remotes/origin/main", one.base)
        yield one
