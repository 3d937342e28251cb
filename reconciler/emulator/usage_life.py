"""Data usage with the rhythm of a shop: less at weekends, more from year to year."""

from datetime import UTC, date, datetime, timedelta

from reconciler.emulator.chance import draw
from reconciler.emulator.data_usage import keep_daily_units
from reconciler.emulator.models.data_usage import DailyUnits, Units
from reconciler.emulator.store import Store

_WEEK = (1.0, 1.04, 1.07, 1.05, 1.02, 0.66, 0.58)  # Monday first
_EPOCH = date(2020, 1, 1)
_YEARLY_GROWTH = 0.18
_SHARES = {
    "blocked_units": 1.1,
    "blocked_metrics_units": 0.2,
    "cpu_profiles_units": 0.4,
    "evaluation_units": 2.3,
    "high_logs_units": 14.0,
    "high_metrics_units": 9.5,
    "high_tracing_units": 6.2,
    "low_logs_units": 21.0,
    "low_session_recording_units": 1.3,
    "low_tracing_units": 3.1,
    "medium_logs_units": 11.4,
    "medium_tracing_units": 2.6,
}  # units on an ordinary day


def fill_usage(store: Store, first: date, now: datetime) -> None:
    """Write each day from the first to today, which is used in part only."""
    day, today = first, now.astimezone(UTC).date()
    while day <= today:
        gone = (now - datetime.combine(day, datetime.min.time(), UTC)).total_seconds() / 86400
        keep_daily_units(store, _units_on(day, min(1.0, gone)))
        day += timedelta(days=1)


def _units_on(day: date, share: float) -> DailyUnits:
    growth = 1 + _YEARLY_GROWTH * (day - _EPOCH).days / 365
    level = growth * _WEEK[day.weekday()] * share
    units = {
        name: round(level * usual * (0.9 + 0.2 * draw("usage", name, day)), 3)
        for name, usual in _SHARES.items()
    }
    used = sum(number for name, number in units.items() if not name.startswith("blocked"))
    values = {name: Units(value=number) for name, number in units.items()}
    return DailyUnits(
        stats_date=f"{day.isoformat()}T00:00:00.000Z",
        total_units=Units(value=round(used, 3)),
        **values,
    )
