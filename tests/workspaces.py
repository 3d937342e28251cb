"""Workspaces in a temporary folder, and the command line run on them in this process."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from reconciler.commands.root import run

PROJECT = """\
manifests: [.]
environments:
  local:
    emulator: {data: .reconciler/local.db}
    journal: .reconciler/local.journal.jsonl
"""


@dataclass(frozen=True)
class Ran:
    """What one command line did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What it printed, as JSON."""
        return json.loads(self.out)


@dataclass(frozen=True)
class Workspace:
    """A project folder."""

    root: Path
    capsys: pytest.CaptureFixture[str]

    def write(self, name: str, text: str) -> Path:
        """Write a file of the project."""
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def run(self, command: str, *arguments: str) -> Ran:
        """Run a command on the whole project."""
        self.capsys.readouterr()
        code = run([command, str(self.root), *arguments])
        captured = self.capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    def plan(self, *arguments: str) -> Any:
        """Give the plan as JSON; the command must have gone well."""
        ran = self.run("plan", "--format", "json", *arguments)
        assert ran.code in (0, 2), ran.err
        return ran.json

    def apply(self, *arguments: str) -> Ran:
        """Apply without asking."""
        return self.run("apply", "--yes", *arguments)

    def requests(self) -> int:
        """Count the entries of the journal."""
        journal = self.root / ".reconciler" / "local.journal.jsonl"
        return len(journal.read_text(encoding="utf-8").splitlines()) if journal.exists() else 0
