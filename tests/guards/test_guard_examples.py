"""What a guard says once, and of whom."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from harness.sites import ALERT_ID, ALERT_SPEC, Site, manifest, unreachable

from reconciler.api.client import Api
from reconciler.document import ABSENT, Difference
from reconciler.emulator import create_app
from reconciler.model import (
    Action,
    Change,
    Evidence,
    LastEdit,
    Manifest,
    OverwritesEdit,
    Plan,
    Ref,
    Remembered,
    Source,
    TakesOver,
)
from reconciler.planning import guards
from reconciler.planning.guards import (
    PlanUnderGuard,
    objections,
    with_feature_guards,
    with_guards,
)
from reconciler.planning.guards.plan_limits import OpenIncidents
from reconciler.project import Environment, Guards, ProjectFile

NOBODY = LastEdit()
OTHER_ID = "9d0b6a52-6d8e-4f3f-8f0e-2f6a1c1e7f0e"


def test_each_code_once() -> None:
    """What two fields of one alert take away is consented to once, where its code is the same."""
    ref = Ref("AlertDefinition", "errors")
    found = (
        Difference(("enabled",), before=True, after=False),
        Difference(("phantomMode",), ABSENT, after=True),
    )
    one = Change(
        ref=ref,
        manifest=Manifest(ref, {}, Source("a.yaml", 1)),
        action=Action.UPDATE,
        evidence=Evidence.JOURNAL,
        observation=Remembered(ALERT_ID, {}),
        declared={},
        body={},
        differences=found,
    )
    incidents = OpenIncidents(found={ref: frozenset({"i1"})})

    said = objections(
        Plan(environment="local", target="emulator", digest="", changes=(one,)), Guards(), incidents
    )

    assert [objection.code for objection in said] == ["alert-silenced"]


def test_incidents_that_cannot_be_listed(tmp_path: Path) -> None:
    """Only the alert that is silenced is told to have incidents that could not be listed."""
    site = Site(tmp_path, create_app(alert_ids=[ALERT_ID, OTHER_ID]))
    site.apply(
        manifest("AlertDefinition/errors", ALERT_SPEC, ALERT_ID),
        manifest("AlertDefinition/other", ALERT_SPEC, OTHER_ID),
    )
    made = site.plan(
        manifest("AlertDefinition/errors", {**ALERT_SPEC, "enabled": False}, ALERT_ID),
        manifest("AlertDefinition/other", {**ALERT_SPEC, "description": "x"}, OTHER_ID),
    )
    site.meddle("POST", "/incidents/incidents/v1", *[unreachable] * 9)

    async def ask(api: Api) -> Plan:
        return await with_guards(api, made, Guards())

    silenced, other = site.ask(ask).changes

    assert (len(silenced.reasons), other.reasons) == (1, ())


@dataclass
class RowsByCause:
    """Guards of features: each adds its cause to the digest of the plan that it gets."""

    causes: tuple[str, ...]

    def __contains__(self, cause: str) -> bool:
        return cause in self.causes

    def load(self, cause: str) -> Callable[[PlanUnderGuard], Awaitable[Plan]]:
        """Return the guard of a cause."""

        async def judged(asked: PlanUnderGuard) -> Plan:
            return replace(asked.plan, digest=f"{asked.plan.digest} {cause}")

        return judged


def test_guards_of_features(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """A guard with a cause in the plan gets, once, the plan that the guard before it returned."""
    ref = Ref("Dashboard", "a")
    reasons = TakesOver(NOBODY), OverwritesEdit((), NOBODY), OverwritesEdit((), NOBODY)
    change = Change(
        ref=ref,
        manifest=Manifest(ref, {}, Source("a.yaml", 1)),
        action=Action.UPDATE,
        evidence=Evidence.LIVE,
        observation=Remembered("id", {}),
        declared={},
        body={},
        reasons=reasons,
    )
    plan = Plan(environment="local", target="t", digest="", changes=(change,))
    monkeypatch.setattr(guards, "FEATURE_GUARDS", RowsByCause(("overwrites-edit", "freeze", "x")))

    async def ask(api: Api) -> Plan:
        return await with_feature_guards(
            PlanUnderGuard(
                api=api,
                plan=plan,
                environment=Environment(freeze={"windows": []}),
                settings=ProjectFile(),
                now=datetime(2025, 1, 31, tzinfo=UTC),
            )
        )

    assert site.ask(ask).digest == " overwrites-edit freeze"
