"""Audit rules for alert definitions. Source: docs/audit.md."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from itertools import chain

from reconciler.document import Json, canonical_text, texts_at
from reconciler.features.audit.audit_rule import AlertHistory, AuditEvidence, AuditRule, Rest, Trace
from reconciler.kinds.alert_definition import (
    GROUPS,
    is_awake,
    off_for_good,
    reaches_somebody,
    undescribed,
    without_runbook,
)
from reconciler.kinds.alert_definition.parts import TYPE_OF
from reconciler.kinds.field_traits import MANIFEST_KEYS
from reconciler.kinds.kind import Neighbours, SpecFinding, text_of
from reconciler.kinds.shape import EACH, places
from reconciler.model import Manifest
from reconciler.report.words import plural
from reconciler.syntax.diagnostic import Advice

DAILY_SHARE = 0.9
FEWEST_DAYS = 7
WEEKS = timedelta(days=14)
AT_ONCE = timedelta(minutes=1)
FEWEST_ENDED = 3
LONG = timedelta(days=30)
TOGETHER = timedelta(minutes=10)

_NAME = ("name",)
_COMPARED = ("logs", "metric", "tracing")
_THRESHOLDS = frozenset(("threshold", "override"))
_FLOW = ("flow", "stages", EACH, "flowStagesGroups", "groups", EACH, "alertDefs", EACH, "id")


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


def _awake_alerts(
    neighbours: Neighbours, record: AuditEvidence
) -> Iterator[tuple[Manifest, AlertHistory]]:
    for manifest in neighbours.own:
        if manifest.remote_id is not None and is_awake(manifest.spec):
            yield manifest, record.about(manifest)


def _never_fired(neighbours: Neighbours, record: AuditEvidence) -> Iterator[Trace]:
    for manifest, happened in _awake_alerts(neighbours, record):
        known = record.declared(manifest)
        is_young = known is not None and record.at - known.at < timedelta(days=record.days)
        if not happened.fired and not happened.lasted and not happened.unclear and not is_young:
            message = f"this alert never fired in {plural(record.days, 'day')}"
            remedy = Advice("ask whether it can still fire: test it, sharpen it, or remove it")
            figures: dict[str, Json] = {"fired": 0, "days": record.days}
            if known is not None:
                figures["declaredSince"] = known.at.isoformat()
            yield Trace(manifest, SpecFinding(_NAME, message, remedy), figures)


def _daily(neighbours: Neighbours, record: AuditEvidence) -> Iterator[Trace]:
    if record.covered < FEWEST_DAYS:
        return
    for manifest, happened in _awake_alerts(neighbours, record):
        on = len({(record.at - at).days for at in happened.fired} & set(range(record.covered)))
        if on >= DAILY_SHARE * record.covered:
            count = len(happened.fired)
            message = (
                f"this alert fired on {on:,} of {plural(record.covered, 'day')}, {_times(count)}: "
                "what comes every day is soon no longer read"
            )
            remedy = Advice("raise its threshold, fix what it reports, or make it a figure")
            figures = {"fired": count, "daysFired": on, "days": record.covered}
            yield Trace(manifest, SpecFinding(_NAME, message, remedy), figures)


def _open_for_weeks(neighbours: Neighbours, record: AuditEvidence) -> Iterator[Trace]:
    for manifest in neighbours.own:
        old = [at for at in record.about(manifest).open_since if record.at - at >= WEEKS]
        if old:
            age = (record.at - min(old)).days
            several = "an incident" if len(old) == 1 else f"{len(old):,} incidents"
            are, days = "is" if len(old) == 1 else "are", plural(age, "day")
            message = f"{several} of this alert {are} open for weeks, the oldest for {days}"
            remedy = Advice("close what is over with `incidents close`, or give it an owner")
            figures: dict[str, Json] = {
                "open": len(old),
                "oldestSince": min(old).isoformat(),
                "oldestDays": age,
            }
            yield Trace(manifest, SpecFinding(_NAME, message, remedy), figures)


def _over_at_once(neighbours: Neighbours, record: AuditEvidence) -> Iterator[Trace]:
    for manifest, happened in _awake_alerts(neighbours, record):
        ended = len(happened.lasted)
        quick = sum(lasted <= AT_ONCE for lasted in happened.lasted)
        if ended >= FEWEST_ENDED and 2 * quick >= ended:
            message = (
                f"{quick:,} of {ended:,} firings of this alert were over within a minute: whoever "
                "looks finds nothing"
            )
            remedy = Advice("let it wait longer before it fires, or look at a longer window")
            figures = {"ended": ended, "withinAMinute": quick, "fired": len(happened.fired)}
            yield Trace(manifest, SpecFinding(_NAME, message, remedy), figures)


def _reported_to_none(neighbours: Neighbours, record: AuditEvidence) -> Iterator[Trace]:
    for manifest, happened in _awake_alerts(neighbours, record):
        if happened.fired and not _tells_somebody(manifest.spec):
            why = "it has no notification group"
            if _groups(manifest.spec):
                why = "its notification group has no recipient"
            times = _times(len(happened.fired))
            message = f"this alert fired {times}, and {why}: it sends no notification itself"
            remedy = Advice(
                "add `notificationGroup: {router: {}}`, or add a recipient; else remove it"
            )
            path = ("notificationGroup",) if "notificationGroup" in manifest.spec else _NAME
            yield Trace(manifest, SpecFinding(path, message, remedy), _fired(happened, record))


def _groups(spec: Json) -> list[Json]:
    return [value for steps in GROUPS for _, value in places(spec, *steps)]


def _tells_somebody(spec: Json) -> bool:
    return any(map(reaches_somebody, _groups(spec)))


def _fired(happened: AlertHistory, record: AuditEvidence) -> dict[str, Json]:
    last = {"lastFired": max(happened.fired).isoformat()} if happened.fired else {}
    return {"fired": len(happened.fired), "days": record.covered, **last}


def _without_runbook(neighbours: Neighbours, record: AuditEvidence) -> Iterator[Trace]:
    for manifest, happened in _awake_alerts(neighbours, record):
        judged = next(chain(undescribed(manifest.spec), without_runbook(manifest.spec)), None)
        # An alert without recipients needs no runbook yet: A105 reports that.
        if happened.fired and judged is not None and _tells_somebody(manifest.spec):
            message = (
                f"this alert fired {_times(len(happened.fired))}, and nothing in it leads to a "
                "runbook"
            )
            remedy = Advice("add the address of what to do to `description`")
            yield Trace(
                manifest, SpecFinding(judged.path, message, remedy), _fired(happened, record)
            )


def _alike(neighbours: Neighbours, record: AuditEvidence) -> Iterator[Trace]:
    """Yield each alert with the same condition as an earlier alert; the first such is named."""
    first: dict[str, Manifest] = {}
    for manifest in neighbours.own:
        looks = _looks_for(manifest.spec) if is_awake(manifest.spec) else ""
        other = first.setdefault(looks, manifest) if looks else manifest
        if other is manifest:
            continue
        is_same = _thresholds(other.spec) == _thresholds(manifest.spec)
        which = "the same" if is_same else "other"
        message = f"`{other.ref}` at {other.source} looks for the same, with {which} thresholds"
        figures: dict[str, Json] = {"other": str(other.ref)}
        if Rest.EVENTS not in record.lacks:
            ours, theirs = record.about(manifest).fired, record.about(other).fired
            both = sum(map(partial(_is_near, theirs), ours))
            figures |= {"fired": len(ours), "otherFired": len(theirs), "together": both}
            if both:
                message += f"; {both:,} of {len(ours):,} firings were within ten minutes of its own"
        remedy = Advice("make it one alert with a rule for each threshold, or remove one of them")
        yield Trace(manifest, SpecFinding(_NAME, message, remedy), figures)


def _is_near(moments: Sequence[datetime], at: datetime) -> bool:
    """Return whether one of the sorted moments is near another moment."""
    index = bisect_left(moments, at - TOGETHER)
    return index < len(moments) and moments[index] <= at + TOGETHER


def _looks_for(spec: Mapping[str, Json]) -> str:
    """Return the condition of an alert, without its thresholds, as text; "" if it has none.

    Alerts on SLO budgets and flows are left out: several rates for one budget are intended, and
    flows consist of other alerts.
    """
    parts = [part for part in TYPE_OF if part.startswith(_COMPARED) and spec.get(part) is not None]
    if len(parts) != 1 or not _holds_query(spec[parts[0]]):
        return ""
    keys = spec.get("groupByKeys")
    groups = sorted(map(str, keys)) if isinstance(keys, list) else []
    return canonical_text([parts[0], _less(spec[parts[0]]), *groups])


def _less(value: Json) -> Json:
    if isinstance(value, dict):
        return {key: _less(inner) for key, inner in value.items() if key not in _THRESHOLDS}
    return [_less(inner) for inner in value] if isinstance(value, list) else value


def _holds_query(value: Json) -> bool:
    """Return whether there is a text of a filter or query: without any, alerts look alike."""
    return any(
        text.strip() and any("filter" in str(step).casefold() for step in path)
        for path, text in texts_at(value)
    )


def _thresholds(spec: Mapping[str, Json]) -> str:
    return canonical_text([spec.get(part) for part in TYPE_OF])


def _off_for_long(neighbours: Neighbours, record: AuditEvidence) -> Iterator[Trace]:
    steps = {
        str(text_of(value)).casefold()
        for manifest in neighbours.every
        for _, value in places(manifest.spec, *_FLOW)
    }
    for manifest in neighbours.own:
        for found in off_for_good(manifest.spec):
            is_step = str(manifest.remote_id).casefold() in steps or _is_step(manifest, neighbours)
            since = None
            if found.path != ("phantomMode",) or not is_step:
                since = record.since(manifest, found.path)
            if since is not None and record.at - since.at >= LONG:
                age = (record.at - since.at).days
                flag = str(found.path[0])
                message = (
                    f"this alert is {'disabled' if flag == 'enabled' else 'a phantom'} for "
                    f"{plural(age, 'day')} at least, as {since.by} shows"
                )
                remedy = Advice("switch it on, remove it, or say until when in `exempt:`")
                figures: dict[str, Json] = {
                    "flag": flag,
                    "since": since.at.isoformat(),
                    "days": age,
                    "by": since.by,
                }
                yield Trace(manifest, SpecFinding(found.path, message, remedy), figures)


def _is_step(alert: Manifest, neighbours: Neighbours) -> bool:
    return any(alert.ref in other.references for other in neighbours.every if "flow" in other.spec)


_TESTS = "tests"


def _untested(neighbours: Neighbours, _: AuditEvidence) -> Iterator[Trace]:
    for manifest in neighbours.own:
        if _TESTS in MANIFEST_KEYS and is_awake(manifest.spec) and not manifest.added.get(_TESTS):
            message = "no test says on which log lines this alert fires"
            remedy = Advice("add `tests:` next to `spec`")
            yield Trace(manifest, SpecFinding(_NAME, message, remedy), {})


_EVENTS = (Rest.EVENTS,)


HYGIENE = (
    AuditRule(code="A101", find=_never_fired, rests_on=(Rest.EVENTS, Rest.NAMES, Rest.SPAN)),
    AuditRule(code="A102", find=_daily, rests_on=_EVENTS),
    AuditRule(code="A103", find=_open_for_weeks, rests_on=(Rest.INCIDENTS,)),
    AuditRule(code="A104", find=_over_at_once, rests_on=_EVENTS),
    AuditRule(code="A105", find=_reported_to_none, rests_on=_EVENTS),
    AuditRule(code="A106", find=_without_runbook, rests_on=_EVENTS),
    AuditRule(code="A107", find=_alike, rests_on=()),
    AuditRule(code="A108", find=_off_for_long, rests_on=(Rest.AGE,)),
    AuditRule(code="A109", find=_untested, rests_on=(), asked=True),
)
