"""The story of a noisy alert: its priority is lowered, and the comment says what it did."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from harness.doors import typed
from harness.forge import served_forge
from harness.golden import Golden
from harness.jobs import PROJECT, Jobs
from harness.repositories import begin, git
from harness.served import Served, served
from harness.unsafe_text import unsafe_in
from harness.workspaces import workspace

from reconciler.emulator.record_endpoints import AlertEvent, keep_alert_event

NAME = "Many failed logins"
REF = "AlertDefinition/failed-logins"
SLO = "SLO/orders"
CHECKOUT = "Checkout error budget runs out"
ENEMY = "\x1b[31m<script>alert(1)</script>\u202e@team\n::stop-commands::x canary-secret-77f0aa"


def record_of(service: Served, name: str) -> dict[str, Any]:
    """Look a definition up in what the service keeps."""
    found = [json.loads(value) for (value,) in service.rows("SELECT record FROM alert_definitions")]
    return next(value for value in found if value["alertDefProperties"]["name"] == name)


def manifest(kind: str, name: str, remote_id: str, spec: Any) -> str:
    """Give a manifest as JSON, which is YAML too."""
    metadata = {"name": name, "id": remote_id}
    document = {"apiVersion": "reconciler/v1", "kind": kind, "metadata": metadata, "spec": spec}
    return json.dumps(document, indent=1)


def manifests(service: Served) -> str:
    """Declare two alerts and an SLO of the company as they are there."""
    logins, budget = record_of(service, NAME), record_of(service, CHECKOUT)
    watched = budget["alertDefProperties"]
    slo_id = watched["sloThreshold"]["sloDefinition"]["sloId"]
    ((stored,),) = service.rows(f"SELECT record FROM slos WHERE id = '{slo_id}'")  # noqa: S608 - its own id
    slo = {
        name: load
        for name, load in json.loads(stored).items()
        if name in ("name", "targetThresholdPercentage", "sloTimeFrame", "requestBasedMetricSli")
    }
    watched["sloThreshold"]["sloDefinition"]["sloId"] = "${ref:SLO/orders}"
    return "\n---\n".join(
        (
            manifest(
                "AlertDefinition", "failed-logins", logins["id"], logins["alertDefProperties"]
            ),
            manifest("AlertDefinition", "budget", budget["id"], watched),
            manifest("SLO", "orders", slo_id, slo),
        )
    )


def fired(service: Served, days: int = 14) -> int:
    """Count in the service's own store how often the alert fired in the last days."""
    since = (datetime.now(UTC) - timedelta(days=days)).isoformat()
    alert_id = record_of(service, NAME)["id"]
    events = [json.loads(value) for (value,) in service.rows("SELECT record FROM alert_events")]
    return sum(
        event["cxEventType"] == "alert_triggered"
        and event["cxEventMetadata"]["alertId"] == alert_id
        and datetime.fromtimestamp(int(event["cxEventTimestamp"]), UTC).isoformat() >= since
        for event in events
    )


@pytest.fixture
def jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Jobs]:
    """Give the repository of the company, applied as it is."""
    with served("demo") as service, served_forge() as forge:
        root, temporary = workspace(tmp_path / "shop", manifests(service)), tmp_path / "temporary"
        temporary.mkdir()
        project = PROJECT.format(url=service.base_url)
        (root / "reconciler.yaml").write_text(project, encoding="utf-8")
        (root / ".gitignore").write_text(".reconciler\n", encoding="utf-8")
        base = begin(root)
        monkeypatch.chdir(root)
        project_file = str(root / "reconciler.yaml")
        assert typed("journal", "init", "-q", "--project", project_file).code == 0
        made = Jobs(root, temporary, service, forge, base)
        assert made.merged(require_plan="none").code == 0
        yield made


def lowered(jobs: Jobs) -> None:
    """Make the alert quieter, and ask more of the SLO."""
    file = jobs.root / "all.yaml"
    logins, budget, slo = map(json.loads, file.read_text(encoding="utf-8").split("\n---\n"))
    logins["spec"]["priority"] = "ALERT_DEF_PRIORITY_P4"
    slo["spec"]["targetThresholdPercentage"] = 99.95
    file.write_text("\n---\n".join(map(json.dumps, (logins, budget, slo))), encoding="utf-8")


def test_what_the_comment_says(jobs: Jobs, golden: Golden) -> None:
    """The comment under a lowered priority says how often it fired, as the service's store does."""
    lowered(jobs)

    ran = jobs.change()

    assert ran.code == 0, ran.log
    times = fired(jobs.service)
    assert times > 1
    (line,) = [line for line in jobs.comment.splitlines() if line.startswith(f"- `{REF}`: ")]
    assert f"fired {times} times, " in line
    golden(line.rpartition("; ")[2])
    assert f"- `{SLO}`: `AlertDefinition/budget`" in jobs.comment
    assert line in ran.summary


def test_a_comment_without_a_track_record(jobs: Jobs) -> None:
    """With `trackRecord: 0` in the base branch's project file the comment tells of no days."""
    project = jobs.root / "reconciler.yaml"
    told = project.read_text("utf-8").replace("production:\n", "production:\n    trackRecord: 0\n")
    assert "trackRecord" in told
    project.write_text(told, encoding="utf-8")
    jobs.base = jobs.merge()
    git(jobs.root, "checkout", "--quiet", "-b", "quiet")
    lowered(jobs)

    ran = jobs.change()

    assert ran.code == 0, ran.log
    assert "fired" not in jobs.comment


def test_what_the_apply_says(jobs: Jobs) -> None:
    """After the merge the service's own word on who watches the SLO is held against the plan."""
    lowered(jobs)
    assert jobs.change().code == 0

    ran = jobs.merged()

    assert ran.code == 0, ran.log
    assert f"- `{SLO}`: watched by `AlertDefinition/budget`, as foreseen" in jobs.comment


def test_without_permission(jobs: Jobs) -> None:
    """A key that may read no events costs one line, and the plan is the same."""
    lowered(jobs)
    whole = jobs.change().outputs
    jobs.service.switch.misbehave(
        *(
            {"path": path, "fault": {"status": 403, "body": "no"}}
            for path in ("/alerts/events/*", "/cases/*")
        )
    )

    ran = jobs.change()

    assert ran.code == 0, ran.log
    assert ran.outputs["digest"] == whole["digest"]
    notes = [
        line for line in jobs.comment.splitlines() if "the track record is not complete" in line
    ]
    assert len(notes) == 1


def test_hostile_records(jobs: Jobs) -> None:
    """What stands in labels, names and titles is in no report of any format."""
    store, alert = jobs.service.switch.app.state.store, record_of(jobs.service, NAME)
    now = datetime.now(UTC)
    event = AlertEvent(
        company_id=1,
        cx_event_key=ENEMY,
        cx_event_dedup_key=ENEMY,
        cx_event_type=ENEMY,
        cx_event_labels={"application": ENEMY, ENEMY: "x"},
        cx_event_metadata={"alertId": alert["id"], "alertName": ENEMY},
        cx_event_timestamp=str(int(now.timestamp()) - 60),
    )
    with store.writing():
        keep_alert_event(store, event, version_id=alert["alertVersionId"])
        for table in ("incidents", "incident_events", "cases"):
            for (text,) in store.rows(f"SELECT record FROM {table}"):  # noqa: S608 - of the list above
                hostile = text.replace(NAME, json.dumps(ENEMY)[1:-1]).replace(
                    "CASE_PRIORITY_P2", "CASE_PRIORITY_<b>"
                )
                store.write(f"UPDATE {table} SET record = ? WHERE record = ?", hostile, text)  # noqa: S608 - as above
    lowered(jobs)
    project = str(jobs.root / "reconciler.yaml")

    told = [jobs.change().log, jobs.comment]
    for form in ("text", "json", "jsonl", "markdown", "html"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("RECONCILER_API_KEY", jobs.key)
            ran = typed("plan", "-q", "--track-record", "--project", project, "--format", form)
        assert ran.code == 0, ran.err
        assert unsafe_in(ran.out) == set()
        told.append(ran.out)

    for text in told:
        assert "fired" in text or "events" in text
        for piece in ("alert(1)", "canary-secret", "@team", "stop-commands", "<b>"):
            assert piece not in text
