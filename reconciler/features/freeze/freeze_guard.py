"""Freezes: no writes in a window, while incidents are open, or where the freeze is unknown.

What cannot be found out counts as frozen, unless the environment says otherwise. Source:
docs/freeze.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING, Final

from reconciler.errors import ReconcilerError
from reconciler.features.freeze.freeze_settings import Freeze, Holding, holding
from reconciler.model import ClockUnchecked, FreezeUnknown, GuardViolation, Plan, Remark
from reconciler.model.guard_levels import BREAK_GLASS, FROZEN
from reconciler.model.quoting import quoted
from reconciler.planning.guards.all_guards import PlanUnderGuard
from reconciler.planning.guards.remedies import consenting
from reconciler.runtime.advice import is_in_job

if TYPE_CHECKING:
    # Only the types are needed here, and they would load the whole HTTP client.
    from reconciler.api.client import Api
    from reconciler.features.freeze.freeze_incidents import Stopping

MOST_CLOCKS_DIFFER: Final = 300.0
"""Seconds by which the service's clock and ours may differ."""

MOST_NAMED: Final = 5


async def with_freeze(asked: PlanUnderGuard) -> Plan:
    """Return the plan with the objections of a freeze. They come first.

    Incidents are listed only where the environment names them.
    """
    plan, freeze = asked.plan, asked.environment.setting("freeze", Freeze)
    if freeze is None:
        return plan
    violations: list[GuardViolation] = []
    unknown: list[str] = []
    if freeze.incidents is not None:
        try:
            stopping = await _stopping(asked.api, plan, freeze, asked.now)
            violations.extend(_while_open(stopping, plan.environment) if stopping else ())
        except ReconcilerError as error:
            unknown.append(f"its open incidents are unknown: {error}")
    held = holding(freeze.windows, asked.now)
    if held is not None:
        violations.insert(0, _in_window(held, plan.environment))
    elif freeze.windows and not asked.same_clock:
        # The clock comes last: the answers to earlier requests have the time of the service.
        plan, doubt = _by_another_clock(plan, asked.api.clock_difference)
        unknown.extend(doubt)
    return _judged(plan, freeze, violations, unknown)


def _judged(
    plan: Plan, freeze: Freeze, told: Sequence[GuardViolation], unknown: Sequence[str]
) -> Plan:
    """Add the objections; what is unknown is an objection unless the environment allows it."""
    if freeze.on_unknown == "allow":
        return _guarded(_remarked(plan, *map(FreezeUnknown, unknown)), told)
    return _guarded(plan, [*told, *(_unreported(why, plan.environment) for why in unknown)])


def _by_another_clock(plan: Plan, seconds: float | None) -> tuple[Plan, list[str]]:
    """Compare our clock with the service's, if it is known: by our clock no window applies."""
    if seconds is None:
        return _remarked(plan, ClockUnchecked()), []
    return plan, [*filter(None, [_clock_doubt(seconds)])]


def _remarked(plan: Plan, *remarks: Remark) -> Plan:
    return replace(plan, remarks=(*plan.remarks, *remarks)) if remarks else plan


def _guarded(plan: Plan, told: Sequence[GuardViolation]) -> Plan:
    return replace(plan, guarded=(*told, *plan.guarded))


def _clock_doubt(seconds: float) -> str:
    """Return why our clock may be wrong about windows, "" where nothing shows that."""
    if abs(seconds) <= MOST_CLOCKS_DIFFER:
        return ""
    minutes, way = round(abs(seconds) / 60), "behind" if seconds > 0 else "ahead of"
    return f"the clock of this machine is {minutes:,} minutes {way} that of the service"


async def _stopping(api: Api, plan: Plan, freeze: Freeze, now: datetime) -> list[Stopping]:
    from reconciler.features.freeze.freeze_incidents import open_incidents_of  # noqa: PLC0415 - heavy

    assert freeze.incidents is not None  # noqa: S101 - asked before
    return await open_incidents_of(api, plan, freeze.incidents, now)


def _in_window(held: Holding, environment: str) -> GuardViolation:
    reasons = "; ".join(dict.fromkeys(window.reason.strip() for window in held.windows))
    if held.until is None:
        message = f"`{environment}` is frozen, and no end is in sight within a year: {reasons}"
        later = "change the windows: `freeze:` in reconciler.yaml, in an earlier merge"
        return GuardViolation(said=message, remedies=(later, _breaking_glass()), code=FROZEN)
    until = format_moment(held.until, held.windows[0].zone, held.windows[0].timezone)
    later = f"apply again after that, or {_waiting()}"
    return GuardViolation(
        said=f"`{environment}` is frozen until {until}: {reasons}",
        remedies=(later, _breaking_glass()),
        code=FROZEN,
        until=held.until.isoformat(),
    )


def format_moment(at: datetime, zone: tzinfo, name: str) -> str:
    """Return a moment as text, in the time of a zone and in UTC."""
    there, here = (
        at.astimezone(clock_zone).strftime("%Y-%m-%d %H:%M") for clock_zone in (zone, UTC)
    )
    return f"{there} {name} ({here} UTC)" if name != "UTC" else f"{here} UTC"


def _while_open(stopping: Sequence[Stopping], environment: str) -> list[GuardViolation]:
    named = ", ".join(map(_name, stopping[:MOST_NAMED]))
    more = f" and {len(stopping) - MOST_NAMED} more" if len(stopping) > MOST_NAMED else ""
    noun = "incident is" if len(stopping) == 1 else "incidents are"
    message = f"`{environment}` is frozen while {len(stopping)} {noun} open: {named}{more}"
    closed = "apply again once they are closed (`reconciler incidents list --open`)"
    later = f"{closed}, or {_waiting()}"
    return [GuardViolation(said=message, remedies=(later, _breaking_glass()), code=FROZEN)]


def _name(stopping: Stopping) -> str:
    """Return the name of an incident for a sentence, with its severity, start and match."""
    incident = stopping.incident
    severity = incident.severity.removeprefix("INCIDENT_SEVERITY_").lower()
    since = f"since {incident.created_at[:16]}" if incident.created_at else ""
    about = ", ".join(filter(None, (severity[:20], since, stopping.why)))
    return quoted(incident.name or incident.id) + (f" ({about})" if about else "")


def _unreported(why: str, environment: str) -> GuardViolation:
    setting = f"`freeze: {{onUnknown: allow}}` of `{environment}` in reconciler.yaml"
    remedies = (
        "fix that, and apply again",
        f"in an earlier merge, set {setting}",
        _breaking_glass(),
    )
    message = f"it is unknown whether `{environment}` is frozen: {why}"
    return GuardViolation(said=message, remedies=remedies, code=FROZEN)


def _breaking_glass() -> str:
    """Return how to write though the environment is frozen."""
    return f"in an emergency, {consenting(BREAK_GLASS, 'REASON')}, which the journal keeps"


def _waiting() -> str:
    """Return how to let an apply wait for the end of a freeze."""
    how = "input `wait-freeze`" if is_in_job() else "`--wait-freeze DURATION`"
    return f"let the apply wait: {how}"
