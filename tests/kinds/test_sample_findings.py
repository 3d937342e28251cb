from __future__ import annotations

import json
from pathlib import Path

import pytest
from spec_models import ALERT, DASHBOARD, POLICIES, SLO, VIEW, SpecModel, code_of

from reconciler.document import Json

SAMPLES = Path(__file__).parents[2].parent / "shared" / "samples"

EXPECTED: dict[str, list[tuple[str, str]]] = {
    "alerts/console-check.json": [],
    "alerts/flow.json": [],
    "alerts/logs-anomaly.json": [],
    "alerts/logs-ratio-threshold.json": [],
    "alerts/logs-threshold.json": [],
    "alerts/metric-threshold-wrong-key.json": [
        ("M304?", "metricThreshold.rules.0.condition.ofTheLast.dynamicDuration")
    ],
    "alerts/metric-threshold.json": [],
    "alerts/reconcile-errors.json": [],
    "alerts/slo-threshold.json": [],
    "alerts/tracing-immediate.json": [],
    "alerts/with-routing.json": [],
    "dashboards/canonical.json": [
        ("M304?", "dashboard.layout.sections.0.rows.0.widgets.0.layoutColumns")
    ],
    "dashboards/client-example.json": [
        ("M312?", "dashboard.layout.sections.0.rows.0.widgets.1.id.value"),
        ("M312?", "dashboard.layout.sections.0.rows.0.widgets.2.id.value"),
        ("M312?", "dashboard.layout.sections.0.rows.1.id.value"),
    ],
    "dashboards/dynamic-tables.json": [],
    "dashboards/export-agent-usage.json": [],
    "dashboards/export-controller-health.json": [],
    "dashboards/minimal.json": [],
    "policies/three-policies.json": [],
    "slos/request-based.json": [],
    "slos/window-based.json": [],
    "views/minimal.json": [],
    "views/quick-selection.json": [],
}

FOLDERS = {
    "alerts": ALERT,
    "dashboards": DASHBOARD,
    "policies": POLICIES,
    "slos": SLO,
    "views": VIEW,
}

needs_samples = pytest.mark.skipif(
    not SAMPLES.is_dir(), reason="the samples stand beside the repository, not in it"
)


def read_sample(name: str) -> tuple[SpecModel, dict[str, Json]]:
    """Give the model of a sample, and the sample as the `spec` of a manifest."""
    payload = json.loads((SAMPLES / name).read_text())
    folder = name.split("/", maxsplit=1)[0]
    if folder == "alerts":
        payload = payload["alertDefProperties"]
    return FOLDERS[folder], {"dashboard": payload} if folder == "dashboards" else payload


@needs_samples
@pytest.mark.parametrize("name", EXPECTED)
def test_samples_lint_with_the_warnings_they_deserve(name: str) -> None:
    """A real payload has no error, and exactly the warnings pinned here."""
    model, spec = read_sample(name)

    found = [
        (code_of(finding), ".".join(map(str, finding.path))) for finding in model.findings(spec)
    ]

    assert found == EXPECTED[name]


@needs_samples
def test_no_sample_is_left_out() -> None:
    """Every sample is pinned; pairs are of requests and answers, and no declarations."""
    found = {str(path.relative_to(SAMPLES)) for path in SAMPLES.rglob("*.json")}
    assert {name for name in found if not name.startswith("pairs/")} == EXPECTED.keys()
