"""Daily data-usage units: endpoint 19, and its models. The ranges: docs/assumptions.md.

Days without data are left out. A range ends with today; `LAST_WEEK` is seven
days with it.
"""

from datetime import date, timedelta
from typing import ClassVar, Literal

from pydantic import Field

from reconciler.emulator.database import Store
from reconciler.emulator.endpoint import Call, Resource
from reconciler.emulator.rendering import Rendered, as_text
from reconciler.emulator.wire_models import JsonObject, Timestamp, WireObject

UsageRange = Literal[
    "RANGE_UNSPECIFIED",
    "RANGE_CURRENT_MONTH",
    "RANGE_LAST_WEEK",
    "RANGE_LAST_30_DAYS",
    "RANGE_LAST_90_DAYS",
    "RANGE_LAST_YEAR",
]


class Units(WireObject):
    """A number in an object; zero is a number like any other."""

    required_in_answers: ClassVar[frozenset[str]] = frozenset({"value"})

    value: float = 0.0


class DailyUnits(WireObject):
    """The usage of one day."""

    stats_date: Timestamp
    blocked_metrics_units: Units = Units()
    blocked_units: Units = Units()
    cpu_profiles_units: Units = Units()
    evaluation_units: Units = Units()
    high_logs_units: Units = Units()
    high_metrics_units: Units = Units()
    high_tracing_units: Units = Units()
    low_logs_units: Units = Units()
    low_session_recording_units: Units = Units()
    low_tracing_units: Units = Units()
    medium_logs_units: Units = Units()
    medium_tracing_units: Units = Units()
    total_units: Units = Units()


class UsageRequest(WireObject):
    """Request of endpoint 19; an unspecified range is the current month."""

    range: UsageRange = "RANGE_UNSPECIFIED"


class UsageReply(WireObject):
    """Reply of endpoint 19, the oldest day first."""

    required_in_answers: ClassVar[frozenset[str]] = frozenset({"units"})

    units: list[DailyUnits] = Field(default_factory=list)


DATA_USAGE = Resource("daily_units (day TEXT PRIMARY KEY, record TEXT NOT NULL)")
_DAYS = {
    "RANGE_LAST_WEEK": 7,
    "RANGE_LAST_30_DAYS": 30,
    "RANGE_LAST_90_DAYS": 90,
    "RANGE_LAST_YEAR": 365,
}


def keep_daily_units(store: Store, units: DailyUnits) -> None:
    """Store the usage of a day; an earlier record of the day is replaced."""
    store.keep("daily_units", units.stats_date[:10], as_text(units))


def last_days(store: Store, today: date, number: int) -> list[JsonObject]:
    """Return the last days, with today."""
    first = today - timedelta(days=number - 1)
    between = "WHERE day BETWEEN ? AND ? ORDER BY day"
    return store.records("daily_units", between, first.isoformat(), today.isoformat())


@DATA_USAGE.answers(
    19,
    "POST",
    "/dataplans/data-usage/v2/daily:units",
    UsageRequest,
    UsageReply,
    only_reads=True,
)
def _read(call: Call, request: UsageRequest) -> Rendered:
    today = date.fromisoformat(call.now[:10])
    return as_text({"units": last_days(call.store, today, _DAYS.get(request.range, today.day))})
