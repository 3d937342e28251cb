"""Daily data-usage units. The ranges: docs/assumptions.md."""

from typing import ClassVar

from pydantic import Field

from reconciler.emulator.models.enumerations import UsageRange
from reconciler.emulator.models.wire import Timestamp, WireObject


class Units(WireObject):
    """A number in an object; zero is a number like any other."""

    required_in_answers: ClassVar[frozenset[str]] = frozenset({"value"})

    value: float = 0.0


class DailyUnits(WireObject):
    """What one day used."""

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
