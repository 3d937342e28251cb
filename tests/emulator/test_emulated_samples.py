"""Payloads nobody here wrote are taken as they are."""

import json
from pathlib import Path
from typing import Any

import pytest
from harness.emulated import Emulated
from harness.routes import ALERTS, DASHBOARDS, OVERWRITE, SLOS, VIEWS

SAMPLES = Path(__file__).parents[3] / "shared" / "samples"
ALERT = "2f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4a11"


def samples(folder: str) -> list[Any]:
    found = sorted(SAMPLES.joinpath(folder).glob("*.json"))
    missing = pytest.param(None, marks=pytest.mark.skip(reason="the samples are not here"))
    return [pytest.param(path, id=path.stem) for path in found] or [missing]


def loaded(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text()))


@pytest.mark.parametrize("path", samples("alerts"))
def test_alerts(path: Path) -> None:
    """Each sample alert replaces a definition, and a second time changes nothing."""
    emulator = Emulated(alert_ids=[ALERT])
    body = {"alertDefsToReplace": [{"id": ALERT, **loaded(path)}]}

    first, second = emulator.put(ALERTS, body).body, emulator.put(ALERTS, body).body

    assert [stored["id"] for stored in first["alertDefs"]] == [ALERT]
    assert second["skippedIds"] == [ALERT]


@pytest.mark.parametrize("path", samples("dashboards"))
def test_dashboards(path: Path) -> None:
    """Each sample dashboard is created, read, and can be written back as it was read.

    One export holds a filter without an id, which the service demands
    (docs/assumptions.md); a client has to give it one.
    """
    emulator = Emulated()
    dashboard = loaded(path)
    for number, sent in enumerate(dashboard.get("filters", [])):
        sent.setdefault("id", {"value": str(number)})

    made = emulator.post(DASHBOARDS, {"requestId": "1", "dashboard": dashboard})
    target = f"{DASHBOARDS}/{made.body['dashboardId']}"
    before = emulator.get(target).body["dashboard"]
    again = emulator.put(DASHBOARDS, {"requestId": "2", "dashboard": before})

    assert again.status == 200
    assert emulator.get(target).body["dashboard"] == before


@pytest.mark.parametrize("path", samples("slos"))
def test_slos(path: Path) -> None:
    """Each sample SLO comes back with all it was sent with."""
    sent = loaded(path)

    stored = Emulated().post(SLOS, sent).body["slo"]

    assert {
        name: stored[name] for name in ("name", "description", "targetThresholdPercentage")
    } == {name: sent[name] for name in ("name", "description", "targetThresholdPercentage")}


@pytest.mark.parametrize("path", samples("policies"))
def test_policies(path: Path) -> None:
    """Each sample list of policies is created in its order."""
    sent = loaded(path)

    answer = Emulated().post(OVERWRITE, sent)

    assert [entry["policy"]["name"] for entry in answer.body["createResponses"]] == [
        item["policy"]["name"] for item in sent["policies"]
    ]


@pytest.mark.parametrize("path", samples("views"))
def test_views(path: Path) -> None:
    """Each sample view is created and can be replaced by what came back."""
    emulator = Emulated()

    view = emulator.post(VIEWS, loaded(path)).body

    assert emulator.put(f"{VIEWS}/1", view).body == view
