"""Endpoint 19: daily data-usage units. The clock of these tests stands at 2025-01-31."""

from datetime import date, timedelta

import pytest
from harness.emulated import Emulated
from harness.routes import USAGE

from reconciler.emulator.record_endpoints import DailyUnits, Units, keep_daily_units

LAST = date(2025, 1, 31)


@pytest.fixture
def emulator() -> Emulated:
    """Four hundred days of data, the last one tomorrow."""
    emulator = Emulated()
    store = emulator.app.state.store
    with store.writing():
        for number in range(-1, 399):
            day = (LAST - timedelta(days=number)).isoformat()
            units = DailyUnits(stats_date=f"{day}T00:00:00.000Z", total_units=Units(value=number))
            keep_daily_units(store, units)
    return emulator


@pytest.mark.parametrize(
    ("name", "days"),
    [
        ("UNSPECIFIED", 31),
        ("CURRENT_MONTH", 31),
        ("LAST_WEEK", 7),
        ("LAST_30_DAYS", 30),
        ("LAST_90_DAYS", 90),
        ("LAST_YEAR", 365),
    ],
)
def test_ranges(emulator: Emulated, name: str, days: int) -> None:
    """A range ends with today and goes back as far as its name says, the oldest day first."""
    units = emulator.post(USAGE, {"range": f"RANGE_{name}"}).body["units"]

    assert [unit["totalUnits"]["value"] for unit in units] == list(range(days))[::-1]


def test_every_field(emulator: Emulated) -> None:
    """A day has all thirteen figures, zeros too."""
    unit = emulator.post(USAGE, {}).body["units"][-1]

    assert unit["statsDate"] == "2025-01-31T00:00:00.000Z"
    assert len(unit) == 14
    assert unit["blockedUnits"] == {"value": 0.0}


@pytest.mark.parametrize("body", [{"range": "RANGE_FOREVER"}, {"range": 3}])
def test_unknown_range(emulator: Emulated, body: object) -> None:
    """A range that is none is refused by name."""
    answer = emulator.post(USAGE, body)

    assert answer.status == 400
    assert answer.message.startswith("range: ")


def test_no_data() -> None:
    """A company without data has no days."""
    assert Emulated().post(USAGE, {"range": "RANGE_LAST_YEAR"}).body == {"units": []}
