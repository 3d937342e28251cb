"""A run at its edges: what was there before, full disks, and services of every make."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from harness.routes import BY_SLUG, DASHBOARDS, VIEWS
from harness.sites import (
    ALERT_ID,
    SLO_SPEC,
    VIEW_SPEC,
    Site,
    answer_with,
    assert_settled,
    dashboard,
    lost_before,
    manifest,
    outcomes,
    policy,
    policy_set,
    untouched,
    watching,
)

from reconciler.emulator import Profile, create_app
from reconciler.errors import JournalError, worst
from reconciler.journal.entries import IdentifiedEntry
from reconciler.journal.journal import Journal
from reconciler.redaction.templates import SecretHole, Template

CHECKOUT = manifest("SLO/checkout", SLO_SPEC)
VIEW = manifest("SavedView/errors", VIEW_SPEC)


@pytest.fixture
def site(either_site: Site) -> Site:
    """Each law holds whether alerts and views can be read or not."""
    return either_site


def test_stale_read_after_the_write(tmp_path: Path) -> None:
    """A read that does not show the write yet is not taken for what the service made of it."""
    site = Site(tmp_path)
    site.apply(dashboard(description="old"))
    old = site.outside("GET", f"{BY_SLUG}/checkout")
    dashboard_id = old["dashboard"]["id"]
    made = site.plan(dashboard(description="new"))
    site.meddle("GET", f"{DASHBOARDS}/{dashboard_id}", untouched, answer_with(200, old))

    applied = site.apply(plan=made)
    back = {**old["dashboard"], "description": "old"}
    site.outside("PUT", DASHBOARDS, {"dashboard": back, "requestId": "x"})

    assert applied.rewritten == {}
    assert site.change(dashboard(description="new")).action.word == "update"


def test_adopted(site: Site) -> None:
    """What live holds already is remembered once, so that drift from it shows, and not written."""
    site.outside(
        "POST", DASHBOARDS, {"dashboard": {"name": "C", "slugName": "c"}, "requestId": "x"}
    )
    declared = manifest("Dashboard/c", {"dashboard": {"name": "C"}})

    applied = site.apply(declared)

    assert applied.outcomes == []
    assert site.writes == []
    assert site.entries() == ["started Dashboard/c", "written Dashboard/c"]
    site.apply(declared)
    assert len(site.entries()) == 2


def test_orphans(site: Site) -> None:
    """What was written and is no longer declared is named, if the manifests are all there are."""
    site.apply(dashboard(), VIEW)

    assert [str(orphan.ref) for orphan in site.plan(VIEW).orphans] == ["Dashboard/checkout"]
    assert site.plan(VIEW, whole=False).orphans == ()
    site.forget()
    site.apply(VIEW)
    assert site.writes == []


def test_secret_in_the_words_of_the_service(site: Site) -> None:
    """A service that repeats a secret gets no copy of it into the journal."""
    hole = SecretHole("TOKEN", "canary-value", "sha256:" + "0" * 16)
    secret = dashboard(description=Template(("see ", hole)))
    site.meddle("POST", DASHBOARDS, answer_with(400, {"message": "bad: see canary-value"}))

    site.apply(secret)

    assert "canary-value" not in Path(site.journal.place).read_text()
    assert "***" in Path(site.journal.place).read_text()


def test_full_disk_after_the_write(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the journal cannot take an answer, the run ends at once, and sends no more."""
    appends: list[Any] = []
    append = Journal.append

    def failing(journal: Journal, entries: Any, **_: object) -> None:
        appends.append(entries)
        if len(appends) == 2:  # the answer to the first write
            raise JournalError("full")
        append(journal, entries)

    monkeypatch.setattr(Journal, "append", failing)

    applied = site.apply(dashboard(), VIEW)

    assert [write.path for write in site.writes] == [DASHBOARDS]
    assert len(appends) == 2
    assert outcomes(applied) == {"Dashboard/checkout": "written", "SavedView/errors": "skipped"}
    assert worst(applied.exit_codes) == 8


def test_full_disk_between_the_requests_of_a_view(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the id of a new view cannot be journaled, nothing says that it was refused."""
    append = Journal.append

    def failing(journal: Journal, entries: Any, **_: object) -> None:
        if isinstance(entries[0], IdentifiedEntry):
            raise JournalError("full")
        append(journal, entries)

    compact = manifest("SavedView/errors", {**VIEW_SPEC, "isCompactMode": True})
    with monkeypatch.context() as context:
        context.setattr(Journal, "append", failing)
        applied = site.apply(compact)

    assert outcomes(applied) == {"SavedView/errors": "indoubt"}
    assert worst(applied.exit_codes) == 8
    assert site.entries() == ["started SavedView/errors"]
    assert [write.method for write in site.writes] == ["POST"]
    assert len(site.plan(compact).unsettled) == 1


@pytest.mark.parametrize(
    "profile",
    [
        Profile(zero_values="dropped"),
        Profile(floats="single"),
        Profile(unknown_fields="dropped"),
        Profile(policy_order="by_name"),
        Profile(created_status=201),
        Profile(error_body="empty"),
        Profile(stale_reads=1),
    ],
)
def test_any_service(tmp_path: Path, profile: Profile) -> None:
    """On every service that conforms, one apply settles all five kinds."""
    site = Site(tmp_path, create_app(alert_ids=[ALERT_ID], profile=profile))
    everything = [
        CHECKOUT,
        watching(),
        dashboard(relativeTimeFrame="900s", seriesVisibility=True),
        policy_set(policy("b"), policy("a", disabled=False)),
        VIEW,
    ]

    site.apply(*everything)
    site.plan(*everything)  # a stale service answers this one as before the last write

    assert_settled(site, *everything)


def test_unsettled_create_before_another_run(site: Site) -> None:
    """A lost create of one view does not keep the journal from being read."""
    site.meddle("POST", VIEWS, lost_before)
    site.apply(VIEW)

    assert list(site.journal.history.unsettled()) == [VIEW.ref]
