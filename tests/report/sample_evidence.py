"""What alerts, journals and freezes tell, as each report of it reads."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, cast

from sample_plans import alert, plan_of, plan_of_three, plan_with_signals, rewritten

from reconciler.features.track_record.track_records import TrackRecordDocument, TrackRecords
from reconciler.features.watch.alert_noise import (
    Counted,
    NoiseWatch,
    WatchedAlert,
    watched_json,
    watched_markdown,
    watched_text,
)
from reconciler.model import GuardViolation, Plan, Ref
from reconciler.planning.guards import PlanUnderGuard, with_feature_guards, with_guards
from reconciler.project import Environment, Guards, ProjectFile
from reconciler.report.plan.formats import plan_markdown, plan_text
from reconciler.report.table import Style

if TYPE_CHECKING:
    from reconciler.api.client import Api

RUN, UNTIL = "5f0c1d2e-0000-4000-8000-000000000001", "2026-03-02T15:00:00Z"
HOSTILE = "a | `b` @all <b>"

NOISE = NoiseWatch(
    run=RUN,
    command="apply",
    since="2026-03-02T12:00:00Z",
    until=UNTIL,
    level=0.01,
    commit="0123456789abcdef0123456789abcdef01234567",
    alerts=(
        WatchedAlert(
            ref=Ref("AlertDefinition", "search-lag"),
            until=UNTIL,
            verdict="noisier",
            after=Counted(60, 3.0),
            before=Counted(30, 3.0),
            week_before=Counted(28, 3.0),
            base=Counted(200, 21.0),
            spans=7,
            p=0.0004,
        ),
        WatchedAlert(
            ref=Ref("AlertDefinition", "pods-restart"),
            until=UNTIL,
            verdict="quieter",
            after=Counted(0, 3.0),
            before=Counted(12, 3.0),
            week_before=Counted(9, 3.0),
            base=Counted(80, 21.0),
            spans=7,
            p=0.00001,
        ),
        WatchedAlert(
            ref=Ref("AlertDefinition", "checkout-errors"),
            until=UNTIL,
            verdict="same",
            after=Counted(1, 3.0),
            before=Counted(1, 3.0),
            base=Counted(1, 3.0),
            spans=1,
            p=1.0,
        ),
        WatchedAlert(
            ref=Ref("AlertDefinition", "again"),
            until=UNTIL,
            cause="written-before",
            written="2026-03-02T11:50:00Z",
        ),
        WatchedAlert(ref=Ref("AlertDefinition", "new"), until=UNTIL, cause="no-id"),
    ),
    complete=False,
)


def frozen_plan() -> Plan:
    """Give three changes in a window, and while incidents are open."""
    window = {"cron": "0 18 * * 5", "for": "63h", "timezone": "Europe/Berlin", "reason": "weekend"}
    # Nothing is asked for windows by a clock of our own.
    api = cast("Api", None)
    asked = PlanUnderGuard(
        api=api,
        plan=asyncio.run(with_guards(api, plan_of_three(), Guards())),
        environment=Environment(freeze={"windows": [window]}),
        settings=ProjectFile(),
        now=datetime(2026, 11, 21, 12, 30, tzinfo=UTC),
        same_clock=True,
    )
    made = asyncio.run(with_feature_guards(asked))
    incidents = GuardViolation(
        said="`production` is frozen while 2 incidents are open: `Payments are slow` (critical, "
        "since 2026-11-21 10:00 UTC, raised by `AlertDefinition/payments`), `a | 'b' @all <b>`",
        remedies=(
            "apply again once they are closed (`reconciler incidents list --open`)",
            *made.guarded[0].remedies[1:],
        ),
        code="frozen",
    )
    return replace(made, guarded=(*made.guarded, incidents))


def plan_of_many_records() -> Plan:
    """Give more alerts with a track record than a comment has room for."""
    known = plan_with_signals().section(TrackRecords)
    assert known is not None
    (record,) = (record for record in known.by_ref.values() if record["events"] == 41)
    changes = [
        rewritten(f"lag-{number:02}", alert("Lag"), alert("Lag", priority="P4"))
        for number in range(30)
    ]
    records: dict[Ref, TrackRecordDocument] = {
        change.ref: {**record, "events": 10**9 + number, "complete": number % 2 == 0}
        for number, change in enumerate(changes)
    }
    return plan_of(changes).with_section(TrackRecords(records))


def reports() -> Mapping[str, str]:
    """Give each report by the name of its golden file."""
    style = Style()
    return {
        "watched.txt": watched_text(NOISE, style),
        "watched.md": watched_markdown(NOISE, "production"),
        "watched.json": watched_json(NOISE, "production", "https://api.example.com"),
        "plan-frozen.txt": plan_text(frozen_plan(), style),
        "plan-frozen.md": plan_markdown(frozen_plan()),
        "plan-many-records.md": plan_markdown(plan_of_many_records(), budget=20_000),
    }
