"""What a service tells in events, incidents and cases does no harm in any report of it."""

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
from markdown_it import MarkdownIt

from reconciler.emulator.record_endpoints import (
    AlertBehind,
    AlertEvent,
    Incident,
    keep_alert_event,
    open_incident,
)

CANARY = "canary-77c1e0d2b9"
HOSTILE = f"`x` \x1b[2J\u202e@team ::error::<img src=x> [a](http://b) {CANARY}\n## head |"
# As the emulator writes times: its lists compare them as text.
WHEN = "%Y-%m-%dT%H:%M:%S.000Z"


class Told:
    """A service that tells of one alert in hostile words, a project that declares it."""

    def __init__(self, service: Served, root: Path) -> None:
        self.service, self.root = service, root
        records = [
            json.loads(value) for (value,) in service.rows("SELECT record FROM alert_definitions")
        ]
        self.record = next(
            record for record in records if record["alertDefProperties"]["name"] == "Pods restart"
        )

    def declare(self, frozen: str = "", description: str = "first") -> None:
        """Write project and manifest; the description holds a secret that the service knows."""
        project = f"""\
defaultEnvironment: production
environments:
  production:
    baseUrl: "{self.service.base_url}"
    journal: .reconciler/production.jsonl
    watch: {{onNoisier: rollback}}
    guards: {{allow: [takes-over]}}
{frozen}"""
        (self.root / "reconciler.yaml").write_text(project, encoding="utf-8")
        spec = json.loads(json.dumps(self.record["alertDefProperties"]))
        spec["description"] = description + " ${secret:NOTE}"
        metadata = {"name": "pods", "id": self.record["id"], "labels": {"team": "platform"}}
        manifest = {"apiVersion": "reconciler/v1", "kind": "AlertDefinition"}
        text = json.dumps({**manifest, "metadata": metadata, "spec": spec}, indent=1)
        (self.root / "all.yaml").write_text(text, encoding="utf-8")

    def run(self, *arguments: str) -> Ran:
        """Type a command in the project."""
        return typed(*arguments, "--project", str(self.root / "reconciler.yaml"))

    def happen(self) -> None:
        """Let the alert fire, an incident be open and a case be there, all in hostile words."""
        store = self.service.switch.app.state.store
        now = datetime.now(UTC)
        behind = AlertBehind(self.record["id"], HOSTILE, {HOSTILE: HOSTILE})
        incident = Incident(
            id="i-9",
            name=HOSTILE,
            severity="INCIDENT_SEVERITY_CRITICAL",
            contextual_labels={"applicationName": HOSTILE},
        )
        open_incident(store, incident, behind, now=now.strftime(WHEN))
        with store.writing():
            for number in range(30):
                event = AlertEvent(
                    company_id=1,
                    cx_event_key=f"h-{number}",
                    cx_event_dedup_key=f"h-{number}",
                    cx_event_labels={"alertName": HOSTILE, HOSTILE: HOSTILE},
                    cx_event_type="alert_triggered",
                    cx_event_metadata={"alertId": self.record["id"], "alertName": HOSTILE},
                    cx_event_timestamp=str(int((now - timedelta(hours=number)).timestamp())),
                )
                keep_alert_event(store, event, version_id=self.record["alertVersionId"])
            for (row,) in self.service.rows("SELECT record FROM cases"):
                case = json.loads(row)
                case["title"] = HOSTILE
                for value in case.get("alertIndicators") or ():
                    value["alertId"] = self.record["id"]
                store.write("UPDATE cases SET record = ? WHERE record = ?", json.dumps(case), row)


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Told]:
    monkeypatch.setenv("RECONCILER_API_KEY", KEY)
    monkeypatch.setenv("NOTE", CANARY)
    with served("demo") as service:
        yield Told(service, workspace(tmp_path / "shop", ""))


FROZEN = "    freeze: {incidents: {scope: matching}}\n"
REPORTS: tuple[tuple[str, ...], ...] = (
    *(("plan", "--track-record", "14", "-v", "--format", one) for one in ("text", "json")),
    *(("plan", "--track-record", "14", "--format", one) for one in ("markdown", "html")),
    *(("watch", "last", "--format", one) for one in ("text", "json", "markdown")),
    *(("audit", "--format", one) for one in ("text", "json", "sarif", "markdown", "html")),
    *(("journal", "stats", "--format", one) for one in ("text", "json", "html")),
    ("journal", "show"),
    ("journal", "history"),
)


def harmless(ran: Ran, form: str) -> None:
    """Assert that nothing that was printed is a secret, or does anything."""
    for text in (ran.out, ran.err):
        assert CANARY not in text
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert "\n## head" not in text
        assert not any(line.startswith("::error") for line in text.splitlines())
    if form == "html":
        assert "<img src=x" not in ran.out
    if form == "markdown":
        page: Any = MarkdownIt("commonmark").enable("table").render(ran.out)
        assert "<img" not in page
        assert 'href="http://b"' not in page


def test_every_report(told: Told) -> None:
    """Hostile names and a secret in what is told get into no report, refusal or journal."""
    told.declare()
    assert told.run("journal", "init", "-q").code == 0
    assert told.run("apply", "-q", "--yes", "--override-guard", "a start").code == 0
    told.happen()
    told.declare(FROZEN, "second")

    shown = False
    for report in REPORTS:
        ran = told.run(*report)
        assert ran.code == 0, (report, ran.err)
        harmless(ran, report[-1])
        shown |= " open now" in ran.out
    assert shown
    for form in ("text", "jsonl", "junit"):
        refused = told.run("apply", "--yes", "--format", form)
        assert refused.code == 11, refused.err
        assert "is frozen while 1" in refused.err + refused.out
        harmless(refused, form)
    agreed = ("--break-glass", f"it burns {CANARY}", "--override-guard", "agreed")
    ran = told.run("apply", "--yes", *agreed, "--format", "json")
    assert ran.code == 0, ran.err
    harmless(ran, "json")
    for report in (("watch", "last"), *REPORTS[-2:]):
        again = told.run(*report)
        assert again.code == 0, (report, again.err)
        harmless(again, report[-1])
    assert CANARY not in (told.root / ".reconciler/production.jsonl").read_text(encoding="utf-8")
