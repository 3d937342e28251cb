"""The digest covers what is declared, what was observed and what is sent, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.routes import DASHBOARDS
from harness.sites import (
    ALERT_ID,
    ALERT_SPEC,
    SLO_SPEC,
    VIEW_SPEC,
    Site,
    dashboard,
    manifest,
    policy,
    policy_set,
)

from reconciler.document import Json
from reconciler.emulator import create_app
from reconciler.model import Manifest
from reconciler.planning import make_plan as planning
from reconciler.report.plan import document as documents
from reconciler.report.plan.document import plan_document

OWN_ID = "abcdefghij_klmnop-123"
EVERYTHING = (
    manifest("SLO/checkout", SLO_SPEC),
    manifest("AlertDefinition/errors", ALERT_SPEC, ALERT_ID),
    dashboard(),
    policy_set(policy("a")),
    manifest("SavedView/errors", VIEW_SPEC),
)


def test_same_digest(site: Site) -> None:
    """Neither the order of files, nor their names, nor a second look changes the digest."""
    elsewhere = [
        manifest(str(one.ref), one.spec, one.remote_id, file="b/c.yaml") for one in EVERYTHING
    ]

    digests = {
        site.plan(*EVERYTHING).digest,
        site.plan(*reversed(EVERYTHING)).digest,
        site.plan(*elsewhere).digest,
    }

    assert len(digests) == 1


def test_same_digest_anywhere(tmp_path: Path) -> None:
    """Two machines that see the same plan the same."""
    sites = [Site(tmp_path / name, create_app(alert_ids=[ALERT_ID])) for name in "ab"]

    assert len({site.plan(*EVERYTHING).digest for site in sites}) == 1


def test_same_digest_after_a_touch(site: Site) -> None:
    """A write that changes nothing but times and revisions changes no digest."""
    site.apply(*EVERYTHING)
    before = site.plan(*EVERYTHING).digest
    (record,) = site.app.state.store.row("SELECT record FROM dashboards")
    touched = record.replace('"updatedAt":"20', '"updatedAt":"19')
    assert touched != record
    site.app.state.store.write("UPDATE dashboards SET record = ?", touched)

    assert site.plan(*EVERYTHING).digest == before


OTHER: list[Manifest] = [
    manifest("SLO/checkout", {**SLO_SPEC, "description": "x"}),
    manifest("SLO/other", SLO_SPEC),
    manifest("AlertDefinition/errors", {**ALERT_SPEC, "enabled": False}, ALERT_ID),
    manifest("AlertDefinition/errors", ALERT_SPEC, ALERT_ID[:-1] + "2"),
    dashboard(name="Other"),
    manifest("Dashboard/checkout", dashboard().spec, OWN_ID),
    dashboard(id=OWN_ID),
    policy_set(policy("a", "INFO")),
    policy_set(policy("a"), policy("b")),
    manifest("SavedView/errors", {**VIEW_SPEC, "name": "x"}),
    manifest("SavedView/errors", VIEW_SPEC, 7),
]


@pytest.mark.parametrize("other", OTHER)
def test_another_declaration(site: Site, other: Manifest) -> None:
    """Whatever is declared otherwise, an id of its own included, gives another digest."""
    declared = [other if one.ref.kind == other.ref.kind else one for one in EVERYTHING]

    assert site.plan(*declared).digest != site.plan(*EVERYTHING).digest


def test_another_service(site: Site) -> None:
    """Whatever is live otherwise gives another digest, also where no write follows."""
    before = site.plan(*EVERYTHING).digest
    theirs: Json = {"dashboard": {"name": "T", "slugName": "checkout"}, "requestId": "x"}
    site.outside("POST", DASHBOARDS, theirs)
    with_another = site.plan(*EVERYTHING).digest
    site.outside(
        "POST", DASHBOARDS, {"dashboard": {"name": "U", "slugName": "u"}, "requestId": "y"}
    )

    assert before != with_another
    assert site.plan(*EVERYTHING).digest == with_another


def test_another_journal(tmp_path: Path) -> None:
    """Where the journal makes the write another one, the digest is another, with live the same."""
    remembering = Site(tmp_path / "a")
    remembering.apply(dashboard(description="d"))
    forgetful = Site(tmp_path / "b", remembering.app)
    later = dashboard(relativeTimeFrame="900s")

    one, other = remembering.plan(later), forgetful.plan(later)

    assert one.changes[0].body != other.changes[0].body
    assert one.digest != other.digest


@pytest.mark.promise("S53")
def test_two_versions(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """The version of digests is in the digest alone, that of documents in the document alone."""
    made = site.plan(*EVERYTHING)
    assert (planning.DIGEST_VERSION, plan_document(made)["formatVersion"]) == (2, 1)

    monkeypatch.setattr(planning, "DIGEST_VERSION", 3)
    later = site.plan(*EVERYTHING)
    assert later.digest != made.digest
    assert plan_document(later)["formatVersion"] == 1

    monkeypatch.undo()
    monkeypatch.setattr(documents, "DOCUMENT_VERSION", 4)
    assert dict(plan_document(made))["formatVersion"] == 4
    assert site.plan(*EVERYTHING).digest == made.digest
