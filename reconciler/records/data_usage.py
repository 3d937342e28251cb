"""Daily data-usage units. Source: docs/endpoints.md, 19."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import BeforeValidator, Field

from reconciler.records.record import Record, Text, all_items_of, read_record

if TYPE_CHECKING:
    from reconciler.api.client import Api

DAILY_UNITS = "/dataplans/data-usage/v2/daily:units"
RANGES = ("CURRENT_MONTH", "LAST_WEEK", "LAST_30_DAYS", "LAST_90_DAYS", "LAST_YEAR")


def _unwrapped(value: object) -> object:
    """Return the number in `{value: number}`; an absent value is 0, as it is on the wire."""
    if isinstance(value, dict):
        return value.get("value") or 0
    return 0 if value is None else value


Units = Annotated[float, BeforeValidator(_unwrapped), Field(allow_inf_nan=False)]


class DailyUnits(Record):
    """The units of one day, by consumer."""

    stats_date: Text = ""
    blocked_metrics_units: Units = 0
    blocked_units: Units = 0
    cpu_profiles_units: Units = 0
    evaluation_units: Units = 0
    high_logs_units: Units = 0
    high_metrics_units: Units = 0
    high_tracing_units: Units = 0
    low_logs_units: Units = 0
    low_session_recording_units: Units = 0
    low_tracing_units: Units = 0
    medium_logs_units: Units = 0
    medium_tracing_units: Units = 0
    total_units: Units = 0


async def daily_units(api: Api, span: str) -> list[DailyUnits]:
    """Return the units of each day of a range, oldest first; `span` is one of `RANGES`.

    Raises what `Api.ask` raises.
    """
    reply = await api.ask(DAILY_UNITS, {"range": f"RANGE_{span}"})
    days = [read_record(day, DailyUnits) for day in all_items_of(reply, "units")]
    return sorted(days, key=lambda day: day.stats_date)
