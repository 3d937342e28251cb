"""The command line as a real process, against a service on a port that can be made to misbehave."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest import mock

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from reconciler.commands.root import run
from reconciler.emulator import create_app
from reconciler.emulator.clock import utc_now
from reconciler.emulator.fault_injection import FaultInjection
from reconciler.emulator.fault_rules import FaultRules
from reconciler.emulator.faults import Faults, Rule
from reconciler.journal.file_store import FileStore
from reconciler.journal.journal import Journal

KEY = "canary-key-8d1f77"
ALERT_ID = "2f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4a11"
VIEWS = "/data-exploration/saved-views/v1"
APPLY = ("apply", "--new-journal")
"""An apply to a service that nothing was applied to before; later it is an apply like any other."""


@dataclass(frozen=True)
class Ended:
    """A process that came to its end."""

    code: int
    out: str
    err: str


class Switch:
    """An application whose faults change while it runs."""

    def __init__(self, app: Any) -> None:
        self.app = app
        self.around: ASGIApp = app
        self.asked = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, as things are now."""
        self.asked += 1
        await self.around(scope, receive, send)

    def misbehave(self, *rules: dict[str, Any]) -> None:
        """Follow these rules from now on."""
        faults = Faults(rules=[Rule.model_validate(rule) for rule in rules])
        self.around = FaultInjection(
            self.app, rules=FaultRules(faults), record=self.app.state.record, clock=utc_now
        )

    def behave(self) -> None:
        """Follow no rules any more."""
        self.around = self.app


@dataclass(frozen=True)
class Served:
    """A service on a port of this machine."""

    base_url: str
    switch: Switch

    @property
    def writes(self) -> list[str]:
        """Name the requests that may have changed something, refused ones too."""
        return [
            f"{one.method} {one.path.removeprefix('/mgmt/openapi/latest')}"
            for one in self.switch.app.state.requests
            if one.method != "GET" and not one.path.endswith("/validate")
        ]

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Look into what the service keeps."""
        rows: list[tuple[Any, ...]] = self.switch.app.state.store.rows(query)
        return rows


@contextmanager
def served() -> Iterator[Served]:
    """Serve on a free port until the end of the block."""
    switch = Switch(create_app(alert_ids=[ALERT_ID], api_key=KEY))
    config = uvicorn.Config(
        switch, port=0, lifespan="off", ws="none", log_config=None, timeout_graceful_shutdown=1
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            threading.Event().wait(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield Served(f"http://127.0.0.1:{port}", switch)
    finally:
        server.should_exit = True
        thread.join()


def environment(base_url: str, **more: str) -> dict[str, str]:
    """Give the environment of a process: the target, the key, and nothing of this machine's."""
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG")}
    return {**kept, "RECONCILER_BASE_URL": base_url, "RECONCILER_API_KEY": KEY, **more}


def command(*arguments: str) -> list[str]:
    """Give the command line of a process."""
    return [sys.executable, "-m", "reconciler", *arguments]


def reconciler(
    folder: Path, base_url: str, *arguments: str, more: Mapping[str, str] | None = None
) -> Ended:
    """Run one command in a folder; nobody can be asked."""
    ended = subprocess.run(
        command(*arguments),
        cwd=folder,
        env=environment(base_url, **(more or {})),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return Ended(ended.returncode, ended.stdout, ended.stderr)


def in_this_process(
    folder: Path, base_url: str, *arguments: str, more: Mapping[str, str] | None = None
) -> Ended:
    """Run one command without starting a process, which is quicker."""
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.dict(os.environ, environment(base_url, **(more or {})), clear=True),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        code = run([*arguments, "--project", str(folder / "reconciler.yaml")])
    return Ended(code, out.getvalue(), err.getvalue())


def journal(folder: Path, base_url: str) -> Journal:
    """Read the journal of a folder; it can always be read (I5)."""
    found = Journal(
        store=FileStore(folder / ".reconciler" / "journal.jsonl"),
        environment="default",
        target=base_url,
        clock=lambda: datetime(2025, 1, 31, tzinfo=UTC),
    )
    found.load()
    return found


def wait_for(folder: Path, text: str, process: subprocess.Popen[str]) -> None:
    """Wait until the journal holds a text, while the process runs."""
    file = folder / ".reconciler" / "journal.jsonl"
    while not file.exists() or text not in file.read_text():
        assert process.poll() is None
        threading.Event().wait(0.01)


WORKSPACE = """\
apiVersion: reconciler/v1
kind: SLO
metadata: {name: checkout}
spec:
  name: Checkout
  targetThresholdPercentage: 99.9
  sloTimeFrame: SLO_TIME_FRAME_28_DAYS
  requestBasedMetricSli: {goodEvents: {query: good}, totalEvents: {query: all}}
---
apiVersion: reconciler/v1
kind: AlertDefinition
metadata: {name: errors, id: 2f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4a11}
spec:
  name: Errors
  type: ALERT_DEF_TYPE_LOGS_IMMEDIATE_OR_UNSPECIFIED
  logsImmediate: {}
---
apiVersion: reconciler/v1
kind: Dashboard
metadata: {name: checkout}
spec:
  dashboard:
    name: Checkout
    description: first
    layout: {sections: []}
---
apiVersion: reconciler/v1
kind: LogPolicySet
metadata: {name: all}
spec:
  policies:
    - logRules: {severities: [SEVERITY_ERROR]}
      policy: {name: a, description: d, priority: PRIORITY_TYPE_HIGH}
---
apiVersion: reconciler/v1
kind: SavedView
metadata: {name: errors}
spec:
  name: Errors
  timeSelection: {quickSelection: {seconds: 900}}
"""


def workspace(folder: Path, text: str = WORKSPACE) -> Path:
    """Write the manifests into a folder of their own."""
    folder.mkdir(exist_ok=True)
    project = "environments: {default: {journal: .reconciler/journal.jsonl}}"
    (folder / "reconciler.yaml").write_text(project, encoding="utf-8")
    (folder / "all.yaml").write_text(text, encoding="utf-8")
    return folder


def edit(folder: Path, old: str, new: str) -> None:
    """Edit the manifests."""
    file = folder / "all.yaml"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
