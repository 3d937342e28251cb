"""Samples of logs: an order that loses some is told, and a swap that does is put back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from harness.doors import Ran, in_this_process
from harness.served import served
from harness.workspaces import EXAMPLES, project_at

from reconciler.emulator import Profile

POLICIES = (EXAMPLES / "shop" / "log-policies.yaml").read_text(encoding="utf-8")
SAMPLES = (EXAMPLES / "shop" / "policy-samples.yaml").read_text(encoding="utf-8")
PROJECT = """\
environments:
  shop:
    baseUrl: BASE
    journal: .reconciler/shop.jsonl
    policySamples: {file: samples/logs.yaml, onMismatch: rollback}
    variables: {auditRetentionId: 3f10373e-3827-4a83-a684-e8185831ca0f}
"""
CANARY = "canary-8a1f0c3d7e"
AUDIT = "\n    # Before the rules on severity"
ERRORS = "    - logRules:\n        severities: [SEVERITY_ERROR, SEVERITY_CRITICAL]\n"
CRITICAL = (
    "- {application: shop, subsystem: payments-ledger, severity: critical, "
    "policy: Keep the payments audit}\n"
)
SEARCH = "    # Switch this on for a sale"


def _audit_after_errors() -> str:
    """Give the policies with the one of the audit behind the one that takes all errors."""
    head, rest = POLICIES.split(AUDIT)
    audit, errors = rest.split(ERRORS)
    errors, others = errors.split(SEARCH)
    return f"{head}\n{ERRORS}{errors}{AUDIT}{audit}{SEARCH}{others}"


class Story:
    """A project folder, and commands on it against a service at a port."""

    def __init__(self, folder: Path, base_url: str) -> None:
        self.base_url = base_url
        assert CRITICAL in SAMPLES
        self.workspace = project_at(folder, PROJECT.replace("BASE", base_url), policies=POLICIES)
        self.workspace.write("samples/logs.yaml", SAMPLES)

    def run(self, *arguments: str) -> Ran:
        """Run one command."""
        more = {"NOTE": CANARY}
        return in_this_process(self.workspace.root, self.base_url, *arguments, more=more)

    def declare(self, policies: str) -> None:
        """Write the manifest."""
        self.workspace.write("policies.yaml", policies)


def test_an_order_that_loses_logs(tmp_path: Path) -> None:
    """An order under which the audit is lost is shown and refused, until it is mended."""
    with served() as service:
        story = Story(tmp_path, service.base_url)
        assert story.run("validate").code == 0
        assert story.run("apply", "--yes", "--new-journal").code == 0
        story.declare(_audit_after_errors())
        planned = json.loads(story.run("plan", "--format", "json").out)
        impact = planned["policyImpact"]

        assert impact["agreement"] == 1
        assert [change["sample"]["subsystem"] for change in impact["changes"]] == [
            "payments-ledger"
        ]
        assert impact["failures"] == [
            {
                "sample": {
                    "application": "shop",
                    "subsystem": "payments-ledger",
                    "severity": "critical",
                },
                "expected": "Keep the payments audit",
                "told": "Errors at hand",
            }
        ]
        assert "policy-samples" in [guard["code"] for guard in planned["guards"]]

        before = len(service.writes)
        assert story.run("apply", "--yes").code == 11
        assert not [write for write in service.writes[before:] if "Overwrite" in write]
        for form in ("text", "markdown", "html"):
            assert "payments-ledger" in story.run("plan", "--format", form).out

        story.declare(POLICIES)
        assert story.run("plan", "--exit-code").code == 0
        assert story.run("apply", "--yes").code == 0


@pytest.mark.promise("S21")
def test_a_list_that_stays(tmp_path: Path) -> None:
    """Where no policy changes, plan, comment and page say nothing of the samples; `-v` does."""
    with served() as service:
        story = Story(tmp_path, service.base_url)
        assert story.run("apply", "--yes", "--new-journal").code == 0
        formats = ("text", "markdown", "html")
        quiet = [story.run("plan", "--format", form).out.lower() for form in formats]
        verbose = story.run("plan", "-v").out
        story.declare(_audit_after_errors())
        changed = story.run("plan").out

    assert [text for text in quiet if "samples" in text] == []
    assert "samples" in verbose.lower()
    assert "samples" in changed.lower()


def test_a_reviewed_plan(tmp_path: Path) -> None:
    """Who reviewed the very plan that shows the failure may apply it."""
    with served() as service:
        story = Story(tmp_path, service.base_url)
        story.run("apply", "--yes", "--new-journal")
        story.declare(_audit_after_errors())
        file = tmp_path / "plan.json"

        assert story.run("plan", "--out", str(file)).code == 0
        assert story.run("apply", "--plan", str(file)).code == 0


def test_a_plan_that_was_reviewed_without_it(tmp_path: Path) -> None:
    """A plan of before a sample was there, file or digest, is no consent to what it tells."""
    with served() as service:
        story = Story(tmp_path, service.base_url)
        story.run("apply", "--yes", "--new-journal")
        story.declare(_audit_after_errors())
        story.workspace.write("samples/logs.yaml", SAMPLES.replace(CRITICAL, ""))
        file = tmp_path / "plan.json"
        assert story.run("plan", "--out", str(file)).code == 0
        digest = json.loads(file.read_text(encoding="utf-8"))["digest"]
        story.workspace.write("samples/logs.yaml", SAMPLES)

        by_file = story.run("apply", "--plan", str(file))
        assert by_file.code == 6
        assert "samples" in by_file.err
        assert story.run("apply", "--expect", digest).code == 6


def test_other_samples(tmp_path: Path) -> None:
    """Samples are part of what was reviewed where the list is written, and of no other plan."""
    with served() as service:
        story = Story(tmp_path, service.base_url)
        story.run("apply", "--yes", "--new-journal")

        def digest() -> str:
            told: str = json.loads(story.run("plan", "--format", "json").out)["digest"]
            return told

        def digests() -> set[str]:
            found = {digest()}
            story.workspace.write("samples/logs.yaml", SAMPLES.replace("search", "find"))
            found.add(digest())
            project = PROJECT.replace("BASE", story.base_url).replace("rollback", "report")
            story.workspace.write("reconciler.yaml", project)
            found.add(digest())
            story.workspace.write("samples/logs.yaml", SAMPLES)
            story.workspace.write("reconciler.yaml", project.replace("report", "rollback"))
            return found

        assert len(digests()) == 1
        story.declare(_audit_after_errors())
        assert len(digests()) == 3


def test_a_service_that_does_otherwise(tmp_path: Path) -> None:
    """A service that compares otherwise than assumed is found out, and the old list put back."""
    with served(profile=Profile(policy_names="any_case")) as service:
        story = Story(tmp_path, service.base_url)
        secret = POLICIES.replace("Cheap to keep, slower to search.", "${secret:NOTE}")
        story.declare(secret)
        assert story.run("apply", "--yes", "--new-journal").code == 0
        story.workspace.write(
            "samples/logs.yaml",
            SAMPLES + "- {application: SHOP, subsystem: checkout, severity: info}\n",
        )
        story.declare(
            secret.replace(
                "name: Block health checks\n        description",
                "name: Block health checks\n        applicationRule: "
                "{name: shop, ruleTypeId: RULE_TYPE_ID_IS}\n        description",
            ).replace("health-check,load-balancer", "health-check,load-balancer,checkout")
        )
        told = json.loads(story.run("plan", "--format", "json").out)["policyImpact"]
        assert told["agreement"] == 1

        applied = story.run("apply", "--yes", "--format", "json")
        assert applied.code == 3
        (outcome,) = json.loads(applied.out)["outcomes"]
        assert outcome["outcome"] == "refused"
        assert "put back" in outcome["message"]
        live = service.rows("SELECT record FROM log_policies ORDER BY place")
        assert "checkout" not in live[0][0]
        assert CANARY in live[-1][0]
        journal = (tmp_path / ".reconciler" / "shop.jsonl").read_text(encoding="utf-8")
        assert CANARY not in journal + applied.out + applied.err
        again = json.loads(story.run("plan", "--format", "json").out)
        assert again["summary"]["update"] == 1


def test_deviation_is_told(tmp_path: Path) -> None:
    """Of a live list about which service and evaluator differ, the agreement is below 1."""
    with served(profile=Profile(policy_names="any_case")) as service:
        story = Story(tmp_path, service.base_url)
        story.run("apply", "--yes", "--new-journal")
        story.workspace.write(
            "samples/logs.yaml",
            SAMPLES + "- {application: SHOP, subsystem: payments-ledger, severity: info}\n",
        )
        told = json.loads(story.run("plan", "--format", "json").out)["policyImpact"]

        assert told["agreement"] == 9 / 10
        assert len(told["disagreements"]) == 1
