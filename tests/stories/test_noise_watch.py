"""The story of a noisy alert that is made quieter: the watch proves it, and proves the contrary."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from harness.doors import KEY, Ran, typed
from harness.served import Served, served
from harness.workspaces import workspace

from reconciler.emulator.life import let_pass
from reconciler.session import noise

NAME = "Pods restart"
REF = "AlertDefinition/pods"


class Company:
    """The demo company with one alert as code, and a clock that can be moved on."""

    def __init__(self, service: Served, root: Path, patch: pytest.MonkeyPatch) -> None:
        self.service, self.root, self.patch = service, root, patch
        records = [json.loads(one) for (one,) in service.rows("SELECT record FROM alert_definitions")]
        self.record = next(one for one in records if one["alertDefProperties"]["name"] == NAME)

    def declare(self, for_over: int, **more: Any) -> None:
        """Declare the alert with the share of the time that its metric has to be too high."""
        spec = json.loads(json.dumps(self.record["alertDefProperties"])) | more
        spec["metricThreshold"]["rules"][0]["condition"]["forOverPct"] = for_over
        metadata = {"name": "pods", "id": self.record["id"], "labels": {"team": "platform"}}
        manifest = {"apiVersion": "reconciler/v1", "kind": "AlertDefinition"}
        text = json.dumps({**manifest, "metadata": metadata, "spec": spec}, indent=1)
        (self.root / "all.yaml").write_text(text, encoding="utf-8")

    def run(self, *arguments: str) -> Ran:
        """Type a command in the project."""
        return typed(*arguments, "--project", str(self.root / "reconciler.yaml"))

    def apply(self) -> None:
        """Apply what is declared."""
        ran = self.run("apply", "-q", "--yes", "--override-guard", "a story")
        assert ran.code == 0, ran.err

    def pass_on(self, hours: float) -> None:
        """Let time pass, for the company and for whoever looks."""
        store = self.service.switch.app.state.store
        later = datetime.now(UTC) + timedelta(hours=hours)
        with store.writing():
            let_pass(store, datetime.now(UTC), later)
        self.patch.setattr(noise, "now", lambda: later)


@pytest.fixture
def company(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Company]:
    with served("demo") as service:
        root = workspace(tmp_path / "shop", "")
        project = f"""\
defaultEnvironment: production
environments:
  production:
    baseUrl: "{service.base_url}"
    journal: .reconciler/production.jsonl
    watch: {{onNoisier: rollback}}
"""
        (root / "reconciler.yaml").write_text(project, encoding="utf-8")
        monkeypatch.setenv("RECONCILER_API_KEY", KEY)
        made = Company(service, root, monkeypatch)
        made.declare(50)
        assert made.run("journal", "init", "-q").code == 0
        made.apply()
        yield made


def test_quieter(company: Company) -> None:
    """An alert that has to be beyond its threshold for longer is proved to fire less."""
    company.declare(95)
    company.apply()
    company.pass_on(24)

    ran = company.run("watch", "last", "--format", "json", "--fail-on", "noisier")

    assert ran.code == 0, ran.err
    (found,) = ran.json["alerts"]
    assert (found["ref"], found["verdict"]) == (REF, "quieter")
    assert found["after"] < found["before"]
    assert found["p"] <= ran.json["level"] == 0.01
    assert ran.json["complete"] is True
