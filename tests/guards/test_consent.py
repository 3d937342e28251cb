"""What always needs consent, with its code, its figures and its ways out."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from harness.golden import Golden
from harness.profiles import profile
from harness.routes import ALERTS, BY_SLUG, DASHBOARDS, SLOS
from harness.sites import (
    ALERT_ID,
    ALERT_SPEC,
    SLO_SPEC,
    Site,
    dashboard,
    manifest,
    policy,
    policy_set,
)

from reconciler.document import Json
from reconciler.emulator import Profile, create_app
from reconciler.kinds import BY_NAME
from reconciler.kinds import field_traits as of
from reconciler.model import GUARDS, GuardViolation, Manifest
from reconciler.planning.guards import Agreed, objections, unmet, with_levels
from reconciler.planning.guards.plan_limits import reviewing
from reconciler.project import Guards
from reconciler.workspace.project_file import consents_known

FILE = "reconciler.yaml"


def refused(site: Site, *manifests: Manifest, allow: tuple[str, ...] = ()) -> list[GuardViolation]:
    """Give what an apply would need consent for."""
    return list(objections(site.plan(*manifests), Guards(allow=list(allow))))


def slo(target: float) -> Manifest:
    """Give an SLO that promises so much."""
    return manifest("SLO/checkout", {**SLO_SPEC, "targetThresholdPercentage": target})


def test_lowered_target(site: Site, golden: Golden) -> None:
    """A lower target needs consent, and a higher one or another field does not."""
    site.apply(slo(99.9))
    described = manifest("SLO/checkout", {**SLO_SPEC, "description": "new"})

    (objection,) = refused(site, slo(99.5))

    assert objection.code == "slo-target-lowered"
    golden(objection.message)
    assert objection.remedies == (
        reviewing(),
        "split the change: leave `SLO/checkout` as it is, and apply the rest",
        f"in an earlier merge, set `guards: {{allow: [{objection.code}]}}` of `local` in {FILE}",
        "apply with `--override-guard slo-target-lowered=REASON`, which the journal keeps",
    )
    assert refused(site, slo(99.95)) == refused(site, described) == []
    assert refused(site, slo(99.5), allow=("slo-target-lowered",)) == []


def edited_live(site: Site, target: float) -> None:
    """Set the target live, as a person does."""
    remote_id = site.journal.history.of(slo(1).ref).remote_id
    site.outside("PUT", SLOS, {**slo(target).spec, "id": remote_id})


@pytest.mark.parametrize(
    ("live", "declared"), [(99.0, 99.5), (99.0, 99.0), (99.95, 99.0), (99.0, 98.5)]
)
def test_target_edited_live(site: Site, live: float, declared: float) -> None:
    """No edit of live hides that a target goes down from what was last applied, with all figures.

    It needs consent once: after the apply, the journal has the lower target.
    """
    site.apply(slo(99.9))
    edited_live(site, live)
    made = site.plan(slo(declared))

    found = [one for one in objections(made, Guards()) if one.code == "slo-target-lowered"]

    (message,) = (objection.message for objection in found)
    assert set(re.findall(r"[0-9.]+ %", message)) == {
        of.Unit.PERCENT.of(figure) for figure in (99.9, live, declared)
    }
    assert with_levels(replace(made, guarded=tuple(found)), Guards()).digest != made.digest
    assert (made.has_changes, made.is_noted) == (live != declared, live == declared)
    site.apply(plan=made)
    assert refused(site, slo(declared)) == []


@pytest.mark.parametrize(("live", "declared"), [(99.95, 99.92), (99.0, 99.9), (99.95, 99.95)])
def test_target_kept(site: Site, live: float, declared: float) -> None:
    """A target that is not below the last applied one needs consent only where live is higher."""
    site.apply(slo(99.9))
    edited_live(site, live)
    made = site.plan(slo(declared))

    lowered = [one for one in objections(made, Guards()) if one.code == "slo-target-lowered"]

    assert bool(lowered) is (declared < live)
    assert not made.is_noted


def test_rounded_target(tmp_path: Path) -> None:
    """A target that the service rounded up is not lowered by an edit beside it."""
    site = Site(tmp_path, create_app(profile=Profile(floats="single")))
    site.apply(slo(99.9))
    stored = site.outside("GET", f"{SLOS}/{site.journal.history.of(slo(1).ref).remote_id}")

    described = {**slo(99.9).spec, "description": "new"}

    assert stored["slo"]["targetThresholdPercentage"] > 99.9
    assert refused(site, manifest("SLO/checkout", described)) == []


def locked(site: Site, *, is_locked: bool) -> None:
    """Lock the dashboard, or take the lock off, as a person does."""
    body = site.outside("GET", f"{BY_SLUG}/checkout")["dashboard"]
    site.outside("PUT", DASHBOARDS, {"dashboard": body, "requestId": "x", "isLocked": is_locked})


def test_locked_dashboard(site: Site, golden: Golden) -> None:
    """A dashboard that is locked live is not changed without consent; the lock itself may stay."""
    site.apply(dashboard())
    locked(site, is_locked=True)
    declared: dict[str, Json] = {**dashboard(description="new").spec, "isLocked": True}

    (objection,) = refused(site, manifest("Dashboard/checkout", declared))

    assert (objection.code, objection.ref) == ("dashboard-locked", dashboard().ref)
    golden(objection.message)
    kept = manifest("Dashboard/checkout", {**dashboard().spec, "isLocked": True})
    assert refused(site, kept) == []
    locked(site, is_locked=False)
    assert refused(site, dashboard(description="new")) == []


@pytest.mark.parametrize(
    ("declared", "code", "said"),
    [
        ([policy("a")], "destroys", "LogPolicySet/all destroys 1: `b`"),
        ([], "destroys-all", "LogPolicySet/all destroys 2: `a`, `b`; the list that it declares"),
        ([policy("b"), policy("a")], "", ""),
    ],
)
def test_destroying(site: Site, declared: list[dict[str, Json]], code: str, said: str) -> None:
    """What is destroyed needs `--allow-destroy`, which nothing else stands for."""
    site.apply(policy_set(policy("a"), policy("b")))

    found = refused(site, policy_set(*declared), allow=consents_known())

    assert [violation.code for violation in found] == [code] * bool(code)
    assert all(violation.message.startswith(said) for violation in found)
    assert unmet(found, Agreed(override=True)) == tuple(found)
    assert unmet(found, Agreed(flags={"allow-destroy"}, override=False)) == ()


def alert(**fields: Json) -> Manifest:
    """Give an alert."""
    return manifest("AlertDefinition/errors", {**ALERT_SPEC, **fields}, ALERT_ID)


def test_deleted_alert(site: Site) -> None:
    """An alert that is marked as deleted needs consent, and one that is lowered only counts."""
    site.apply(alert())

    assert [violation.code for violation in refused(site, alert(deleted=True))] == ["alert-deleted"]
    assert refused(site, alert(priority="ALERT_DEF_PRIORITY_P5_OR_UNSPECIFIED")) == []


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"enabled": False}, "alert-silenced"),
        ({"phantomMode": True}, "alert-silenced"),
        ({"deleted": True}, "alert-deleted"),
    ],
)
@pytest.mark.parametrize("more", [{}, {"description": "new"}])
def test_alert_edited_live(
    tmp_path: Path, fields: dict[str, Any], code: str, more: dict[str, Any]
) -> None:
    """Where alerts can be read, no edit of live hides that the declaration silences one."""
    readable = profile({"reads": "wrapped"})
    site = Site(tmp_path, create_app(alert_ids=[ALERT_ID], profile=readable))
    applied: dict[str, Any] = {
        "enabled": True,
        "phantomMode": False,
        "deleted": False,
        "description": "old",
    }
    site.apply(alert(**applied))
    edited: Json = {
        "id": ALERT_ID,
        "alertDefProperties": {**alert(**applied).spec, **fields},
    }
    site.outside("PUT", ALERTS, {"alertDefsToReplace": [edited]})

    made = site.plan(alert(**{**applied, **fields, **more}))

    risks = BY_NAME["AlertDefinition"].weakens(made.changes[0])
    assert [risk.code for risk in risks] == [code]
    assert made.has_changes is bool(more)
    assert made.has_changes or made.is_noted
    site.apply(plan=made)
    assert not site.plan(alert(**{**applied, **fields, **more})).is_noted


WORDS: list[tuple[dict[str, Json], dict[str, Json], list[str]]] = [
    ({"enabled": True}, {}, ["disabled"]),
    ({}, {"enabled": False}, []),
    ({"phantomMode": True}, {"phantomMode": False}, []),
    ({"priority": "ALERT_DEF_PRIORITY_P4"}, {}, ["lowered in priority"]),
    ({}, {"priority": "ALERT_DEF_PRIORITY_P1"}, []),
    ({"priority": "SOMETHING_NEW"}, {"priority": "ALERT_DEF_PRIORITY_P4"}, []),
    ({"priority": "ALERT_DEF_PRIORITY_P1"}, {"priority": "SOMETHING_NEW"}, []),
    ({"priority": "ALERT_DEF_PRIORITY_"}, {"priority": "ALERT_DEF_PRIORITY_P2"}, []),
]


@pytest.mark.parametrize(("before", "after", "words"), WORDS)
def test_what_weakens_an_alert(
    site: Site, before: dict[str, Any], after: dict[str, Any], words: list[str]
) -> None:
    """An alert is weakened by what it loses: an absent field is what the service takes it for."""
    bare = {"name": "E", "type": ALERT_SPEC["type"], "logsImmediate": {}}
    first = manifest("AlertDefinition/errors", {**bare, **before}, ALERT_ID)
    site.apply(first)
    later = manifest("AlertDefinition/errors", {**bare, **after}, ALERT_ID)

    found = BY_NAME["AlertDefinition"].weakens(site.change(later))

    assert [risky_change.counted for risky_change in found] == words


def test_every_code_is_documented() -> None:
    """docs/guards.md explains each code that a refusal may carry, and no other."""
    page = (Path(__file__).parents[2] / "docs" / "guards.md").read_text(encoding="utf-8")
    codes = set(re.findall(r"^\| \[`([a-z-]+)`\]", page, re.MULTILINE))

    assert codes == set(GUARDS)
