"""`graph`: what refers to what, and who uses a metric."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from harness.golden import Golden
from harness.workspaces import Workspace, project_at

PROJECT = "environments: {local: {emulator: {data: x.db}, variables: {prefix: shop}}}\n"
SLO = """\
apiVersion: reconciler/v1
kind: SLO
metadata: {name: checkout, id: 11111111-1111-4111-8111-111111111111}
spec:
  name: Checkout
  targetThresholdPercentage: 99.9
  sloTimeFrame: SLO_TIME_FRAME_28_DAYS
  requestBasedMetricSli:
    goodEvents: {query: 'sum(rate(${var:prefix}_requests_total{code="200"}[5m]))'}
    totalEvents: {query: 'sum(rate(${var:prefix}_requests_total[5m]))'}
"""
ALERT = """\
apiVersion: reconciler/v1
kind: AlertDefinition
metadata: {name: %s, id: %s}
spec:
  name: Burn
  type: ALERT_DEF_TYPE_SLO_THRESHOLD
  sloThreshold:
    sloDefinition: {sloId: "%s"}
    errorBudget: {rules: [{condition: {threshold: 10}}]}
"""
DASHBOARD = """\
apiVersion: reconciler/v1
kind: Dashboard
metadata: {name: shop}
spec:
  dashboard:
    name: Shop
    layout:
      sections:
        - rows:
            - appearance: {height: 10}
              widgets:
                - title: 'Errors "now"<b>'
                  definition:
                    gauge: {query: {metrics: {promqlQuery: {value: shop_requests_total}}}}
                - title: Logs
                  definition:
                    gauge: {query: {logs: {luceneQuery: {value: 'pod"]:x AND level:error'}}}}
                - title: Others
                  definition:
                    gauge: {query: {logs: {luceneQuery: {value: 'level:error OR pod\\"\\]:a'}}}}
"""
BY_ID = "22222222-2222-4222-8222-222222222222"
BY_REF = "33333333-3333-4333-8333-333333333333"


@pytest.fixture
def project(tmp_path: Path) -> Workspace:
    made = project_at(tmp_path, PROJECT)
    made.write("a/slo.yaml", SLO)
    made.write("b/id.yaml", ALERT % ("by-id", BY_ID, "11111111-1111-4111-8111-111111111111"))
    made.write("b/ref.yaml", ALERT % ("by-ref", BY_REF, "${ref:SLO/checkout}"))
    made.write("c.yaml", DASHBOARD)
    return made


@pytest.mark.parametrize("name", ["SLO/nope", "SLO/chekout", "Slo/checkout", "Dashbord/a"])
def test_uses_of_what_nothing_declares(project: Workspace, name: str) -> None:
    """A resource that is not there is a typo, not one that nothing uses."""
    ran = project.run("graph", "--uses", name)

    assert (ran.code, ran.out) == (64, "")
    assert project.run("graph", "--uses", "SLO/none*").code == 0


def test_who_uses_a_metric(project: Workspace) -> None:
    """A metric leads to queries by file, line and title, and to who watches their resources."""
    ran = project.run("graph", "--metric", "shop_requests_total")

    assert ran.code == 0
    assert ran.out.splitlines() == [
        "SLO/checkout  a/slo.yaml:1",
        "  referred to by AlertDefinition/by-id  b/id.yaml:8",
        "  referred to by AlertDefinition/by-ref  b/ref.yaml:8",
        "  requestBasedMetricSli.goodEvents.query  a/slo.yaml:9",
        "    metrics: shop_requests_total",
        '    labels: code="200"',
        "  requestBasedMetricSli.totalEvents.query  a/slo.yaml:10",
        "    metrics: shop_requests_total",
        "AlertDefinition/by-id  b/id.yaml:1",
        "  refers to SLO/checkout  b/id.yaml:8",
        "AlertDefinition/by-ref  b/ref.yaml:1",
        "  refers to SLO/checkout  b/ref.yaml:8",
        "Dashboard/shop  c.yaml:1",
        '  widget "Errors \\"now\\"<b>" · query  c.yaml:14',
        "    metrics: shop_requests_total",
    ]


@pytest.mark.parametrize("name", ["shop_requests_total", "code", "level", "SLO/checkout", "shop_*"])
def test_uses_of_any_name(project: Workspace, name: str) -> None:
    """Metrics, labels, fields and resources are found, and by globs too."""
    ran = project.run("graph", "--uses", name, "--format", "json")

    assert ran.code == 0
    assert ran.json["resources"]


def test_a_near_name(project: Workspace, golden: Golden) -> None:
    """A name that nothing uses is said, with the one that was likely meant."""
    ran = project.run("graph", "--metric", "shop_request_total")

    assert (ran.code, ran.out) == (0, "")
    golden(ran.err)


def test_every_format_says_the_same(project: Workspace) -> None:
    """Each resource, metric and field is in each format, twice the same, and no text is markup."""
    document = project.run("graph", "--format", "json").json
    dot = project.run("graph", "--format", "dot").out
    mermaid = project.run("graph", "--format", "mermaid").out

    assert project.run("graph", "--format", "dot").out == dot
    assert {reference["to"] for reference in document["references"]} == {"SLO/checkout"}
    for name in ("SLO/checkout", "Dashboard/shop", "metric shop_requests_total", "field level"):
        assert f'"{name}"' in dot
        assert f'"{name}"' in mermaid
    for line in mermaid.splitlines()[1:]:
        assert line.count('"') in (0, 2), line
    for line in dot.splitlines()[3:-1]:
        assert line.replace('\\"', "").count('"') in (2, 4), line


def test_with_errors(project: Workspace) -> None:
    """What can be read is shown, what is wrong is told, and the exit code is 4."""
    project.write("d.yaml", SLO.replace("name: checkout", "name: other").replace("spec:", "spce:"))

    ran = project.run("graph", "--format", "json")

    assert ran.code == 4
    assert "M302" in ran.err or "M2" in ran.err
    assert len(json.loads(ran.out)["resources"]) == 4


LOADED = """\
import sys
from reconciler.cli.root import run
code = run(["validate", "-q", sys.argv[1]])
print(code, *sorted(name for name in ("promql_parser", "luqum", "ply") if name in sys.modules))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("files", "loaded"),
    [
        ({}, []),
        ({"a.yaml": "name: a"}, []),
        ({"a.yaml": 'searchQuery: {query: ""}'}, []),
        ({"a.yaml": "searchQuery: {query: 'a:b'}"}, ["luqum", "ply"]),
        ({"slo.yaml": ""}, ["promql_parser"]),
    ],
    ids=["nothing", "no query", "an empty query", "Lucene", "PromQL"],
)
def test_only_parsers_that_are_used(
    tmp_path: Path, files: dict[str, str], loaded: list[str]
) -> None:
    """Validating imports the parser of a language only where a manifest has a query in it."""
    made = project_at(tmp_path, PROJECT)
    for name, lines in files.items():
        view = "apiVersion: reconciler/v1\nkind: SavedView\nmetadata: {name: a}\nspec:\n"
        own = f"  {lines}\n" if lines.startswith("search") else ""
        rest = "  name: A\n  timeSelection: {quickSelection: {seconds: 60}}\n"
        made.write(name, SLO if name == "slo.yaml" else f"{view}{rest}{own}")

    ran = subprocess.run(
        [sys.executable, "-c", LOADED, str(tmp_path)], capture_output=True, text=True, check=True
    )

    assert ran.stdout.split() == ["0", *sorted(loaded)], ran.stdout + ran.stderr


def test_a_selection(project: Workspace) -> None:
    """Only what is selected is drawn, with what it refers to; the rest is counted."""
    drawn = project.run("graph", "--select", "AlertDefinition/by-ref", "--format", "json").json
    text = project.run("graph", "--exclude", "kind=AlertDefinition", "--exclude", "file=c.yaml")
    mermaid = project.run("graph", "--select", "file=b/*", "--format", "mermaid")

    assert [resource["ref"] for resource in drawn["resources"]] == ["AlertDefinition/by-ref"]
    assert [(reference["from"], reference["to"]) for reference in drawn["references"]] == [
        ("AlertDefinition/by-ref", "SLO/checkout")
    ]
    assert drawn["uses"] == []
    assert drawn["selection"] == {
        "select": ["AlertDefinition/by-ref"],
        "exclude": [],
        "leftOut": 3,
    }
    assert text.out.splitlines()[0] == "SLO/checkout  a/slo.yaml:1"
    assert "Dashboard" not in text.out
    assert "AlertDefinition" not in text.out
    assert "3 resources left out" in text.err
    assert mermaid.out.count("-->") == 2
    assert project.run("graph", "--select", "SLO/chekout").code == 64
