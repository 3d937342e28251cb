"""Project folders, and the command line run on them in this process."""

from __future__ import annotations

import re
import shutil
import subprocess
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette

import reconciler.emulator
from harness.doors import Ran, typed
from harness.routes import API_ROOT
from harness.stores import journal_at
from reconciler.journal.journal import Journal

EXAMPLES = Path(__file__).parents[2] / "examples"
ELSEWHERE = 1
"""How many of the examples are for production alone."""
REPEATED = 5
"""How many more resources than manifests the examples make by `forEach`."""
PROJECT = """\
manifests: [.]
environments:
  local:
    emulator: {data: .reconciler/local.db}
    journal: .reconciler/local.journal.jsonl
"""
SEEDED = """\
manifests: [manifests]
environments:
  local:
    emulator: {data: demo.db}
    journal: .reconciler/local.journal.jsonl
"""

SLO = """\
apiVersion: reconciler/v1
kind: SLO
metadata: {name: checkout}
spec:
  name: Checkout
  targetThresholdPercentage: 99.9
  sloTimeFrame: SLO_TIME_FRAME_28_DAYS
  requestBasedMetricSli: {goodEvents: {query: good}, totalEvents: {query: all}}
"""
ALERT = """\
apiVersion: reconciler/v1
kind: AlertDefinition
metadata: {name: errors, id: 2f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4a11}
spec:
  name: Errors
  type: ALERT_DEF_TYPE_LOGS_IMMEDIATE_OR_UNSPECIFIED
  logsImmediate: {}
  description: Whoever is on call looks at the checkout.
"""
DASHBOARD = """\
apiVersion: reconciler/v1
kind: Dashboard
metadata: {name: checkout}
spec:
  dashboard:
    name: Checkout
    description: first
    layout: {sections: []}
"""
POLICY_SET = """\
apiVersion: reconciler/v1
kind: LogPolicySet
metadata: {name: all}
spec:
  policies:
    - logRules: {severities: [SEVERITY_ERROR]}
      policy: {name: a, description: d, priority: PRIORITY_TYPE_HIGH}
"""
VIEW = """\
apiVersion: reconciler/v1
kind: SavedView
metadata: {name: errors}
spec:
  name: Errors
  timeSelection: {quickSelection: {seconds: 900}}
"""
WORKSPACE = f"{SLO}---\n{ALERT}---\n{DASHBOARD}---\n{POLICY_SET}---\n{VIEW}"


@dataclass(frozen=True)
class Workspace:
    """A project folder."""

    root: Path

    def write(self, name: str, text: str) -> Path:
        """Write a file of the project."""
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def settle(self, text: str) -> None:
        """Write the project file."""
        self.write("reconciler.yaml", text)

    def run(self, command: str, *arguments: str) -> Ran:
        """Run a command on the whole project, `rules test` too."""
        return typed(*command.split(), str(self.root), *arguments)

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


def project_at(root: Path, text: str = PROJECT, **manifests: str) -> Workspace:
    """Give a folder, made where it is not there, with a project file and `name.yaml` of each."""
    made = Workspace(root)
    made.settle(text)
    for name, manifest in manifests.items():
        made.write(f"{name}.yaml", manifest)
    return made


def examples_here() -> int:
    """Count the resources that the examples declare for the environment `local`."""
    texts = (file.read_text(encoding="utf-8") for file in EXAMPLES.rglob("*.yaml"))
    return (
        sum(len(re.findall(r"^kind: ", text, re.MULTILINE)) for text in texts)
        + REPEATED
        - ELSEWHERE
    )


def examples_at(root: Path) -> Workspace:
    """Give a copy of the examples, with nothing applied."""
    ignored = shutil.ignore_patterns(".reconciler")
    shutil.copytree(EXAMPLES, root, ignore=ignored, dirs_exist_ok=True)
    return Workspace(root)


@dataclass(frozen=True)
class Shop(Workspace):
    """A project, gone to, whose environment is a seeded emulator in this process.

    `options` go to `create_app`; `apps` are the emulators that were started.
    """

    options: dict[str, Any] = field(default_factory=dict)
    apps: list[Starlette] = field(default_factory=list)

    def run(self, *arguments: str) -> Ran:
        """Run one command line as it is."""
        return typed(*arguments)

    @property
    def asked(self) -> list[tuple[str, str]]:
        """Method and path of every request that reached an emulator."""
        return [
            (asked.method, asked.path.removeprefix(API_ROOT))
            for app in self.apps
            for asked in app.state.requests
        ]

    def count(self, method: str, path: str) -> int:
        """Count the requests to one path."""
        return self.asked.count((method, path))


def open_shop(root: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """Make a project with a copy of the seeded data, and go there."""
    shop = Shop(root)
    shop.settle(SEEDED)
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


def workspace(folder: Path, text: str = WORKSPACE) -> Path:
    """Write manifests for whatever service the environment names into a folder of their own.

    What they take over there unseen is theirs.
    """
    folder.mkdir(exist_ok=True)
    project = "{journal: .reconciler/journal.jsonl, guards: {allow: [takes-over]}}"
    text_of_project = f"environments: {{default: {project}}}"
    (folder / "reconciler.yaml").write_text(text_of_project, encoding="utf-8")
    (folder / "all.yaml").write_text(text, encoding="utf-8")
    return folder


def edit(folder: Path, old: str, new: str, name: str = "all.yaml") -> None:
    """Edit the manifests."""
    file = folder / name
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


def journal(folder: Path, base_url: str) -> Journal:
    """Read the journal of a folder; it can always be read (I5)."""
    found = journal_at(
        folder / ".reconciler" / "journal.jsonl", environment="default", target=base_url
    )
    found.load()
    return found


def wait_for(folder: Path, text: str, process: subprocess.Popen[str]) -> None:
    """Wait until the journal holds a text, while the process runs."""
    file = folder / ".reconciler" / "journal.jsonl"
    while not file.exists() or text not in file.read_text():
        assert process.poll() is None
        threading.Event().wait(0.01)
