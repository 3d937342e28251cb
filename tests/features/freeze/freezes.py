"""Plans under a freeze, and what the service lists of incidents."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import httpx
from harness.sites import SLO_SPEC, Meddler, Site, answer_with, manifest, untouched
from harness.stores import NO_TIME

from reconciler.api.client import Api
from reconciler.document import Json
from reconciler.model import Manifest, Plan
from reconciler.planning.guards import PlanUnderGuard, with_feature_guards, with_guards
from reconciler.project import Environment, Guards, ProjectFile

NOW = datetime(2026, 11, 22, 12, 30, tzinfo=UTC)
INCIDENTS = "/incidents/incidents/v1"
EVENTS = INCIDENTS + "/events"
OPEN: dict[str, Json] = {
    "id": "i1",
    "name": "Payments are slow",
    "severity": "INCIDENT_SEVERITY_CRITICAL",
    "events": [{"id": "e1"}],
}


def frozen(
    site: Site,
    freeze: dict[str, Any],
    *manifests: Manifest,
    now: datetime = NOW,
    same_clock: bool = False,
) -> Plan:
    """Plan as the command does, under a freeze."""
    site.forget()
    made = site.plan(*manifests or (manifest("SLO/checkout", SLO_SPEC),))

    async def ask(api: Api) -> Plan:
        asked = PlanUnderGuard(
            api=api,
            plan=await with_guards(api, made, Guards()),
            environment=Environment(freeze=freeze),
            settings=ProjectFile(),
            now=now,
            same_clock=same_clock,
        )
        return await with_feature_guards(asked)

    return site.ask(ask)


def window(cron: str, lasts: str, zone: str = "UTC", reason: str = "quiet days") -> dict[str, str]:
    """Give a window as a project file has it."""
    return {"cron": cron, "for": lasts, "timezone": zone, "reason": reason}


def incidents(site: Site, *listed: Json, events: tuple[Json, ...] = ()) -> None:
    """Let the service list these."""
    page: Json = {"incidents": list(listed), "pagination": {}}
    site.meddle("POST", INCIDENTS, answer_with(200, page))
    site.meddle("GET", EVENTS, answer_with(200, {"items": list(events)}))


def dated(minutes: int, answer: Meddler = untouched) -> Meddler:
    """Answer by a clock that is so far from ours; ahead of it, or behind where less than 0."""
    at = format_datetime(NO_TIME + timedelta(minutes=minutes), usegmt=True)

    async def meddle(request: httpx.Request, inner: httpx.AsyncBaseTransport) -> httpx.Response:
        reply = await answer(request, inner)
        content = await reply.aread()
        return httpx.Response(reply.status_code, headers={"date": at}, content=content)

    return meddle
