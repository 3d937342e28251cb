"""When windows of a freeze hold, against a walk through all minutes that shares no code."""

from __future__ import annotations

import re
from bisect import bisect_right
from datetime import UTC, datetime, timedelta
from random import Random
from zoneinfo import ZoneInfo

import pytest

from reconciler.features.freeze.freeze_settings import Window, duration, holding

MINUTE = timedelta(minutes=1)
ZONES = {
    "UTC": [datetime(2026, 3, 29, tzinfo=UTC)],
    "Europe/Berlin": [datetime(2026, 3, 29, tzinfo=UTC), datetime(2026, 10, 25, tzinfo=UTC)],
    "America/New_York": [datetime(2026, 3, 8, tzinfo=UTC), datetime(2026, 11, 1, tzinfo=UTC)],
    "Africa/Cairo": [datetime(2026, 4, 24, tzinfo=UTC), datetime(2026, 10, 29, tzinfo=UTC)],
    "Asia/Kolkata": [datetime(2026, 6, 1, tzinfo=UTC)],
    "America/Santiago": [datetime(2026, 9, 6, tzinfo=UTC), datetime(2026, 4, 5, tzinfo=UTC)],
    "Pacific/Chatham": [datetime(2026, 4, 4, tzinfo=UTC), datetime(2026, 9, 26, tzinfo=UTC)],
}
"""Zones, and days on which their clocks are turned: at midnight, by night, beside whole hours."""

BOUNDS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6))


class Drawn:
    """A cron expression, and the values that each of its fields lets in."""

    def __init__(self, random: Random) -> None:
        fields = [self._field(random, low, high) for low, high in BOUNDS]
        if random.random() < 0.7:
            fields[2:] = [("*", {*range(1, 32)}), ("*", {*range(1, 13)}), fields[4]]
        self.text = " ".join(text for text, _ in fields)
        self.minutes, self.hours, self.days, self.months, self.weekdays = (
            values for _, values in fields
        )
        self.is_either_day = not any(fields[nth][0].startswith("*") for nth in (2, 4))
        self.is_specific = not any(fields[nth][0].startswith("*") for nth in (0, 1))

    def _field(self, random: Random, low: int, high: int) -> tuple[str, set[int]]:
        match random.randrange(4):
            case 0:
                return "*", {*range(low, high + 1)}
            case 1:
                step = random.randint(2, 9)
                return f"*/{step}", {*range(low, high + 1, step)}
            case 2:
                first, last = sorted((random.randint(low, high), random.randint(low, high)))
                return f"{first}-{last}", {*range(first, last + 1)}
            case _:
                values = {random.randint(low, min(high, low + 6)), random.randint(low, high)}
                return ",".join(map(str, values)), values

    def lets_in(self, wall: datetime) -> bool:
        """Tell whether a wall clock shows a time of it."""
        day, weekday = wall.day in self.days, wall.isoweekday() % 7 in self.weekdays
        return (
            wall.minute in self.minutes
            and wall.hour in self.hours
            and wall.month in self.months
            and (day or weekday if self.is_either_day else day and weekday)
        )

    def starts(self, zone: ZoneInfo, since: datetime, until: datetime) -> list[datetime]:
        """Walk through all minutes.

        What has its own hour and minute comes once where clocks go back, and right after what
        they leave out; all else follows the clock on the wall.
        """
        found, at = [], since
        wall_before = (since - MINUTE).astimezone(zone).replace(tzinfo=None)
        while at < until:
            wall = at.astimezone(zone)
            shown = wall.replace(tzinfo=None, fold=0)
            skipped, left_out = wall_before + MINUTE, False
            while self.is_specific and skipped < shown:
                left_out |= self.lets_in(skipped)
                skipped += MINUTE
            again = self.is_specific and wall.fold == 1
            if left_out or (self.lets_in(shown) and not again):
                found.append(at)
            wall_before, at = shown, at + MINUTE
        return found


def drawn_window(random: Random, zone: str) -> tuple[Drawn, Window, timedelta]:
    """Give a window, and what it is made of."""
    cron, minutes = Drawn(random), random.choice([1, 7, 30, 60, 95, 300, 1440])
    said = {"cron": cron.text, "for": f"{minutes}m", "timezone": zone, "reason": "quiet"}
    return cron, Window.model_validate(said), timedelta(minutes=minutes)


@pytest.mark.parametrize("zone", ZONES)
def test_minute_by_minute(zone: str) -> None:
    """A window holds, and ends, as a walk through the minutes of a turn of clocks says."""
    random = Random(f"{zone} 0")  # noqa: S311 - the same each time
    day = random.choice(ZONES[zone])
    since, until = day - timedelta(days=2), day + timedelta(days=3)
    windows: list[tuple[Drawn, Window, timedelta]] = []
    while len(windows) < 2:
        try:
            windows.append(drawn_window(random, zone))
        except ValueError:
            continue  # a day that no month has
    walked = [
        (cron.starts(ZoneInfo(zone), since - timedelta(days=1), until + timedelta(days=2)), span)
        for cron, _, span in windows
    ]

    def is_frozen(at: datetime) -> bool:
        found = ((starts[: bisect_right(starts, at)], span) for starts, span in walked)
        return any(starts and starts[-1] + span > at for starts, span in found)

    for _ in range(15):
        now = since + random.randrange(5 * 24 * 60) * MINUTE
        told = holding([window for _, window, _ in windows], now)
        said = f"{[window.cron for _, window, _ in windows]} at {now}"
        assert (told is not None) == is_frozen(now), said
        if told is not None:
            end = now
            while is_frozen(end) and end < until:
                end += MINUTE
            assert end in (until, told.until), said


@pytest.mark.parametrize(
    ("cron", "zone", "now", "until"),
    [
        # Clocks leave out 02:30, so it begins when they show 03:00.
        ("30 2 * * *", "Europe/Berlin", "2026-03-29T01:00", "2026-03-29T02:00"),
        ("30 2 * * *", "Europe/Berlin", "2026-03-29T00:59", None),
        # They show 02:30 twice, and it begins once.
        ("30 2 * * *", "Europe/Berlin", "2026-10-25T00:30", "2026-10-25T01:30"),
        ("30 2 * * *", "Europe/Berlin", "2026-10-25T01:30", None),
        ("0 0 * * *", "Africa/Cairo", "2026-04-23T22:00", "2026-04-23T23:00"),
        ("0 18 * * 5", "America/New_York", "2026-11-27T23:30", "2026-11-28T00:00"),
    ],
)
def test_turned_clocks(cron: str, zone: str, now: str, until: str | None) -> None:
    """A window of an hour begins once on a day whose clocks are turned, and lasts an hour."""
    window = Window.model_validate({"cron": cron, "for": "1h", "timezone": zone, "reason": "r"})

    found = holding([window], datetime.fromisoformat(now).replace(tzinfo=UTC))

    told = found.until.isoformat()[:16] if found is not None and found.until is not None else None
    assert told == until


def test_without_end() -> None:
    """Windows that follow each other for more than a year have no end that is told."""
    now = datetime(2026, 11, 22, 12, tzinfo=UTC)
    for cron, lasts in (("0 0 1 1 *", "366d"), ("* * * * *", "2m"), ("* * * * *", "366d")):
        found = holding(
            [Window.model_validate({"cron": cron, "for": lasts, "reason": "always"})], now
        )
        assert found is not None
        assert found.until is None


@pytest.mark.parametrize("text", ["0m", "12", "1h30m", "-1h", "1.5h", "367d", "999999w", "1 h"])
def test_no_duration(text: str) -> None:
    """What is no duration, or none that a window may have, is refused."""
    with pytest.raises(ValueError, match=re.escape(text)):
        duration(text)
