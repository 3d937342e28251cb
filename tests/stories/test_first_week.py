"""A team's first week, with the commands of the docs, on a service that fills in nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

import httpx
import pytest
from harness.doors import KEY, Ran, environment, typed_at
from harness.forge import FakeForge, served_forge
from harness.jobs import Jobs
from harness.repositories import begin, git
from harness.routes import API_ROOT
from harness.served import Served, served

PROJECT = """\
manifests: [.]
defaultEnvironment: production
environments:
  production: {{baseUrl: "{url}", journal: .reconciler/production.jsonl}}
"""
ALERTS, SLOS, DASHBOARDS, VIEWS = 60, 40, 50, 34
TARGET = "SLO/answers-of-service-7.yaml"
READ = SLOS + DASHBOARDS + 1
UNREAD = ALERTS + VIEWS
SPACE = UUID("6f1d1f0e-6a1c-4a52-9d0c-0d9b5b4f3a77")
ALERT_IDS = [str(uuid5(SPACE, f"alert {number}")) for number in range(ALERTS)]


def alert(number: int) -> dict[str, Any]:
    """Return the properties of an alert that someone made in the web interface."""
    return {
        "name": f"Errors of service {number}",
        "priority": "ALERT_DEF_PRIORITY_P1",
        "type": "ALERT_DEF_TYPE_LOGS_IMMEDIATE_OR_UNSPECIFIED",
        "logsImmediate": {"logsFilter": {"simpleFilter": {"luceneQuery": f"service:s{number}"}}},
    }


def slo(number: int) -> dict[str, Any]:
    """Return an SLO as it was made."""
    return {
        "name": f"Answers of service {number}",
        "targetThresholdPercentage": 99.5,
        "sloTimeFrame": "SLO_TIME_FRAME_28_DAYS",
        "requestBasedMetricSli": {
            "goodEvents": {"query": f'sum(rate(good{{service="s{number}"}}[5m]))'},
            "totalEvents": {"query": f'sum(rate(all{{service="s{number}"}}[5m]))'},
        },
    }


def dashboard(number: int) -> dict[str, Any]:
    """Return a dashboard without a slug, as web interfaces make them."""
    text = {"markdown": {"markdownText": f"# Service {number}"}}
    widget = {"id": {"value": str(uuid5(SPACE, f"widget {number}"))}, "definition": text}
    row = {
        "id": {"value": str(uuid5(SPACE, f"row {number}"))},
        "appearance": {"height": 19},
        "widgets": [widget],
    }
    section = {"id": {"value": str(uuid5(SPACE, f"section {number}"))}, "rows": [row]}
    return {
        # Of real ids one in 64 begins with a hyphen.
        "id": f"{'b' if number else '-'}{number:020}",
        "name": f"Service {number}",
        "relativeTimeFrame": "3600s",
        "layout": {"sections": [section]},
    }


def view(number: int) -> dict[str, Any]:
    """Return a saved view."""
    return {
        "name": f"Errors of service {number}",
        "searchQuery": {"query": f"service:s{number}"},
        "timeSelection": {"quickSelection": {"seconds": 900}},
        "viewType": "VIEW_TYPE_LOGS",
    }


POLICIES = [
    {
        "logRules": {"severities": ["SEVERITY_ERROR"]},
        "policy": {"name": f"Keep {name}", "priority": "PRIORITY_TYPE_HIGH"},
    }
    for name in ("payments", "search", "cart")
]


@dataclass
class Company:
    """A company that clicked everything together, and the folder of its first repository."""

    jobs: Jobs
    web: httpx.Client
    exports: Path

    def typed(self, *arguments: str) -> Ran:
        """Run a command of the docs in the repository."""
        url = self.jobs.service.base_url
        known = environment(url, RECONCILER_CACHE=str(self.jobs.temporary / "cache"))
        return typed_at(self.jobs.root, known, *arguments)

    def done(self, *arguments: str, code: int = 0) -> Ran:
        """Run a command that ends as the docs say."""
        ran = self.typed(*arguments)
        assert ran.code == code, f"{arguments}: {ran.code}\n{ran.out}\n{ran.err}"
        return ran

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Act as a person in the web interface."""
        reply = self.web.request(method, path, json=body)
        assert reply.is_success, reply.text
        return reply.json()

    def listed(self, what: str) -> list[Any]:
        """Return every record of a kind, as the web interface shows it."""
        found: list[Any] = self.call("GET", f"/web/{what}")["items"]
        return found


def click_together(company: Company) -> None:
    """Make 185 objects by hand, and export what no API can read."""
    call = company.call
    replaced = [
        {"id": alert_id, "alertDefProperties": alert(number)}
        for number, alert_id in enumerate(ALERT_IDS)
    ]
    call("PUT", f"{API_ROOT}/alerts/alerts-general/v3/bulk", {"alertDefsToReplace": replaced})
    for number in range(SLOS):
        call("POST", f"{API_ROOT}/v1/slo/slos", slo(number))
    for number in range(DASHBOARDS):
        body = {"dashboard": dashboard(number), "requestId": f"click-{number}"}
        call("POST", f"{API_ROOT}/v1/dashboards/dashboards", body)
    for number in range(VIEWS):
        call("POST", f"{API_ROOT}/data-exploration/saved-views/v1", view(number))
    overwrite = f"{API_ROOT}/dataplans/policies/v1/atomicOverwriteLogPolicies"
    call("POST", overwrite, {"policies": POLICIES})
    for what in ("alerts", "saved-views"):
        for number, record in enumerate(company.listed(what)):
            (company.exports / f"{what}-{number}.json").write_text(json.dumps(record), "utf-8")


def replace(jobs: Jobs, file: str, before: str, after: str) -> None:
    """Edit a manifest."""
    path = jobs.root / file
    text = path.read_text("utf-8")
    assert before in text
    path.write_text(text.replace(before, after), "utf-8")


@pytest.fixture
def company(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Company]:
    """Open the company, its forge and an empty repository."""
    root, temporary, exports = tmp_path / "shop", tmp_path / "temporary", tmp_path / "exports"
    for folder in (root, temporary, exports):
        folder.mkdir()
    monkeypatch.chdir(root)
    with served(alert_ids=ALERT_IDS) as service, served_forge() as forge:
        (root / "reconciler.yaml").write_text(PROJECT.format(url=service.base_url), "utf-8")
        (root / ".gitignore").write_text(".reconciler\n", "utf-8")
        headers = {"Authorization": KEY, "X-Emulator-User": "alice@example.com"}
        with httpx.Client(base_url=service.base_url, headers=headers) as web:
            yield Company(begun_jobs(root, temporary, service, forge), web, exports)


def begun_jobs(root: Path, temporary: Path, service: Served, forge: FakeForge) -> Jobs:
    """Return the jobs of a repository that holds a project file and no manifest."""
    return Jobs(root, temporary, service, forge, begin(root))


def branch(jobs: Jobs, name: str) -> None:
    """Begin a change of the default branch."""
    git(jobs.root, "checkout", "--quiet", "-B", name)


def merge(jobs: Jobs) -> str:
    """Merge what is checked out, and return the commit."""
    commit = jobs.merge()
    git(jobs.root, "checkout", "--quiet", "-B", "main")
    jobs.base = commit
    return commit


def import_all(company: Company) -> None:
    """Make manifests of all that is there, so that nothing would change."""
    company.done("journal", "init", "-q")
    boards = [record["dashboard"]["id"] for record in company.listed("dashboards")]
    company.done("import", "dashboard", *boards)
    company.done("import", "slo", *(record["id"] for record in company.listed("slos")))
    company.done("import", "policies")
    company.done("import", "--from", str(company.exports))
    kept = company.done("plan", "--format", "json", "--exit-code").json["summary"]
    assert (kept["keep"], kept["keepUnseen"]) == (READ + UNREAD, UNREAD)
    merge(company.jobs)


def lower_a_target(jobs: Jobs) -> None:
    """Review a lower target, and let CI apply it."""
    before = len(jobs.service.writes)
    branch(jobs, "lower")
    replace(jobs, TARGET, "99.5", "99")
    planned = jobs.change()
    assert (planned.code, planned.outputs["update"]) == (0, "1")
    assert "slo-target-lowered" in jobs.comment
    applied = jobs.merged(commit=merge(jobs))
    assert (applied.code, applied.outputs["result"]) == (0, "applied"), applied.log
    assert len(jobs.service.writes) == before + 1


def adopt_an_edit(company: Company) -> None:
    """Edit a dashboard in the web interface, and take that over."""
    board = company.listed("dashboards")[3]["dashboard"]
    board["relativeTimeFrame"] = "900s"
    body = {"dashboard": board, "requestId": "edit"}
    company.call("PUT", f"{API_ROOT}/v1/dashboards/dashboards", body)
    company.done("drift", code=2)
    company.done("adopt", "--all")
    company.done("plan", "--exit-code")
    branch(company.jobs, "adopted")
    assert company.jobs.change().outputs["result"] == "no-changes"
    assert company.jobs.merged(commit=merge(company.jobs)).code == 0


def roll_back(company: Company) -> None:
    """Take the target back; an unrelated merge brings nothing back until the manifest follows."""
    jobs = company.jobs
    company.done("rollback", "last", "SLO/answers-of-service-7", "--yes")
    branch(jobs, "unrelated")
    replace(jobs, "SLO/answers-of-service-8.yaml", "28_DAYS", "14_DAYS")
    before = len(jobs.service.writes)
    planned = jobs.change()
    assert planned.code == 0, planned.log
    refused = jobs.merged(commit=merge(jobs))
    assert (refused.code, refused.outputs["failure-reason"]) == (11, "guard"), refused.log
    assert "undoes-rollback" in jobs.comment
    assert len(jobs.service.writes) == before

    branch(jobs, "follow")
    replace(jobs, TARGET, "targetThresholdPercentage: 99", "targetThresholdPercentage: 99.5")
    assert jobs.change().code == 0
    applied = jobs.merged(commit=merge(jobs))
    assert applied.code == 0, applied.log
    company.done("plan", "--exit-code")


def lose_the_journal(company: Company) -> None:
    """Lose the memory; only a person's consent begins another, and nothing is made twice."""
    journal = company.jobs.root / ".reconciler" / "production.jsonl"
    journal.unlink()
    refused = company.typed("apply", "--yes")
    assert refused.code == 11, refused.err
    assert not journal.exists()
    counted = {what: len(company.listed(what)) for what in ("slos", "dashboards", "saved-views")}
    assert company.typed("journal", "init", "-q").code == 8
    company.done("import", "--from", str(company.exports), code=8)
    why = "takes-over=the journal was lost"
    company.done("apply", "--yes", "--new-journal", "--override-guard", why)
    company.done("plan", "--exit-code")
    assert counted == {what: len(company.listed(what)) for what in counted}


@pytest.mark.slow
@pytest.mark.promise("S1", "S7", "S10", "S14", "S16", "S44")
def test_a_first_week(company: Company) -> None:
    """Import, review, apply, adopt, roll back and a lost journal end as the docs say."""
    click_together(company)
    import_all(company)
    lower_a_target(company.jobs)
    adopt_an_edit(company)
    roll_back(company)
    lose_the_journal(company)
