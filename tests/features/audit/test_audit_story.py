"""A company looks back on four weeks, mends what it finds, and says what may stay as it is."""

from __future__ import annotations

import json
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from harness.companies import called, declare
from harness.doors import typed
from harness.workspaces import Shop, open_shop

from reconciler.emulator import create_app
from reconciler.emulator.resources import REQUESTS

NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
DAYS = 27
ALERTS = {
    value["id"]: called(value["alertDefProperties"]["name"])
    for number, body in REQUESTS
    if number == 1
    for value in body["alertDefsToReplace"]
}
REPEATED = "pods-restart"
PHANTOM = "disk-fills-up-being-tuned"


@pytest.fixture
def company(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """Give the seeded company as it is at one moment, with its manifests."""
    data = tmp_path / "seed.db"
    app = create_app(data, seed="demo", clock=lambda: NOW)
    app.state.store.close()
    root = tmp_path / "shop"
    root.mkdir()
    shop = open_shop(root, data, monkeypatch)
    shop.options["clock"] = lambda: NOW
    monkeypatch.setattr("reconciler.features.audit.command.now", lambda: NOW)
    declare(shop)
    return shop


def audit(*flags: str) -> Any:
    """Audit, and give what was found."""
    ran = typed("audit", "--days", str(DAYS), "--format", "json", *flags)
    assert ran.code == 0, ran.err
    return ran.json


def by_code(audit: Any) -> dict[str, set[str]]:
    """Give the names of the resources under each code."""
    found = defaultdict(set)
    for finding in audit["findings"]:
        found[finding["code"]].add(finding["ref"].partition("/")[2])
    return dict(found)


def fired(shop: Shop) -> dict[str, list[int]]:
    """Count by hand, in what the emulator keeps: the moments at which each alert fired."""
    app = create_app(shop.root / "demo.db")
    found = defaultdict(list)
    for (record,) in app.state.store.rows("SELECT record FROM alert_events"):
        event = json.loads(record)
        at = int(event["cxEventTimestamp"])
        is_within = 0 <= NOW.timestamp() - at < DAYS * 86400 and at < NOW.timestamp()
        if event["cxEventType"] == "alert_triggered" and is_within:
            found[ALERTS[event["cxEventMetadata"]["alertId"]]].append(at)
    app.state.store.close()
    return dict(found)


def change(shop: Shop, name: str, **spec: Any) -> None:
    """Edit fields of a manifest's spec."""
    file = shop.root / "manifests" / f"{name}.json"
    document = json.loads(file.read_text(encoding="utf-8"))
    document["spec"].update(spec)
    file.write_text(json.dumps(document, indent=2), encoding="utf-8")


def test_the_company_is_audited(company: Shop) -> None:
    """What is found is what was counted by hand, and each mend takes its own finding away."""
    happened = fired(company)
    first = audit()
    found = by_code(first)
    daily = {
        name
        for name, moments in happened.items()
        if name != PHANTOM
        and len({int(NOW.timestamp() - at) // 86400 for at in moments}) >= 0.9 * DAYS
    }

    assert first["notJudged"] == [
        {
            "codes": ["A108"],
            "lacks": "since when it is declared so",
            "why": first["notJudged"][0]["why"],
        }
    ]
    assert found["A105"] == set(happened) - {PHANTOM}
    # Whom nobody is told of needs no runbook yet: one finding for one matter.
    assert "A106" not in found
    assert found["A102"] == daily == {REPEATED}
    assert found.get("A101", set()) == set(ALERTS.values()) - set(happened) - {
        PHANTOM,
        "old-shop-front",
    }
    assert found["A201"] == {"searches-answer-fast"}
    assert found["A301"] == {"all"}
    assert "A104" not in found
    figures = {
        finding["ref"]: finding["evidence"]["figures"]["fired"]
        for finding in first["findings"]
        if finding["code"] == "A105"
    }
    assert figures == {f"AlertDefinition/{name}": len(happened[name]) for name in found["A105"]}

    change(company, REPEATED, notificationGroup={"router": {}}, description="Look at the nodes.")
    told = by_code(audit())

    assert told["A105"] == found["A105"] - {REPEATED}
    assert told["A106"] == {REPEATED}

    change(
        company,
        REPEATED,
        description="Look at the nodes: https://runbooks.example.com/pods",
    )
    company.settle(f"checks: {{A301: off}}\n{(company.root / 'reconciler.yaml').read_text()}")
    mended = by_code(audit())

    assert mended["A105"] == found["A105"] - {REPEATED}
    assert "A106" not in mended
    assert mended["A102"] == found["A102"]
    assert "A301" not in mended


def test_a_span_that_is_longer_than_what_is_kept(company: Shop) -> None:
    """Over 90 days the service tells of 28, so that no alert is said to have never fired."""
    ran = company.run("audit", "--format", "json")

    assert ran.json["span"]["complete"] is False
    assert ran.json["span"]["covered"] == 28
    assert "A101" in {code for left in ran.json["notJudged"] for code in left["codes"]}
    assert "A101" not in by_code(ran.json)
