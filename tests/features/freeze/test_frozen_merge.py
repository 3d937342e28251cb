"""A story: a merge during an incident is frozen, and goes through with a reason, or afterwards."""

from __future__ import annotations

from datetime import UTC, datetime

from harness.jobs import Jobs
from harness.repositories import git
from harness.sites import ALERT_ID

from reconciler.emulator.record_endpoints import (
    AlertBehind,
    Incident,
    close,
    incident_in,
    open_incident,
)

GUARD = 11
FREEZE = """\
    freeze:
      incidents: {severities: [critical], scope: matching}
"""
ALWAYS = """\
    freeze:
      windows: [{cron: "* * * * *", for: 2m, reason: nobody but me}]
"""


def with_freeze(jobs: Jobs, freeze: str) -> None:
    """Let production freeze."""
    text = (jobs.root / "reconciler.yaml").read_text("utf-8")
    text = text.replace("  production:\n", f"  production:\n{freeze.rstrip()}\n")
    (jobs.root / "reconciler.yaml").write_text(text, encoding="utf-8")


def an_incident(jobs: Jobs, name: str = "Errors") -> None:
    """Let something go wrong, of the alert that the manifests declare."""
    incident = Incident(id="i-1", name=name, severity="INCIDENT_SEVERITY_CRITICAL")
    behind = AlertBehind(ALERT_ID, name, {"team": "payments"})
    store = jobs.service.switch.app.state.store
    open_incident(store, incident, behind, now=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z"))


def over(jobs: Jobs) -> None:
    """Close it."""
    store = jobs.service.switch.app.state.store
    incident = incident_in(store, "i-1")
    assert incident is not None
    close(store, incident, now=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z"))


def journal(jobs: Jobs) -> str:
    """Give the lines of the journal."""
    return (jobs.root / ".reconciler/production.jsonl").read_text(encoding="utf-8")


def begun(jobs: Jobs) -> None:
    """Apply what stands there, and let the base branch freeze during incidents."""
    with_freeze(jobs, FREEZE)
    jobs.base = jobs.merge()
    assert jobs.merged(require_plan="none").code == 0
    git(jobs.root, "checkout", "--quiet", "-b", "change")


def test_a_merge_during_an_incident(jobs: Jobs) -> None:
    """A merge during a matching incident is frozen, and goes through once the glass is broken."""
    begun(jobs)
    jobs.edit("description: Whoever is on call", "description: Who is on call")
    an_incident(jobs)

    planned = jobs.change()
    before = len(jobs.service.writes)
    refused = jobs.merged()
    told = jobs.comment
    agreed = jobs.merged(commit=jobs.head, allow_destroy="true")
    forced = jobs.merged(commit=jobs.head, break_glass="the alert pages the wrong team")

    assert planned.code == 0
    assert "`Errors` (critical, since" in planned.summary
    assert (refused.code, refused.outputs["failure-reason"]) == (GUARD, "guard")
    assert "1 incident is" in told
    assert agreed.code == GUARD
    assert len([write for write in jobs.service.writes[before:] if "bulk" in write]) == 1
    assert (forced.code, forced.outputs["result"]) == (0, "applied"), forced.log
    (entry,) = [line for line in journal(jobs).splitlines() if '"unfrozen"' in line]
    assert "the alert pages the wrong team" in entry
    assert "1 incident is open" in entry


def test_after_the_incident(jobs: Jobs) -> None:
    """Once the incident is closed the merge goes through as reviewed, and nothing was broken."""
    begun(jobs)
    jobs.edit("description: Whoever is on call", "description: Who is on call")
    an_incident(jobs)
    jobs.change()
    assert jobs.merged().code == GUARD

    over(jobs)
    ran = jobs.merged(commit=jobs.head, break_glass="just in case")

    assert (ran.code, ran.outputs["result"]) == (0, "applied"), ran.log
    assert "unfrozen" not in journal(jobs)


def test_an_incident_of_something_else(jobs: Jobs) -> None:
    """An incident of another alert freezes nothing that is not its own."""
    begun(jobs)
    jobs.edit("description: first", "description: second")
    an_incident(jobs)
    jobs.change()

    assert jobs.merged().code == 0


def test_the_freeze_of_the_change(jobs: Jobs) -> None:
    """A change under review is planned with the base branch's freeze, and not with its own."""
    with_freeze(jobs, ALWAYS)
    jobs.edit("description: first", "description: second")

    adds_one = jobs.change()
    jobs.base = jobs.merge()
    text = (jobs.root / "reconciler.yaml").read_text("utf-8")
    (jobs.root / "reconciler.yaml").write_text(text.replace(ALWAYS, ""), encoding="utf-8")
    jobs.edit("description: second", "description: third")
    takes_it_away = jobs.change()

    assert "is frozen" not in adds_one.summary
    assert "environments.production.freeze" in adds_one.summary
    assert "nobody but me" in takes_it_away.summary
