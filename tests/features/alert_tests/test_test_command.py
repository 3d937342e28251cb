"""`reconciler test`: results at their places, files of rows, weak alerts, recorded rows."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from harness.doors import typed
from harness.workspaces import PROJECT, SLO, Workspace, project_at

HEAD = """\
apiVersion: reconciler/v1
kind: AlertDefinition
metadata: {name: errors, id: 2f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4a11}
"""
SPEC = """\
spec:
  name: Errors
  description: 'Orders fail: https://runbooks.example.com/orders'
  type: ALERT_DEF_TYPE_LOGS_IMMEDIATE_OR_UNSPECIFIED
  logsImmediate: {logsFilter: {simpleFilter: {luceneQuery: "event:failed AND NOT dry:true"}}}
"""
METRIC = """\
spec:
  name: Errors
  description: 'Orders fail: https://runbooks.example.com/orders'
  type: ALERT_DEF_TYPE_METRIC_THRESHOLD
  metricThreshold: {metricFilter: {promql: up}, rules: []}
"""
FAILED = "{at: 0s, text: {event: failed}}"


def one_test(logs: str = f"[{FAILED}]", fires: str = "true") -> str:
    """Return a manifest's tests: one."""
    return f"tests:\n  - name: a failed order\n    logs: {logs}\n    expect: {{fires: {fires}}}\n"


@pytest.fixture
def project(tmp_path: Path) -> Workspace:
    """Return a project with an alert and its test, which holds."""
    return project_at(tmp_path, errors=HEAD + one_test() + SPEC)


def results(project: Workspace, *arguments: str) -> Any:
    """Return what `test` prints as JSON."""
    return project.run("test", "--format", "json", *arguments).json


def test_a_test_that_holds(project: Workspace) -> None:
    """A test that holds ends with 0, and an alert without one is counted."""
    project.write("other.yaml", HEAD.replace("errors", "other").replace("2f6a", "3f6a") + SPEC)
    ran = project.run("test", "--format", "json")

    assert ran.code == 0
    assert ran.json["untested"] == 1
    assert [test["result"] for test in ran.json["alerts"][0]["tests"]] == ["holds"]


def test_a_test_that_does_not_hold(project: Workspace) -> None:
    """A test that does not hold ends with 4, at its line."""
    project.write("errors.yaml", HEAD + one_test(fires="false") + SPEC)
    ran = project.run("test", "--format", "json")

    assert ran.code == 4
    (found,) = ran.json["complaints"]
    assert (found["code"], found["file"], found["line"]) == ("T101", "errors.yaml", 5)


def test_what_is_not_evaluated(project: Workspace) -> None:
    """A test of a metric alert is a warning, and an error with --strict."""
    project.write("errors.yaml", HEAD + one_test() + METRIC)

    assert project.run("test").code == 0
    assert results(project)["complaints"][0]["code"] == "T102"
    assert project.run("test", "--strict").code == 4


@pytest.mark.parametrize(
    ("logs", "code"),
    [
        ("missing.jsonl", "T103"),
        ("/etc/hostname", "T103"),
        ("../outside.jsonl", "T103"),
        ("link.jsonl", "T103"),
        ("broken.jsonl", "T103"),
        ("unsorted.jsonl", "T103"),
        ("pipe.jsonl", "T103"),
        ("[{text: a}]", "M215"),
        ("[{at: 0s, colour: red}]", "M215"),
        ("[{at: yesterday}]", "M215"),
        ("[{at: 0s, repeat: {times: 0, every: 1s}}]", "M215"),
        ("[]", "M215"),
    ],
)
def test_rows_that_cannot_be_used(project: Workspace, tmp_path: Path, logs: str, code: str) -> None:
    """Rows that cannot be used are an error, and never a test that holds."""
    (tmp_path.parent / "outside.jsonl").write_text('{"at": "0s"}\n', encoding="utf-8")
    (tmp_path / "link.jsonl").symlink_to(tmp_path.parent / "outside.jsonl")
    os.mkfifo(tmp_path / "pipe.jsonl")
    project.write("broken.jsonl", '{"at": "0s"\n')
    project.write("unsorted.jsonl", '{"at": "9s"}\n{"at": "1s"}\n')
    project.write("errors.yaml", HEAD + one_test(logs, "false") + SPEC)
    ran = project.run("test", "--format", "json")

    assert ran.code == 4
    assert {found["code"] for found in ran.json["complaints"]} == {code}


def test_rows_of_a_file(project: Workspace) -> None:
    """Rows of a file next to the manifest count as those in the manifest do."""
    project.write("rows/failed.jsonl", '{"at": "0s", "text": {"event": "failed"}}\n\n')
    project.write("rows/errors.yaml", HEAD + one_test("failed.jsonl") + SPEC)
    (project.root / "errors.yaml").unlink()

    assert results(project)["alerts"][0]["tests"][0]["rows"] == 1


def test_each_item_of_a_for_each(project: Workspace) -> None:
    """Each resource of a `forEach` runs the tests with its own values."""
    text = HEAD.replace("errors", '"${each:name}"').replace(
        "2f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4a11", '"${each:id}"'
    )
    items = (
        "forEach:\n"
        "  - {name: one, id: 2f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4a11, event: failed}\n"
        "  - {name: two, id: 3f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4a11, event: refused}\n"
    )
    logs = '[{at: 0s, text: {event: "${each:event}"}}]'
    spec = SPEC.replace("event:failed", "event:${each:event}")
    project.write("errors.yaml", text + items + one_test(logs) + spec)

    assert [alert["ref"] for alert in results(project)["alerts"]] == [
        "AlertDefinition/one",
        "AlertDefinition/two",
    ]


def test_tests_are_of_alerts_alone(project: Workspace) -> None:
    """`tests` of a kind without tests is an error."""
    project.write("slo.yaml", SLO.replace("spec:", f"{one_test()}spec:"))

    found = typed("validate", "--format", "json", str(project.root)).json["complaints"]
    assert "M208" in {complaint["code"] for complaint in found}


def test_a_test_changes_no_plan(project: Workspace) -> None:
    """A manifest's tests are in no plan and no digest: adding one is no change."""
    project.write("errors.yaml", HEAD + SPEC)
    before = project.plan()
    project.write("errors.yaml", HEAD + one_test() + SPEC)
    after = project.plan()

    assert before["digest"] == after["digest"]
    assert "a failed order" not in json.dumps(after)


def test_a_cached_manifest_has_its_tests(project: Workspace) -> None:
    """The second run, from the cache, runs the same tests at the same lines."""
    first = results(project)

    assert results(project) == first
    assert results(project, "--no-cache") == first


def test_small_changes_that_no_test_notices(project: Workspace) -> None:
    """A part of the query that no test needs is named, and --fail-on-weak ends with 4."""
    weak = results(project, "--weak")["alerts"][0]["unnoticed"]

    assert [change for change in weak if "dry" in change]
    assert project.run("test", "--fail-on-weak").code == 4
    rows = f"[{FAILED}, {{at: 5s, text: {{event: paid}}}}]"
    quiet = one_test(
        "[{at: 0s, text: {event: failed, dry: true}}, {at: 1s, text: {event: paid}}]", "false"
    )
    project.write("errors.yaml", HEAD + one_test(rows) + quiet.removeprefix("tests:\n") + SPEC)
    assert results(project, "--weak")["alerts"][0]["unnoticed"] == []
    assert project.run("test", "--fail-on-weak").code == 0


EXPORT = {
    "timestamp": "2026-03-02T08:00:05Z",
    "level": "WARN",
    "message": json.dumps({"user": "ann@example.org", "from": "10.1.2.3", "password": "hunter2"}),
}


def test_recorded_rows(tmp_path: Path) -> None:
    """Rows of an export are rows of a test, and what looks like a secret or a person is gone."""
    file = tmp_path / "export.jsonl"
    file.write_text(json.dumps(EXPORT) + "\n", encoding="utf-8")

    assert typed("test", "--record", str(file)).code == 64
    ran = typed("test", "--record", str(file), "--scrub")
    row = json.loads(ran.out)
    assert (row["at"], row["severity"]) == ("5s", "warning")
    for secret in ("ann@example.org", "10.1.2.3", "hunter2"):
        assert secret not in ran.out
        assert secret in typed("test", "--record", str(file), "--as-is").out


def test_junit(project: Workspace) -> None:
    """Each test is a case of its alert."""
    cases = re.findall(r"<testcase (.*?)/>", project.run("test", "--format", "junit").out)

    assert [dict(re.findall(r'(\w+)="([^"]*)"', case)) for case in cases] == [
        {"classname": "AlertDefinition/errors", "name": "a failed order", "file": "errors.yaml"}
    ]


def test_broken_manifests(project: Workspace) -> None:
    """Nothing is run, and no test holds, where the manifests have errors."""
    project.settle(PROJECT.replace("emulator:", "emulater:"))

    assert project.run("test").code == 4
