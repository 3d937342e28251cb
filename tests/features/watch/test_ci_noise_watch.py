"""The story of a scheduled job that looks after an apply, and says it under the pull request."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from harness.jobs import Jobs
from harness.sites import ALERT_ID

from reconciler.emulator.record_endpoints import AlertEvent, keep_alert_event
from reconciler.features.watch import command as watch_alerts
from reconciler.features.watch.alert_noise import BEGINS, ENDS


def applied(jobs: Jobs) -> None:
    """Plan a change under its pull request, merge and apply it."""
    planned = jobs.change(new_journal="true")
    assert planned.code == 0, planned.log
    ran = jobs.merged(new_journal="true")
    assert ran.code == 0, ran.log


def fire(jobs: Jobs, count: int, patch: pytest.MonkeyPatch) -> None:
    """Let the alert fire so often in the hour after now, and look then."""
    store, begun = jobs.service.switch.app.state.store, datetime.now(UTC)
    with store.writing():
        for number in range(count):
            at = begun + timedelta(minutes=2, seconds=number)
            event = AlertEvent(
                company_id=1,
                cx_event_key=f"event-{number}",
                cx_event_dedup_key=f"trigger-{number}",
                cx_event_type="alert_triggered",
                cx_event_metadata={"alertId": ALERT_ID},
                cx_event_timestamp=str(int(at.timestamp())),
            )
            keep_alert_event(store, event, version_id="")
    patch.setattr(watch_alerts, "now", lambda: begun + timedelta(hours=1))


def test_section(jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    """A look stands once in the comment of what was applied, and plans a way back."""
    file = jobs.root / "reconciler.yaml"
    text = file.read_text(encoding="utf-8")
    file.write_text(
        text.replace("production.jsonl", "production.jsonl\n    watch: {onNoisier: rollback}"),
        encoding="utf-8",
    )
    jobs.base = jobs.merge()
    applied(jobs)
    before = jobs.comment
    fire(jobs, 40, monkeypatch)
    writes = jobs.service.writes
    payload = {"repository": {"full_name": "acme/shop", "default_branch": "main"}}

    first = jobs.job("watch", "push", {**payload, "ref": "refs/heads/main", "after": jobs.head})
    second = jobs.job(
        "watch",
        "push",
        {**payload, "ref": "refs/heads/main", "after": jobs.head},
        fail_on_changes="true",
    )

    assert (first.code, second.code) == (0, 2), first.log + second.log
    assert jobs.comment.startswith(before.rstrip("\n"))
    assert jobs.comment.count(BEGINS) == jobs.comment.count(ENDS) == 1
    assert "noisier" in jobs.comment
    assert "reconciler rollback" in jobs.comment
    assert "noisier" in second.summary
    assert jobs.service.writes == writes
    assert json.dumps(second.outputs)
