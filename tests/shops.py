"""A seeded emulator inside the command line, and its request log as the oracle."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from workspaces import Ran

import reconciler.emulator
from reconciler.commands.root import run

PROJECT = """\
manifests: [manifests]
environments:
  local:
    emulator: {data: demo.db}
    journal: .reconciler/local.journal.jsonl
"""
ROOT = "/mgmt/openapi/latest"


@dataclass
class Shop:
    """A project whose environment is a seeded emulator in this process.

    `options` go to `create_app`; `apps` are the emulators that were started.
    """

    root: Path
    capsys: pytest.CaptureFixture[str]
    options: dict[str, Any] = field(default_factory=dict)
    apps: list[Starlette] = field(default_factory=list)

    def settle(self, text: str) -> None:
        """Write the project file."""
        (self.root / "reconciler.yaml").write_text(text, encoding="utf-8")

    def write(self, name: str, text: str) -> Path:
        """Write a file of the project."""
        file = self.root / name
        file.write_text(text, encoding="utf-8")
        return file

    def run(self, *arguments: str) -> Ran:
        """Run one command line."""
        self.capsys.readouterr()
        code = run(arguments)
        captured = self.capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    @property
    def asked(self) -> list[tuple[str, str]]:
        """Method and path of every request that reached an emulator."""
        return [
            (asked.method, asked.path.removeprefix(ROOT))
            for app in self.apps
            for asked in app.state.requests
        ]

    def count(self, method: str, path: str) -> int:
        """Count the requests to one path."""
        return self.asked.count((method, path))


def open_shop(
    root: Path, data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Shop:
    """Make a project with a copy of the seeded data, and go there."""
    shop = Shop(root, capsys)
    shop.settle(PROJECT)
    (root / "manifests").mkdir()
    shutil.copyfile(data, root / "demo.db")
    create_app = reconciler.emulator.create_app

    def create(data: Path, **options: Any) -> Starlette:
        app = create_app(data, **{**options, **shop.options})
        shop.apps.append(app)
        return app

    monkeypatch.setattr(reconciler.emulator, "create_app", create, raising=False)
    monkeypatch.chdir(root)
    monkeypatch.delenv("RECONCILER_BASE_URL", raising=False)
    return shop


def seed(folder: Path) -> Path:
    """Give a data file that holds the demo company."""
    data = folder / "demo.db"
    app = reconciler.emulator.create_app(data, seed="demo")
    app.state.store.close()
    return data
