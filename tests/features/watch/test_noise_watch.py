"""The story of a noisy alert that is made quieter: the watch proves it, and proves the contrary."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from harness.doors import KEY, Ran, typed
from harness.served import Served, served
from harness.workspaces import workspace

from reconciler.emulator.life import let_pass
from reconciler.emulator.record_endpoints import AlertEvent, keep_alert_event
from reconciler.features.watch import alert_noise
from reconciler.features.watch import command as watch_alerts

NAME = "Pods restart"
REF = "AlertDefinition/pods"


class Company:
    """The demo company with one alert as code, and a clock that can be moved on."""

    def __init__(self, service: Served, root: Path, patch: pytest.MonkeyPatch) -> None:
        self.service, self.root, self.patch = service, root, patch
        records = [
            json.loads(value) for (value,) in service.rows("SELECT record FROM alert_definitions")
        ]
        self.record = next(
            record for record in records if record["alertDefProperties"]["name"] == NAME
        )

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
        self.patch.setattr(watch_alerts, "now", lambda: later)

    def louder(self, events: int) -> None:
        """Let the alert fire so often in the hour after now, for whoever looks then."""
        store = self.service.switch.app.state.store
        begun = datetime.now(UTC)
        with store.writing():
            for number in range(events):
                at = begun + timedelta(minutes=1, seconds=number % 3000)
                event = AlertEvent(
                    company_id=1,
                    cx_event_key=f"louder-{number}",
                    cx_event_dedup_key=f"louder-{number}",
                    cx_event_labels={},
                    cx_event_type="alert_triggered",
                    cx_event_metadata={"alertId": self.record["id"]},
                    cx_event_timestamp=str(int(at.timestamp())),
                )
                keep_alert_event(store, event, version_id=self.record["alertVersionId"])
        self.patch.setattr(watch_alerts, "now", lambda: begun + timedelta(hours=1))


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
    guards: {{allow: [takes-over]}}
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
    # In four days the difference is beyond chance, whatever the hour.
    company.pass_on(96)

    ran = company.run("watch", "last", "--format", "json", "--fail-on", "noisier")

    assert ran.code == 0, ran.err
    (found,) = ran.json["alerts"]
    assert (found["ref"], found["verdict"]) == (REF, "quieter")
    assert found["after"] < found["before"]
    assert found["p"] <= ran.json["level"] == 0.01
    assert ran.json["complete"] is True


def test_after_another_run(company: Company) -> None:
    """Where another run wrote the alert in the span before, nothing is said of it but why."""
    company.declare(100)
    company.apply()
    company.declare(90)
    company.apply()
    company.pass_on(3)

    ran = company.run("watch", "last", "--format", "json", "--fail-on", "noisier")

    assert ran.code == 0
    (found,) = ran.json["alerts"]
    assert (found["verdict"], found["cause"]) == ("unknown", "written-before")


def test_way_back(company: Company) -> None:
    """Where an alert is noisier, the way back is planned and named, and nothing is applied."""
    company.declare(0, priority="ALERT_DEF_PRIORITY_P5_OR_UNSPECIFIED", name="Pods restart!")
    company.apply()
    company.louder(60)
    writes = company.service.writes

    ran = company.run("watch", "last", "--fail-on", "noisier", "--remember")

    assert ran.code == 2, ran.out + ran.err
    assert "noisier" in ran.out
    assert "reconciler rollback" in ran.err
    assert REF in ran.err
    assert company.service.writes == writes
    stats = company.run("journal", "stats", "--format", "json").json
    assert (stats["whole"]["changes"], stats["whole"]["noisier"]) == (1, 1)
    assert [team["team"] for team in stats["teams"]] == ["platform"]


def test_refused_listing(company: Company) -> None:
    """A key that may read no events costs one line, and every verdict is unknown."""
    company.declare(95)
    company.apply()
    company.pass_on(2)
    fault = {"status": 403, "body": "no"}
    company.service.switch.misbehave({"path": "/alerts/events/*", "fault": fault})

    ran = company.run("watch", "last", "--fail-on", "noisier", "--format", "json")
    text = company.run("watch", "last")

    assert ran.code == 0
    assert ran.json["complete"] is False
    assert [alert["verdict"] for alert in ran.json["alerts"]] == ["unknown"]
    assert text.out.count("could not be read") == 1


def test_bounded(company: Company, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many events there are, one look asks for so many pages, and says that it was cut."""
    most = 4
    monkeypatch.setattr(alert_noise, "MOST_REQUESTS", most)
    company.declare(95)
    company.apply()
    company.louder(most * 100 + 1)
    before = company.service.switch.asked

    ran = company.run("watch", "last", "--format", "json")

    assert company.service.switch.asked - before == most
    assert ran.json["complete"] is False
    assert [alert["cause"] for alert in ran.json["alerts"]] == ["cut"]


def test_waiting(company: Company, monkeypatch: pytest.MonkeyPatch) -> None:
    """A look that waits asks nothing before its time has come, then once; a signal ends it."""
    company.declare(95)
    company.apply()
    begun, pauses = datetime.now(UTC), []
    before = company.service.switch.asked

    def pause(seconds: float) -> None:
        assert company.service.switch.asked == before
        pauses.append(seconds)
        monkeypatch.setattr(watch_alerts, "now", lambda: begun + timedelta(hours=len(pauses)))

    monkeypatch.setattr(watch_alerts, "time", SimpleNamespace(sleep=pause))
    ran = company.run("watch", "last", "--for", "2h", "--format", "json")

    assert ran.code == 0, ran.err
    assert len(pauses) in (2, 3)
    assert "waiting until" in ran.err
    assert ran.json["alerts"][0]["after"] is not None

    def interrupted(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(watch_alerts, "time", SimpleNamespace(sleep=interrupted))
    assert company.run("watch", "last", "--for", "7d").code == 130
