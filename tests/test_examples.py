"""The example workspace, as a newcomer meets it."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.workspaces import Workspace, examples_at


@pytest.fixture
def shop(tmp_path: Path) -> Workspace:
    return examples_at(tmp_path / "shop")


def test_no_complaints(shop: Workspace) -> None:
    """The examples have no errors and no warnings."""
    ran = shop.run("validate", "--format", "json")

    assert ran.code == 0
    assert ran.json["complaints"] == []


def test_all_kinds(shop: Workspace) -> None:
    """The first plan writes resources of all five kinds, in believable numbers."""
    plan = shop.plan()

    kinds = [change["kind"] for change in plan["changes"]]
    assert kinds.count("AlertDefinition") >= 8
    assert kinds.count("Dashboard") == 4
    assert kinds.count("SLO") == 3
    assert kinds.count("LogPolicySet") == 1
    assert kinds.count("SavedView") == 3
    assert {change["action"] for change in plan["changes"]} == {"create", "update", "assert"}


def test_second_plan(shop: Workspace) -> None:
    """After a full apply everything is kept, and the next apply writes nothing."""
    first = shop.apply("--format", "json")
    written = shop.requests()
    plan = shop.plan()
    second = shop.apply("--format", "json")

    assert first.code == 0
    assert first.json["summary"]["written"] == len(plan["changes"])
    assert {change["action"] for change in plan["changes"]} == {"keep"}
    assert all(change["fields"] == [] for change in plan["changes"])
    assert second.json["outcomes"] == []
    assert shop.requests() == written


def test_one_edit(shop: Workspace) -> None:
    """An edit of one field is one update of exactly that field."""
    shop.apply()
    file = shop.root / "shop" / "dashboard.yaml"
    text = file.read_text(encoding="utf-8")
    assert text.count("relativeTimeFrame: ") == 1
    before = text.split("relativeTimeFrame: ")[1].split("\n")[0]
    file.write_text(text.replace(f"relativeTimeFrame: {before}", "relativeTimeFrame: 7200s"))

    plan = shop.plan()

    changed = [change for change in plan["changes"] if change["action"] != "keep"]
    assert [change["ref"] for change in changed] == ["Dashboard/overview"]
    assert [field["path"] for field in changed[0]["fields"]] == [["dashboard", "relativeTimeFrame"]]


def test_production_is_offline_valid(shop: Workspace) -> None:
    """Validation for production needs neither its service nor its secret."""
    ran = shop.run("validate", "-e", "production", "--format", "json")

    assert ran.code == 0
    assert ran.json["resources"] == 22
