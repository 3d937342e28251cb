"""Signals of a plan: each part asks in one function and fills one field of the signals."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from reconciler.features.track_record.track_record_settings import (
    MOST_TRACKED_DAYS,
    TRACKED_DAYS,
)
from reconciler.journal.history import History
from reconciler.model import Plan, Ref, Remark, TrackRecord
from reconciler.operations.open_session import Session
from reconciler.planning.find_watchers import known_alerts, watchers_of

if TYPE_CHECKING:
    # Only its type is needed here; the import would load the whole HTTP client.
    from reconciler.api.client import Api

DAYS: Final = TRACKED_DAYS
MOST_DAYS: Final = MOST_TRACKED_DAYS


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceOptions:
    """Evidence that is wanted with a plan; `track_record` in days, 0 for none."""

    track_record: int = 0


NO_EVIDENCE: Final = EvidenceOptions()


async def with_signals(
    api: Api, session: Session, made: Plan, history: History, wanted: EvidenceOptions
) -> Plan:
    """Return the plan with what the platform's own records say about it.

    A request that the service refuses becomes a remark, and does not fail the plan.
    """
    manifests = (*session.workspace.manifests, *session.others)
    alerts = known_alerts(manifests, history)
    watchers = watchers_of(made.changes, manifests, history, alerts)
    records, remarks = await _track_records(api, made, history, wanted.track_record)
    signals = replace(made.signals, track_records=records, watchers=watchers, alerts=alerts)
    made = replace(made, signals=signals, remarks=(*made.remarks, *remarks))
    return await _with_policy_impact(api, session, made)


async def _track_records(
    api: Api, made: Plan, history: History, days: int
) -> tuple[dict[Ref, TrackRecord], tuple[Remark, ...]]:
    if not days:
        return {}, ()
    from reconciler.features.track_record.track_records import track_records  # noqa: PLC0415 - brings listings

    records, unread = await track_records(api, made, history, days, datetime.now(UTC))
    return records, (unread,) if unread is not None else ()


async def _with_policy_impact(api: Api, session: Session, made: Plan) -> Plan:
    samples = session.workspace.samples
    if samples is None:
        return made
    from reconciler.features.policy_samples.sample_impact import (  # noqa: PLC0415 - where there are samples
        bound_to_samples,
        policy_impact,
    )

    impact = await policy_impact(api, made, samples)
    if impact is not None and impact.writes:
        made = replace(made, digest=bound_to_samples(made, samples))
    return replace(made, signals=replace(made.signals, policies=impact))
